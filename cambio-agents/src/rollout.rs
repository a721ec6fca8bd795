//! Rollout search over a blueprint: one ply, played out to the end of the round by a policy that sees what it may.
//!
//! The recipe of SPARTA (Lerer, Hu, Foerster and Brown 2020, "Improving Policies via Search in Cooperative Partially
//! Observable Games"), for one searching seat: sample a world that the seat cannot tell from the true one, carry out a
//! decision, let every seat play the blueprint from what it knows *in that world*, and average. Decisions are
//! tried by UCB1 (Auer, Cesa-Bianchi and Fischer 2002) with a smaller constant.

use cambio_core::knob::Score;
use cambio_core::rng::Stream;
use cambio_core::{
    Action, Agent, Briefing, Dice, Knowledge, Observation, Phase, RoundResult, Seat, Sighting, SpotSet, State,
};
use rand::{Rng as _, TryRng};

use crate::heuristic::blueprint;
use crate::{Manner, Param, Params, Range};

/// What a round is worth to a seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Utility {
    /// Its share of the round's win.
    Win,
    /// How many points fewer it gets than the others do on average, 30 fewer being 1 and 30 more 0.
    Points,
}

/// Searches one ply over a heuristic blueprint.
#[derive(Clone, Debug)]
pub struct Rollout {
    iterations: u32,
    exploration: f64,
    utility: Utility,
    manner: Manner,
    /// How likely a card of so many points, plus 100, lies where its owner knows it, relatively.
    weights: Vec<u32>,
    stream: Option<Stream>,
    knowledge: Option<Knowledge>,
    arms: Vec<Arm>,
}

/// A decision that is tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arm {
    /// The decision.
    pub action: Action,
    /// How often it was tried.
    pub visits: u32,
    /// The sum of what it was worth.
    pub sum: f64,
}

impl Arm {
    fn mean(&self) -> f64 {
        if self.visits == 0 { 0.0 } else { self.sum / f64::from(self.visits) }
    }
}

/// How many sweeps of Metropolis swaps make a world from belief.
const SWEEPS: usize = 3;

/// Weights by points: each point more makes a card that its owner knows less likely by this factor.
fn weights(factor: f64) -> Vec<u32> {
    const TOP: f64 = 65_536.0;
    let mut weight = TOP;
    let mut weights = vec![TOP as u32; 95];
    for _ in 95..=200 {
        weights.push(weight.max(1.0) as u32);
        weight *= factor;
    }
    weights
}

impl Rollout {
    pub(crate) const PARAMS: &'static [Param] = &[
        Param {
            name: "n",
            doc: "How many worlds are played out for a decision.",
            default: Some(1000.0),
            range: Range::Whole(1, 1_000_000),
        },
        Param {
            name: "utility",
            doc: "What a round is worth: 0 the share of its win, 1 its points against the others'.",
            default: Some(1.0),
            range: Range::Whole(0, 1),
        },
        Param {
            name: "c",
            doc: "How much is explored: the constant of UCB on utilities from 0 to 1.",
            default: Some(0.7),
            range: Range::Real(0.0, 10.0),
        },
        Param {
            name: "belief",
            doc: "By what factor each point more makes a card that its owner knows less likely; 1 believes nothing.",
            default: Some(0.7),
            range: Range::Real(0.01, 1.0),
        },
        Param {
            name: "call_at",
            doc: "At which expected sum the blueprint calls.",
            default: Some(5.0),
            range: Range::Real(-1000.0, 1000.0),
        },
    ];

    /// A search of so many iterations, by points, over the default heuristic. `belief` is the
    /// factor by which each point more makes a card that its owner knows less likely.
    pub fn new(iterations: u32, belief: f64) -> Rollout {
        Rollout {
            iterations,
            exploration: 0.7,
            utility: Utility::Points,
            manner: Manner::default(),
            weights: weights(belief),
            stream: None,
            knowledge: None,
            arms: Vec::new(),
        }
    }

    /// The search that a spec describes.
    pub fn from_params(params: &Params) -> Rollout {
        Rollout {
            exploration: params.value("c"),
            utility: if params.value("utility") == 0.0 { Utility::Win } else { Utility::Points },
            manner: Manner { call_at: params.value("call_at"), ..Manner::default() },
            ..Rollout::new(params.value("n") as u32, params.value("belief"))
        }
    }

    /// What was tried for the last decision that was searched: the root statistics.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn search(&mut self, view: &Observation<'_>) -> Action {
        let knowledge = self.knowledge.as_ref().expect("a match begins with a briefing");
        let base = self.stream.as_mut().expect("a match begins with a briefing").next_u64();
        let (table, rules) = (view.table(), view.rules());
        let known_to_owner = |spot: &cambio_core::Spot| table.seen_by(*spot).contains(spot.seat());
        let mut evidence = SpotSet::EMPTY;
        for spot in table.occupied().without(view.known()).into_iter().filter(known_to_owner) {
            evidence.insert(spot);
        }
        let weights = &self.weights;
        let weight = |_, card| weights[(rules.points(card) + 100).clamp(0, 200) as usize];
        for iteration in 0..self.iterations {
            let mut bits = Bits::new(base, iteration);
            let place = select(&self.arms, iteration, self.exploration);
            let mut world = knowledge.sample_weighted(view, &mut bits, evidence, SWEEPS, weight);
            let worth = play_out(&mut world, self.arms[place].action, view.seat(), &self.manner, self.utility, bits);
            self.arms[place].visits += 1;
            self.arms[place].sum += worth;
        }
        // Most visited; of equals the better mean, then the first.
        let better = |one: &Arm, other: &Arm| (one.visits, one.mean()) > (other.visits, other.mean());
        let best = self.arms.iter().reduce(|best, arm| if better(arm, best) { arm } else { best });
        best.expect("who is asked has a choice").action
    }
}

