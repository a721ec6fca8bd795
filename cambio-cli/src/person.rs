//! A person at the table, who reads what the seat perceives and answers at a prompt.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use cambio_core::{Action, Agent, AgentError, Briefing, Notice, Observation, Phase, RoundResult, Rules, Seat, shown};
use cambio_exec::CancelToken;
use cambio_view::{Narrator, Worth, cards_in_short, rules_in_short, scores_in_words};

use crate::say::next_line;

/// How often the wait for an answer checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The most bytes of an answer.
const LINE: u64 = 4096;

/// An agent that asks the person behind an input and an output. It leaves the table when either of them is closed.
pub(super) struct Person<O> {
    /// The typed lines. A thread of its own waits for them, so that an interrupt is noticed.
    lines: Receiver<io::Result<Vec<u8>>>,
    /// Cancelled when the user interrupts.
    interrupt: CancelToken,
    out: O,
    /// The names of the players, seat a first.
    names: Vec<String>,
    /// Whether the board shows the cards that the seat has seen.
    notes: bool,
    narrator: Narrator,
    seat: Seat,
    /// Whether the board is due before the next question.
    is_board_due: bool,
    /// Why the person has left, if it has.
    left: Option<String>,
    /// The rules, once they are known.
    rules: Option<Rules>,
    /// Whether Enter has been answered with a question because a card would match.
    has_doubted: bool,
}

/// The answer to `?`.
const HELP: &str = "Answer with a decision as it is offered, such as `keep a2`, or with the beginning
of its word, such as `k a2`, or with its card alone, such as `a2`. Enter alone
takes the only decision there is, or passes; if you know a card that matches,
Enter asks first. Seats have letters, their cards
numbers: b1 is the first card of seat b. To touch a card is a bluff, and to
cheat is to look at an own card for a penalty card, where the rules have it.
  table   show the table again
  deck    show what the cards are worth and can do
  quit    leave the table";

impl<O: Write + Send> Person<O> {
    pub(super) fn new(
        rules: &Rules,
        mut input: impl BufRead + Send + 'static,
        out: O,
        names: Vec<String>,
        notes: bool,
        interrupt: CancelToken,
    ) -> Person<O> {
        let (sender, lines) = sync_channel(1);
        // The thread ends with the receiver, the input or the process.
        std::thread::spawn(move || {
            let lines = std::iter::from_fn(|| next_line(&mut input, LINE).transpose());
            lines.map_while(|line| sender.send(line).ok()).for_each(drop);
        });
        let narrator = Narrator::for_players(rules);
        Person {
            lines,
            interrupt,
            out,
            names,
            notes,
            narrator,
            seat: Seat::A,
            is_board_due: false,
            left: None,
            rules: None,
            has_doubted: false,
        }
    }

    fn say(&mut self, line: &str) {
        if let Err(error) = writeln!(self.out, "{line}") {
            self.left.get_or_insert(format!("the player cannot be told anything: {error}"));
        }
    }

    fn leave(&mut self) {
        self.left.get_or_insert("the player has left".to_owned());
    }

    /// The next line of the input, trimmed; `None` at the end.
    fn read(&mut self) -> Option<String> {
        if let Err(error) = write!(self.out, "> ").and_then(|()| self.out.flush()) {
            self.left = Some(format!("the player cannot be asked: {error}"));
            return None;
        }
        loop {
            match self.lines.recv_timeout(LOOK_EVERY) {
                // Bytes that are not text match no decision, and the answer says so.
                Ok(Ok(line)) => return Some(String::from_utf8_lossy(&line).trim().to_lowercase()),
                Ok(Err(error)) => self.left = Some(format!("the player cannot be heard: {error}")),
                Err(RecvTimeoutError::Timeout) if !self.interrupt.is_cancelled() => continue,
                Err(_) => {
                    self.say("");
                    self.leave();
                }
            }
            return None;
        }
    }

    fn label(&self, card: cambio_core::Card) -> &str {
        self.narrator.label(card)
    }

    /// The table as the seat knows it, one line for each seat.
    fn board(&self, view: &Observation<'_>) -> String {
        let table = view.table();
        let mut lines = Vec::new();
        for (&seat, name) in Seat::ALL[..table.seats()].iter().zip(&self.names) {
            let cards: Vec<String> = table
                .layout(seat)
                .iter_from(seat)
                .map(|spot| match view.face(spot).filter(|_| self.notes) {
                    Some(card) => format!("{spot}={}", self.label(card)),
                    None => spot.to_string(),
                })
                .collect();
            let mut who = if seat == self.seat { "you".to_owned() } else { name.clone() };
            if table.callers().contains(seat) {
                who += ", called";
            }
            if table.safe().contains(seat) {
                who += ", safe";
            }
            lines.push(format!("  {:<34}  {who}", cards.join("  ")));
        }
        let top = table.top().map_or("nothing lies open".to_owned(), |card| format!("{} lies open", self.label(card)));
        let (pile, stock) = (table.pile_len(), table.stock_len());
        let cards = if pile == 1 { "card" } else { "cards" };
        lines.push(format!("  {top}; {pile} {cards} on the pile, {stock} in the stock"));
        lines.join("\n")
    }

