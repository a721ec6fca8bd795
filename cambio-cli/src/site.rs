//! `cambio report --site`: a run as one file for the site without a server (scripts/website.py), on which readers replay matches of
//! the run in their browsers and compare them with the results.

use std::path::Path;

use cambio_core::rng::Seed;
use cambio_core::rules::PRESETS;
use cambio_core::{Rules, Seat};
use cambio_sim::{Cell, StoredRun};
use cambio_view::Catalogue;
use serde_json::json;

use crate::exit::{CliResult, Exit};
use crate::output::OutputFile;

/// The maximum number of matches in a file for the site, because a page loads the whole file: 24 bytes for each match.
const MAX_MATCHES: u64 = 200_000;

/// A table of a run as its matches can be played again. `rules` is the name of a preset, which is changed so that a match has one
/// round if `one_round` is true, or a rule file. A lineup is the indices of its agents, a seating the place in the lineup of the agent
/// in each seat.
fn published(cell: &Cell) -> serde_json::Value {
    let preset = |name: &&str| {
        let preset = Rules::preset(name).ok()?;
        let is_round = preset != cell.rules;
        (!is_round || preset.of_one_round() == cell.rules).then(|| ((*name).to_owned(), is_round))
    };
    let file = || (cell.rules.spec().to_toml(), false);
    let (rules, one_round) = PRESETS.iter().find_map(preset).unwrap_or_else(file);
    let lineups: Vec<&[usize]> = cell.lineups.iter().map(cambio_sim::Lineup::agents).collect();
    let name = cell.rules.name();
    json!({ "name": name, "rules": rules, "one_round": one_round, "lineups": lineups, "seatings": cell.seatings })
}

/// Writes a run as one file: the facts from which its matches can be played again, and the winners and the fingerprint of each match,
/// ordered by table, deal, lineup and seating.
pub(super) fn write(stored: &StoredRun, out: &Path) -> CliResult {
    let file = OutputFile::reserve(out)?;
    let plan = &stored.plan;
    // The agents of the page: this program may have other agents.
    let catalogue = Catalogue::of_browser(cambio_agents::roster());
    for agent in &plan.agents {
        catalogue.agent(&agent.spec).map_err(|error| format!("a page cannot replay this run: {error}"))?;
    }
    let (matches, all) = (stored.matches(), plan.matches());
    if matches != all {
        let why = if stored.is_complete() { "faults removed the others" } else { "`cambio run --resume` continues it" };
        return Err(format!("the run must have all its {all} matches, found {matches}; {why}").into());
    }
    if matches > MAX_MATCHES {
        return Err(format!(
            "the run must have at most {MAX_MATCHES} matches, found {matches}; publish a run of fewer deals"
        )
        .into());
    }
    let mut rows = Vec::new();
    for block in stored.blocks()? {
        rows.extend(block?.1.matches.iter().map(|row| {
            let winners: String = row.winners.iter_from(Seat::A).map(Seat::letter).collect();
            format!("{winners} {}", row.fingerprint)
        }));
    }
    let agents: Vec<&str> = plan.agents.iter().map(|agent| agent.spec.as_str()).collect();
    let mut run = json!({
        "format": "cambio-published-run/1", "title": if plan.name.is_empty() { "A Cambio experiment" } else { &plan.name },
        "run_id": plan.run_id(), "program": stored.program(), "seed": plan.seed.to_string(),
        "agent_seed": plan.agent_seed.to_string(), "deals": plan.deals, "agents": agents,
        "tables": plan.cells.iter().map(published).collect::<Vec<_>>(), "rows": rows,
    });
    if let Some(fields) = run.as_object_mut().filter(|_| plan.agent_seed == Seed::AGENTS) {
        fields.shift_remove("agent_seed");
    }
    file.write(|file| writeln!(file, "{run}"))?;
    Ok(Exit::Done)
}
