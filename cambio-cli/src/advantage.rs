//! `cambio advantage`.

use std::io::Write as _;

use cambio_agents::Roster;
use cambio_sim::digest::few_deals_note;
use cambio_sim::{AdvantageOptions, AdvantageResult};
use cambio_stats::Interval;

use crate::exit::CliResult;
use crate::say::count;
use crate::study::PrintedStudy;
use crate::tables::ALL_AGREE;

pub(super) type Args = PrintedStudy<AdvantageOptions>;

pub(super) fn run(args: &Args, roster: &Roster) -> CliResult {
    args.play(|driver| args.options.run(roster, driver), AdvantageResult::to_json, print)
}

/// A mean with its interval, in percent of a win. If all deals agree, the interval is not symmetric.
fn percent(interval: &Interval) -> String {
    let text = match (interval.ends(), interval.half_width()) {
        (Some((low, high)), _) if interval.error == Some(0.0) => {
            format!("({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
        }
        (_, Some(half)) => format!("± {:.2}", 100.0 * half),
        _ => "± –".to_owned(),
    };
    format!("{:+7.2} {text}", 100.0 * interval.mean)
}

fn print(worth: &AdvantageResult, out: &mut Vec<u8>) -> std::io::Result<()> {
    let AdvantageResult { options, rules, agent, deals, .. } = worth;
    let (over, seats) = (&options.over, options.table.seats());
    writeln!(out, "{agent} against {over} on {rules}, {seats} seats, {}", count(*deals, "deal"))?;
    writeln!(out, "decision         per round     differs   gain in win share, %")?;
    for asked in &worth.asked {
        let share = 100.0 * asked.otherwise / asked.times;
        writeln!(out, "{:<17} {:8.2} {share:9.1} %   {}", asked.what, asked.times, percent(&asked.advantage))?;
    }
    writeln!(out, "all decisions                          {}", percent(&worth.decisions))?;
    writeln!(out, "results: win share minus 1 / seats     {}", percent(&worth.results))?;
    writeln!(out)?;
    writeln!(out, "per round: number of decisions; differs: share of them that differ from {over}'s;")?;
    writeln!(out, "gain: per round, from the decisions that differ, if {over} plays the rest of")?;
    writeln!(out, "the round in all seats; 95 % intervals, clustered by deal.")?;
    write!(out, "{}", few_deals_note(std::iter::once(*deals)))?;
    if worth.asked.iter().any(|asked| asked.advantage.error == Some(0.0)) {
        writeln!(out, "–: {ALL_AGREE}.")?;
    }
    Ok(())
}
