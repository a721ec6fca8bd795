//! Positions: what one seat knows at a moment, without its history, as one line of text.
#![doc = include_str!("position.md")]

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::engine::event::{EndReason, Event, Sighting, SnapOutcome};
use crate::engine::observation::{OwnedObservation, Private};
use crate::engine::state::Setup;
use crate::engine::table::{CardSource, CarryOver, Opening, Phase, Table};
use crate::rng::Stream;
use crate::rules::card::{Card, MAX_KINDS, Power};
use crate::rules::knob::{CallWhen, Callers, Peek, Window};
use crate::rules::seat::{MAX_SEATS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::text::{ParseError, excerpt};
use crate::{
    Action, Agent, AgentError, Briefing, Knowledge, Notice, Observation, Observer, Rules, RulesSpec, Score, Standing,
    State, View as _,
};

/// What one seat knows at a moment, without its history: its observation and the standing of the match. [This
/// module](self) describes the text.
///
/// ```
/// use cambio_core::{Position, Seat, View as _};
///
/// let position: Position = "classic a=7s,2h,?,? b=?/b,?/b,?,? turns=6 start=b pile=9c,4d,Kh,Kd".parse().unwrap();
/// let view = position.observation();
/// assert_eq!((view.seat(), view.known_points(), view.table().stock_len()), (Seat::A, 9, 42));
/// assert_eq!(view.choices().to_string(), "draw, take");
/// assert_eq!(position.to_string().parse(), Ok(position));
///
/// let wrong = "classic a=7s,7s,?,? b=?,?,?,?".parse::<Position>().unwrap_err();
/// assert_eq!(wrong.to_string(), "the position has 2 cards 7s, but the deck has 1");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Position {
    view: OwnedObservation,
    totals: Vec<Score>,
    rounds: usize,
}

impl Position {
    /// The position of a seat, with the totals of the match before this round, seat a first, and the number of earlier rounds.
    ///
    /// # Panics
    /// If there is not one total for each seat.
    pub fn new(view: &Observation<'_>, totals: &[Score], rounds: usize) -> Position {
        Position::exact(view, totals, rounds).without_past()
    }

    /// The same with everything that the observation contains, such as the last window, although no later decision depends on it.
    ///
    /// # Panics
    /// If there is not one total for each seat.
    pub fn exact(view: &Observation<'_>, totals: &[Score], rounds: usize) -> Position {
        assert_eq!(totals.len(), view.table().seats(), "one total for each seat");
        Position { view: view.into(), totals: totals.to_vec(), rounds }
    }

    /// Reads the text of an [exact](Position::exact) position, which has the same observation. Its sightings may differ.
    ///
    /// # Errors
    /// If the text is not a position, or names seats, spots or cards that the table does not have.
    pub fn read_exact(text: &str) -> Result<Position, ParseError> {
        read(text, true)
    }

    /// The same position without what no later decision depends on: the last window, and the last power.
    fn without_past(mut self) -> Position {
        let table = &mut self.view.table;
        // A turn that cannot begin ends the round and is not counted.
        table.turn = turn_after(table.starter, table.turns, table.seats());
        let is_power = matches!(table.phase, Phase::Power | Phase::Show);
        let is_window = matches!(table.phase, Phase::Window | Phase::Gift | Phase::Chain);
        if !is_power {
            (table.step, table.pointed, table.named) = (0, SpotSet::EMPTY, SpotSet::EMPTY);
            (table.declined_look, table.carried_out) = (false, false);
        }
        if !is_window {
            (table.opener, table.opening) = (None, Opening::Landing);
        }
        if !is_power && !is_window {
            (table.power, table.won) = (Power::NONE, false);
        }
        self
    }

