//! Validation: turns a [`RulesSpec`] into [`Rules`], and finds contradictions of several knobs.

use std::sync::OnceLock;

use super::{Face, Rules, RulesError, RulesSpec, System, copies};
use crate::rules::card::{Card, Kind, MAX_CARDS, MAX_KINDS};
use crate::rules::knob::{Best, Flip, Knob as _, Peek, Reset, Score};
use crate::rules::seat::MAX_SEATS;

fn field(field: &'static str, found: impl Into<String>, allowed: impl Into<String>) -> RulesError {
    RulesError::Field { field, found: found.into(), allowed: allowed.into() }
}

impl System {
    /// Checks the fields against each other and computes the tables that the engine reads.
    pub(super) fn of(mut spec: RulesSpec) -> Result<Rules, RulesError> {
        // Changed rules must not be mistaken for the preset whose name they have.
        if RulesSpec::preset(&spec.name).is_ok_and(|preset| !preset.plays_as(&spec)) {
            spec.name += " (changed)";
        }
        spec.deck.check()?;
        let mut kinds = spec.deck.kinds.clone();
        match kinds.iter_mut().find(|kind| kind.label == "JK") {
            Some(joker) if spec.deck.name.is_none() && i64::from(joker.copies) != spec.jokers.get() => {
                let allowed = format!("{}, the copies of kind `JK` in the deck", joker.copies);
                return Err(field("jokers", spec.jokers.get().to_string(), allowed));
            }
            Some(joker) => joker.copies = spec.jokers.get() as u8,
            None if spec.jokers.get() > 0 => {
                return Err(field("jokers", spec.jokers.get().to_string(), "0 because the deck has no kind `JK`"));
            }
            None => {}
        }
        kinds.retain(|kind| kind.copies > 0);
        for (number, kind) in kinds.iter().enumerate() {
            if kinds[..number].iter().any(|other| other.label == kind.label) {
                return Err(RulesError::Label { label: kind.label.clone() });
            }
        }
        let cards: usize = kinds.iter().map(|kind| usize::from(kind.copies)).sum();
        if cards > MAX_CARDS / 2 {
            return Err(RulesError::Cards { cards });
        }
        if let Some(kind) =
            kinds.iter().find(|kind| usize::from(kind.copies) * spec.decks.count() > usize::from(u8::MAX))
        {
            let (label, decks) = (kind.label.clone(), spec.decks.count());
            return Err(RulesError::Copies { label, copies: kind.copies, decks });
        }
        let (hand, slots) = (spec.hand.count(), spec.max_slots.count());
        if spec.carry_over && slots == hand {
            let allowed = format!("false unless `max_slots` is more than `hand`, which is {hand}");
            return Err(field("carry_over", "true", allowed));
        }
        if slots < hand {
            return Err(field("max_slots", slots.to_string(), format!("at least `hand`, which is {hand}")));
        }
        let beyond = match spec.peek {
            Peek::Slots(mask) => mask >> hand != 0,
            Peek::Choose(number) => usize::from(number) > hand,
        };
        if beyond {
            return Err(field("peek", spec.peek.write().to_string(), format!("within `hand`, which is {hand}")));
        }
        if spec.score == Score::Points {
            let round = spec.most_per_round(&kinds);
            let rounds = spec.round_limit.count();
            let reset = if let Reset::To(_, to) = spec.total_reset { usize::from(to.unsigned_abs()) } else { 0 };
            let most = (i32::MAX as usize / crate::Score::UNITS as usize - reset) / round.max(1);
            if rounds > most {
                let allowed = format!("at most {most} because a round can add {round} points to a total");
                return Err(field("round_limit", rounds.to_string(), allowed));
            }
        }
        let mut ranks: Vec<&str> = Vec::new();
        let mut classes: Vec<Face> = Vec::new();
        let mut faces = [Face::default(); MAX_KINDS * 2];
        let mut deck = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            let rank = ranks.iter().position(|rank| *rank == kind.rank).unwrap_or_else(|| {
                ranks.push(&kind.rank);
                ranks.len() - 1
            });
            let card = Card::new(index).expect("there are at most 128 cards, so at most 128 kinds");
            let first = Face { points: kind.points, rank: rank as u8, class: classes.len() as u8, power: kind.power };
            let same = |one: &&Face| Face { class: first.class, ..**one } == first;
            let face = classes.iter().find(same).copied().unwrap_or_else(|| {
                classes.push(first);
                first
            });
            faces[card.raw()] = face;
            deck.extend(std::iter::repeat_n(card, usize::from(kind.copies) * spec.decks.count()));
        }
        let points = |card: &Card| i32::from(faces[card.raw()].points);
        let deck_points = deck.iter().map(points).sum();
        let deck_squares = deck.iter().map(|card| points(card) * points(card)).sum();
        let most_points = deck.iter().map(points).max().unwrap_or(0);
        let (copies, classes) = (copies(&deck), classes.len());
        let text = OnceLock::new();
        let system = System { spec, kinds, deck, copies, deck_points, deck_squares, most_points, classes, faces, text };
        system.covers(2)?;
        Ok(system.stored())
    }

    /// See [`Rules::covers`].
    pub(super) fn covers(&self, seats: usize) -> Result<(), RulesError> {
        if !(2..=MAX_SEATS).contains(&seats) {
            return Err(RulesError::Seats { seats });
        }
        let spec = &self.spec;
        let each = spec.hand.count() + if spec.carry_over { spec.penalty.count() } else { 0 };
        let needed = seats * each + usize::from(spec.flip != Flip::None) + 1;
        if self.deck.len() < needed {
            let (name, cards) = (spec.name.clone(), self.deck.len());
            return Err(RulesError::DeckTooSmall { name, cards, seats, needed });
        }
        Ok(())
    }
}

impl RulesSpec {
    /// Checks that no knob turns the game round: that the seats which win the rounds win the match, and that a successful
    /// call is better than a failed one.
    ///
    /// [`RulesSpec::from_toml`] calls this function. [`RulesSpec::validate`] does not, because records of earlier versions
    /// may have such rules.
    ///
    /// # Errors
    /// The field that contradicts another field.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let error = RulesSpec::from_toml("base = 'classic'\nscore = 'points'").unwrap_err();
    /// assert_eq!(error.to_string(), "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"");
    /// ```
    pub fn check_meaning(&self) -> Result<(), RulesError> {
        let (success, failure) = (self.call_success, self.call_failure);
        let best = if self.score == Score::Points { Best::Fewest } else { Best::Most };
        let (field, found, allowed) = if self.best != best {
            ("best", self.best.write(), format!("{} with `score = {}`", best.write(), self.score.write()))
        } else if self.score == Score::Points
            && (0..=40).all(|points| success.of(points) >= failure.of(points))
            && success.of(10) > failure.of(10)
        {
            let failure = failure.write();
            let allowed = format!("better than `call_failure = {failure}`, because the fewest points win");
            ("call_success", success.write(), allowed)
        } else {
            return Ok(());
        };
        Err(RulesError::Field { field, found: found.to_string(), allowed })
    }

    /// The most points, positive or negative, that a round can add to a total, with `score = "points"`.
    pub(super) fn most_per_round(&self, kinds: &[Kind]) -> usize {
        let dearest = kinds.iter().map(|kind| kind.points.unsigned_abs()).max().map_or(0, usize::from);
        let bonuses = [self.call_success, self.call_failure, self.lowest_bonus];
        bonuses.map(|bonus| bonus.most(dearest * self.max_slots.count())).into_iter().max().unwrap_or(0)
    }
}