impl Agent for Rollout {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.stream = Some(briefing.stream.clone());
        self.knowledge = Some(Knowledge::new(briefing.rules, briefing.seats, briefing.seat));
        self.arms.clear();
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.knowledge.as_mut().expect("a match begins with a briefing").notice(sighting);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let wish = blueprint(&self.manner, view);
        self.arms.clear();
        self.arms.extend(plausible(view, wish).map(|action| Arm { action, visits: 0, sum: 0.0 }));
        if self.arms.len() == 1 { self.arms[0].action } else { self.search(view) }
    }
}

/// The decisions worth a try: the blueprint's own, and of the others neither bluffs, nor snaps of cards that are not known
/// to match, nor swaps of two cards of which none is its own.
fn plausible(view: &Observation<'_>, wish: Action) -> impl Iterator<Item = Action> {
    let own = view.table().layout(view.seat());
    let matching = view.known_matches();
    let in_window = matches!(view.table().phase(), Phase::Window | Phase::Chain);
    let is_plausible = move |action: &Action| match *action {
        Action::Touch(_) | Action::Cheat(_) => false,
        Action::Snap(spot) => in_window && matching.contains(spot),
        Action::Swap(one, other) => own.contains(one) != own.contains(other),
        _ => true,
    };
    view.choices().iter().filter(move |action| *action == wish || is_plausible(action))
}

/// The arm that UCB1 tries next: first those not yet tried, in order.
fn select(arms: &[Arm], iteration: u32, exploration: f64) -> usize {
    if let Some(place) = arms.iter().position(|arm| arm.visits == 0) {
        return place;
    }
    let log = logarithm(iteration);
    let bound = |arm: &Arm| arm.mean() + exploration * (log / f64::from(arm.visits)).sqrt();
    let (mut best, mut most) = (0, f64::NEG_INFINITY);
    for (place, arm) in arms.iter().enumerate() {
        let bound = bound(arm);
        if bound > most {
            (best, most) = (place, bound);
        }
    }
    best
}

/// The natural logarithm of a whole number to within 0.06, from its bits alone: a library's logarithm may differ in the
/// last digit from machine to machine, and a search must not.
fn logarithm(number: u32) -> f64 {
    let number = number.max(1);
    let power = number.ilog2();
    let fraction = f64::from(number) / f64::from(1u32 << power) - 1.0;
    std::f64::consts::LN_2 * (f64::from(power) + fraction)
}

/// Carries a decision out in a world, plays the round to its end by the blueprint, and says what it is worth to `seat`.
fn play_out(world: &mut State<'_>, action: Action, seat: Seat, manner: &Manner, utility: Utility, bits: Bits) -> f64 {
    let mut dice = Dice(bits);
    world.ask_knowing_only();
    world.apply(action, &mut dice, &mut ()).expect("what is legal for the seat is legal in every world that it allows");
    while let Some(actor) = world.actor() {
        let action = blueprint(manner, &world.glance(actor));
        world.apply(action, &mut dice, &mut ()).expect("the blueprint decides legally");
    }
    let result = RoundResult::of(world).expect("the round is over and settled");
    match utility {
        Utility::Win if result.winners.contains(seat) => 1.0 / result.winners.len() as f64,
        Utility::Win => 0.0,
        Utility::Points => {
            // With what a call adds where rounds are scored in points; elsewhere the layouts alone count.
            let adds = world.table().rules().spec().score == Score::Points;
            let counts = |seat: usize| {
                if adds {
                    f64::from(result.scores()[seat].units()) / f64::from(cambio_core::Score::UNITS)
                } else {
                    f64::from(result.points()[seat])
                }
            };
            let all: f64 = (0..result.seats).map(counts).sum();
            let own = counts(seat.index());
            let others = (all - own) / (result.seats - 1) as f64;
            (0.5 + (others - own) / 60.0).clamp(0.0, 1.0)
        }
    }
}

/// Random bits for one iteration, from a counter: `SplitMix64` (Steele, Lea and Flood 2014).
#[derive(Clone, Copy, Debug)]
struct Bits(u64);

impl Bits {
    fn new(base: u64, iteration: u32) -> Bits {
        Bits(base ^ u64::from(iteration).wrapping_mul(0xd134_2543_de82_ef95))
    }
}

impl TryRng for Bits {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(word ^ (word >> 31))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}
