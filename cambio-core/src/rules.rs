//! Rule systems as data: knobs, presets, and the validation of custom rules.
//!
//! A [`RulesSpec`] has public fields and is not validated. [`Rules`] is validated and immutable; the engine takes only
//! [`Rules`]. The engine reads knobs and never depends on the name of the rule system.

pub(crate) mod card;
mod check;
mod deck;
pub mod knob;
pub(crate) mod score;
pub(crate) mod seat;
mod spec;

pub use card::{Card, Kind, MAX_KINDS, Power, PowerStep};
pub use score::Score;
pub use seat::{MAX_SEATS, MAX_SLOTS, SPOTS, Seat, SeatSet, Spot, SpotSet};

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::Value;

use crate::rules::knob::{MatchEnd, Matching};
use crate::text::{did_you_mean, excerpt};

pub use deck::Deck;
use deck::MOST_KINDS;
pub use spec::{KNOBS, KnobDoc, RulesSpec};
use spec::{SYSTEMS, field_names, known_names, preset_names, preset_place};

/// The names of the presets, in the order in which they are documented.
pub const PRESETS: [&str; 6] = ["original", "original-b", "original-c", "original-d", "faessler", "classic"];

/// The names of the mini games: rule systems that are small enough to be solved exactly. [`RulesSpec::preset`] accepts
/// them too. They are not among the [`PRESETS`], because they are made for research and not for players.
pub const MINI_GAMES: [&str; 9] =
    ["mini-m0", "mini-m1", "mini-m3", "mini-k3", "mini-k4", "mini-s", "mini-p", "mini-pk", "mini-dpk"];

/// The reason why rules are rejected. The message names the field, the expectation and the value found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum RulesError {
    /// A rule file is not TOML.
    #[error("not TOML: {}", excerpt(.0))]
    Toml(String),
    /// Rules as JSON are neither a name nor a table.
    #[error("rules must be a preset's name or a table of fields, found {}", excerpt(found))]
    Shape { found: String },
    /// No preset or mini game has this name.
    #[error("there is no preset `{}`; {}{}", excerpt(name), did_you_mean(name, preset_names()), known_names())]
    Preset { name: String },
    /// The field `base` is not a text.
    #[error("field `base` must be a preset's name, found {}; {}", excerpt(found), known_names())]
    Base { found: String },
    /// A field is unknown.
    #[error(
        "there is no field `{}`; {}`cambio rules classic` prints all fields",
        excerpt(field),
        did_you_mean(field, field_names())
    )]
    UnknownField { field: String },
    /// A field is missing.
    #[error("field `{field}` is missing; {allowed}")]
    Missing { field: &'static str, allowed: &'static str },
    /// The value of a field is not valid, alone or together with the other fields.
    #[error("field `{field}` must be {allowed}, found {}", excerpt(found))]
    Field { field: &'static str, found: String, allowed: String },
    /// A kind of the deck, with its number from 1, is not a table of the fields of a kind.
    #[error("kind {number} of the deck: {}", excerpt(what).up_to(400))]
    Kind { number: usize, what: String },
    /// The value of a kind's field is not valid.
    #[error("`{field}` of kind {number} of the deck must be {allowed}, found {}", excerpt(found))]
    KindField { number: usize, field: &'static str, found: String, allowed: &'static str },
    /// The table `points` or `powers` has a key that is neither a label nor a rank of the deck.
    #[error(
        "field `{field}` must name labels or ranks of the deck, found `{}`; {nearest}`cambio rules` and the name of a \
         preset print its deck",
        excerpt(found)
    )]
    NoSuchKind { field: &'static str, found: String, nearest: String },
    /// Two kinds have the same label.
    #[error("two kinds of the deck have the label `{label}`; labels must be unique")]
    Label { label: String },
    /// The deck has too many kinds.
    #[error("the deck must have at most {MOST_KINDS} kinds, including those without copies, found {kinds}")]
    Kinds { kinds: usize },
    /// The deck has too many cards.
    #[error("the deck must have at most {} cards, found {cards}", card::MAX_CARDS / 2)]
    Cards { cards: usize },
    /// A kind has too many copies.
    #[error(
        "kind `{label}` must have at most {} copies in all decks together, found {copies} in each of {decks} decks",
        u8::MAX
    )]
    Copies { label: String, copies: u8, decks: usize },
    /// The number of seats is out of range.
    #[error("a table must have 2 to {MAX_SEATS} seats, found {seats}")]
    Seats { seats: usize },
    /// The deck is too small for this number of seats.
    #[error("the deck of `{name}` has {cards} cards, but {seats} seats need {needed} for the deal and a first draw")]
    DeckTooSmall { name: String, cards: usize, seats: usize, needed: usize },
}

