//! The result of a benchmark, computed from its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cambio_agents::{Roster, SpecError};
use cambio_exec::read_text;
use cambio_learn::{JudgedRow, StoredResponder};
use cambio_sim::{LuckShare, RunError, StoredRun};
use cambio_stats::{Interval, Moments, Support};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::responders::{RESPONDERS, Responder, trained};
use super::suite::{BenchTable, Suite, plans};
use super::{Bench, BenchError};

/// The files and folders of a benchmark, besides the folder of each run.
pub(super) const REQUEST: &str = "bench.json";
pub(super) const RESULT: &str = "result.json";
pub(super) const EXPERIMENTS: &str = "experiments";
pub(super) const EXACT: &str = "exact";

/// The file with the exploitability in a mini game.
pub(super) fn exact_file(folder: &Path, game: &str) -> PathBuf {
    folder.join(EXACT).join(format!("{game}.json"))
}

/// What a benchmark measures: the content of `bench.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BenchRequest {
    pub(crate) benchmark: String,
    pub(crate) agent: String,
    pub(crate) class: String,
    /// Whether the benchmark plays a small part of the deals, to try it out.
    pub(crate) quick: bool,
}

impl BenchRequest {
    pub(super) fn read(folder: &Path) -> Result<BenchRequest, BenchError> {
        let file = folder.join(REQUEST);
        if folder.exists() && !file.exists() {
            return Err(format!("{} is not the folder of a benchmark: it has no {REQUEST}", folder.display()).into());
        }
        let request: serde_json::Value = read_json(&file)?;
        let own = Suite::own().name;
        if request["benchmark"] != own {
            return Err(RunError::other_format(&file, &request["benchmark"], &own).into());
        }
        Ok(serde_json::from_value(request).map_err(|error| RunError::damaged(&file, error.to_string()))?)
    }

    pub(super) fn tables(&self, suite: &Suite, roster: &Roster) -> Result<Vec<BenchTable>, BenchError> {
        Ok(suite.tables(suite.class(&self.class)?, if self.quick { 100 } else { 1 }, &self.agent, roster)?)
    }
}

/// A mean win share with its 95 % interval.
#[expect(clippy::struct_field_names, reason = "the field names are keys of the JSON object")]
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct WinShare {
    pub(crate) win_share: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// The result at one table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct TableResult {
    #[serde(flatten)]
    pub(super) mean: WinShare,
    pub(super) matches: u64,
    /// The matches that the agent forfeited by a fault. They count as losses.
    pub(super) forfeits: u64,
    pub(super) against: BTreeMap<String, WinShare>,
}

/// The exact exploitability in one mini game: the content of a file in `exact`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactResult {
    pub(super) game: String,
    /// `None` if the agent cannot play the game.
    pub(super) exploitability: Option<f64>,
    pub(super) error: Option<String>,
}

/// The best responder. The deals that chose it are not the deals of its result.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct RobustResult {
    pub(super) responder: String,
    pub(super) matches: u64,
    pub(super) responder_wins: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// The one-sided 95 % lower limit of the win share.
    pub(super) at_least: Option<f64>,
}

impl RobustResult {
    pub(crate) fn wins(&self) -> WinShare {
        WinShare { win_share: self.responder_wins, low: self.low, high: self.high }
    }
}

/// The time of the agent's decisions in the duel. It depends on the machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct DecisionTime {
    pub(crate) ms: f64,
    /// The time divided by the time of the slower search of the class in the same run.
    pub(crate) of_class: f64,
}

/// The result of a benchmark: the content of `result.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BenchResult {
    #[serde(flatten)]
    pub(crate) request: BenchRequest,
    /// Whether every part is complete.
    pub(crate) complete: bool,
    /// By part, then by table.
    pub(crate) parts: BTreeMap<String, BTreeMap<String, TableResult>>,
    pub(crate) exact: BTreeMap<String, Option<f64>>,
    /// Why a mini game has no exploitability.
    pub(crate) exact_errors: BTreeMap<String, String>,
    pub(crate) robust: Option<RobustResult>,
    /// Why no responder was trained.
    pub(crate) robust_error: Option<String>,
    pub(crate) time: Option<DecisionTime>,
}

