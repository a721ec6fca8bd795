//! Rule systems as anybody may write them down: every knob, and the files.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::deck::{Deck, KIND_FIELDS, write_kind};
use super::{MINI_GAMES, PRESETS, Rules, RulesError};
use crate::rules::card::Kind;
use crate::rules::knob::{
    Best, Bonus, CallWhen, CallerSnaps, CallerTie, Callers, Cap, Direction, EmptyHand, EmptyHandFines, FirstDealer,
    Flip, Gift, Knob, Late, LimitInLap, MatchEnd, Matching, OthersAfterCall, Peek, PowerUse, Race, Redrop, Reset,
    Score, SnapTargets, Starter, StockEmpty, Weights, Whole, Window,
};

const PRESET_FILES: [(&str, &str); 6] = [
    ("original", include_str!("../../presets/original.toml")),
    ("original-b", include_str!("../../presets/original-b.toml")),
    ("original-c", include_str!("../../presets/original-c.toml")),
    ("original-d", include_str!("../../presets/original-d.toml")),
    ("faessler", include_str!("../../presets/faessler.toml")),
    ("classic", include_str!("../../presets/classic.toml")),
];

const MINI_FILE: &str = include_str!("../../presets/mini.toml");

/// The documentation of a knob; see [`KNOBS`].
#[derive(Clone, Copy, Debug)]
pub struct KnobDoc {
    /// The field's name in rule files.
    pub name: &'static str,
    /// What it decides.
    pub doc: &'static str,
    /// The allowed values, as the end of a sentence.
    pub allowed: fn() -> String,
    /// For a knob that came later: the value of rule tables that do not name it.
    pub before: Option<&'static str>,
}

/// Declares each knob once: field, name in files, type and meaning. A knob that came after records were first written has the
/// value that all rules had before.
macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal: $type:ty $(= $before:literal)?,)+) => {
        /// A rule system that is not validated yet: a name, a deck, and a value for every knob.
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
                before: [$(Some($before),)? None][0],
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
    /// Whether seats that have not called may still snap after a call.
    others_after_call "others_after_call": OthersAfterCall = "yes",
    /// When a seat may call.
    call "call": CallWhen,
    /// How many may call in a round.
    callers "callers": Callers,
    /// A bound on the points of a call.
    cap "cap": Cap,
    /// What becomes of a layout without cards.
    empty_hand "empty_hand": EmptyHand,
    /// With `empty_hand = "ends_round"`: whether those pay who snapped later in the window that ended the round.
    empty_hand_fines "empty_hand_fines": EmptyHandFines = "after",
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
    /// With `score = "points"`: what becomes of the points of a caller with the fewest.
    call_success "call_success": Bonus,
    /// With `score = "points"`: what becomes of the points of any other caller.
    call_failure "call_failure": Bonus,
    /// What becomes of a caller who ties for the fewest points.
    caller_tie "caller_tie": CallerTie,
    /// Whether a successful caller peeks at one card more in the next round, and any other caller starts it with a card more.
    carry_over "carry_over": bool,
    /// What ends a match.
    match_end "match_end": MatchEnd,
    /// A total that becomes another one when a round makes it exactly so.
    total_reset "total_reset": Reset = "none",
    /// Which total wins a match.
    best "best": Best,
}

fn read_field<K: Knob>(
    fields: &Map<String, Value>,
    name: &'static str,
    before: Option<&'static str>,
) -> Result<K, RulesError> {
    let before = before.map(Value::from);
    let Some(value) = fields.get(name).or(before.as_ref()) else {
        return Err(RulesError::Missing {
            field: name,
            allowed: "a rule system names every field, or starts from a preset with `base = \"classic\"`",
        });
    };
    let wrong = || RulesError::Field { field: name, found: value.to_string(), allowed: K::allowed() };
    K::read(value).ok_or_else(wrong)
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
            None => Err(RulesError::Preset { name: name.to_owned() }),
        }
    }

    /// Reads a rule file.
    ///
    /// It names every field (those that came later may be left out, see [`KnobDoc::before`]), or only some after `base = "classic"`, which starts from that preset.
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
            Err(error) => {
                let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
                let place = line.map_or_else(String::new, |line| format!("line {line}: "));
                return Err(RulesError::Toml(place + &error.message().trim().replace('\n', " ")));
            }
        };
        match serde_json::to_value(value) {
            Ok(value) => RulesSpec::from_json(&value),
            Err(error) => Err(RulesError::File(error.to_string())),
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
            _ => return Err(RulesError::Shape { found: value.to_string() }),
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
            Some(base) => return Err(RulesError::Base { found: base.to_string() }),
            None => {}
        }
        for (name, value) in given {
            if !is_field(name) {
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
            let allowed = "allowed is a deck's name or a list of kinds";
            return Err(RulesError::Missing { field: "deck", allowed });
        };
        let deck = Deck::read(deck)?;
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

    /// The rules as they stand in a record: the name of a preset, or the whole table.
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

    /// Whether two systems have the same cards and the same knobs, whatever their names.
    pub(super) fn plays_as(&self, other: &RulesSpec) -> bool {
        self.deck.kinds == other.deck.kinds && self.knobs() == other.knobs()
    }

    /// The rules as a rule file, every field with its meaning and the deck in full.
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
        super::System::of(self)
    }
}

fn read_mini(name: &str) -> RulesSpec {
    let tables: Map<String, Value> = toml::from_str(MINI_FILE).expect("the shipped mini games are TOML");
    let mut table = tables.get(name).cloned().expect("each mini game has a table");
    table["name"] = Value::from(name);
    RulesSpec::from_json(&table).expect("the shipped mini games are rule tables")
}

/// Which presets there are, as the end of a sentence.
pub(super) fn known_names() -> String {
    format!("the presets are {}, the mini games {}", PRESETS.join(", "), MINI_GAMES.join(", "))
}

/// The names of the presets and mini games.
pub(super) fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.into_iter().chain(MINI_GAMES)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && !name.contains(char::is_control)
}

fn is_field(name: &str) -> bool {
    ["base", "name", "deck"].contains(&name) || KNOBS.iter().any(|knob| knob.name == name)
}