    /// What the seat observes.
    pub fn observation(&self) -> Observation<'_> {
        self.view.observation()
    }

    /// The totals of the match before this round, seat a first.
    pub fn totals(&self) -> &[Score] {
        &self.totals
    }

    /// The number of rounds before this one.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// The standing of the match when the round began.
    pub fn standing(&self) -> Standing<'_> {
        let table = &self.view.table;
        let (rules, starter, carry) = (table.rules, table.starter, table.carry);
        let setup = Setup { rules, seats: self.totals.len(), starter, carry };
        Standing { round: self.rounds, setup, totals: &self.totals }
    }

    /// The sightings of a made-up round that leads to this position, so that every agent can be asked for its decision: a
    /// deal, the cards that came and went, the turns, and last the looks, so that no agent has forgotten them.
    ///
    /// The decisions of the round are lost: the sightings are not evidence of the cards of the other seats. The pile becomes
    /// a part of the stock again if cards have left the table that are no longer on the pile.
    ///
    /// ```
    /// use cambio_core::{Event, Position, Seat, rng::SplitMix};
    ///
    /// let position: Position = "classic a=7s,2h,?,? b=?/b,?/b,?,? turns=5 pile=9c,4d".parse().unwrap();
    /// let seen = position.sightings().into_iter().filter(|sighting| matches!(sighting, Event::Peeked { .. }));
    /// assert_eq!(seen.count(), 4);
    /// let world = position.knowledge().sample(&position.observation(), &mut SplitMix::new(7, 0_u32));
    /// assert_eq!(world.observe(Seat::A), position.observation());
    /// ```
    pub fn sightings(&self) -> Vec<Sighting> {
        let OwnedObservation { table, private } = &self.view;
        let (rules, starter, extra) = (&table.rules, table.starter, table.carry.extra_card);
        let seats = &Seat::ALL[..table.seats()];
        let dealt = rules.dealt_spots(seats.len(), extra);
        let mut all = vec![Event::Dealt { starter, extra }];
        let kinds = || (0..MAX_KINDS).filter_map(Card::new);
        let took = if let Phase::Held(CardSource::Pile(card)) = table.phase { Some(card) } else { None };
        let mut pile: Vec<Card> = kinds().flat_map(|card| vec![card; table.on_pile(card)]).collect();
        if let Some(at) = pile.iter().position(|&card| Some(card) == table.top) {
            let top = pile.remove(at);
            pile.push(top);
        }
        pile.extend(took);
        let mut gone: Vec<Spot> = dealt.without(table.occupied).each().collect();
        let snapped =
            |(spot, card): (Spot, Card)| Event::Snapped { seat: spot.seat(), spot, card, verdict: SnapOutcome::Right };
        // Any cards stand for those that have left the pile. Only the first card of the pile is on them at the reshuffle.
        let lost = gone.len().saturating_sub(pile.len());
        if let (1.., Some(&first)) = (lost, pile.first()) {
            let mut others: Vec<Card> = rules.deck().to_vec();
            others.sort_by_key(|&card| card == first);
            others.pop();
            all.extend(gone.drain(..lost).zip(others).map(snapped));
            all.extend(gone.drain(..1).zip([pile.remove(0)]).map(snapped));
            all.push(Event::Reshuffled { cards: lost as u16 });
        }
        all.extend(table.occupied.without(dealt).each().map(|spot| Event::Penalised { seat: spot.seat(), spot }));
        let flipped = pile.split_off(gone.len().min(pile.len()));
        all.extend(gone.into_iter().zip(pile).map(snapped));
        all.extend(flipped.into_iter().map(|card| Event::Flipped { card }));
        let began = |turn: u16| Event::TurnBegan { seat: turn_after(starter, turn, table.seats()) };
        all.extend((1..=table.turns).map(began));
        all.extend(table.callers_in_order().map(|seat| Event::Called { seat }));
        for &seat in seats {
            all.extend(table.seen(seat).iter_from(seat).map(|spot| {
                let face = private.faces[spot.index()].filter(|_| seat == private.seat);
                let is_own = spot.seat() == seat;
                if is_own { Event::Peeked { seat, spot, face } } else { Event::Looked { seat, spot, face } }
            }));
        }
        let seat = table.turn;
        match table.phase {
            Phase::Held(CardSource::Pile(card)) => all.push(Event::Took { seat, card }),
            Phase::Held(CardSource::Stock) => all.push(Event::Drew { seat, face: private.held }),
            _ => {}
        }
        all
    }

    /// Begins a match for an agent, up to this position, so that it can decide. `stream` is the agent's only source of randomness.
    ///
    /// # Errors
    /// If the agent cannot play this match.
    pub fn seat(&self, agent: &mut impl Agent, stream: &Stream) -> Result<(), AgentError> {
        let (standing, seat) = (self.standing(), self.view.private.seat);
        agent.begin(&Briefing { rules: &standing.setup.rules, seats: self.totals.len(), seat, stream })?;
        agent.notice(Notice::RoundBegins(&standing));
        self.sightings().iter().for_each(|sighting| agent.notice(Notice::Event(sighting)));
        Ok(())
    }

    /// What the seat knows if the round was that of [`Position::sightings`]. Worlds are drawn uniformly from what the position
    /// leaves open: a card that was hidden on the table at a reshuffle may also be one of the cards of the new stock.
    pub fn knowledge(&self) -> Knowledge {
        let mut knowledge = Knowledge::new(&self.view.table.rules, self.totals.len(), self.view.private.seat);
        self.sightings().iter().for_each(|sighting| knowledge.notice(sighting));
        knowledge
    }
}

