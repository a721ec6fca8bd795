//! Rules and scores in words, for people who have not read RULES.md.

use cambio_core::knob::{
    Best, Bonus, CallWhen, Cap, EmptyHand, Gift, Late, MatchEnd, Matching, Peek, Redrop, Score as ScoreKnob,
    SnapTargets, Window,
};
use cambio_core::{RoundResult, Rules, Score, Seat};

/// A rule system in three lines: the aim, a turn, a snap. They are made from the rule table, so they hold for any rules.
///
/// ```
/// use cambio_core::Rules;
///
/// let [aim, turn, snap] = cambio_view::rules_in_short(&Rules::preset("classic").unwrap());
/// assert!(aim.starts_with("Have the fewest points when the round ends."), "{aim}");
/// assert!(turn.contains("draw a card, or take the open card"), "{turn}");
/// assert!(snap.contains("the same rank"), "{snap}");
/// ```
pub fn rules_in_short(rules: &Rules) -> [String; 3] {
    [aim(rules), turn(rules), snap(rules)]
}

fn aim(rules: &Rules) -> String {
    let spec = rules.spec();
    let mut line = "Have the fewest points when the round ends. ".to_owned();
    line += match spec.call {
        CallWhen::InsteadOfTurn => "Instead of a turn you may call; ",
        CallWhen::AfterTurn => "At the end of a turn you may call; ",
    };
    line += "the others then have one turn more, and all cards are turned up.";
    match spec.empty_hand {
        EmptyHand::EndsRound | EmptyHand::EndsRoundAtTurn => line += " A hand without cards ends the round, too.",
        EmptyHand::Safe => line += " Without cards you are safe, with 0 points.",
        EmptyHand::Continues => {}
    }
    line += match spec.score {
        ScoreKnob::Points => " Everybody scores the points of their cards",
        ScoreKnob::Share => " The caller wins with strictly the fewest points, else the lowest of the others",
        ScoreKnob::WinLoss => {
            " The caller beats the others with strictly the fewest points, else the lowest of them wins"
        }
    };
    if spec.score == ScoreKnob::Points {
        line += &bonus(", a caller who is lowest ", spec.call_success);
        line += &bonus(", any other caller ", spec.call_failure);
    }
    if let Cap::Score(most) | Cap::Feasible(most) = spec.cap {
        line = format!("{line}; a call is good with {most} points at most");
    }
    let best = if spec.best == Best::Fewest { "lowest" } else { "highest" };
    line + &match spec.match_end {
        MatchEnd::Rounds(1) => ". One round is a match.".to_owned(),
        MatchEnd::Rounds(rounds) => format!(". After {rounds} rounds the {best} total wins."),
        MatchEnd::Total(total) => format!(". When a total reaches {total}, the {best} total wins."),
    }
}

fn bonus(who: &str, bonus: Bonus) -> String {
    match bonus {
        Bonus::Add(0) => String::new(),
        Bonus::Add(number) if number < 0 => format!("{who}{} less", -number),
        Bonus::Add(number) => format!("{who}{number} more"),
        Bonus::Set(number) => format!("{who}just {number}"),
        Bonus::Times(number) => format!("{who}{number} times as many"),
    }
}

fn turn(rules: &Rules) -> String {
    let spec = rules.spec();
    let mut line = match spec.peek {
        Peek::Slots(0) => format!("You have {} cards and see none of them. ", spec.hand.get()),
        Peek::Slots(mask) => {
            format!("You have {} cards and see {} of them at first. ", spec.hand.get(), mask.count_ones())
        }
        Peek::Choose(number) => format!("You have {} cards and look at {number} of them. ", spec.hand.get()),
    };
    line += "On your turn draw a card";
    if spec.take {
        line += ", or take the open card of the pile";
    }
    line += ". Keep it in the place of one of your cards, which goes onto the pile, or drop it.";
    if rules.kinds().iter().any(|kind| kind.copies > 0 && !kind.power.is_none()) {
        line += " A card that you have just drawn may then use its power.";
    }
    if spec.take && spec.redrop == Redrop::Forbidden {
        line += " A taken card has to be kept.";
    }
    line
}

