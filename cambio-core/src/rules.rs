//! Rule systems as data: every knob, the presets, and the gate that a user's own rules pass.
//!
//! A [`RulesSpec`] is loose: anybody may fill it in. [`Rules`] is what the engine plays by: validated, immutable.
//! Nothing in the engine asks which system it plays; it asks knobs.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde_json::{Map, Value};

use crate::card::{Card, Kind, MAX_CARDS, MAX_KINDS, Power};
use crate::knob::{
    Best, CallWhen, CallerSnaps, CallerTie, Callers, Cap, Direction, EmptyHand, FirstDealer, Flip, Gift, Knob, Late,
    LimitInLap, MatchEnd, Matching, Peek, PowerUse, Race, Redrop, Score, SnapTargets, Starter, StockEmpty, Weights,
    Whole, Window,
};
use crate::seat::{MAX_SEATS, MAX_SLOTS};

/// The names of the presets, in the order in which they are documented.
pub const PRESETS: [&str; 6] = ["original", "original-b", "original-c", "original-d", "faessler", "classic"];

/// The names of the mini games: rule tables small enough to be solved exactly. [`RulesSpec::preset`] knows them too;
/// they are no [`PRESETS`], for nobody publishes or plays them.
pub const MINI_GAMES: [&str; 9] =
    ["mini-m0", "mini-m1", "mini-m3", "mini-k3", "mini-k4", "mini-s", "mini-p", "mini-pk", "mini-dpk"];

const PRESET_FILES: [(&str, &str); 6] = [
    ("original", include_str!("../presets/original.toml")),
    ("original-b", include_str!("../presets/original-b.toml")),
    ("original-c", include_str!("../presets/original-c.toml")),
    ("original-d", include_str!("../presets/original-d.toml")),
    ("faessler", include_str!("../presets/faessler.toml")),
    ("classic", include_str!("../presets/classic.toml")),
];

const MINI_FILE: &str = include_str!("../presets/mini.toml");

const DECK_FILE: &str = include_str!("../presets/decks.toml");

/// Why rules are refused: one sentence that names the field, the value and what is allowed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RulesError(String);

fn refuse<T>(sentence: impl Into<String>) -> Result<T, RulesError> {
    Err(RulesError(sentence.into()))
}

/// What a knob is called and means; see [`KNOBS`].
#[derive(Clone, Copy, Debug)]
pub struct KnobDoc {
    /// The field's name in rule files.
    pub name: &'static str,
    /// What it decides.
    pub doc: &'static str,
    /// What it may be, as the end of a sentence.
    pub allowed: fn() -> String,
}

/// Declares each knob once: field, name in files, type and meaning.
macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal: $type:ty,)+) => {
        /// A rule system as anybody may write it down: a name, a deck, and a value for every knob.
        ///
        /// [`RulesSpec::preset`] and [`RulesSpec::from_toml`] make one; [`RulesSpec::validate`] turns it into
        /// [`Rules`].
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct RulesSpec {
            /// What result tables call the system.
            pub name: String,
            /// The deck.
            pub deck: Deck,
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        /// Every knob with its meaning, in the order of the rule files.
        pub const KNOBS: &[KnobDoc] = &[
            $(KnobDoc {
                name: $name,
                doc: concat!($($doc),+),
                allowed: <$type as Knob>::allowed,
            },)+
        ];

        impl RulesSpec {
            fn from_fields(name: String, deck: Deck, fields: &Map<String, Value>) -> Result<RulesSpec, RulesError> {
                Ok(RulesSpec {
                    name,
                    deck,
                    $($field: read_field(fields, $name)?,)+
                })
            }

            /// The knobs' values by name, in the order of [`KNOBS`].
            pub fn knobs(&self) -> Vec<(&'static str, Value)> {
                vec![$(($name, self.$field.write()),)+]
            }
        }
    };
}

