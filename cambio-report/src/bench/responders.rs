//! Responders: networks that learn to beat the agent of a benchmark.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cambio_agents::{AgentSpec, Roster};
use cambio_core::Rules;
use cambio_exec::{CancelToken, Executor, ExecutorError, FileError, thread_cpu_time};
use cambio_learn::{LearnError, LearnFolder, LearnThreads, Learner, Recipe, StoredResponder, starting_network};
use cambio_sim::{CheckOutcome, PlanError, Worker, read_rules};

use super::suite::RobustPart;
use super::{Bench, BenchCheck, BenchError, Note, plain};

/// The folder of the responders.
const ROBUST: &str = "robust";
/// What each responder starts from.
pub(super) const RESPONDERS: [&str; 2] = ["shipped", "nothing"];

/// The folder of a responder; `None` if its training is not complete.
pub(super) fn trained(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(ROBUST).join(name);
    (path.join("bound.csv").exists() && !path.join("checkpoint").exists()).then_some(path)
}

/// The share of the training time in which the number of matches is measured.
const PILOT: f64 = 0.05;

/// Trains the missing responders, each on one core, if the agent can take part in training. Returns whether it was not interrupted.
pub(super) fn train(bench: &Bench<'_>, executor: &Executor, note: Note<'_>) -> Result<bool, BenchError> {
    let (part, responder) = (&bench.suite.robust, Responder::of(bench)?);
    if let Some(refusal) = responder.refusal() {
        note(&format!("no responder can be trained: {refusal}"));
        return Ok(true);
    }
    let folder = bench.folder.join(ROBUST);
    std::fs::create_dir_all(&folder).map_err(FileError::unwritable(&folder))?;
    let seconds = if bench.request.quick { part.seconds / 100.0 } else { part.seconds };
    let cancel = executor.cancel_token();
    let work = |number: u64, _: &Worker<'_>| {
        let name = RESPONDERS[number as usize];
        let trained = responder.train(&folder.join(name), name, seconds, &cancel, note);
        match trained {
            Err(LearnError::Interrupted) => None,
            trained => Some(trained),
        }
    };
    let all = 0..RESPONDERS.len() as u64;
    match executor.run_watched(all, &mut (), work, |(), _, trained| trained, |(), _| Ok(())) {
        Ok(()) => Ok(true),
        Err(ExecutorError::Cancelled) => Ok(false),
        Err(ExecutorError::Failed(error)) => Err(error.into()),
    }
}

pub(super) struct Responder<'a> {
    part: &'a RobustPart,
    rules: Rules,
    agent: &'a AgentSpec,
    roster: &'a Roster,
}

impl<'a> Responder<'a> {
    pub(super) fn of(bench: &'a Bench<'_>) -> Result<Responder<'a>, PlanError> {
        let part = &bench.suite.robust;
        Ok(Responder {
            part,
            rules: read_rules(&part.rules, Path::new("."))?,
            agent: &bench.agent,
            roster: bench.roster,
        })
    }

    /// Why no responder to the agent can be trained; `None` if one can.
    pub(super) fn refusal(&self) -> Option<String> {
        self.learner("shipped").err().map(|error| plain(&error.to_string()))
    }

    fn recipe(&self, from: &str) -> Result<Recipe, LearnError> {
        let recipe = Recipe::exploiting(&self.agent.to_string(), &self.part.rules, self.part.seats);
        if from == "nothing" {
            return Ok(recipe);
        }
        let (_, facts) = starting_network(Recipe::SHIPPED, &self.rules, &[self.part.seats])?;
        Ok(recipe.going_on_from(Recipe::SHIPPED, &facts))
    }

    fn learner(&self, from: &str) -> Result<Learner, LearnError> {
        let recipe = self.recipe(from)?;
        let start =
            recipe.from.as_deref().map(|from| starting_network(from, &self.rules, &recipe.seats)).transpose()?;
        Learner::new(recipe, &self.rules, self.roster, start.as_ref().map(|(network, _)| network))
    }

    /// The number of matches in this training time on one core of this machine. The first generation is not measured. The
    /// time is CPU time, so that other programs do not shorten the training, or wall time if the system has no CPU time.
    fn matches_in(&self, from: &str, seconds: f64, thread: &LearnThreads) -> Result<u64, LearnError> {
        let mut learner = self.learner(from)?;
        learner.step(thread)?;
        let (wall, cpu, before) = (Instant::now(), thread_cpu_time(), learner.matches());
        let spent = || {
            let cpu = cpu.zip(thread_cpu_time()).map(|(begun, now)| now.saturating_sub(begun));
            cpu.unwrap_or_else(|| wall.elapsed()).as_secs_f64()
        };
        while spent() < PILOT * seconds && learner.step(thread)?.is_some() {}
        let rate = (learner.matches() - before) as f64 / spent();
        Ok(((rate * seconds) as u64).max(1))
    }

    /// Fails if the folder is not a complete training of this responder, or its evaluations have other results.
    fn check(&self, path: &Path, from: &str) -> Result<(), LearnError> {
        let stored = StoredResponder::read(path)?;
        let recipe = &stored.recipe;
        let wanted = Recipe { inputs: recipe.inputs.clone(), ..self.recipe(from)?.lasting(recipe.matches) };
        if *recipe != wanted {
            return Err(LearnError::Folder("its recipe is not the recipe of the benchmark".to_owned()));
        }
        stored.verify(path, &self.rules, self.roster, &LearnThreads::new(0, &CancelToken::new())?)
    }

    /// Trains a responder to the end, or continues its training.
    fn train(
        &self,
        path: &Path,
        from: &str,
        seconds: f64,
        cancel: &CancelToken,
        note: Note<'_>,
    ) -> Result<(), LearnError> {
        if StoredResponder::read(path).is_ok() {
            return Ok(());
        }
        let threads = LearnThreads::new(1, cancel)?;
        let mut folder = if path.exists() {
            LearnFolder::resume(path, None, &self.rules, self.roster)?
        } else {
            let matches = threads.install(|| self.matches_in(from, seconds, &threads))?;
            note(&format!("responder from {from}: {matches} matches"));
            LearnFolder::create(path, self.recipe(from)?.lasting(matches), &self.rules, self.roster)?
        };
        while folder.step(&threads)?.is_some() {}
        let row = folder.bound().first().expect("a responder plays fresh deals at the end");
        note(&format!("responder from {from}: wins {:.1} % of the fresh deals", 100.0 * row.win_share));
        Ok(())
    }
}

/// Checks the recipe and the networks of each responder, and repeats their evaluations.
pub(super) fn verify(bench: &Bench<'_>) -> Result<Vec<BenchCheck>, BenchError> {
    let responder = Responder::of(bench)?;
    if responder.refusal().is_some() {
        return Ok(vec![BenchCheck::new("responders", CheckOutcome::Verified, "cannot be trained")]);
    }
    let check = |from: &str| {
        let name = format!("responder from {from}");
        let Some(path) = trained(&bench.folder, from) else { return BenchCheck::missing(&name) };
        if let Err(error) = responder.check(&path, from) {
            return BenchCheck::wrong(&name, &error.to_string());
        }
        let what = "verified, except its training and curve.csv, which this command repeats:";
        let command = format!("cambio learn {}/recipe.toml --out OTHER", path.display());
        BenchCheck::new(&name, CheckOutcome::Verified, format_args!("{what}\n    {command}"))
    };
    Ok(RESPONDERS.into_iter().map(check).collect())
}
