//! A person's match against agents, in the terminal.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use cambio_agents::AgentSpec;
use cambio_core::{Rules, Seat, Spot};
use cambio_view::{JobResult, KindView, PageStep, Session, hint};
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Stylize as _;
use ratatui::text::{Line, Span};

use super::board::{Board, Marks, cut};
use super::help_overlay::HelpOverlay;
use super::{LEAVE, Page, Screen, turns_up, wrapped};
use crate::person::SessionEnd;

/// How long a card is shown if the player has to remember it.
const GLIMPSE: Duration = Duration::from_secs(4);

/// The decisions without a card, with their keys and their words on the screen.
const VERBS: [(&str, char, &str); 7] = [
    ("draw", 'd', "draw"),
    ("take", 't', "take the discard"),
    ("call", 'c', "call"),
    ("end", 'e', "end the turn"),
    ("drop", 'x', "discard it"),
    ("skip", 's', "skip"),
    ("pass", 'p', "pass"),
];

/// An action that needs a second key press, because it cannot be undone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Confirmation {
    /// Enter passes although the player knows a match.
    Pass,
    Leave,
}

/// The screen of a match for the player in one seat.
pub(super) struct SessionView {
    pub(super) session: Session,
    rules: Rules,
    names: Vec<String>,
    own: Seat,
    adviser: Option<AgentSpec>,
    pub(super) kinds: Vec<KindView>,
    /// The latest step of the session.
    pub(super) step: PageStep,
    /// The events of this round, and the number of events before the player's latest decision.
    pub(super) log: Vec<String>,
    read: usize,
    /// The action that needs a card, the first card of a swap, and the card that Enter chooses.
    verb: Option<String>,
    first: Option<String>,
    focus: Option<String>,
    doubt: Option<Confirmation>,
    overlay: Option<HelpOverlay>,
    /// The message below the question: a hint, or why an action is not possible.
    pub(super) said: String,
    pub(super) glimpses: Vec<(String, usize, Instant)>,
    pub(super) advice: Option<Receiver<String>>,
    pub(super) is_left: bool,
}

impl SessionView {
    pub(super) fn new(session: Session, adviser: Option<AgentSpec>) -> SessionView {
        let config = session.config();
        let rules = *config.deal.rules();
        let mut seat = SessionView {
            own: config.person(),
            adviser: adviser.filter(|_| config.practice),
            kinds: KindView::all(&rules),
            names: config.names("you"),
            rules,
            step: session.latest(config.person()).clone(),
            log: Vec::new(),
            read: 0,
            verb: None,
            first: None,
            focus: None,
            doubt: None,
            overlay: Some(HelpOverlay::Rules),
            said: String::new(),
            glimpses: Vec::new(),
            advice: None,
            is_left: false,
            session,
        };
        seat.take_in(seat.step.clone());
        seat
    }

    /// Shows the latest step of the session, if it is new.
    pub(super) fn look(&mut self) {
        let latest = self.session.latest(self.own);
        if latest.n != self.step.n {
            self.take_in(latest.clone());
        }
    }

    fn take_in(&mut self, step: PageStep) {
        if step.scene.round != self.step.scene.round {
            self.log.clear();
            self.read = 0;
        }
        // At the end of a round the table shows all cards. The lines that name them are omitted, to fit the scores.
        let is_told = |line: &&String| step.end.is_none() || !turns_up(line);
        self.log.extend(step.lines.iter().filter(is_told).cloned());
        let until = Instant::now() + GLIMPSE;
        self.glimpses.extend(step.glimpses.iter().map(|(spot, kind)| (spot.clone(), *kind, until)));
        self.step = step;
        self.ask_anew();
    }

    fn ask_anew(&mut self) {
        (self.first, self.focus, self.doubt) = (None, None, None);
        self.said.clear();
        self.verb = self.aimed().first().cloned();
    }

    fn choices(&self) -> &[String] {
        self.step.ask.as_ref().map_or(&[], |ask| &ask.choices)
    }

    /// The distinct verbs of the decisions that name cards.
    fn aimed(&self) -> Vec<String> {
        let mut verbs: Vec<String> = Vec::new();
        for verb in self.choices().iter().filter_map(|choice| choice.split_once(' ')).map(|(verb, _)| verb) {
            if !verbs.iter().any(|known| known == verb) {
                verbs.push(verb.to_owned());
            }
        }
        verbs
    }

