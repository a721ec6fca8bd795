//! Replays records: checks every decision, chance outcome and result against the rules.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::engine::chance::{Chance, RaceOrder, SnapRace};
use crate::play::RoundResult;
use crate::play::observer::Observer;
use crate::play::round::Round;
use crate::record::{FINGERPRINT, Fingerprinter, InvalidRecord, Record, RoundRecord, TRACE, brief, results, scores};
use crate::text::excerpt;
use crate::{Action, Card, Choices, Match, Rules, RulesSpec, Score, Seat, State};

/// Replays a record, which may end early, and fills in missing results.
///
/// `observer` receives all events up to the first error.
///
/// # Errors
/// The first error: an illegal decision, an impossible deck, a missing or left-over chance outcome, or a wrong result.
/// The error contains the round, the decision, the expectation and the value found.
pub fn replay<W: Observer>(record: &Record, observer: &mut W) -> Result<Record, InvalidRecord> {
    let (rules, seats) = table_of(record)?;
    check_header(record, seats)?;
    let starter = first_starter(&rules, seats, record.rounds.first())?;
    let mut game = Match::new(&rules, seats, starter).map_err(|error| InvalidRecord::new(error.to_string()))?;
    let mut filled = record.clone();
    let mut stopped = false;
    for (number, round) in filled.rounds.iter_mut().enumerate() {
        let flaw = |what: &str| Err(InvalidRecord::new(what).in_round(number + 1));
        if game.is_over() {
            return flaw("unexpected round: the match is over");
        }
        if stopped {
            return flaw("unexpected round: the previous round has not ended");
        }
        match replay_round(&game, round, observer).map_err(|flaw| flaw.in_round(number + 1))? {
            Some(result) => game.add(&result),
            None => stopped = true,
        }
    }
    if game.is_over() {
        observer.match_ends(&game);
    }
    let ranks: Vec<usize> = game.ranks().collect();
    check_scores(&mut filled.fields, "totals", game.totals(), game.is_over())?;
    check(&mut filled.fields, "ranks", &Value::from(ranks), game.is_over())?;
    Ok(filled)
}
/// The rules and the number of seats of a record.
pub(super) fn table_of(record: &Record) -> Result<(Rules, usize), InvalidRecord> {
    let rules = record.fields.get("rules").unwrap_or(&Value::Null);
    let rules = RulesSpec::from_json(rules).and_then(RulesSpec::validate).map_err(|error| {
        InvalidRecord::new(if record.fields.contains_key("rules") {
            error.to_string()
        } else {
            "`rules` is missing".to_owned()
        })
    })?;
    let seats = record.fields.get("seats");
    match seats.and_then(Value::as_u64) {
        Some(seats @ 2..=8) => Ok((rules, seats as usize)),
        _ => Err(InvalidRecord::field("seats", "a whole number from 2 to 8", seats)),
    }
}

/// Checks the types of the fields about the origin of the record. Each of them may be missing.
fn check_header(record: &Record, seats: usize) -> Result<(), InvalidRecord> {
    for (field, value) in &record.fields {
        let allowed = match (field.as_str(), value) {
            (_, Value::Null) | ("seed", Value::String(_) | Value::Number(_)) => continue,
            ("seed", _) => "a text",
            ("deal" | "rotation", _) if !value.is_u64() => "a whole number",
            ("agents", Value::Array(agents)) if agents.len() == seats && agents.iter().all(Value::is_string) => {
                continue;
            }
            ("agents", _) => &format!("a list of {seats} texts, one for each seat"),
            _ => continue,
        };
        return Err(InvalidRecord::field(field, allowed, Some(value)));
    }
    Ok(())
}

/// The starter of round 1: as in the record if it has one, otherwise by the rules with seat a as the dealer.
fn first_starter(rules: &Rules, seats: usize, round: Option<&RoundRecord>) -> Result<Seat, InvalidRecord> {
    match round.and_then(|round| round.starter.as_ref()) {
        Some(letter) => seat_of(letter, seats).ok_or_else(|| {
            InvalidRecord::new(format!("starter must be one of the {seats} seats, found \"{}\"", excerpt(letter)))
                .in_round(1)
        }),
        None => Ok(match rules.spec().starter {
            crate::rules::knob::Starter::AfterDealer => Seat::B,
            _ => Seat::A,
        }),
    }
}

fn seat_of(letter: &str, seats: usize) -> Option<Seat> {
    let mut letters = letter.chars();
    let seat = Seat::from_letter(letters.next()?)?;
    (letters.next().is_none() && seat.index() < seats).then_some(seat)
}

