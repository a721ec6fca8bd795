//! A player that responds to one given opponent. Its gain is a lower bound on the exploitability of that opponent, in a game of
//! any size.
//!
//! It searches the decisions of one seat with the target itself in the other seat, which is a partially observable problem
//! with one agent (Silver and Veness 2010, "Monte-Carlo Planning in Large POMDPs"). It is a local best response (Lisý and
//! Bowling 2017, "Equilibrium Approximation Quality of Current No-Limit Poker Bots") with a tree of the responder's own
//! decisions instead of a single ply. However well it plays, a best responder wins at least as much.

mod trace;

use std::cell::RefCell;
use std::sync::Arc;

use cambio_core::knob::Best;
use cambio_core::rng::Stream;
use cambio_core::{
    Action, Agent, Briefing, Card, Event, Observation, Rules, Score, Seat, Setup, Sighting, Standing, State,
};

use crate::game::payoff;
use crate::key::{Index, Key};
use crate::walk::SEATS;
use trace::{Replayed, Trace};

/// Makes an agent.
pub type Maker = Arc<dyn Fn() -> Box<dyn Agent> + Send + Sync>;

/// How much a [`Responder`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effort {
    /// The number of playouts for a decision.
    pub iterations: u32,
    /// The number of deals drawn for a decision. They agree with what was seen, and are weighted by how likely the target's
    /// past decisions are in them.
    pub candidates: u32,
    /// How often the target is asked at each of its past decisions, to estimate their likelihood. Once is enough for a target
    /// that uses no chance.
    pub asks: u32,
    /// The assumed share of random decisions of the target. It keeps a deal possible in which the target once decides
    /// otherwise. A target that uses chance needs a larger share.
    pub doubt: f64,
    /// The number of standard errors by which a decision must beat the blueprint's to be taken. In large games chance hides
    /// small differences from the search, and a good blueprint knows them. If the blueprint is poor or the search exact, 0 is
    /// better.
    pub clear: f64,
}

impl Default for Effort {
    /// 1,000 playouts on 200 deals, one question, a doubt of 0.02, two standard errors.
    fn default() -> Effort {
        Effort { iterations: 1_000, candidates: 200, asks: 1, doubt: 0.02, clear: 2.0 }
    }
}

/// Plays two-seat rounds against a target whose policy it may ask.
///
/// For each decision it draws deals that agree with everything that it has seen. It replays the round in each deal and asks
/// the target again at each of its decisions; the likelihood of the decisions that the target took is the weight of the
/// deal. Then it searches. Each playout draws a deal by weight and puts the target into its seat, with the sightings that it
/// would have had in that deal. The responder's own decisions are chosen by UCB1 in a tree of its own sightings, and by a
/// blueprint beyond the tree. It never sees the true deal.
///
/// After a reshuffle, and in rounds with a carry-over, it plays the blueprint.
#[derive(Clone)]
pub struct Responder {
    target: Maker,
    blueprint: Maker,
    effort: Effort,
    seated: Option<Seated>,
    /// Why it cannot go on, for instance because an agent in its search cannot.
    trouble: RefCell<Option<String>>,
}

/// The state of a responder at a table.
#[derive(Clone)]
struct Seated {
    rules: Rules,
    seat: Seat,
    starter: Seat,
    stream: Stream,
    trace: Trace,
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder").field("effort", &self.effort).finish_non_exhaustive()
    }
}

/// A deal in a search: the state, the target with its sightings there, and the responder's own sightings.
struct Line {
    state: State,
    target: Box<dyn Agent>,
    heard: Vec<Sighting>,
    key: Key,
    seat: Seat,
}

impl Line {
    /// Carries out a decision. Races have the orders of `trace`, as far as it goes.
    fn apply(&mut self, action: Action, trace: &Trace, stream: &mut Stream) -> bool {
        let Line { state, target, heard, key, seat } = self;
        let other = other(*seat);
        let mut chance = Replayed { trace, at: heard.len(), stream };
        let mut sink = |event: &Event<Card>| {
            target.notice(&event.seen_from(other));
            let own = event.seen_from(*seat);
            heard.push(own);
            key.perceive(own);
        };
        state.apply(action, &mut chance, &mut sink).is_ok()
    }
}

