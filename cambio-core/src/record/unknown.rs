//! Records with unknown cards, such as those of people at a table.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::engine::Motion;
use crate::play::observer::Observer;
use crate::record::replay::{replay, replay_filling, table_of};
use crate::record::{FILLED, FILLED_STOCKS, FINGERPRINT, InvalidRecord, Record, RoundRecord, TRACE, UNKNOWN};
use crate::rng::{Bounded as _, SplitMix};
use crate::text::excerpt;
use crate::{Action, Card, Event, Rules, Seat, SeatSet, Spot, SpotSet, Standing, State};

/// The maximum number of fillings that are tried, and of bytes of JSON in all of them together, so that the work is bounded.
const ATTEMPTS: u64 = 1000;
const BYTES: u64 = 4 << 20;

impl Record {
    /// A complete record of a match of which only some cards are known.
    ///
    /// In the decks and new stocks of this record, the label `?` stands for a card that its writer has not seen, and a list that is too
    /// short ends with unknown cards. They are replaced by the other cards of the deck, in a random order that follows
    /// from `seed`. If the rules do not allow the decisions with these cards, for example because a card would have been a match,
    /// other orders are tried.
    ///
    /// A player's observations contain only cards that this player has seen. So if a record has all cards that one player saw, this
    /// player's observations and decisions are as in the real match, whatever the seed. A round with unknown cards has a new field,
    /// `x-filled`: their places in its deck. If new stocks had unknown cards, `x-filled-stocks` lists their places in each of them.
    /// [`Record::made_up`] returns which seats saw these cards.
    ///
    /// # Errors
    /// If a deck has more copies of a card than the rules, or if a thousand fillings all contradict the record (fewer if it is longer than 4 KB).
    /// The error is from the filling that got furthest.
    ///
    /// ```
    /// use cambio_core::{Record, replay};
    ///
    /// // Seat a saw its cards a3 and a4 and the card that it kept, and every seat saw two cards on the pile.
    /// let line = r#"{"format": "cambio-record/1", "rules": "classic", "seats": 2, "rounds": [{
    ///     "deck": ["6h", "?", "?", "?", "Ac", "?", "2d", "?", "5c", "3c"],
    ///     "decisions": ["a draw", "a keep a1", "a pass", "b pass", "a end", "b draw", "b drop", "b pass"]}]}"#;
    /// let record = Record::read(&line.replace('\n', "")).unwrap();
    /// assert!(replay(&record, &mut ()).unwrap_err().what.contains("unknown"));
    ///
    /// let complete = record.complete(1).unwrap();
    /// assert_eq!(complete.rounds[0].deck.len(), 54);
    /// assert!(replay(&complete, &mut ()).is_ok());
    /// ```
    pub fn complete(&self, seed: u64) -> Result<Record, InvalidRecord> {
        let (rules, _) = table_of(self)?;
        let rests = self
            .rounds
            .iter()
            .enumerate()
            .map(|(number, round)| rest(&rules, round).map_err(|flaw| flaw.in_round(number + 1)));
        let rests = rests.collect::<Result<Vec<_>, _>>()?;
        let mut furthest = InvalidRecord::default();
        // Without unknown cards, all attempts are the same.
        let is_complete = rests.iter().all(Vec::is_empty);
        let attempts = if is_complete { 1 } else { (BYTES / self.to_json().len() as u64).clamp(1, ATTEMPTS) };
        for attempt in 0..attempts {
            let mut dice = SplitMix::new(seed, attempt);
            let mut record = self.clone();
            for (round, rest) in record.rounds.iter_mut().zip(&rests) {
                fill(round, rest.clone(), rules.deck().len(), &mut dice);
            }
            let mut stocks = NewStocks { rules, rounds: Vec::new() };
            match replay_filling(&record, &mut stocks) {
                Ok(_) => {
                    for (round, stocks) in record.rounds.iter_mut().zip(stocks.rounds) {
                        let unknown: Vec<Vec<usize>> = round
                            .reshuffles
                            .iter()
                            .zip(&stocks)
                            .map(|(given, stock)| unknown(given, stock.len()))
                            .collect();
                        if unknown.iter().any(|places| !places.is_empty()) {
                            round.fields.insert(FILLED_STOCKS.to_owned(), Value::from(unknown));
                        }
                        round.reshuffles = stocks;
                    }
                    return Ok(record);
                }
                Err(flaw) if attempt == 0 || (flaw.round, flaw.decision) > (furthest.round, furthest.decision) => {
                    furthest = flaw;
                }
                Err(_) => {}
            }
        }
        Err(furthest)
    }