fn snap(rules: &Rules) -> String {
    let spec = rules.spec();
    if spec.window == Window::None {
        return "Nobody snaps: the pile belongs to whose turn it is.".to_owned();
    }
    let mut line = "When a card lands on the pile, be quick: snap a card of ".to_owned();
    line += match spec.matching {
        Matching::Rank => "the same rank",
        Matching::Points => "the same points",
        Matching::RankOwnPointsForeign => "the same rank of your own, or of the same points of somebody else's",
    };
    line += match (spec.snap_targets, spec.gift) {
        (SnapTargets::Own, _) => " in front of you, and it goes onto the pile.",
        (SnapTargets::Any, Gift::May) => {
            ", yours or anybody's, and it goes onto the pile; for a card of theirs you may give one of yours."
        }
        (SnapTargets::Any, Gift::Must) => {
            ", yours or anybody's, and it goes onto the pile; for a card of theirs you give one of yours."
        }
    };
    line += " A wrong card costs a penalty card";
    line += match spec.late {
        Late::Penalise => ", and so does a right one that comes too late.",
        Late::TakeBack | Late::Abort => ".",
    };
    line
}

/// The suits of decks whose labels end with a letter of the suit.
const SUITS: [&[(&str, &str)]; 2] = [
    &[("c", "clubs"), ("d", "diamonds"), ("h", "hearts"), ("s", "spades")],
    &[("C", "Schilten (shields)"), ("E", "Eicheln (acorns)"), ("R", "Rosen (roses)"), ("S", "Schellen (bells)")],
];

/// How the labels of the cards are to be read, in a sentence; empty where a label has no suit.
///
/// ```
/// use cambio_core::Rules;
///
/// let told = cambio_view::cards_in_short(&Rules::preset("classic").unwrap());
/// assert_eq!(told, "10h is the 10 of hearts; the letters are c clubs, d diamonds, h hearts, s spades; JK is a joker.");
/// ```
pub fn cards_in_short(rules: &Rules) -> String {
    let kinds: Vec<_> = rules.kinds().iter().filter(|kind| kind.copies > 0 && !kind.suit.is_empty()).collect();
    let known =
        SUITS.iter().find(|suits| kinds.iter().all(|kind| suits.iter().any(|(letter, _)| *letter == kind.suit)));
    let mut told = match (known, kinds.iter().find(|kind| kind.rank == "10").or(kinds.first())) {
        (_, None) => return String::new(),
        (Some(suits), Some(kind)) => {
            let of = suits.iter().find(|(letter, _)| *letter == kind.suit).map_or("", |(_, name)| name);
            let letters: Vec<String> = suits.iter().map(|(letter, name)| format!("{letter} {name}")).collect();
            format!("{} is the {} of {of}; the letters are {}", kind.label, kind.rank, letters.join(", "))
        }
        (None, Some(_)) => {
            let named: Vec<String> =
                kinds.iter().map(|kind| format!("{} is the {} of suit {}", kind.label, kind.rank, kind.suit)).collect();
            named[..named.len().min(4)].join(", ")
        }
    };
    if rules.kinds().iter().any(|kind| kind.label == "JK" && kind.copies > 0) {
        told += "; JK is a joker";
    }
    told + "."
}

/// How a round was scored: a sentence for each seat, seat a first.
///
/// ```
/// use cambio_core::{Playing, Rules, rng::Key};
/// use cambio_view::scores_in_words;
///
/// let rules = Rules::preset("original").unwrap();
/// let mut playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
/// while playing.rounds() == 0 {
///     let choices = playing.turn().unwrap().view.choices();
///     let call = "call".parse().unwrap();
///     playing.act(if choices.contains(call) { call } else { choices.nth(0).unwrap() }).unwrap();
/// }
/// let told = scores_in_words(&rules, playing.last_round().unwrap());
/// assert!(told[0].starts_with("a called"), "{told:?}");
/// assert_eq!(told.len(), 2);
/// ```
pub fn scores_in_words(rules: &Rules, result: &RoundResult) -> Vec<String> {
    Seat::ALL[..result.seats].iter().map(|&seat| score_of(rules, result, seat)).collect()
}

