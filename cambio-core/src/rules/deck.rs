//! Decks: named decks and tables of kinds.

use std::sync::LazyLock;

use serde::Deserialize as _;
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
    pub(crate) fn named(name: &str) -> Result<Deck, RulesError> {
        static DECKS: LazyLock<Map<String, Value>> =
            LazyLock::new(|| toml::from_str(DECK_FILE).expect("the shipped decks are TOML"));
        let Some(kinds) = DECKS.get(name) else {
            let allowed = format!("a list of kinds or one of the decks {}", PRESETS.join(", "));
            return Err(RulesError::Field { field: "deck", found: format!("{name:?}"), allowed });
        };
        Ok(Deck { name: Some(name.to_owned()), kinds: read_kinds(kinds)? })
    }

    /// A custom deck. [`RulesSpec::validate`](super::RulesSpec::validate) checks it like a deck from a rule file.
    pub fn of(kinds: Vec<Kind>) -> Deck {
        Deck { name: None, kinds }
    }

    /// Checks the values of the fields. They may come from a program.
    pub(super) fn check(&self) -> Result<(), RulesError> {
        check_number(self.kinds.len())?;
        for (index, kind) in self.kinds.iter().enumerate() {
            let Kind { label, rank, points, copies, .. } = kind;
            let wrong = |field, found: &dyn std::fmt::Display, allowed| {
                Err(RulesError::KindField { number: index + 1, field, found: found.to_string(), allowed })
            };
            if !(1..=12).contains(&label.len()) || !label.chars().all(|char| char.is_ascii_graphic()) {
                let allowed = "1 to 12 ASCII characters without a space";
                return wrong("label", &Value::from(label.as_str()), allowed);
            }
            if rank.is_empty() {
                return wrong("rank", &Value::from(""), "a non-empty text");
            }
            if !are_valid(*points) {
                return wrong("points", points, POINTS);
            }
            if *copies > MOST_COPIES {
                return wrong("copies", copies, "a whole number from 0 to 128");
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
        if let Value::String(name) = value {
            return Deck::named(name);
        }
        let deck = Deck::of(read_kinds(value)?);
        deck.check().map(|()| deck)
    }

    pub(super) fn write(&self) -> Value {
        match &self.name {
            Some(name) => Value::from(name.clone()),
            None => serde_json::json!(self.kinds),
        }
    }
}

fn read_kinds(value: &Value) -> Result<Vec<Kind>, RulesError> {
    let Some(list) = value.as_array() else {
        let allowed = "a deck's name or a list of kinds".to_owned();
        return Err(RulesError::Field { field: "deck", found: value.to_string(), allowed });
    };
    check_number(list.len())?;
    let read = |(number, kind): (usize, &Value)| {
        Kind::deserialize(kind).map_err(|error| RulesError::Kind { number, what: error.to_string() })
    };
    (1..).zip(list).map(read).collect()
}

fn check_number(kinds: usize) -> Result<(), RulesError> {
    if kinds > MOST_KINDS { Err(RulesError::Kinds { kinds }) } else { Ok(()) }
}

/// A table of a rule file that changes one field of some kinds: its name, the valid values, and a function that sets the
/// field or returns `None`.
pub(super) type KindTable = (&'static str, &'static str, fn(&mut Kind, &Value) -> Option<()>);

const POWERS: &str = "a power such as `look own` or `look any then swap`, or an empty text for no power";
pub(super) const KIND_TABLES: [KindTable; 2] = [
    ("points", POINTS, |kind, value| read_points(value).map(|points| kind.points = points)),
    ("powers", POWERS, |kind, value| value.as_str()?.parse().ok().map(|power| kind.power = power)),
];

const POINTS: &str = "a whole number from -100 to 100";

fn read_points(value: &Value) -> Option<i16> {
    value.as_i64().and_then(|points| points.try_into().ok()).filter(|&points| are_valid(points))
}

fn are_valid(points: i16) -> bool {
    (-MOST_POINTS..=MOST_POINTS).contains(&points)
}
