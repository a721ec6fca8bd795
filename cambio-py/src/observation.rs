//! Observations, positions and worlds: the classes `Observation`, `Position` and `World`, also in words and as inputs of networks.

use std::fmt::Write as _;

use cambio_agents::{Network, NetworkEvaluation, read_network};
use cambio_core::encode::ActionSpace;
use cambio_core::engine::{CardSource, OwnedObservation, Setup};
use cambio_core::play::RoundLog;
use cambio_core::rng::{Key, Purpose};
use cambio_core::view::{CardHistory, RoundHistory};
use cambio_core::{
    Action, Card, Knowledge, Observation, Phase, Position, Rules, Score, Seat, Sighting, Spot, SpotSet, Standing,
    State, View,
};
use cambio_exec::CancelToken;
use cambio_sim::AdviceOptions;
use cambio_sim::table::Table;
use cambio_solve::HistoryKey;
use cambio_view::{CardValue, Narrator, cards_in_short, rules_in_short};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::action::{PyAction, PyEvent, sighting};
use crate::args::named;
use crate::episode::SeatKeys;
use crate::rules::{PyRules, counts, tensor_space};
use crate::{args, error};

fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Held(CardSource::Stock) => "drawn",
        Phase::Held(CardSource::Pile(_)) => "taken",
        other => other.word(),
    }
}

/// The table as text, with the faces that a seat knows.
pub(crate) fn render(view: &impl View, rounds: usize, totals: &[Score]) -> String {
    let (table, rules) = (view.table(), view.rules());
    let label = |card: Option<Card>| card.map_or("-", |card| rules.label(card));
    let (seats, turns) = (table.seats(), table.turns());
    let mut text = format!("{} at {seats} seats, round {}, turn {turns}: ", rules.name(), rounds + 1);
    let _ = match table.asked() {
        Some(seat) => writeln!(text, "seat {} to act, {}", seat, phase_word(table.phase())),
        None => writeln!(text, "no seat to act, {}", phase_word(table.phase())),
    };
    let _ = write!(text, "stock {}  pile {}  top {}", table.stock_len(), table.pile_len(), label(table.top()));
    if let Phase::Held(_) = table.phase() {
        let _ = write!(text, "  held {}", view.held().map_or("?", |card| rules.label(card)));
    }
    text.push('\n');
    for seat in Seat::ALL.into_iter().take(seats) {
        let mark = if seat == view.seat() { '*' } else { ' ' };
        let _ = write!(text, "{mark}{seat} {:>6}  ", totals[seat.index()].to_string());
        for spot in table.layout(seat).iter_of(seat) {
            let face = view.face(spot).map_or("?", |card| rules.label(card));
            let seen = if table.seen_by(spot).contains(seat) { "" } else { "'" };
            let _ = write!(text, " {spot}:{face}{seen}");
        }
        if table.callers().contains(seat) {
            text += "  called";
        }
        text.push('\n');
    }
    text
}

/// The history of a round after these events, with the number of earlier rounds and the totals before it.
pub(crate) fn history_of(
    rules: &Rules,
    seats: usize,
    (round, totals): (usize, &[Score]),
    sightings: &[Sighting],
) -> RoundHistory {
    let mut history = RoundHistory::new(rules, seats);
    history.set_standing(&Standing { round, setup: Setup::new(rules, seats), totals });
    for sighting in sightings {
        history.notice(sighting);
    }
    history
}

/// All information that one seat may have at one moment: the table, the faces that it has seen, and its events of the round.
///
/// `Game.observe` returns it. It is immutable and contains no information that is hidden from the seat. Within a round it is
/// the seat's information state with perfect recall; `key()` returns this state as text.
#[pyclass(frozen, eq, name = "Observation", module = "cambio_game")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyObservation {
    pub(crate) view: OwnedObservation,
    /// The events that the seat has perceived since the deal of the round.
    pub(crate) sightings: Vec<Sighting>,
    /// The seat's decisions in the round.
    pub(crate) decided: Vec<Action>,
    pub(crate) rounds: usize,
    pub(crate) totals: Vec<Score>,
    /// The key of the information set, at tables that are small enough for strategy files.
    pub(crate) key: Option<HistoryKey>,
}

impl PyObservation {
    pub(crate) fn new(
        state: &State,
        seat: Seat,
        rounds: usize,
        totals: &[Score],
        log: &RoundLog,
        keys: &SeatKeys,
    ) -> PyObservation {
        PyObservation {
            key: keys.of(seat),
            view: OwnedObservation::from(&state.observe(seat)),
            sightings: log.sightings(seat).collect(),
            decided: log.decisions(seat).collect(),
            rounds,
            totals: totals.to_vec(),
        }
    }

