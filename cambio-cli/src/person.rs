//! Play line by line: prints what the player's seat observes, and reads decisions at a prompt.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use cambio_core::text::{excerpt, without_mark};
use cambio_core::{Rules, Spot};
use cambio_exec::{CancelToken, next_line};
use cambio_view::{CardValue, KindView, PageStep, Prompt, Scene, Session, cards_in_short, rules_in_short};

use crate::say::count;

/// How often the wait for an answer checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The maximum number of bytes of an answer.
const LINE: u64 = 4096;

/// How a session of a person ends.
pub(crate) enum SessionEnd {
    /// The match is over; the session contains the record.
    Over(Box<Session>),
    /// The player has left. The text is the reason.
    Left(String),
    /// An agent has failed. The text is the reason.
    Trouble(String),
}

/// A player who uses a text input and a text output. The player leaves the match when either is closed.
pub(super) struct Person<O> {
    /// The typed lines. A separate thread reads them, so that an interrupt is noticed.
    lines: Receiver<io::Result<Vec<u8>>>,
    /// Cancelled when the user interrupts.
    interrupt: CancelToken,
    out: O,
    /// The reason why the player has left; `None` during the match.
    left: Option<String>,
}

const HELP: &str = "Type a decision from the list, such as `keep a2`. You can shorten its word, as in
`k a2`, or type only its card, `a2`. Enter alone takes the only possible
decision, or passes; if you know a card that matches, press Enter twice to pass.
Seats are letters and cards are numbers: b1 is the first card of seat b.
With some rules you may bluff (touch a card), or cheat (peek at one of your own
cards and take a penalty card).
You can type `discard` for `drop`, and `peek` for `look`.
  table   show the table again
  deck    show the points and powers of the cards
  quit    leave the match";

impl<O: Write> Person<O> {
    pub(super) fn new(mut input: impl BufRead + Send + 'static, out: O, interrupt: CancelToken) -> Person<O> {
        let (sender, lines) = sync_channel(1);
        // The thread ends when the receiver is dropped, the input ends or the process ends.
        std::thread::spawn(move || {
            let lines = std::iter::from_fn(|| next_line(&mut input, LINE).transpose());
            lines.map_while(|line| sender.send(line).ok()).for_each(drop);
        });
        Person { lines, interrupt, out, left: None }
    }

    pub(super) fn play(&mut self, mut session: Session) -> SessionEnd {
        let rules = *session.config().deal.rules();
        let (names, kinds) = (session.config().names("you"), KindView::all(&rules));
        let mut texts = Vec::from(rules_in_short(&rules));
        texts.push(cards_in_short(&rules));
        for text in texts.iter().filter(|text| !text.is_empty()) {
            self.say(&filled(text, "  "));
        }
        let (mut round, mut shown, mut is_board_due) = (0, None, false);
        loop {
            let step = session.latest();
            let at = step.n;
            if shown.replace(at) != Some(at) {
                is_board_due |= self.tell(step, round, session.config().notes, &kinds);
                round = step.scene.round;
            }
            if self.interrupt.is_cancelled() {
                self.leave();
            }
            if let Some(left) = self.left.take() {
                return SessionEnd::Left(left);
            }
            match (&step.trouble, &step.end) {
                (Some(trouble), _) => return SessionEnd::Trouble(trouble.clone()),
                (_, Some(end)) if end.ranks.is_some() => return SessionEnd::Over(Box::new(session)),
                (_, Some(_)) => {
                    session.go_on(at).expect("a round has just ended");
                    continue;
                }
                _ => {}
            }
            if let Some(job) = session.job() {
                session.finish(job(&|| true));
                continue;
            }
            let step = session.latest();
            let Some(ask) = step.ask.as_ref().filter(|_| step.n == at) else { continue };
            let board = TextBoard { rules: &rules, names: &names, kinds: &kinds, scene: &step.scene };
            if std::mem::take(&mut is_board_due) || step.scene.phase == "start" {
                self.say(&board.to_string());
            }
            if let Some(action) = self.ask(ask, &board) {
                session.act(at, &action, None).expect("it is offered");
            }
        }
    }

