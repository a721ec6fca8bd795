//! A deal: all random outcomes that are fixed before a match, derived from one random key.

use crate::engine::DealError;
use crate::engine::chance::{RaceOrder, RoundChance};
use crate::rng::{Bounded as _, Key, Purpose, Stream};
use crate::{Card, Rules, Seat};

/// A deal: the random outcomes that all matches of the deal share. Each deck is shuffled once, when it is first needed.
///
/// ```
/// use cambio_core::{Deal, Rules, rng::Key};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut deal = Deal::new(&rules, Key::new(42, 0));
/// let first = deal.deck(0).to_vec();
/// assert_ne!(deal.deck(1), first);
/// assert_eq!(deal.deck(0), first);
/// assert_ne!(Deal::new(&rules, Key::new(42, 1)).deck(0), first);
/// ```
#[derive(Clone, Debug)]
pub struct Deal {
    rules: Rules,
    key: Key,
    /// The random streams of the agents, seat a first, each at its start.
    agents: Vec<Stream>,
    /// The decks of the first rounds, concatenated.
    decks: Vec<Card>,
    /// The reshuffles and races of the same rounds.
    chances: Vec<RoundChance>,
}

impl Deal {
    /// The deal that a random key determines.
    pub fn new(rules: &Rules, key: Key) -> Deal {
        Deal { rules: *rules, key, agents: Vec::new(), decks: Vec::new(), chances: Vec::new() }
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The random key from which all random outcomes are derived.
    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// Changes this deal into the deal of another random key, reusing memory.
    pub(crate) fn set_key(&mut self, key: Key) {
        self.key = key;
        self.agents.clear();
        self.decks.clear();
        self.chances.clear();
    }

    /// The deck of a round, whose first card is dealt first. Rounds are counted from 0.
    pub fn deck(&mut self, round: usize) -> &[Card] {
        self.round(round).0
    }

    /// Sets the deck of a round instead of shuffling it: for puzzles and tests. Rounds are counted from 0. Reshuffles
    /// and races are still derived from the random key.
    ///
    /// # Errors
    /// If these are not the cards of the rules' deck.
    ///
    /// ```
    /// use cambio_core::{Deal, Playing, Rules, rng::Key};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let mut deal = Deal::new(&rules, Key::new(42, 0));
    /// let mut deck = deal.deck(0).to_vec();
    /// deck.reverse();
    /// deal.set_deck(0, &deck).unwrap();
    /// let playing = Playing::observed(deal.clone(), 2, &mut ()).unwrap();
    /// assert_eq!(playing.state().face("a1".parse().unwrap()), Some(deck[0]));
    /// assert!(deal.set_deck(0, &deck[1..]).is_err());
    /// ```
    pub fn set_deck(&mut self, round: usize, deck: &[Card]) -> Result<(), DealError> {
        self.rules.check_deck(deck)?;
        self.round(round);
        let size = deck.len();
        self.decks[round * size..][..size].copy_from_slice(deck);
        Ok(())
    }

    /// Sets the order of a race instead of drawing it, for example from people's reaction times. Round and race are
    /// counted from 0; a race is a window in which two or more seats snap. Seats in `order` that do not snap are
    /// ignored; snappers that `order` does not contain come last.
    ///
    /// A match of the deal then depends on these orders too, and its record contains `"x-races": "laid"`.
    pub fn set_race_order(&mut self, round: usize, race: usize, order: RaceOrder) {
        self.shuffle_up_to(round);
        self.chances[round].set_race_order(race, order);
    }

    /// Whether the order of any race was [set from outside](Deal::set_race_order).
    pub(crate) fn has_laid_races(&self) -> bool {
        self.chances.iter().any(RoundChance::has_laid_races)
    }

    fn shuffle_up_to(&mut self, round: usize) {
        let size = self.rules.deck().len();
        for next in self.chances.len()..=round {
            self.decks.extend_from_slice(self.rules.deck());
            self.key.stream(Purpose::Deck, next as u32).shuffle(&mut self.decks[next * size..]);
            self.chances.push(RoundChance::new(self.key, next as u32));
        }
    }

    /// The deck of a round, and the reshuffles and races of the round, rewound to their start.
    pub(crate) fn round(&mut self, round: usize) -> (&[Card], &mut RoundChance) {
        self.shuffle_up_to(round);
        let size = self.rules.deck().len();
        let chance = &mut self.chances[round];
        chance.rewind();
        (&self.decks[round * size..][..size], chance)
    }

    /// The number of races so far in a round that was begun with [`Deal::round`].
    pub(crate) fn raced(&self, round: usize) -> usize {
        self.chances.get(round).map_or(0, RoundChance::raced)
    }

    /// The reshuffles and races of a round that was begun with [`Deal::round`], at their current position.
    pub(crate) fn chance(&mut self, round: usize) -> &mut RoundChance {
        &mut self.chances[round]
    }

    /// The random stream of the agent in a seat, at its start.
    pub(crate) fn agent(&mut self, seat: Seat) -> &Stream {
        for index in self.agents.len()..=seat.index() {
            let mut stream = self.key.agent(Seat::ALL[index]);
            stream.begin();
            self.agents.push(stream);
        }
        &self.agents[seat.index()]
    }
}
