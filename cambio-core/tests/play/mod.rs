//! Random games for the tests: players, rules, counts of events, and a model that tracks every card.
#![allow(dead_code, reason = "each test file uses only some items")]

pub(crate) mod mutate;

use std::collections::BTreeMap;

use cambio_core::engine::{Chance, EndReason, RaceOrder, SnapOutcome, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Stream};
use cambio_core::rules::{Deck, MINI_GAMES, PRESETS};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Event, MatchResult, MatchSetup, Observation, Observer, Phase, Rules,
    RulesSpec, Seat, SeatSet, Spot, Standing, State, play_match,
};
use serde_json::{Value, json};

/// The size of a random test: `small`, or `full` with `CAMBIO_FULL=1`.
pub(crate) fn amount<T>(small: T, full: T) -> T {
    if std::env::var_os("CAMBIO_FULL").is_some_and(|value| value == "1") { full } else { small }
}

/// All cards of a state, sorted: layouts, stock, pile and held card.
pub(crate) fn all_cards(state: &State) -> Vec<Card> {
    let table = state.table();
    let mut cards: Vec<Card> = state.stock().collect();
    cards.extend(table.occupied().iter_from(Seat::A).map(|spot| state.face(spot).unwrap()));
    cards.extend(state.held());
    for kind in (0..table.rules().kinds().len()).filter_map(Card::new) {
        cards.extend(std::iter::repeat_n(kind, table.on_pile(kind)));
    }
    cards.sort_unstable();
    cards
}

/// The cards of a deck, sorted like [`all_cards`].
pub(crate) fn deck_of(rules: &Rules) -> Vec<Card> {
    let mut deck = rules.deck().to_vec();
    deck.sort_unstable();
    deck
}

/// The style of a random player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// Every legal decision is equally likely: most declarations are snaps, and rounds are short.
    Uniform,
    /// Passes in nine of ten windows unless it knows a match, and calls in one of twenty turns.
    Moderate,
    /// Like `Moderate`, but calls in one of four hundred turns.
    Patient,
    /// Like `Moderate`, but calls only if no other decision is legal.
    Mute,
}

impl Manner {
    /// The manner of all players in the deal with this number.
    pub(crate) fn of(deal: u64) -> Manner {
        [Manner::Moderate, Manner::Patient, Manner::Uniform, Manner::Moderate][(deal % 4) as usize]
    }

    pub(crate) fn choose(self, view: &Observation<'_>, stream: &mut Stream) -> Action {
        let choices = view.choices();
        assert!(
            !choices.is_empty(),
            "asked without a choice: {:?} {}",
            view.table().phase(),
            view.rules().spec().to_table()
        );
        let any = |stream: &mut Stream| choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
        let calls = match self {
            Manner::Uniform => return any(stream),
            Manner::Moderate => 20,
            Manner::Patient => 1,
            Manner::Mute => 0,
        };
        let table = view.table();
        match table.phase() {
            Phase::Window | Phase::Chain => {
                let shown = table.opener().or(table.top());
                let matches = |&spot: &Spot| {
                    view.face(spot).zip(shown).is_some_and(|(one, other)| view.rules().same_rank(one, other))
                };
                let known: Vec<Spot> = choices.targets().iter_from(view.seat()).filter(matches).collect();
                if !known.is_empty() && stream.chance(3, 4) {
                    Action::Snap(known[stream.below(known.len() as u32) as usize])
                } else if stream.chance(9, 10) {
                    Action::Pass
                } else {
                    any(stream)
                }
            }
            Phase::Start | Phase::Close if choices.contains(Action::Call) && choices.len() > 1 => {
                if stream.chance(calls, 400) {
                    return Action::Call;
                }
                loop {
                    let action = any(stream);
                    if action != Action::Call {
                        return action;
                    }
                }
            }
            Phase::Held(_) if choices.contains(Action::Drop) && stream.chance(1, 2) => Action::Drop,
            _ => any(stream),
        }
    }
}

