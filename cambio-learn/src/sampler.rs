//! Rule systems for general networks, drawn at random around the presets and common house rules.
//!
//! A system has the deck and the knobs of a preset, of which some are drawn again. It differs from every preset in at least
//! [`DISTANCE`] places, so that the systems vary, and rule files near a preset are left for evaluation.

use cambio_core::rules::{PRESETS, RulesSpec};
use cambio_core::{Card, Rules};
use serde_json::{Map, Value, json};

use crate::rng::SeededRng;

/// The least number of differences from each preset: a knob counts once, and another deck twice.
const DISTANCE: usize = 3;
/// The most different cards by rank, points and power.
const MOST_CLASSES: usize = 48;

/// The shares of knobs that are drawn again.
const SHARES: [f32; 4] = [0.05, 0.1, 0.2, 0.35];

/// The powers that a rank may get.
const POWERS: [&str; 11] = [
    "look own",
    "look own",
    "look other",
    "look other",
    "swap",
    "swap",
    "look any",
    "look any then swap",
    "look any then look another then swap",
    "swap own",
    "reveal",
];

/// The knobs that may be drawn, and their values as JSON; repeated values are more likely.
const KNOB_VALUES: [(&str, &str); 36] = [
    ("hand", "[2, 3, 3, 5, 5, 6, 7]"),
    ("max_slots", "[8, 10, 16]"),
    ("flip", r#"["none", "window", "silent"]"#),
    ("take", "[false, true]"),
    ("redrop", r#"["forbidden", "no_power", "unspent_power", "power"]"#),
    ("drop_plain", "[false, true, true, true]"),
    ("paid_peek", "[false, true]"),
    ("power_use", r#"["must", "may"]"#),
    ("replaced_power", "[false, false, true]"),
    ("match", r#"["rank", "points", "rank_own_points_foreign"]"#),
    ("snap_targets", r#"["any", "own"]"#),
    ("snap_known_only", "[false, true]"),
    ("discarder_snaps", "[false, true]"),
    ("gift", r#"["may", "must"]"#),
    ("late", r#"["penalise", "take_back", "abort"]"#),
    ("penalty", "[0, 1, 2, 3]"),
    ("chain", "[false, true]"),
    ("freeze", "[false, true]"),
    ("window", r#"["none", "before", "after", "both"]"#),
    ("final_window", "[false, true]"),
    ("race", r#"["uniform", "turn_order"]"#),
    ("look_at_caller", "[false, true]"),
    ("lock_caller", "[false, true, true]"),
    ("caller_snaps", r#"["none", "foreign", "own", "own_and_foreign"]"#),
    ("others_after_call", r#"["yes", "no"]"#),
    ("call", r#"["instead_of_turn", "after_turn"]"#),
    ("first_call", "[1, 2, 3, 4, 6]"),
    ("callers", r#"["one", "several"]"#),
    ("cap", r#"["none", "advisory(5)", "feasible(8)", "score(5)", "score(8)", "score(10)"]"#),
    ("empty_hand", r#"["ends_round", "ends_round_at_turn", "safe", "continues"]"#),
    ("stock_empty", r#"["reshuffle", "end_round"]"#),
    ("turn_limit", "[10, 16, 20, 30, 60]"),
    ("limit_in_lap", r#"["ends", "waits"]"#),
    ("call_success", r#"[0, -5, -10, "set(0)", "times(0)"]"#),
    ("call_failure", r#"[0, 5, 10, "times(2)"]"#),
    ("caller_tie", r#"["fails", "succeeds"]"#),
];

/// A deck whose points, powers and copies are drawn, as rows of a rule file.
struct DrawnDeck {
    kinds: Vec<Map<String, Value>>,
    ranks: Vec<String>,
}

impl DrawnDeck {
    fn new(spec: &RulesSpec) -> DrawnDeck {
        let (mut kinds, mut ranks) = (Vec::new(), Vec::new());
        for kind in spec.deck.kinds() {
            let copies = if kind.label == "JK" { spec.jokers.get() } else { kind.copies.into() };
            let row = json!({
                "label": kind.label, "rank": kind.rank, "suit": kind.suit, "points": kind.points,
                "power": kind.power.to_string(), "copies": copies,
            });
            kinds.extend(row.as_object().cloned());
            if !ranks.contains(&kind.rank) {
                ranks.push(kind.rank.clone());
            }
        }
        DrawnDeck { kinds, ranks }
    }

    fn rank(&self, chance: &mut SeededRng) -> String {
        self.ranks[chance.below(self.ranks.len())].clone()
    }

    /// Changes a field of all kinds of a rank.
    fn set(&mut self, rank: &str, field: &str, value: &Value) {
        for kind in self.kinds.iter_mut().filter(|kind| kind["rank"] == rank) {
            kind.insert(field.to_owned(), value.clone());
        }
    }

    fn draw_points(&mut self, chance: &mut SeededRng) {
        match chance.below(6) {
            0 => {}
            1 | 2 => {
                for _ in 0..=chance.below(4) {
                    let points = json!(chance.below(17) as i64 - 3);
                    self.set(&self.rank(chance), "points", &points);
                }
            }
            3 => {
                // One card of a rank has other points, as the red kings of `classic`.
                for _ in 0..=chance.below(2) {
                    let kind = chance.below(self.kinds.len());
                    let points = json!(chance.below(19) as i64 - 4);
                    self.kinds[kind].insert("points".to_owned(), points);
                }
            }
            4 => {
                // Ranks exchange their points.
                for _ in 0..3 {
                    let [one, other] = [self.rank(chance), self.rank(chance)];
                    let points = |rank: &str| {
                        self.kinds.iter().find(|kind| kind["rank"] == rank).expect("the rank exists")["points"].clone()
                    };
                    let (first, second) = (points(&one), points(&other));
                    self.set(&one, "points", &second);
                    self.set(&other, "points", &first);
                }
            }
            _ => {
                let (lowest, range) = (-(chance.below(4) as i64), 8 + chance.below(9));
                for rank in self.ranks.clone() {
                    self.set(&rank, "points", &json!(lowest + chance.below(range) as i64));
                }
            }
        }
    }

    fn draw_powers(&mut self, chance: &mut SeededRng) {
        let kind = chance.below(4);
        if kind == 3 {
            for rank in self.ranks.clone() {
                self.set(&rank, "power", &json!(""));
            }
        }
        let number = [0, 0, 1 + chance.below(3), chance.below(9)][kind];
        for _ in 0..number {
            let power = if kind == 2 && chance.below(3) == 0 { "" } else { POWERS[chance.below(POWERS.len())] };
            self.set(&self.rank(chance), "power", &json!(power));
        }
    }

    fn draw_copies(&mut self, chance: &mut SeededRng) {
        if chance.below(4) == 0 {
            let jokers = json!(chance.below(5));
            self.set("JK", "copies", &jokers);
        }
        if chance.below(6) == 0 {
            // The deck lacks some ranks.
            for _ in 0..=chance.below(3) {
                self.set(&self.rank(chance), "copies", &json!(0));
            }
        }
    }

    fn jokers(&self) -> u64 {
        let copies = |kind: &Map<String, Value>| kind["copies"].as_u64().unwrap_or(0);
        self.kinds.iter().filter(|kind| kind["label"] == "JK").map(copies).sum()
    }
}

/// The rule system with this number, drawn at random around the presets and common house rules: the systems on which general
/// networks are trained and evaluated. Every seed has its own systems.
///
/// ```
/// use cambio_learn::sampled_rules;
///
/// let rules = sampled_rules(1, 7);
/// assert_eq!(rules, sampled_rules(1, 7));
/// assert!(rules.covers(2).is_ok());
/// ```
pub fn sampled_rules(seed: u64, number: u64) -> Rules {
    let mut chance = SeededRng::of_match(seed, number);
    loop {
        if let Some(rules) = draw(&mut chance) {
            return rules;
        }
    }
}

/// A rule system; `None` if the drawn rules are not valid, too near to a preset, or has too few or too many different cards.
fn draw(chance: &mut SeededRng) -> Option<Rules> {
    let base = match chance.below(20) {
        0..=11 => "classic",
        12..=14 => "original",
        15 => PRESETS[chance.below(PRESETS.len())],
        _ => "faessler",
    };
    let spec = RulesSpec::preset(base).expect("the name is a preset");
    let Value::Object(mut table) = spec.to_table() else { return None };
    let share = SHARES[chance.below(SHARES.len())];
    if chance.below(4) > 0 {
        let mut deck = DrawnDeck::new(&spec);
        deck.draw_points(chance);
        deck.draw_powers(chance);
        deck.draw_copies(chance);
        if chance.below(8) == 0 {
            table.insert("decks".to_owned(), json!(2));
        }
        table.insert("jokers".to_owned(), json!(deck.jokers()));
        table.insert("deck".to_owned(), json!(deck.kinds));
    }
    for (knob, values) in KNOB_VALUES {
        if chance.share() < share {
            let values: Vec<Value> = serde_json::from_str(values).expect("the values are JSON");
            table.insert(knob.to_owned(), values[chance.below(values.len())].clone());
        }
    }
    let hand = table["hand"].as_u64()? as usize;
    if hand != 4 || chance.share() < share {
        let number = [0, 1, 2, 2, 2, 3][chance.below(6)].min(hand);
        let peek = match number {
            0 => "none".to_owned(),
            _ if chance.below(2) == 0 => format!("choose {number}"),
            _ => {
                let slots: Vec<String> = (hand - number + 1..=hand).map(|slot| slot.to_string()).collect();
                format!("slots {}", slots.join(" "))
            }
        };
        table.insert("peek".to_owned(), json!(peek));
    }
    // Most matches have one round, so that most rounds are of different systems.
    let is_one_round = chance.share() < 0.98;
    if is_one_round {
        table.insert("match_end".to_owned(), json!("rounds(1)"));
        table.insert("carry_over".to_owned(), json!(false));
    }
    table.insert("name".to_owned(), json!("sampled"));
    let rules = RulesSpec::from_json(&Value::Object(table)).and_then(RulesSpec::validate).ok()?;
    let classes = (0..rules.kinds().len()).filter_map(Card::new).map(|card| rules.class(card)).max()? + 1;
    let is_large_enough = rules.deck().len() >= 2 * hand + 16;
    (classes <= MOST_CLASSES && is_large_enough && is_far_from_presets(&rules)).then_some(rules)
}

/// Whether the rules differ from each preset in at least [`DISTANCE`] places.
fn is_far_from_presets(rules: &Rules) -> bool {
    let own = rules.spec().knobs();
    PRESETS.iter().all(|preset| {
        let other = Rules::preset(preset).expect("the name is a preset").of_one_round();
        let differ = |((name, own), (_, other)): &(&(&str, Value), &(&str, Value))| {
            own != other && !matches!(*name, "jokers" | "match_end" | "carry_over")
        };
        let knobs = own.iter().zip(&other.spec().knobs()).filter(differ).count();
        knobs + if rules.kinds() == other.kinds() { 0 } else { 2 } >= DISTANCE
    })
}

#[cfg(test)]
mod tests {
    use cambio_agents::{Policy as _, Preset};
    use cambio_core::rng::Key;
    use cambio_core::rules::MINI_GAMES;
    use cambio_core::{Observation, Playing, Position, View as _};

    use super::*;

    #[test]
    fn systems_are_reproducible_and_vary() {
        let systems: Vec<Rules> = (0..40).map(|number| sampled_rules(7, number)).collect();
        assert_eq!(systems[3], sampled_rules(7, 3));
        let different: std::collections::BTreeSet<String> =
            systems.iter().map(|rules| rules.spec().to_json().to_string()).collect();
        assert_eq!(different.len(), systems.len());
        assert!(systems.iter().any(|rules| rules.spec().hand.get() != 4));
        assert!(systems.iter().any(|rules| rules.kinds() != Rules::preset("classic").unwrap().kinds()));
    }

    #[test]
    fn positions_of_random_and_strong_play_are_read_back() {
        let is_full = std::env::var_os("CAMBIO_FULL").is_some();
        let named = PRESETS.iter().chain(&MINI_GAMES).map(|name| Rules::preset(name).unwrap());
        let (mut found, mut sharp) = (0, Preset::Sharp.params());
        for (number, rules) in (0..).zip(named.chain((0..50).map(|number| sampled_rules(11, number)))) {
            let tables: &[usize] = if is_full { &[2, 4, 8] } else { &[2, 8] };
            for &seats in tables.iter().filter(|&&seats| rules.covers(seats).is_ok()) {
                for seed in 0..if is_full { 10 } else { 1 } {
                    let mut playing = Playing::new(&rules, seats, Key::new(seed, number)).unwrap();
                    let mut chance = SeededRng::of_match(seed, number);
                    while let Some(turn) = playing.turn() {
                        let (view, choices) = (&turn.view, turn.view.choices());
                        let position = Position::new(view, playing.totals(), playing.rounds());
                        let text = position.to_string();
                        let read: Position = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
                        assert_eq!(read, position, "{text}");
                        let own = read.observation();
                        assert_eq!(own.choices(), choices, "{text}");
                        let known = |view: &Observation<'_>| view.known_cards(view.known()).collect::<Vec<_>>();
                        assert_eq!((known(&own), own.held()), (known(view), view.held()), "{text}");
                        let layouts = (own.table().occupied(), own.known_points());
                        assert_eq!(layouts, (view.table().occupied(), view.known_points()), "{text}");
                        found += 1;
                        let random = choices.nth(chance.below(choices.len())).unwrap();
                        // Half of the matches are strong play with a random decision now and then.
                        let is_random = seed % 2 == 1 || chance.below(10) == 0 || (!is_full && number % 2 == 1);
                        playing.act(if is_random { random } else { sharp.decide(view, &()) }).unwrap();
                    }
                }
            }
        }
        println!("{found} positions");
        assert!(found > if is_full { 100_000 } else { 8_000 }, "{found} positions");
    }
}