/// Checks a result of the record against `due`. If the record does not have the result and `fills` is true, adds it.
fn check(
    fields: &mut serde_json::Map<String, Value>,
    name: &str,
    due: &Value,
    fills: bool,
) -> Result<(), InvalidRecord> {
    match fields.get(name) {
        Some(Value::Null) | None => {
            if fills {
                fields.insert(name.to_owned(), due.clone());
            }
            Ok(())
        }
        Some(given) if given == due => Ok(()),
        Some(given) => Err(InvalidRecord::new(format!("{name} must be {due}, found {}", brief(given)))),
    }
}

fn check_scores(
    fields: &mut serde_json::Map<String, Value>,
    name: &str,
    due: &[Score],
    fills: bool,
) -> Result<(), InvalidRecord> {
    if let Some(Value::Array(given)) = fields.get(name)
        && given.len() == due.len()
        && due.iter().zip(given).all(|(due, given)| due.is(given))
    {
        return Ok(());
    }
    check(fields, name, &scores(due), fills)
}

/// The chance outcomes of a record. An error is stored in `flaw`, because the methods of [`Chance`] cannot fail.
struct RecordedChance<'a> {
    rules: &'a Rules,
    round: &'a RoundRecord,
    races: usize,
    reshuffles: usize,
    flaw: Option<String>,
}

impl RecordedChance<'_> {
    fn fail(&mut self, what: String) {
        self.flaw.get_or_insert(what);
    }
}

impl Chance for RecordedChance<'_> {
    fn draw(&mut self, pool: &[Card]) -> usize {
        pool.len() - 1
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        let number = self.reshuffles + 1;
        let mut due: BTreeMap<&str, i32> = BTreeMap::new();
        for &card in stock.iter() {
            *due.entry(self.rules.label(card)).or_default() += 1;
        }
        let round = self.round;
        let Some(labels) = round.reshuffles.get(self.reshuffles) else {
            return self.fail(format!("missing reshuffle {number}: expected the pile without its top card, shuffled"));
        };
        self.reshuffles += 1;
        for label in labels {
            *due.entry(label).or_default() -= 1;
        }
        if let Some((label, copies)) = due.iter().find(|(_, copies)| **copies != 0) {
            let fault = if *copies > 0 { "missing" } else { "extra" };
            return self.fail(format!(
                "reshuffle {number} must be the pile without its top card; {fault} cards: {} `{}`",
                copies.abs(),
                excerpt(label)
            ));
        }
        for (card, label) in stock.iter_mut().rev().zip(labels) {
            *card = self.rules.card(label).expect("the labels were just found on the pile");
        }
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let number = self.races + 1;
        let due: Vec<String> = race.snappers.each().map(|seat| seat.to_string()).collect();
        let Some(letters) = self.round.races.get(self.races) else {
            self.fail(format!("missing race {number}: expected an order of the seats {}", due.join(", ")));
            return RaceOrder::new(race.snappers.each());
        };
        self.races += 1;
        let mut sorted = letters.clone();
        sorted.sort_unstable();
        if sorted != due {
            let (due, found) = (due.join(", "), brief(&json!(letters)));
            self.fail(format!("race {number} must be an order of the seats {due}, found {found}"));
            return RaceOrder::new(race.snappers.each());
        }
        RaceOrder::new(letters.iter().filter_map(|letter| seat_of(letter, race.seats)))
    }
}

