//! The replay of a finished match in the terminal.

use std::time::{Duration, Instant};

use cambio_view::Replay;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};

use super::board::{Board, Marks};
use super::{Page, Screen, turns_up, wrapped};

/// How long each decision is shown during automatic play, in milliseconds.
const SPEEDS: [u64; 4] = [2400, 1200, 500, 150];

const KEYS: &str = "← → decision   [ ] turn   r round   Home End   Space start/stop   +\u{a0}−\u{a0}speed   v\u{a0}view   q\u{a0}leave";

/// A replay view: the replay, the position in it and the point of view.
pub(super) struct ReplayView {
    replay: Replay,
    /// The indices of the round and of the frame.
    at: (usize, usize),
    /// The seat whose knowledge is shown; `None` shows all cards.
    pub(super) view: Option<char>,
    speed: usize,
    /// The time of the next step of automatic play.
    due: Option<Instant>,
    pub(super) is_left: bool,
}

impl ReplayView {
    pub(super) fn new(replay: Replay, at: (usize, usize)) -> ReplayView {
        let mut replay_view = ReplayView { replay, at: (0, 0), view: None, speed: 1, due: None, is_left: false };
        replay_view.at.0 = at.0.min(replay_view.replay.rounds.len() - 1);
        replay_view.at.1 = at.1.min(replay_view.last());
        replay_view
    }

    /// The index of the last frame in the round.
    fn last(&self) -> usize {
        self.replay.rounds[self.at.0].frames.len() - 1
    }

    fn turns(&self) -> usize {
        self.replay.rounds[self.at.0].frames[self.at.1].scene.turns
    }

    /// Goes to the next or previous decision; returns false at either end.
    fn step(&mut self, ahead: bool) -> bool {
        let (round, frame) = self.at;
        match (ahead, frame == self.last(), frame == 0) {
            (true, false, _) => self.at.1 += 1,
            (true, true, _) if round + 1 < self.replay.rounds.len() => self.at = (round + 1, 0),
            (false, _, false) => self.at.1 -= 1,
            (false, _, true) if round > 0 => {
                self.at.0 -= 1;
                self.at.1 = self.last();
            }
            _ => return false,
        }
        true
    }

    fn turn(&mut self, ahead: bool) {
        let (turns, round) = (self.turns(), self.at.0);
        while self.step(ahead) && self.at.0 == round && self.turns() == turns {}
    }

    pub(super) fn key(&mut self, key: KeyCode) {
        let plays = self.due.take().is_some();
        match key {
            KeyCode::Right | KeyCode::Char('l' | 'n') | KeyCode::Enter => _ = self.step(true),
            KeyCode::Left | KeyCode::Char('h' | 'p') => _ = self.step(false),
            KeyCode::Down | KeyCode::PageDown | KeyCode::Char(']' | 'j') => self.turn(true),
            KeyCode::Up | KeyCode::PageUp | KeyCode::Char('[' | 'k') => self.turn(false),
            KeyCode::Char('r') => self.at = ((self.at.0 + 1) % self.replay.rounds.len(), 0),
            KeyCode::Home | KeyCode::Char('g') => self.at = (0, 0),
            KeyCode::End => {
                self.at.0 = self.replay.rounds.len() - 1;
                self.at.1 = self.last();
            }
            KeyCode::Char('+' | '-') => {
                let faster = key == KeyCode::Char('+');
                self.speed = if faster { (self.speed + 1).min(SPEEDS.len() - 1) } else { self.speed.saturating_sub(1) };
                self.due = plays.then(|| self.next_due());
            }
            KeyCode::Char('v') => {
                let seats: Vec<char> = ('a'..='h').take(self.replay.agents.len()).collect();
                let at = self.view.map_or(0, |view| view as usize - 'a' as usize + 1);
                self.view = seats.get(at).copied();
            }
            KeyCode::Char(' ') if !plays => self.due = Some(self.next_due()),
            KeyCode::Char('q') | KeyCode::Esc => self.is_left = true,
            _ => {}
        }
    }

    fn next_due(&self) -> Instant {
        Instant::now() + Duration::from_millis(SPEEDS[self.speed])
    }