impl BenchResult {
    /// Computes the result from the files of the complete parts.
    pub(super) fn of(bench: &Bench<'_>) -> Result<BenchResult, BenchError> {
        let Bench { folder, suite, request, agent, tables, roster } = bench;
        let (class, agent) = (suite.class(&request.class)?, agent.label());
        let mut result = BenchResult {
            complete: true,
            parts: BTreeMap::new(),
            exact: BTreeMap::new(),
            exact_errors: BTreeMap::new(),
            robust: None,
            robust_error: None,
            time: None,
            request: request.clone(),
        };
        let wanted = plans(tables, roster)?;
        let mut first: Option<StoredRun> = None;
        for (table, wanted) in tables.iter().zip(wanted) {
            let Some(stored) = bench.stored(table, &wanted)?.filter(StoredRun::is_complete) else {
                result.complete = false;
                continue;
            };
            let path = &stored.path;
            let found = table_result(table, &agent, &stored)?
                .ok_or_else(|| RunError::damaged(path, format!("it is not the run `{}` of {agent}", table.name)))?;
            if table.part == "duel" {
                result.time = decision_time(&stored, &agent, [&class.rollout, &class.lookahead], roster)?;
            }
            result.parts.entry(table.part.clone()).or_default().insert(table.name.clone(), found);
            if let Some(first) = first.as_ref().filter(|first| !stored.has_files_of(first)) {
                let what = format!("the files of its agent are not those in {}", first.path.display());
                return Err(RunError::damaged(path, what).into());
            }
            first.get_or_insert(stored);
        }
        for game in &suite.exact.games {
            let file = exact_file(folder, game);
            if file.exists() {
                let ExactResult { exploitability, error, .. } = read_json(&file)?;
                result.exact.insert(game.clone(), exploitability);
                result.exact_errors.extend(error.map(|error| (game.clone(), error)));
            } else {
                result.complete = false;
            }
        }
        result.robust_error = Responder::of(bench)?.refusal();
        if result.robust_error.is_none() {
            result.add_robust(folder)?;
        }
        Ok(result)
    }

    /// The content of `result.json`.
    #[expect(clippy::missing_panics_doc, reason = "a result can be written as JSON")]
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a result can be written as JSON") + "\n"
    }

    /// Fails if the file `result.json` of a folder does not have this result.
    pub(super) fn check_file(&self, folder: &Path) -> Result<(), RunError> {
        let file = folder.join(RESULT);
        if read_text(&file).map_err(RunError::unreadable(&file))? == self.line() {
            return Ok(());
        }
        let what = "it is not the result of the runs in this version; `cambio bench --resume` writes it again";
        Err(RunError::damaged(&file, what))
    }

    fn add_robust(&mut self, folder: &Path) -> Result<(), BenchError> {
        let mut best: Option<(f64, RobustResult)> = None;
        for name in RESPONDERS {
            let Some(path) = trained(folder, name) else {
                self.complete = false;
                return Ok(());
            };
            let stored = StoredResponder::read(&path);
            let StoredResponder { selected, bound, .. } =
                stored.map_err(|error| RunError::damaged(&path, error.to_string()))?;
            let row = bound.first().ok_or("a responder without a result")?;
            if best.as_ref().is_none_or(|(other, _)| selected > *other) {
                let responder = format!("from {name}");
                let &JudgedRow { matches, win_share: responder_wins, low, high, at_least, .. } = row;
                best = Some((selected, RobustResult { responder, matches, responder_wins, low, high, at_least }));
            }
        }
        self.robust = best.map(|(_, robust)| robust);
        Ok(())
    }

    /// The mean over the tables of a part. Its interval is the mean of theirs, which is wide enough however the tables are
    /// correlated. `None` if the part is not complete.
    pub(crate) fn part(&self, part: &str) -> Option<WinShare> {
        let tables: Vec<&WinShare> = self.parts.get(part)?.values().map(|table| &table.mean).collect();
        let mean = |of: &dyn Fn(&WinShare) -> Option<f64>| {
            let values = tables.iter().map(|table| of(table)).collect::<Option<Vec<f64>>>()?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        let win_share = mean(&|share| Some(share.win_share))?;
        Some(WinShare { win_share, low: mean(&|share| share.low), high: mean(&|share| share.high) })
    }

    /// The share of a part's matches that the agent forfeited.
    pub(crate) fn forfeited(&self, part: &str) -> f64 {
        let tables = self.parts.get(part).into_iter().flat_map(BTreeMap::values);
        let (forfeits, matches) =
            tables.fold((0, 0), |(forfeits, matches), table| (forfeits + table.forfeits, matches + table.matches));
        forfeits as f64 / matches.max(1) as f64
    }

    /// The mean exploitability in the games that the agent can play, and their number.
    pub(crate) fn exploitability(&self) -> Option<(f64, usize)> {
        let known: Vec<f64> = self.exact.values().flatten().copied().collect();
        (!known.is_empty()).then(|| (known.iter().sum::<f64>() / known.len() as f64, known.len()))
    }
}

