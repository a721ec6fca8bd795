//! Ends processes that bots leave behind in other sessions, because killing the process group does not end them.
//!
//! On Linux, a program may adopt such orphans: a process that loses its parent becomes a child of the program, which
//! finds and kills it. On other systems, orphans keep running.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use process_wrap::std::{ChildWrapper, CommandWrap};

/// The environment variable that identifies the bot by which a process was started.
const VARIABLE: &str = "CAMBIO_BOT";

/// The process IDs of the running bots.
static BOTS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn bots() -> MutexGuard<'static, BTreeSet<u32>> {
    BOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of [`VARIABLE`] for a bot and its descendants. A descendant may remove the variable.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    pub(super) fn new() -> Mark {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Mark(format!("{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }
}

/// Starts a bot, while the list of bots is locked, so that [`end_orphans`] does not kill the bot as an orphan.
pub(super) fn spawn(command: &mut CommandWrap) -> std::io::Result<Box<dyn ChildWrapper>> {
    let mut bots = bots();
    let child = command.spawn()?;
    bots.insert(child.id());
    Ok(child)
}

/// Removes a bot that has ended, and kills the processes that it left behind, if orphans are adopted.
pub(super) fn ended(number: u32, mark: &Mark) {
    bots().remove(&number);
    #[cfg(target_os = "linux")]
    linux::end_orphans(Some(&format!("{VARIABLE}={}", mark.0)));
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

/// Makes this process the parent of every orphan among its descendants, so that [`end_orphans`] finds them. Use this
/// function only in programs whose only children are bots. It works on Linux; on other systems it does nothing.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    linux::adopt();
}

/// Kills all running bots and, after [`adopt_orphans`], all other children of this process.
pub fn end_orphans() {
    #[cfg(unix)]
    for &bot in &*bots() {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(bot as i32), nix::sys::signal::Signal::SIGKILL);
    }
    #[cfg(target_os = "linux")]
    linux::end_orphans(None);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, kill};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::unistd::Pid;

    static ADOPTS: AtomicBool = AtomicBool::new(false);

    /// The time limit for killing processes that keep starting new ones.
    const KILL_TIME_LIMIT: Duration = Duration::from_secs(1);

    pub(super) fn adopt() {
        // If the kernel does not support this, orphans keep running, as on other systems.
        ADOPTS.store(nix::sys::prctl::set_child_subreaper(true).is_ok(), Ordering::Relaxed);
    }

    /// Kills the orphans with this entry in their environment (`None`: all), then their children, which become orphans.
    pub(super) fn end_orphans(word: Option<&str>) {
        if !ADOPTS.load(Ordering::Relaxed) {
            return;
        }
        let end = Instant::now() + KILL_TIME_LIMIT;
        while sweep(word) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills the current orphans. Returns whether there were any.
    fn sweep(word: Option<&str>) -> bool {
        let bots = super::bots();
        let mut found = false;
        for (number, is_dead) in children() {
            if bots.contains(&(number as u32)) {
                continue;
            }
            let is_meant = || {
                word.is_none_or(|word| {
                    let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
                    environment.split(|byte| *byte == 0).any(|entry| entry == word.as_bytes())
                })
            };
            let child = Pid::from_raw(number);
            if is_dead {
                // A zombie has no environment, and only needs to be reaped.
                let _ = waitpid(child, Some(WaitPidFlag::WNOHANG));
            } else if is_meant() {
                found = true;
                let _ = kill(child, Signal::SIGKILL);
            }
        }
        found
    }

    /// The children of this process, and whether each is a zombie.
    fn children() -> Vec<(i32, bool)> {
        let own = std::process::id().to_string();
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        let child = |entry: std::fs::DirEntry| {
            let number: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name of the program, in parentheses, may contain any character, even `)`.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let is_dead = fields.next()? == "Z";
            (fields.next()? == own).then_some((number, is_dead))
        };
        processes.flatten().filter_map(child).collect()
    }
}