/// An observer that finds the position of the seat to act before one decision of a match.
///
/// ```
/// use cambio_core::position::PositionFinder;
/// use cambio_core::testing::RandomAgent;
/// use cambio_core::{MatchSetup, Rules, play_match, rng::Key};
///
/// let setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// let mut finder = PositionFinder::new(1, 3);
/// play_match(&setup, &mut [RandomAgent::default(), RandomAgent::default()], &mut finder).unwrap();
/// assert!(finder.found.unwrap().to_string().starts_with("classic a="));
/// ```
#[derive(Clone, Debug)]
pub struct PositionFinder {
    wanted: (usize, usize),
    /// The numbers of the current round and of its last decision.
    at: (usize, usize),
    /// The totals before the round.
    totals: Vec<Score>,
    /// The position, once the decision is reached.
    pub found: Option<Position>,
}

impl PositionFinder {
    /// Finds the position before this decision of this round, both counted from 1.
    pub fn new(round: usize, decision: usize) -> PositionFinder {
        PositionFinder { wanted: (round, decision), at: (0, 0), totals: Vec::new(), found: None }
    }
}

impl Observer for PositionFinder {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.at = (self.at.0 + 1, 0);
        self.totals = standing.totals.to_vec();
    }

    fn decides(&mut self, state: &State, seat: Seat, _: Action) {
        self.at.1 += 1;
        if self.at == self.wanted {
            self.found = Some(Position::new(&state.observe(seat), &self.totals, self.at.0 - 1));
        }
    }
}

/// The maximum number of turns, of reshuffles and of rounds.
const MOST: u16 = 10_000;
/// The maximum of a total, in units of [`Score::units`].
const MOST_TOTAL: u64 = 1 << 29;
/// The words of the flags of a table, in the order of [`flags`].
const FLAGS: [&str; 6] = ["frozen", "spent", "cheated", "declined", "used", "won"];

/// The flags of a table.
fn flags(table: &Table) -> [bool; FLAGS.len()] {
    [table.frozen, table.top_spent, table.cheated, table.declined_look, table.carried_out, table.won]
}

/// The name of a card: its label, or its number if the label contains a character of the notation.
fn name(rules: &Rules, card: Card) -> String {
    let label = rules.label(card);
    let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_plain { label.to_owned() } else { format!("#{}", card.kind()) }
}

fn letters(seats: impl IntoIterator<Item = Seat>) -> String {
    seats.into_iter().map(Seat::letter).collect()
}

fn joined<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    items.join(",")
}

/// The number of turns that have begun, if a text does not give it.
fn usual_turns(phase: Phase) -> u16 {
    u16::from(phase != Phase::Peek)
}

