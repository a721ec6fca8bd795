//! `cambio report --review`: the costliest decisions of a run, with replays.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Seat;
use cambio_exec::{Executor, Worker, build_aside, write_whole};
use cambio_sim::{StoredMatch, StoredRun, decision_kind};
use cambio_view::{DecisionCost, Replay, ReviewProgress, ReviewRequest, VIEWER_CSS, review};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::run::{refuse_existing, stop_on_signal, threads};
use crate::say::{count, plain, say, stdout};

/// The number of decisions that are listed for each agent and kind of decision.
const LISTED_DECISIONS: usize = 3;

#[derive(Debug, clap::Args)]
pub(super) struct ReviewArgs {
    /// List the costliest decisions of the agents instead: analyse every decision in a random sample of matches, as the viewer
    /// does, and write a page and a replay of each match into this folder, which must not exist. Takes seconds for each round,
    /// and starts the bots of the run
    #[arg(long, value_name = "DIR", conflicts_with = "dry")]
    pub(super) review: Option<PathBuf>,
    /// With --review: the number of matches in the random sample
    #[arg(long, value_name = "N", default_value_t = 10, requires = "review", value_parser = clap::value_parser!(u64).range(1..=1000))]
    matches: u64,
    /// With --review: the number of the sample; another number gives other matches
    #[arg(long, value_name = "N", default_value_t = 0, requires = "review")]
    sample: u64,
    /// With --review: the number of threads; 0 means one for each core. The result does not depend on this number
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads, requires = "review")]
    threads: usize,
    /// With --review: do not show progress
    #[arg(long, short, requires = "review")]
    quiet: bool,
}

/// A match of the sample, reviewed.
struct ReviewedMatch {
    page: String,
    agents: Vec<String>,
    rounds: Vec<ReviewProgress>,
}

/// The reviewed decisions of one agent and kind.
#[derive(Serialize)]
struct DecisionGroup {
    agent: String,
    kind: &'static str,
    facts: String,
    decisions: Vec<ListedDecision>,
    #[serde(skip)]
    sum: f64,
}

#[derive(Serialize)]
struct ListedDecision {
    /// The number of the match: its row in `matches.csv`, counted from 1.
    number: u64,
    round: usize,
    decision: usize,
    by: char,
    action: String,
    best: String,
    cost: String,
    #[serde(skip)]
    mean: f64,
    /// Whether the interval of the cost is above 0.
    #[serde(skip)]
    is_costly: bool,
}

/// Reviews a sample of the matches of `stored`, and writes the pages into the folder `out`.
pub(super) fn run(args: &ReviewArgs, stored: &StoredRun, out: &Path, roster: &Roster) -> CliResult {
    refuse_existing("--review", out)?;
    let title = if stored.plan.name.is_empty() { "A Cambio experiment" } else { &stored.plan.name };
    let sample: Vec<(u64, StoredMatch)> = sample(stored, args)?.into_iter().collect();
    let of = sample.len() as u64;
    let executor = Executor::new(args.threads)?.with_cancel(stop_on_signal(Exit::Failed)?);
    let progress = ProgressDisplay::matches(of, args.quiet);
    let mut reviewed: Vec<ReviewedMatch> = Vec::new();
    let work = |index: u64, worker: &Worker<'_>| {
        let (number, which) = &sample[index as usize];
        let reviewed = review_match(which, &stored.path, roster, &|| !worker.is_stopped());
        worker.count(1);
        reviewed.map_err(|error| format!("match {number}: {error}")).transpose()
    };
    let commit = |all: &mut Vec<ReviewedMatch>, _, reviewed: Result<ReviewedMatch, String>| {
        all.push(reviewed?);
        Ok(())
    };
    let done = executor.run_watched(0..of, &mut reviewed, work, commit, |_, done| {
        progress.position(0, done, of);
        progress.status(|| if progress.has_bar() { String::new() } else { format!("{done} of {of} matches") });
        Ok::<(), String>(())
    });
    progress.finish();
    done.map_err(|stopped| stopped.or("interrupted without a result".to_owned()))?;
    let numbered = || sample.iter().map(|(number, _)| *number).zip(&reviewed);
    let groups = groups(numbered());
    let decisions: usize = reviewed.iter().flat_map(|one| &one.rounds).map(|round| round.costs().count()).sum();
    let facts = format!(
        "{} of {}, sample {}; analysed: {} with a choice.",
        count(of, "match"),
        stored.matches(),
        args.sample,
        count(decisions as u64, "decision")
    );
    build_aside(out, |folder| {
        for (number, ReviewedMatch { page, .. }) in numbered() {
            write_whole(&folder.join(format!("match-{number}.html")), page.as_bytes())?;
        }
        write_whole(&folder.join("index.html"), page(title, &facts, &groups).as_bytes())
    })?;
    print(&groups, &facts)?;
    say!("open {}", out.join("index.html").display());
    Ok(Exit::Done)
}