/// A random player as an agent.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    manner: Manner,
    stream: Option<Stream>,
}

impl Player {
    pub(crate) fn new(manner: Manner) -> Player {
        Player { manner, stream: None }
    }
}

impl Agent for Player {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.stream = Some(briefing.stream.clone());
        Ok(())
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        Ok(self.manner.choose(view, self.stream.as_mut().unwrap()))
    }
}

/// Plays one match of random players with the same manner.
pub(crate) fn play<W: Observer>(
    rules: &Rules,
    seats: usize,
    key: Key,
    manner: Manner,
    observer: &mut W,
) -> MatchResult {
    let mut players: Vec<Player> = (0..seats).map(|_| Player::new(manner)).collect();
    play_match(&MatchSetup { rules: *rules, seats, key }, &mut players, observer).unwrap()
}

/// A match to play: rules, seats, key and manner.
pub(crate) struct Game {
    pub(crate) rules: Rules,
    pub(crate) seats: usize,
    pub(crate) key: Key,
    pub(crate) manner: Manner,
}

impl Game {
    pub(crate) fn play<W: Observer>(&self, observer: &mut W) -> MatchResult {
        play(&self.rules, self.seats, self.key, self.manner, observer)
    }
}

/// Matches of every preset at every number of seats: `deals` of each.
pub(crate) fn games(seed: u64, deals: u64) -> impl Iterator<Item = Game> {
    PRESETS.into_iter().enumerate().flat_map(move |(number, preset)| {
        (2..=8).flat_map(move |seats| {
            (0..deals).map(move |deal| Game {
                rules: Rules::preset(preset).unwrap(),
                seats,
                key: Key::new(seed, deal),
                manner: Manner::of(deal + seats as u64 + number as u64),
            })
        })
    })
}

/// Matches of every mini game at two seats: `deals` of each.
pub(crate) fn mini_games(seed: u64, deals: u64) -> impl Iterator<Item = Game> {
    MINI_GAMES.into_iter().flat_map(move |name| {
        let rules = Rules::preset(name).unwrap();
        (0..deals).map(move |deal| Game { rules, seats: 2, key: Key::new(seed, deal), manner: Manner::Uniform })
    })
}

/// Matches with rules in which every knob has a random value.
pub(crate) fn odd_games(seed: u64, deals: u64) -> impl Iterator<Item = Game> {
    older_odd_games(seed, deals).filter_map(|game| {
        let mut table = game.rules.spec().to_table();
        set_knobs(&mut table, &later_values(), &mut game.key.agent(Seat::G));
        let rules = RulesSpec::from_json(&table).unwrap().validate().ok()?;
        rules.covers(game.seats).ok()?;
        Some(Game { rules, ..game })
    })
}

/// As [`odd_games`], but the optional knobs have the values of older rules. For results that are pinned by value.
pub(crate) fn older_odd_games(seed: u64, deals: u64) -> impl Iterator<Item = Game> {
    (0..deals).filter_map(move |deal| {
        let key = Key::new(seed, deal);
        let mut stream = key.agent(Seat::H);
        let seats = 2 + stream.below(7) as usize;
        let rules = odd_rules(&mut stream)?;
        rules.covers(seats).ok()?;
        Some(Game { rules, seats, key, manner: Manner::of(deal) })
    })
}

/// Sets each knob to one of its values.
fn set_knobs(table: &mut Value, knobs: &[(&str, Value)], stream: &mut Stream) {
    for (knob, values) in knobs {
        let values = values.as_array().unwrap();
        table[*knob] = values[stream.below(values.len() as u32) as usize].clone();
    }
}

/// Values of the optional knobs. New ones are at the end, so that earlier draws stay the same.
pub(crate) fn later_values() -> Vec<(&'static str, Value)> {
    vec![
        ("penalty", json!([0, 1, 1, 2, 4])),
        ("replaced_power", json!([false, true])),
        ("first_call", json!([1, 1, 2, 5])),
        ("lowest_bonus", json!([0, "set(0)", -3, "times(2)"])),
        ("discarder_snaps", json!([true, false])),
        ("lock_caller", json!([true, false])),
        ("empty_call", json!([false, true])),
    ]
}