    /// Prints the events of a step. `round` is the round of the previous step. Returns whether a new round has begun.
    fn tell(&mut self, step: &PageStep, round: usize, notes: bool, kinds: &[KindView]) -> bool {
        let is_new = step.scene.round != round;
        if is_new {
            self.say(&format!("\nround {}: seat {} starts", step.scene.round, step.scene.turn));
        }
        step.lines.iter().for_each(|line| self.say(&line.to_string()));
        // Without notes, the lines do not name cards that only this seat has seen.
        for (spot, kind) in step.glimpses.iter().filter(|_| !notes) {
            self.say(&format!("    you see {} in {spot}", kinds[*kind].spoken()));
        }
        if let Some(end) = &step.end {
            end.scores.iter().for_each(|line| self.say(&format!("  {line}")));
            self.say(&format!("  {}", end.winners_in_words()));
            let totals = end.totals_in_words();
            match end.ranks {
                // The totals of one round are its scores.
                Some(_) if step.scene.round == 1 => self.say("\nthe match is over"),
                Some(_) => self.say(&format!("\nthe match is over, totals: {totals}")),
                None => self.say(&format!("  totals: {totals}")),
            }
        }
        is_new
    }

    fn say(&mut self, line: &str) {
        if let Err(error) = writeln!(self.out, "{line}") {
            self.left.get_or_insert(format!("cannot write to the player: {error}"));
        }
    }

    fn leave(&mut self) {
        self.left.get_or_insert("you left the match".to_owned());
    }

    /// The next line of the input, trimmed; `None` at the end.
    fn read(&mut self) -> Option<String> {
        if let Err(error) = write!(self.out, "> ").and_then(|()| self.out.flush()) {
            self.left = Some(format!("cannot write to the player: {error}"));
            return None;
        }
        loop {
            match self.lines.recv_timeout(LOOK_EVERY) {
                // Invalid UTF-8 matches no decision, so the player is asked again.
                Ok(Ok(line)) => {
                    let line = String::from_utf8_lossy(&line);
                    return Some(without_mark(&line).trim().to_lowercase());
                }
                Ok(Err(error)) => self.left = Some(format!("cannot read from the player: {error}")),
                Err(RecvTimeoutError::Timeout) if !self.interrupt.is_cancelled() => continue,
                Err(_) => {
                    self.say("");
                    self.leave();
                }
            }
            return None;
        }
    }

    /// Asks until there is a decision; `None` if the player leaves.
    fn ask(&mut self, ask: &Prompt, board: &TextBoard<'_>) -> Option<String> {
        let Prompt { question, choices, matches, .. } = ask;
        // The first Enter does not pass if the player knows a match.
        let mut is_asked_twice = matches.is_empty() || !choices.iter().any(|choice| choice == "pass");
        self.say(&filled(&format!("{question}: {}", offer(choices)), "  "));
        loop {
            match self.read()?.as_str() {
                "quit" | "exit" => {
                    self.leave();
                    return None;
                }
                "?" | "help" => self.say(HELP),
                "table" => self.say(&board.to_string()),
                "deck" => {
                    let worth = CardValue::all(board.rules);
                    worth.iter().map(ToString::to_string).for_each(|worth| self.say(&filled(&worth, "             ")));
                }
                "" if !std::mem::replace(&mut is_asked_twice, true) => self.say(&format!(
                    "{} would match: press Enter again to pass, or type snap {}",
                    matches.join(" and "),
                    matches[0]
                )),
                answer => match understand(answer, choices) {
                    Ok(action) => return Some(action.to_owned()),
                    Err(sentence) => self.say(&sentence),
                },
            }
        }
    }
}

pub(crate) fn filled(text: &str, indent: &str) -> String {
    textwrap::fill(text, textwrap::Options::new(80).subsequent_indent(indent))
}

/// The table as the player knows it, with one line for each seat.
struct TextBoard<'a> {
    rules: &'a Rules,
    names: &'a [String],
    kinds: &'a [KindView],
    scene: &'a Scene,
}