    /// The observation at a position, with its made-up events.
    fn of(position: &Position) -> PyObservation {
        PyObservation {
            view: OwnedObservation::from(&position.observation()),
            sightings: position.sightings(),
            decided: Vec::new(),
            rounds: position.rounds(),
            totals: position.totals().to_vec(),
            key: None,
        }
    }

    pub(crate) fn rules_of(&self) -> &Rules {
        self.view.rules()
    }

    pub(crate) fn seats_of(&self) -> usize {
        self.view.table().seats()
    }

    fn space(&self) -> ActionSpace {
        ActionSpace::new(self.rules_of(), self.seats_of())
    }

    fn history(&self) -> RoundHistory {
        history_of(self.rules_of(), self.seats_of(), (self.rounds, &self.totals), &self.sightings)
    }

    /// Also checks that the observation follows from its sightings.
    fn deduced(&self) -> PyResult<Knowledge> {
        let deduced = Knowledge::deduced(&self.view.observation(), &self.sightings);
        deduced.map_err(|error| error::CambioError::new_err(error.to_string()))
    }

    fn label(&self, card: Option<Card>) -> Option<&'static str> {
        card.map(|card| self.rules_of().label(card))
    }

    /// These spots as texts, starting with the observing seat's spots.
    fn spots<'py>(&self, py: Python<'py>, spots: SpotSet) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, spots.iter_from(self.view.seat()).map(|spot| spot.to_string()).collect::<Vec<_>>())
    }
}

properties! { PyObservation, this,
    repr = {
        let (seat, table) = (this.view.seat(), this.view.table());
        let (name, turns) = (this.rules_of().name(), table.turns());
        format!("<Observation of seat {seat}, {name:?}, turn {turns}, {}>", phase_word(table.phase()))
    },
    hash = {
        let codes: Vec<u64> = this.sightings.iter().map(Sighting::code).collect();
        (this.view.seat(), codes, &this.totals)
    },
    reduce(py) = {
        let text = Position::exact(&this.view.observation(), &this.totals, this.rounds).to_string();
        let codes: Vec<u64> = this.sightings.iter().map(Sighting::code).collect();
        let decided: Vec<String> = this.decided.iter().map(ToString::to_string).collect();
        (py.get_type::<PyObservation>().getattr("_restore")?, (text, codes, decided, this.strategy_key()))
    };
    /// The rules.
    rules: PyRules = PyRules(*this.rules_of());
    /// The number of seats.
    seats: usize = this.seats_of();
    /// The seat that observes, from 0.
    seat: usize = this.view.seat().index();
    /// Whether this seat has to decide now.
    is_asked: bool = this.view.table().asked() == Some(this.view.seat());
    /// The phase: peek, start, drawn, taken, window, gift, chain, power, show, close or over. The page on the protocol explains
    /// the phases; its phase `held` is drawn or taken.
    phase: &'static str = phase_word(this.view.table().phase());
    /// The seat whose turn it is.
    turn: usize = this.view.table().turn().index();
    /// The number of turns of the round that have begun.
    turns: usize = this.view.table().turns();
    /// The number of rounds of the match that have ended.
    round: usize = this.rounds;
    /// Each seat's total at the start of the round, seat 0 first.
    totals<'py>(py): PyResult<Bound<'py, PyTuple>> = floats(py, &this.totals);
    /// The spots whose cards the seat has seen, each with the card's label.
    known<'py>(py): PyResult<Bound<'py, PyDict>> = faces(py, this.rules_of(), this.view.known_cards(this.view.known()));
    /// The spots with a card, starting with the observing seat's spots.
    occupied<'py>(py): PyResult<Bound<'py, PyTuple>> = this.spots(py, this.view.table().occupied());
    /// The label of the held card, if this seat knows it.
    held: Option<&'static str> = this.label(this.view.held());
    /// The label of the top card of the pile.
    top: Option<&'static str> = this.label(this.view.table().top());
    /// The label of the card that opened the window.
    opener: Option<&'static str> = this.label(this.view.table().opener());
    /// The labels of the cards on the pile, each with its number of copies there.
    pile<'py>(py): PyResult<Bound<'py, PyDict>> = {
        let rules = this.rules_of();
        let kinds = (0..rules.kinds().len()).filter_map(Card::new);
        counts(py, rules, kinds.flat_map(|card| std::iter::repeat_n(card, this.view.table().on_pile(card))))
    };
    /// The number of cards in the stock.
    stock: usize = this.view.table().stock_len();
    /// The seats that have called, in the order of their calls.
    callers<'py>(py): PyResult<Bound<'py, PyTuple>> =
        PyTuple::new(py, this.view.table().callers_in_order().map(Seat::index).collect::<Vec<_>>());
    /// The seats that are safe, in order.
    safe<'py>(py): PyResult<Bound<'py, PyTuple>> =
        PyTuple::new(py, this.view.table().safe().iter_from(Seat::A).map(Seat::index).collect::<Vec<_>>());
    /// The events that the seat has perceived since the deal of the round, oldest first.
    sightings<'py>(py): PyResult<Bound<'py, PyTuple>> = {
        let rules = this.rules_of();
        PyTuple::new(py, this.sightings.iter().map(|&sighting| PyEvent::new(rules, sighting)))
    };
    /// The seat's decisions in the round, oldest first.
    decided<'py>(py): PyResult<Bound<'py, PyTuple>> =
        PyTuple::new(py, this.decided.iter().map(|&action| PyAction(action)));
    /// The key of the information set in strategy files, as in `SmallGame.keys`: 32 hexadecimal digits. In keys, seat 0 is the seat
    /// with the first turn. `None` at tables with more than two seats or more than 24 cards, because strategies of such games are too large.
    strategy_key: Option<String> = this.key.map(|key| key.to_string());
}