    /// Whether Enter alone would throw a known match away for the first time; then it asks.
    fn doubts(&mut self, view: &Observation<'_>) -> bool {
        let known = view.known_matches();
        if !self.notes || known.is_empty() || !view.choices().contains(Action::Pass) || self.has_doubted {
            return false;
        }
        self.has_doubted = true;
        let known: Vec<String> = known.iter_from(view.seat()).map(|spot| spot.to_string()).collect();
        self.say(&format!(
            "{} would match: Enter again passes all the same, snap {} snaps",
            known.join(" and "),
            known[0]
        ));
        true
    }

    /// Asks until there is a decision; `None` if the person leaves.
    fn ask(&mut self, view: &Observation<'_>) -> Option<Action> {
        self.has_doubted = false;
        let choices: Vec<Action> = view.choices().iter().collect();
        let question = format!("{}: {}", self.narrator.question(view, self.notes), offer(&choices));
        self.say(&textwrap::fill(&question, textwrap::Options::new(80).subsequent_indent("  ")));
        loop {
            match self.read()?.as_str() {
                "quit" | "exit" => {
                    self.leave();
                    return None;
                }
                "?" | "help" => self.say(HELP),
                "table" => self.say(&self.board(view)),
                "deck" => {
                    let options = textwrap::Options::new(80).subsequent_indent("             ");
                    let worth = Worth::all(view.rules());
                    worth.iter().for_each(|worth| self.say(&textwrap::fill(&worth.to_string(), &options)));
                }
                "" if self.doubts(view) => {}
                answer => match understand(answer, &choices) {
                    Ok(action) => return Some(action),
                    Err(sentence) => self.say(&sentence),
                },
            }
        }
    }
}

impl<O: Write + Send> Person<O> {
    fn show_result(&mut self, result: &RoundResult) {
        let winners: Vec<String> = result.winners.iter_from(result.starter).map(|seat| seat.to_string()).collect();
        let verb = if winners.len() == 1 { "wins" } else { "share" };
        let told = self.rules.map_or(Vec::new(), |rules| scores_in_words(&rules, result));
        for line in &told {
            self.say(&format!("  {line}"));
        }
        self.say(&format!("  {} {verb} the round", winners.join(" and ")));
        self.say(&format!("  it adds to the totals: {}", by_seat(result.scores())));
    }
}

impl<O: Write + Send> Agent for Person<O> {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.seat = briefing.seat;
        self.left = None;
        self.rules = Some(*briefing.rules);
        for line in rules_in_short(briefing.rules).into_iter().chain([cards_in_short(briefing.rules)]) {
            if !line.is_empty() {
                self.say(&textwrap::fill(&line, textwrap::Options::new(80).subsequent_indent("  ")));
            }
        }
        self.left.clone().map_or(Ok(()), |reason| Err(reason.into()))
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::RoundBegins(standing) => {
                self.is_board_due = true;
                self.say(&format!("\nround {}: seat {} starts", standing.round + 1, standing.setup.starter));
            }
            Notice::Event(sighting) => {
                if let Some(line) = self.narrator.line(sighting, |face| face) {
                    self.say(&line);
                }
            }
            Notice::Table(_) => {}
            Notice::RoundEnds(result) => self.show_result(result),
            Notice::MatchEnds(result) => {
                self.say(&format!("\nthe match is over, totals: {}", by_seat(&result.totals)));
            }
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        if std::mem::take(&mut self.is_board_due) || view.table().phase() == Phase::Start {
            self.say(&self.board(view));
        }
        let decided = self.ask(view);
        match &self.left {
            Some(reason) => Err(reason.clone().into()),
            None => decided.ok_or_else(|| "the player has left".into()),
        }
    }
}

/// Numbers with their seats, seat a first.
fn by_seat<T: std::fmt::Display>(values: &[T]) -> String {
    let with_seat = Seat::ALL.iter().zip(values).map(|(seat, value)| format!("{seat} {value}"));
    with_seat.collect::<Vec<_>>().join(", ")
}

