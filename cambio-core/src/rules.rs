//! Rule systems as data: every knob, the presets, and the gate that a user's own rules pass.
//!
//! A [`RulesSpec`] is loose: anybody may fill it in. [`Rules`] is what the engine plays by: validated and immutable.
//! Nothing in the engine asks which system it plays; it asks knobs.

pub(crate) mod card;
mod check;
mod deck;
pub mod knob;
pub(crate) mod score;
pub(crate) mod seat;
mod spec;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::rules::card::{Card, Kind, MAX_CARDS, MAX_KINDS, ParsePowerError, Power};
use crate::rules::knob::Matching;
use crate::rules::seat::{MAX_SEATS, MAX_SLOTS};
use crate::shown::{did_you_mean, shown};

pub use deck::Deck;
use deck::{KIND_FIELDS, MOST_KINDS};
pub use spec::{KNOBS, KnobDoc, RulesSpec};
use spec::{known_names, preset_names};

/// The names of the presets, in the order in which they are documented.
pub const PRESETS: [&str; 6] = ["original", "original-b", "original-c", "original-d", "faessler", "classic"];

/// The names of the mini games: rule systems that are small enough to be solved exactly. [`RulesSpec::preset`] knows them
/// too. They are not among the [`PRESETS`], because nobody publishes or plays them.
pub const MINI_GAMES: [&str; 9] =
    ["mini-m0", "mini-m1", "mini-m3", "mini-k3", "mini-k4", "mini-s", "mini-p", "mini-pk", "mini-dpk"];

/// Why rules are refused. The message is one sentence: the field, what was found, and what is allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// A rule file is not TOML.
    #[error("not TOML: {}", shown(.0))]
    Toml(String),
    /// A rule file holds something that no rule file has, such as a date.
    #[error("not a rule file: {}", shown(.0))]
    File(String),
    /// Rules as JSON are neither a name nor a table.
    #[error("rules are {}; allowed is a preset's name or a table of fields", shown(found))]
    Shape {
        /// What was found, as JSON.
        found: String,
    },
    /// No preset or mini game has this name.
    #[error("there is no preset `{}`; {}{}", shown(name), did_you_mean(name, preset_names()), known_names())]
    Preset {
        /// The name.
        name: String,
    },
    /// The field `base` is no text.
    #[error("field `base` is {}; {}", shown(found), known_names())]
    Base {
        /// What was found, as JSON.
        found: String,
    },
    /// No rule file has this field.
    #[error(
        "there is no field `{}`; {}`cambio rules classic` prints all fields",
        shown(field),
        did_you_mean(field, KNOBS.iter().map(|knob| knob.name))
    )]
    UnknownField {
        /// The field.
        field: String,
    },
    /// A field is missing.
    #[error("field `{field}` is missing; {allowed}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What a rule file says there.
        allowed: &'static str,
    },
    /// A field has a value that it may not have, by itself or beside the others.
    #[error("field `{field}` is {}; allowed is {allowed}", shown(found))]
    Field {
        /// The field.
        field: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// `peek` names cards that the hand does not have.
    #[error("field `peek` is {found}; allowed are at most the {hand} cards of the `hand`")]
    Peek {
        /// What was found, as rule files write it.
        found: String,
        /// The number of cards in a hand.
        hand: usize,
    },
    /// `jokers` and the deck's own table disagree.
    #[error("field `jokers` is {jokers}, but kind `JK` of the deck has {copies} copies; allowed is the same number")]
    Jokers {
        /// The value of `jokers`.
        jokers: i64,
        /// The copies in the deck.
        copies: u8,
    },
    /// A kind of the deck is no table.
    #[error("kind {number} of the deck is {}; a kind is a table of {}", shown(found), KIND_FIELDS.join(", "))]
    Kind {
        /// Which kind, counted from 1.
        number: usize,
        /// What was found, as JSON.
        found: String,
    },
    /// A kind of the deck has a field that no kind has.
    #[error("kind {number} of the deck has the field `{}`; a kind has {}", shown(field), KIND_FIELDS.join(", "))]
    UnknownKindField {
        /// Which kind, counted from 1.
        number: usize,
        /// The field.
        field: String,
    },
    /// A field of a kind has a value that it may not have.
    #[error("`{field}` of kind {number} of the deck is {}; allowed is {allowed}", shown(found))]
    KindField {
        /// Which kind, counted from 1.
        number: usize,
        /// The field.
        field: &'static str,
        /// What was found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The power of a kind cannot be read.
    #[error("`power` of kind {number} of the deck: {source}")]
    Power {
        /// Which kind, counted from 1.
        number: usize,
        /// What is wrong with it.
        source: ParsePowerError,
    },
    /// Two kinds have one label.
    #[error("two kinds of the deck have the label `{label}`; labels are unique")]
    Label {
        /// The label.
        label: String,
    },
    /// The deck has too many kinds.
    #[error("the deck has {kinds} kinds; allowed are at most {MOST_KINDS}, those without copies included")]
    Kinds {
        /// The number of kinds.
        kinds: usize,
    },
    /// The deck has too many cards.
    #[error("the deck has {cards} cards; allowed are at most {}", MAX_CARDS / 2)]
    Cards {
        /// The number of cards.
        cards: usize,
    },
    /// A kind has too many copies.
    #[error(
        "kind `{label}` of the deck has {copies} copies in each of {decks} decks; allowed are at most {} of a kind in all",
        u8::MAX
    )]
    Copies {
        /// The label of the kind.
        label: String,
        /// The copies in one deck.
        copies: u8,
        /// The number of decks.
        decks: usize,
    },
    /// No table has so many seats.
    #[error("a table of {seats} seats; allowed are 2 to {MAX_SEATS} seats")]
    Seats {
        /// The number of seats.
        seats: usize,
    },
    /// The deck is too small for so many seats.
    #[error("the deck of `{name}` has {cards} cards, but {seats} seats need {needed} for the deal and a first draw")]
    DeckTooSmall {
        /// The name of the rules.
        name: String,
        /// The number of cards in the deck.
        cards: usize,
        /// The number of seats.
        seats: usize,
        /// The number of cards that they need.
        needed: usize,
    },
}

