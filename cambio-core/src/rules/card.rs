//! Cards, their kinds and their powers.

use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::{ParseError, excerpt};

/// The most kinds in a deck.
pub const MAX_KINDS: usize = 128;
/// The most cards on a table: two decks of 128.
pub(crate) const MAX_CARDS: usize = 256;

/// A card: the index of its kind in [`Rules::kinds`](crate::Rules::kinds).
///
/// Two copies of one kind are equal `Card`s; only their places distinguish them. `Option<Card>` is one byte.
///
/// ```
/// use cambio_core::{Card, Rules};
///
/// let rules = Rules::preset("classic").unwrap();
/// let card = Card::new(0).unwrap();
/// assert_eq!(rules.kinds()[card.kind()].label, rules.label(card));
/// assert_eq!(size_of::<Option<Card>>(), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(NonZeroU8);

impl Card {
    /// The card of the kind with this index; `None` if the index is out of range.
    pub const fn new(kind: usize) -> Option<Card> {
        if kind < MAX_KINDS {
            match NonZeroU8::new(kind as u8 + 1) {
                Some(raw) => Some(Card(raw)),
                None => None,
            }
        } else {
            None
        }
    }

    /// A placeholder for unused array entries.
    pub(crate) const FILLER: Card = Card(NonZeroU8::MIN);

    /// The index of the card's kind.
    pub const fn kind(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The index of the card's kind plus one, for tables whose entry 0 means no card.
    pub(crate) const fn raw(self) -> usize {
        self.0.get() as usize
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.kind())
    }
}

/// One row of a deck: a kind of card and its number of copies.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// The name of the card in records and messages, such as `6h`. Unique within a deck.
    pub label: String,
    /// The rank, by which a snapped card matches: a rune, a Jass rank or a French rank.
    pub rank: String,
    /// The suit or colour; may be empty.
    #[serde(default)]
    pub suit: String,
    /// The points of the card at the end of a round.
    pub points: i16,
    /// The power that the card has when it is dropped right after it was drawn.
    #[serde(default)]
    pub power: Power,
    /// The number of copies in one deck.
    pub copies: u8,
}

/// A power: up to four steps that the player carries out one after the other.
///
/// The text form joins the actions of a step by `or` and the steps by `then`: `look any then look another then
/// swap`. See [`PowerStep`] for the actions.
///
/// ```
/// use cambio_core::rules::Power;
///
/// let power: Power = "look any then look another then swap".parse().unwrap();
/// let step = power.step(0).unwrap();
/// assert!(step.looks_at_own() && step.looks_at_others() && !step.swaps());
/// assert!(power.step(1).unwrap().looks_at_another());
/// assert!(power.step(2).unwrap().swaps());
/// assert!(power.step(3).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Power([u8; 4]);

/// One step of a [`Power`]: one or more actions, of which one is carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PowerStep(u8);

impl PowerStep {
    const LOOK_OWN: u8 = 1;
    const LOOK_OTHER: u8 = 2;
    const LOOK_ANY: u8 = 3;
    const ANOTHER: u8 = 4;
    const SWAP: u8 = 8;
    const REVEAL: u8 = 16;
    const SWAP_OWN: u8 = 32;
    const SWAP_LOOKED: u8 = 64;
    const SWAPS: u8 = PowerStep::SWAP | PowerStep::SWAP_OWN | PowerStep::SWAP_LOOKED;

