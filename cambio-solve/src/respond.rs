//! An agent that searches for a best response to one given opponent. Its gain is a lower bound on the exploitability of
//! that opponent, in a game of any size.
//!
//! The responder searches the decisions of its seat while the opponent itself, the *target*, plays in the other seat: a
//! partially observable decision problem with one agent (Silver and Veness 2010, "Monte-Carlo Planning in Large
//! POMDPs"). The method is a local best response (Lisý and Bowling 2017, "Equilibrium Approximation Quality of Current
//! No-Limit Poker Bots") with a tree of the responder's own decisions instead of a single ply. A true best response
//! wins at least as much.

use std::sync::Arc;

use cambio_core::engine::{Chance, Motion, OnTable, RaceOrder, Setup, SnapRace};
use cambio_core::play::Failure;
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Event, Notice, Observation, Observer as _, Phase, Players, Rules, Score,
    Seat, SeatSet, Sighting, Spot, Standing, State,
};

use crate::game::payoff;
use crate::key::{HistoryKey, KeyIndex};
use crate::strategy::first_greatest;
use crate::walk::SEATS;

/// A function that makes an agent.
pub type AgentFactory = Arc<dyn Fn() -> Box<dyn Agent> + Send + Sync>;

/// How much a [`Responder`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResponderEffort {
    /// The number of playouts for a decision.
    pub iterations: u32,
    /// The number of deals sampled for a decision. Each deal agrees with the responder's sightings, and is weighted by
    /// the likelihood of the target's past decisions.
    pub candidates: u32,
    /// The number of times that the target repeats each of its past decisions, to estimate their likelihood. 1 is
    /// enough for a deterministic target.
    pub repeats: u32,
    /// The assumed share of decisions that the target makes at random. Because of this share, a deal remains possible
    /// even if the repeated target decides differently once. A randomised target needs a larger share.
    pub noise: f64,
    /// The number of standard errors by which a decision must beat the blueprint's decision to replace it. In large
    /// games, the noise of the search hides small differences that a good blueprint takes into account. If the
    /// blueprint is poor or the search is exact, 0 is better.
    pub min_errors: f64,
}

impl Default for ResponderEffort {
    /// 1,000 playouts, 200 deals, each past decision repeated once, noise of 0.02, two standard errors.
    fn default() -> ResponderEffort {
        ResponderEffort { iterations: 1_000, candidates: 200, repeats: 1, noise: 0.02, min_errors: 2.0 }
    }
}

/// An agent that plays two-seat rounds against a target whose policy it can query.
///
/// For each decision it samples deals that agree with all its sightings. It replays the round in each deal and queries
/// the target again at each of the target's decisions; the likelihood of the decisions that the target took is the
/// weight of the deal. Then it searches. Each playout draws a deal by weight and seats a copy of the target, with the
/// sightings that the target would have in that deal. The responder's own decisions are chosen by UCB1 in a tree of its
/// own sightings, and by a blueprint beyond the tree. The responder never sees the true deal.
///
/// After a reshuffle, and in rounds with a carry-over, the responder follows the blueprint.
#[derive(Clone)]
pub struct Responder {
    target: AgentFactory,
    blueprint: AgentFactory,
    effort: ResponderEffort,
    seated: Option<ResponderState>,
}

/// The state of a responder in a match.
#[derive(Clone)]
struct ResponderState {
    rules: Rules,
    seat: Seat,
    starter: Seat,
    stream: Stream,
    trace: RoundTrace,
}

impl ResponderState {
    fn setup(&self) -> Setup {
        Setup { starter: self.starter, ..Setup::new(&self.rules, SEATS) }
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder").field("effort", &self.effort).finish_non_exhaustive()
    }
}

/// The target or the blueprint, as the only agent at the table.
type SeatPlayers = Players<Box<dyn Agent>>;

