//! A table with scripted cards and chance, so that a test reads like an example from the rules.
//!
//! [`Stage`] sets the cards. [`Stage::deal`] returns a [`Scene`], which takes decisions in notation and returns legal
//! decisions, events, knowledge and scores as text.

use std::collections::VecDeque;

use cambio_core::engine::{CarryOver, Chance, RaceOrder, Setup, SnapOutcome, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::{Action, Card, Event, Phase, Rules, RulesSpec, Seat, SeatSet, Sighting, Spot, State};

/// A table before a round: rules, cards and chance.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    toml: String,
    seats: usize,
    starter: Seat,
    carry: CarryOver,
    hands: Vec<(Seat, String)>,
    stock: String,
    script: ScriptedChance,
}

impl Stage {
    /// A table of `seats` seats under a preset; seat a starts.
    pub(crate) fn of(preset: &str, seats: usize) -> Stage {
        Stage::by(&format!("base = '{preset}'"), seats)
    }

    /// A table of `seats` seats with the rules of a rule file; seat a starts.
    pub(crate) fn by(toml: &str, seats: usize) -> Stage {
        Stage {
            toml: toml.to_owned(),
            seats,
            starter: Seat::A,
            carry: CarryOver::default(),
            hands: Vec::new(),
            stock: String::new(),
            script: ScriptedChance::default(),
        }
    }

    /// Sets knobs, as lines of a rule file.
    pub(crate) fn with(mut self, fields: &str) -> Stage {
        self.toml = format!("{}\n{fields}", self.toml);
        self
    }

    /// Sets the labels of a seat's cards, slot 1 first, extra cards last. `_` means any card.
    pub(crate) fn holds(mut self, seat: &str, labels: &str) -> Stage {
        self.hands.push((seat_of(seat), labels.to_owned()));
        self
    }

    /// Sets the labels of the stock's cards, top first; a flipped card is the first one. All other cards of the deck
    /// follow, in the order of the deck.
    pub(crate) fn stock(mut self, labels: &str) -> Stage {
        labels.clone_into(&mut self.stock);
        self
    }

    /// Sets the seat with the first turn.
    pub(crate) fn starter(mut self, seat: &str) -> Stage {
        self.starter = seat_of(seat);
        self
    }

    /// Sets the starter and the carry-over from a match.
    pub(crate) fn setup(mut self, setup: &Setup) -> Stage {
        (self.starter, self.carry) = (setup.starter, setup.carry);
        self
    }

    /// Sets the orders of the next races, such as `["b a"]`. A race that is not scripted fails the test.
    pub(crate) fn races(mut self, orders: &[&str]) -> Stage {
        self.script.races = orders.iter().map(|order| order.split(' ').map(seat_of).collect()).collect();
        self
    }

    /// The rules of the table.
    pub(crate) fn rules(&self) -> Rules {
        RulesSpec::from_toml(&self.toml).and_then(RulesSpec::validate).unwrap()
    }

    /// The whole deck in the order in which it is dealt.
    fn deck(&self, rules: &Rules) -> Vec<Card> {
        let mut rest = rules.deck().to_vec();
        let mut pick = |label: &str| {
            let card = rules.card(label).unwrap_or_else(|| panic!("the deck has no `{label}`"));
            let place = rest.iter().position(|&other| other == card);
            rest.remove(place.unwrap_or_else(|| panic!("every `{label}` is already used")))
        };
        let mut pick_all = |labels: &str| -> Vec<Option<Card>> {
            labels.split_whitespace().map(|label| (label != "_").then(|| pick(label))).collect()
        };
        let mut hands = vec![Vec::new(); self.seats];
        for (seat, labels) in &self.hands {
            hands[seat.index()] = pick_all(labels);
        }
        let stock = pick_all(&self.stock);
        let hand = rules.spec().hand.count();
        let mut deal: Vec<Option<Card>> = Vec::new();
        for slot in 0..hand {
            deal.extend(self.starter.round(self.seats).map(|seat| hands[seat.index()].get(slot).copied().flatten()));
        }
        for seat in self.starter.round(self.seats).filter(|&seat| self.carry.extra_card.contains(seat)) {
            let extra = hand..rules.dealt_to(seat, self.carry.extra_card);
            deal.extend(extra.map(|slot| hands[seat.index()].get(slot).copied().flatten()));
        }
        deal.extend(stock);
        let mut rest = rest.into_iter();
        let mut deck: Vec<Card> = deal.into_iter().map(|card| card.or_else(|| rest.next()).unwrap()).collect();
        deck.extend(rest);
        deck
    }

    /// Deals the cards.
    pub(crate) fn deal(self) -> Scene {
        let rules = self.rules();
        let deck = self.deck(&rules);
        let setup = Setup { rules, seats: self.seats, starter: self.starter, carry: self.carry };
        let (mut script, mut log) = (self.script, Vec::new());
        let state = State::deal(&setup, &deck, &mut script, &mut |event: &Event<Card>| log.push(*event)).unwrap();
        Scene { state, script, log, told: 0 }
    }
}