    const WORDS: [(&'static str, u8); 8] = [
        ("look own", PowerStep::LOOK_OWN),
        ("look other", PowerStep::LOOK_OTHER),
        ("look any", PowerStep::LOOK_ANY),
        ("look another", PowerStep::LOOK_ANY | PowerStep::ANOTHER),
        ("swap", PowerStep::SWAP),
        ("swap own", PowerStep::SWAP_OWN),
        ("swap looked", PowerStep::SWAP_LOOKED),
        ("reveal", PowerStep::REVEAL),
    ];

    /// `look own`: one of the player's own cards may be looked at.
    pub const fn looks_at_own(self) -> bool {
        self.0 & PowerStep::LOOK_OWN != 0
    }

    /// `look other`: one card of another seat may be looked at.
    pub const fn looks_at_others(self) -> bool {
        self.0 & PowerStep::LOOK_OTHER != 0
    }

    /// `look another`: the card must not be one that an earlier step of this power looked at.
    pub const fn looks_at_another(self) -> bool {
        self.0 & PowerStep::ANOTHER != 0
    }

    /// `swap`, `swap own` or `swap looked`: two cards change places face down.
    pub const fn swaps(self) -> bool {
        self.0 & PowerStep::SWAPS != 0
    }

    /// `swap own`: one of the two cards is the player's own, the other belongs to another seat.
    pub(crate) const fn swaps_own(self) -> bool {
        self.0 & PowerStep::SWAP_OWN != 0
    }

    /// `swap looked`: an earlier step of this power has looked at one or both of the two cards.
    pub(crate) const fn swaps_looked(self) -> bool {
        self.0 & PowerStep::SWAP_LOOKED != 0
    }

    /// `reveal`: one card of each of the other seats is shown to all seats.
    pub const fn reveals(self) -> bool {
        self.0 & PowerStep::REVEAL != 0
    }

    fn parse(text: &str) -> Option<PowerStep> {
        let mut step = 0;
        for word in text.split(" or ") {
            step |= PowerStep::WORDS.iter().find(|(name, _)| *name == word.trim())?.1;
        }
        // A reveal takes several decisions, so it cannot be combined with other actions. Two kinds of swap cannot be combined.
        let is_valid =
            (step & PowerStep::REVEAL == 0 || step == PowerStep::REVEAL) && (step & PowerStep::SWAPS).count_ones() <= 1;
        is_valid.then_some(PowerStep(step))
    }
}

impl Power {
    /// No power.
    pub const NONE: Power = Power([0; 4]);

    /// Whether the power has no step.
    pub const fn is_none(self) -> bool {
        self.0[0] == 0
    }

    /// The step with this number, counted from 0, if it exists.
    pub const fn step(self, number: usize) -> Option<PowerStep> {
        if number < 4 && self.0[number] != 0 { Some(PowerStep(self.0[number])) } else { None }
    }
}

impl FromStr for Power {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Power, ParseError> {
        let error = || {
            ParseError(format!(
                "`{}` is not a power; a power is one to four steps joined by `then`; a step is `reveal`, or one or more of \
                 `look own`, `look other`, `look any`, `look another` and one of `swap`, `swap own`, `swap looked`, joined by `or`",
                excerpt(text)
            ))
        };
        let mut steps = [0; 4];
        if text.is_empty() {
            return Ok(Power(steps));
        }
        for (number, step) in text.split(" then ").enumerate() {
            *steps.get_mut(number).ok_or_else(error)? = PowerStep::parse(step).ok_or_else(error)?.0;
        }
        Ok(Power(steps))
    }
}

impl TryFrom<String> for Power {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Power, ParseError> {
        text.parse()
    }
}

impl From<Power> for String {
    fn from(power: Power) -> String {
        power.to_string()
    }
}

impl fmt::Display for PowerStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let look = self.0 & (PowerStep::LOOK_ANY | PowerStep::ANOTHER);
        let rest = self.0 & !(PowerStep::LOOK_ANY | PowerStep::ANOTHER);
        let words = PowerStep::WORDS
            .iter()
            .filter(|&&(_, bits)| bits == look || (rest != 0 && bits == rest))
            .map(|(word, _)| *word);
        f.write_str(&words.collect::<Vec<_>>().join(" or "))
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for number in 0..4 {
            let Some(step) = self.step(number) else { break };
            if number > 0 {
                f.write_str(" then ")?;
            }
            write!(f, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(test)]
mod tests;
