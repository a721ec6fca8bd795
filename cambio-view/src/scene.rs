//! Scenes: the content of a page that shows a table at one moment.

use std::fmt;

use cambio_core::engine::{CardSource, Motion};
use cambio_core::{Card, Observation, Phase, Rules, Score, Seat, SeatSet, Spot, State, Table};
use serde::Serialize;

use crate::words::power_in_words;

/// A kind of card in a deck. Scenes and moves refer to a card by the index of its kind in [`KindView::all`].
#[derive(Serialize, Clone, Debug)]
pub struct KindView {
    /// The label of the card, such as `Kd`.
    pub label: String,
    /// The rank, which snaps compare.
    pub rank: String,
    /// The suit; empty in decks without suits.
    pub suit: String,
    /// The points of the card.
    pub points: i16,
    /// The power of the card in words; empty if it has none.
    pub power: String,
}

/// All cards with the same points and power. A rank with all its suits in this group is listed once, without suits.
#[derive(Serialize, Clone, Debug)]
pub struct CardValue {
    /// The points.
    pub points: i16,
    /// The power in words; empty if the cards have none.
    pub power: String,
    /// The names of the cards.
    pub cards: Vec<String>,
    /// The number of the cards in the deck.
    pub count: usize,
}

impl CardValue {
    /// All cards of the deck in groups, the cards with the fewest points first.
    ///
    /// ```
    /// let worth = cambio_view::CardValue::all(&cambio_core::Rules::preset("classic").unwrap());
    /// assert_eq!(worth[0].to_string(), "  -3 points  6h");
    /// ```
    pub fn all(rules: &Rules) -> Vec<CardValue> {
        let kinds = KindView::all(rules);
        let mut counts = vec![0; kinds.len()];
        for card in rules.deck() {
            counts[card.kind()] += 1;
        }
        let mut worth: Vec<CardValue> = Vec::new();
        for (kind, count) in kinds.iter().zip(counts) {
            let is_alike = |other: &&KindView| other.points == kind.points && other.power == kind.power;
            let (alike, all) = kinds
                .iter()
                .filter(|other| other.rank == kind.rank)
                .fold((0, 0), |(alike, all), other| (alike + usize::from(is_alike(&other)), all + 1));
            let name = if alike == all && all > 1 { kind.rank.clone() } else { kind.spoken() };
            let group = worth.iter_mut().find(|worth| worth.points == kind.points && worth.power == kind.power);
            let Some(group) = group else {
                worth.push(CardValue { points: kind.points, power: kind.power.clone(), cards: vec![name], count });
                continue;
            };
            group.count += count;
            if !group.cards.contains(&name) {
                group.cards.push(name);
            }
        }
        worth.sort_by_key(|worth| worth.points);
        worth
    }
}

impl fmt::Display for CardValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.points.abs() == 1 { "point " } else { "points" };
        write!(f, "{:>4} {unit}  {}", self.points, self.cards.join(" "))?;
        if self.power.is_empty() { Ok(()) } else { write!(f, "  power: {}", self.power) }
    }
}

impl KindView {
    /// The label for players: a word such as `swap` is in brackets, so that it does not look like a decision.
    ///
    /// ```
    /// let kinds = cambio_view::KindView::all(&cambio_core::Rules::preset("original").unwrap());
    /// let spoken: Vec<String> = kinds[9..].iter().map(cambio_view::KindView::spoken).collect();
    /// assert_eq!(spoken, ["9", "[look]", "[spy]", "[swap]", "[energy]", "KR", "KB"]);
    /// ```
    pub fn spoken(&self) -> String {
        let is_word = self.label.len() > 2 && self.label.chars().all(char::is_alphabetic);
        if is_word { format!("[{}]", self.label) } else { self.label.clone() }
    }

    /// All kinds of the deck of the rules.
    pub fn all(rules: &Rules) -> Vec<KindView> {
        let view = |kind: &cambio_core::rules::Kind| KindView {
            label: kind.label.clone(),
            rank: kind.rank.clone(),
            suit: kind.suit.clone(),
            points: kind.points,
            power: power_in_words(kind.power),
        };
        rules.kinds().iter().map(view).collect()
    }
}

/// The held card.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct HeldCardView {
    /// The seat that holds the card.
    pub by: char,
    /// The kind of the card, if the page may show it.
    pub kind: Option<usize>,
    /// Whether the card was taken from the pile, so that all seats know the card.
    pub taken: bool,
}