/// How many of each kind there are, modulo 256; the index is that of the kind plus one.
#[inline]
pub(crate) fn copies(cards: &[Card]) -> [u8; MAX_KINDS * 2] {
    let mut copies = [0u8; MAX_KINDS * 2];
    for card in cards {
        let count = &mut copies[card.raw()];
        *count = count.wrapping_add(1);
    }
    copies
}

/// What the engine asks of a card.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Face {
    pub(crate) points: i16,
    pub(crate) rank: u8,
    /// Of kinds that no rule tells apart the class is the same. Classes are numbered from 0 in the order of the kinds.
    pub(crate) class: u8,
    pub(crate) power: Power,
}

/// A validated rule system.
///
/// `Rules` is a handle of one word: it can be copied, stored in any struct, and sent to any thread. Nothing that is built
/// on rules has a lifetime for them.
///
/// # Memory
/// The process keeps every rule system that it has validated, equal ones once, and gives their memory back when it ends.
/// A handle then needs no counter, and a [`State`](crate::State) is cloned by copying bytes. With a counter a clone takes
/// five times as long, and ten times as long where two threads clone states of the same rules, as searches do.
///
/// A rule system takes 4 to 22 KB; `classic` takes 21 KB. That does not matter to a program that plays thousands of
/// systems. A program that makes millions of *different* systems, or replays millions of records whose rules all
/// differ, keeps gigabytes that it no longer uses. It should divide the work between processes. A [`RulesSpec`] is not
/// kept: it is an ordinary value until it is validated.
///
/// # Examples
/// ```
/// use cambio_core::{Rules, Setup, State};
///
/// /// A game that an application owns: no lifetime anywhere.
/// struct Session {
///     rules: Rules,
///     state: State,
/// }
///
/// fn begin(rules: Rules) -> Session {
///     let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice(), &mut ()).unwrap();
///     Session { rules, state }
/// }
/// # fn dice() -> cambio_core::Dice<cambio_core::rng::Stream> {
/// #     cambio_core::Dice(cambio_core::rng::Key::new(1, 0).stream(cambio_core::rng::Purpose::Deck, 0))
/// # }
///
/// let session = begin(Rules::preset("classic")?);
/// let elsewhere = std::thread::spawn(move || session.state.table().rules() == &session.rules);
/// assert!(elsewhere.join().unwrap());
/// # Ok::<(), cambio_core::RulesError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Rules(&'static System);