    /// Which seats saw made-up cards in each round of a complete record, up to the first error of the record; empty if the record has
    /// no made-up cards.
    ///
    /// ```
    /// use cambio_core::{Record, Seat};
    ///
    /// let line = r#"{"format": "cambio-record/1", "rules": "classic", "seats": 2, "rounds": [{
    ///     "deck": ["6h", "?", "?", "?", "Ac", "?", "2d", "?", "5c", "3c"],
    ///     "decisions": ["a draw", "a keep a1", "a pass", "b pass", "a end", "b draw", "b drop", "b pass"]}]}"#;
    /// let record = Record::read(&line.replace('\n', "")).unwrap().complete(1).unwrap();
    /// let round = &record.made_up()[0];
    /// // Seat b saw its cards b3 and b4 before its first decision.
    /// let knows_real_cards = |seat: Seat| round.seen_before.iter().all(|seen_by| !seen_by.contains(seat));
    /// assert!(round.in_play && knows_real_cards(Seat::A) && !knows_real_cards(Seat::B));
    /// ```
    pub fn made_up(&self) -> Vec<MadeUp> {
        let has_field =
            |round: &RoundRecord| [FILLED, FILLED_STOCKS].iter().any(|name| round.fields.contains_key(*name));
        if !self.rounds.iter().any(has_field) {
            return Vec::new();
        }
        let mut follower = MadeUpFollower { rounds: &self.rounds, ..MadeUpFollower::default() };
        // After an error, the rounds up to it are known.
        let _ = replay(self, &mut follower);
        follower.found
    }
}

/// What depends on the made-up cards of a round: see [`Record::made_up`].
///
/// A seat that has seen no made-up card makes its decisions with real information: its observations are the same whatever
/// cards are filled in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MadeUp {
    /// For each decision, the seats that had seen a made-up card before it. If a made-up card counted at the end of an earlier
    /// round, these are all seats, because the totals are made up.
    pub seen_before: Vec<SeatSet>,
    /// The seats that saw a made-up card in the round; cards that were turned up at the end of the round do not count.
    pub seen_by: SeatSet,
    /// Whether a made-up card was dealt or drawn. If not, only the order of the stock is made up.
    pub in_play: bool,
}

/// The places of the unknown cards in a list of this many cards.
fn unknown(labels: &[String], cards: usize) -> Vec<usize> {
    (0..cards.max(labels.len())).filter(|&place| labels.get(place).is_none_or(|label| label == UNKNOWN)).collect()
}

/// The cards of the deck that a round does not name.
fn rest(rules: &Rules, round: &RoundRecord) -> Result<Vec<String>, InvalidRecord> {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for &card in rules.deck() {
        *left.entry(rules.label(card)).or_default() += 1;
    }
    if round.deck.len() > rules.deck().len() {
        let (due, found) = (rules.deck().len(), round.deck.len());
        return Err(InvalidRecord::new(format!("impossible deck: `{}` has {due} cards, found {found}", rules.name())));
    }
    for label in round.deck.iter().filter(|label| *label != UNKNOWN) {
        match left.get_mut(label.as_str()) {
            Some(copies) if *copies > 0 => *copies -= 1,
            found => {
                let more = if found.is_some() { "more cards" } else { "a card" };
                let what = format!(
                    "impossible deck: expected the cards of `{}`, found {more} `{}`",
                    rules.name(),
                    excerpt(label)
                );
                return Err(InvalidRecord::new(what));
            }
        }
    }
    Ok(left.into_iter().flat_map(|(label, copies)| std::iter::repeat_n(label.to_owned(), copies)).collect())
}

/// Replaces the unknown cards of a deck by the other cards, in random order.
fn fill(round: &mut RoundRecord, mut rest: Vec<String>, cards: usize, dice: &mut SplitMix) {
    if rest.is_empty() {
        return;
    }
    let places = unknown(&round.deck, cards);
    round.deck.resize(cards, UNKNOWN.to_owned());
    dice.shuffle(&mut rest);
    for &place in &places {
        round.deck[place] = rest.pop().expect("the deck lacks as many cards as it has unknown ones");
    }
    round.fields.insert(FILLED.to_owned(), places.into());
    // They are hashes of other cards.
    round.fields.remove(FINGERPRINT);
    round.fields.remove(TRACE);
}

/// Collects the labels of new stocks, top card first.
struct NewStocks {
    rules: Rules,
    rounds: Vec<Vec<Vec<String>>>,
}

impl Observer for NewStocks {
    fn round_begins(&mut self, _: &Standing<'_>, _: &[Card]) {
        self.rounds.push(Vec::new());
    }

    fn reshuffle(&mut self, stock: &[Card]) {
        let labels = stock.iter().rev().map(|&card| self.rules.label(card).to_owned()).collect();
        self.rounds.last_mut().expect("a round has begun").push(labels);
    }
}