/// The seat whose turn it is after this many turns.
fn turn_after(starter: Seat, turns: u16, seats: usize) -> Seat {
    starter.ahead(usize::from(turns).saturating_sub(1) % seats, seats)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OwnedObservation { table, private } = &self.view;
        let (rules, seats) = (&table.rules, table.seats());
        let card = |card: Card| name(rules, card);
        write!(f, "{}", rules.text())?;
        for &seat in &Seat::ALL[..seats] {
            let spot = |spot: Spot| {
                let seen = table.seen_by(spot);
                let usual =
                    if private.faces[spot.index()].is_some() { SeatSet::only(private.seat) } else { SeatSet::EMPTY };
                let face = private.faces[spot.index()].map_or("?".to_owned(), card);
                match table.occupied.contains(spot) {
                    false => "-".to_owned(),
                    true if seen == usual => face,
                    true => format!("{face}/{}", letters(seen.iter_from(Seat::A))),
                }
            };
            let last = table.layout(seat).iter_of(seat).last().map_or(1, Spot::number);
            write!(f, " {seat}={}", joined((1..=last).filter_map(|number| Spot::new(seat, number)).map(spot)))?;
        }
        let mut pile: Vec<Card> =
            (0..MAX_KINDS).filter_map(Card::new).filter(|&card| table.on_pile(card) > 0).collect();
        pile.sort_by_key(|&card| Some(card) != table.top);
        let counted = |&kind: &Card| match table.on_pile(kind) {
            1 => card(kind),
            copies => format!("{}*{copies}", card(kind)),
        };
        let acting = (table.phase != Phase::Over).then_some(table.turn);
        let phase = match table.phase {
            Phase::Held(CardSource::Pile(_)) => "took",
            phase => phase.word(),
        };
        let power = (0..rules.kinds().len()).filter_map(Card::new).find(|&card| rules.power(card) == table.power);
        let is_power = matches!(table.phase, Phase::Power | Phase::Show);
        let is_usual = is_power && table.top.is_some_and(|top| rules.power(top) == table.power);
        let power = power.filter(|_| !table.power.is_none() && !is_usual);
        let usual_opener = table.top.filter(|_| table.phase == Phase::Window);
        let flags = FLAGS.into_iter().zip(flags(table)).filter_map(|(word, holds)| holds.then_some(word));
        let total = |score: &Score| match score.units() % Score::UNITS {
            0 => score.to_string(),
            _ => format!("{}/840", score.units()),
        };
        let has_totals = self.totals.iter().any(|total| total.units() != 0);
        let or_none = |seat: Option<Seat>| seat.map_or("-".to_owned(), |seat| seat.to_string());
        let fields = [
            ("view", private.seat.to_string(), table.asked.unwrap_or(Seat::A).to_string()),
            ("turns", table.turns.to_string(), usual_turns(table.phase).to_string()),
            ("start", table.starter.to_string(), "a".to_owned()),
            ("phase", phase.to_owned(), "start".to_owned()),
            ("act", or_none(table.asked), or_none(acting)),
            ("turn", table.turn.to_string(), turn_after(table.starter, table.turns, seats).to_string()),
            ("held", private.held.map_or(String::new(), card), String::new()),
            ("pile", joined(pile.iter().map(counted)), String::new()),
            ("calls", letters(table.callers_in_order()), String::new()),
            ("safe", letters(table.safe.iter_from(Seat::A)), String::new()),
            ("gap", joined(table.gap), String::new()),
            ("opener", table.opener.map_or(String::new(), card), usual_opener.map_or(String::new(), card)),
            ("opening", table.opening.word().to_owned(), Opening::Landing.word().to_owned()),
            ("power", power.map_or(String::new(), card), String::new()),
            ("step", table.step.to_string(), "0".to_owned()),
            ("looked", joined(table.pointed.iter_from(Seat::A)), String::new()),
            ("named", joined(table.named.iter_from(Seat::A)), String::new()),
            ("flags", joined(flags), String::new()),
            ("cards", letters(table.carry.extra_card.iter_from(Seat::A)), String::new()),
            ("peeks", letters(table.carry.extra_peek.iter_from(Seat::A)), String::new()),
            ("reshuffles", table.reshuffles.to_string(), "0".to_owned()),
            ("ended", table.ended.map_or(String::new(), |reason| reason.word().to_owned()), String::new()),
            ("round", self.rounds.to_string(), "0".to_owned()),
            ("totals", if has_totals { joined(self.totals.iter().map(total)) } else { String::new() }, String::new()),
        ];
        for (name, value, usual) in fields {
            if value != usual {
                write!(f, " {name}={value}")?;
            }
        }
        Ok(())
    }
}

/// The cards of the deck that are not in layouts, in a hand or on the pile; `None` if there are more than the deck has.
fn rest_of_deck(table: &Table) -> Option<u16> {
    let held = usize::from(matches!(table.phase, Phase::Held(_)));
    let elsewhere = table.occupied.len() + held + table.pile_len();
    table.rules.deck().len().checked_sub(elsewhere)?.try_into().ok()
}

/// The fields of a text that have not been read yet.
struct Fields<'t> {
    left: BTreeMap<&'t str, &'t str>,
    rules: &'t Rules,
}

type Read<T> = Result<T, ParseError>;

fn refuse<T>(field: &str, found: &str, expected: impl fmt::Display) -> Read<T> {
    Err(ParseError(format!("`{field}={}`: expected {expected}", excerpt(found))))
}

impl<'t> Fields<'t> {
    fn take(&mut self, field: &str) -> Option<&'t str> {
        self.left.remove(field)
    }

    /// The value of a field, or its usual value.
    fn or<T>(
        &mut self,
        field: &'static str,
        usual: T,
        expected: &str,
        read: impl Fn(&Rules, &str) -> Option<T>,
    ) -> Read<T> {
        let Some(text) = self.take(field) else { return Ok(usual) };
        read(self.rules, text).map_or_else(|| refuse(field, text, expected), Ok)
    }

    fn number(&mut self, field: &'static str, usual: u16) -> Read<u16> {
        let read = |text: &str| text.parse().ok().filter(|&number| number <= MOST);
        self.or(field, usual, &format!("a whole number up to {MOST}"), |_, text| read(text))
    }

    fn seat(&mut self, field: &'static str, usual: Seat) -> Read<Seat> {
        self.or(field, usual, "the letter of a seat", |_, text| read_seat(text))
    }

    fn seats(&mut self, field: &'static str) -> Read<Vec<Seat>> {
        self.or(field, Vec::new(), "letters of seats such as `ab`", |_, text| read_seats(text))
    }

    fn spots(&mut self, field: &'static str) -> Read<SpotSet> {
        let read = |text: &str| text.split(',').map(|spot| spot.parse::<Spot>().ok()).collect::<Option<SpotSet>>();
        self.or(field, SpotSet::EMPTY, "spots such as `b2`, with commas between them", |_, text| read(text))
    }

    fn card(&mut self, field: &'static str) -> Read<Option<Card>> {
        self.or(field, None, "the label of a card", |rules, text| read_card(rules, text).map(Some))
    }
}

