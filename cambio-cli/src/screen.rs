//! The whole terminal: a table that is drawn in place, for a person who plays or watches.
//!
//! What is shown is a function of what is known, as lines (`sit`, `reel`); keys change what is known. So both are tested without a
//! terminal.

mod board;
mod leaf;
mod reel;
mod sit;

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

pub(crate) use reel::watch;
pub(crate) use sit::{Ending, sit};

/// The smallest window in which a table is shown.
const LEAST: (u16, u16) = (80, 24);

/// Ctrl-C: the person leaves at once.
const LEAVE: KeyCode = KeyCode::Null;

/// Whether a person sits at a terminal that a screen can be drawn on.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal()
        && io::stdout().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A page of lines for a window of this many columns and rows.
trait Page {
    fn lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>>;
}

/// Whether the terminal has gone away: its window is closed.
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

/// There a program is told when its window is closed.
#[cfg(not(unix))]
fn is_gone() -> bool {
    false
}

/// What is pressed, read by a thread of its own: asked for an event of a terminal that has gone away, crossterm looks for one for
/// ever, and no question before can shut that out.
fn read_events() -> Receiver<io::Result<Event>> {
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || while sender.send(event::read()).is_ok() {});
    events
}

/// The terminal while it is ours. It is given back when this goes, and before a panic is told.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    events: Receiver<io::Result<Event>>,
}

fn give_back() {
    // Where nothing can be written, there is nobody to give it back to.
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
}

impl Screen {
    fn open() -> io::Result<Screen> {
        let (told, drawer) = (std::panic::take_hook(), std::thread::current().id());
        std::panic::set_hook(Box::new(move |panic| {
            // A panic of an agent is trouble of its seat, which the page tells.
            if std::thread::current().id() == drawer {
                give_back();
                told(panic);
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

    /// The next key, if one is pressed within this time. Where the terminal has gone away, nobody is there: that is [`LEAVE`].
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
        // The hook of the start, as far as it can be had again.
        let _ = std::panic::take_hook();
    }
}

/// The page in a window, or what is wrong with the window.
fn fitted(page: &impl Page, area: Rect) -> Text<'static> {
    let (columns, rows) = (area.width, area.height);
    if columns < LEAST.0 || rows < LEAST.1 {
        return Text::from(vec![
            Line::from(format!("This window has {columns} × {rows} characters;")),
            Line::from(format!("the table needs {} × {}.", LEAST.0, LEAST.1)),
            Line::from("Make it larger, or leave with q."),
        ]);
    }
    Text::from(page.lines(usize::from(columns), usize::from(rows)))
}

/// A text as lines of at most so many columns.
fn wrapped(text: &str, columns: usize, indent: &str) -> Vec<Line<'static>> {
    let options = textwrap::Options::new(columns).subsequent_indent(indent);
    textwrap::wrap(text, options).into_iter().map(|line| Line::from(line.into_owned())).collect()
}

/// Whether a line tells a card that is turned up at the end of a round, such as `b3: Kd`.
fn turns_up(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(spot, _)| spot.parse::<cambio_core::Spot>().is_ok())
}

#[cfg(test)]
mod tests;