/// A sampled deal in replay or playout: the state, the agents with their sightings, and the responder's sightings.
struct SearchedDeal {
    state: State,
    target: SeatPlayers,
    /// The blueprint plays in the responder's seat beyond the tree.
    blueprint: Option<SeatPlayers>,
    heard: Vec<Sighting>,
    key: HistoryKey,
    seat: Seat,
}

impl SearchedDeal {
    /// Applies a decision, with the observed race orders of `trace`; returns whether the decision was legal.
    fn apply(&mut self, action: Action, trace: &RoundTrace, stream: &mut Stream) -> bool {
        let SearchedDeal { state, target, blueprint, heard, key, seat } = self;
        let mut chance = ReplayedChance { trace, at: heard.len(), stream };
        let mut sink = |event: &Event<Card>| {
            target.event(event);
            if let Some(blueprint) = blueprint {
                blueprint.event(event);
            }
            let own = event.seen_from(*seat);
            heard.push(own);
            key.perceive(own);
        };
        state.apply(action, &mut chance, &mut sink).is_ok()
    }

    /// The decision of the target.
    fn ask_target(&mut self) -> Result<Action, AgentError> {
        ask(&mut self.target, &self.state.observe(other(self.seat)), self.seat)
    }
}

/// The decision of an agent in the search of the responder in seat `own`.
fn ask(players: &mut SeatPlayers, view: &Observation<'_>, own: Seat) -> Result<Action, AgentError> {
    let action = players.ask(view).expect("an agent sits there");
    action.map(Action::canonical).map_err(|failure| whose(failure, own))
}

/// Converts the failure of an agent in the search into an error of the responder in seat `own`.
fn whose(Failure { seat, error, .. }: Failure, own: Seat) -> AgentError {
    let who = if seat == own { "its blueprint" } else { "its copy of the target" };
    match error {
        AgentError::Failed(reason) => AgentError::Failed(format!("{who} cannot go on: {reason}")),
        AgentError::Machine(reason) => AgentError::Machine(format!("{who} cannot go on: {reason}")),
        other => other,
    }
}

fn other(seat: Seat) -> Seat {
    seat.next(SEATS)
}

/// A branch of the responder's tree.
#[derive(Clone, Default)]
struct Branch {
    visits: u32,
    sum: f64,
    squares: f64,
}

impl Branch {
    fn mean(&self) -> f64 {
        self.sum / f64::from(self.visits.max(1))
    }

    /// The squared standard error of the mean.
    fn error(&self) -> f64 {
        let visits = f64::from(self.visits.max(1));
        (self.squares / visits - self.mean().powi(2)).max(0.0) / visits
    }
}

/// The responder's tree, with the range of the payoffs in it.
#[derive(Default)]
struct ResponderTree {
    index: KeyIndex,
    /// The visits of each node, and its branches once it is expanded.
    nodes: Vec<(u32, Vec<Branch>)>,
    low: f64,
    high: f64,
}

/// The UCB1 constant for utilities from 0 to 1, as in the project's searches.
const EXPLORATION: f64 = 0.7;

/// The number of visits to a node before it is expanded; until then the blueprint plays from the node to the end.
/// Exploratory decisions below the node are bad play, and would bias its value downwards.
const VISITS_BEFORE_EXPANSION: u32 = 12;

/// The minimum number of visits to a branch for a standard error of its mean.
const MIN_VISITS: u32 = 2;

impl ResponderTree {
    fn new() -> ResponderTree {
        ResponderTree { low: f64::INFINITY, high: f64::NEG_INFINITY, ..ResponderTree::default() }
    }

    /// Counts a visit to the node with this key, and expands the node if it has enough visits or is the root, node 0.
    fn come_to(&mut self, key: HistoryKey, choices: usize) -> usize {
        let (node, is_new) = self.index.insert_full(key);
        if is_new {
            self.nodes.push((0, Vec::new()));
        }
        let (visits, branches) = &mut self.nodes[node];
        *visits += 1;
        if branches.is_empty() && (node == 0 || *visits > VISITS_BEFORE_EXPANSION) {
            branches.resize(choices, Branch::default());
        }
        node
    }