fn other(seat: Seat) -> Seat {
    seat.next(SEATS)
}

/// A node of the responder's own tree.
#[derive(Clone, Debug)]
struct Branch {
    visits: u32,
    sum: f64,
    squares: f64,
}

impl Branch {
    const NEW: Branch = Branch { visits: 0, sum: 0.0, squares: 0.0 };

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
struct Tree {
    index: Index,
    /// The visits of each node, and its branches once it is expanded.
    nodes: Vec<(u32, Vec<Branch>)>,
    low: f64,
    high: f64,
}

/// The constant of UCB1 on utilities from 0 to 1 that the project's searches use.
const EXPLORATION: f64 = 0.7;

/// The visits of a node before it is expanded; until then the blueprint plays on from it. Exploring decisions further down
/// are bad play, and would make the node look worse than it is.
const EXPANSION: u32 = 12;

/// The fewest visits of a branch with which its mean has a standard error.
const FEWEST: u32 = 2;

impl Tree {
    fn new() -> Tree {
        Tree { low: f64::INFINITY, high: f64::NEG_INFINITY, ..Tree::default() }
    }

    /// The node with this key, which is the root if it is the first; expanded if it is time.
    fn come_to(&mut self, key: Key, choices: usize) -> usize {
        let (node, is_new) = self.index.insert(key);
        if is_new {
            self.nodes.push((0, Vec::new()));
        }
        let (visits, branches) = &mut self.nodes[node];
        *visits += 1;
        if branches.is_empty() && (node == 0 || *visits > EXPANSION) {
            branches.resize(choices, Branch::NEW);
        }
        node
    }

