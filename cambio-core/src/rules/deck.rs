//! Decks: named decks and tables of kinds.

use serde_json::{Map, Value};

use super::{PRESETS, RulesError};
use crate::rules::card::{Kind, MAX_CARDS, MAX_KINDS};
use crate::text::did_you_mean;

/// The most kinds that a deck may list, including kinds without copies.
pub(super) const MOST_KINDS: usize = 2 * MAX_KINDS;
/// The largest absolute value of a card's points.
const MOST_POINTS: i16 = 100;
/// The most copies of a kind in one deck.
const MOST_COPIES: u8 = (MAX_CARDS / 2) as u8;

const DECK_FILE: &str = include_str!("../../presets/decks.toml");

/// A deck: a named deck or a table of kinds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deck {
    pub(super) name: Option<String>,
    pub(super) kinds: Vec<Kind>,
}

impl Deck {
    /// The deck with this name. The named decks have the names of the [`PRESETS`].
    ///
    /// # Errors
    /// If no deck has that name.
    ///
    /// # Panics
    /// Does not panic: a test parses the built-in decks.
    pub fn named(name: &str) -> Result<Deck, RulesError> {
        let decks: Map<String, Value> = toml::from_str(DECK_FILE).expect("the shipped decks are TOML");
        let Some(kinds) = decks.get(name) else {
            let allowed = format!("a list of kinds or one of the decks {}", PRESETS.join(", "));
            return Err(RulesError::Field { field: "deck", found: format!("{name:?}"), allowed });
        };
        Ok(Deck { name: Some(name.to_owned()), kinds: read_kinds(kinds)? })
    }

    /// A custom deck. [`RulesSpec::validate`](super::RulesSpec::validate) checks it like a deck from a rule file.
    pub fn of(kinds: Vec<Kind>) -> Deck {
        Deck { name: None, kinds }
    }

    /// Applies the checks for rule files, because a program may have built the deck.
    pub(super) fn check(&self) -> Result<(), RulesError> {
        check_number(self.kinds.len())?;
        for (index, kind) in self.kinds.iter().enumerate() {
            let Kind { label, rank, points, copies, .. } = kind;
            let wrong = |field, found: &dyn std::fmt::Display, allowed| {
                Err(RulesError::KindField { number: index + 1, field, found: found.to_string(), allowed })
            };
            if !is_label(label) {
                return wrong("label", &Value::from(label.as_str()), LABEL);
            }
            if rank.is_empty() {
                return wrong("rank", &Value::from(""), RANK);
            }
            if points.unsigned_abs() > MOST_POINTS.unsigned_abs() {
                return wrong("points", points, POINTS);
            }
            if *copies > MOST_COPIES {
                return wrong("copies", copies, COPIES);
            }
        }
        Ok(())
    }

    /// The kinds in the order of the rule file, jokers included.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The deck with other points or powers for some kinds, which `table` names by label or rank. A named
    /// deck becomes a custom deck with this number of jokers.
    pub(super) fn with(self, (field, allowed, set): KindTable, table: &Value, jokers: u8) -> Result<Deck, RulesError> {
        let Deck { name, mut kinds } = self;
        let wrong = |found: String| {
            let allowed = format!("a table of labels or ranks, each with {allowed}");
            RulesError::Field { field, found, allowed }
        };
        let table = table.as_object().ok_or_else(|| wrong(table.to_string()))?;
        for (key, value) in table {
            let Some(kind) = kinds.iter().find(|kind| kind.label == *key || kind.rank == *key) else {
                let mut names: Vec<&str> = kinds.iter().flat_map(|kind| [kind.label.as_str(), &kind.rank]).collect();
                names.sort_by_key(|name| !name.eq_ignore_ascii_case(key));
                return Err(RulesError::NoSuchKind { field, found: key.clone(), nearest: did_you_mean(key, names) });
            };
            set(&mut kind.clone(), value).ok_or_else(|| wrong(format!("{key} = {value}")))?;
        }
        for kind in &mut kinds {
            if let Some(value) = table.get(&kind.label).or_else(|| table.get(&kind.rank)) {
                set(kind, value);
            }
            if name.is_some() && kind.label == "JK" {
                kind.copies = jokers;
            }
        }
        Ok(Deck::of(kinds))
    }