#[pymethods]
impl PyObservation {
    /// The spots that the seat may snap and knows to match, in the order of `occupied`; empty outside of snap windows and chains.
    fn known_matches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.spots(py, self.view.known_matches())
    }

    /// The label of the card in a spot such as "a3"; `None` if the seat has not seen it.
    fn face(&self, spot: &str) -> PyResult<Option<&'static str>> {
        Ok(self.label(self.view.face(args::spot(spot)?)))
    }

    /// The seats that have seen the card in a spot.
    fn seen_by<'py>(&self, py: Python<'py>, spot: &str) -> PyResult<Bound<'py, PyTuple>> {
        let seats = self.view.table().seen_by(args::spot(spot)?);
        PyTuple::new(py, seats.iter_from(Seat::A).map(Seat::index).collect::<Vec<_>>())
    }

    /// The legal decisions of this seat; empty if it is not the seat to act.
    fn legal_actions(&self) -> Vec<PyAction> {
        self.view.choices().iter().map(PyAction).collect()
    }

    /// The mask of the legal decisions, by index: shape `(action_count,)`, dtype `bool`.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let space = self.space();
        let mut mask = vec![false; space.action_count()];
        space.mask(&self.view.choices(), self.view.seat(), &mut mask);
        PyArray1::from_vec(py, mask)
    }

    /// The observation tensor: shape `(layout.size,)`, dtype `uint8`.
    fn tensor<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u8>> {
        let space = tensor_space(self.rules_of(), self.seats_of());
        let mut tensor = vec![0_u8; space.len()];
        space.write(&self.view, &self.history(), &mut tensor);
        PyArray1::from_vec(py, tensor)
    }

    /// The information state as text. Two keys are equal if and only if the seat has the same events and decisions in this
    /// round, and the totals before the round are the same.
    fn key(&self) -> String {
        let mut text = format!("{}{}r{}", self.view.seat(), self.seats_of(), self.rounds);
        for total in &self.totals {
            let _ = write!(text, " {}", total.units());
        }
        text.push('|');
        for sighting in &self.sightings {
            let _ = write!(text, "{:x} ", sighting.code());
        }
        text.push('|');
        for action in &self.decided {
            let _ = write!(text, "{:x} ", action.code());
        }
        text
    }

    /// The rules in short, the cards with their points and powers, and the notation. A person or a language model can read them.
    fn describe_rules(&self) -> String {
        let rules = self.rules_of();
        let cards: Vec<String> = CardValue::all(rules).iter().map(|cards| format!("{cards}\n")).collect();
        format!(
            "{}\n{}\nThe cards with their points and powers:\n{}A spot is the letter of a seat and the number of a card: b3 is the third \
             card of seat b.\n",
            rules_in_short(rules).join("\n"),
            cards_in_short(rules),
            cards.concat()
        )
    }

    /// The observation in words that a person or a language model can read: the events of the round, the table, and the question with
    /// the legal decisions. `events` is the number of past events to include; by default, all.
    #[pyo3(signature = (events = None))]
    fn describe(&self, events: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let most = args::optional(events, "events", 0, u64::MAX)?.unwrap_or(u64::MAX);
        let table = render(&self.view, self.rounds, &self.totals);
        Ok(observation_in_words(&self.view, &self.sightings, &table, most as usize))
    }

    /// Restores an observation from its position, its sightings, its decisions and its key, for `pickle`.
    #[staticmethod]
    fn _restore(text: &str, codes: Vec<u64>, decided: Vec<String>, key: Option<&str>) -> PyResult<PyObservation> {
        let refused = |what: String| error::CambioError::new_err(what);
        let position = Position::read_exact(text).map_err(|error| refused(error.to_string()))?;
        let rules = position.standing().setup.rules;
        let sightings = codes.into_iter().map(|code| sighting(&rules, code)).collect::<PyResult<_>>()?;
        let decided = decided.iter().map(|text| text.parse().map_err(error::action)).collect::<PyResult<_>>()?;
        let read = |key: &str| HistoryKey::parse(key).ok_or_else(|| refused(format!("{key} is not a key")));
        let key = key.map(read).transpose()?;
        let observation = PyObservation { sightings, decided, key, ..PyObservation::of(&position) };
        observation.deduced()?;
        Ok(observation)
    }

    /// The position: the observation without the history of the round, as one line of text.
    fn position(&self) -> PyPosition {
        PyPosition(Position::new(&self.view.observation(), &self.totals, self.rounds))
    }

    /// The cards that may be in a spot: each label that the seat cannot exclude, with its number of copies. This follows with certainty
    /// from the events that the seat has perceived, and assumes nothing about how the others play.
    fn candidates<'py>(&self, py: Python<'py>, spot: &str) -> PyResult<Bound<'py, PyDict>> {
        counts(py, self.rules_of(), self.deduced()?.candidates(args::spot(spot)?))
    }

    /// The cards that may be next in the stock: each label that the seat cannot exclude, with its number of copies.
    fn stock_candidates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counts(py, self.rules_of(), self.deduced()?.stock_candidates().iter().copied())
    }

    /// Draws `number` worlds uniformly from those that the seat cannot distinguish. The same seed gives the same worlds.
    #[pyo3(signature = (number, seed = 0))]
    fn worlds(
        &self,
        #[pyo3(from_py_with = named::number)] number: u64,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<Vec<PyWorld>> {
        Ok(worlds_of(&self.deduced()?, &self.view.observation(), number, seed))
    }

    fn __str__(&self) -> String {
        render(&self.view, self.rounds, &self.totals)
    }
}

