//! Rule systems before validation: the declaration of every knob, and rule files.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::deck::{Deck, KIND_TABLES};
use super::{MINI_GAMES, PRESETS, Rules, RulesError};
use crate::rules::card::Kind;
use crate::rules::knob::{
    Best, Bonus, CallWhen, CallerSnaps, CallerTie, Callers, Cap, Direction, EmptyHand, EmptyHandFines, FirstDealer,
    Flip, Gift, Knob, Late, LimitInLap, MatchEnd, Matching, OthersAfterCall, Peek, PowerUse, Race, RaceWeights, Redrop,
    Reset, Score, SnapTargets, Starter, StockEmpty, WholeNumber, Window,
};
use crate::text::read_toml;

/// The rule files of the presets, in the order of [`PRESETS`].
const PRESET_FILES: [&str; PRESETS.len()] = [
    include_str!("../../presets/original.toml"),
    include_str!("../../presets/original-b.toml"),
    include_str!("../../presets/original-c.toml"),
    include_str!("../../presets/original-d.toml"),
    include_str!("../../presets/faessler.toml"),
    include_str!("../../presets/classic.toml"),
];

const MINI_FILE: &str = include_str!("../../presets/mini.toml");

/// The documentation of a knob; see [`KNOBS`].
#[derive(Clone, Copy, Debug)]
pub struct KnobDoc {
    /// The field's name in rule files.
    pub name: &'static str,
    /// What the knob decides.
    pub doc: &'static str,
    /// Returns a description of the valid values, for the end of a sentence.
    pub allowed: fn() -> String,
    /// The value in older rule files and records, which do not set this knob; `None` for a knob that they all set.
    pub before: Option<&'static str>,
    /// Whether [`RulesSpec::to_table`] omits the knob while its value is `before`.
    pub is_optional: bool,
}

/// Declares each knob once: field, name in files, type and meaning. A knob that was added after records were first
/// written also has the value that all earlier rules had implicitly. A new knob is `optional`: rules that do not use the
/// knob keep the bytes of their tables, because locks, run ids and records depend on these bytes.
macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal: $type:ty $(= $before:literal $($optional:ident)?)?,)+) => {
        /// A rule system before validation: a name, a deck, and a value for every knob.
        ///
        /// [`RulesSpec::preset`] and [`RulesSpec::from_toml`] return one; [`RulesSpec::validate`] converts it to
        /// [`Rules`].
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub struct RulesSpec {
            /// The name of the rule system, as result tables show it.
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
                before: [$(Some($before),)? None][0],
                is_optional: [$($(!stringify!($optional).is_empty(),)?)? false][0],
            },)+
        ];

        impl RulesSpec {
            fn from_fields(name: String, deck: Deck, fields: &Map<String, Value>) -> Result<RulesSpec, RulesError> {
                Ok(RulesSpec {
                    name,
                    deck,
                    $($field: read_field(fields, $name, [$(Some($before),)? None][0])?,)+
                })
            }

            /// The names and values of all knobs, in the order of [`KNOBS`].
            pub fn knobs(&self) -> Vec<(&'static str, Value)> {
                vec![$(($name, self.$field.write()),)+]
            }

            /// The class of each knob's value, in the order of [`KNOBS`]: see [`Knob::ordinal`].
            pub fn ordinals(&self) -> Vec<usize> {
                vec![$(self.$field.ordinal(),)+]
            }
        }
    };
}

