//! The full-screen terminal interface, for playing a match and for watching a replay.
//!
//! `SessionView` and `ReplayView` turn their state into lines, and keys change the state. So both can be tested without
//! a terminal.

mod board;
mod help_overlay;
mod replay;
mod session;

use std::io::{self, IsTerminal as _, Stdout};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Rect;
use ratatui::text::{Line, Text};
use ratatui::widgets::Paragraph;

pub(crate) use replay::watch;
pub(crate) use session::sit;

/// The minimum size of the window, in columns and rows.
const LEAST: (u16, u16) = (80, 24);

/// The key code for Ctrl-C and for a terminal that is gone: the user leaves at once.
const LEAVE: KeyCode = KeyCode::Null;

/// Whether standard input and output are a terminal that supports full-screen drawing.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal()
        && io::stdout().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A page that is drawn as lines, for a window of the given columns and rows.
trait Page {
    fn lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>>;
}

/// Whether the terminal is gone because its window was closed.
#[cfg(unix)]
fn is_gone() -> bool {
    use std::os::fd::AsFd as _;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    let stdin = io::stdin();
    let mut keys = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    let _ = poll(&mut keys, PollTimeout::ZERO);
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    keys[0].revents().is_some_and(|found| found.intersects(gone))
}

/// On other systems, the program gets a signal when its window is closed.
#[cfg(not(unix))]
fn is_gone() -> bool {
    false
}

/// Receives the terminal events, which a separate thread reads. If the terminal is gone, crossterm hangs while it
/// reads an event; polling first does not prevent this.
fn read_events() -> Receiver<io::Result<Event>> {
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || while sender.send(event::read()).is_ok() {});
    events
}

/// The terminal in full-screen mode. It is restored on drop, and before a panic message is printed.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    events: Receiver<io::Result<Event>>,
}

fn give_back() {
    // If the terminal cannot be written to, there is nothing to restore.
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
}

impl Screen {
    fn open() -> io::Result<Screen> {
        let (hook, drawer) = (std::panic::take_hook(), std::thread::current().id());
        std::panic::set_hook(Box::new(move |panic| {
            // The page reports a panic of an agent, which runs in another thread.
            if std::thread::current().id() == drawer {
                give_back();
                hook(panic);
            }
        }));
        enable_raw_mode()?;
        let opened = execute!(io::stdout(), EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        let terminal = opened.inspect_err(|_| give_back())?;
        Ok(Screen { terminal, events: read_events() })
    }

    fn draw(&mut self, page: &impl Page) -> io::Result<()> {
        self.terminal.draw(|frame| {
            let area = frame.area();
            frame.render_widget(Paragraph::new(fitted(page, area)), area);
        })?;
        Ok(())
    }

    /// The next key, if the user presses one within `wait`. Returns [`LEAVE`] if the terminal is gone.
    fn key(&self, wait: Duration) -> io::Result<Option<KeyCode>> {
        let Ok(event) = self.events.recv_timeout(wait) else {
            return Ok(is_gone().then_some(LEAVE));
        };
        Ok(match event? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let is_interrupt =
                    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd'));
                Some(match key.code {
                    _ if is_interrupt => LEAVE,
                    KeyCode::Char(letter) => KeyCode::Char(letter.to_ascii_lowercase()),
                    other => other,
                })
            }
            _ => None,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        // Restores the default panic hook.
        let _ = std::panic::take_hook();
    }
}

/// The page, or a message if the window is too small.
fn fitted(page: &impl Page, area: Rect) -> Text<'static> {
    let (columns, rows) = (area.width, area.height);
    if columns < LEAST.0 || rows < LEAST.1 {
        return Text::from(vec![
            Line::from(format!("This window has {columns} × {rows} characters;")),
            Line::from(format!("the table needs {} × {}.", LEAST.0, LEAST.1)),
            Line::from("Make it larger, or press q to leave."),
        ]);
    }
    Text::from(page.lines(usize::from(columns), usize::from(rows)))
}

/// The text, wrapped to lines of at most `columns` columns.
fn wrapped(text: &str, columns: usize, indent: &str) -> Vec<Line<'static>> {
    let options = textwrap::Options::new(columns).subsequent_indent(indent);
    textwrap::wrap(text, options).into_iter().map(|line| Line::from(line.into_owned())).collect()
}

/// Whether a line shows a card that is turned up at the end of a round, such as `b3: Kd`.
fn turns_up(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(spot, _)| spot.parse::<cambio_core::Spot>().is_ok())
}

#[cfg(test)]
mod tests;