    fn pick(&self, node: usize) -> usize {
        let branches = &self.nodes[node].1;
        if let Some(untried) = branches.iter().position(|branch| branch.visits == 0) {
            return untried;
        }
        let visits: u32 = branches.iter().map(|branch| branch.visits).sum();
        let (log, scale) = (f64::from(visits).ln(), (self.high - self.low).max(1e-9));
        let bound = |branch: &Branch| {
            let mean = branch.sum / f64::from(branch.visits);
            (mean - self.low) / scale + EXPLORATION * (log / f64::from(branch.visits)).sqrt()
        };
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for (number, branch) in branches.iter().enumerate() {
            let bound = bound(branch);
            if bound > most {
                (best, most) = (number, bound);
            }
        }
        best
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
    /// A responder to the agents that `target` makes. Beyond its tree it plays like the agents that `blueprint` makes.
    pub fn new(target: Maker, blueprint: Maker, effort: Effort) -> Responder {
        Responder { target, blueprint, effort, seated: None, trouble: RefCell::default() }
    }

    /// Notes the trouble of an agent in the search.
    fn ask_after(&self, agent: &mut dyn Agent, is_target: bool) {
        if let Some(reason) = agent.trouble() {
            let who = if is_target { "its copy of the target" } else { "its blueprint" };
            self.trouble.borrow_mut().get_or_insert(format!("{who} cannot go on: {reason}"));
        }
    }

    /// Asks an agent in the search for its decision.
    fn decided(&self, agent: &mut dyn Agent, is_target: bool, view: &Observation<'_>) -> Action {
        let action = agent.decide(view).canonical();
        self.ask_after(agent, is_target);
        action
    }

    /// Makes an agent for a seat of the round.
    fn seat(&self, seated: &Seated, seat: Seat, stream: &mut Stream) -> Box<dyn Agent> {
        let is_target = seat != seated.seat;
        let mut agent = if is_target { (self.target)() } else { (self.blueprint)() };
        agent.begin(&Briefing { rules: &seated.rules, seats: SEATS, seat, stream: &stream.fork() });
        let setup = Setup { starter: seated.starter, ..Setup::new(&seated.rules, SEATS) };
        self.ask_after(agent.as_mut(), is_target);
        agent.round_begins(&Standing { round: 0, setup, totals: &[Score::default(); SEATS] });
        agent
    }

    /// Deals a deck, up to the first decision.
    fn deal(&self, seated: &Seated, deck: &[Card], stream: &mut Stream) -> Option<Line> {
        let seat = seated.seat;
        let mut target = self.seat(seated, other(seat), stream);
        let (mut heard, mut key) = (Vec::new(), Key::START);
        let mut sink = |event: &Event<Card>| {
            target.notice(&event.seen_from(other(seat)));
            heard.push(event.seen_from(seat));
            key.perceive(event.seen_from(seat));
        };
        let setup = Setup { starter: seated.starter, ..Setup::new(&seated.rules, SEATS) };
        let mut chance = Replayed { trace: &seated.trace, at: 0, stream };
        let state = State::deal(&setup, deck, &mut chance, &mut sink).ok()?;
        Some(Line { state, target, heard, key, seat })
    }

    /// Replays the round in a deal up to the responder's decision. Returns the likelihood of the target's decisions; `None` if
    /// the deal is impossible.
    fn replay(
        &self,
        seated: &Seated,
        deck: &[Card],
        (view, weigh): (&Observation<'_>, bool),
        stream: &mut Stream,
    ) -> Option<(Line, f64)> {
        let (mut line, mut likelihood) = (self.deal(seated, deck, stream)?, 1.0);
        let trace = &seated.trace;
        loop {
            let actor = line.state.actor()?;
            let at = line.heard.len();
            if actor == seated.seat && at == trace.sightings.len() && is_now(&line.state, view) {
                return (line.heard == trace.sightings).then_some((line, likelihood));
            }
            if at > trace.sightings.len() {
                // In this deal something else happens than at the table.
                return None;
            }
            let choices = line.state.choices();
            let told = trace.decision(&line.state, actor, at);
            let action = if choices.len() == 1 {
                choices.nth(0)?
            } else if actor == seated.seat {
                // Nothing happened, so it passed.
                told.unwrap_or(Action::Pass)
            } else if let Some(told) = told {
                if weigh {
                    let view = line.state.observe(actor);
                    let asks = self.effort.asks.max(1);
                    let agree = (0..asks).filter(|_| self.decided(line.target.as_mut(), true, &view) == told).count();
                    let share = agree as f64 / f64::from(asks);
                    likelihood *= self.effort.doubt / choices.len() as f64 + (1.0 - self.effort.doubt) * share;
                }
                told
            } else {
                self.decided(line.target.as_mut(), true, &line.state.observe(actor))
            };
            if !line.apply(action, trace, stream) {
                return None;
            }
        }
    }

    /// Plays a round on from the decision that is due: in the tree, then by the blueprint.
    fn play_on(&self, seated: &Seated, mut line: Line, tree: &mut Tree, stream: &mut Stream, best: Best) {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut blueprint: Option<(Box<dyn Agent>, usize)> = None;
        line.key = Key::START;
        while let Some(actor) = line.state.actor() {
            let choices = line.state.choices();
            let action = if actor != seated.seat {
                self.decided(line.target.as_mut(), true, &line.state.observe(actor))
            } else if choices.len() == 1 {
                choices.nth(0).expect("there is one choice")
            } else if let Some((agent, told)) = &mut blueprint {
                self.follow(agent.as_mut(), told, &line)
            } else {
                let node = tree.come_to(line.key, choices.len());
                let action = if tree.nodes[node].1.is_empty() {
                    let mut agent = self.seat(seated, actor, stream);
                    let mut told = 0;
                    let wish = self.follow(agent.as_mut(), &mut told, &line);
                    blueprint = Some((agent, told));
                    wish
                } else {
                    let chosen = tree.pick(node);
                    path.push((node, chosen));
                    choices.nth(chosen).expect("the number is below the choices")
                };
                line.key.decide(action);
                action
            };
            if !line.apply(action, &seated.trace, stream) {
                // The agent is at fault: the round is not counted here, and the referee will find the fault.
                return;
            }
        }
        let worth = payoff(&line.state, best);
        tree.back(&path, if seated.seat == Seat::A { worth } else { -worth });
    }

    fn search(&self, seated: &Seated, view: &Observation<'_>, stream: &mut Stream) -> Option<Action> {
        let mut deals = Vec::new();
        let mut total = 0.0;
        for _ in 0..self.effort.candidates.max(1) {
            if self.trouble.borrow().is_some() {
                return None;
            }
            let deck = seated.trace.deck(&seated.rules, stream);
            if let Some((_, likelihood)) = self.replay(seated, &deck, (view, true), stream) {
                total += likelihood;
                deals.push((total, deck));
            }
        }
        let mut tree = Tree::new();
        let best = seated.rules.spec().best;
        for iteration in 0..self.effort.iterations {
            if self.trouble.borrow().is_some() {
                return None;
            }
            // Systematic sampling: the deals in proportion to their weights, spread evenly.
            let turn = (f64::from(iteration) * 0.618_033_988_749_894_9).fract() * total;
            let place = deals.partition_point(|(upto, _)| *upto <= turn).min(deals.len().checked_sub(1)?);
            if let Some((line, _)) = self.replay(seated, &deals[place].1, (view, false), stream) {
                self.play_on(seated, line, &mut tree, stream, best);
            }
        }
        let (_, branches) = tree.nodes.first()?;
        let most = branches.iter().map(|branch| branch.visits).max()?;
        let found = branches.iter().position(|branch| branch.visits == most)?;
        // Where the search cannot tell the two apart, the blueprint has thought of more than one round's outcome.
        let wish = self.wish(seated, view, stream);
        let planned = view.choices().iter().position(|choice| choice == wish)?;
        // Of what was not tried twice nothing is clear. A search of some length tries everything twice.
        if self.effort.clear > 0.0 && [found, planned].iter().any(|&branch| branches[branch].visits < FEWEST) {
            return Some(wish);
        }
        let lead = branches[found].mean() - branches[planned].mean();
        let is_clear = lead > self.effort.clear * (branches[found].error() + branches[planned].error()).sqrt();
        if is_clear { view.choices().nth(found) } else { Some(wish) }
    }

    /// What the blueprint does.
    fn wish(&self, seated: &Seated, view: &Observation<'_>, stream: &mut Stream) -> Action {
        let mut agent = self.seat(seated, seated.seat, stream);
        for sighting in &seated.trace.sightings {
            agent.notice(sighting);
        }
        self.decided(agent.as_mut(), false, view)
    }

    /// Tells a blueprint what it has not been told yet, and asks it.
    fn follow(&self, agent: &mut dyn Agent, told: &mut usize, line: &Line) -> Action {
        for sighting in &line.heard[*told..] {
            agent.notice(sighting);
        }
        *told = line.heard.len();
        self.decided(agent, false, &line.state.observe(line.seat))
    }
}

/// Whether the replayed round has come to the decision that is due.
fn is_now(state: &State, view: &Observation<'_>) -> bool {
    let (replayed, due) = (state.table(), view.table());
    replayed.phase() == due.phase() && replayed.turns() == due.turns() && replayed.step() == due.step()
}

impl Agent for Responder {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        let is_fit = briefing.seats == SEATS;
        let trouble = (!is_fit).then(|| format!("a responder plays at 2 seats, not at {}", briefing.seats));
        self.trouble = RefCell::new(trouble);
        self.seated = Some(Seated {
            rules: *briefing.rules,
            seat: briefing.seat,
            starter: Seat::A,
            stream: briefing.stream.clone(),
            trace: Trace::default(),
        });
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        seated.starter = standing.setup.starter;
    }

    fn notice(&mut self, sighting: &Sighting) {
        let Seated { rules, trace, .. } = self.seated.as_mut().expect("a match begins with a briefing");
        trace.notice(*sighting, rules);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let choices = view.choices();
        let first = choices.nth(0).expect("who is asked has a choice");
        if choices.len() == 1 {
            return first;
        }
        let mut seated = self.seated.take().expect("a match begins with a briefing");
        let mut stream = seated.stream.fork();
        let found = if seated.trace.lost { None } else { self.search(&seated, view, &mut stream) };
        // In trouble what is decided counts for nothing.
        let is_in_trouble = self.trouble.borrow().is_some();
        let action = found.unwrap_or_else(|| if is_in_trouble { first } else { self.wish(&seated, view, &mut stream) });
        seated.stream = stream.fork();
        self.seated = Some(seated);
        action
    }

    fn trouble(&mut self) -> Option<String> {
        self.trouble.get_mut().clone()
    }
}
