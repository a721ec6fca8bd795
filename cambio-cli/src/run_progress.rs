//! The progress of a run, and who leads.

use std::cell::Cell;

use cambio_sim::Plan;
use cambio_stats::{Interval, anytime};

use crate::progress::Progress;
use crate::say::say;

/// The progress of a run.
pub(super) struct RunProgress<'p> {
    plan: &'p Plan,
    progress: Progress,
    is_quiet: bool,
    played: Cell<u64>,
}

impl RunProgress<'_> {
    pub(super) fn new(plan: &Plan, is_quiet: bool) -> RunProgress<'_> {
        RunProgress { plan, progress: Progress::matches(plan.matches(), is_quiet), is_quiet, played: Cell::new(0) }
    }

    pub(super) fn show(&self, run: &cambio_sim::Progress<'_>) {
        self.played.set(run.played);
        self.progress.position(run.played, run.of);
        self.progress.status(|| {
            if self.progress.has_bar() {
                return self.leader(run);
            }
            if run.played == 0 {
                return format!("0/{} matches", run.of);
            }
            let rate = run.played as f64 / self.progress.elapsed().as_secs_f64();
            let left = (run.of - run.played) as f64 / rate;
            format!("{}/{} matches, {rate:.0} a second, {left:.0} s left; {}", run.played, run.of, self.leader(run))
        });
    }

    /// The leader of the cell that is being played, with its interval.
    fn leader(&self, run: &cambio_sim::Progress<'_>) -> String {
        let cell = &run.digest.cells[run.cell];
        let payoff = self.plan.payoff;
        let of = |agent: usize| cell.payoff(agent, payoff).map(|interval| (agent, interval));
        let worth = |(_, interval): &(usize, Interval)| payoff.sign() * interval.mean;
        let leader =
            (0..self.plan.agents.len()).filter_map(of).max_by(|one, other| worth(one).total_cmp(&worth(other)));
        leader.map_or_else(String::new, |(agent, interval)| {
            // It is looked at all the time.
            let ends = interval.ends_at(anytime::factor(interval.clusters));
            let half = ends.map(|(low, high)| (interval.mean - low).max(high - interval.mean));
            let half = half.map_or_else(String::new, |half| format!(" ± {half:.3}"));
            let label: String = self.plan.agents[agent].label.chars().take(24).collect();
            let table = &self.plan.cells[run.cell];
            format!(
                "{:.3}{half} {label}, {} {}, {} deals",
                interval.mean,
                table.rules.name(),
                table.seats,
                interval.clusters
            )
        })
    }

    /// Removes the line and prints what was played.
    pub(super) fn finish(&self) {
        self.progress.finish();
        if !self.is_quiet {
            let (played, seconds) = (self.played.get(), self.progress.elapsed().as_secs_f64());
            say!("played {played} matches in {seconds:.1} s, {:.0} a second", played as f64 / seconds);
        }
    }
}