fn replay_round<W: Observer>(
    game: &Match,
    filled: &mut RoundRecord,
    observer: &mut W,
) -> Result<Option<RoundResult>, InvalidRecord> {
    let round = filled.clone();
    let setup = game.setup();
    let rules = setup.rules;
    match &filled.starter {
        None => filled.starter = Some(setup.starter.to_string()),
        Some(given) if *given == setup.starter.to_string() => {}
        Some(given) => {
            return Err(InvalidRecord::new(format!(
                "starter must be \"{}\", found \"{}\"",
                setup.starter,
                excerpt(given)
            )));
        }
    }
    if round.deck.len() != rules.deck().len() {
        let (found, due) = (round.deck.len(), rules.deck().len());
        return Err(InvalidRecord::new(format!("impossible deck: `{}` has {due} cards, found {found}", rules.name())));
    }
    let deck = round.deck.iter().map(|label| {
        rules.card(label).ok_or_else(|| {
            InvalidRecord::new(format!("impossible deck: `{}` has no card `{}`", rules.name(), excerpt(label)))
        })
    });
    let deck = deck.collect::<Result<Vec<Card>, InvalidRecord>>()?;
    let mut fingerprinter = Fingerprinter::default();
    let mut observer = (&mut fingerprinter, observer);
    let mut script = RecordedChance { rules: &rules, round: &round, races: 0, reshuffles: 0, flaw: None };
    let mut steps = Round::new(&setup);
    let dealt = steps.deal(&game.standing(), Some(&deck), &mut script, &mut observer);
    dealt.map_err(|error| InvalidRecord::new(error.to_string()))?;
    let trace = read_trace(filled)?;
    check_trace(trace.as_deref(), 0, observer.0, String::new)?;
    for (number, text) in round.decisions.iter().enumerate() {
        let flaw = |what: String| InvalidRecord::new(what).at(number + 1);
        let (seat, action) = read_decision(steps.state(), text).map_err(flaw)?;
        let choices = steps.state().choices();
        steps.act(action, &mut script, &mut observer).expect("the decision was just found legal");
        if let Some(what) = script.flaw {
            return Err(flaw(format!("`{text}`: {what}")));
        }
        let context = || format!("`{text}`; legal: {}", in_record_notation(seat, &choices));
        check_trace(trace.as_deref(), number + 1, observer.0, context)?;
    }
    let last = |what: String| InvalidRecord {
        decision: Some(round.decisions.len()).filter(|&n| n > 0),
        ..InvalidRecord::new(what)
    };
    if script.races < round.races.len() {
        return Err(last(left_over("race", round.races.len() - script.races)));
    }
    if script.reshuffles < round.reshuffles.len() {
        return Err(last(left_over("reshuffle", round.reshuffles.len() - script.reshuffles)));
    }
    let Some(result) = steps.end(&mut observer) else {
        for name in ["ended", "callers", "points", "scores"] {
            if filled.fields.get(name).is_some_and(|value| !value.is_null()) {
                let asked =
                    steps.state().actor().map_or_else(String::new, |seat| format!(": seat {seat} is to decide"));
                return Err(last(format!("{name} is given, but the round has not ended{asked}")));
            }
        }
        return Ok(None);
    };
    let [ended, callers, points, _] = results(&result);
    for (name, due) in [ended, callers, points] {
        check(&mut filled.fields, name, &due, true)?;
    }
    check_scores(&mut filled.fields, "scores", result.scores(), true)?;
    if let Some(given) = filled.fields.get(FINGERPRINT).filter(|given| !given.is_null()) {
        let due = fingerprinter.of_round().to_string();
        if given.as_str() != Some(&due) {
            return Err(InvalidRecord::new(format!(
                "{FINGERPRINT} must be {due}, found {}: a decision, card or race was altered, although all are legal",
                brief(given)
            )));
        }
    }
    Ok(Some(result))
}

fn left_over(what: &str, number: usize) -> String {
    let (plural, are) = if number == 1 { ("", "is") } else { ("s", "are") };
    format!("{number} {what}{plural} {are} left over")
}

/// Parses a decision and checks that it is legal now.
pub(super) fn read_decision(state: &State, text: &str) -> Result<(Seat, Action), String> {
    let Some(asked) = state.actor() else {
        return Err(format!("illegal decision `{}`; legal: nothing, the round is over", excerpt(text)));
    };
    let choices = state.choices();
    let read = || {
        let (letter, action) = text.split_once(' ')?;
        let seat = seat_of(letter, state.table().seats())?;
        Some((seat, action.parse::<Action>().ok()?))
    };
    match read() {
        Some((seat, action)) if seat == asked && choices.contains(action) => Ok((seat, action)),
        _ => Err(format!("illegal decision `{}`; legal: {}", excerpt(text), in_record_notation(asked, &choices))),
    }
}

/// The choices of one seat in the notation of records.
fn in_record_notation(seat: Seat, choices: &Choices) -> String {
    choices.iter().map(|action| format!("{seat} {action}")).collect::<Vec<_>>().join(", ")
}

/// The trace of a round as hexadecimal digits, if the record has one.
fn read_trace(round: &RoundRecord) -> Result<Option<String>, InvalidRecord> {
    match round.fields.get(TRACE) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(digits)) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => Ok(Some(digits.clone())),
        Some(other) => Err(InvalidRecord::new(format!("{TRACE} must be hexadecimal digits, found {}", brief(other)))),
    }
}

/// Compares a trace with the match after `decisions` decisions. `context` describes the last decision for errors.
fn check_trace(
    trace: Option<&str>,
    decisions: usize,
    fingerprinter: &Fingerprinter,
    context: impl Fn() -> String,
) -> Result<(), InvalidRecord> {
    let given = trace.and_then(|digits| digits.get(4 * decisions..4 * decisions + 4));
    if given.is_none_or(|given| given == fingerprinter.digits()) {
        return Ok(());
    }
    if decisions == 0 {
        return Err(InvalidRecord::new(format!("the deck or the starter was altered ({TRACE})")));
    }
    let what = "the decision, or the race or new stock after it, was altered";
    Err(InvalidRecord::new(format!("{what} ({TRACE}): {}", context())).at(decisions))
}