/// Values of most other knobs.
fn older_values() -> Vec<(&'static str, Value)> {
    vec![
        ("decks", json!([1, 1, 2])),
        ("hand", json!([1, 2, 4, 6])),
        ("max_slots", json!([6, 8, 12, 16])),
        ("peek", json!(["none", "slots 1", "choose 1"])),
        ("flip", json!(["none", "window", "silent"])),
        ("first_dealer", json!(["a", "drawn"])),
        ("starter", json!(["dealer", "after_dealer", "winner"])),
        ("take", json!([true, false])),
        ("redrop", json!(["forbidden", "no_power", "unspent_power", "power"])),
        ("drop_plain", json!([true, false])),
        ("paid_peek", json!([true, false])),
        ("power_use", json!(["must", "may"])),
        ("swap_two_own", json!([true, false])),
        ("swap_same_owner", json!([true, false])),
        ("match", json!(["rank", "points", "rank_own_points_foreign"])),
        ("snap_targets", json!(["any", "own"])),
        ("snap_known_only", json!([false, false, false, true])),
        ("touch", json!([true, false])),
        ("gift", json!(["may", "must"])),
        ("late", json!(["penalise", "take_back", "abort"])),
        ("chain", json!([true, false])),
        ("freeze", json!([true, false])),
        ("window", json!(["none", "before", "after", "both"])),
        ("final_window", json!([true, false])),
        ("race", json!(["uniform", "weighted", "turn_order"])),
        ("race_weights", json!([[], [1, 5], [1000, 1, 3, 7, 2, 2, 2, 9]])),
        ("look_at_caller", json!([true, false])),
        ("caller_snaps", json!(["none", "foreign", "own", "own_and_foreign"])),
        ("others_after_call", json!(["yes", "yes", "no"])),
        ("call", json!(["instead_of_turn", "after_turn"])),
        ("callers", json!(["one", "several"])),
        ("cap", json!(["none", "advisory(5)", "feasible(5)", "score(8)"])),
        ("empty_hand", json!(["ends_round", "ends_round_at_turn", "safe", "continues"])),
        ("empty_hand_fines", json!(["after", "none"])),
        ("stock_empty", json!(["reshuffle", "end_round"])),
        ("turn_limit", json!([7, 60])),
        ("limit_in_lap", json!(["ends", "waits"])),
        ("caller_tie", json!(["fails", "succeeds"])),
        ("carry_over", json!([true, false])),
        ("match_end", json!(["rounds(1)", "rounds(3)"])),
        ("call_success", json!([-5, "set(0)", "times(0)"])),
        ("call_failure", json!([5, "set(30)", "times(2)"])),
        ("total_reset", json!(["none", "7 -> 3", "-2 -> 10"])),
    ]
}

fn odd_rules(stream: &mut Stream) -> Option<Rules> {
    let mut table = json!({ "base": PRESETS[stream.below(6) as usize], "name": "odd" });
    set_knobs(&mut table, &older_values(), stream);
    // Each power with a swap gets a random kind of swap.
    let mut spec = RulesSpec::from_json(&table).unwrap();
    let mut kinds = spec.deck.kinds().to_vec();
    for kind in &mut kinds {
        let swap = ["swap", "swap own", "swap looked"][stream.below(3) as usize];
        kind.power = kind.power.to_string().replace("swap", swap).parse().unwrap();
        if kind.label == "JK" {
            kind.copies = spec.jokers.count() as u8;
        }
    }
    spec.deck = Deck::of(kinds);
    spec.validate().ok()
}

/// An observer that counts kinds of events.
#[derive(Default, Debug)]
pub(crate) struct EventCounts {
    pub(crate) counts: BTreeMap<String, u64>,
    declared: u64,
    before: Option<Phase>,
}