    fn pick(&self, node: usize) -> usize {
        let branches = &self.nodes[node].1;
        if let Some(untried) = branches.iter().position(|branch| branch.visits == 0) {
            return untried;
        }
        let visits: u32 = branches.iter().map(|branch| branch.visits).sum();
        let (log, scale) = (libm::log(f64::from(visits)), (self.high - self.low).max(1e-9));
        let bound = |branch: &Branch| {
            let mean = branch.sum / f64::from(branch.visits);
            (mean - self.low) / scale + EXPLORATION * (log / f64::from(branch.visits)).sqrt()
        };
        first_greatest(branches.iter().map(bound)).0
    }

    fn back(&mut self, path: &[(usize, usize)], worth: f64) {
        self.low = self.low.min(worth);
        self.high = self.high.max(worth);
        for &(node, branch) in path {
            let branch = &mut self.nodes[node].1[branch];
            branch.visits += 1;
            branch.sum += worth;
            branch.squares += worth * worth;
        }
    }
}

impl Responder {
    /// Creates a responder to agents that `target` makes. Beyond its tree, the responder plays like agents that
    /// `blueprint` makes.
    pub fn new(target: AgentFactory, blueprint: AgentFactory, effort: ResponderEffort) -> Responder {
        Responder { target, blueprint, effort, seated: None }
    }
}

/// The search for one decision of a responder.
struct DecisionSearch<'a> {
    responder: &'a Responder,
    seated: &'a ResponderState,
    view: &'a Observation<'a>,
    stream: Stream,
}

