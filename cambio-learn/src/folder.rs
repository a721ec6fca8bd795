//! The folder of a training run: the recipe, the curve, checkpoints and networks.
//!
//! | file | content |
//! |---|---|
//! | `recipe.toml` | the recipe, with every field |
//! | `curve.csv` | loss, wins and turns, one row for each checkpoint |
//! | `judged.csv` | the results of each evaluation against the agents of the recipe |
//! | `bound.csv` | for a responder: the results of the best level on fresh deals, at the end |
//! | `levels/N.net` | the networks at the evaluations, called levels |
//! | `network.net` | the network at the end; for a responder, the best level |
//! | `checkpoint` | the state to resume from; removed at the end |
//!
//! The files do not depend on the clock, the machine or the number of threads.

use std::fs;
use std::path::{Path, PathBuf};

use cambio_agents::{Network, NetworkMetadata, Roster};
use cambio_core::Rules;
use cambio_exec::{Claim, FileError, build_aside, read_text, table, write_whole};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::evaluate::EvaluationResult;
use crate::learner::{LearnProgress, LearnThreads, Learner};
use crate::recipe::{Bound, Recipe, RecipeError};

const RECIPE: &str = "recipe.toml";
const CURVE: &str = "curve.csv";
const JUDGED: &str = "judged.csv";
const BOUND: &str = "bound.csv";
const LEVELS: &str = "levels";
const NETWORK: &str = "network.net";
const CHECKPOINT: &str = "checkpoint";

/// The maximum size of a starting network in bytes.
const MOST: u64 = 1 << 26;

/// A training run in a folder: a learner and its files.
#[derive(Debug)]
pub struct LearnFolder {
    path: PathBuf,
    learner: Learner,
    since: CurveSums,
    curve: Vec<CurveRow>,
    judged: Vec<JudgedRow>,
    bound: Vec<JudgedRow>,
    /// Locks the folder against other writers.
    _claim: Claim,
}

table! {
    /// A row of `curve.csv`.
    #[derive(Copy, Deserialize)]
    pub CurveRow {
        /// Matches so far.
        matches: u64 => "matches",
        /// Rounds so far.
        rounds: u64 => "rounds",
        /// Samples so far.
        samples: u64 => "samples",
        /// The mean cross-entropy since the previous row, in nats.
        loss: f64 => "nats",
        /// The mean win share against other agents or past networks since the previous row; empty without such rounds.
        #[serde(alias = "won")]
        win_share: Option<f64> => "wins",
        /// Turns per round since the previous row.
        #[serde(alias = "turns")]
        turns_per_round: f64 => "turns per round",
        /// The learning rate.
        #[serde(alias = "rate")]
        learning_rate: f32,
    }
}

table! {
    /// A row of `judged.csv`.
    #[derive(Deserialize)]
    pub JudgedRow {
        /// Matches so far.
        matches: u64 => "matches",
        /// The number of the network's file in `levels`.
        level: u64,
        /// The opponent.
        against: String,
        /// The number of seats.
        seats: usize => "seats",
        /// The network's mean win share.
        #[serde(alias = "share")]
        win_share: f64 => "wins",
        /// Lower end of the 95 % interval of `win_share`.
        low: Option<f64> => "wins",
        /// Upper end of the 95 % interval of `win_share`.
        high: Option<f64> => "wins",
        /// One-sided 95 % lower limit of `win_share`.
        at_least: Option<f64> => "wins",
        /// The number of deals.
        deals: u64 => "deals",
    }
}

impl JudgedRow {
    /// The rows of a level.
    fn of(matches: u64, level: u64, judgements: &[EvaluationResult]) -> Vec<JudgedRow> {
        let row = |judgement: &EvaluationResult| JudgedRow {
            matches,
            level,
            against: judgement.against.clone(),
            seats: judgement.seats,
            win_share: judgement.share.mean,
            low: judgement.share.low(),
            high: judgement.share.high(),
            at_least: judgement.at_least(),
            deals: judgement.share.clusters,
        };
        judgements.iter().map(row).collect()
    }
}

/// Sums since the last row of the curve.
#[derive(Clone, Copy, Default, Debug)]
struct CurveSums {
    generations: f64,
    loss: f64,
    judged: f64,
    won: f64,
    turns: f64,
}

