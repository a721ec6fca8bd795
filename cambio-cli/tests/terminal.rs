//! The full-screen interface. The command runs on a pseudo-terminal of 80×24 characters; the tests send keys and read
//! the screen.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{Winsize, openpty};

/// A command on a terminal.
struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    fn start(arguments: &[&str], (rows, columns): (u16, u16)) -> Terminal {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let slave = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_cambio"));
        command.args(arguments).env("TERM", "xterm-256color");
        command.stdin(slave(&pty.slave)).stdout(slave(&pty.slave)).stderr(slave(&pty.slave));
        let child = command.spawn().unwrap();
        drop((command, pty.slave));
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let (mut output, shown) = (File::from(pty.master.try_clone().unwrap()), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..read]);
            }
        });
        Terminal { child, keys: File::from(pty.master), screen }
    }

    fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows all of these texts.
    fn until(&self, expected: &[&str]) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.shown();
            if expected.iter().all(|text| shown.contains(text)) {
                return shown;
            }
            assert!(Instant::now() < end, "the screen does not show {expected:?}:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn ended(&mut self) -> ExitStatus {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the command does not end:\n{}", self.shown());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const SIZE: (u16, u16) = (24, 80);

#[test]
fn a_person_plays_a_match_in_place_and_can_watch_it_then() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("match.jsonl");
    let record = record.to_str().unwrap();
    let mut terminal =
        Terminal::start(&["play", "--against", "greedy", "--rounds", "--seed", "5", "--record", record], SIZE);
    terminal.until(&[
        "Goal: end the round with the fewest points.",
        "10h is the 10 of hearts.",
        "Press any key to continue",
    ]);
    terminal.press(" ");
    let first = terminal.until(&["a  you", "b  greedy", "discard pile: empty", "Your turn", "d draw"]);
    terminal.press("d");
    let held = terminal.until(&["you hold"]);
    assert_eq!(first.lines().next(), held.lines().next(), "the table is drawn in place");
    terminal.press("x");
    // Until the match is over, call if possible; otherwise pass or skip.
    for _ in 0..400 {
        let shown = terminal.shown();
        if shown.contains("Enter: leave") {
            break;
        }
        terminal.press(if shown.contains("c call") { "c" } else { "p" });
        terminal.press("s");
        std::thread::sleep(Duration::from_millis(20));
    }
    terminal.until(&["Enter: leave", "totals: a "]);
    terminal.press("\r");
    assert_eq!(terminal.ended().code(), Some(0));
    // The terminal is restored with its earlier content, and the last line shows the result.
    terminal.until(&["your rank: ", "--seed 5 deals the same cards again"]);
    assert!(!terminal.screen.lock().unwrap().screen().alternate_screen());

    let mut terminal = Terminal::start(&["watch", record], SIZE);
    terminal.until(&["person against greedy", "decision 0 of ", "the deal"]);
    terminal.press("\x1b[C");
    terminal.until(&["decision 1 of ", "a: draw"]);
    terminal.press("v");
    terminal.until(&["what a knows"]);
    terminal.press("\x1b[F");
    terminal.until(&["the match is over: ranks a "]);
    terminal.press("q");
    assert_eq!(terminal.ended().code(), Some(0));
}

#[test]
fn an_interrupt_leaves_at_once_even_while_an_agent_thinks() {
    let mut terminal = Terminal::start(&["play", "--against", "rollout(n=100000)", "--seat", "b", "--seed", "1"], SIZE);
    terminal.until(&["Press any key to continue"]);
    terminal.press(" ");
    terminal.until(&["a (rollout(n=100000)) is thinking…"]);
    let begun = Instant::now();
    terminal.press("\x03");
    assert_eq!(terminal.ended().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    terminal.until(&["you left the match; --seed 1 deals the same cards again"]);
}

#[test]
fn a_window_that_is_too_small_says_what_is_needed() {
    let mut terminal = Terminal::start(&["play", "--seed", "1"], (20, 60));
    terminal.until(&["This window has 60 × 20 characters;", "the table needs 80 × 24."]);
    terminal.press("\x03");
    assert_eq!(terminal.ended().code(), Some(0));
}

#[test]
fn a_screen_reader_is_asked_line_by_line() {
    let mut terminal = Terminal::start(&["play", "--plain", "--seed", "5"], SIZE);
    terminal.until(&["your turn: draw", "> "]);
    assert!(!terminal.screen.lock().unwrap().screen().alternate_screen());
    terminal.press("quit\n");
    assert_eq!(terminal.ended().code(), Some(0));
}

/// When the window is closed, the command ends instead of waiting for keys.
#[test]
fn it_ends_where_the_terminal_goes_away() {
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    // Without this flag, the child process inherits the master end, which keeps the terminal open.
    fcntl(&pty.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let slave = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_cambio"));
    command.args(["play", "--against", "greedy", "--seed", "5"]).env("TERM", "xterm-256color");
    command.stdin(slave(&pty.slave)).stdout(slave(&pty.slave)).stderr(slave(&pty.slave));
    let mut child = command.spawn().unwrap();
    drop((command, pty.slave));
    let (mut master, mut parser, mut bytes) = (File::from(pty.master), vt100::Parser::new(24, 80, 0), [0; 4096]);
    while !parser.screen().contents().contains("Press any key to continue") {
        let read = master.read(&mut bytes).unwrap();
        parser.process(&bytes[..read]);
    }
    drop(master);
    let end = Instant::now() + Duration::from_secs(90);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("the command runs on without a terminal");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