knobs! {
    /// How many jokers (kind `JK`) one deck holds.
    jokers "jokers": Whole<0, 4>,
    /// How many decks are shuffled together.
    decks "decks": Whole<1, 2>,
    /// The way round the table; it only names the seats.
    direction "direction": Direction,
    /// How many cards each seat is dealt.
    hand "hand": Whole<1, 8>,
    /// How many slots a layout has at most.
    max_slots "max_slots": Whole<1, 16>,
    /// Which of its cards each seat sees before the first turn.
    peek "peek": Peek,
    /// Whether the stock's top starts the pile, and opens a snap window.
    flip "flip": Flip,
    /// Who deals round 1.
    first_dealer "first_dealer": FirstDealer,
    /// Who has the first turn of a round.
    starter "starter": Starter,
    /// Whether the pile's top may be taken instead of drawing.
    take "take": bool,
    /// What becomes of a taken card that is dropped.
    redrop "redrop": Redrop,
    /// Whether a drawn card without a power may be dropped by a seat that could keep it.
    drop_plain "drop_plain": bool,
    /// Whether a seat may, once on its turn before drawing, look at an own card for a penalty card.
    paid_peek "paid_peek": bool,
    /// Whether a power has to be used.
    power_use "power_use": PowerUse,
    /// Whether a player may swap two of its own cards.
    swap_two_own "swap_two_own": bool,
    /// Whether two cards of the same other seat may be swapped.
    swap_same_owner "swap_same_owner": bool,
    /// When a snapped card matches.
    matching "match": Matching,
    /// Whose cards may be snapped.
    snap_targets "snap_targets": SnapTargets,
    /// Whether a seat may snap only cards that it knows to match, and is asked only if it knows one.
    snap_known_only "snap_known_only": bool,
    /// Whether a seat may touch a card as a bluff in a snap window.
    touch "touch": bool,
    /// Whether the winner of a foreign snap must give a card for it.
    gift "gift": Gift,
    /// What becomes of a matching card that comes after a winner.
    late "late": Late,
    /// Whether the winner of a snap may go on snapping, one card at a time.
    chain "chain": bool,
    /// Whether a successful snap freezes the pile for the next seat's start.
    freeze "freeze": bool,
    /// When the snap window of a discard opens.
    window "window": Window,
    /// Whether the discards of a round's last turn have their window.
    final_window "final_window": bool,
    /// How the order of those who snap is drawn.
    race "race": Race,
    /// The weights of a weighted race, seat a first; a seat beyond the list weighs 1.
    race_weights "race_weights": Weights,
    /// Whether a caller's cards may still be looked at.
    look_at_caller "look_at_caller": bool,
    /// What a caller may still snap.
    caller_snaps "caller_snaps": CallerSnaps,
    /// When a seat may call.
    call "call": CallWhen,
    /// How many may call in a round.
    callers "callers": Callers,
    /// A bound on the points of a call.
    cap "cap": Cap,
    /// What becomes of a layout without cards.
    empty_hand "empty_hand": EmptyHand,
    /// What becomes of an empty stock.
    stock_empty "stock_empty": StockEmpty,
    /// After how many turns a round ends without a caller.
    turn_limit "turn_limit": Whole<1, 10000>,
    /// Whether the turn limit cuts a last lap short.
    limit_in_lap "limit_in_lap": LimitInLap,
    /// After how many rounds a match ends on its totals.
    round_limit "round_limit": Whole<1, 10000>,
    /// What a round adds to the totals.
    score "score": Score,
    /// With `score = "points"`: what a caller with the fewest points adds to its score.
    call_success "call_success": Whole<-100, 100>,
    /// With `score = "points"`: what any other caller adds to its score.
    call_failure "call_failure": Whole<-100, 100>,
    /// What becomes of a caller who ties for the fewest points.
    caller_tie "caller_tie": CallerTie,
    /// Whether a successful caller peeks at one card more in the next round, and any other caller starts it with a card more.
    carry_over "carry_over": bool,
    /// What ends a match.
    match_end "match_end": MatchEnd,
    /// Which total wins a match.
    best "best": Best,
}