/// Scripted chance. A new stock is in the order of the deck, first card on top.
#[derive(Clone, Default, Debug)]
struct ScriptedChance {
    races: VecDeque<Vec<Seat>>,
}

impl Chance for ScriptedChance {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("a dealt deck has an order")
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        stock.sort_unstable_by_key(|&card| std::cmp::Reverse(card));
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let order = self.races.pop_front().unwrap_or_else(|| panic!("no race of {:?} is scripted", race.snappers));
        assert_eq!(order.iter().copied().collect::<SeatSet>(), race.snappers, "the race differs from the script");
        RaceOrder::new(order)
    }
}

/// A round in play.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    state: State,
    script: ScriptedChance,
    log: Vec<Event<Card>>,
    told: usize,
}

impl Scene {
    /// Plays decisions in notation, each with its seat, joined by commas: `a draw, a keep a3`.
    pub(crate) fn play(&mut self, decisions: &str) {
        for decision in decisions.split(',').map(str::trim) {
            assert!(self.offers(decision), "`{decision}` is illegal; legal: {}", self.legal());
            self.apply(decision[2..].parse().unwrap());
        }
    }

    fn apply(&mut self, action: Action) {
        let log = &mut self.log;
        self.state.apply(action, &mut self.script, &mut |event: &Event<Card>| log.push(*event)).unwrap();
    }

    /// Whether a decision, written with its seat, is legal now.
    pub(crate) fn offers(&self, decision: &str) -> bool {
        let (seat, action) = decision.split_once(' ').unwrap();
        let action = action.parse().unwrap();
        let legal = self.state.actor() == Some(seat_of(seat)) && self.state.choices().contains(action);
        // An illegal decision is rejected and changes nothing.
        if self.state.actor() == Some(seat_of(seat)) && !legal {
            let mut state = self.state.clone();
            let error = state.apply(action, &mut ScriptedChance::default(), &mut ()).unwrap_err();
            assert_eq!((error.actor, error.action), (self.state.actor(), action));
            assert_eq!(state.table(), self.state.table());
        }
        legal
    }

    /// The seat to act and its choices: `a: draw, call`. Empty if the round is over.
    pub(crate) fn legal(&self) -> String {
        self.state.actor().map_or_else(String::new, |seat| format!("{seat}: {}", self.state.choices()))
    }

    /// The seat to act; empty if the round is over.
    pub(crate) fn asked(&self) -> String {
        self.state.actor().map_or_else(String::new, |seat| seat.to_string())
    }

    /// The phase.
    pub(crate) fn phase(&self) -> Phase {
        self.state.table().phase()
    }

    /// Whether a snap window is open.
    pub(crate) fn has_window(&self) -> bool {
        self.phase() == Phase::Window
    }

    /// Lets all seats pass in the open window or chain. Returns the letters of these seats.
    pub(crate) fn pass(&mut self) -> String {
        let phase = self.phase();
        assert!(matches!(phase, Phase::Window | Phase::Chain), "no seat is asked to snap: {}", self.legal());
        let mut asked = String::new();
        let turns = self.state.table().turns();
        while self.phase() == phase && self.state.table().turns() == turns {
            asked += &self.asked();
            self.apply(Action::Pass);
        }
        asked
    }

    /// Plays a turn: the seat to act draws and drops a card, all seats pass, and the seat declines the card's power.
    pub(crate) fn idle(&mut self) {
        self.apply(Action::Draw);
        self.apply(Action::Drop);
        self.pass();
        while self.phase() == Phase::Power {
            self.apply(Action::Skip);
        }
        if self.phase() == Phase::Close {
            self.apply(Action::End);
        }
    }

    /// Takes the first choice, but neither calls nor snaps.
    pub(crate) fn advance(&mut self) {
        let is_quiet = |action: &Action| !matches!(action, Action::Call | Action::Snap(_) | Action::Touch(_));
        let action = self.state.choices().iter().find(is_quiet).unwrap();
        self.apply(action);
    }

    /// The events since this method was last used, with all faces.
    pub(crate) fn news(&mut self) -> String {
        let from = std::mem::replace(&mut self.told, self.log.len());
        self.tell(from, |event| event.seen_from(witness(*event)))
    }

    /// The events since [`Scene::news`] was last used, as a seat sees them.
    pub(crate) fn news_for(&self, seat: &str) -> String {
        self.tell(self.told, |event| event.seen_from(seat_of(seat)))
    }

    fn tell(&self, from: usize, sees: impl Fn(&Event<Card>) -> Sighting) -> String {
        let lines: Vec<String> = self.log[from..].iter().map(|event| describe(self.rules(), sees(event))).collect();
        lines.join("; ")
    }

    /// The label of the card in a spot; `-` for a gap.
    pub(crate) fn face(&self, spot: &str) -> &str {
        self.state.face(spot_of(spot)).map_or("-", |card| self.rules().label(card))
    }