impl LearnFolder {
    /// Starts a run in a new folder, which appears as soon as it can be resumed.
    ///
    /// # Errors
    /// If the folder exists or cannot be written, or the recipe is rejected.
    pub fn create(path: &Path, recipe: Recipe, rules: &Rules, roster: &Roster) -> Result<LearnFolder, LearnError> {
        let mut folders = LearnFolder::create_all(path, vec![(path.to_owned(), recipe)], rules, roster)?;
        Ok(folders.remove(0))
    }

    /// Starts runs in the new folder `out` or in folders below it. All folders appear at once.
    ///
    /// # Errors
    /// The errors of [`LearnFolder::create`].
    ///
    /// # Panics
    /// If a folder is not below `out`.
    pub fn create_all(
        out: &Path,
        runs: Vec<(PathBuf, Recipe)>,
        rules: &Rules,
        roster: &Roster,
    ) -> Result<Vec<LearnFolder>, LearnError> {
        if out.exists() {
            let what = format!("{} exists: add --resume to continue it, or choose another folder", out.display());
            return Err(LearnError::Folder(what));
        }
        let learner_of = |(path, recipe): (PathBuf, Recipe)| {
            let from = recipe.from.as_deref().map(|from| starting_network(from, rules, &recipe.seats));
            let from = from.transpose()?.map(|(network, _)| network);
            Ok((path, Learner::new(recipe, rules, roster, from.as_ref())?))
        };
        let begun = runs.into_iter().map(learner_of).collect::<Result<Vec<_>, LearnError>>()?;
        build_aside(out, |new| {
            begun.iter().try_for_each(|(path, learner)| {
                let path = new.join(path.strip_prefix(out).expect("each run is in the folder"));
                let levels = path.join(LEVELS);
                fs::create_dir_all(&levels).map_err(FileError::unwritable(&levels))?;
                write_whole(&path.join(RECIPE), learner.recipe().to_toml().as_bytes())?;
                let checkpoint = learner.save().expect("a new learner has played nothing ahead");
                write_whole(&path.join(CHECKPOINT), &checkpoint)
            })
        })?;
        let open = |(path, learner): (PathBuf, Learner)| {
            let (since, claim) = (CurveSums::default(), Claim::on(&path)?);
            let (curve, judged, bound) = (Vec::new(), Vec::new(), Vec::new());
            Ok(LearnFolder { path, learner, since, curve, judged, bound, _claim: claim })
        };
        begun.into_iter().map(open).collect()
    }