fn read_seat(text: &str) -> Option<Seat> {
    read_seats(text)?.pop().filter(|_| text.len() == 1)
}

/// The seats with these letters; `None` if one occurs twice.
fn read_seats(text: &str) -> Option<Vec<Seat>> {
    let seats: Vec<Seat> = text.chars().map(Seat::from_letter).collect::<Option<_>>()?;
    let set: SeatSet = seats.iter().copied().collect();
    (!seats.is_empty() && set.len() == seats.len()).then_some(seats)
}

/// The label of the rules that differs from a text only in its case, in a clause for an error.
fn similar(rules: &Rules, text: &str) -> String {
    let labels = (0..rules.kinds().len()).filter_map(Card::new).map(|card| rules.label(card));
    labels
        .into_iter()
        .find(|label| label.eq_ignore_ascii_case(text))
        .map_or(String::new(), |label| format!(" (`{label}`?)"))
}

fn read_card(rules: &Rules, text: &str) -> Option<Card> {
    let Some(number) = text.strip_prefix('#') else { return rules.card(text) };
    Card::new(number.parse().ok()?).filter(|card| card.kind() < rules.kinds().len())
}

/// The rules at the start of a text, and the rest.
fn read_rules(text: &str) -> Read<(Rules, &str)> {
    if text.is_empty() || text.contains('\n') {
        let expected = "expected one line such as `classic a=7s,2h,?,? b=?,?,?,?`";
        return Err(ParseError(format!("{expected}, found {}", if text.is_empty() { "nothing" } else { "several" })));
    }
    let (spec, rest) = if text.starts_with('{') {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next().expect("the text is not empty");
        let value = value.map_err(|error| ParseError(format!("the rules are not valid JSON: {error}")))?;
        let rest = &text[values.byte_offset()..];
        (RulesSpec::from_json(&value), rest)
    } else {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        (RulesSpec::preset(name), rest)
    };
    let rules = spec.and_then(RulesSpec::validate).map_err(|error| ParseError(error.to_string()))?;
    Ok((rules, rest))
}

/// The fields of a text by their names.
fn read_fields(text: &str) -> Read<BTreeMap<&str, &str>> {
    let mut fields = BTreeMap::new();
    for field in text.split_whitespace() {
        let Some((name, value)) = field.split_once('=') else {
            return Err(ParseError(format!("`{}`: expected a field such as `turns=6`", excerpt(field))));
        };
        if fields.insert(name, value).is_some() {
            return Err(ParseError(format!("the field `{}` is given twice", excerpt(name))));
        }
    }
    Ok(fields)
}

/// The cards of all seats: their spots, the seats that have seen them, and the faces that one seat knows.
struct Layouts {
    occupied: SpotSet,
    seen: [SpotSet; MAX_SEATS],
    faces: [Option<Card>; SPOTS],
}

