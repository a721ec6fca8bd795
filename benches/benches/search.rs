//! Search on one core: the time per decision on positions from rounds of heuristic players, at 2, 4 and 8 seats of
//! `classic`. For comparison, the public crate `ismcts`, a single-observer search, runs on the same positions.

use std::hint::black_box;

use cambio_agents::{Arm, Ismcts, Learned, Lookahead, LookaheadParams, Rollout, RolloutParams, roster};
use cambio_benches::{Position, positions};
use cambio_core::engine::Dice;
use cambio_core::play::RoundResult;
use cambio_core::rng::Bounded as _;
use cambio_core::{Action, Agent, AgentError, Briefing, Knowledge, Notice, Observation, Rules, Seat, State, View as _};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use rand::TryRng;

const POSITIONS: usize = 24;

fn heuristic() -> Box<dyn Agent> {
    roster().parse("heuristic").expect("a spec").make()
}

/// Decides once in each position. One element is one iteration; `count` returns the iterations of the last decision, or 1
/// to measure decisions.
fn decisions<A: Agent + Clone>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (rules, seats): (&Rules, usize),
    name: &str,
    agent: &A,
    count: impl Fn(&A) -> u64,
) {
    let mut positions = positions(rules, seats, POSITIONS, &heuristic, agent);
    let mut decide = || {
        let mut iterations = 0;
        for Position { agent, state } in &mut positions {
            let seat = state.actor().expect("a position has a seat to act");
            black_box(agent.decide(&state.observe(seat)).expect("a search can continue"));
            iterations += count(agent);
        }
        iterations
    };
    group.throughput(Throughput::Elements(decide()));
    group.bench_function(format!("{name}, {seats} seats"), |bencher| bencher.iter(&mut decide));
}

fn visits(arms: &[Arm]) -> u64 {
    arms.iter().map(|arm| u64::from(arm.visits)).sum()
}

fn ours(criterion: &mut Criterion) {
    let rules = Rules::preset("classic").expect("a preset");
    let mut group = criterion.benchmark_group(format!("search, {POSITIONS} decisions of classic"));
    group.sample_size(10);
    for seats in [2, 4, 8] {
        let table = (&rules, seats);
        decisions(&mut group, table, "learned", &Learned::shipped(), |_| 1);
        decisions(&mut group, table, "lookahead", &Lookahead::shipped(&LookaheadParams::default()), |_| 1);
        let rollout = Rollout::new(&RolloutParams::default());
        decisions(&mut group, table, "rollout", &rollout, |rollout| visits(rollout.arms()));
        for name in ["ismcts", "ismcts(mode=so)", "ismcts(mode=mo)"] {
            let spec = roster().parse(name).expect("a spec");
            let ismcts = Ismcts::new(spec.params().expect("parameters of ismcts"));
            decisions(&mut group, table, name, &ismcts, |ismcts| visits(ismcts.arms()));
        }
    }
    theirs(&mut group, &rules);
    group.finish();
}

/// The search of the crate `ismcts` on Cambio: single observer, uniform playouts, the same candidates as our search.
fn theirs(group: &mut BenchmarkGroup<'_, WallTime>, rules: &Rules) {
    let found = positions(rules, 2, POSITIONS, &heuristic, &Witness::default());
    let roots: Vec<(Knowledge, Observation<'_>)> = found
        .iter()
        .map(|position| {
            let seat = position.state.actor().expect("a position has a seat to act");
            (position.agent.0.clone().expect("the agent was briefed"), position.state.observe(seat))
        })
        .collect();
    let mut searcher = ismcts::searcher::Searcher::new(0.7, 100_000);
    let mut decide = || {
        let mut iterations = 0;
        for (knowledge, view) in &roots {
            let mut bits = Xorshift(0x9e37_79b9_7f4a_7c15);
            let state = knowledge.sample(view, &mut bits);
            let root = Foreign { state, knowledge, view, bits };
            // The budget is a time limit, which the searcher checks every 2,048 iterations.
            let result = searcher.search(&root, &ismcts::inference::NoInference, 0);
            iterations += black_box(result).num_simulations as u64;
        }
        iterations
    };
    group.throughput(Throughput::Elements(decide()));
    group.bench_function("crate ismcts, one observer, 2 seats", |bencher| bencher.iter(&mut decide));
}

/// An agent that tracks its knowledge and plays its first choice.
#[derive(Clone, Default)]
struct Witness(Option<Knowledge>);

impl Agent for Witness {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.0 = Some(Knowledge::new(briefing.rules, briefing.seats, briefing.seat));
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        if let (Some(knowledge), Notice::Event(sighting)) = (&mut self.0, notice) {
            knowledge.notice(sighting);
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        Ok(view.choices().nth(0).expect("a seat that decides has a choice"))
    }
}

/// A world in the form that the crate `ismcts` requires.
#[derive(Clone)]
struct Foreign<'v> {
    state: State,
    knowledge: &'v Knowledge,
    view: &'v Observation<'v>,
    bits: Xorshift,
}