fn read_field<K: Knob>(fields: &Map<String, Value>, name: &str) -> Result<K, RulesError> {
    let Some(value) = fields.get(name) else {
        return refuse(format!(
            "field `{name}` is missing; a rule system names every field, or starts from a preset with \
             `base = \"classic\"`"
        ));
    };
    K::read(value).ok_or_else(|| RulesError(format!("field `{name}` is {value}; allowed is {}", K::allowed())))
}

/// A deck: one of the named ones, or a table of kinds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deck {
    name: Option<String>,
    kinds: Vec<Kind>,
}

impl Deck {
    /// The named deck: the decks have the names of the [`PRESETS`].
    ///
    /// # Errors
    /// If there is no deck of that name.
    ///
    /// # Panics
    /// Never: the shipped decks are read by a test.
    pub fn named(name: &str) -> Result<Deck, RulesError> {
        let decks: Map<String, Value> = toml::from_str(DECK_FILE).expect("the shipped decks are TOML");
        match decks.get(name) {
            Some(kinds) => Ok(Deck { name: Some(name.to_owned()), kinds: read_kinds(kinds)? }),
            None => refuse(format!(
                "field `deck` is {name:?}; allowed is a list of kinds or one of the decks {}",
                PRESETS.join(", ")
            )),
        }
    }

    /// A deck of one's own.
    pub fn of(kinds: Vec<Kind>) -> Deck {
        Deck { name: None, kinds }
    }

    /// The kinds as written, jokers included.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn read(value: &Value) -> Result<Deck, RulesError> {
        match value {
            Value::String(name) => Deck::named(name),
            _ => Ok(Deck::of(read_kinds(value)?)),
        }
    }

    fn write(&self) -> Value {
        match &self.name {
            Some(name) => Value::from(name.clone()),
            None => self.kinds.iter().map(write_kind).collect(),
        }
    }
}

const KIND_FIELDS: [&str; 6] = ["label", "rank", "suit", "points", "power", "copies"];

fn read_kinds(value: &Value) -> Result<Vec<Kind>, RulesError> {
    let Some(list) = value.as_array() else {
        return refuse(format!("field `deck` is {value}; allowed is a deck's name or a list of kinds"));
    };
    list.iter().enumerate().map(|(number, value)| read_kind(number + 1, value)).collect()
}