    pub(super) fn read(value: &Value) -> Result<Deck, RulesError> {
        match value {
            Value::String(name) => Deck::named(name),
            _ => Ok(Deck::of(read_kinds(value)?)),
        }
    }

    pub(super) fn write(&self) -> Value {
        match &self.name {
            Some(name) => Value::from(name.clone()),
            None => self.kinds.iter().map(write_kind).collect(),
        }
    }
}

pub(super) const KIND_FIELDS: [&str; 6] = ["label", "rank", "suit", "points", "power", "copies"];

fn read_kinds(value: &Value) -> Result<Vec<Kind>, RulesError> {
    let Some(list) = value.as_array() else {
        let allowed = "a deck's name or a list of kinds".to_owned();
        return Err(RulesError::Field { field: "deck", found: value.to_string(), allowed });
    };
    check_number(list.len())?;
    list.iter().enumerate().map(|(number, value)| read_kind(number + 1, value)).collect()
}

fn check_number(kinds: usize) -> Result<(), RulesError> {
    if kinds > MOST_KINDS { Err(RulesError::Kinds { kinds }) } else { Ok(()) }
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.len() <= 12 && label.chars().all(|c| c.is_ascii_graphic())
}

/// A table of a rule file that changes one field of some kinds: its name, the valid values, and a function that sets the
/// field or returns `None`.
pub(super) type KindTable = (&'static str, &'static str, fn(&mut Kind, &Value) -> Option<()>);

const POWERS: &str = "a power such as `look own` or `look any then swap`, or an empty text for no power";
pub(super) const KIND_TABLES: [KindTable; 2] = [
    ("points", POINTS, |kind, value| read_points(value).map(|points| kind.points = points)),
    ("powers", POWERS, |kind, value| value.as_str()?.parse().ok().map(|power| kind.power = power)),
];

const LABEL: &str = "1 to 12 ASCII characters without a space";
const POINTS: &str = "a whole number from -100 to 100";
const COPIES: &str = "a whole number from 0 to 128";
const RANK: &str = "a non-empty text";

fn read_kind(number: usize, value: &Value) -> Result<Kind, RulesError> {
    let Some(fields) = value.as_object() else {
        return Err(RulesError::Kind { number, found: value.to_string() });
    };
    if let Some(field) = fields.keys().find(|field| !KIND_FIELDS.contains(&field.as_str())) {
        return Err(RulesError::UnknownKindField { number, field: field.clone() });
    }
    let wrong = |field: &'static str, allowed: &'static str| {
        let found = fields.get(field).map_or("nothing".to_owned(), Value::to_string);
        RulesError::KindField { number, field, found, allowed }
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let optional = |field: &'static str| match fields.get(field) {
        None => Ok(""),
        Some(value) => value.as_str().ok_or_else(|| wrong(field, "a text")),
    };
    let label = text("label").filter(|label| is_label(label)).ok_or_else(|| wrong("label", LABEL))?;
    let rank = text("rank").filter(|rank| !rank.is_empty()).ok_or_else(|| wrong("rank", RANK))?;
    let points = fields.get("points").and_then(read_points).ok_or_else(|| wrong("points", POINTS))?;
    let copies = fields.get("copies").and_then(Value::as_u64).filter(|&copies| copies <= MOST_COPIES.into());
    let copies = copies.ok_or_else(|| wrong("copies", COPIES))? as u8;
    let power = optional("power")?.parse().map_err(|source| RulesError::Power { number, source })?;
    Ok(Kind {
        label: label.to_owned(),
        rank: rank.to_owned(),
        suit: optional("suit")?.to_owned(),
        points,
        power,
        copies,
    })
}

fn read_points(value: &Value) -> Option<i16> {
    let points = i16::try_from(value.as_i64()?).ok()?;
    (-MOST_POINTS..=MOST_POINTS).contains(&points).then_some(points)
}

pub(super) fn write_kind(kind: &Kind) -> Value {
    serde_json::json!({
        "label": kind.label, "rank": kind.rank, "suit": kind.suit, "points": kind.points,
        "power": kind.power.to_string(), "copies": kind.copies,
    })
}