knobs! {
    /// How many jokers (kind `JK`) are in one deck.
    jokers "jokers": WholeNumber<0, 4>,
    /// How many decks are shuffled together.
    decks "decks": WholeNumber<1, 2>,
    /// The direction of play around the table, for players only: the engine does not read it, because seats are
    /// lettered in playing order.
    direction "direction": Direction,
    /// How many cards each seat is dealt.
    hand "hand": WholeNumber<1, 8>,
    /// The most cards in one layout. A penalty card that does not fit is waived.
    max_slots "max_slots": WholeNumber<1, 16>,
    /// Which of its own cards each seat sees before the first turn: those in fixed slots, or a number that it chooses.
    peek "peek": Peek,
    /// Whether the top card of the stock starts the pile, and whether a snap window then opens.
    flip "flip": Flip,
    /// Which seat deals round 1.
    first_dealer "first_dealer": FirstDealer,
    /// Which seat has the first turn of a round.
    starter "starter": Starter,
    /// Whether a seat may take the top card of the pile instead of drawing.
    take "take": bool,
    /// Whether a card taken from the pile may be dropped, and whether its power then applies.
    redrop "redrop": Redrop,
    /// Whether a seat that has cards in its layout may drop a drawn card without a power.
    drop_plain "drop_plain": bool,
    /// Whether a seat may look at one of its own cards once per turn, before it draws, and pay with a penalty card.
    paid_peek "paid_peek": bool,
    /// Whether a power must be used if it has a target.
    power_use "power_use": PowerUse,
    /// Whether the power of a replaced card applies, as if the player had drawn and dropped the card.
    replaced_power "replaced_power": bool = "false" optional,
    /// Whether a power may swap two of the player's own cards.
    swap_two_own "swap_two_own": bool,
    /// Whether a power may swap two cards of one other seat.
    swap_same_owner "swap_same_owner": bool,
    /// What a snapped card must share with the discard to match it: the rank or the points.
    matching "match": Matching,
    /// Whether a seat may snap cards of any seat or only its own.
    snap_targets "snap_targets": SnapTargets,
    /// Whether a seat may snap only cards that it knows to match. A seat that knows no such card is then not asked.
    snap_known_only "snap_known_only": bool,
    /// Whether the seat that discarded a card may snap on it. If not, the window asks only the other seats.
    discarder_snaps "discarder_snaps": bool = "true" optional,
    /// Whether a seat may touch a card as a bluff in a snap window.
    touch "touch": bool,
    /// Whether a seat that wins a snap of another seat's card may or must give that seat a card.
    gift "gift": Gift,
    /// What happens to a matching card that is snapped after the winner's card.
    late "late": Late,
    /// How many cards a penalty has: for a wrong or late snap, a paid peek, and a failed call with `carry_over`.
    penalty "penalty": WholeNumber<0, 4> = "1" optional,
    /// Whether the winner of a snap may snap more matching cards, one at a time.
    chain "chain": bool,
    /// Whether a successful snap freezes the pile: the next seat cannot take its top card.
    freeze "freeze": bool,
    /// When the snap window of a discard opens, relative to the card's power.
    window "window": Window,
    /// Whether a snap window also opens in the last turn of a round.
    final_window "final_window": bool,
    /// How the order of several snapping seats is decided.
    race "race": Race,
    /// The weights for `race = "weighted"`, seat a first. Seats that are not listed have weight 1.
    race_weights "race_weights": RaceWeights,
    /// Whether powers may look at a caller's cards.
    look_at_caller "look_at_caller": bool,
    /// Whether a caller's cards are locked: no seat may swap, snap or reveal them. Looks have the knob `look_at_caller`.
    lock_caller "lock_caller": bool = "true" optional,
    /// Which cards a caller may snap.
    caller_snaps "caller_snaps": CallerSnaps,
    /// Whether seats that have not called may snap after a call.
    others_after_call "others_after_call": OthersAfterCall = "yes",
    /// When a seat may call.
    call "call": CallWhen,
    /// The first turn of a seat in which it may call; 1 allows a call in every turn.
    first_call "first_call": WholeNumber<1, 100> = "1" optional,
    /// Whether one seat or several may call in a round.
    callers "callers": Callers,
    /// A limit on the points of a caller.
    cap "cap": Cap,
    /// What happens when a layout has no cards left.
    empty_hand "empty_hand": EmptyHand,
    /// With `empty_hand = "ends_round"`: whether later snaps in the window that ended the round are still fined.
    empty_hand_fines "empty_hand_fines": EmptyHandFines = "after",
    /// Whether an empty layout counts as a call: the seat calls at the end of its own turn, or else instead of its next turn.
    empty_call "empty_call": bool = "false" optional,
    /// What happens when the stock is empty.
    stock_empty "stock_empty": StockEmpty,
    /// The number of turns after which a round ends.
    turn_limit "turn_limit": WholeNumber<1, 10000>,
    /// Whether the turn limit also ends the last lap after a call.
    limit_in_lap "limit_in_lap": LimitInLap,
    /// The number of rounds after which a match ends.
    round_limit "round_limit": WholeNumber<1, 10000>,
    /// What a round adds to the totals.
    score "score": Score,
    /// With `score = "points"`: how a successful call changes the caller's points.
    call_success "call_success": Bonus,
    /// With `score = "points"`: how a failed call changes the caller's points.
    call_failure "call_failure": Bonus,
    /// With `score = "points"`: how a seat's points change if it has the fewest points and did not call.
    lowest_bonus "lowest_bonus": Bonus = "0" optional,
    /// Whether a call succeeds or fails if the caller ties for the fewest points.
    caller_tie "caller_tie": CallerTie,
    /// Whether a successful caller peeks at one more card in the next round, and a failed caller gets an extra card.
    carry_over "carry_over": bool,
    /// Whether a match ends at a total or after a number of rounds.
    match_end "match_end": MatchEnd,
    /// A total that is changed to another one when a round makes a seat's total exactly equal to it.
    total_reset "total_reset": Reset = "none",
    /// Whether the lowest or the highest total wins a match.
    best "best": Best,
}