impl DecisionSearch<'_> {
    /// Makes the agent for a seat: the blueprint in the responder's own seat, the target in the other seat.
    fn seat(&mut self, seat: Seat) -> Result<SeatPlayers, AgentError> {
        let (Responder { target, blueprint, .. }, seated) = (self.responder, self.seated);
        let make = if seat == seated.seat { blueprint } else { target };
        let mut one = Players::only(make(), seat, SEATS);
        let briefing = Briefing { rules: &seated.rules, seats: SEATS, seat, stream: &self.stream.fork() };
        one.brief(&briefing).map_err(|failure| whose(failure, seated.seat))?;
        one.round_begins(&Standing { round: 0, setup: seated.setup(), totals: &[Score::default(); SEATS] }, &[]);
        Ok(one)
    }

    /// Makes a blueprint agent that has perceived these sightings.
    fn blueprint(&mut self, sightings: &[Sighting]) -> Result<SeatPlayers, AgentError> {
        let mut one = self.seat(self.seated.seat)?;
        one.perceive(self.seated.seat, sightings);
        Ok(one)
    }

    /// The decision of the blueprint.
    fn blueprint_action(&mut self) -> Result<Action, AgentError> {
        ask(&mut self.blueprint(&self.seated.trace.sightings)?, self.view, self.seated.seat)
    }

    /// Deals a deck, up to the first decision; `None` if the deal fails.
    fn deal(&mut self, deck: &[Card]) -> Result<Option<SearchedDeal>, AgentError> {
        let seat = self.seated.seat;
        let mut target = self.seat(other(seat))?;
        let (mut heard, mut key) = (Vec::new(), HistoryKey::START);
        let mut sink = |event: &Event<Card>| {
            target.event(event);
            heard.push(event.seen_from(seat));
            key.perceive(event.seen_from(seat));
        };
        let mut chance = ReplayedChance { trace: &self.seated.trace, at: 0, stream: &mut self.stream };
        let state = State::deal(&self.seated.setup(), deck, &mut chance, &mut sink).ok();
        Ok(state.map(|state| SearchedDeal { state, target, blueprint: None, heard, key, seat }))
    }

    /// Replays the round in a deal up to the responder's decision, and computes the likelihood of the target's
    /// decisions if `weigh` is true; `None` if the deal is impossible.
    fn replay(&mut self, deck: &[Card], weigh: bool) -> Result<Option<(SearchedDeal, f64)>, AgentError> {
        let Some(mut line) = self.deal(deck)? else { return Ok(None) };
        let (trace, effort, mut likelihood) = (&self.seated.trace, self.responder.effort, 1.0);
        while let Some(actor) = line.state.actor() {
            let at = line.heard.len();
            if actor == self.seated.seat && at == trace.sightings.len() && is_now(&line.state, self.view) {
                return Ok((line.heard == trace.sightings).then_some((line, likelihood)));
            }
            if at > trace.sightings.len() {
                // The events in this deal differ from the events of the match.
                break;
            }
            let choices = line.state.choices();
            let taken = trace.decision(&line.state, actor, at);
            let action = if choices.len() == 1 {
                choices.nth(0).expect("there is one choice")
            } else if actor == self.seated.seat {
                // No event followed, so the decision was a pass.
                taken.unwrap_or(Action::Pass)
            } else if let Some(taken) = taken {
                if weigh {
                    let repeats = effort.repeats.max(1);
                    let mut agree = 0;
                    for _ in 0..repeats {
                        agree += u32::from(line.ask_target()? == taken);
                    }
                    let share = f64::from(agree) / f64::from(repeats);
                    likelihood *= effort.noise / choices.len() as f64 + (1.0 - effort.noise) * share;
                }
                taken
            } else {
                line.ask_target()?
            };
            if !line.apply(action, trace, &mut self.stream) {
                break;
            }
        }
        Ok(None)
    }

    /// Plays the round to its end: decisions in the tree by UCB1, then by the blueprint.
    fn play_on(&mut self, mut line: SearchedDeal, tree: &mut ResponderTree) -> Result<(), AgentError> {
        let own = self.seated.seat;
        let mut path: Vec<(usize, usize)> = Vec::new();
        line.key = HistoryKey::START;
        while let Some(actor) = line.state.actor() {
            let choices = line.state.choices();
            let action = if actor != own {
                line.ask_target()?
            } else if choices.len() == 1 {
                choices.nth(0).expect("there is one choice")
            } else if let Some(blueprint) = &mut line.blueprint {
                ask(blueprint, &line.state.observe(actor), actor)?
            } else {
                let node = tree.come_to(line.key, choices.len());
                let action = if tree.nodes[node].1.is_empty() {
                    let blueprint = line.blueprint.insert(self.blueprint(&line.heard)?);
                    ask(blueprint, &line.state.observe(actor), actor)?
                } else {
                    let chosen = tree.pick(node);
                    path.push((node, chosen));
                    choices.nth(chosen).expect("the number is below the choices")
                };
                line.key.decide(action);
                action
            };
            if !line.apply(action, &self.seated.trace, &mut self.stream) {
                // The decision is illegal: this playout is not counted. In the match, the referee reports such a fault.
                return Ok(());
            }
        }
        let worth = payoff(&line.state, self.seated.rules.spec().best);
        tree.back(&path, if own == Seat::A { worth } else { -worth });
        Ok(())
    }

    /// Searches for a decision; `None` if no sampled deal agrees with the sightings.
    fn search(&mut self) -> Result<Option<Action>, AgentError> {
        let ResponderEffort { iterations, candidates, min_errors, .. } = self.responder.effort;
        let mut deals = Vec::new();
        let mut total = 0.0;
        for _ in 0..candidates.max(1) {
            let deck = self.seated.trace.deck(&self.seated.rules, &mut self.stream);
            if let Some((_, likelihood)) = self.replay(&deck, true)? {
                total += likelihood;
                deals.push((total, deck));
            }
        }
        let mut tree = ResponderTree::new();
        for iteration in 0..iterations {
            // Systematic sampling: deals are drawn in proportion to their weights, by evenly spread numbers.
            let turn = (f64::from(iteration) * 0.618_033_988_749_894_9).fract() * total;
            let place = deals.partition_point(|(upto, _)| *upto <= turn);
            let Some((_, deck)) = deals.get(place).or(deals.last()) else { break };
            if let Some((line, _)) = self.replay(deck, false)? {
                self.play_on(line, &mut tree)?;
            }
        }
        let Some((_, branches)) = tree.nodes.first() else { return Ok(None) };
        let Some(most) = branches.iter().map(|branch| branch.visits).max() else { return Ok(None) };
        let found = branches.iter().position(|branch| branch.visits == most).expect("one has the most visits");
        // If the difference is unclear, the blueprint decides, because it may consider more than this round.
        let safe = self.blueprint_action()?;
        let choices = self.view.choices();
        let Some(planned) = choices.iter().position(|choice| choice == safe) else { return Ok(Some(safe)) };
        // A branch with fewer visits has no standard error. Only a very short search leaves such a branch.
        if min_errors > 0.0 && [found, planned].iter().any(|&branch| branches[branch].visits < MIN_VISITS) {
            return Ok(Some(safe));
        }
        let lead = branches[found].mean() - branches[planned].mean();
        let is_clear = lead > min_errors * (branches[found].error() + branches[planned].error()).sqrt();
        Ok(if is_clear { choices.nth(found) } else { Some(safe) })
    }
}