/// What the engine looks up. Everything beside the spec follows from it.
struct System {
    spec: RulesSpec,
    kinds: Vec<Kind>,
    deck: Vec<Card>,
    copies: [u8; MAX_KINDS * 2],
    deck_points: i32,
    deck_squares: i32,
    most_points: i32,
    classes: usize,
    faces: [Face; MAX_KINDS * 2],
}

/// Handles are equal if their specs are, names included: equal systems are stored once.
impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Rules {}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rules").field(&self.name()).finish()
    }
}

impl System {
    /// The handle of this rule system. Of equal systems the first is stored, and the others are dropped.
    fn stored(self) -> Rules {
        static STORED: Mutex<BTreeMap<&RulesSpec, Rules>> = Mutex::new(BTreeMap::new());
        // A panic elsewhere leaves the table whole: an entry is made in one step.
        let mut stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&rules) = stored.get(&self.spec) {
            return rules;
        }
        let rules = Rules(Box::leak(Box::new(self)));
        stored.insert(rules.spec(), rules);
        rules
    }
}

impl Rules {
    /// A preset or mini game by name; see [`PRESETS`] and [`MINI_GAMES`].
    ///
    /// # Errors
    /// If none has that name.
    pub fn preset(name: &str) -> Result<Rules, RulesError> {
        RulesSpec::preset(name)?.validate()
    }