impl Fields<'_> {
    fn layouts(&mut self, seats: usize, view: Seat) -> Read<Layouts> {
        let mut layouts = Layouts { occupied: SpotSet::EMPTY, seen: [SpotSet::EMPTY; MAX_SEATS], faces: [None; SPOTS] };
        for &owner in &Seat::ALL[..seats] {
            let letter = owner.to_string();
            let text = self.take(&letter).expect("the field was counted");
            if text.split(',').count() > self.rules.slots() {
                return refuse(&letter, text, format_args!("at most {} slots", self.rules.slots()));
            }
            for (number, card) in (1..).zip(text.split(',')).filter(|(_, card)| *card != "-") {
                let spot = Spot::new(owner, number).expect("the slots were counted");
                let (face, witnesses) = self
                    .card_in_layout(card, view)
                    .or_else(|expected| refuse(&letter, card, format_args!("in slot {number} {expected}")))?;
                layouts.occupied.insert(spot);
                layouts.faces[spot.index()] = face;
                for seat in witnesses {
                    layouts.seen[seat.index()].insert(spot);
                }
            }
        }
        Ok(layouts)
    }

    /// The face of a card, if the seat knows it, and the seats that have seen it. The error names the valid texts.
    fn card_in_layout(&self, text: &str, view: Seat) -> Result<(Option<Card>, Vec<Seat>), String> {
        let (face, witnesses) = text.split_once('/').map_or((text, None), |(face, seats)| (face, Some(seats)));
        let face = match face {
            "?" => None,
            label => Some(
                read_card(self.rules, label)
                    .ok_or_else(|| format!("the label of a card{}, `?` or `-`", similar(self.rules, label)))?,
            ),
        };
        let witnesses = match witnesses {
            None => face.map(|_| view).into_iter().collect(),
            Some(seats) => read_seats(seats).ok_or("letters of seats after the slash")?,
        };
        match (face, witnesses.contains(&view)) {
            (Some(_), false) => Err(format!("`?`, because seat {view} has not seen the card")),
            (None, true) => Err(format!(
                "a face, because this is what seat {view} knows, which has seen the card; `turns` and `start`, `act` or `view` name another seat"
            )),
            _ => Ok((face, witnesses)),
        }
    }

    /// The number of cards of each kind on the pile, and the first one in the text.
    fn pile(&mut self) -> Read<([u8; MAX_KINDS], Option<Card>)> {
        let (mut pile, mut first) = ([0_u8; MAX_KINDS], None);
        for card in self.take("pile").into_iter().flat_map(|text| text.split(',')) {
            let (label, copies) =
                card.split_once('*').map_or((card, Some(1)), |(label, copies)| (label, copies.parse().ok()));
            let copies = copies.filter(|&copies: &u8| copies > 0);
            let Some((kind, copies)) = read_card(self.rules, label).zip(copies) else {
                let hint = similar(self.rules, label);
                return refuse(
                    "pile",
                    card,
                    format_args!("the label of a card{hint}, with a number such as `9c*2` if there are several"),
                );
            };
            first = first.or(Some(kind));
            pile[kind.kind()] = pile[kind.kind()].saturating_add(copies);
        }
        Ok((pile, first))
    }

    fn phase(&mut self, held: Option<Card>) -> Read<Phase> {
        match self.take("phase") {
            None => Ok(Phase::Start),
            Some("held") => Ok(Phase::Held(CardSource::Stock)),
            Some("took") => match held {
                Some(card) => Ok(Phase::Held(CardSource::Pile(card))),
                None => Err(ParseError("`phase=took` needs the field `held`".to_owned())),
            },
            Some(word) => match Phase::WITHOUT_CARD.into_iter().find(|phase| phase.word() == word) {
                Some(phase) => Ok(phase),
                None => refuse("phase", word, "a phase such as `start`, `held`, `took` or `window`"),
            },
        }
    }

    fn flags(&mut self) -> Read<[bool; FLAGS.len()]> {
        let words: Vec<&str> = self.take("flags").into_iter().flat_map(|text| text.split(',')).collect();
        match words.iter().find(|word| !FLAGS.contains(word)) {
            Some(word) => refuse("flags", word, "`frozen`, `spent`, `cheated`, `declined`, `used` or `won`"),
            None => Ok(FLAGS.map(|flag| words.contains(&flag))),
        }
    }

    /// The table, and what the seat knows.
    fn view(&mut self, seats: usize) -> Read<OwnedObservation> {
        let rules = self.rules;
        let held = self.card("held")?;
        let phase = self.phase(held)?;
        let starter = self.seat("start", Seat::A)?;
        let turns = self.number("turns", usual_turns(phase))?;
        let turn = turn_after(starter, turns, seats);
        let acting = (phase != Phase::Over).then_some(turn);
        let asked = self.or("act", acting, "the letter of a seat", |_, text| read_seat(text).map(Some))?;
        let seat = self.seat("view", asked.unwrap_or(Seat::A))?;
        let Layouts { occupied, seen, faces } = self.layouts(seats, seat)?;
        let (pile, first) = self.pile()?;
        let points = |card: Card| i32::from(pile[card.kind()]) * rules.points(card);
        let read_opening = |_: &Rules, text: &str| Opening::ALL.into_iter().find(|opening| opening.word() == text);
        let read_reason =
            |_: &Rules, text: &str| EndReason::ALL.into_iter().find(|reason| reason.word() == text).map(Some);
        let callers = self.seats("calls")?;
        let power_of = first.filter(|_| matches!(phase, Phase::Power | Phase::Show));
        let all = |seats: Vec<Seat>| seats.into_iter().collect::<SeatSet>();
        let carry = CarryOver { extra_card: all(self.seats("cards")?), extra_peek: all(self.seats("peeks")?) };
        let [frozen, top_spent, cheated, declined_look, carried_out, won] = self.flags()?;
        let mut table = Table {
            rules: *rules,
            occupied,
            pointed: self.spots("looked")?,
            named: self.spots("named")?,
            seen,
            pile,
            pile_points: (0..rules.kinds().len()).filter_map(Card::new).map(points).sum(),
            pile_len: pile.iter().copied().map(u16::from).sum(),
            stock_len: 0,
            reshuffles: self.number("reshuffles", 0)?,
            turns,
            seats: seats as u8,
            starter,
            turn,
            asked,
            phase,
            opening: self.or("opening", Opening::Landing, "`landing`, `flip` or `power`", read_opening)?,
            top: if matches!(phase, Phase::Held(CardSource::Pile(_))) { None } else { first },
            top_spent,
            opener: self.card("opener")?.or(first.filter(|_| phase == Phase::Window)),
            power: self.card("power")?.or(power_of).map_or(Power::NONE, |card| rules.power(card)),
            step: self.or("step", 0, "a number from 0 to 4", |_, text| text.parse().ok().filter(|&step| step <= 4))?,
            cheated,
            declined_look,
            carried_out,
            won,
            frozen,
            gap: self.or("gap", None, "a spot such as `b2`", |_, text| text.parse().ok().map(Some))?,
            first_caller: callers.first().copied(),
            callers: all(callers),
            safe: all(self.seats("safe")?),
            carry,
            ended: self.or("ended", None, "why the round ended, such as `call`", read_reason)?,
        };
        let private = Private { seat, faces, held };
        let rest = rest_of_deck(&table).ok_or_else(|| {
            ParseError(format!("the position has more cards than the deck, which has {}", rules.deck().len()))
        })?;
        table.stock_len = rest;
        Ok(OwnedObservation { table, private })
    }

    fn totals(&mut self, seats: usize) -> Read<Vec<Score>> {
        let total = |text: &str| {
            let (number, unit) = text.strip_suffix("/840").map_or((text, i64::from(Score::UNITS)), |units| (units, 1));
            let units = number.parse::<i32>().ok().map(|number| i64::from(number) * unit);
            units.filter(|units| units.unsigned_abs() <= MOST_TOTAL).map(|units| Score::from_units(units as i32))
        };
        let read = |_: &Rules, text: &str| {
            text.split(',').map(total).collect::<Option<Vec<Score>>>().filter(|all| all.len() == seats)
        };
        self.or("totals", vec![Score::points(0); seats], "a number of points for each seat", read)
    }
}