/// The number of cards of each kind, modulo 256, indexed by [`Card::raw`].
#[inline]
pub(crate) fn copies(cards: &[Card]) -> [u8; MAX_KINDS * 2] {
    let mut copies = [0u8; MAX_KINDS * 2];
    for card in cards {
        let count = &mut copies[card.raw()];
        *count = count.wrapping_add(1);
    }
    copies
}

/// The properties of a card that the engine reads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Face {
    pub(crate) points: i16,
    pub(crate) rank: u8,
    /// The number of the card's class, in the order of the kinds. Kinds that no rule distinguishes share a class.
    pub(crate) class: u8,
    pub(crate) power: Power,
}

/// A validated rule system.
///
/// `Rules` is a one-word handle without a lifetime parameter: it can be copied, stored in any struct, and sent to any
/// thread.
///
/// # Memory
/// The process interns every validated rule system and never frees it; equal systems are stored once. A handle therefore
/// needs no reference count, and a [`State`](crate::State) is cloned by copying bytes. With a reference count, a clone
/// takes five times as long, and ten times as long if two threads clone states of the same rules, as searches do.
///
/// A rule system takes 4 to 22 KB; `classic` takes 21 KB. Thousands of systems are therefore harmless. A program that
/// validates millions of *different* systems, or replays millions of records whose rules all differ, leaks gigabytes
/// and should divide the work between processes. A [`RulesSpec`] is an ordinary value and is freed as usual.
///
/// # Examples
/// ```
/// use cambio_core::{Rules, State, engine::Setup};
///
/// /// A game that an application owns, without a lifetime parameter.
/// struct Session {
///     rules: Rules,
///     state: State,
/// }
///
/// fn begin(rules: Rules) -> Session {
///     let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice(), &mut ()).unwrap();
///     Session { rules, state }
/// }
/// # fn dice() -> cambio_core::engine::Dice<cambio_core::rng::Stream> {
/// #     cambio_core::engine::Dice(cambio_core::rng::Key::new(1, 0).stream(cambio_core::rng::Purpose::Deck, 0))
/// # }
///
/// let session = begin(Rules::preset("classic")?);
/// let elsewhere = std::thread::spawn(move || session.state.table().rules() == &session.rules);
/// assert!(elsewhere.join().unwrap());
/// # Ok::<(), cambio_core::RulesError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Rules(&'static System);

/// A spec, and the tables for the engine that are computed from the spec.
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
    text: OnceLock<String>,
}

