//! The progress display of a run, which also shows the leading agent.

use std::cell::Cell;

use cambio_sim::Plan;
use cambio_stats::{Interval, anytime};

use crate::progress::ProgressDisplay;
use crate::say::{count, say};

pub(super) struct RunProgressDisplay<'p> {
    plan: &'p Plan,
    progress: ProgressDisplay,
    is_quiet: bool,
    /// The numbers of matches that this process and that earlier processes have played.
    played: Cell<u64>,
    before: u64,
}

impl RunProgressDisplay<'_> {
    /// `before` is the number of matches that are already on disk.
    pub(super) fn new(plan: &Plan, before: u64, is_quiet: bool) -> RunProgressDisplay<'_> {
        let progress = ProgressDisplay::matches(plan.matches(), is_quiet);
        RunProgressDisplay { plan, progress, is_quiet, played: Cell::new(0), before }
    }

    pub(super) fn show(&self, run: &cambio_sim::PlayProgress<'_>) {
        self.played.set(run.played);
        let (done, of) = (self.before + run.played, self.before + run.of);
        self.progress.position(self.before, done, of);
        self.progress.status(|| {
            if self.progress.has_bar() {
                return self.leader(run);
            }
            if run.played == 0 {
                return format!("{done}/{of} matches");
            }
            let rate = run.played as f64 / self.progress.elapsed().as_secs_f64();
            let left = (run.of - run.played) as f64 / rate;
            format!("{done}/{of} matches, {rate:.0} a second, {left:.0} s left; {}", self.leader(run))
        });
    }

    /// The leading agent of the cell that is being played, with the interval of its mean payoff.
    fn leader(&self, run: &cambio_sim::PlayProgress<'_>) -> String {
        let index = run.digest.last_cell;
        let cell = &run.digest.cells[index];
        let payoff = self.plan.payoff;
        let of = |agent: usize| cell.leading().payoff(agent, payoff).map(|interval| (agent, interval));
        let worth = |(_, interval): &(usize, Interval)| payoff.sign() * interval.mean;
        let leader =
            (0..self.plan.agents.len()).filter_map(of).max_by(|one, other| worth(one).total_cmp(&worth(other)));
        leader.map_or_else(String::new, |(agent, interval)| {
            // The display is updated continuously, so the interval must be anytime-valid.
            let ends = interval.ends_at(anytime::factor(interval.clusters));
            let half = ends.map(|(low, high)| (interval.mean - low).max(high - interval.mean));
            let half = half.map_or_else(String::new, |half| format!(" ± {half:.3}"));
            let label: String = self.plan.agents[agent].label.chars().take(24).collect();
            let table = &self.plan.cells[index];
            let deals = count(interval.clusters, "deal");
            format!("best so far: {label}, {:.3}{half} {} (95 %); rules {table}, {deals}", interval.mean, payoff.unit())
        })
    }

    /// Removes the progress line and prints the number of matches and their rate.
    pub(super) fn finish(&self) {
        self.progress.finish();
        if !self.is_quiet {
            let (played, seconds) = (self.played.get(), self.progress.elapsed().as_secs_f64());
            say!("played {} in {seconds:.1} s, {:.0} a second", count(played, "match"), played as f64 / seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::Path;

    use cambio_sim::{Executor, Experiment, Runner};

    use super::*;

    #[test]
    fn the_progress_line_labels_its_numbers() {
        let experiment =
            Experiment { seed: Some(1.into()), deals: 40, ..Experiment::at("classic", 2, &["random", "greedy"]) };
        let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let (display, line) = (RunProgressDisplay::new(&plan, 0, true), RefCell::new(String::new()));
        let show = |run: &cambio_sim::PlayProgress<'_>| {
            display.show(run);
            line.replace(display.leader(run));
        };
        Runner::new(&Executor::new(1).unwrap()).with_progress(&show).play(&plan).outcome.unwrap();
        let line = line.into_inner();
        let numbers = line.strip_prefix("best so far: greedy, 0.").unwrap_or_else(|| panic!("{line}"));
        let (mean, labels) = numbers.split_once(" ± 0.").unwrap_or_else(|| panic!("{line}"));
        assert!(mean.len() == 3 && labels.len() > 3, "{line}");
        assert!(labels[3..].starts_with(" rank points (95 %); rules classic, 2 seats, "), "{line}");
        assert!(labels.ends_with(" deals"), "{line}");
    }
}
