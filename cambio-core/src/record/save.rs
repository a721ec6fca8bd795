//! Saving a match as a record, and restoring it.

use serde_json::Value;

use crate::engine::RaceOrder;
use crate::record::replay::{read_decision, table_of};
use crate::record::{InvalidRecord, Record, Recorder};
use crate::rng::{Key, Seed};
use crate::text::excerpt;
use crate::{Deal, Playing, Seat};

/// The extra field with the source of the race orders, if they were not drawn from the random key.
const RACES: &str = "x-races";
/// The value of that field if the race orders were decided outside the library.
const LAID: &str = "laid";

impl Playing {
    /// The record of the match so far. `agents` are the names of the agents, seat a first. The record can be written as
    /// JSON, checked by [`replay`](crate::replay), and passed to [`Playing::restore`].
    ///
    /// The time grows with the number of decisions, because this method replays the match so far without agents.
    ///
    /// # Panics
    /// If the number of names is not the number of seats.
    pub fn save(&self, agents: &[&str]) -> Record {
        assert_eq!(agents.len(), self.seats(), "there must be one name for each seat");
        let mut recorder = Recorder::new(self.rules());
        let mut again = Playing::observed(self.deal().clone(), self.seats(), &mut recorder)
            .expect("the rules allow the seats of this match");
        for &action in self.actions() {
            again.act_observed(action, &mut recorder).expect("the decision was legal in this match");
        }
        let mut record = match self.result() {
            Some(result) => recorder.finish(self.key(), 0, agents, &result),
            None => recorder.stop(self.key(), 0, agents, None),
        };
        if self.deal().has_laid_races() {
            record.fields.insert(RACES.to_owned(), Value::from(LAID));
        }
        record
    }

    /// Restores a match from its record. Any record of this library can be restored, including records of runs. The
    /// decisions of a finished match may be truncated anywhere, to continue from there. With `"x-races": "laid"`, the
    /// race orders are taken from the record; otherwise they must be those that its seed and deal determine.
    ///
    /// # Errors
    /// If the record has no seed or deal, its rules are not valid, its deck, races or new stocks do not match the key,
    /// or a decision is illegal.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{Playing, Record, Rules, rng::Key};
    ///
    /// let mut playing = Playing::new(&Rules::preset("original")?, 3, Key::new(7, 1))?;
    /// let peek = playing.turn().unwrap().view.choices().nth(0).unwrap();
    /// playing.act(peek).unwrap();
    ///
    /// let line = playing.save(&["ann", "bob", "eve"]).to_json();
    /// let restored = Playing::restore(&Record::read(&line)?)?;
    /// assert_eq!(restored.decisions(), 1);
    /// assert_eq!(restored.turn().unwrap().view, playing.turn().unwrap().view);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn restore(record: &Record) -> Result<Playing, InvalidRecord> {
        let (rules, seats) = table_of(record)?;
        let seed = |value: &Value| match value.as_str() {
            Some(text) => text.parse().ok(),
            None => value.as_u64().map(Seed::Number),
        };
        let agents = if record.fields.contains_key("agent_seed") {
            field(record, "agent_seed", SEED, seed)?
        } else {
            Seed::AGENTS
        };
        let seed = field(record, "seed", SEED, seed)?;
        let deal = field(record, "deal", "a whole number below 2^64", Value::as_u64)?;
        let mut recorder = Recorder::new(&rules);
        let key = Key { seed, agents, deal };
        let mut dealt = Deal::new(&rules, key);
        if record.fields.get(RACES).is_some_and(|races| races == LAID) {
            for (number, round) in record.rounds.iter().enumerate() {
                for (race, letters) in round.races.iter().enumerate() {
                    // Invalid seats are skipped, because the races are compared with the record at the end.
                    let seats = letters.iter().filter_map(|text| text.chars().next().and_then(Seat::from_letter));
                    dealt.set_race_order(number, race, RaceOrder::new(seats));
                }
            }
        }
        let mut playing =
            Playing::observed(dealt, seats, &mut recorder).map_err(|error| InvalidRecord::new(error.to_string()))?;
        for (number, round) in record.rounds.iter().enumerate() {
            let flaw = |what: String| InvalidRecord::new(what).in_round(number + 1);
            if playing.is_over() || playing.rounds() != number {
                return Err(flaw("unexpected round: the previous round has not ended".to_owned()));
            }
            for (index, text) in round.decisions.iter().enumerate() {
                let flaw = |what: String| flaw(what).at(index + 1);
                if playing.rounds() != number {
                    return Err(flaw(format!("illegal decision `{}`: the round is over", excerpt(text))));
                }
                let (_, action) = read_decision(playing.state(), text).map_err(flaw)?;
                playing.act_observed(action, &mut recorder).map_err(|illegal| flaw(illegal.to_string()))?;
            }
        }
        let names = vec![""; playing.seats()];
        let played = recorder.stop(playing.key(), 0, &names, None);
        for (number, (given, due)) in record.rounds.iter().zip(&played.rounds).enumerate() {
            let is_due = given.deck == due.deck
                && given.starter.as_ref().is_none_or(|starter| Some(starter) == due.starter.as_ref())
                && due.races.starts_with(&given.races)
                && due.reshuffles.starts_with(&given.reshuffles);
            if !is_due {
                let what = format!("the deck, starter, races or new stocks do not match seed {seed}, deal {deal}");
                return Err(InvalidRecord::new(what).in_round(number + 1));
            }
        }
        Ok(playing)
    }
}

/// The valid values of a seed.
const SEED: &str = "a whole number below 2^64 or 64 hexadecimal digits";

/// Reads a field of a record with `read`.
fn field<T>(
    record: &Record,
    field: &str,
    allowed: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<T, InvalidRecord> {
    let found = record.fields.get(field);
    found.and_then(read).ok_or_else(|| InvalidRecord::field(field, allowed, found))
}
