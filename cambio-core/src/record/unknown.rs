//! Records with unknown cards, such as those of people at a table.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::play::observer::Observer;
use crate::record::replay::{replay_filling, table_of};
use crate::record::{FILLED, FINGERPRINT, InvalidRecord, Record, RoundRecord, TRACE, UNKNOWN};
use crate::rng::{Bounded as _, SplitMix};
use crate::text::excerpt;
use crate::{Card, Rules, Standing};

/// The maximum number of fillings that are tried.
const ATTEMPTS: u64 = 1000;

impl Record {
    /// A complete record of a match of which only some cards are known.
    ///
    /// In the decks and new stocks of this record, the label `?` stands for a card that its writer has not seen, and a list that is too
    /// short ends with unknown cards. They are replaced by the other cards of the deck, in a random order that follows
    /// from `seed`. If the rules do not allow the decisions with these cards, for example because a card would have been a match,
    /// other orders are tried.
    ///
    /// A player's observations contain only cards that this player has seen. So if a record has all cards that one player saw, this
    /// player's observations and decisions are as in the real match, whatever the seed. Each round has a new field, `x-filled`: the
    /// places of the unknown cards in its deck.
    ///
    /// # Errors
    /// If a deck has more copies of a card than the rules, or if a thousand fillings all contradict the record. The error is from the
    /// filling that got furthest.
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
        let attempts = if rests.iter().all(Vec::is_empty) { 1 } else { ATTEMPTS };
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
    round.deck.resize(cards, UNKNOWN.to_owned());
    dice.shuffle(&mut rest);
    let mut filled = Vec::with_capacity(rest.len());
    for (place, label) in round.deck.iter_mut().enumerate().filter(|(_, label)| *label == UNKNOWN) {
        *label = rest.pop().expect("the deck lacks as many cards as it has unknown ones");
        filled.push(Value::from(place));
    }
    round.fields.insert(FILLED.to_owned(), filled.into());
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