impl EventCounts {
    fn note(&mut self, what: impl Into<String>) {
        *self.counts.entry(what.into()).or_default() += 1;
    }

    /// Asserts that all events in the list have happened.
    #[track_caller]
    pub(crate) fn assert_seen(&self, what: &[&str]) {
        let missing: Vec<&&str> = what.iter().filter(|what| !self.counts.contains_key(**what)).collect();
        assert!(missing.is_empty(), "never happened: {missing:?}; happened: {:#?}", self.counts);
    }

    fn close_window(&mut self) {
        if std::mem::take(&mut self.declared) > 0 {
            self.note("void snap");
        }
    }
}

impl Observer for EventCounts {
    fn round_begins(&mut self, &Standing { setup, .. }: &Standing<'_>, _: &[Card]) {
        self.before = None;
        self.note("round");
        if !setup.carry.extra_peek.is_empty() {
            self.note("third peek");
        }
        if !setup.carry.extra_card.is_empty() {
            self.note("fifth card");
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        match *event {
            Event::Reshuffled { .. } => self.note("reshuffle"),
            Event::Gave { .. } => self.note("gift"),
            Event::Penalised { .. } => self.note("penalty"),
            Event::PenaltyWaived { .. } => self.note("penalty waived"),
            Event::BecameSafe { .. } => self.note("safe seat"),
            Event::Shown { .. } => self.note("reveal"),
            Event::Touched { .. } => self.note("touch"),
            Event::Aborted { .. } => {
                self.declared -= 1;
                self.note("aborted");
            }
            Event::Snapped { seat, spot, verdict, .. } => {
                self.declared = self.declared.saturating_sub(1);
                let whose = if spot.seat() == seat { "own" } else { "foreign" };
                self.note(format!("{verdict:?} {whose} snap"));
            }
            _ => {}
        }
    }

    fn decides(&mut self, state: &State, _: Seat, action: Action) {
        let table = state.table();
        self.note("decision");
        match (table.phase(), action) {
            (Phase::Window, action) => {
                if matches!(self.before, Some(Phase::Power | Phase::Show)) {
                    self.note("second window");
                    self.before = Some(Phase::Window);
                }
                self.declared += u64::from(matches!(action, Action::Snap(_)));
                return;
            }
            (Phase::Chain, Action::Snap(_)) => self.note("chain"),
            (Phase::Gift, Action::Skip) => self.note("gift declined"),
            (Phase::Power, Action::Skip) => self.note("power declined"),
            (Phase::Power | Phase::Show, _) => self.note(format!("step {}", table.step().unwrap())),
            (Phase::Start, Action::Call) if !table.callers().is_empty() => self.note("second caller"),
            _ => {}
        }
        self.close_window();
        self.before = Some(table.phase());
        if table.phase() == Phase::Start && table.is_frozen() {
            self.note("frozen pile");
        }
        if Seat::ALL[..table.seats()].iter().any(|&seat| table.layout(seat).is_empty()) {
            self.note("empty layout");
        }
        if Seat::ALL[..table.seats()].iter().any(|&seat| table.layout(seat).len() == table.rules().slots()) {
            self.note("full layout");
        }
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.close_window();
        self.note(match result.ended {
            EndReason::Call => "ended by call",
            EndReason::EmptyHand => "ended by an empty hand",
            EndReason::TurnLimit => "ended by the turn limit",
            EndReason::StockOut => "ended by the stock",
        });
        if result.callers.len() > 1 {
            self.note("several callers");
        }
    }
}

/// One card of the model, identified by its place in the deck or in a new stock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// `None` only after a reshuffle, until [`Observer::reshuffle`] passes the order of the new stock.
    pub(crate) face: Option<Card>,
    pub(crate) seen_by: SeatSet,
    /// The number of reshuffles before the card came into the stock.
    pub(crate) epoch: usize,
}