    /// Resumes the run in a folder. The result is the same as without the interruption.
    ///
    /// # Errors
    /// If the folder is not a training run, its files are damaged, or `recipe` is not its recipe.
    pub fn resume(
        path: &Path,
        recipe: Option<&Recipe>,
        rules: &Rules,
        roster: &Roster,
    ) -> Result<LearnFolder, LearnError> {
        let claim = Claim::on(path)?;
        let own = stored_recipe(path)?;
        if recipe.is_some_and(|recipe| !recipe.is_of(&own)) {
            let what = format!("{} was started with another recipe, which is in its {RECIPE}", path.display());
            return Err(LearnError::Folder(what));
        }
        let file = path.join(CHECKPOINT);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(_) if path.join(NETWORK).exists() => {
                return Err(LearnError::Folder(format!("{} is complete: {NETWORK} is its network", path.display())));
            }
            Err(error) => return Err(FileError::unreadable(&file)(error).into()),
        };
        let learner = Learner::resume(own, rules, roster, &bytes)?;
        let matches = learner.matches();
        // Rows after the checkpoint are dropped, because that part of the training is repeated.
        let mut curve: Vec<CurveRow> = read_rows(&path.join(CURVE))?;
        curve.retain(|row| row.matches <= matches);
        let mut judged: Vec<JudgedRow> = read_rows(&path.join(JUDGED))?;
        judged.retain(|row| row.matches <= matches);
        let (since, bound) = (CurveSums::default(), Vec::new());
        Ok(LearnFolder { path: path.to_owned(), learner, since, curve, judged, bound, _claim: claim })
    }

    /// The learner.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The results of the best level on fresh deals; empty before the end, and without [`Recipe::bound`].
    pub fn bound(&self) -> &[JudgedRow] {
        &self.bound
    }

    /// The results of the last evaluation.
    pub fn last_judged(&self) -> &[JudgedRow] {
        let last = self.judged.last().map_or(0, |row| row.matches);
        let first = self.judged.iter().position(|row| row.matches == last).unwrap_or(0);
        &self.judged[first..]
    }

    /// Trains on the next generation and writes the files that are due; `None` at the end.
    ///
    /// # Errors
    /// As [`Learner::step`], or if a file cannot be written.
    pub fn step(&mut self, threads: &LearnThreads) -> Result<Option<LearnProgress>, LearnError> {
        if self.learner.matches() == 0 && self.judged.is_empty() {
            self.judge_the_beginning(threads)?;
        }
        let Some(progress) = self.learner.step(threads)? else {
            self.finish(threads)?;
            return Ok(None);
        };
        let since = &mut self.since;
        since.generations += 1.0;
        since.loss += progress.loss;
        since.turns += progress.turns;
        if let Some(won) = progress.won {
            since.judged += 1.0;
            since.won += won;
        }
        if !progress.judgements.is_empty() {
            let level = 1 + self.judged.last().map_or(0, |row| row.level);
            self.write_network(&level_file(level))?;
            self.keep(progress.matches, level, &progress.judgements)?;
        }
        if progress.is_checkpoint {
            let since = std::mem::take(&mut self.since);
            self.curve.push(CurveRow {
                matches: progress.matches,
                rounds: progress.rounds,
                samples: progress.samples,
                loss: since.loss / since.generations,
                win_share: (since.judged > 0.0).then(|| since.won / since.judged),
                turns_per_round: since.turns / since.generations,
                learning_rate: progress.rate,
            });
            write_rows(&self.path.join(CURVE), &self.curve)?;
            self.checkpoint()?;
        }
        Ok(Some(progress))
    }

    fn checkpoint(&mut self) -> Result<(), LearnError> {
        if let Some(bytes) = self.learner.save() {
            write_whole(&self.path.join(CHECKPOINT), &bytes)?;
        }
        Ok(())
    }

    /// Writes the results of a level.
    fn keep(&mut self, matches: u64, level: u64, judgements: &[EvaluationResult]) -> Result<(), LearnError> {
        self.judged.extend(JudgedRow::of(matches, level, judgements));
        write_rows(&self.path.join(JUDGED), &self.judged)
    }

    /// Evaluates the starting network of a responder as level 0, because it may be the best level.
    fn judge_the_beginning(&mut self, threads: &LearnThreads) -> Result<(), LearnError> {
        if !judges_the_beginning(self.learner.recipe()) {
            return Ok(());
        }
        let judgements = self.learner.judge(&self.learner.network(), threads)?;
        self.write_network(&level_file(0))?;
        self.keep(0, 0, &judgements)
    }

    fn finish(&mut self, threads: &LearnThreads) -> Result<(), LearnError> {
        match self.learner.recipe().bound {
            None => self.write_network(Path::new(NETWORK))?,
            Some(Bound { deals, seed }) => {
                let (level, matches) = best_level(&self.judged);
                let file = self.path.join(level_file(level));
                let bytes = fs::read(&file).map_err(FileError::unreadable(&file))?;
                let (network, _) = Network::from_bytes(&bytes)?;
                let judgements = self.learner.judge_on(&network, seed, deals, threads)?;
                self.bound = JudgedRow::of(matches, level, &judgements);
                write_rows(&self.path.join(BOUND), &self.bound)?;
                write_whole(&self.path.join(NETWORK), &bytes)?;
            }
        }
        let file = self.path.join(CHECKPOINT);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(FileError::unwritable(&file)(error).into())
            }
            _ => Ok(()),
        }
    }

    fn write_network(&self, name: &Path) -> Result<(), LearnError> {
        let made = serde_json::json!({
            "recipe": self.learner.recipe(),
            "matches": self.learner.matches(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        Ok(write_whole(&self.path.join(name), &self.learner.network().to_bytes(&made))?)
    }
}

/// Whether the starting network is level 0.
fn judges_the_beginning(recipe: &Recipe) -> bool {
    recipe.bound.is_some() && recipe.from.is_some()
}

/// The rows of each level.
fn by_level(judged: &[JudgedRow]) -> impl Iterator<Item = &[JudgedRow]> {
    judged.chunk_by(|one, other| one.level == other.level)
}

/// The level with the highest mean win share (of equal levels, the first), and the number of matches before it.
fn best_level(judged: &[JudgedRow]) -> (u64, u64) {
    let mut best: Option<(f64, u64, u64)> = None;
    for rows in by_level(judged) {
        let share = mean_share(rows);
        if best.is_none_or(|(highest, ..)| share > highest) {
            best = Some((share, rows[0].level, rows[0].matches));
        }
    }
    best.map(|(_, level, matches)| (level, matches)).expect("training ends with an evaluation")
}

/// The mean win share of a level over its agents and numbers of seats.
fn mean_share(rows: &[JudgedRow]) -> f64 {
    rows.iter().map(|row| row.win_share).sum::<f64>() / rows.len() as f64
}

fn level_file(level: u64) -> PathBuf {
    Path::new(LEVELS).join(format!("{level}.net"))
}

/// Reads the recipe of a folder.
///
/// # Errors
/// If the folder has no recipe, or the recipe is rejected.
pub fn stored_recipe(path: &Path) -> Result<Recipe, LearnError> {
    let file = path.join(RECIPE);
    let text = read_text(&file).map_err(FileError::unreadable(&file))?;
    Ok(Recipe::from_toml(&text)?)
}

/// A complete training of a responder.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredResponder {
    /// The recipe.
    pub recipe: Recipe,
    /// The mean win share of the best level on the deals on which it was chosen.
    pub selected: f64,
    /// The results of each level on these deals, one row for each agent and number of seats.
    pub judged: Vec<JudgedRow>,
    /// The results of the best level on fresh deals, one row for each agent and number of seats.
    pub bound: Vec<JudgedRow>,
}

impl StoredResponder {
    /// Reads the folder of a complete training.
    ///
    /// # Errors
    /// If the training is not complete, or did not train a responder.
    pub fn read(path: &Path) -> Result<StoredResponder, LearnError> {
        let (bound, judged): (Vec<JudgedRow>, Vec<JudgedRow>) =
            (read_rows(&path.join(BOUND))?, read_rows(&path.join(JUDGED))?);
        let incomplete = || LearnError::Folder(format!("{} is not a complete training of a responder", path.display()));
        // The checkpoint is removed last.
        if path.join(CHECKPOINT).exists() {
            return Err(incomplete());
        }
        let level = bound.first().ok_or_else(incomplete)?.level;
        let best = by_level(&judged).find(|rows| rows[0].level == level);
        let selected = best.map(mean_share).ok_or_else(incomplete)?;
        Ok(StoredResponder { recipe: stored_recipe(path)?, selected, judged, bound })
    }

    /// Repeats the evaluations of the stored networks in the folder: of every level on the deals that choose the best one,
    /// and of the best one on the fresh deals. Does not repeat the training.
    ///
    /// # Errors
    /// If a file is not as the recipe and the networks require, if a match cannot be played, or if the threads are cancelled.
    pub fn verify(
        &self,
        path: &Path,
        rules: &Rules,
        roster: &Roster,
        threads: &LearnThreads,
    ) -> Result<(), LearnError> {
        let StoredResponder { recipe, judged, bound, .. } = self;
        let wrong = |file: &Path, what: &str| Err(LearnError::Folder(format!("{}: {what}", path.join(file).display())));
        let read = |file: &Path| fs::read(path.join(file)).map_err(FileError::unreadable(&path.join(file)));
        let from = recipe.from.as_deref().map(|from| starting_network(from, rules, &recipe.seats)).transpose()?;
        let learner = Learner::new(recipe.clone(), rules, roster, from.as_ref().map(|(network, _)| network))?;
        let begins = judges_the_beginning(recipe).then_some((0, 0));
        let wanted = begins.into_iter().chain((1..).zip(learner.evaluations()));
        if !by_level(judged).map(|rows| (rows[0].level, rows[0].matches)).eq(wanted) {
            return wrong(Path::new(JUDGED), "its levels do not follow from the recipe");
        }
        for rows in by_level(judged) {
            let (level, matches) = (rows[0].level, rows[0].matches);
            let file = level_file(level);
            let (network, facts) = match Network::from_bytes(&read(&file)?) {
                Ok(read) => read,
                Err(error) => return wrong(&file, &error.to_string()),
            };
            let weights = |network: &Network| network.to_bytes(&serde_json::Value::Null);
            if level == 0 && weights(&network) != weights(&learner.network()) {
                return wrong(&file, "it is not the starting network");
            }
            let made_by = serde_json::from_value::<Recipe>(facts.made["recipe"].clone()).ok();
            if made_by.as_ref() != Some(recipe) || facts.made["matches"] != matches {
                return wrong(&file, "it was trained with another recipe, or for another number of matches");
            }
            if rows != JudgedRow::of(matches, level, &learner.judge(&network, threads)?) {
                return wrong(Path::new(JUDGED), &format!("the network of level {level} gets another result"));
            }
        }
        let (level, matches) = best_level(judged);
        let bytes = read(&level_file(level))?;
        if read(Path::new(NETWORK))? != bytes {
            return wrong(Path::new(NETWORK), &format!("it is not the network of level {level}, the best one"));
        }
        let Some(Bound { deals, seed }) = recipe.bound else {
            return wrong(Path::new(RECIPE), "it has no fresh deals");
        };
        let (network, _) = Network::from_bytes(&bytes)?;
        if *bound != JudgedRow::of(matches, level, &learner.judge_on(&network, seed, deals, threads)?) {
            return wrong(Path::new(BOUND), "the best network gets another result on the fresh deals");
        }
        Ok(())
    }
}

fn write_rows<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), LearnError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row can be written to memory");
    }
    let bytes = writer.into_inner().expect("rows can be written to memory");
    Ok(write_whole(path, &bytes)?)
}