fn read_field<K: Knob>(
    fields: &Map<String, Value>,
    name: &'static str,
    before: Option<&'static str>,
) -> Result<K, RulesError> {
    let before = before.map(earlier_value);
    let Some(value) = fields.get(name).or(before.as_ref()) else {
        return Err(RulesError::Missing {
            field: name,
            allowed: "set it, or start from a preset, for example with `base = \"classic\"`",
        });
    };
    let wrong = || RulesError::Field { field: name, found: value.to_string(), allowed: K::allowed() };
    K::read(value).ok_or_else(wrong)
}

/// The text in [`KnobDoc::before`] as JSON: a number, `true` or `false`, or else a word.
fn earlier_value(before: &str) -> Value {
    serde_json::from_str(before).unwrap_or_else(|_| Value::from(before))
}

impl RulesSpec {
    /// A preset or mini game by name; see [`PRESETS`] and [`MINI_GAMES`].
    ///
    /// # Errors
    /// If no preset or mini game has that name. The message lists the names.
    ///
    /// # Panics
    /// Does not panic: a test parses the built-in presets and mini games.
    pub fn preset(name: &str) -> Result<RulesSpec, RulesError> {
        // Each preset is parsed once. Its base is an earlier preset, so no cell depends on itself.
        static READ: [OnceLock<RulesSpec>; SYSTEMS] = [const { OnceLock::new() }; SYSTEMS];
        let place = preset_place(name)?;
        let read = || match PRESET_FILES.get(place) {
            Some(text) => RulesSpec::from_toml(text).expect("the shipped presets are rule files"),
            None => read_mini(name),
        };
        Ok(READ[place].get_or_init(read).clone())
    }

    /// Reads a rule file.
    ///
    /// The file sets every field, except those that were added later (see [`KnobDoc::before`]). With a line such as
    /// `base = "classic"`, it starts from that preset and sets only the fields that differ. The tables `points` and
    /// `powers` change the points and the powers of some kinds of the deck. Their keys are labels or ranks; the value of a
    /// label takes precedence over the value of its rank.
    ///
    /// # Errors
    /// If the text is not TOML, a field is unknown or missing, a value is not valid, or [`RulesSpec::check_meaning`] fails.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let mine = RulesSpec::from_toml("base = 'classic'\nname = 'my table'\nhand = 6\n").unwrap();
    /// assert_eq!(mine.hand.get(), 6);
    /// let mine = RulesSpec::from_toml("base = 'classic'\n[points]\nJK = -3\nA = 1\n").unwrap().validate().unwrap();
    /// assert_eq!(["JK", "Ah", "As", "2h"].map(|label| mine.points(mine.card(label).unwrap())), [-3, 1, 1, 2]);
    /// let mine = RulesSpec::from_toml("base = 'classic'\n[powers]\nQ = 'swap'\nK = ''\n").unwrap().validate().unwrap();
    /// assert_eq!(["Qh", "Kh"].map(|label| mine.power(mine.card(label).unwrap()).to_string()), ["swap", ""]);
    /// let error = RulesSpec::from_toml("base = 'classic'\nlate = 'never'").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field `late` must be `penalise`, `take_back` or `abort`, found \"never\"",
    /// );
    /// ```
    pub fn from_toml(text: &str) -> Result<RulesSpec, RulesError> {
        let spec = RulesSpec::from_json(&read_toml(text).map_err(RulesError::Toml)?)?;
        spec.check_meaning().map(|()| spec)
    }

