//! The one progress display: on a terminal a line that changes, elsewhere a line every ten seconds, with `--quiet` nothing.
//! Everything goes to standard error.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// How long a terminal shows one status at least.
const SHOWN: Duration = Duration::from_millis(100);

/// How often a line is printed where there is no terminal.
const LINE: Duration = Duration::from_secs(10);

/// How far a command is.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    begun: Instant,
    /// When the next status is due.
    due: Cell<Instant>,
}

impl Progress {
    /// A display without a known end.
    pub(super) fn spinner(is_quiet: bool) -> Progress {
        Progress::of(is_quiet, ProgressBar::new_spinner)
    }

    /// A display of so many matches.
    pub(super) fn matches(of: u64, is_quiet: bool) -> Progress {
        Progress::of(is_quiet, || {
            // The message is cut to what the line has left.
            let style = "{bar:10} {human_pos}/{human_len} matches {rate}/s {eta} left  {wide_msg}";
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // There is nowhere to report a rate that cannot be drawn.
                let _ = write!(out, "{:.0}", state.per_sec());
            };
            let bar = ProgressBar::new(of);
            let style = ProgressStyle::with_template(style).expect("the template is well formed");
            bar.set_style(style.with_key("rate", rate));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        })
    }

    fn of(is_quiet: bool, bar: impl FnOnce() -> ProgressBar) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let begun = Instant::now();
        let due = if is_terminal { begun } else { begun + LINE };
        Progress { bar: (is_terminal && !is_quiet).then(bar), is_quiet, begun, due: Cell::new(due) }
    }

    /// How long the command has been at work.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Prints a line that stays.
    pub(super) fn note(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.is_quiet => {}
            None => eprintln!("{line}"),
        }
    }

    /// Shows what is going on, where it is time for that.
    pub(super) fn status(&self, status: impl FnOnce() -> String) {
        if !self.is_quiet && Instant::now() >= self.due.get() {
            self.due.set(Instant::now() + if self.bar.is_some() { SHOWN } else { LINE });
            match &self.bar {
                Some(bar) => {
                    bar.set_message(status());
                    bar.tick();
                }
                None => eprintln!("{}", status()),
            }
        }
    }

    /// Moves the bar.
    pub(super) fn position(&self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(of);
            bar.set_position(done);
        }
    }

    /// Whether there is a bar, which says by itself how far it is.
    pub(super) fn has_bar(&self) -> bool {
        self.bar.is_some()
    }

    /// Takes the line that changes away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
