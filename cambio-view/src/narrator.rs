//! Events and questions in words, for transcripts of records and for a playing person.

use std::fmt;

use cambio_core::rules::knob::Matching;
use cambio_core::{Action, Card, Event, Observation, Phase, Rules, Spot, SpotSet};
use serde::Serialize;

use crate::scene::KindView;
use crate::words::{power_in_words, step_in_words};

/// A line about an event. Displayed, actions in a turn are indented further than other events. It is serialized as its text.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
#[serde(transparent)]
pub struct NarratedLine {
    /// The event in words.
    pub text: String,
    /// Whether the event is the deal, the beginning of a turn, or the end of a round, and not an action in a turn or its consequence.
    #[serde(skip)]
    is_outer: bool,
}

impl From<String> for NarratedLine {
    fn from(text: String) -> NarratedLine {
        NarratedLine { text, is_outer: false }
    }
}

impl fmt::Display for NarratedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_outer { "  " } else { "    " }, self.text)
    }
}

/// Describes events with the labels of one deck.
///
/// ```
/// use cambio_core::{Event, Playing, Rules, Seat, rng::Key};
/// use cambio_view::Narrator;
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut playing = Playing::new(&rules, 2, Key::new(42, 0)).unwrap();
/// let narrator = Narrator::new(&rules);
/// assert_eq!(narrator.question(&playing.turn().unwrap().view, true), "your turn");
///
/// playing.act("draw".parse().unwrap()).unwrap();
/// let last = |seat| playing.sightings(seat).filter_map(|sighting| narrator.line(&sighting, |face| face)).last();
/// assert_eq!(last(Seat::B).unwrap().to_string(), "    a draws a card");
/// let Event::Drew { face: Some(card), .. } = playing.sightings(Seat::A).last().unwrap() else { panic!() };
/// assert_eq!(last(Seat::A).unwrap().text, format!("a draws {}", rules.label(card)));
/// ```
#[derive(Debug)]
pub struct Narrator {
    rules: Rules,
    labels: Vec<String>,
}

impl Narrator {
    /// A narrator for matches under these rules.
    pub fn new(rules: &Rules) -> Narrator {
        Narrator { rules: *rules, labels: rules.kinds().iter().map(|kind| kind.label.clone()).collect() }
    }

    /// A narrator for players: labels that are words are in brackets, so that they do not look like decisions.
    pub fn for_players(rules: &Rules) -> Narrator {
        Narrator { rules: *rules, labels: KindView::all(rules).iter().map(KindView::spoken).collect() }
    }

    /// The label of a card.
    fn label(&self, card: Card) -> &str {
        &self.labels[card.kind()]
    }

    /// Describes an event in one line. Returns `None` for an event that needs no line. `seen` returns the face if the reader
    /// may see it.
    pub fn line<F: Copy>(&self, event: &Event<F>, seen: impl Fn(F) -> Option<Card>) -> Option<NarratedLine> {
        let name = |card: Card| self.label(card);
        let behind = |face: F| seen(face).map_or(String::new(), |card| format!(": {}", name(card)));
        let is_outer = matches!(
            event,
            Event::Dealt { .. }
                | Event::Peeked { .. }
                | Event::Flipped { .. }
                | Event::TurnBegan { .. }
                | Event::Ended { .. }
        );
        let text = match *event {
            Event::Dealt { extra, .. } if extra.is_empty() => return None,
            Event::Dealt { starter, extra } => {
                let seats: Vec<String> = extra.iter_from(starter).map(|seat| seat.to_string()).collect();
                let cards = if self.rules.spec().penalty.get() == 1 { "card" } else { "cards" };
                format!("extra {cards} for a failed call: {}", seats.join(", "))
            }
            Event::Peeked { seat, spot, face } | Event::Looked { seat, spot, face } => {
                format!("{seat} peeks at {spot}{}", behind(face))
            }
            Event::Flipped { card } => format!("{} is turned over and starts the discard pile", name(card)),
            Event::TurnBegan { seat } => format!("turn of {seat}"),
            Event::Drew { seat, face } => format!("{seat} draws {}", seen(face).map_or("a card", name)),
            Event::Took { seat, card } => format!("{seat} takes {}", name(card)),
            Event::Dropped { seat, card } => format!("{seat} discards {}", name(card)),
            Event::Kept { seat, spot, replaced } => {
                format!("{seat} keeps it in {spot} and discards {}", name(replaced))
            }
            Event::Swapped { seat, one, other } => format!("{seat} swaps {one} and {other}"),
            Event::Shown { spot, card } => format!("{spot} is turned up: {}", name(card)),
            Event::Skipped { seat } => format!("{seat} skips"),
            Event::Touched { seat, spot } => format!("{seat} touches {spot}"),
            Event::Snapped { seat, spot, card, verdict } => {
                format!("{seat} snaps {spot}: {}, {}", name(card), verdict.word())
            }
            Event::Aborted { seat } => format!("{seat} is too late to snap"),
            Event::Penalised { seat, spot } => format!("{seat} gets a penalty card in {spot}"),
            Event::PenaltyWaived { seat } => format!("{seat} gets no penalty card (no free slot or no card left)"),
            Event::Gave { seat, from, to } => format!("{seat} gives {from} to {}: it is now {to}", to.seat()),
            Event::Called { seat } => format!("{seat} calls"),
            Event::BecameSafe { seat } => format!("{seat} is safe"),
            Event::Reshuffled { cards } => format!("the pile is shuffled into a new stock of {cards}"),
            Event::Ended { reason } => {
                let reason = reason.word().replace("call", "a player called").replace('_', " ");
                format!("the round ends: {reason}")
            }
            Event::TurnedUp { spot, card } => format!("{spot}: {}", name(card)),
        };
        Some(NarratedLine { text, is_outer })
    }