    /// Reads the field `rules` of a record: a preset's name, or the fields of a rule file as JSON.
    ///
    /// # Errors
    /// The same errors as [`RulesSpec::from_toml`], except for TOML. [`RulesSpec::check_meaning`] is called only for a table
    /// with the field `base`: tables in records and locks have no base, and must be readable.
    pub fn from_json(value: &Value) -> Result<RulesSpec, RulesError> {
        let given = match value {
            Value::String(name) => return RulesSpec::preset(name),
            Value::Object(given) => given,
            _ => return Err(RulesError::Shape { found: value.to_string() }),
        };
        let mut fields = Map::new();
        match given.get("base") {
            Some(Value::String(base)) => {
                if let Value::Object(base) = RulesSpec::preset(base)?.to_table() {
                    fields = base;
                }
                // Custom rules do not get the name of their base preset.
                fields.remove("name");
            }
            Some(base) => return Err(RulesError::Base { found: base.to_string() }),
            None => {}
        }
        for (name, value) in given {
            if !field_names().any(|field| field == name) {
                return Err(RulesError::UnknownField { field: name.clone() });
            }
            fields.insert(name.clone(), value.clone());
        }
        let name = match fields.get("name") {
            None => "custom".to_owned(),
            Some(Value::String(name)) if is_name(name) => name.clone(),
            Some(name) => {
                let allowed = "one line of 1 to 64 bytes".to_owned();
                return Err(RulesError::Field { field: "name", found: name.to_string(), allowed });
            }
        };
        let Some(deck) = fields.get("deck") else {
            let allowed = "it must be a deck's name or a list of kinds";
            return Err(RulesError::Missing { field: "deck", allowed });
        };
        let deck = Deck::read(deck)?;
        let mut spec = RulesSpec::from_fields(name, deck, &fields)?;
        for changes in KIND_TABLES {
            if let Some(table) = given.get(changes.0) {
                spec.deck = spec.deck.with(changes, table, spec.jokers.get() as u8)?;
            }
        }
        if given.contains_key("base") {
            spec.check_meaning()?;
        }
        Ok(spec)
    }

    /// The fields of a rule file as JSON. A knob that was added later is omitted if its value is the one that older rules
    /// have implicitly (see [`KnobDoc::is_optional`]).
    pub fn to_table(&self) -> Value {
        let mut table = Map::new();
        table.insert("name".to_owned(), Value::from(self.name.clone()));
        table.insert("deck".to_owned(), self.deck.write());
        for (knob, (name, value)) in KNOBS.iter().zip(self.knobs()) {
            if !knob.is_optional || knob.before.map(earlier_value).as_ref() != Some(&value) {
                table.insert(name.to_owned(), value);
            }
        }
        Value::Object(table)
    }

    /// The form of the rules in a record: the name of a preset, or else all fields.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let mut spec = RulesSpec::preset("classic").unwrap();
    /// assert_eq!(spec.to_json(), "classic");
    /// spec.name = "mine".to_owned();
    /// assert_eq!(spec.to_json()["name"], "mine");
    /// assert_eq!(RulesSpec::from_json(&spec.to_json()).unwrap(), spec);
    /// ```
    pub fn to_json(&self) -> Value {
        match RulesSpec::preset(&self.name) {
            Ok(preset) if preset.plays_as(self) => Value::from(self.name.clone()),
            _ => self.to_table(),
        }
    }

    /// A short form of the rules that [`RulesSpec::from_json`] reads as the same: the name of a preset, what differs from the
    /// nearest preset with the same labels, or all fields.
    pub(super) fn to_short_json(&self) -> Value {
        let all = self.to_json();
        let labels = |spec: &RulesSpec| spec.deck.kinds.iter().map(|kind| kind.label.clone()).collect::<Vec<_>>();
        let presets = PRESETS.into_iter().filter_map(|name| RulesSpec::preset(name).ok());
        let mut alike: Vec<_> = presets.filter(|preset| all.is_object() && labels(preset) == labels(self)).collect();
        alike.sort_by_key(|preset| {
            preset.ordinals().iter().zip(self.ordinals()).filter(|(one, other)| *one != other).count()
        });
        let reads_back = |form: &Value| RulesSpec::from_json(form).is_ok_and(|read| read == *self);
        alike.iter().map(|preset| self.changes(preset)).find(reads_back).unwrap_or(all)
    }