impl FromStr for Position {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Position, ParseError> {
        let position = read(text, false)?;
        let view = &position.view;
        check_table(view)?;
        if let Some(asked) = view.table.asked {
            let blank = Private { seat: asked, faces: [None; SPOTS], held: None };
            let of_asked = OwnedObservation { table: view.table, private: blank };
            let choices = if asked == view.private.seat { view.choices() } else { of_asked.choices() };
            if choices.is_empty() {
                return Err(ParseError(format!("seat {asked} has no legal decision in this position")));
            }
        }
        Ok(position.without_past())
    }
}

/// Reads all fields. An exact position may have the field `turn`, and need not be one that the rules can lead to.
fn read(text: &str, is_exact: bool) -> Read<Position> {
    let (rules, rest) = read_rules(text.trim())?;
    let mut fields = Fields { left: read_fields(rest)?, rules: &rules };
    let seats = Seat::ALL.iter().take_while(|seat| fields.left.contains_key(seat.to_string().as_str())).count();
    if seats < 2 {
        let expected = "expected the layouts of two or more seats, such as `a=7s,?,?,? b=?,?,?,?`";
        return Err(ParseError(expected.to_owned()));
    }
    rules.covers(seats).map_err(|error| ParseError(error.to_string()))?;
    let mut view = fields.view(seats)?;
    if is_exact {
        view.table.turn = fields.seat("turn", view.table.turn)?;
    }
    let rounds = fields.number("round", 0)?.into();
    let totals = fields.totals(seats)?;
    if let Some((name, _)) = fields.left.first_key_value() {
        let fields = "the fields are the layouts `a`, `b` and so on, `turns`, `start`, `phase`, `act`, `view`, `held`, `pile`, \
                      `calls`, and some for rare cases";
        return Err(ParseError(format!("the field `{}` does not exist; {fields}", excerpt(name))));
    }
    view.check().map_err(ParseError)?;
    Ok(Position { view, totals, rounds })
}

