//! Records for imitation: read once, split by deals, and drawn in a shuffled order.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use cambio_core::record::InvalidRecord;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::text::{excerpt, without_mark};
use cambio_core::{Record, Rules, RulesSpec};
use cambio_exec::open_regular;
use serde::Deserialize;
use serde_json::Value;

use crate::error::LearnError;
use crate::recipe::{Imitation, Recipe, RecipeError};
use crate::rng::SeededRng;

/// The maximum length of a line in bytes.
const LINE: u64 = 1 << 26;

/// The record file in a run folder.
const IN_RUN: &str = "records.jsonl";

/// The header fields of a record. The rounds are not parsed.
#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    rules: Value,
    #[serde(default)]
    seats: Value,
    #[serde(default)]
    seed: Value,
    #[serde(default)]
    deal: Option<u64>,
    #[serde(default)]
    agents: Option<Vec<String>>,
}

/// A summary of record files, from which to make a recipe for a clone.
#[derive(Default)]
struct Survey {
    /// The agents, with the number of records of each.
    agents: BTreeMap<String, u64>,
    /// The rules in the records: the name of a preset, or custom rules as JSON.
    rules: BTreeSet<String>,
    /// The numbers of seats.
    seats: BTreeSet<usize>,
}

impl Survey {
    /// Summarises record files, or the record files of run folders.
    fn of(files: &[String]) -> Result<Survey, LearnError> {
        let mut survey = Survey::default();
        for file in files {
            read_lines(file, |place, line| {
                let header = header(place, line)?;
                survey.rules.insert(header.rules.as_str().map_or_else(|| header.rules.to_string(), str::to_owned));
                survey.seats.extend(header.seats.as_u64().map(|seats| seats as usize));
                let agents: BTreeSet<String> = header.agents.into_iter().flatten().collect();
                for agent in agents {
                    *survey.agents.entry(agent).or_default() += 1;
                }
                Ok(())
            })?;
        }
        Ok(survey)
    }
}

/// The file and the number of a line, for errors.
struct LinePosition<'a> {
    path: &'a Path,
    line: u64,
}

impl LinePosition<'_> {
    fn refuse(&self, what: impl std::fmt::Display) -> LearnError {
        LearnError::Records(format!("{}, line {}: {what}", self.path.display(), self.line))
    }
}