    /// What differs from a preset, except other cards.
    fn changes(&self, preset: &RulesSpec) -> Value {
        let mut changes = Map::from_iter([("base".to_owned(), Value::from(preset.name.clone()))]);
        if self.name != "custom" {
            changes.insert("name".to_owned(), Value::from(self.name.clone()));
        }
        let knobs = self.knobs().into_iter().zip(preset.knobs()).filter(|(mine, theirs)| mine != theirs);
        changes.extend(knobs.map(|((name, value), _)| (name.to_owned(), value)));
        let fields: [fn(&Kind) -> Value; 2] = [|kind| Value::from(kind.points), |kind| serde_json::json!(kind.power)];
        for ((name, ..), field) in KIND_TABLES.into_iter().zip(fields) {
            let pairs = self.deck.kinds.iter().zip(&preset.deck.kinds);
            let unlike = pairs
                .map(|(mine, theirs)| (mine, field(mine), field(theirs)))
                .filter(|(_, mine, theirs)| mine != theirs);
            let table: Map<_, _> = unlike.map(|(kind, mine, _)| (kind.label.clone(), mine)).collect();
            if !table.is_empty() {
                changes.insert(name.to_owned(), Value::Object(table));
            }
        }
        Value::Object(changes)
    }

    /// Whether two systems have the same cards and the same knobs. Their names may differ.
    pub fn plays_as(&self, other: &RulesSpec) -> bool {
        self.deck.kinds == other.deck.kinds && self.knobs() == other.knobs()
    }

    /// The rules as a rule file, with the full deck and a comment on each knob. The optional knobs are at the end.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let spec = RulesSpec::preset("faessler").unwrap();
    /// let again = RulesSpec::from_toml(&spec.to_toml()).unwrap();
    /// assert_eq!(again.knobs(), spec.knobs());
    /// ```
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = {}\n\n", Value::from(self.name.clone()));
        text += "# The deck: a deck's name, or kinds with label, rank, suit, points, power and copies.\ndeck = [\n";
        for kind in self.deck.kinds() {
            // In a named deck, the knob `jokers` sets the number of jokers.
            let copies = if kind.label == "JK" { self.jokers.get() as u8 } else { kind.copies };
            let kind = Kind { copies, ..kind.clone() };
            let fields = serde_json::json!(kind);
            let fields = fields.as_object().into_iter().flatten().filter(|(_, value)| **value != "");
            let fields: Vec<String> = fields.map(|(field, value)| format!("{field} = {value}")).collect();
            text.extend(["    { ", &fields.join(", "), " },\n"]);
        }
        text += "]\n";
        let mut knobs: Vec<_> = KNOBS.iter().zip(self.knobs()).collect();
        knobs.sort_by_key(|(knob, _)| knob.is_optional);
        for (knob, (name, value)) in knobs {
            let comment = format!("\n#{} Allowed: {}.\n", knob.doc, (knob.allowed)());
            text.extend([comment, format!("{name} = {value}\n")]);
        }
        text
    }

    /// Checks the fields against each other and returns the rules for the engine. Rules that have a preset's name but
    /// differ from the preset get the suffix ` (changed)`.
    ///
    /// # Errors
    /// The first field that is not valid. The message names the field, the expectation and the value found.
    pub fn validate(self) -> Result<Rules, RulesError> {
        super::System::of(self)
    }
}

fn read_mini(name: &str) -> RulesSpec {
    let tables: Map<String, Value> = toml::from_str(MINI_FILE).expect("the shipped mini games are TOML");
    let mut table = tables.get(name).cloned().expect("each mini game has a table");
    table["name"] = Value::from(name);
    RulesSpec::from_json(&table).expect("the shipped mini games are rule tables")
}

/// The names of all presets and mini games, as the end of an error message.
pub(super) fn known_names() -> String {
    format!("the presets are {}; the mini games are {}", PRESETS.join(", "), MINI_GAMES.join(", "))
}

/// The number of presets and mini games.
pub(super) const SYSTEMS: usize = PRESETS.len() + MINI_GAMES.len();

/// The place of a preset or mini game in [`preset_names`].
pub(super) fn preset_place(name: &str) -> Result<usize, RulesError> {
    let place = preset_names().position(|known| known == name);
    place.ok_or_else(|| RulesError::Preset { name: name.to_owned() })
}

/// The names of the presets and mini games.
pub(super) fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.into_iter().chain(MINI_GAMES)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && !name.contains(char::is_control)
}

/// The names of all fields of a rule file.
pub(super) fn field_names() -> impl Iterator<Item = &'static str> {
    let tables = KIND_TABLES.map(|(field, ..)| field);
    ["base", "name", "deck"].into_iter().chain(tables).chain(KNOBS.iter().map(|knob| knob.name))
}