    /// The knobs.
    pub fn spec(&self) -> &'static RulesSpec {
        &self.0.spec
    }

    /// The name of the system in result tables.
    pub fn name(&self) -> &'static str {
        &self.0.spec.name
    }

    /// The kinds of the deck; a [`Card`] is an index into them.
    pub fn kinds(&self) -> &'static [Kind] {
        &self.0.kinds
    }

    /// Every card in play, by kind.
    pub fn deck(&self) -> &'static [Card] {
        &self.0.deck
    }

    pub(crate) fn copies(&self) -> &'static [u8; MAX_KINDS * 2] {
        &self.0.copies
    }

    /// The number of such cards in play.
    pub fn copies_of(&self, card: Card) -> usize {
        self.0.kinds.get(card.kind()).map_or(0, |kind| usize::from(kind.copies) * self.0.spec.decks.count())
    }

    /// The kind of a card.
    ///
    /// # Panics
    /// If the card is not of these rules' deck.
    ///
    /// ```
    /// use cambio_core::Rules;
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let king = rules.card("Kh").unwrap();
    /// assert_eq!((rules.label(king), rules.points(king), rules.copies_of(king)), ("Kh", rules.kind(king).points.into(), 1));
    /// assert!(rules.same_rank(king, rules.card("Ks").unwrap()));
    /// assert_eq!(rules.card("Zz"), None);
    /// ```
    pub fn kind(&self, card: Card) -> &'static Kind {
        &self.0.kinds[card.kind()]
    }

    /// The label of a card.
    ///
    /// # Panics
    /// If the card is not of these rules' deck.
    pub fn label(&self, card: Card) -> &'static str {
        &self.kind(card).label
    }

    /// The card with this label, if the deck has one.
    pub fn card(&self, label: &str) -> Option<Card> {
        self.0.kinds.iter().position(|kind| kind.label == label).and_then(Card::new)
    }

    /// The points of a card.
    pub fn points(&self, card: Card) -> i32 {
        i32::from(self.face(card).points)
    }

    /// The points of the card that lies somewhere; 0 if it is not known.
    #[inline]
    pub(crate) fn points_here(&self, card: Option<Card>) -> i32 {
        i32::from(self.0.faces[card.map_or(0, Card::raw)].points)
    }

    /// The sum of the points of every card in play.
    pub fn deck_points(&self) -> i32 {
        self.0.deck_points
    }

    /// The points of the most expensive card.
    pub fn most_points(&self) -> i32 {
        self.0.most_points
    }

    /// The sum of the squared points of every card in play.
    pub fn deck_squares(&self) -> i32 {
        self.0.deck_squares
    }

    /// Whether a card matches the shown one, by the knob `match`. `is_own` says whether the snapping seat owns the card.
    #[inline]
    pub fn match_each_other(&self, shown: Card, card: Card, is_own: bool) -> bool {
        let (one, other) = (self.face(shown), self.face(card));
        match self.0.spec.matching {
            Matching::Rank => one.rank == other.rank,
            Matching::RankOwnPointsForeign if is_own => one.rank == other.rank,
            Matching::RankOwnPointsForeign | Matching::Points => one.points == other.points,
        }
    }

    /// The rank of a card as a bit, modulo 64: of two cards of one rank it is the same.
    #[inline]
    pub(crate) fn rank_bit(&self, card: Card) -> u64 {
        1 << (self.face(card).rank & 63)
    }

    /// Whether two cards share a rank.
    pub fn same_rank(&self, one: Card, other: Card) -> bool {
        self.face(one).rank == self.face(other).rank
    }

    /// The power of a card; [`Power::NONE`] if it has none.
    pub fn power(&self, card: Card) -> Power {
        self.face(card).power
    }

    /// How many classes of kinds there are.
    pub(crate) fn classes(&self) -> usize {
        self.0.classes
    }

    /// The class of a card: a number that kinds share which no rule tells apart, such as the suits of a rank in most games.
    ///
    /// ```
    /// use cambio_core::{Card, Rules};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let class = |text: &str| rules.class(rules.card(text).unwrap());
    /// assert_eq!(class("7c"), class("7s"));
    /// assert_ne!(class("Kc"), class("Kh"), "it counts less");
    /// ```
    #[inline]
    pub fn class(&self, card: Card) -> usize {
        usize::from(self.face(card).class) % MAX_KINDS
    }

    /// The class of a card that may not be there: without a branch.
    #[inline]
    pub(crate) fn class_here(&self, card: Option<Card>) -> usize {
        usize::from(self.0.faces[card.map_or(0, Card::raw)].class) % MAX_KINDS
    }

    #[inline]
    pub(crate) fn face(&self, card: Card) -> Face {
        self.0.faces[card.raw()]
    }

    /// Checks that `seats` seats can play: 2 to 8, with a deck that is enough for the deal and one more card.
    ///
    /// # Errors
    /// One sentence with the number found and what is allowed.
    ///
    /// ```
    /// use cambio_core::Rules;
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// assert!(rules.covers(8).is_ok());
    /// let error = rules.covers(9).unwrap_err();
    /// assert_eq!(error.to_string(), "a table of 9 seats; allowed are 2 to 8 seats");
    /// ```
    pub fn covers(&self, seats: usize) -> Result<(), RulesError> {
        self.0.covers(seats)
    }

    /// The number of slots of a layout, at most [`MAX_SLOTS`].
    pub fn slots(&self) -> usize {
        self.0.spec.max_slots.count().min(MAX_SLOTS)
    }
}