/// Handles are equal if their specs are equal, names included, because equal systems are stored once.
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
    /// Interns this rule system and returns its handle. If an equal one is already stored, returns that one's handle.
    fn stored(self) -> Rules {
        static STORED: Mutex<BTreeMap<&RulesSpec, Rules>> = Mutex::new(BTreeMap::new());
        // A poisoned mutex is harmless: an entry is inserted in one step, so the map is always valid.
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
    /// If no preset or mini game has that name.
    ///
    /// # Panics
    /// Does not panic: a test validates the built-in presets and mini games.
    pub fn preset(name: &str) -> Result<Rules, RulesError> {
        static KNOWN: [OnceLock<Rules>; SYSTEMS] = [const { OnceLock::new() }; SYSTEMS];
        let validated = || RulesSpec::preset(name).and_then(RulesSpec::validate).expect("the shipped rules are valid");
        Ok(*KNOWN[preset_place(name)?].get_or_init(validated))
    }

    /// The spec of these rules: the name, the deck and the values of the knobs.
    pub fn spec(&self) -> &'static RulesSpec {
        &self.0.spec
    }

    /// The rules in a short line of text: the name of a preset, or JSON that [`RulesSpec::from_json`] reads.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let mine = RulesSpec::from_toml("base = 'classic'\nhand = 6\n[points]\nJK = -3\n").unwrap().validate().unwrap();
    /// assert_eq!(mine.text(), r#"{"base":"classic","hand":6,"points":{"JK":-3}}"#);
    /// ```
    pub fn text(&self) -> &'static str {
        self.0.text.get_or_init(|| match self.0.spec.to_short_json() {
            Value::String(name) => name,
            fields => fields.to_string(),
        })
    }

    /// The name of the rule system, as result tables show it.
    pub fn name(&self) -> &'static str {
        &self.0.spec.name
    }

    /// The kinds of the deck. A [`Card`] is an index into this slice.
    pub fn kinds(&self) -> &'static [Kind] {
        &self.0.kinds
    }

    /// All cards in play, ordered by kind.
    pub fn deck(&self) -> &'static [Card] {
        &self.0.deck
    }

    pub(crate) fn copies(&self) -> &'static [u8; MAX_KINDS * 2] {
        &self.0.copies
    }

    /// The number of copies of this card in play.
    pub fn copies_of(&self, card: Card) -> usize {
        self.0.kinds.get(card.kind()).map_or(0, |kind| usize::from(kind.copies) * self.0.spec.decks.count())
    }

    /// The kind of a card.
    ///
    /// # Panics
    /// If the deck of these rules does not have the card.
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
    /// If the deck of these rules does not have the card.
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

    /// The points of a card; 0 for `None`.
    #[inline]
    pub(crate) fn points_here(&self, card: Option<Card>) -> i32 {
        i32::from(self.0.faces[card.map_or(0, Card::raw)].points)
    }

    /// The sum of the points of all cards in play.
    pub fn deck_points(&self) -> i32 {
        self.0.deck_points
    }

    /// The highest points of any card in play.
    pub fn most_points(&self) -> i32 {
        self.0.most_points
    }

    /// The sum of the squared points of all cards in play.
    pub fn deck_squares(&self) -> i32 {
        self.0.deck_squares
    }

    /// Whether a card matches the shown card under the knob `match`. `is_own` is whether the snapping seat owns the card.
    #[inline]
    pub fn match_each_other(&self, shown: Card, card: Card, is_own: bool) -> bool {
        let (one, other) = (self.face(shown), self.face(card));
        match self.0.spec.matching {
            Matching::Rank => one.rank == other.rank,
            Matching::RankOwnPointsForeign if is_own => one.rank == other.rank,
            Matching::RankOwnPointsForeign | Matching::Points => one.points == other.points,
        }
    }

    /// One bit for the rank of a card, modulo 64: equal ranks have the same bit, and different ranks may share one.
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

    /// The number of classes of cards; see [`Rules::class`].
    pub(crate) fn classes(&self) -> usize {
        self.0.classes
    }

    /// The class of a card. Kinds that no rule distinguishes share a class, such as the suits of a rank in most games.
    ///
    /// ```
    /// use cambio_core::{Card, Rules};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let class = |text: &str| rules.class(rules.card(text).unwrap());
    /// assert_eq!(class("7c"), class("7s"));
    /// assert_ne!(class("Kc"), class("Kh"), "red kings have fewer points");
    /// ```
    #[inline]
    pub fn class(&self, card: Card) -> usize {
        usize::from(self.face(card).class) % MAX_KINDS
    }

    /// The class of a card, computed without a branch; 0 for `None`.
    #[inline]
    pub(crate) fn class_here(&self, card: Option<Card>) -> usize {
        usize::from(self.0.faces[card.map_or(0, Card::raw)].class) % MAX_KINDS
    }

    #[inline]
    pub(crate) fn face(&self, card: Card) -> Face {
        self.0.faces[card.raw()]
    }

    /// Checks that a table of `seats` seats can play: 2 to 8 seats, and enough cards for the deal and a first draw.
    ///
    /// # Errors
    /// If the number of seats is out of range or the deck is too small.
    ///
    /// ```
    /// use cambio_core::Rules;
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// assert!(rules.covers(8).is_ok());
    /// let error = rules.covers(9).unwrap_err();
    /// assert_eq!(error.to_string(), "a table must have 2 to 8 seats, found 9");
    /// ```
    pub fn covers(&self, seats: usize) -> Result<(), RulesError> {
        self.0.covers(seats)
    }

    /// The maximum number of seats.
    pub fn max_seats(&self) -> usize {
        (2..=MAX_SEATS).rev().find(|&seats| self.covers(seats).is_ok()).unwrap_or(2)
    }

    /// The same rules with matches of one round. Their name says so.
    ///
    /// ```
    /// use cambio_core::{Rules, rules::knob::MatchEnd};
    ///
    /// let round = Rules::preset("original").unwrap().of_one_round();
    /// assert_eq!(round.spec().match_end, MatchEnd::Rounds(1));
    /// assert_eq!(round.name(), "original (one round)");
    /// assert_eq!(round.of_one_round(), round);
    /// ```
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "every rule system is also valid with a single round")]
    pub fn of_one_round(self) -> Rules {
        const SUFFIX: &str = " (one round)";
        // The maximum length of the name of a rule system.
        const LONGEST_NAME: usize = 64;
        if self.spec().match_end == MatchEnd::Rounds(1) {
            return self;
        }
        // Truncate long names.
        let ends = self.name().char_indices().map(|(at, letter)| at + letter.len_utf8());
        let end = ends.take_while(|end| end + SUFFIX.len() <= LONGEST_NAME).last().unwrap_or(0);
        let name = format!("{}{SUFFIX}", &self.name()[..end]);
        let spec = RulesSpec { match_end: MatchEnd::Rounds(1), name, ..self.spec().clone() };
        spec.validate().expect("valid rules are also valid with one round")
    }

    /// The number of cards that `seat` is dealt: a hand, and for the seats of `extra` as many cards of a penalty (knobs
    /// `carry_over` and `penalty`) as fit into the slots.
    ///
    /// ```
    /// use cambio_core::{RulesSpec, Seat, SeatSet};
    ///
    /// let rules = RulesSpec::from_toml("base = 'faessler'\npenalty = 2").unwrap().validate().unwrap();
    /// let extra = SeatSet::only(Seat::B);
    /// assert_eq!([Seat::A, Seat::B].map(|seat| rules.dealt_to(seat, extra)), [4, 6]);
    /// ```
    pub fn dealt_to(&self, seat: Seat, extra: SeatSet) -> usize {
        let spec = self.spec();
        let more = if extra.contains(seat) { spec.penalty.count() } else { 0 };
        (spec.hand.count() + more).min(self.slots())
    }

    /// The spots that are dealt at a table of `seats` seats: see [`Rules::dealt_to`].
    pub(crate) fn dealt_spots(&self, seats: usize, extra: SeatSet) -> SpotSet {
        let row = |seat: Seat| SpotSet::row(seat, self.dealt_to(seat, extra));
        SeatSet::first(seats).each().map(row).fold(SpotSet::EMPTY, SpotSet::union)
    }

    /// The number of slots in a layout, at most [`MAX_SLOTS`].
    pub fn slots(&self) -> usize {
        self.0.spec.max_slots.count().min(MAX_SLOTS)
    }
}