/// Whether the replayed round has reached the decision to make.
fn is_now(state: &State, view: &Observation<'_>) -> bool {
    let (replayed, due) = (state.table(), view.table());
    replayed.phase() == due.phase() && replayed.turns() == due.turns() && replayed.step() == due.step()
}

impl Agent for Responder {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        if briefing.seats != SEATS {
            return Err(format!("a responder plays at 2 seats, not at {}", briefing.seats).into());
        }
        self.seated = Some(ResponderState {
            rules: *briefing.rules,
            seat: briefing.seat,
            starter: Seat::A,
            stream: briefing.stream.clone(),
            trace: RoundTrace::default(),
        });
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let Some(ResponderState { rules, starter, trace, .. }) = &mut self.seated else { return };
        match notice {
            Notice::RoundBegins(standing) => *starter = standing.setup.starter,
            Notice::Event(sighting) => trace.notice(*sighting, rules),
            Notice::Table(_) | Notice::RoundEnds(_) | Notice::MatchEnds(_) => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let choices = view.choices();
        if choices.len() == 1 {
            return Ok(choices.nth(0).expect("there is one choice"));
        }
        let mut seated = self.seated.take().expect("a match begins with a briefing");
        let stream = seated.stream.fork();
        let mut search = DecisionSearch { responder: self, seated: &seated, view, stream };
        let found = if seated.trace.lost { Ok(None) } else { search.search() };
        let action = found.and_then(|found| found.map_or_else(|| search.blueprint_action(), Ok));
        seated.stream = search.stream.fork();
        self.seated = Some(seated);
        action
    }
}

// The sightings of the responder in a round, from which the deck order and past decisions are reconstructed.

/// A seat's sightings, and the position in the deck of each card on the table.
#[derive(Clone)]
struct RoundTrace {
    sightings: Vec<Sighting>,
    /// The faces of the cards that have left the stock, in deck order; `None` if unknown.
    faces: Vec<Option<Card>>,
    /// The index in `faces` of each card on the table. A card taken from the pile has no index.
    indices: OnTable<Option<u16>>,
    /// Whether the deck order can no longer be reconstructed.
    lost: bool,
}

impl Default for RoundTrace {
    fn default() -> RoundTrace {
        RoundTrace { sightings: Vec::new(), faces: Vec::new(), indices: OnTable::new(None), lost: false }
    }
}

impl RoundTrace {
    fn deal(&mut self, rules: &Rules, starter: Seat, extra: SeatSet) {
        *self = RoundTrace { lost: !extra.is_empty(), ..RoundTrace::default() };
        for slot in 1..=rules.spec().hand.count() {
            for spot in starter.round(SEATS).filter_map(|seat| Spot::new(seat, slot)) {
                let index = self.leave_stock(None);
                self.indices.set(spot, Some(index));
            }
        }
    }

