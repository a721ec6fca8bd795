//! Tells how far a run is: a live line on a terminal, else a line now and then.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use cambio_sim::{Plan, Progress};
use cambio_stats::Interval;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

const SECONDS_A_LINE: u64 = 10;

pub(super) struct Meter<'p> {
    plan: &'p Plan,
    bar: Option<ProgressBar>,
    plain: bool,
    begun: Instant,
    next_line: Cell<u64>,
    leader_told: Cell<Option<Instant>>,
    played: Cell<u64>,
}

/// Whether progress is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Telling {
    Aloud,
    Quietly,
}

impl Meter<'_> {
    pub(super) fn new(plan: &Plan, telling: Telling) -> Meter<'_> {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (is_terminal && telling == Telling::Aloud).then(|| {
            // The message is cut to what the line has left.
            let style = "{bar:10} {human_pos}/{human_len} matches {rate}/s {eta} left  {wide_msg}";
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A row that cannot be drawn is not worth a word.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            let bar = ProgressBar::new(plan.matches());
            let style = ProgressStyle::with_template(style).expect("the template is well formed");
            bar.set_style(style.with_key("rate", rate));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Meter {
            plan,
            bar,
            plain: !is_terminal && telling == Telling::Aloud,
            begun: Instant::now(),
            next_line: Cell::new(SECONDS_A_LINE),
            leader_told: Cell::new(None),
            played: Cell::new(0),
        }
    }

    pub(super) fn tell(&self, progress: &Progress<'_>) {
        self.played.set(progress.played);
        if let Some(bar) = &self.bar {
            bar.set_length(progress.of);
            bar.set_position(progress.played);
            if self.leader_told.get().is_none_or(|told| told.elapsed() > Duration::from_secs(1)) {
                bar.set_message(self.leader(progress));
                self.leader_told.set(Some(Instant::now()));
            }
        }
        let seconds = self.begun.elapsed().as_secs();
        if self.plain && seconds >= self.next_line.get() {
            self.next_line.set(seconds + SECONDS_A_LINE);
            let rate = progress.played as f64 / seconds as f64;
            if progress.played == 0 {
                eprintln!("0/{} matches", progress.of);
                return;
            }
            let left = (progress.of - progress.played) as f64 / rate;
            let leader = self.leader(progress);
            eprintln!("{}/{} matches, {rate:.0} a second, {left:.0} s left; {leader}", progress.played, progress.of);
        }
    }

    /// Who leads at the table that is being played, with its interval.
    fn leader(&self, progress: &Progress<'_>) -> String {
        let cell = &progress.digest.cells[progress.cell];
        let payoff = self.plan.payoff;
        let of = |agent: usize| cell.payoff(agent, payoff).map(|interval| (agent, interval));
        let worth = |(_, interval): &(usize, Interval)| payoff.sign() * interval.mean;
        let leader =
            (0..self.plan.agents.len()).filter_map(of).max_by(|one, other| worth(one).total_cmp(&worth(other)));
        leader.map_or_else(String::new, |(agent, interval)| {
            let half = interval.half_width.map_or_else(String::new, |half| format!(" ± {half:.3}"));
            let label: String = self.plan.agents[agent].label.chars().take(24).collect();
            let table = &self.plan.cells[progress.cell];
            format!(
                "{:.3}{half} {label}, {} {}, {} deals",
                interval.mean,
                table.rules.name(),
                table.seats,
                interval.clusters
            )
        })
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.bar.is_some() || self.plain {
            let (played, seconds) = (self.played.get(), self.begun.elapsed().as_secs_f64());
            eprintln!("played {played} matches in {seconds:.1} s, {:.0} a second", played as f64 / seconds);
        }
    }
}