/// Reads a file of a benchmark.
pub(super) fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, RunError> {
    let text = read_text(file).map_err(RunError::unreadable(file))?;
    serde_json::from_str(&text).map_err(|error| RunError::damaged(file, error.to_string()))
}

/// The result of a run: the agent's share of the wins minus its luck, in total and against each opponent. Intervals are
/// clustered by deal. `None` if it is not a run of this table.
fn table_result(table: &BenchTable, agent: &str, stored: &StoredRun) -> Result<Option<TableResult>, RunError> {
    // A share is stored in millionths of a win, like the luck.
    const UNITS: f64 = LuckShare::UNITS as f64;
    let number = stored.plan.agent(agent);
    let (mut total, mut matches, mut forfeits) = (BTreeMap::<u64, (i64, i64)>::new(), 0, 0);
    let mut against: BTreeMap<String, Moments> = BTreeMap::new();
    for read in stored.blocks()? {
        let (block, rows) = read?;
        let opponent = block.lineup.agents().iter().find(|&&other| Some(other) != number);
        let opponent = opponent.map(|&other| stored.plan.agents[other].label.clone()).unwrap_or_default();
        let (mut count, mut sum) = (0, 0);
        for row in rows.players.iter().filter(|row| row.agent == agent) {
            count += 1;
            matches += 1;
            sum += (UNITS * row.win_share).round_ties_even() as i64 - i64::from(row.luck.units().unwrap_or(0));
            forfeits += u64::from(row.total.is_none());
        }
        against.entry(opponent).or_default().add(count, sum);
        let (counts, sums) = total.entry(block.deal).or_default();
        (*counts, *sums) = (*counts + count, *sums + sum);
    }
    let mut all = Moments::default();
    for &(count, sum) in total.values() {
        all.add(count, sum);
    }
    let support = if stored.plan.measures_luck() { Support::Share.without_luck() } else { Support::Share };
    let Some(mean) = all.interval(UNITS, support) else { return Ok(None) };
    let share = |interval: &Interval| {
        let win_share = interval.mean;
        // Student's interval of a share without luck can exceed the possible shares.
        let within = |end: f64| end.clamp(win_share.min(0.0), win_share.max(1.0));
        WinShare { win_share, low: interval.low().map(within), high: interval.high().map(within) }
    };
    let against: BTreeMap<String, WinShare> = against
        .iter()
        .filter_map(|(name, sums)| Some((name.clone(), share(&sums.interval(UNITS, support)?))))
        .collect();
    let is_of = |opponent: &String| opponent == agent || against.contains_key(opponent);
    if !table.opponents.iter().all(is_of) {
        return Ok(None);
    }
    // The agent would get an equal share against copies of itself.
    let (played, of, par) = (against.len() as f64, table.opponents.len() as f64, 1.0 / table.seats as f64);
    let with_itself = |share: f64| (played * share + (of - played) * par) / of;
    let WinShare { win_share, low, high } = share(&mean);
    let mean = WinShare { win_share: with_itself(win_share), low: low.map(with_itself), high: high.map(with_itself) };
    Ok(Some(TableResult { mean, matches, forfeits, against }))
}

fn decision_time(
    stored: &StoredRun,
    agent: &str,
    searches: [&String; 2],
    roster: &Roster,
) -> Result<Option<DecisionTime>, SpecError> {
    let time = |label: &str| stored.timing.agent(0, stored.plan.agent(label)?)?.per_decision();
    let mut of_class: Option<f64> = None;
    for search in searches {
        let spent = time(&roster.parse(search)?.to_string());
        of_class = if spent > of_class { spent } else { of_class };
    }
    let known = time(agent).zip(of_class);
    Ok(known.map(|(own, of_class)| DecisionTime { ms: 1000.0 * own, of_class: own / of_class }))
}