fn read_kind(number: usize, value: &Value) -> Result<Kind, RulesError> {
    let Some(fields) = value.as_object() else {
        return refuse(format!(
            "kind {number} of the deck is {value}; a kind is a table of {}",
            KIND_FIELDS.join(", ")
        ));
    };
    if let Some(field) = fields.keys().find(|field| !KIND_FIELDS.contains(&field.as_str())) {
        return refuse(format!(
            "kind {number} of the deck has the field `{field}`; a kind has {}",
            KIND_FIELDS.join(", ")
        ));
    }
    let wrong = |field: &str, allowed: &str| {
        let found = fields.get(field).map_or("missing".to_owned(), Value::to_string);
        RulesError(format!("`{field}` of kind {number} of the deck is {found}; allowed is {allowed}"))
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let optional = |field: &str| match fields.get(field) {
        None => Ok(""),
        Some(value) => value.as_str().ok_or_else(|| wrong(field, "a text")),
    };
    let is_label = |label: &&str| !label.is_empty() && label.len() <= 12 && label.chars().all(|c| c.is_ascii_graphic());
    let whole = |field: &str, from: i64, to: i64| fields.get(field)?.as_i64().filter(|n| (from..=to).contains(n));
    let label = text("label").filter(is_label).ok_or_else(|| wrong("label", "1 to 12 characters without a space"))?;
    let rank = text("rank").filter(|rank| !rank.is_empty()).ok_or_else(|| wrong("rank", "a text"))?;
    let points = whole("points", -100, 100).ok_or_else(|| wrong("points", "a whole number from -100 to 100"))? as i16;
    let copies = whole("copies", 0, 128).ok_or_else(|| wrong("copies", "a whole number from 0 to 128"))? as u8;
    let power = optional("power")?
        .parse()
        .map_err(|error| RulesError(format!("`power` of kind {number} of the deck: {error}")))?;
    Ok(Kind {
        label: label.to_owned(),
        rank: rank.to_owned(),
        suit: optional("suit")?.to_owned(),
        points,
        power,
        copies,
    })
}

fn write_kind(kind: &Kind) -> Value {
    serde_json::json!({
        "label": kind.label, "rank": kind.rank, "suit": kind.suit, "points": kind.points,
        "power": kind.power.to_string(), "copies": kind.copies,
    })
}

impl RulesSpec {
    /// A preset or mini game by name; see [`PRESETS`] and [`MINI_GAMES`].
    ///
    /// # Errors
    /// If none has that name; the sentence lists the names.
    ///
    /// # Panics
    /// Never: the shipped presets and mini games are read by a test.
    pub fn preset(name: &str) -> Result<RulesSpec, RulesError> {
        // Those that build on another preset come after it, and each is read once.
        static READ: [OnceLock<RulesSpec>; 6] = [const { OnceLock::new() }; 6];
        static READ_MINI: [OnceLock<RulesSpec>; 9] = [const { OnceLock::new() }; 9];
        if let Some(((_, text), read)) = PRESET_FILES.iter().zip(&READ).find(|((preset, _), _)| *preset == name) {
            let spec = || RulesSpec::from_toml(text).expect("the shipped presets are rule files");
            return Ok(read.get_or_init(spec).clone());
        }
        match MINI_GAMES.iter().zip(&READ_MINI).find(|(mini, _)| **mini == name) {
            Some((_, read)) => Ok(read.get_or_init(|| read_mini(name)).clone()),
            None => refuse(format!("there is no preset `{name}`; {}", known_names())),
        }
    }

    /// Reads a rule file.
    ///
    /// It names every field, or only some after `base = "classic"`, which starts from that preset.
    ///
    /// # Errors
    /// If the text is not TOML, names an unknown field, or gives a field a value that it may not have.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let mine = RulesSpec::from_toml("base = 'classic'\nname = 'my table'\nhand = 6\n").unwrap();
    /// assert_eq!(mine.hand.get(), 6);
    /// let error = RulesSpec::from_toml("base = 'classic'\nlate = 'never'").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field `late` is \"never\"; allowed is `penalise`, `take_back` or `abort`",
    /// );
    /// ```
    pub fn from_toml(text: &str) -> Result<RulesSpec, RulesError> {
        let value: toml::Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(error) => return refuse(format!("not TOML: {}", error.to_string().trim().replace('\n', " "))),
        };
        match serde_json::to_value(value) {
            Ok(value) => RulesSpec::from_json(&value),
            Err(error) => refuse(format!("not a rule file: {error}")),
        }
    }

    /// Reads the `rules` of a record: a preset's name, or the fields of a rule file as JSON.
    ///
    /// # Errors
    /// As [`RulesSpec::from_toml`].
    pub fn from_json(value: &Value) -> Result<RulesSpec, RulesError> {
        let given = match value {
            Value::String(name) => return RulesSpec::preset(name),
            Value::Object(given) => given,
            _ => return refuse(format!("rules are {value}; allowed is a preset's name or a table of fields")),
        };
        let mut fields = Map::new();
        match given.get("base") {
            Some(Value::String(base)) => {
                if let Value::Object(base) = RulesSpec::preset(base)?.to_table() {
                    fields = base;
                }
                // Rules of one's own do not pass for the preset that they start from.
                fields.remove("name");
            }
            Some(base) => return refuse(format!("field `base` is {base}; {}", known_names())),
            None => {}
        }
        for (name, value) in given {
            if !is_field(name) {
                let hint = nearest_field(name);
                return refuse(format!("there is no field `{name}`; {hint}`cambio rules classic` prints all fields"));
            }
            fields.insert(name.clone(), value.clone());
        }
        let name = match fields.get("name") {
            None => "custom".to_owned(),
            Some(Value::String(name)) if is_name(name) => name.clone(),
            Some(name) => return refuse(format!("field `name` is {name}; allowed is one line of 1 to 64 bytes")),
        };
        let deck = match fields.get("deck") {
            Some(deck) => Deck::read(deck)?,
            None => return refuse("field `deck` is missing; allowed is a deck's name or a list of kinds"),
        };
        RulesSpec::from_fields(name, deck, &fields)
    }

    /// The whole table as JSON: every field of a rule file.
    pub fn to_table(&self) -> Value {
        let mut table = Map::new();
        table.insert("name".to_owned(), Value::from(self.name.clone()));
        table.insert("deck".to_owned(), self.deck.write());
        table.extend(self.knobs().into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(table)
    }

    /// What a record says of these rules: the preset's name if they are a preset, else the whole table.
    pub fn to_json(&self) -> Value {
        match RulesSpec::preset(&self.name) {
            Ok(preset) if preset.plays_as(self) => Value::from(self.name.clone()),
            _ => self.to_table(),
        }
    }

    /// Whether the two have the same cards and the same knobs, whatever they are called.
    fn plays_as(&self, other: &RulesSpec) -> bool {
        self.deck.kinds == other.deck.kinds && self.knobs() == other.knobs()
    }

    /// The rules as a rule file, every field with its meaning and the deck in full.
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = {}\n\n", Value::from(self.name.clone()));
        text += "# The deck: a named one, or kinds with label, rank, suit, points, power and copies.\ndeck = [\n";
        for kind in self.deck.kinds() {
            // Of a named deck's jokers there are as many as the knob says.
            let copies = if kind.label == "JK" { self.jokers.get() as u8 } else { kind.copies };
            let kind = Kind { copies, ..kind.clone() };
            let fields: Vec<String> = KIND_FIELDS
                .iter()
                .filter_map(|field| {
                    let value = write_kind(&kind)[*field].clone();
                    (value != "").then(|| format!("{field} = {value}"))
                })
                .collect();
            text.extend(["    { ", &fields.join(", "), " },\n"]);
        }
        text += "]\n";
        for (knob, (name, value)) in KNOBS.iter().zip(self.knobs()) {
            let comment = format!("\n#{} Allowed: {}.\n", knob.doc, (knob.allowed)());
            text.extend([comment, format!("{name} = {value}\n")]);
        }
        text
    }

    /// Checks the fields against each other and makes the rules that the engine plays by. Rules that bear a preset's
    /// name and are not that preset get ` (changed)` behind it.
    ///
    /// # Errors
    /// One sentence that names the field, its value and what is allowed.
    pub fn validate(self) -> Result<Rules, RulesError> {
        Rules::new(self)
    }
}