    /// Adds the next card of the deck, and returns its index.
    fn leave_stock(&mut self, face: Option<Card>) -> u16 {
        self.faces.push(face);
        self.faces.len() as u16 - 1
    }

    fn notice(&mut self, sighting: Sighting, rules: &Rules) {
        let motion = sighting.motion();
        if let Some((place, card)) = motion.seen_face()
            && let Some(index) = self.indices.at(place)
        {
            self.faces[usize::from(index)] = Some(card);
        }
        let new = match motion {
            Motion::Flipped { card } => Some(self.leave_stock(Some(card))),
            Motion::Drawn { face, .. } => Some(self.leave_stock(face)),
            Motion::Added { .. } => Some(self.leave_stock(None)),
            _ => None,
        };
        self.indices.follow(&motion, new);
        match motion {
            Motion::Dealt { starter, extra } => self.deal(rules, starter, extra),
            Motion::Reshuffled { .. } => self.lost = true,
            _ => {}
        }
        self.sightings.push(sighting);
    }

    /// A random deck, uniform among the decks that agree with the sightings.
    fn deck(&self, rules: &Rules, stream: &mut Stream) -> Vec<Card> {
        let mut unseen = rules.deck().to_vec();
        for face in self.faces.iter().flatten() {
            if let Some(at) = unseen.iter().position(|card| card == face) {
                unseen.swap_remove(at);
            }
        }
        stream.shuffle(&mut unseen);
        let mut rest = unseen.into_iter();
        let mut deck: Vec<Card> = self.faces.iter().filter_map(|face| face.or_else(|| rest.next())).collect();
        deck.extend(rest);
        deck
    }

    /// The decision of `seat` that explains the sightings from `at` on; `None` if there are not enough sightings.
    fn decision(&self, state: &State, seat: Seat, at: usize) -> Option<Action> {
        match state.table().phase() {
            Phase::Window | Phase::Chain => self.declared(state, seat, at),
            _ => state.table().implied(self.sightings.get(at)?),
        }
    }

    /// The declaration of a seat in a window. A void snap causes no event, so it is treated as a pass.
    fn declared(&self, state: &State, seat: Seat, at: usize) -> Option<Action> {
        for sighting in &self.sightings[at.min(self.sightings.len())..] {
            match *sighting {
                Event::Snapped { seat: who, spot, .. } if who == seat => return Some(Action::Snap(spot)),
                Event::Touched { seat: who, spot } if who == seat => return Some(Action::Touch(spot)),
                Event::Aborted { seat: who } if who == seat => {
                    return state.choices().iter().find(|choice| matches!(choice, Action::Snap(_)));
                }
                Event::Snapped { .. }
                | Event::Touched { .. }
                | Event::Aborted { .. }
                | Event::Penalised { .. }
                | Event::PenaltyWaived { .. } => {}
                _ => return Some(Action::Pass),
            }
        }
        None
    }

    /// The observed order of the next race.
    fn race(&self, at: usize, race: &SnapRace<'_>) -> Option<RaceOrder> {
        let first = self.sightings[at.min(self.sightings.len())..].iter().find_map(|sighting| match *sighting {
            Event::Snapped { seat, .. } | Event::Aborted { seat } => Some(seat),
            _ => None,
        })?;
        let rest = race.snappers.iter_from(first).filter(move |&seat| seat != first);
        race.snappers.contains(first).then(|| RaceOrder::new(std::iter::once(first).chain(rest)))
    }
}

/// Chance for a replayed deal: observed race orders first, then a random stream.
struct ReplayedChance<'t> {
    trace: &'t RoundTrace,
    at: usize,
    stream: &'t mut Stream,
}

impl Chance for ReplayedChance<'_> {
    fn draw(&mut self, _: &[Card]) -> usize {
        unreachable!("the deck is dealt")
    }

    fn shuffle(&mut self, stock: &mut [Card]) {
        self.stream.shuffle(stock);
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        self.trace.race(self.at, race).unwrap_or_else(|| race.draw(self.stream))
    }
}