    /// The cards that the player can choose now, in the order of seats and numbers.
    fn offered(&self) -> Vec<String> {
        let Some(verb) = &self.verb else { return Vec::new() };
        let mut spots: Vec<Spot> = Vec::new();
        for choice in self.choices() {
            let mut words = choice.split(' ');
            if words.next() != Some(verb) {
                continue;
            }
            let named: Vec<&str> = words.collect();
            let fits = self.first.as_deref().is_none_or(|first| named.contains(&first));
            spots.extend(named.iter().filter(|_| fits).filter_map(|spot| spot.parse::<Spot>().ok()));
        }
        spots.sort_by_key(|spot| (spot.seat().letter(), spot.number()));
        spots.dedup();
        spots.into_iter().map(|spot| spot.to_string()).collect()
    }

    pub(super) fn matches(&self) -> &[String] {
        self.step.ask.as_ref().map_or(&[], |ask| &ask.matches)
    }

    pub(super) fn offers(&self, verb: &str) -> bool {
        self.choices().iter().any(|choice| choice == verb)
    }

    fn act(&mut self, action: &str) {
        self.read = self.log.len();
        self.glimpses.clear();
        match self.session.act(self.own, self.step.n, action, None) {
            Ok(()) => self.look(),
            Err(refusal) => self.said = refusal.to_string(),
        }
    }

    fn choose(&mut self, spot: String) {
        let Some(verb) = self.verb.clone() else { return };
        if verb != "swap" {
            return self.act(&format!("{verb} {spot}"));
        }
        match self.first.take() {
            None => (self.first, self.focus) = (Some(spot), None),
            Some(first) if first == spot => self.focus = None,
            Some(first) => {
                let either = [format!("swap {first} {spot}"), format!("swap {spot} {first}")];
                if let Some(action) = either.iter().find(|action| self.offers(action)) {
                    self.act(action);
                }
            }
        }
    }

    /// Moves the focus to the next or previous card that the player can choose.
    fn move_focus(&mut self, ahead: bool) {
        let offered = self.offered();
        if offered.is_empty() {
            return;
        }
        let at = self.focus.as_ref().and_then(|focus| offered.iter().position(|spot| spot == focus));
        let next = match (at, ahead) {
            (None, true) => 0,
            (None, false) => offered.len() - 1,
            (Some(at), true) => (at + 1) % offered.len(),
            (Some(at), false) => (at + offered.len() - 1) % offered.len(),
        };
        self.focus = Some(offered[next].clone());
    }

    fn enter(&mut self, doubted: Option<Confirmation>) {
        if let Some(focus) = self.focus.clone() {
            return self.choose(focus);
        }
        let choices = self.choices();
        if self.offers("pass") {
            if self.matches().is_empty() || doubted == Some(Confirmation::Pass) {
                return self.act("pass");
            }
            self.said =
                format!("{} would match. Press Enter again to pass, or m to snap.", self.matches().join(" and "));
            self.doubt = Some(Confirmation::Pass);
        } else if let [only] = choices {
            let only = only.clone();
            self.act(&only);
        } else if !choices.is_empty() {
            "Enter does nothing here: press a letter, or choose a card.".clone_into(&mut self.said);
        }
    }

    pub(super) fn key(&mut self, key: KeyCode) {
        let doubted = self.doubt.take();
        if key == LEAVE {
            self.is_left = true;
            return;
        }
        if self.overlay.take().is_some() {
            return;
        }
        self.said.clear();
        match key {
            KeyCode::Char('q') | KeyCode::Esc if self.is_over() => self.is_left = true,
            KeyCode::Char('q') if doubted == Some(Confirmation::Leave) => self.is_left = true,
            KeyCode::Char('q') => {
                "Leave the match? Press q again to leave, or any other key to stay.".clone_into(&mut self.said);
                self.doubt = Some(Confirmation::Leave);
            }
            KeyCode::Char('?') => self.overlay = Some(HelpOverlay::Keys),
            KeyCode::Char('r') => self.overlay = Some(HelpOverlay::Rules),
            KeyCode::Char('k') => self.overlay = Some(HelpOverlay::Cards),
            KeyCode::Char('u') if self.adviser.is_some() => match self.session.take_back(self.step.n) {
                Ok(()) => self.read = 0,
                Err(refusal) => self.said = refusal.to_string(),
            },
            KeyCode::Enter | KeyCode::Char(' ') if self.is_over() => self.is_left = key == KeyCode::Enter,
            KeyCode::Enter if self.step.end.is_some() => {
                if let Err(refusal) = self.session.go_on(self.own, self.step.n) {
                    self.said = refusal.to_string();
                }
                self.look();
            }
            _ if self.step.ask.is_some() => self.decide(key, doubted),
            _ => {}
        }
    }

