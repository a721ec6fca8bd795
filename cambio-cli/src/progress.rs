//! The progress display of all commands, on standard error: one line that is updated on a terminal, otherwise a line
//! every ten seconds. `--quiet` switches it off.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::say::{plain, say};

/// The minimum time between two updates on a terminal.
const SHOWN: Duration = Duration::from_millis(100);

/// The time between two lines if standard error is not a terminal.
const LINE: Duration = Duration::from_secs(10);

pub(super) struct ProgressDisplay {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    begun: Instant,
    /// The time at which the next status is due.
    due: Cell<Instant>,
}

impl ProgressDisplay {
    /// A display for work of unknown length.
    pub(super) fn spinner(is_quiet: bool) -> ProgressDisplay {
        ProgressDisplay::of(is_quiet, ProgressBar::new_spinner)
    }

    /// A display with a bar for this number of matches.
    pub(super) fn matches(of: u64, is_quiet: bool) -> ProgressDisplay {
        ProgressDisplay::of(is_quiet, || {
            // `wide_msg` truncates the message to the rest of the line.
            let style = "{bar:10} {human_pos}/{human_len} matches {rate}/s {eta} left  {wide_msg}";
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // After a write error, only the rate is missing, so the error is ignored.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            let bar = ProgressBar::new(of);
            let style = ProgressStyle::with_template(style).expect("the template is well formed");
            bar.set_style(style.with_key("rate", rate));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        })
    }

    fn of(is_quiet: bool, bar: impl FnOnce() -> ProgressBar) -> ProgressDisplay {
        let is_terminal = std::io::stderr().is_terminal();
        let begun = Instant::now();
        let due = if is_terminal { begun } else { begun + LINE };
        ProgressDisplay { bar: (is_terminal && !is_quiet).then(bar), is_quiet, begun, due: Cell::new(due) }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Prints a permanent line.
    pub(super) fn note(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(plain(line)),
            None if self.is_quiet => {}
            None => say!("{line}"),
        }
    }

    /// Shows a status, if one is due.
    pub(super) fn status(&self, status: impl FnOnce() -> String) {
        if !self.is_quiet && Instant::now() >= self.due.get() {
            self.due.set(Instant::now() + if self.bar.is_some() { SHOWN } else { LINE });
            match &self.bar {
                Some(bar) => {
                    bar.set_message(plain(&status()));
                    bar.tick();
                }
                None => say!("{}", status()),
            }
        }
    }

    /// Moves the bar. The first `before` matches were played earlier and do not count for the rate.
    pub(super) fn position(&self, before: u64, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(of);
            if bar.position() < before {
                bar.set_position(before);
                bar.reset_eta();
            }
            bar.set_position(done);
        }
    }

    /// Whether there is a bar, which already shows the number of matches.
    pub(super) fn has_bar(&self) -> bool {
        self.bar.is_some()
    }

    /// Removes the progress line.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