    /// Shows the next decision if it is due.
    pub(super) fn tick(&mut self) {
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.due = self.step(true).then(|| self.next_due());
        }
    }

    /// The position in the match, from 0 to 1.
    fn place(&self) -> f64 {
        let frames = |rounds: &[cambio_view::RoundReplay]| rounds.iter().map(|round| round.frames.len()).sum::<usize>();
        let all = frames(&self.replay.rounds).max(2) - 1;
        (frames(&self.replay.rounds[..self.at.0]) + self.at.1) as f64 / all as f64
    }
}

impl Page for ReplayView {
    fn lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let (round, at) = self.at;
        let replay = &self.replay;
        let frame = &replay.rounds[round].frames[at];
        let who = self.view.map_or("all cards".to_owned(), |seat| format!("what {seat} knows"));
        let head = format!(" {} · {} · {who}", replay.rules, replay.title);
        let mut lines = vec![Line::from(format!("{:<columns$}", super::board::cut(&head, columns))).reversed()];
        let is_scored = at == self.last() && !replay.rounds[round].scores.is_empty();
        let marks = Marks { view: self.view.filter(|_| !is_scored), ..Marks::default() };
        let board = Board { scene: &frame.scene, kinds: &replay.kinds, names: &replay.agents, marks: &marks, columns };
        lines.extend(board.lines());
        let plays = if self.due.is_some() { " (playing)" } else { "" };
        let place = format!(" round {} of {}, decision {at} of {}: ", round + 1, replay.rounds.len(), self.last());
        lines.push(Line::from(""));
        lines.push(Line::from(vec![Span::from(place), Span::from(frame.decided(self.view)).bold(), Span::from(plays)]));
        let mut foot = vec![bar(self.place(), columns)];
        foot.extend(wrapped(KEYS, columns - 1, " ").into_iter().map(ratatui::prelude::Stylize::dim));
        let lines_of_frame = frame.lines.iter().map(|line| line.told(self.view).trim().to_owned());
        // At the end of a round the table shows all cards. The lines that name them are omitted, to fit the scores.
        let mut events: Vec<String> = lines_of_frame.filter(|line| at < self.last() || !turns_up(line)).collect();
        if at == self.last() {
            events.extend(replay.rounds[round].scores.iter().cloned());
            if round + 1 == replay.rounds.len() {
                let ranks = replay.ranks.iter().zip('a'..).map(|(rank, seat)| format!("{seat} {rank}"));
                let ranks: Vec<String> = ranks.collect();
                events.extend((!ranks.is_empty()).then(|| format!("the match is over: ranks {}", ranks.join(", "))));
                events.extend(replay.fault.as_ref().map(|fault| format!("the match stopped with a fault: {fault}")));
                events.extend(replay.flaw.as_ref().map(|flaw| format!("the record is invalid: {flaw}")));
            }
        }
        let room = rows.saturating_sub(lines.len() + foot.len());
        let mut text: Vec<Line<'static>> =
            events.iter().flat_map(|line| wrapped(&format!("   {line}"), columns, "     ")).collect();
        text.truncate(room);
        text.resize(room, Line::from(""));
        lines.extend(text);
        lines.extend(foot);
        lines
    }
}

fn bar(place: f64, columns: usize) -> Line<'static> {
    let width = columns - 2;
    let done = ((width - 1) as f64 * place).round() as usize;
    Line::from(format!(" {}●{}", "━".repeat(done), "─".repeat(width - 1 - done)))
}

/// Shows a replay, beginning at a round and decision. Fails if the terminal cannot be written or read.
pub(crate) fn watch(replay: Replay, at: (usize, usize), is_over: impl Fn() -> bool) -> std::io::Result<()> {
    let mut screen = Screen::open()?;
    let mut replay_view = ReplayView::new(replay, at);
    while !replay_view.is_left && !is_over() {
        screen.draw(&replay_view)?;
        match screen.key(Duration::from_millis(50))? {
            Some(super::LEAVE) => return Ok(()),
            Some(key) => replay_view.key(key),
            None => replay_view.tick(),
        }
    }
    Ok(())
}