/// Calls `each` with every non-empty line of a file.
fn read_lines(
    file: &str,
    mut each: impl FnMut(&LinePosition<'_>, &str) -> Result<(), LearnError>,
) -> Result<(), LearnError> {
    let named = Path::new(file);
    let path: PathBuf = if named.is_dir() { named.join(IN_RUN) } else { named.to_owned() };
    let unreadable = |error: std::io::Error| LearnError::Records(format!("{} cannot be read: {error}", path.display()));
    let mut input = BufReader::new(open_regular(&path).map_err(unreadable)?);
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        if input.by_ref().take(LINE).read_until(b'\n', &mut bytes).map_err(unreadable)? == 0 {
            return Ok(());
        }
        line += 1;
        let place = LinePosition { path: &path, line };
        if bytes.len() as u64 == LINE && bytes.last() != Some(&b'\n') {
            return Err(place.refuse(format!("the line has more than {LINE} bytes, the maximum")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| place.refuse(format!("not UTF-8: {error}")))?;
        let text = without_mark(text);
        if !text.trim().is_empty() {
            each(&place, text.trim())?;
        }
    }
}

fn header(place: &LinePosition<'_>, line: &str) -> Result<Header, LearnError> {
    if !line.starts_with('{') {
        return Err(place.refuse("not a record: a record is a JSON object"));
    }
    serde_json::from_str(line).map_err(|error| place.refuse(format!("not a record: {error}")))
}

/// The text of a record, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StoredRecord {
    /// The index of the file in the recipe, and the line number.
    file: usize,
    line: u64,
    json: Box<str>,
}

/// The records of one agent, split by deal into training records and held-out records.
#[derive(Clone, Debug)]
pub(crate) struct ImitationRecords {
    imitation: Imitation,
    kept: Vec<StoredRecord>,
    /// The indices of the training records.
    learned: Vec<usize>,
    /// The indices of the held-out records of each deal.
    held: Vec<Vec<usize>>,
    seed: u64,
}

impl ImitationRecords {
    /// Reads the records that a recipe names, and writes their hash into the recipe.
    pub(crate) fn read(recipe: &mut Recipe, rules: &Rules) -> Result<Option<ImitationRecords>, LearnError> {
        let Some(imitation) = &mut recipe.imitate else { return Ok(None) };
        let (mut kept, mut deals) = (Vec::new(), BTreeMap::<[u8; 32], Vec<usize>>::new());
        let mut names = BTreeSet::new();
        let mut hash = blake3::Hasher::new();
        // The rules that were checked last, which most records share with the previous record.
        let mut checked = None;
        for (file, name) in imitation.records.iter().enumerate() {
            read_lines(name, |place, line| {
                let Header { rules: found, seats, seed, deal, agents } = header(place, line)?;
                let agents = agents.unwrap_or_default();
                if !agents.contains(&imitation.agent) {
                    names.extend(agents);
                    return Ok(());
                }
                if checked.as_ref() != Some(&found) {
                    check_rules(&found, rules).map_err(|what| place.refuse(what))?;
                    checked = Some(found);
                }
                if !seats.as_u64().is_some_and(|seats| recipe.seats.contains(&(seats as usize))) {
                    let what = format!("the record has {seats} seats, but the recipe has {:?}", recipe.seats);
                    return Err(place.refuse(what));
                }
                // A record without a deal number counts as a deal of its own.
                let deal = match deal {
                    Some(deal) => serde_json::json!([recipe.seed, seed, deal]),
                    None => serde_json::json!([recipe.seed, file, place.line, "line"]),
                };
                let deal = *blake3::hash(deal.to_string().as_bytes()).as_bytes();
                deals.entry(deal).or_default().push(kept.len());
                hash.update(line.as_bytes());
                hash.update(b"\n");
                kept.push(StoredRecord { file, line: place.line, json: line.into() });
                Ok(())
            })?;
        }
        if kept.is_empty() {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", excerpt(name))).collect();
            let others = if names.is_empty() { "no agents".to_owned() } else { names.join(", ") };
            let agent = excerpt(&imitation.agent);
            return Err(LearnError::Records(format!("no record names the agent `{agent}`; the records name {others}")));
        }
        let hash = hash.finalize().to_hex().to_string();
        if imitation.hash.as_ref().is_some_and(|was| *was != hash) {
            let what = format!(
                "the records of `{}` have changed since training began: their hash is now {hash}",
                excerpt(&imitation.agent)
            );
            return Err(LearnError::Records(what));
        }
        imitation.hash = Some(hash);
        if deals.len() < 2 {
            let what = "the records must have at least 2 deals, because some are held out, found 1";
            return Err(LearnError::Records(what.to_owned()));
        }
        // The first deals in the order of their hashes, which is random, are held out.
        let number = ((deals.len() as f64 * imitation.held_out).round() as usize).clamp(1, deals.len() - 1);
        let mut deals = deals.into_values();
        let held = deals.by_ref().take(number).collect();
        let mut learned: Vec<usize> = deals.flatten().collect();
        learned.sort_unstable();
        Ok(Some(ImitationRecords { imitation: imitation.clone(), kept, learned, held, seed: recipe.seed }))
    }

    pub(crate) fn agent(&self) -> &str {
        &self.imitation.agent
    }

    pub(crate) fn held_out(&self) -> u64 {
        self.held.len() as u64
    }

    pub(crate) fn of_held_out(&self, deal: u64) -> &[usize] {
        &self.held[deal as usize]
    }

    /// The index of the training record for a match. Each pass goes through all records, in its own random order.
    pub(crate) fn of_match(&self, number: u64) -> usize {
        let of = self.learned.len();
        let (pass, place) = (number / of as u64, (number % of as u64) as usize);
        let mut chance = SeededRng::of_match(self.seed, pass);
        let from = chance.below(of);
        // With a step that is coprime to the number of records, each record is visited once.
        let step = std::iter::repeat_with(|| 1 + chance.below(of)).find(|&step| common_factor(step, of) == 1);
        let step = step.expect("1 is coprime to every number");
        self.learned[(from + place * step) % of]
    }

    /// Parses a record with its rounds.
    pub(crate) fn record(&self, place: usize) -> Result<Record, LearnError> {
        Record::read(&self.kept[place].json).map_err(|flaw| self.flaw(place, &flaw))
    }

    /// The error for an invalid record, with its file and line.
    pub(crate) fn flaw(&self, place: usize, flaw: &InvalidRecord) -> LearnError {
        let StoredRecord { file, line, .. } = self.kept[place];
        LearnError::Records(format!("{}, line {line}: {flaw}", self.imitation.records[file]))
    }
}

fn common_factor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { common_factor(other, one % other) }
}