/// Totals as floats.
pub(crate) fn floats<'py>(py: Python<'py>, scores: &[Score]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, scores.iter().map(|score| f64::from(score.units()) / f64::from(Score::UNITS)))
}

/// Spots with the labels of their cards.
fn faces<'py>(
    py: Python<'py>,
    rules: &Rules,
    cards: impl Iterator<Item = (Spot, Card)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (spot, card) in cards {
        dict.set_item(spot.to_string(), rules.label(card))?;
    }
    Ok(dict)
}

/// Worlds of a seat's knowledge. The first ones do not depend on their number.
fn worlds_of(knowledge: &Knowledge, view: &Observation<'_>, number: u64, seed: u64) -> Vec<PyWorld> {
    let mut stream = Key::new(seed, 0).stream(Purpose::Agent, 0);
    (0..number).map(|_| PyWorld(knowledge.sample(view, &mut stream))).collect()
}

/// The position of every card: the true one of a game, or one that is possible given a seat's knowledge. It cannot be pickled, but the
/// game or the observation can.
#[pyclass(frozen, eq, name = "World", module = "cambio_game")]
#[derive(Clone)]
pub(crate) struct PyWorld(pub(crate) State);

impl PyWorld {
    fn rules_of(&self) -> &Rules {
        self.0.table().rules()
    }

    fn cards(&self) -> impl Iterator<Item = (Spot, Card)> {
        let spots = self.0.table().occupied().iter_from(Seat::A);
        spots.filter_map(|spot| Some((spot, self.0.face(spot)?)))
    }
}

