//! Decks: the named ones, and tables of kinds.

use serde_json::{Map, Value};

use super::{PRESETS, RulesError};
use crate::card::Kind;

const DECK_FILE: &str = include_str!("../../presets/decks.toml");

/// A deck: one of the named ones, or a table of kinds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deck {
    pub(super) name: Option<String>,
    pub(super) kinds: Vec<Kind>,
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
        let Some(kinds) = decks.get(name) else {
            let allowed = format!("a list of kinds or one of the decks {}", PRESETS.join(", "));
            return Err(RulesError::Field { field: "deck", found: format!("{name:?}"), allowed });
        };
        Ok(Deck { name: Some(name.to_owned()), kinds: read_kinds(kinds)? })
    }

    /// A deck of one's own.
    pub fn of(kinds: Vec<Kind>) -> Deck {
        Deck { name: None, kinds }
    }

    /// The kinds as written, jokers included.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
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
    list.iter().enumerate().map(|(number, value)| read_kind(number + 1, value)).collect()
}

fn read_kind(number: usize, value: &Value) -> Result<Kind, RulesError> {
    let Some(fields) = value.as_object() else {
        return Err(RulesError::Kind { number, found: value.to_string() });
    };
    if let Some(field) = fields.keys().find(|field| !KIND_FIELDS.contains(&field.as_str())) {
        return Err(RulesError::UnknownKindField { number, field: field.clone() });
    }
    let wrong = |field: &'static str, allowed: &'static str| {
        let found = fields.get(field).map_or("missing".to_owned(), Value::to_string);
        RulesError::KindField { number, field, found, allowed }
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let optional = |field: &'static str| match fields.get(field) {
        None => Ok(""),
        Some(value) => value.as_str().ok_or_else(|| wrong(field, "a text")),
    };
    let is_label = |label: &&str| !label.is_empty() && label.len() <= 12 && label.chars().all(|c| c.is_ascii_graphic());
    let whole = |field: &str, from: i64, to: i64| fields.get(field)?.as_i64().filter(|n| (from..=to).contains(n));
    let label = text("label").filter(is_label).ok_or_else(|| wrong("label", "1 to 12 characters without a space"))?;
    let rank = text("rank").filter(|rank| !rank.is_empty()).ok_or_else(|| wrong("rank", "a text"))?;
    let points = whole("points", -100, 100).ok_or_else(|| wrong("points", "a whole number from -100 to 100"))? as i16;
    let copies = whole("copies", 0, 128).ok_or_else(|| wrong("copies", "a whole number from 0 to 128"))? as u8;
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

pub(super) fn write_kind(kind: &Kind) -> Value {
    serde_json::json!({
        "label": kind.label, "rank": kind.rank, "suit": kind.suit, "points": kind.points,
        "power": kind.power.to_string(), "copies": kind.copies,
    })
}