/// Tracks every card of a round, and the seats that have seen it, from the referee's events alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) spots: BTreeMap<Spot, usize>,
    /// The top card is last.
    pub(crate) stock: Vec<usize>,
    /// The top card is last.
    pub(crate) pile: Vec<usize>,
    pub(crate) held: Option<usize>,
    pub(crate) epoch: usize,
    seats: usize,
    hand: usize,
    penalty: usize,
    slots: usize,
    /// The new stocks whose order is not known yet.
    untold: Vec<Vec<usize>>,
}

impl Model {
    fn see(&mut self, piece: usize, seats: SeatSet, face: Card) {
        let piece = &mut self.pieces[piece];
        assert!(piece.face.is_none_or(|own| own == face), "{piece:?} was seen as {face:?}");
        piece.face = Some(face);
        piece.seen_by = piece.seen_by.union(seats);
    }

    fn everyone(&self) -> SeatSet {
        SeatSet::first(self.seats)
    }

    /// The cards that are not on the pile.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = usize> {
        self.spots.values().chain(&self.stock).chain(&self.held).copied()
    }

    /// The cards of one epoch that a seat has not seen, sorted.
    pub(crate) fn unseen(&self, seat: Seat, epoch: usize) -> Vec<Card> {
        let unseen = self.hidden().map(|piece| self.pieces[piece]);
        let unseen = unseen.filter(|piece| piece.epoch == epoch && !piece.seen_by.contains(seat));
        let mut cards: Vec<Card> = unseen.map(|piece| piece.face.unwrap()).collect();
        cards.sort_unstable();
        cards
    }

    fn stock_of(&mut self, cards: impl Iterator<Item = Option<Card>>) {
        let epoch = self.epoch;
        let first = self.pieces.len();
        self.pieces.extend(cards.map(|face| Piece { face, seen_by: SeatSet::EMPTY, epoch }));
        self.stock = (first..self.pieces.len()).collect();
    }

    /// Asserts that the state agrees with the model.
    #[track_caller]
    pub(crate) fn assert_is(&self, state: &State) {
        let table = state.table();
        let face = |piece: usize| self.pieces[piece].face;
        for spot in Seat::ALL.into_iter().flat_map(|seat| (1..=16).map(move |slot| Spot::new(seat, slot).unwrap())) {
            let piece = self.spots.get(&spot).copied();
            assert_eq!(table.occupied().contains(spot), piece.is_some(), "{spot}");
            assert_eq!(state.face(spot), piece.and_then(face), "{spot}");
            let seen_by = piece.map_or(SeatSet::EMPTY, |piece| self.pieces[piece].seen_by);
            assert_eq!(table.seen_by(spot), seen_by, "{spot}");
        }
        assert!(state.stock().eq(self.stock.iter().rev().map(|&piece| face(piece).unwrap())), "the stock's order");
        assert_eq!(table.stock_len(), self.stock.len());
        assert_eq!(state.held(), self.held.and_then(face));
        assert_eq!(table.pile_len(), self.pile.len());
        for kind in 0..table.rules().kinds().len() {
            let card = Card::new(kind).unwrap();
            let copies = self.pile.iter().filter(|&&piece| face(piece) == Some(card)).count();
            assert_eq!(table.on_pile(card), copies);
        }
        let held_top = matches!(table.phase(), Phase::Held(cambio_core::engine::CardSource::Pile(_)));
        assert_eq!(table.top(), if held_top { None } else { self.pile.last().and_then(|&piece| face(piece)) });
    }
}

impl Observer for Model {
    fn round_begins(&mut self, &Standing { setup, .. }: &Standing<'_>, deck: &[Card]) {
        let spec = setup.rules.spec();
        let (hand, penalty, slots) = (spec.hand.count(), spec.penalty.count(), setup.rules.slots());
        *self = Model { seats: setup.seats, hand, penalty, slots, ..Model::default() };
        self.stock_of(deck.iter().rev().map(|&card| Some(card)));
    }