impl ismcts::state::State for Foreign<'_> {
    type Action = Action;
    type ActionList = Actions;
    type Inference = ismcts::inference::NoInference;

    fn turn(&self) -> usize {
        self.state.actor().map_or(0, Seat::index)
    }

    fn randomize(&self, _: usize, _: &Self::Inference) -> Self {
        // The searcher passes the same state each time, so the random bits come from a generator outside the state.
        let mut bits = Xorshift(Actions::draw(u32::MAX).into());
        bits.0 |= 1;
        let mut state = self.knowledge.sample(self.view, &mut bits);
        state.ask_knowing_only();
        Foreign { state, bits, ..*self }
    }

    fn possible_actions(&self) -> Actions {
        let Some(actor) = self.state.actor() else { return Actions::default() };
        let (view, choices) = (self.state.view(actor), self.state.choices());
        let own = self.state.table().layout(actor);
        let matching = view.known_matches();
        let is_tried = |action: &Action| match *action {
            Action::Snap(spot) => matching.contains(spot),
            Action::Swap(one, other) => own.contains(one) != own.contains(other),
            Action::Touch(_) | Action::Cheat(_) => false,
            _ => true,
        };
        Actions(choices.iter().filter(is_tried).collect())
    }

    fn apply_action(&mut self, action: Action) {
        let mut dice = Dice(self.bits);
        self.state.carry_out(action, &mut dice, &mut ());
        self.bits = dice.0;
    }

    fn is_terminal(&self) -> bool {
        self.state.is_over()
    }

    fn reward(&self, perspective: usize) -> f32 {
        let result = RoundResult::of(&self.state).expect("the round is over");
        let seat = Seat::new(perspective).expect("a seat of the table");
        if result.winners.contains(seat) { 1.0 / result.winners.len() as f32 } else { 0.0 }
    }
}

/// A list of decisions in the form that the crate `ismcts` requires.
#[derive(Clone, Default)]
struct Actions(Vec<Action>);

thread_local! {
    static DRAWS: std::cell::Cell<Xorshift> = const { std::cell::Cell::new(Xorshift(88_172_645_463_325_252)) };
}

impl Actions {
    fn draw(bound: u32) -> u32 {
        DRAWS.with(|draws| {
            let mut bits = draws.get();
            let number = bits.below(bound);
            draws.set(bits);
            number
        })
    }
}

impl ismcts::action_list::ActionList<Action> for Actions {
    fn uninit() -> Actions {
        Actions::default()
    }

    fn pop_random(&mut self) -> Option<Action> {
        if self.0.is_empty() {
            return None;
        }
        let place = Actions::draw(self.0.len() as u32) as usize;
        Some(self.0.swap_remove(place))
    }

    fn push(&mut self, action: Action) {
        self.0.push(action);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn has(&self, item: &Action) -> bool {
        self.0.contains(item)
    }

    fn without(&self, other: &Actions) -> Actions {
        Actions(self.0.iter().copied().filter(|action| !other.has(action)).collect())
    }
}

/// Fast random bits (Marsaglia 2003, "Xorshift RNGs").
#[derive(Clone, Copy)]
struct Xorshift(u64);

impl TryRng for Xorshift {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

criterion_group!(benches, ours);
criterion_main!(benches);