/// Chooses matches of a run at random, with their numbers. The choice depends only on the run and the number of the sample.
fn sample(stored: &StoredRun, args: &ReviewArgs) -> Result<BTreeMap<u64, StoredMatch>, Box<dyn std::error::Error>> {
    let all = stored.matches();
    if all == 0 {
        return Err(format!("{} has no matches yet", stored.path.display()).into());
    }
    let mut numbers = BTreeSet::new();
    let begin = format!("cambio review {} {}", stored.plan.run_id(), args.sample);
    for draw in 0_u64.. {
        if numbers.len() as u64 == args.matches.min(all) {
            break;
        }
        let hash = blake3::hash(format!("{begin} {draw}").as_bytes());
        let bits = u128::from_le_bytes(hash.as_bytes()[..16].try_into().expect("a hash has 32 bytes"));
        numbers.insert((bits % u128::from(all)) as u64 + 1);
    }
    let (mut chosen, mut number) = (BTreeMap::new(), 0);
    for block in stored.blocks()? {
        for row in &block?.1.matches {
            number += 1;
            if numbers.contains(&number) {
                chosen.insert(number, StoredMatch::from(row.key));
            }
        }
    }
    Ok(chosen)
}

/// Plays a match again and reviews its rounds; `None` if the review is stopped.
fn review_match(
    which: &StoredMatch,
    folder: &Path,
    roster: &Roster,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<ReviewedMatch>, String> {
    let run = StoredRun::open(folder).map_err(|error| error.to_string())?;
    let record = which.play(run, roster).map_err(|error| error.to_string())?;
    let replay = Replay::of(&record).map_err(|flaw| flaw.to_string())?;
    let mut rounds = Vec::new();
    for round in 1..=record.rounds.len() {
        match review(&record, round, ReviewRequest::PLAYOUTS, &mut |_| goes_on()) {
            Some(progress) => rounds.push(progress),
            None => return Ok(None),
        }
    }
    Ok(Some(ReviewedMatch { page: replay.page_with(&rounds), agents: replay.agents, rounds }))
}

/// The costliest decisions by agent and kind, the groups with the greatest sum of costs first.
fn groups<'r>(reviewed: impl Iterator<Item = (u64, &'r ReviewedMatch)>) -> Vec<DecisionGroup> {
    let mut groups: BTreeMap<(&str, &'static str), Vec<ListedDecision>> = BTreeMap::new();
    for (number, ReviewedMatch { agents, rounds, .. }) in reviewed {
        for (round, progress) in rounds.iter().enumerate() {
            for DecisionCost { decision, by, phase, action, best, cost, half } in progress.costs() {
                let listed = ListedDecision {
                    number,
                    round: round + 1,
                    decision,
                    by,
                    action: action.to_owned(),
                    best: best.to_owned(),
                    cost: format!("{:.1} ± {:.1}", 100.0 * cost, 100.0 * half),
                    mean: cost,
                    is_costly: cost > half,
                };
                let seat = Seat::from_letter(by).expect("a seat has a letter");
                groups.entry((&agents[seat.index()], decision_kind(phase))).or_default().push(listed);
            }
        }
    }
    let group = |((agent, kind), mut decisions): ((&str, &'static str), Vec<ListedDecision>)| {
        let sum: f64 = decisions.iter().map(|one| one.mean).sum();
        let mean = 100.0 * sum / decisions.len() as f64;
        let facts =
            format!("{} with a choice; mean cost {mean:.2} wins in 100.", count(decisions.len() as u64, "decision"));
        decisions.sort_by(|one, other| other.mean.total_cmp(&one.mean));
        decisions.retain(|one| one.is_costly);
        decisions.truncate(LISTED_DECISIONS);
        (!decisions.is_empty()).then(|| DecisionGroup { agent: agent.to_owned(), kind, facts, decisions, sum })
    };
    let mut groups: Vec<DecisionGroup> = groups.into_iter().filter_map(group).collect();
    groups.sort_by(|one, other| other.sum.total_cmp(&one.sum));
    groups
}

fn page(title: &str, facts: &str, groups: &[DecisionGroup]) -> String {
    let render = || -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_template("review.html", include_str!("../templates/review.html"))?;
        let view = context! { title, facts, groups => Serde(groups), style => VIEWER_CSS };
        environment.get_template("review.html")?.render(view)
    };
    render().expect("the template is valid and uses only defined variables")
}

fn print(groups: &[DecisionGroup], facts: &str) -> std::io::Result<()> {
    let mut out = stdout();
    writeln!(out, "{facts}")?;
    for DecisionGroup { agent, kind, facts, decisions, .. } in groups {
        writeln!(out, "\n{}, {kind}: {facts}", plain(agent))?;
        for ListedDecision { number, round, decision, by, action, best, cost, .. } in decisions {
            let place = format!("match {number}, round {round}, decision {decision}");
            writeln!(out, "  {cost:>12}  {by} {action:<12} better: {best:<12} {place}")?;
        }
    }
    Ok(())
}