    fn event(&mut self, event: &Event<Card>) {
        let all = self.everyone();
        match *event {
            Event::Dealt { starter, extra } => {
                let order = || starter.round(self.seats);
                let mut spots: Vec<Spot> =
                    (1..=self.hand).flat_map(|slot| order().map(move |seat| Spot::new(seat, slot).unwrap())).collect();
                for seat in order().filter(|&seat| extra.contains(seat)) {
                    let last = self.slots.min(self.hand + self.penalty);
                    spots.extend((self.hand + 1..=last).map(|slot| Spot::new(seat, slot).unwrap()));
                }
                for spot in spots {
                    self.spots.insert(spot, self.stock.pop().unwrap());
                }
            }
            Event::Peeked { seat, spot, face } | Event::Looked { seat, spot, face } => {
                self.see(self.spots[&spot], SeatSet::only(seat), face);
            }
            Event::Flipped { card } => {
                let piece = self.stock.pop().unwrap();
                self.see(piece, all, card);
                self.pile.push(piece);
            }
            Event::Drew { seat, face } => {
                let piece = self.stock.pop().unwrap();
                self.see(piece, SeatSet::only(seat), face);
                assert!(self.held.replace(piece).is_none());
            }
            Event::Took { card, .. } => {
                let piece = self.pile.pop().unwrap();
                self.see(piece, all, card);
                assert!(self.held.replace(piece).is_none());
            }
            Event::Dropped { card, .. } => {
                let piece = self.held.take().unwrap();
                self.see(piece, all, card);
                self.pile.push(piece);
            }
            Event::Kept { spot, replaced, .. } => {
                let piece = self.spots.insert(spot, self.held.take().unwrap()).unwrap();
                self.see(piece, all, replaced);
                self.pile.push(piece);
            }
            Event::Swapped { one, other, .. } => {
                let (first, second) = (self.spots[&one], self.spots[&other]);
                self.spots.insert(one, second);
                self.spots.insert(other, first);
            }
            Event::Shown { spot, card } | Event::TurnedUp { spot, card } => self.see(self.spots[&spot], all, card),
            Event::Snapped { spot, card, verdict, .. } => {
                self.see(self.spots[&spot], all, card);
                if verdict == SnapOutcome::Right {
                    self.pile.push(self.spots.remove(&spot).unwrap());
                }
            }
            Event::Penalised { spot, .. } => {
                let piece = self.stock.pop().unwrap();
                assert!(self.spots.insert(spot, piece).is_none());
            }
            Event::Gave { from, to, .. } => {
                let piece = self.spots.remove(&from).unwrap();
                assert!(self.spots.insert(to, piece).is_none());
            }
            Event::Reshuffled { cards } => {
                assert!(self.stock.is_empty());
                let top = self.pile.pop().unwrap();
                assert_eq!(self.pile.len(), usize::from(cards));
                self.pile = vec![top];
                self.epoch += 1;
                self.stock_of((0..cards).map(|_| None));
                self.untold.push(self.stock.clone());
            }
            Event::TurnBegan { .. }
            | Event::Skipped { .. }
            | Event::Touched { .. }
            | Event::Aborted { .. }
            | Event::PenaltyWaived { .. }
            | Event::Called { .. }
            | Event::BecameSafe { .. }
            | Event::Ended { .. } => {}
        }
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        let pieces = self.untold.remove(0);
        assert_eq!(pieces.len(), stock.len());
        for (piece, &card) in pieces.into_iter().zip(stock) {
            self.see(piece, SeatSet::EMPTY, card);
        }
    }
}

/// Chance that repeats recorded outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatedChance {
    pub(crate) races: Vec<RaceOrder>,
    pub(crate) stocks: Vec<Vec<Card>>,
}

impl Chance for RepeatedChance {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("a dealt deck has an order")
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        stock.copy_from_slice(&self.stocks.remove(0));
    }

    fn race(&mut self, _: &SnapRace<'_>) -> RaceOrder {
        self.races.remove(0)
    }
}