    /// The label of the card in a spot if a seat knows it, otherwise `?`.
    pub(crate) fn knows(&self, seat: &str, spot: &str) -> &str {
        self.state.observe(seat_of(seat)).face(spot_of(spot)).map_or("?", |card| self.rules().label(card))
    }

    /// A seat's cards from slot 1 on, with its gaps: `7 - 2 3`.
    pub(crate) fn row(&self, seat: &str) -> String {
        let seat = seat_of(seat);
        let last = self.state.table().layout(seat).iter_from(Seat::A).map(Spot::number).max().unwrap_or(0);
        let labels: Vec<&str> = (1..=last).map(|number| self.face(&format!("{seat}{number}"))).collect();
        labels.join(" ")
    }

    /// The label of the pile's top card; `-` if the pile is empty.
    pub(crate) fn top(&self) -> &str {
        self.state.table().top().map_or("-", |card| self.rules().label(card))
    }

    /// The number of cards in the stock.
    pub(crate) fn stock_len(&self) -> usize {
        self.state.table().stock_len()
    }

    /// The number of cards on the pile.
    pub(crate) fn pile_len(&self) -> usize {
        self.state.table().pile_len()
    }

    /// A seat's points.
    pub(crate) fn points(&self, seat: &str) -> i32 {
        self.state.points(seat_of(seat)).unwrap()
    }

    /// The state.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &Rules {
        self.state.table().rules()
    }

    /// The reason for the end of the round, and the scores, seat a first.
    pub(crate) fn outcome(&self) -> (&'static str, Vec<String>) {
        let result = self.result();
        (result.ended.word(), result.scores().iter().map(ToString::to_string).collect())
    }

    /// The result of the round, which must be over.
    pub(crate) fn result(&self) -> RoundResult {
        assert!(self.script.races.is_empty(), "scripted races are left over");
        RoundResult::of(&self.state).unwrap_or_else(|| panic!("the round is not over: {}", self.legal()))
    }
}

/// A sighting as text.
pub(crate) fn describe(rules: &Rules, sighting: Sighting) -> String {
    let label = |card: Card| rules.label(card).to_owned();
    let face = |face: Option<Card>| face.map_or_else(|| "?".to_owned(), label);
    match sighting {
        Event::Dealt { starter, extra } if extra.is_empty() => format!("dealt from {starter}"),
        Event::Dealt { starter, extra } => format!("dealt from {starter}, one more to {extra:?}"),
        Event::Peeked { seat, spot, face: card } => format!("{seat} peeks {spot}: {}", face(card)),
        Event::Flipped { card } => format!("{} flipped", label(card)),
        Event::TurnBegan { seat } => format!("{seat}'s turn"),
        Event::Drew { seat, face: card } => format!("{seat} draws {}", face(card)),
        Event::Took { seat, card } => format!("{seat} takes {}", label(card)),
        Event::Dropped { seat, card } => format!("{seat} drops {}", label(card)),
        Event::Kept { seat, spot, replaced } => format!("{seat} keeps {spot} for {}", label(replaced)),
        Event::Looked { seat, spot, face: card } => format!("{seat} looks {spot}: {}", face(card)),
        Event::Swapped { seat, one, other } => format!("{seat} swaps {one} {other}"),
        Event::Shown { spot, card } => format!("{spot} shown: {}", label(card)),
        Event::Skipped { seat } => format!("{seat} skips"),
        Event::Touched { seat, spot } => format!("{seat} touches {spot}"),
        Event::Snapped { seat, spot, card, verdict } => {
            let verdict = match verdict {
                SnapOutcome::Right => "right",
                SnapOutcome::Wrong => "wrong",
                SnapOutcome::Late => "late",
            };
            format!("{seat} snaps {spot}: {} {verdict}", label(card))
        }
        Event::Aborted { seat } => format!("{seat} too late"),
        Event::Penalised { seat, spot } => format!("{seat} penalty {spot}"),
        Event::PenaltyWaived { seat } => format!("{seat} penalty waived"),
        Event::Gave { seat, from, to } => format!("{seat} gives {from} {to}"),
        Event::Called { seat } => format!("{seat} calls"),
        Event::BecameSafe { seat } => format!("{seat} safe"),
        Event::Reshuffled { cards } => format!("{cards} reshuffled"),
        Event::Ended { reason } => format!("ended {}", reason.word()),
        Event::TurnedUp { spot, card } => format!("{spot} turned up: {}", label(card)),
    }
}

/// A seat that sees the face of an event.
pub(crate) fn witness(event: Event<Card>) -> Seat {
    match event {
        Event::Peeked { seat, .. } | Event::Drew { seat, .. } | Event::Looked { seat, .. } => seat,
        _ => Seat::A,
    }
}

/// The seat with this letter.
pub(crate) fn seat_of(letter: &str) -> Seat {
    letter.chars().next().and_then(Seat::from_letter).unwrap()
}

fn spot_of(text: &str) -> Spot {
    text.parse().unwrap()
}