impl PartialEq for PyWorld {
    fn eq(&self, other: &PyWorld) -> bool {
        let sorted = |world: &PyWorld| {
            let mut cards: Vec<Card> = world.0.stock().collect();
            cards.sort_unstable();
            cards
        };
        self.0.table() == other.0.table()
            && self.cards().eq(other.cards())
            && self.0.held() == other.0.held()
            && sorted(self) == sorted(other)
    }
}

properties! { PyWorld, this,
    repr = {
        let cards: Vec<String> =
            this.cards().map(|(spot, card)| format!("{spot}:{}", this.rules_of().label(card))).collect();
        format!("<World {}>", cards.join(" "))
    },
    hash = this.cards().map(|(spot, card)| (spot.index(), card)).collect::<Vec<_>>();
    /// The spots with a card, each with the card's label.
    faces<'py>(py): PyResult<Bound<'py, PyDict>> = faces(py, this.rules_of(), this.cards());
    /// The labels of the cards in the stock, each with its number of copies. The order is not included.
    stock<'py>(py): PyResult<Bound<'py, PyDict>> = counts(py, this.rules_of(), this.0.stock());
    /// The label of the held card.
    held: Option<&'static str> = this.0.held().map(|card| this.rules_of().label(card));
    /// The points of each seat's layout, seat 0 first.
    points<'py>(py): PyResult<Bound<'py, PyTuple>> = {
        let seats = Seat::ALL.into_iter().take(this.0.table().seats());
        PyTuple::new(py, seats.map(|seat| this.0.points(seat).unwrap_or(0)).collect::<Vec<_>>())
    };
}

/// A candidate of a network: the decision, the active inputs, and the output.
type Candidate<'py> = (PyAction, Bound<'py, PyArray1<i64>>, f64);

#[pymethods]
impl PyObservation {
    /// The inputs of a network for this decision: for each candidate, an `Action`, its active inputs (dtype `int64`), and the
    /// network's output, a logit of the win share.
    ///
    /// A candidate stands for all decisions that the network cannot distinguish. If there is only one, it has no inputs and the
    /// output 0. The general network, which plays where no other is bundled, may have an input several times: its row is then added as often.
    /// `network` is a network file; without it, the bundled network for the rules and the number of seats.
    ///
    ///     >>> [str(action) for action, inputs, logit in cambio.Game("classic", seed=1).observe().network_inputs()]
    ///     ['draw']
    ///
    /// Raises `IllegalAction` if the seat does not have to decide, and `AgentError` if the network is for other cards.
    #[pyo3(signature = (network = None))]
    fn network_inputs<'py>(&self, py: Python<'py>, network: Option<&str>) -> PyResult<Vec<Candidate<'py>>> {
        if self.view.choices().is_empty() {
            return Err(error::IllegalAction::new_err("the seat of this observation does not have to decide"));
        }
        let (rules, seats, seat) = (self.rules_of(), self.seats_of(), self.view.seat());
        let network = match network {
            Some(path) => read_network(path).and_then(|found| found.fitting(rules).map_err(|error| error.to_string())),
            None => Network::shipped(rules, seats).ok_or_else(|| "this program has no networks".to_owned()),
        };
        let network = network.map_err(error::AgentError::new_err)?;
        let mut history = CardHistory::new(rules, seats);
        self.sightings.iter().for_each(|sighting| history.notice(sighting));
        let (inputs, view, mut evaluation) = (network.inputs(), self.view.observation(), NetworkEvaluation::default());
        network.evaluate(&view, &history, &inputs.standing(&self.totals, seat), &mut evaluation);
        let (count, logits) = (evaluation.actions().len(), evaluation.logits());
        let candidate = |(index, (action, logit))| {
            let mut on = Vec::new();
            if count > 1 {
                inputs.on(&view, &evaluation, index, |input| on.push(input as i64));
            }
            (PyAction(action), PyArray1::from_vec(py, on), logit)
        };
        Ok(evaluation.actions().zip(logits).enumerate().map(candidate).collect())
    }
}

/// The last `most` events, the table and the question with the legal decisions.
fn observation_in_words(view: &OwnedObservation, sightings: &[Sighting], table: &str, most: usize) -> String {
    let (rules, seat) = (view.rules(), view.seat());
    let narrator = Narrator::for_players(rules);
    let mut text = format!("You are seat {seat}.\n");
    let lines = sightings.iter().filter_map(|sighting| Some(narrator.line(sighting, |face| face)?.text));
    let lines: Vec<String> = lines.collect();
    let lines = &lines[lines.len().saturating_sub(most)..];
    if !lines.is_empty() {
        let _ = writeln!(text, "Events, oldest first:\n  {}", lines.join("\n  "));
    }
    let _ = write!(
        text,
        "The table (? is a card that you do not know; ' marks a card that its owner has not seen):\n{table}"
    );
    let choices = view.choices();
    if choices.is_empty() {
        return text + "You do not have to decide now.\n";
    }
    let _ = writeln!(text, "Your decision: {}.", narrator.question(&view.observation(), true));
    text += "Legal decisions:\n";
    for action in choices.iter() {
        let _ = writeln!(text, "  {action} – {}", meaning(action, view));
    }
    text
}