/// The content of a page that shows a table at one moment.
///
/// A scene of a seat is made from an [`Observation`], so it shows only faces that this seat has legitimately seen.
/// A scene of a state shows every card; it is for matches that are over. Both scenes also show which seats have seen
/// each card.
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct Scene {
    /// The number of the round, counted from 1.
    pub round: usize,
    /// The number of turns that have begun.
    pub turns: usize,
    /// The seat whose turn it is.
    pub turn: char,
    /// The phase of the table in one word.
    pub phase: &'static str,
    /// The seat to decide; `None` in a snap window, where all seats declare in secret.
    pub asked: Option<char>,
    /// The layout of each seat: for each card its slot, its kind if the page may show it, and the letters of the seats that have seen it.
    pub layouts: Vec<Vec<(usize, Option<usize>, String)>>,
    /// The seats that have called.
    pub callers: String,
    /// The seats that are safe.
    pub safe: String,
    /// The kind of the top card of the pile.
    pub top: Option<usize>,
    /// The number of cards on the pile.
    pub pile: usize,
    /// The number of cards in the stock.
    pub stock: usize,
    /// The held card.
    pub(crate) held: Option<HeldCardView>,
    /// The empty spot that a gift will fill, while a seat decides which card to give.
    pub gap: Option<String>,
    /// The totals of the match, seat a first.
    pub totals: Vec<String>,
}

fn letters(seats: SeatSet) -> String {
    seats.iter_from(Seat::A).map(Seat::letter).collect()
}

impl Scene {
    /// The table as a seat sees it. With `notes`, the faces that this seat has seen stay visible; without notes, no
    /// face in a layout is visible. `round` is counted from 1.
    pub(crate) fn seen(view: &Observation<'_>, round: usize, totals: &[Score], notes: bool) -> Scene {
        Scene::new(view.table(), |spot| view.face(spot).filter(|_| notes), view.held(), round, totals)
    }

    /// The table with all faces; only for a match that is over.
    pub(crate) fn of_state(state: &State, round: usize, totals: &[Score]) -> Scene {
        Scene::new(state.table(), |spot| state.face(spot), state.held(), round, totals)
    }

    fn new(
        table: &Table,
        face: impl Fn(Spot) -> Option<Card>,
        held: Option<Card>,
        round: usize,
        totals: &[Score],
    ) -> Scene {
        let lying = |spot: Spot| (spot.number(), face(spot).map(Card::kind), letters(table.seen_by(spot)));
        let layout = |&seat: &Seat| table.layout(seat).iter_from(seat).map(lying).collect();
        let held = match table.phase() {
            Phase::Held(source) => Some(HeldCardView {
                by: table.turn().letter(),
                kind: held.map(Card::kind),
                taken: matches!(source, CardSource::Pile(_)),
            }),
            _ => None,
        };
        Scene {
            round,
            turns: table.turns(),
            turn: table.turn().letter(),
            phase: table.phase().word(),
            asked: table.asked().filter(|_| table.phase() != Phase::Window).map(Seat::letter),
            layouts: Seat::ALL[..table.seats()].iter().map(layout).collect(),
            callers: letters(table.callers()),
            safe: letters(table.safe()),
            top: table.top().map(Card::kind),
            pile: table.pile_len(),
            stock: table.stock_len(),
            held,
            gap: table.gap().map(|spot| spot.to_string()),
            totals: totals.iter().map(ToString::to_string).collect(),
        }
    }

    /// Shows a card that was turned up at the end of a round, because an observation does not contain such cards.
    pub(crate) fn turn_up(&mut self, spot: Spot, card: Card) {
        let layout = self.layouts.get_mut(spot.seat().index()).into_iter().flatten();
        for lying in layout.filter(|lying| lying.0 == spot.number()) {
            lying.1 = Some(card.kind());
        }
    }
}

/// The move of a card: its source, its destination, and its kind if all seats see the card. Sources and destinations
/// are `stock`, `pile`, `hand` (the held card) and spots.
#[derive(Serialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct CardMove(String, String, Option<usize>);

impl CardMove {
    /// The card moves in the motion of an event, without faces that only one seat sees.
    pub(crate) fn of<Face: Copy>(motion: &Motion<Face>) -> Vec<CardMove> {
        let go =
            |from: &str, to: &str, card: Option<Card>| CardMove(from.to_owned(), to.to_owned(), card.map(Card::kind));
        let name = |spot: Spot| spot.to_string();
        match *motion {
            Motion::Flipped { card } => vec![go("stock", "pile", Some(card))],
            Motion::Drawn { .. } => vec![go("stock", "hand", None)],
            Motion::Taken { card } => vec![go("pile", "hand", Some(card))],
            Motion::Dropped { card } => vec![go("hand", "pile", Some(card))],
            Motion::Kept { spot, replaced } => {
                vec![go(&name(spot), "pile", Some(replaced)), go("hand", &name(spot), None)]
            }
            Motion::Discarded { spot, card } => vec![go(&name(spot), "pile", Some(card))],
            Motion::Exchanged { one, other } => {
                vec![go(&name(one), &name(other), None), go(&name(other), &name(one), None)]
            }
            Motion::Moved { from, to } => vec![go(&name(from), &name(to), None)],
            Motion::Added { spot } => vec![go("stock", &name(spot), None)],
            Motion::Reshuffled { .. } => vec![go("pile", "stock", None)],
            Motion::Dealt { .. } | Motion::Seen { .. } | Motion::Shown { .. } | Motion::Nothing => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
