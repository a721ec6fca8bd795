//! `cambio report --review`: the costliest decisions of a run, with replays.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_core::Seat;
use cambio_exec::{Executor, Worker, build_aside, write_whole};
use cambio_report::{ReviewTable, of_review};
use cambio_sim::{StoredRun, decision_kind, read_seed};
use cambio_view::{DecisionCost, Replay, ReviewProgress, review};

use crate::exit::{CliResult, Exit};
use crate::progress::ProgressDisplay;
use crate::run::{refuse_existing, stop_on_signal};
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
}

/// A match of the sample, reviewed.
struct ReviewedMatch {
    /// The number of the match: its row in `matches.csv`, counted from 1.
    number: u64,
    replay: Replay,
    rounds: Vec<ReviewProgress>,
}

/// The number of a match, its block and its rotation.
type SampledMatch = (u64, u64, usize);

/// The number of a match, the number of a round, and the cost of a decision.
type PlacedCost<'r> = (u64, usize, DecisionCost<'r>);

/// Reviews a sample of the matches of `stored`, and writes the pages into the folder `out`.
pub(super) fn run(args: &ReviewArgs, stored: &StoredRun, out: &Path, roster: &Roster) -> CliResult {
    refuse_existing("--review", out)?;
    let sample = sample(stored, args)?;
    let of = sample.len() as u64;
    let executor = Executor::new(0)?.with_cancel(stop_on_signal(Exit::Failed)?);
    let progress = ProgressDisplay::matches(of, false);
    let mut reviewed: Vec<ReviewedMatch> = Vec::new();
    let work = |index: u64, worker: &Worker<'_>| {
        let which @ (number, ..) = sample[index as usize];
        let reviewed = review_match(which, stored, roster, &|| !worker.is_stopped());
        worker.count(1);
        Some(reviewed.map_err(|error| format!("match {number}: {error}")))
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
    let tables = tables(&reviewed);
    let decisions: usize = reviewed.iter().flat_map(|one| &one.rounds).map(|round| round.costs().count()).sum();
    let (all, decisions) = (stored.matches(), count(decisions as u64, "decision"));
    let facts =
        format!("{} of {all}, sample {}; analysed: {decisions} with a choice.", count(of, "match"), args.sample);
    let mut text = stdout();
    writeln!(text, "{facts}")?;
    for ReviewTable { title, facts, rows } in &tables {
        writeln!(text, "\n{}: {facts}", plain(title))?;
        for [action, cost, best, place, _] in rows {
            writeln!(text, "  {cost:>12}  {action:<14} better: {best:<12} {place}")?;
        }
    }
    let title = if stored.plan.name.is_empty() { "A Cambio experiment" } else { &stored.plan.name };
    let page = of_review(title, facts, tables).html();
    build_aside(out, |folder| {
        for ReviewedMatch { number, replay, rounds } in &reviewed {
            write_whole(&folder.join(format!("match-{number}.html")), replay.page(rounds).as_bytes())?;
        }
        write_whole(&folder.join("index.html"), page.as_bytes())
    })?;
    say!("open {}", out.join("index.html").display());
    Ok(Exit::Done)
}

/// Chooses matches of a run at random, with their numbers: those with the lowest hashes. The choice depends only on the run and
/// the number of the sample.
fn sample(stored: &StoredRun, args: &ReviewArgs) -> Result<Vec<SampledMatch>, Box<dyn std::error::Error>> {
    let begin = format!("cambio review {} {}", stored.plan.run_id(), args.sample);
    let (mut chosen, mut before) = (BTreeMap::new(), 0);
    for read in stored.blocks()? {
        let (block, rows) = read?;
        for row in &rows.matches {
            let (number, rotation) = (before + row.key.rotation as u64 + 1, row.key.rotation);
            // A forfeited match has no record.
            if rows.players.iter().any(|player| player.key.rotation == rotation && player.forfeit) {
                continue;
            }
            let hash = read_seed(&format!("{begin} {number}"))?.to_string();
            chosen.insert(hash, (number, block.number, rotation));
            if chosen.len() as u64 > args.matches {
                chosen.pop_last();
            }
        }
        before += block.cell.seatings.len() as u64;
    }
    let mut chosen: Vec<_> = chosen.into_values().collect();
    if chosen.is_empty() {
        return Err(format!("{} has no matches to review yet", stored.path.display()).into());
    }
    chosen.sort_by_key(|(number, ..)| *number);
    Ok(chosen)
}

/// Plays a match again and reviews its rounds.
fn review_match(
    (number, block, rotation): SampledMatch,
    stored: &StoredRun,
    roster: &Roster,
    goes_on: &dyn Fn() -> bool,
) -> Result<ReviewedMatch, String> {
    let record = stored.replay(block, rotation, roster)?;
    let replay = Replay::of(&record).map_err(|flaw| flaw.to_string())?;
    let review = |round| review(&record, round, ReviewProgress::PLAYOUTS, &mut |_| goes_on());
    let rounds: Option<Vec<_>> = (1..=record.rounds.len()).map(review).collect();
    Ok(ReviewedMatch { number, replay, rounds: rounds.ok_or("interrupted")? })
}

/// The costliest decisions by agent and kind, the greatest sum of costs first.
fn tables(reviewed: &[ReviewedMatch]) -> Vec<ReviewTable> {
    let mut kinds: BTreeMap<(&str, &str), Vec<PlacedCost<'_>>> = BTreeMap::new();
    for ReviewedMatch { number, replay, rounds } in reviewed {
        for (index, round) in rounds.iter().enumerate() {
            for cost in round.costs() {
                let seat = Seat::from_letter(cost.by).expect("a seat has a letter");
                let kind = (replay.agents[seat.index()].as_str(), decision_kind(cost.phase));
                kinds.entry(kind).or_default().push((*number, index + 1, cost));
            }
        }
    }
    let table = |((agent, kind), mut decisions): ((&str, &str), Vec<PlacedCost<'_>>)| {
        let sum: f64 = decisions.iter().map(|(.., one)| one.cost).sum();
        let (mean, all) = (100.0 * sum / decisions.len() as f64, count(decisions.len() as u64, "decision"));
        decisions.sort_by(|(.., one), (.., other)| other.cost.total_cmp(&one.cost));
        decisions.retain(|(.., one)| one.cost > one.half);
        let row = |(number, round, one): &PlacedCost<'_>| {
            let DecisionCost { decision, by, action, best, cost, half, .. } = one;
            [
                (*action).to_owned(),
                format!("{:.1} ± {:.1}", 100.0 * cost, 100.0 * half),
                (*best).to_owned(),
                format!("match {number}, round {round}, decision {decision}, seat {by}"),
                format!("match-{number}.html#round={round}&decision={decision}"),
            ]
        };
        let rows: Vec<[String; 5]> = decisions.iter().take(LISTED_DECISIONS).map(row).collect();
        let facts = format!("{all} with a choice; mean cost {mean:.2} wins in 100.");
        (!rows.is_empty()).then(|| (sum, ReviewTable { title: format!("{agent}, {kind}"), facts, rows }))
    };
    let mut tables: Vec<(f64, ReviewTable)> = kinds.into_iter().filter_map(table).collect();
    tables.sort_by(|one, other| other.0.total_cmp(&one.0));
    tables.into_iter().map(|(_, table)| table).collect()
}