/// The list of decisions on offer. Decisions that differ only by their card stand together.
fn offer(choices: &[Action]) -> String {
    let mut verbs: Vec<(String, Vec<String>)> = Vec::new();
    for action in choices {
        let text = action.to_string();
        let (verb, spots) = text.split_once(' ').unwrap_or((&text, ""));
        let place = verbs.iter().position(|(known, _)| known == verb).unwrap_or_else(|| {
            verbs.push((verb.to_owned(), Vec::new()));
            verbs.len() - 1
        });
        for spot in spots.split_whitespace() {
            if !verbs[place].1.iter().any(|known| known == spot) {
                verbs[place].1.push(spot.to_owned());
            }
        }
    }
    for (_, spots) in &mut verbs {
        // The choices begin with the seat that decides; people look for a card by its name.
        spots.sort_by_key(|spot| spot.parse().map(|spot: cambio_core::Spot| (spot.seat().index(), spot.number())).ok());
    }
    let shown = verbs.iter().map(|(verb, spots)| match (verb.as_str(), &spots[..]) {
        (verb, []) => verb.to_owned(),
        ("swap", [one, other]) => format!("swap {one} {other}"),
        ("swap", spots) => format!("swap two of {}", spots.join(" ")),
        (verb, spots) => format!("{verb} {}", spots.join(" ")),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The decision that an answer means. The answer has the words of the decision or their beginnings, or only its cards.
///
/// # Errors
/// A sentence, if the answer fits none of the choices or several.
fn understand(answer: &str, choices: &[Action]) -> Result<Action, String> {
    let mut given: Vec<&str> = answer.split_whitespace().collect();
    if given.is_empty() {
        return match choices {
            [only] => Ok(*only),
            choices if choices.contains(&Action::Pass) => Ok(Action::Pass),
            _ => Err(format!("one of: {} (? helps)", offer(choices))),
        };
    }
    let fits_choice = |given: &[&str], action: &Action| {
        let text = action.to_string();
        let words: Vec<&str> = text.split(' ').collect();
        let verb_first = given[0].parse::<cambio_core::Spot>().is_err();
        let words = if verb_first { &words[..] } else { &words[1..] };
        // A card has to be named in full: a1 does not stand for a10.
        let fits = |(place, (given, word)): (usize, (&&str, &&str))| {
            if verb_first && place == 0 { word.starts_with(given) } else { given == word }
        };
        given.len() == words.len() && given.iter().zip(words).enumerate().all(fits)
    };
    let mut meant: Vec<Action> = choices.iter().copied().filter(|action| fits_choice(&given, action)).collect();
    if meant.is_empty() && given.len() >= 2 {
        // The cards of a swap may come in the other order.
        let last = given.len() - 1;
        given.swap(last - 1, last);
        meant = choices.iter().copied().filter(|action| fits_choice(&given, action)).collect();
    }
    match &meant[..] {
        [only] => Ok(*only),
        [] => Err(format!("`{}` is not offered; one of: {} (? helps)", shown(answer), offer(choices))),
        several => Err(format!("`{answer}` could be {}", offer(several))),
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::{Bounded as _, Key, Purpose};
    use cambio_core::{Dice, PRESETS, Setup, State};

    use super::*;

    #[test]
    fn every_decision_is_understood_by_its_words_whatever_else_is_offered() {
        let mut offered = 0;
        for (preset, seats) in PRESETS.into_iter().zip([2, 4, 3, 2, 2, 2]) {
            let rules = Rules::preset(preset).unwrap();
            let stream = Key::new(8, 0).stream(Purpose::Agent, 0);
            let mut chance = Dice(stream.clone());
            let setup = Setup::new(&rules, seats);
            let mut picks = Dice(stream);
            for _ in 0..20 {
                let mut deck = rules.deck().to_vec();
                picks.0.shuffle(&mut deck);
                let mut state = State::deal(&setup, &deck, &mut chance, &mut ()).unwrap();
                while state.actor().is_some() {
                    let choices: Vec<Action> = state.choices().iter().collect();
                    for &action in &choices {
                        assert_eq!(understand(&action.to_string(), &choices), Ok(action), "{}", offer(&choices));
                        offered += 1;
                    }
                    state.apply(choices[picks.0.below(choices.len() as u32) as usize], &mut chance, &mut ()).unwrap();
                }
            }
        }
        assert!(offered > 10_000, "{offered}");
    }

    #[test]
    fn answers_may_be_short_where_they_mean_one_decision() {
        let read = |list: &str| list.split(", ").map(|action| action.parse().unwrap()).collect::<Vec<Action>>();
        let held = read("drop, keep a1, keep a2, keep a10");
        assert_eq!(understand("d", &held), Ok(Action::Drop));
        assert_eq!(understand("a1", &held), Ok(held[1]));
        assert_eq!(understand("k a10", &held), Ok(held[3]));
        assert_eq!(
            understand("k", &held),
            Err("`k` is not offered; one of: drop, keep a1 a2 a10 (? helps)".to_owned())
        );
        assert_eq!(understand("", &held), Err("one of: drop, keep a1 a2 a10 (? helps)".to_owned()));
        let power = read("skip, swap a1 b1, swap a1 b2, swap b1 b2");
        assert_eq!(understand("b1 a1", &power), Ok(power[1]));
        assert_eq!(understand("sw b2 a1", &power), Ok(power[2]));
        assert_eq!(understand("s", &power), Ok(Action::Skip));
        assert_eq!(offer(&power), "skip, swap two of a1 b1 b2");
        let window = read("pass, snap a1, touch a1");
        assert_eq!(understand("", &window), Ok(Action::Pass));
        assert_eq!(understand("a1", &window), Err("`a1` could be snap a1, touch a1".to_owned()));
        assert_eq!(understand("", &read("draw")), Ok(Action::Draw));
    }

    /// Plays a round in seat a against an agent that draws and drops. Returns the output.
    fn played(input: &'static str, notes: bool) -> (String, Option<String>) {
        struct Idle;
        impl Agent for Idle {
            fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
                let choices = view.choices();
                let idle = [Action::Pass, Action::Drop, Action::Skip, Action::End, Action::Draw];
                Ok(idle.into_iter().find(|&action| choices.contains(action)).or(choices.nth(0)).unwrap())
            }
        }

        let mut out = Vec::new();
        let rules = Rules::preset("classic").unwrap();
        let names = vec!["you".to_owned(), "idle".to_owned()];
        let person = Person::new(&rules, input.as_bytes(), &mut out, names, notes, CancelToken::new());
        let mut agents: Vec<Box<dyn Agent + '_>> = vec![Box::new(person), Box::new(Idle)];
        let pairing = cambio_core::Pairing { rules, seats: 2, key: Key::new(5, 0) };
        let error = cambio_core::play_match(&pairing, &mut agents, &mut ()).err().map(|error| error.to_string());
        drop(agents);
        (String::from_utf8(out).unwrap(), error)
    }

    #[test]
    fn a_person_is_told_what_its_seat_saw_and_nothing_else() {
        let (told, error) = played("\nk a1\n\n\ncall\n", true);
        assert_eq!(error, None, "{told}");
        let before_the_end = told.split("the round ends: ").next().unwrap();
        for expected in [
            "a peeks at a3: Ks",
            "b peeks at b3\n",
            "a1  a2  a3=Ks  a4=2c",
            "a draws 7d",
            "a keeps it in a1, Kd goes",
            "Kd lies open; a3 would match: pass, snap a1 a2 a3 a4 b1 b2 b3 b4",
            "b draws a card\n",
            "a3 would match: Enter again passes all the same, snap a3 snaps",
        ] {
            assert!(before_the_end.contains(expected), "{expected} in:\n{told}");
        }
        // The opponent's cards are turned up only at the end.
        assert!(
            !before_the_end.contains("b1=") && !before_the_end.contains("b1:") && told.contains("    b1: "),
            "{told}"
        );
        assert!(told.starts_with("Have the fewest points when the round ends."), "{told}");
        assert!(told.contains("\n  a called, but was not lowest: "), "{told}");
        assert!(told.ends_with("the match is over, totals: a 0, b 1\n"), "{told}");
        let (told, _) = played("\nk a1\n\ncall\n", false);
        assert!(!told.contains("a3=") && !told.contains("would match") && told.contains("  a1  a2  a3  a4 "), "{told}");
    }

    #[test]
    fn what_is_no_text_is_asked_again() {
        let mut out = Vec::new();
        let mut person = Person::new(
            &Rules::preset("classic").unwrap(),
            &b"\xe9\n  Draw \n"[..],
            &mut out,
            Vec::new(),
            true,
            CancelToken::new(),
        );
        assert_eq!(person.read().as_deref(), Some("\u{fffd}"));
        assert_eq!((person.read().as_deref(), person.read()), (Some("draw"), None));
        assert_eq!(person.left.as_deref(), Some("the player has left"));
    }

    #[test]
    fn who_leaves_ends_the_match() {
        for input in ["draw\n", "draw\nquit\ndrop\n"] {
            let (told, error) = played(input, true);
            assert_eq!(
                error.as_deref(),
                Some("seat a cannot go on: the player has left (round 1, decision 2)"),
                "{told}"
            );
        }
    }
}