    /// Handles a key while the player has to decide.
    fn decide(&mut self, key: KeyCode, doubted: Option<Confirmation>) {
        match key {
            KeyCode::Enter => self.enter(doubted),
            KeyCode::Right | KeyCode::Down => self.move_focus(true),
            KeyCode::Left | KeyCode::Up | KeyCode::BackTab => self.move_focus(false),
            KeyCode::Tab => {
                let verbs = self.aimed();
                if let Some(at) = verbs.iter().position(|verb| Some(verb) == self.verb.as_ref()) {
                    self.verb = Some(verbs[(at + 1) % verbs.len()].clone());
                    (self.first, self.focus) = (None, None);
                }
            }
            KeyCode::Esc => (self.first, self.focus) = (None, None),
            KeyCode::Char('m' | ' ') => match self.matches().first().map(|spot| format!("snap {spot}")) {
                Some(snap) if self.offers(&snap) => self.act(&snap),
                _ => "You do not know a card that matches.".clone_into(&mut self.said),
            },
            KeyCode::Char('h') => self.ask_advice(),
            KeyCode::Char(digit @ '1'..='9') => {
                let spot = format!("{}{digit}", self.own);
                if self.offered().contains(&spot) {
                    self.choose(spot);
                } else {
                    self.said = format!("You cannot choose {spot} now.");
                }
            }
            KeyCode::Char(letter) => {
                let verb = VERBS.iter().find(|(verb, key, _)| *key == letter && self.offers(verb));
                match verb {
                    Some((verb, ..)) => self.act(verb),
                    None => self.said = format!("{letter} does nothing here; press ? for the keys."),
                }
            }
            _ => {}
        }
    }

    fn ask_advice(&mut self) {
        let Some(adviser) = self.adviser.clone().filter(|_| self.advice.is_none()) else {
            "Hints are off: start with --practice to allow them.".clone_into(&mut self.said);
            return;
        };
        let (config, actions) = (self.session.config().clone(), self.session.actions());
        let (tell, advice) = channel();
        std::thread::spawn(move || {
            let found = hint(&config, &actions, &adviser, &|| true);
            // Sending fails if the screen is already closed.
            let _ = tell.send(found.map_or_else(|refusal| refusal.to_string(), |hint| hint.to_string()));
        });
        self.advice = Some(advice);
        self.session.count_hint();
        "Computing a hint…".clone_into(&mut self.said);
    }