/// Checks that a table can have these facts together.
#[expect(clippy::too_many_lines, reason = "a list of conditions")]
fn check_table(view: &OwnedObservation) -> Read<()> {
    let OwnedObservation { table, private } = view;
    let (rules, phase) = (&table.rules, table.phase);
    let spec = rules.spec();
    let dealt = rules.dealt_spots(table.seats(), table.carry.extra_card);
    let is_held = matches!(phase, Phase::Held(_));
    let took = matches!(phase, Phase::Held(CardSource::Pile(_)));
    let is_power = matches!(phase, Phase::Power | Phase::Show);
    let is_own_turn = is_held || is_power || matches!(phase, Phase::Start | Phase::Close);
    let is_asked = |holds: &dyn Fn(Seat) -> bool| table.asked.is_none_or(holds);
    let is_window = matches!(phase, Phase::Window | Phase::Gift | Phase::Chain);
    let step = table.step();
    let has_called = !table.callers.is_empty();
    let has_pile = table.pile_len > 0 || took || phase == Phase::Over;
    let checks = [
        ((phase == Phase::Over) == table.ended.is_some(), "`phase=over` and the field `ended` need each other"),
        ((phase == Phase::Over) == table.asked.is_none(), "a seat must act unless the round is over"),
        (
            !is_own_turn || table.asked == Some(table.turn),
            "in this phase the seat to act must be the seat whose turn it is, by `start` and `turns`",
        ),
        (table.turns > 0 || !is_own_turn, "`turns` must be at least 1 in this phase"),
        (
            private.held.is_some() == (took || is_held && private.seat == table.turn),
            "`held` must be the card in the hand: in `phase=took`, and in `phase=held` if it is the hand of this seat",
        ),
        (!took || spec.take, "`phase=took`: these rules have no `take`"),
        (
            phase != Phase::Peek || matches!(spec.peek, Peek::Choose(_)) || !table.carry.extra_peek.is_empty(),
            "`phase=peek`: under these rules no seat chooses the cards of its first look",
        ),
        (
            phase != Phase::Peek || (table.turns, table.pile_len, table.occupied) == (0, 0, dealt),
            "`phase=peek` is before the first turn: every seat has the cards that it was dealt, and the pile is empty",
        ),
        (
            phase != Phase::Close || spec.call == CallWhen::AfterTurn,
            "`phase=close`: under these rules a seat calls instead of its turn",
        ),
        (
            phase != Phase::Window || spec.window != Window::None || table.opening == Opening::Flip,
            "`phase=window`: these rules have no windows",
        ),
        (
            !is_window || (table.opening == Opening::Flip) == (table.turns == 0),
            "`opening=flip` and `turns=0` need each other: it is the window before the first turn",
        ),
        (
            table.carry == CarryOver::default() || spec.carry_over,
            "`cards` and `peeks`: these rules have no `carry_over`",
        ),
        (dealt.len() < rules.deck().len(), "the deck is too small for the cards of `cards`"),
        (
            phase != Phase::Window || table.opener.is_some(),
            "`phase=window` needs the field `opener` or a card on the pile",
        ),
        (
            table.opener.is_none_or(|card| table.on_pile(card) > 0 || table.reshuffles > 0),
            "`opener` must be a card of the pile",
        ),
        (
            phase != Phase::Window || is_asked(&|seat| table.may_snap().contains(seat)),
            "the seat to act in a window must be one that may snap",
        ),
        (phase != Phase::Chain || spec.chain, "`phase=chain`: these rules have no `chain`"),
        ((phase == Phase::Gift) == table.gap.is_some(), "`phase=gift` and the field `gap` need each other"),
        (
            table.gap.is_none_or(|gap| {
                table.places().without(table.occupied).contains(gap) && is_asked(&|seat| gap.seat() != seat)
            }),
            "`gap` must be an empty spot of another seat than the seat to act",
        ),
        (
            !is_power || step.is_some_and(|step| step.reveals() == (phase == Phase::Show)),
            "`phase=power` needs a card with a power as `power` or on the pile, and a `step` that it has; if that step turns \
             cards up, it is `phase=show`",
        ),
        (table.pointed().without(table.occupied).is_empty(), "the spots of `looked` and `named` must have a card"),
        (
            phase != Phase::Power
                || table.asked != Some(private.seat)
                || table.pointed().without(table.seen(private.seat)).is_empty(),
            "the seat to act has looked at the cards of `looked`, so it knows their faces",
        ),
        (!table.frozen || spec.freeze, "`flags=frozen`: these rules have no `freeze`"),
        (!has_called || !is_own_turn || !table.callers.contains(table.turn), "a seat that has called has no more turn"),
        (table.callers.len() < 2 || spec.callers == Callers::Several, "under these rules only one seat can call"),
        (
            table.safe.iter_from(Seat::A).all(|seat| table.layout(seat).is_empty()),
            "a seat of `safe` must have no cards",
        ),
        (
            has_pile || dealt.without(table.occupied).is_empty(),
            "a dealt card has left its slot, so the pile cannot be empty: write its top in `pile`",
        ),
        (
            has_pile || table.turns < 2 || has_called,
            "after the first turn the pile has a card: write its top in `pile`",
        ),
    ];
    match checks.into_iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => Err(ParseError(reason.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