/// The rules of a mini game.
fn read_mini(name: &str) -> RulesSpec {
    let tables: Map<String, Value> = toml::from_str(MINI_FILE).expect("the shipped mini games are TOML");
    let mut table = tables.get(name).cloned().expect("each mini game has a table");
    table["name"] = Value::from(name);
    RulesSpec::from_json(&table).expect("the shipped mini games are rule tables")
}

/// Which presets there are, as the end of a sentence.
fn known_names() -> String {
    format!("the presets are {}, the mini games {}", PRESETS.join(", "), MINI_GAMES.join(", "))
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && !name.contains(char::is_control)
}

fn is_field(name: &str) -> bool {
    ["base", "name", "deck"].contains(&name) || KNOBS.iter().any(|knob| knob.name == name)
}

fn nearest_field(name: &str) -> String {
    let shared = |field: &str| field.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    match KNOBS.iter().max_by_key(|knob| shared(knob.name)) {
        Some(knob) if shared(knob.name) >= 3 => format!("did you mean `{}`? ", knob.name),
        _ => String::new(),
    }
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
    pub(crate) power: Power,
}

/// A validated rule system.
///
/// `Rules` is a handle of one word: it can be copied, stored in any struct, and sent to any thread. Nothing that is built
/// on rules has a lifetime for them.
///
/// # Memory
/// The process keeps one table of all rule systems that it has validated, so that copies need no counter: a counter that
/// several threads change slows a search on all of them. Equal rule systems are stored once. A rule system takes 4 to
/// 20 KB, which are given back only when the process ends. A program that plays the presets, or thousands of house rules,
/// never notices. A program that makes millions of *different* rule systems does: each needs its memory, whether it is
/// still in use or not. Such a program divides the work between processes, or keeps the specs as [`RulesSpec`], which is
/// an ordinary value, and validates only those that it plays.
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
/// #     cambio_core::Dice(cambio_core::rng::Key { seed: 1, deal: 0 }.stream(cambio_core::rng::Purpose::Deck, 0))
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
    faces: [Face; MAX_KINDS * 2],
}