    /// If an event turns up a card at the end of the round and the last line does so for the same seat, adds the card to this line.
    /// Returns whether it did.
    pub(crate) fn continues<F: Copy>(&self, last: Option<&mut String>, event: &Event<F>) -> bool {
        let (Event::TurnedUp { spot, card }, Some(last)) = (*event, last) else { return false };
        let first = last.split_once(": ").and_then(|(spot, _)| spot.parse::<Spot>().ok());
        let is_same = first.is_some_and(|first| first.seat() == spot.seat());
        if is_same {
            last.push_str(", ");
            last.push_str(self.label(card));
        }
        is_same
    }

    /// The question to the seat to act, as a clause. With `notes`, it includes the cards that the seat knows to match.
    pub fn question(&self, view: &Observation<'_>, notes: bool) -> String {
        let (table, rules) = (view.table(), view.rules());
        match table.phase() {
            Phase::Peek => "peek at one of your cards".to_owned(),
            Phase::Start => "your turn".to_owned(),
            Phase::Held(_) => view.held().map_or("you hold a card".to_owned(), |card| {
                let (points, power) = (rules.points(card), rules.power(card));
                let power = if power.is_none() { String::new() } else { format!(", power: {}", power_in_words(power)) };
                let unit = if points.abs() == 1 { "point" } else { "points" };
                format!("you hold {} ({points} {unit}{power})", self.label(card))
            }),
            Phase::Window | Phase::Chain => {
                let Some(card) = table.opener().or(table.top()) else { return "snap a card, or pass".to_owned() };
                let known = if notes { view.known_matches() } else { SpotSet::EMPTY };
                let known: Vec<String> = known.iter_from(view.seat()).map(|spot| spot.to_string()).collect();
                let (label, rank) = (self.label(card), rules.kind(card).rank.as_str());
                let rank = if label.starts_with('[') { label } else { rank };
                let article = if rank.starts_with(['8', 'A', 'F', 'O']) || rank.starts_with("[e") { "an" } else { "a" };
                match (&known[..], rules.spec().matching) {
                    ([], Matching::Points) => {
                        format!("{label} was discarded. Have a card of the same points? Snap it, or pass")
                    }
                    ([], _) => format!("{label} was discarded. Have {article} {rank}? Snap it, or pass"),
                    ([one], _) => format!("{label} was discarded; {one} matches. Snap or pass"),
                    _ => format!("{label} was discarded; {} match. Snap or pass", known.join(" and ")),
                }
            }
            Phase::Gift => "give one of your cards for the one that you snapped".to_owned(),
            Phase::Power => table.step().map_or("use the power".to_owned(), step_in_words),
            Phase::Show => "choose an opponent's card to turn up for all".to_owned(),
            Phase::Close if view.choices().contains(Action::Call) => "end your turn, or call".to_owned(),
            Phase::Close => "end your turn".to_owned(),
            Phase::Over => "the round is over".to_owned(),
        }
    }
}