/// Follows made-up cards from the stock while a record is replayed.
#[derive(Default)]
struct MadeUpFollower<'r> {
    rounds: &'r [RoundRecord],
    found: Vec<MadeUp>,
    rules: Option<Rules>,
    seats: usize,
    /// Whether each card of the stock is made up; the last one is the top.
    stock: Vec<bool>,
    reshuffles: usize,
    /// The spots with a made-up card, and whether the held card is made up.
    spots: SpotSet,
    is_held: bool,
    /// Whether a made-up card has counted at the end of a round.
    has_counted: bool,
}

/// The marks of a stock of this many cards, by the places of its made-up cards.
fn marks(places: Option<&Value>, cards: usize) -> Vec<bool> {
    let mut marks = vec![false; cards];
    for place in places.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64) {
        if let Some(mark) = usize::try_from(place).ok().and_then(|place| marks.get_mut(place)) {
            *mark = true;
        }
    }
    marks.reverse();
    marks
}

impl MadeUpFollower<'_> {
    fn round(&self) -> &RoundRecord {
        &self.rounds[self.found.len() - 1]
    }

    /// Whether the next card of the stock is made up.
    fn draw(&mut self) -> bool {
        let is_made_up = self.stock.pop().unwrap_or_default();
        let found = self.found.last_mut().expect("a round has begun");
        found.in_play |= is_made_up;
        is_made_up
    }

    fn add(&mut self, spot: Spot) {
        if self.draw() {
            self.spots.insert(spot);
        }
    }

    /// Removes the card from a spot. Returns whether it is made up.
    fn lift(&mut self, spot: Spot) -> bool {
        let is_made_up = self.spots.contains(spot);
        self.spots.remove(spot);
        is_made_up
    }

    fn deal(&mut self, starter: Seat, extra: SeatSet) {
        let rules = self.rules.expect("a round has begun");
        let hand = rules.spec().hand.count();
        let hands = (1..=hand).flat_map(|slot| starter.round(self.seats).map(move |seat| (seat, slot)));
        let extras = starter
            .round(self.seats)
            .flat_map(|seat| (hand + 1..=rules.dealt_to(seat, extra)).map(move |slot| (seat, slot)));
        for (seat, slot) in hands.chain(extras).collect::<Vec<_>>() {
            self.add(Spot::new(seat, slot).expect("the rules allow as many slots"));
        }
    }
}

impl Observer for MadeUpFollower<'_> {
    fn round_begins(&mut self, standing: &Standing<'_>, deck: &[Card]) {
        (self.rules, self.seats) = (Some(standing.setup.rules), standing.setup.seats);
        let everyone = SeatSet::first(if self.has_counted { self.seats } else { 0 });
        self.found.push(MadeUp { seen_by: everyone, in_play: self.has_counted, ..MadeUp::default() });
        self.stock = marks(self.round().fields.get(FILLED), deck.len());
        (self.reshuffles, self.spots, self.is_held) = (0, SpotSet::EMPTY, false);
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Event::TurnedUp { spot, .. } = *event {
            self.has_counted |= self.spots.contains(spot);
            return;
        }
        let everyone = SeatSet::first(self.seats);
        // The seats that see a card, and whether the card is made up.
        let (seats, is_made_up) = match event.motion() {
            Motion::Dealt { starter, extra } => return self.deal(starter, extra),
            Motion::Seen { seat, spot, .. } => (SeatSet::only(seat), self.spots.contains(spot)),
            Motion::Shown { spot, .. } => (everyone, self.spots.contains(spot)),
            Motion::Flipped { .. } => (everyone, self.draw()),
            Motion::Drawn { seat, .. } => {
                self.is_held = self.draw();
                (SeatSet::only(seat), self.is_held)
            }
            Motion::Dropped { .. } => (everyone, std::mem::take(&mut self.is_held)),
            Motion::Kept { spot, .. } => {
                let is_made_up = self.lift(spot);
                if std::mem::take(&mut self.is_held) {
                    self.spots.insert(spot);
                }
                (everyone, is_made_up)
            }
            Motion::Discarded { spot, .. } => (everyone, self.lift(spot)),
            Motion::Exchanged { one: from, other: to } | Motion::Moved { from, to } => {
                return self.spots.swap(from, to);
            }
            Motion::Added { spot } => return self.add(spot),
            Motion::Reshuffled { cards } => {
                let stocks = self.round().fields.get(FILLED_STOCKS);
                self.stock = marks(stocks.and_then(|stocks| stocks.get(self.reshuffles)), usize::from(cards));
                self.reshuffles += 1;
                return;
            }
            // All seats have seen the cards of the pile.
            Motion::Taken { .. } | Motion::Nothing => return,
        };
        if is_made_up {
            let found = self.found.last_mut().expect("a round has begun");
            found.seen_by = found.seen_by.union(seats);
        }
    }

    fn decides(&mut self, _: &State, _: Seat, _: Action) {
        let found = self.found.last_mut().expect("a round has begun");
        found.seen_before.push(found.seen_by);
    }
}