/// The meaning of a decision.
fn meaning(action: Action, view: &OwnedObservation) -> String {
    match action {
        Action::Peek(spot) => format!("peek at your card {spot}"),
        Action::Draw => "draw a card from the stock".to_owned(),
        Action::Take => "take the top card of the discard pile".to_owned(),
        Action::Call => "call: the others have one more turn, then the round ends".to_owned(),
        Action::End => "end your turn".to_owned(),
        Action::Drop => "discard the held card".to_owned(),
        Action::Keep(spot) => format!("put the held card into {spot} and discard the card that is there"),
        Action::Look(spot) if spot.seat() == view.seat() => format!("peek at your card {spot}"),
        Action::Look(spot) => format!("peek at {spot}, a card of seat {}", spot.seat()),
        Action::Swap(one, other) => format!("swap the cards {one} and {other} without looking"),
        Action::Show(spot) => format!("turn up {spot} for all"),
        Action::Skip => "do nothing".to_owned(),
        Action::Pass => "do not snap".to_owned(),
        Action::Snap(spot) => format!("snap: discard {spot} because it matches; if it does not, you get a penalty"),
        Action::Touch(spot) => format!("touch {spot} as a bluff"),
        Action::Give(spot) => format!("give away your card {spot}"),
        Action::Cheat(spot) => format!("peek at your card {spot} for a penalty"),
    }
}

/// What one seat knows at a moment, without the history of the round, as one line of text: see the chapter Positions of the book.
///
/// `Observation.position` returns the position of an observation.
#[pyclass(frozen, eq, name = "Position", module = "cambio_game")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyPosition(pub(crate) Position);

properties! { PyPosition, this,
    repr = format!("Position({:?})", this.0.to_string()),
    hash = this.0.to_string(),
    reduce(py) = (py.get_type::<PyPosition>(), (this.0.to_string(),));
}

#[pymethods]
impl PyPosition {
    #[new]
    fn new(text: &str) -> PyResult<PyPosition> {
        text.parse().map(PyPosition).map_err(|error| error::CambioError::new_err(format!("position: {error}")))
    }

    /// What the seat observes. Its events are the events of a made-up round that leads to the position.
    fn observation(&self) -> PyObservation {
        PyObservation::of(&self.0)
    }

    /// Draws `number` worlds uniformly from what the position leaves open. The same seed gives the same worlds.
    #[pyo3(signature = (number, seed = 0))]
    fn worlds(
        &self,
        #[pyo3(from_py_with = named::number)] number: u64,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> Vec<PyWorld> {
        worlds_of(&self.0.knowledge(), &self.0.observation(), number, seed)
    }

    /// The value of each decision of the seat to act, the best first, by games in which the seat plays like the policy `agent` and the
    /// other seats like `opponents`: "learned" or a heuristic such as "sharp". `games` is their number after each decision; by default,
    /// they go on until each cost is known to ± 1 win in 100 or a quarter of the cost, or for some three seconds. Ctrl-C ends them. The same as `cambio advise`,
    /// whose text is the text of the table.
    #[pyo3(signature = (*, agent = "learned", opponents = "learned", games = None, seed = 0))]
    fn advise<'py>(
        &self,
        py: Python<'py>,
        agent: &str,
        opponents: &str,
        games: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = named::seed)] seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let games = args::optional(games, "games", 0, u32::MAX.into())?;
        let options = AdviceOptions {
            agent: agent.to_owned(),
            opponents: opponents.to_owned(),
            games: games.map(|games| games as u32),
            seed,
        };
        let token = CancelToken::new();
        let advice = error::watched(py, &token, None, |_| options.advise(&self.0, &|| !token.is_cancelled()))?;
        let advice = advice.map_err(error::CambioError::new_err)?;
        let table = py.import("cambio_game")?.getattr("Table")?;
        table.call1(("advice", Table::of(&advice.rows()).csv(), advice.tables().text()))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}