fn read_rows<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>, LearnError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let damaged = |error: csv::Error| LearnError::Folder(format!("{} is damaged: {error}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(damaged)?;
    reader.deserialize().collect::<Result<_, _>>().map_err(damaged)
}

/// The starting network of a recipe and the metadata of its file: from a path, or, for [`Recipe::SHIPPED`], the bundled
/// network for these cards and numbers of seats.
///
/// # Errors
/// If the network does not exist, cannot be read, or is for different cards, or if the numbers of seats have different
/// bundled networks.
///
/// ```
/// use cambio_core::Rules;
/// use cambio_learn::{Recipe, starting_network};
///
/// let (_, facts) = starting_network(Recipe::SHIPPED, &Rules::preset("classic")?, &[2])?;
/// assert_eq!(facts.made["matches"], 10_000_000);
/// assert!(starting_network(Recipe::SHIPPED, &Rules::preset("mini-m1")?, &[2])?.0.inputs().are_general());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn starting_network(from: &str, rules: &Rules, seats: &[usize]) -> Result<(Network, NetworkMetadata), LearnError> {
    let refuse = |found: String, allowed: &str| LearnError::Recipe(RecipeError::field("from", found, allowed));
    let (network, facts) = if from == Recipe::SHIPPED {
        let files: Vec<_> = seats.iter().map(|&seats| Network::shipped_file(rules, seats)).collect();
        let Some(&Some(file)) = files.first() else {
            return Err(refuse("`shipped` (this program has no networks)".to_owned(), "a network file or unset"));
        };
        if files.iter().any(|other| !other.is_some_and(|other| std::ptr::eq(other, file))) {
            let found = "`shipped` (the numbers of seats have different bundled networks)".to_owned();
            return Err(refuse(found, "a network file or unset"));
        }
        Network::from_bytes(file)?
    } else {
        let path = Path::new(from);
        let metadata = fs::metadata(path).map_err(FileError::unreadable(path))?;
        if !metadata.is_file() || metadata.len() > MOST {
            return Err(refuse(format!("`{from}`"), "a network file of at most 64 MiB"));
        }
        Network::from_bytes(&fs::read(path).map_err(FileError::unreadable(path))?)?
    };
    Ok((network.fitting(rules)?, facts))
}