    /// Shows a hint that has arrived, and hides glimpses that have expired.
    pub(super) fn tick(&mut self) {
        let now = Instant::now();
        self.glimpses.retain(|(_, _, until)| *until > now);
        let received = self.advice.as_ref().map(Receiver::try_recv);
        match received {
            None | Some(Err(TryRecvError::Empty)) => {}
            Some(Ok(text)) => (self.said, self.advice) = (text, None),
            Some(Err(TryRecvError::Disconnected)) => {
                (self.said, self.advice) = ("No hint: the agent has failed.".to_owned(), None);
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.step.trouble.is_some() || self.step.end.as_ref().is_some_and(|end| end.ranks.is_some())
    }

    fn marks(&self) -> Marks {
        let asked = self.step.ask.is_some();
        Marks {
            own: Some(self.own.letter()),
            offered: if asked { self.offered() } else { Vec::new() },
            focus: self.focus.clone(),
            matches: self.first.as_ref().map_or(self.matches().to_vec(), |first| vec![first.clone()]),
            glimpses: self.glimpses.iter().map(|(spot, kind, _)| (spot.clone(), *kind)).collect(),
            view: None,
        }
    }

    /// The question to the player, and the keys that answer it.
    fn question(&self) -> (String, String) {
        if let Some(trouble) = &self.step.trouble {
            return (format!("The match has stopped: {trouble}"), "Enter: leave".to_owned());
        }
        if let Some(end) = &self.step.end {
            let own = self.own.index();
            return match &end.ranks {
                Some(ranks) => {
                    let text = match (ranks[own], ranks.iter().filter(|rank| **rank == 1).count()) {
                        (1, 1) => "You won the match.".to_owned(),
                        (1, _) => "You share first place.".to_owned(),
                        (rank, _) => format!("The match is over. Your rank is {rank} of {}.", ranks.len()),
                    };
                    (text, "Enter: leave".to_owned())
                }
                None if end.winners.contains(self.own.letter()) => {
                    ("You win the round.".to_owned(), "Enter: next round".to_owned())
                }
                None => (format!("{}.", end.winners_in_words()), "Enter: next round".to_owned()),
            };
        }
        let Some(ask) = &self.step.ask else {
            let who = self.step.scene.asked.map_or("A card was discarded. Does anyone snap?".to_owned(), |seat| {
                format!("{seat} ({}) is thinking…", self.names[seat as usize - 'a' as usize])
            });
            return (who, "q leave".to_owned());
        };
        let question = match self.verb.as_deref() {
            Some("swap") if self.first.is_none() => format!("{}: choose the first card", ask.question),
            Some("swap") => format!("{}: choose the second card", ask.question),
            _ => ask.question.clone(),
        };
        let mut keys = Vec::new();
        if ask.matches.first().is_some_and(|spot| self.offers(&format!("snap {spot}"))) {
            keys.push(format!("m snap {}", ask.matches[0]));
        }
        let plain = VERBS.iter().filter(|(verb, ..)| self.offers(verb));
        keys.extend(plain.map(|(_, key, words)| format!("{key} {words}")));
        if let Some(verb) = &self.verb {
            let words = verb.replace("look", "peek").replace("show", "turn up");
            keys.push(format!("1–9 (yours) or arrows and Enter: {words}"));
            if self.aimed().len() > 1 {
                keys.push("Tab another action".to_owned());
            }
        }
        if self.adviser.is_some() {
            keys.push("h hint".to_owned());
            keys.push("u undo".to_owned());
        }
        (capital(&question), keys.join("   "))
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl Page for SessionView {
    fn lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let scene = &self.step.scene;
        let head = format!(" {} · round {} · turn {} · seat {}", self.rules.name(), scene.round, scene.turns, self.own);
        let keys = "r rules · k cards · ? keys · q leave ";
        let room = columns - keys.chars().count();
        let mut lines = vec![Line::from(format!("{:<room$}{keys}", cut(&head, room))).reversed()];
        if let Some(overlay) = self.overlay {
            lines.push(Line::from(""));
            let mut text = overlay.lines(&self.rules, columns);
            text.truncate(rows - 4);
            lines.extend(text);
            lines.resize(rows - 1, Line::from(""));
            lines.push(Line::from(" Press any key to continue").bold());
            return lines;
        }
        let marks = self.marks();
        lines.extend(Board { scene, kinds: &self.kinds, names: &self.names, marks: &marks, columns }.lines());
        let (question, keys) = self.question();
        let mut foot: Vec<Line<'static>> =
            wrapped(&format!(" {question}"), columns, "   ").into_iter().map(Line::bold).collect();
        foot.extend(wrapped(&format!(" {keys}"), columns, " "));
        let note = if self.said.is_empty() { Vec::new() } else { wrapped(&format!(" {}", self.said), columns, "   ") };
        foot.extend(note.into_iter().map(Line::italic));
        let mut events: Vec<Line<'static>> = Vec::new();
        for (number, line) in self.log.iter().enumerate() {
            let mark = if number < self.read { "   " } else { " · " };
            let text = wrapped(line, columns - 3, "  ");
            events.extend(text.into_iter().map(|line| Line::from(vec![Span::raw(mark), Span::raw(line.to_string())])));
        }
        if let Some(end) = &self.step.end {
            events.extend(end.scores.iter().map(|line| Line::from(format!("   {line}")).bold()));
            events.push(Line::from(format!("   totals: {}", end.totals_in_words())));
        }
        let room = rows.saturating_sub(lines.len() + foot.len());
        let skipped = events.len().saturating_sub(room);
        let mut events = events.split_off(skipped);
        // The latest lines are directly above the question, so the question does not move.
        let mut gap = vec![Line::from(""); room - events.len()];
        gap.append(&mut events);
        lines.extend(gap);
        lines.extend(foot);
        lines
    }
}

/// Plays a session in full screen. Fails if the terminal cannot be written or read.
pub(crate) fn sit(
    session: Session,
    adviser: Option<AgentSpec>,
    is_over: impl Fn() -> bool,
) -> std::io::Result<SessionEnd> {
    let mut screen = Screen::open()?;
    let mut seat = SessionView::new(session, adviser);
    let mut pending: Option<Receiver<JobResult>> = None;
    loop {
        if seat.is_left || is_over() {
            let is_done = seat.is_over();
            return Ok(match seat.step.trouble {
                Some(trouble) => SessionEnd::Trouble(trouble),
                None if is_done => SessionEnd::Over(Box::new(seat.session)),
                None => SessionEnd::Left("you left the match".to_owned()),
            });
        }
        match pending.as_ref().map(Receiver::try_recv) {
            None => {
                if let Some(job) = seat.session.job() {
                    let (tell, done) = channel();
                    std::thread::spawn(move || tell.send(job.run()));
                    pending = Some(done);
                }
            }
            Some(Ok(done)) => {
                pending = None;
                seat.session.finish(done);
                seat.look();
                continue;
            }
            Some(Err(TryRecvError::Disconnected)) => {
                pending = None;
                seat.session.fail();
                seat.look();
            }
            Some(Err(TryRecvError::Empty)) => {}
        }
        seat.tick();
        screen.draw(&seat)?;
        // While an agent is thinking, poll often, because most agents answer at once.
        let wait = Duration::from_millis(if pending.is_some() { 2 } else { 50 });
        if let Some(key) = screen.key(wait)? {
            seat.key(key);
        }
    }
}