impl fmt::Display for TextBoard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextBoard { names, kinds, scene, .. } = self;
        for ((seat, name), layout) in ('a'..).zip(*names).zip(&scene.layouts) {
            let card = |(slot, kind, _): &(usize, Option<usize>, String)| match kind {
                Some(kind) => format!("{seat}{slot}={}", kinds[*kind].spoken()),
                None => format!("{seat}{slot}"),
            };
            let cards: Vec<String> = layout.iter().map(card).collect();
            let called = if scene.callers.contains(seat) { ", called" } else { "" };
            let safe = if scene.safe.contains(seat) { ", safe" } else { "" };
            writeln!(f, "  {:<34}  {name}{called}{safe}", cards.join("  "))?;
        }
        let [pile, stock] = [scene.pile, scene.stock].map(|cards| count(cards as u64, "card"));
        let pile = scene.top.map_or("empty".to_owned(), |kind| format!("{} ({pile})", kinds[kind].spoken()));
        write!(f, "  discard pile: {pile}, stock: {stock}")
    }
}

/// The list of possible decisions. Decisions that differ only in their card are grouped.
fn offer(choices: &[impl AsRef<str>]) -> String {
    let mut verbs: Vec<(String, Vec<String>)> = Vec::new();
    for text in choices.iter().map(AsRef::as_ref) {
        let (verb, spots) = text.split_once(' ').unwrap_or((text, ""));
        let index = verbs.iter().position(|(known, _)| known == verb).unwrap_or_else(|| {
            verbs.push((verb.to_owned(), Vec::new()));
            verbs.len() - 1
        });
        for spot in spots.split_whitespace() {
            if !verbs[index].1.iter().any(|known| known == spot) {
                verbs[index].1.push(spot.to_owned());
            }
        }
    }
    for (_, spots) in &mut verbs {
        // The choices begin with the cards of the deciding seat, but players expect cards in the order of their names.
        spots.sort_by_key(|spot| spot.parse().map(|spot: Spot| (spot.seat().index(), spot.number())).ok());
    }
    let shown = verbs.iter().map(|(verb, spots)| match (verb.as_str(), &spots[..]) {
        (verb, []) => verb.to_owned(),
        ("swap", [one, other]) => format!("swap {one} {other}"),
        ("swap", spots) => format!("swap two of {}", spots.join(" ")),
        (verb, spots) => format!("{verb} {}", spots.join(" ")),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The decision that an answer means: its words, possibly shortened, or only its cards.
/// Fails with a message for the player if the answer fits no choice or several.
fn understand<'c>(answer: &str, choices: &'c [String]) -> Result<&'c str, String> {
    let mut given: Vec<&str> = answer.split_whitespace().collect();
    if given.is_empty() {
        return match choices {
            [only] => Ok(only),
            choices if choices.iter().any(|choice| choice == "pass") => Ok("pass"),
            _ => Err(format!("choose one of: {} (? for help)", offer(choices))),
        };
    }
    let fits_choice = |given: &[&str], choice: &str| {
        let words: Vec<&str> = choice.split(' ').collect();
        let verb_first = given[0].parse::<Spot>().is_err();
        let words = if verb_first { &words[..] } else { &words[1..] };
        // Cards must be typed in full: a1 does not mean a10.
        let fits = |(index, (given, word)): (usize, (&&str, &&str))| {
            let is_synonym = matches!((*given, *word), ("discard", "drop") | ("peek", "look"));
            if verb_first && index == 0 { word.starts_with(given) || is_synonym } else { given == word }
        };
        given.len() == words.len() && given.iter().zip(words).enumerate().all(fits)
    };
    let meaning = |given: &[&str]| -> Vec<&str> {
        choices.iter().map(String::as_str).filter(|choice| fits_choice(given, choice)).collect()
    };
    let mut meant = meaning(&given);
    if meant.is_empty() && given.len() >= 2 {
        // The cards of a swap may be in either order.
        let last = given.len() - 1;
        given.swap(last - 1, last);
        meant = meaning(&given);
    }
    match &meant[..] {
        [only] => Ok(only),
        [] => Err(format!("`{}` is not possible; choose one of: {} (? for help)", excerpt(answer), offer(choices))),
        several => Err(format!("`{answer}` could mean {}", offer(several))),
    }
}

#[cfg(test)]
mod tests;