fn score_of(rules: &Rules, result: &RoundResult, seat: Seat) -> String {
    let spec = rules.spec();
    let (points, score) = (result.points()[seat.index()], result.scores()[seat.index()]);
    let fewest = result.points().iter().min().copied().unwrap_or(points);
    let has_called = result.callers.contains(seat);
    let judged = if !has_called {
        String::new()
    } else if result.succeeded.contains(seat) {
        "called and was lowest: ".to_owned()
    } else if let Cap::Score(most) = spec.cap
        && points > i32::from(most)
    {
        format!("called with more than the allowed {most}: ")
    } else if points == fewest {
        "called, but was not alone at the lowest: ".to_owned()
    } else {
        "called, but was not lowest: ".to_owned()
    };
    if spec.score != ScoreKnob::Points {
        let won = if result.winners.contains(seat) { wins(result, score) } else { format!("no win ({score})") };
        return format!("{seat} {judged}{}, {won}", counted(points));
    }
    let bonus = match (has_called, result.succeeded.contains(seat)) {
        (false, _) => Bonus::Add(0),
        (true, true) => spec.call_success,
        (true, false) => spec.call_failure,
    };
    match bonus {
        Bonus::Add(0) => format!("{seat} {judged}{}", counted(points)),
        Bonus::Add(number) if number < 0 => format!("{seat} {judged}{} − {} = {score}", minus(points), -number),
        Bonus::Add(number) => format!("{seat} {judged}{} + {number} = {score}", minus(points)),
        Bonus::Set(number) => format!("{seat} {judged}{} become {}", counted(points), minus(i32::from(number))),
        Bonus::Times(number) => format!("{seat} {judged}{} × {number} = {score}", minus(points)),
    }
}

fn wins(result: &RoundResult, score: Score) -> String {
    if result.winners.len() == 1 { format!("wins ({score})") } else { format!("shares the win ({score})") }
}

/// A number with a minus sign of its own.
fn minus(number: i32) -> String {
    number.to_string().replace('-', "−")
}

fn counted(points: i32) -> String {
    format!("{} {}", minus(points), if points.abs() == 1 { "point" } else { "points" })
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::Key;
    use cambio_core::{Action, Playing, RulesSpec};

    use super::*;

    /// The first round in which seat a calls as soon as it may and succeeds, or fails: its points, and how it was scored.
    fn called(lines: &str, succeeds: bool) -> ([i32; 2], Vec<String>) {
        let rules = RulesSpec::from_toml(lines).unwrap().validate().unwrap();
        for deal in 0.. {
            let mut playing = Playing::new(&rules, 2, Key::new(3, deal)).unwrap();
            while playing.rounds() == 0 {
                let choices = playing.turn().unwrap().view.choices();
                let wanted = [Action::Call, Action::Pass, Action::Draw, Action::Drop, Action::Skip];
                let action = wanted.into_iter().find(|&action| choices.contains(action)).or(choices.nth(0)).unwrap();
                playing.act(action).unwrap();
            }
            let result = playing.last_round().unwrap();
            // A tie has words of its own.
            if result.succeeded.contains(Seat::A) == succeeds && result.points()[0] != result.points()[1] {
                return ([result.points()[0], result.points()[1]], scores_in_words(&rules, result));
            }
        }
        unreachable!("some deal is as wanted")
    }

    #[test]
    fn a_score_is_explained_by_the_rules_it_follows_from() {
        let ([a, b], told) = called("base = 'original'", true);
        assert_eq!(told, [format!("a called and was lowest: {a} − 5 = {}", a - 5), format!("b {b} points")]);
        let ([a, _], told) = called("base = 'original'", false);
        assert_eq!(told[0], format!("a called, but was not lowest: {a} + 5 = {}", a + 5));
        let ([a, _], told) = called("base = 'original'\ncall_success = 'set(0)'", true);
        assert_eq!(told[0], format!("a called and was lowest: {a} points become 0"));
        let ([a, _], told) = called("base = 'original'\ncap = 'score(-99)'\ncall_failure = 'times(2)'", false);
        assert_eq!(told[0], format!("a called with more than the allowed -99: {a} × 2 = {}", 2 * a));
        let ([a, b], told) = called("base = 'classic'", true);
        let expected = [format!("a called and was lowest: {a} points, wins (1)"), format!("b {b} points, no win (0)")];
        assert_eq!(told, expected);
    }

    #[test]
    fn every_preset_has_its_three_lines() {
        for preset in cambio_core::PRESETS {
            let lines = rules_in_short(&Rules::preset(preset).unwrap());
            assert!(lines.iter().all(|line| line.ends_with('.') && line.len() < 420), "{lines:#?}");
        }
        let [aim, ..] = rules_in_short(&Rules::preset("original").unwrap());
        assert!(
            aim.contains("a caller who is lowest 5 less, any other caller 5 more. When a total reaches 50,"),
            "{aim}"
        );
        let [_, _, snap] = rules_in_short(&Rules::preset("mini-m0").unwrap());
        assert!(snap.ends_with('.'), "{snap}");
    }
}