/// Checks that the rules of a record are the rules of the recipe, except for the length of a match.
fn check_rules(found: &Value, rules: &Rules) -> Result<(), String> {
    let found = RulesSpec::from_json(found).and_then(RulesSpec::validate).map_err(|error| error.to_string())?;
    let of_one_round = |rules: &Rules| {
        let mut spec = rules.spec().clone();
        spec.name.clear();
        spec.match_end = MatchEnd::Rounds(1);
        spec
    };
    if of_one_round(&found) == of_one_round(rules) {
        return Ok(());
    }
    Err(format!("the record has the rules `{}`, but the recipe has `{}`", excerpt(found.name()), excerpt(rules.name())))
}

impl Recipe {
    /// The recipe for a clone: a network that imitates the decisions of an agent in these records. Each record is used
    /// eight times.
    ///
    /// # Errors
    /// If the files cannot be read; if `agent` is `None` and the records do not name exactly one agent; or if `rules`
    /// is `None` and the records have several rules or custom rules.
    pub fn imitating(files: &[String], agent: Option<&str>, rules: Option<&str>) -> Result<Recipe, LearnError> {
        let survey = Survey::of(files)?;
        let refuse = |what: String| Err(LearnError::Recipe(RecipeError::Form(what)));
        let names = || survey.agents.keys().map(|name| format!("`{}`", excerpt(name))).collect::<Vec<_>>().join(", ");
        let agent = match (agent, survey.agents.keys().next()) {
            (Some(agent), _) => agent,
            (None, Some(only)) if survey.agents.len() == 1 => only,
            (None, Some(_)) => return refuse(format!("the records name {}; choose one with --agent", names())),
            (None, None) => return refuse("the records name no agents; each needs the field `agents`".to_owned()),
        };
        let number = survey.agents.get(agent).copied().unwrap_or(0);
        let rules = match (rules, survey.rules.first()) {
            (Some(rules), _) => rules,
            (None, Some(only)) if survey.rules.len() == 1 && !only.starts_with('{') => only,
            (None, _) if survey.rules.len() > 1 => {
                return refuse(format!("the records have {} rules; choose one with --rules", survey.rules.len()));
            }
            (None, _) => return refuse("the records have custom rules; name their file with --rules".to_owned()),
        };
        Ok(Recipe {
            rules: rules.to_owned(),
            seats: survey.seats.into_iter().collect(),
            rivals: BTreeMap::new(),
            matches: (8 * number).max(1),
            imitate: Some(Imitation { records: files.to_vec(), agent: agent.to_owned(), held_out: 0.1, hash: None }),
            ..Recipe::default()
        })
    }
}
