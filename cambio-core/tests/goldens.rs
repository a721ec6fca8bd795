//! Golden tests of play: transcripts of whole matches, fingerprints of many matches, and the numbers of decision
//! sequences from fixed deals (perft).
//!
//! A commit that changes one of these results changes play. Its message must say so and give the reason.

use std::fmt::Write as _;

use crate::play::{EventCounts, Manner, play};
use crate::table::{describe, witness};
use cambio_core::engine::{Chance, RaceOrder, Setup, SnapRace};
use cambio_core::play::RoundResult;
use cambio_core::record::Fingerprinter;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::PRESETS;
use cambio_core::{Action, Card, Event, Observer, Rules, Seat, SeatSet, Standing, State};

// Transcripts.

/// An observer that writes a match as text: decisions are not indented, their consequences are.
struct Transcript {
    rules: Rules,
    text: String,
}

impl Transcript {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn cards<'a>(&self, cards: impl Iterator<Item = &'a Card>) -> String {
        let labels: Vec<&str> = cards.map(|&card| self.rules.label(card)).collect();
        labels.join(" ")
    }
}

fn seats(set: SeatSet) -> String {
    let letters: Vec<String> = set.iter_from(Seat::A).map(|seat| seat.to_string()).collect();
    if letters.is_empty() { "nobody".to_owned() } else { letters.join(" ") }
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

impl Observer for Transcript {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        let deck = self.cards(deck.iter());
        self.line(format_args!("round: {} starts", standing.setup.starter));
        self.line(format_args!("  deck {deck}"));
    }

    fn event(&mut self, event: &Event<Card>) {
        let text = describe(&self.rules, event.seen_from(witness(*event)));
        let indent = if matches!(event, Event::TurnBegan { .. }) { "" } else { "  " };
        self.line(format_args!("{indent}{text}"));
    }

    fn decides(&mut self, _: &State, seat: Seat, action: Action) {
        self.line(format_args!("{seat} {action}"));
    }

    fn race(&mut self, order: &RaceOrder) {
        self.line(format_args!("  (race: {})", list(&order.seats().collect::<Vec<_>>())));
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        let stock = self.cards(stock.iter().rev());
        self.line(format_args!("  (stock: {stock})"));
    }

    fn round_ends(&mut self, _: &State, result: &RoundResult) {
        self.line(format_args!("  points {}; scores {}", list(result.points()), list(result.scores())));
        self.line(format_args!("  callers {}; winners {}", seats(result.callers), seats(result.winners)));
    }
}

fn transcript(preset: &str, seats: usize, deal: u64) -> String {
    let rules = Rules::preset(preset).unwrap();
    let mut transcript = Transcript { rules, text: String::new() };
    let result = play(&rules, seats, Key::new(401, deal), Manner::Moderate, &mut transcript);
    transcript.line(format_args!("totals {}; ranks {}", list(&result.totals), list(&result.ranks)));
    transcript.text
}

/// The matches of the transcripts: short ones with many kinds of events.
const WRITTEN: [(&str, usize, u64); 6] = [
    ("original", 2, 43),
    ("original", 4, 24),
    ("faessler", 2, 151),
    ("faessler", 4, 133),
    ("classic", 2, 225),
    ("classic", 4, 214),
];

#[test]
fn matches_are_played_as_they_are_written_down() {
    for (preset, seats, deal) in WRITTEN {
        insta::assert_snapshot!(format!("{preset}_{seats}"), transcript(preset, seats, deal));
    }
}

#[test]
fn golden_matches_cover_most_events() {
    let mut tally = EventCounts::default();
    for (preset, seats, deal) in WRITTEN {
        let rules = Rules::preset(preset).unwrap();
        play(&rules, seats, Key::new(401, deal), Manner::Moderate, &mut tally);
    }
    tally.assert_seen(&[
        "Right foreign snap",
        "Right own snap",
        "Wrong foreign snap",
        "ended by call",
        "gift",
        "penalty",
        "power declined",
        "reveal",
        "second window",
        "step look own",
        "step look other",
        "step swap",
        "touch",
    ]);
}

// Fingerprints.

#[test]
fn fifty_matches_of_each_preset_have_their_fingerprints() {
    let mut text = String::new();
    for preset in PRESETS {
        let rules = Rules::preset(preset).unwrap();
        write!(text, "{preset:10}").unwrap();
        for seats in [2, 4, 8] {
            let mut fingerprinter = Fingerprinter::default();
            for deal in 0..50 {
                play(&rules, seats, Key::new(402, deal), Manner::of(deal), &mut fingerprinter);
            }
            write!(text, "  {seats}: {}", fingerprinter.of_match()).unwrap();
        }
        text.push('\n');
    }
    insta::assert_snapshot!("fingerprints", text);
}

// Numbers of decision sequences.

/// Chance without randomness: races are in seat order, and new stocks are not shuffled.
struct Settled;

impl Chance for Settled {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("a dealt deck has an order")
    }

    fn shuffle(&mut self, _: &mut [Card]) {}

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        RaceOrder::new(race.snappers.iter_from(Seat::A))
    }
}

/// The number of sequences of `depth` decisions.
fn sequences(state: &State, depth: usize) -> u64 {
    let choices = state.choices();
    if depth == 1 {
        return choices.len() as u64;
    }
    let after = |action| {
        let mut after = state.clone();
        after.apply(action, &mut Settled, &mut ()).unwrap();
        sequences(&after, depth - 1)
    };
    choices.iter().map(after).sum()
}

/// The numbers of decision sequences of lengths 1 to `depth`, from a deal shuffled with `seed`.
fn count(preset: &str, seats: usize, seed: u64, depth: usize) -> String {
    let rules = Rules::preset(preset).unwrap();
    let mut deck = rules.deck().to_vec();
    Key::new(seed, 0).stream(Purpose::Deck, 0).shuffle(&mut deck);
    let mut state = State::deal(&Setup::new(&rules, seats), &deck, &mut Settled, &mut ()).unwrap();
    // Skips the choices before the first turn.
    while state.table().turns() == 0 {
        let choices = state.choices();
        let first = if choices.contains(Action::Pass) { Action::Pass } else { choices.nth(0).unwrap() };
        state.apply(first, &mut Settled, &mut ()).unwrap();
    }
    let numbers: Vec<u64> = (1..=depth).map(|depth| sequences(&state, depth)).collect();
    let top = rules.label(state.stock().next().unwrap()).to_owned();
    format!("{preset}, {seats} seats, {top} on top: {}\n", list(&numbers))
}

#[test]
fn numbers_of_decision_sequences_are_pinned() {
    let mut text = String::new();
    text += &count("original", 2, 6, 7);
    text += &count("original", 3, 15, 6);
    text += &count("faessler", 2, 5, 7);
    text += &count("classic", 2, 7, 7);
    insta::assert_snapshot!("counts", text);
}