/// Two handles are equal if their specs are, names included.
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
    /// The handle of this rule system; the first of equal ones is stored.
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

    /// As [`Rules::covers`].
    fn covers(&self, seats: usize) -> Result<(), RulesError> {
        if !(2..=MAX_SEATS).contains(&seats) {
            return refuse(format!("a table of {seats} seats; allowed are 2 to {MAX_SEATS} seats"));
        }
        let spec = &self.spec;
        let each = spec.hand.count() + usize::from(spec.carry_over);
        let needed = seats * each + usize::from(spec.flip != Flip::None) + 1;
        if self.deck.len() < needed {
            return refuse(format!(
                "the deck of `{}` has {} cards, but {seats} seats need {needed} for the deal and a first draw",
                spec.name,
                self.deck.len()
            ));
        }
        Ok(())
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

    fn new(mut spec: RulesSpec) -> Result<Rules, RulesError> {
        // Rules that were changed do not pass for the preset whose name they bear.
        if RulesSpec::preset(&spec.name).is_ok_and(|preset| !preset.plays_as(&spec)) {
            spec.name += " (changed)";
        }
        let mut kinds = spec.deck.kinds.clone();
        match kinds.iter_mut().find(|kind| kind.label == "JK") {
            Some(joker) if spec.deck.name.is_none() && i64::from(joker.copies) != spec.jokers.get() => {
                return refuse(format!(
                    "field `jokers` is {}, but kind `JK` of the deck has {} copies; allowed is the same number",
                    spec.jokers.get(),
                    joker.copies
                ));
            }
            Some(joker) => joker.copies = spec.jokers.get() as u8,
            None if spec.jokers.get() > 0 => {
                return refuse(format!(
                    "field `jokers` is {}; allowed is 0, for the deck has no kind `JK`",
                    spec.jokers.get()
                ));
            }
            None => {}
        }
        kinds.retain(|kind| kind.copies > 0);
        for (number, kind) in kinds.iter().enumerate() {
            if kinds[..number].iter().any(|other| other.label == kind.label) {
                return refuse(format!("two kinds of the deck have the label `{}`; labels are unique", kind.label));
            }
        }
        let cards: usize = kinds.iter().map(|kind| usize::from(kind.copies)).sum();
        if cards > MAX_CARDS / 2 {
            return refuse(format!("the deck has {cards} cards; allowed are at most {}", MAX_CARDS / 2));
        }
        if let Some(kind) =
            kinds.iter().find(|kind| usize::from(kind.copies) * spec.decks.count() > usize::from(u8::MAX))
        {
            return refuse(format!(
                "kind `{}` of the deck has {} copies in each of {} decks; allowed are at most {} of a kind in all",
                kind.label,
                kind.copies,
                spec.decks.count(),
                u8::MAX
            ));
        }
        let (hand, slots) = (spec.hand.count(), spec.max_slots.count());
        if spec.carry_over && slots == hand {
            return refuse(format!(
                "field `carry_over` is true and `max_slots` {slots}; allowed is more than `hand`, which is {hand}, for a \
                 card may come to it"
            ));
        }
        if slots < hand {
            return refuse(format!("field `max_slots` is {slots}; allowed is at least `hand`, which is {hand}"));
        }
        let beyond = match spec.peek {
            Peek::Slots(mask) => mask >> hand != 0,
            Peek::Choose(number) => usize::from(number) > hand,
        };
        if beyond {
            return refuse(format!(
                "field `peek` is {}; allowed are at most the {hand} cards of the `hand`",
                spec.peek.write()
            ));
        }
        if spec.score == Score::Points {
            let dearest = kinds.iter().map(|kind| kind.points.unsigned_abs()).max().map_or(0, usize::from);
            let call = spec.call_success.get().abs().max(spec.call_failure.get().abs()) as usize;
            let (round, rounds) = (dearest * slots + call, spec.round_limit.count());
            let most = i32::MAX as usize / crate::Score::UNITS as usize / round.max(1);
            if rounds > most {
                return refuse(format!(
                    "field `round_limit` is {rounds}; allowed is at most {most} where a round can add {round} points \
                     to a total"
                ));
            }
        }
        let mut ranks: Vec<&str> = Vec::new();
        let mut faces = [Face::default(); MAX_KINDS * 2];
        let mut deck = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            let rank = ranks.iter().position(|rank| *rank == kind.rank).unwrap_or_else(|| {
                ranks.push(&kind.rank);
                ranks.len() - 1
            });
            let card = Card::new(index).expect("there are at most 128 cards, so at most 128 kinds");
            faces[card.raw()] = Face { points: kind.points, rank: rank as u8, power: kind.power };
            deck.extend(std::iter::repeat_n(card, usize::from(kind.copies) * spec.decks.count()));
        }
        let points = |card: &Card| i32::from(faces[card.raw()].points);
        let deck_points = deck.iter().map(points).sum();
        let deck_squares = deck.iter().map(|card| points(card) * points(card)).sum();
        let most_points = deck.iter().map(points).max().unwrap_or(0);
        let system = System { spec, kinds, copies: copies(&deck), deck_points, deck_squares, most_points, deck, faces };
        system.covers(2)?;
        Ok(system.stored())
    }

    /// The knobs.
    pub fn spec(&self) -> &'static RulesSpec {
        &self.0.spec
    }

    /// What result tables call the system.
    pub fn name(&self) -> &'static str {
        &self.0.spec.name
    }

    /// The kinds that are in the deck; a [`Card`] is an index into them.
    pub fn kinds(&self) -> &'static [Kind] {
        &self.0.kinds
    }

    /// Every card on the table, by kind.
    pub fn deck(&self) -> &'static [Card] {
        &self.0.deck
    }

    pub(crate) fn copies(&self) -> &'static [u8; MAX_KINDS * 2] {
        &self.0.copies
    }

    /// How many such cards are on the table.
    pub fn copies_of(&self, card: Card) -> usize {
        self.0.kinds.get(card.kind()).map_or(0, |kind| usize::from(kind.copies) * self.0.spec.decks.count())
    }

    /// The kind of a card.
    ///
    /// # Panics
    /// If the card is not of these rules' deck.
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

    /// The points of every card on the table together.
    pub fn deck_points(&self) -> i32 {
        self.0.deck_points
    }

    /// The points of the card that counts most.
    pub fn most_points(&self) -> i32 {
        self.0.most_points
    }

    /// The squares of the points of every card on the table together.
    pub fn deck_squares(&self) -> i32 {
        self.0.deck_squares
    }

    /// Whether a card matches the one that is shown, by the knob `match`; `is_own` says whether whoever snaps it has it.
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

    /// The power of a card; [`Power::NONE`] where it has none.
    pub fn power(&self, card: Card) -> Power {
        self.face(card).power
    }

    #[inline]
    pub(crate) fn face(&self, card: Card) -> Face {
        self.0.faces[card.raw()]
    }

    /// Whether `seats` seats can play: 2 to 8, and the deck covers the deal and one card more.
    ///
    /// # Errors
    /// One sentence with the number found and what is allowed.
    pub fn covers(&self, seats: usize) -> Result<(), RulesError> {
        self.0.covers(seats)
    }

    /// The slots that one layout can use, at most [`MAX_SLOTS`].
    pub fn slots(&self) -> usize {
        self.0.spec.max_slots.count().min(MAX_SLOTS)
    }
}
