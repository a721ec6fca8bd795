//! Appraisal of a match that is over: how each seat stood at each decision, and what the decisions cost.
//!
//! Everything is measured by playouts of one policy in every seat, the network where it knows the cards and else the default
//! heuristic, so a chance is one among players of that kind. A cost is a difference between two decisions in the same worlds by the same
//! chance. Which decision is best is found in some worlds, and what it gains is measured in others: the best of many noisy means is too
//! good, and nothing that was chosen for its mean is reported by it.

use std::cmp::Reverse;

use cambio_core::knob::MatchEnd;
use cambio_core::rng::{Key, Seed};
use cambio_core::{Action, Briefing, Card, Dice, Event, MAX_SEATS, Observation, Rules, Seat, Spot, Standing, State};

use crate::bits::{Bits, mix};
use crate::heuristic::HeuristicParams;
use crate::inference::{Draw, Inference};
use crate::playout::is_plausible;
use crate::policy::{Blueprint, BlueprintPast, Follow, NetworkPolicy, Policy as _};
use crate::search::strided;
use crate::value::{Utility, Valuer};

/// The most decisions that are compared at one decision.
const MOST: usize = 12;
/// Every appraisal begins with the same bits.
const SEED: u64 = 0x0a99_4a15;
/// Tells the bits of playouts from those of the worlds that they are played in.
const PLAYOUTS: u64 = 0x5555;

/// A mean and its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Estimate {
    /// Half of the 95 % interval.
    ///
    /// ```
    /// assert_eq!(cambio_agents::Estimate { mean: 0.5, error: 0.1 }.half(), 0.196);
    /// ```
    pub fn half(&self) -> f64 {
        1.96 * self.error
    }
}

/// Sums of numbers and of their squares.
#[derive(Clone, Copy, Default)]
struct Sums {
    number: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.number += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn estimate(&self) -> Estimate {
        let mean = self.sum / self.number.max(1.0);
        let spread = (self.squares - self.number * mean * mean).max(0.0) / (self.number - 1.0).max(1.0);
        Estimate { mean, error: (spread / self.number.max(1.0)).sqrt() }
    }
}

/// What a decision cost against the best one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Regret {
    /// The best decision that was found; the one that was taken if none was better.
    pub best: Action,
    /// What the best one gives more than the one that was taken. It may be below 0 by noise.
    pub cost: Estimate,
}

/// How a decision of a match is appraised.
#[derive(Clone, PartialEq, Debug)]
pub struct Appraisal {
    /// The chance of each seat before the decision, seat a first, with the cards on the table as they lie.
    pub chances: Vec<Estimate>,
    /// What the decision cost by what its seat could know; `None` if there was nothing else to decide.
    pub known: Option<Regret>,
    /// What it cost against an oracle, which knows the cards on the table for this one decision; `None` if there was nothing else to
    /// decide.
    pub open: Option<Regret>,
}

impl Appraisal {
    /// Whether the decision was a blunder, of which [`Appraiser::blunder`] is the least cost: by what its seat could know, it cost at least so much even at the low end of the 95 % interval.
    ///
    /// ```
    /// use cambio_agents::{Appraisal, Estimate, Regret};
    /// use cambio_core::Action;
    ///
    /// let known = Regret { best: Action::Call, cost: Estimate { mean: 0.2, error: 0.05 } };
    /// let appraisal = Appraisal { chances: Vec::new(), known: Some(known), open: None };
    /// assert!(appraisal.is_blunder(0.05) && !appraisal.is_blunder(0.15));
    /// ```
    pub fn is_blunder(&self, least: f64) -> bool {
        self.known.is_some_and(|regret| regret.cost.mean - regret.cost.half() >= least)
    }
}

/// Appraises the decisions of a match that is over.
///
/// Tell it of every round ([`Appraiser::round_begins`]), every event ([`Appraiser::event`]) and every decision before it is carried out:
/// [`Appraiser::decides`], or [`Appraiser::appraise`] where an appraisal is wanted. The stock has no order for it: a chance is over what
/// may be drawn, not what was. In a snap window, whoever has declared already is asked again.
///
/// # Determinism
/// An appraisal depends on the course of the match up to the decision and on `playouts`, and on nothing else.
///
/// ```
/// use cambio_agents::Appraiser;
/// use cambio_core::{Playing, Rules, rng::Key};
///
/// let playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// let mut appraiser = Appraiser::new(playing.rules(), 2, 20);
/// appraiser.round_begins(&playing.standing());
/// playing.events().iter().for_each(|event| appraiser.event(event));
/// let appraisal = appraiser.appraise(playing.state(), "draw".parse().unwrap());
/// assert!((appraisal.chances.iter().map(|chance| chance.mean).sum::<f64>() - 1.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Appraiser {
    policy: Blueprint,
    seats: Vec<Inference<Blueprint>>,
    valuer: Valuer,
    playouts: u32,
    is_one_round: bool,
    /// The rounds that began and the decisions of this one.
    at: (u64, u64),
}

impl Appraiser {
    /// Whoever appraises matches by these rules at a table of `seats` seats. A chance is measured by so many `playouts`, the search for
    /// the best decision takes about as many, and a cost that may be a blunder's twice as many for each of two decisions.
    ///
    /// # Panics
    /// If the rules do not fit the number of seats.
    pub fn new(rules: &Rules, seats: usize, playouts: u32) -> Appraiser {
        let mut policy = Blueprint::Network(Box::new(NetworkPolicy::shipped()));
        let past = policy.begin(rules, seats).unwrap_or_else(|_| {
            policy = Blueprint::Heuristic(HeuristicParams::default());
            policy.begin(rules, seats).expect("the heuristic plays everywhere")
        });
        let is_one_round = rules.spec().match_end == MatchEnd::Rounds(1);
        let stream = Key::new(Seed::Number(SEED), 0).agent(Seat::A);
        let seated = Seat::ALL[..seats]
            .iter()
            .map(|&seat| Inference::new(&Briefing { rules, seats, seat, stream: &stream }, past.clone()));
        Appraiser {
            seats: seated.collect(),
            policy,
            valuer: Valuer::new(if is_one_round { Utility::Win } else { Utility::Match }),
            playouts: playouts.max(8),
            is_one_round,
            at: (0, 0),
        }
    }

    /// The spec of the player that plays on in every seat: `learned`, or `heuristic` where the network does not know the cards.
    pub fn player(&self) -> &'static str {
        match self.policy {
            Blueprint::Network(_) => "learned",
            Blueprint::Heuristic(_) => "heuristic",
        }
    }

    /// Whether chances are shares of the round's win. Else the match has several rounds, and they are chances to win the match, by
    /// [`MatchValues`](crate::MatchValues).
    pub fn is_of_a_round(&self) -> bool {
        self.is_one_round
    }

    /// What a blunder costs at least: 5 of 100 rounds, or 2 of 100 matches where a match has several rounds.
    pub fn blunder(&self) -> f64 {
        if self.is_one_round { 0.05 } else { 0.02 }
    }

    /// A round begins, and the match stands like this.
    pub fn round_begins(&mut self, standing: &Standing<'_>) {
        self.at = (self.at.0 + 1, 0);
        self.valuer.round_begins(standing);
        self.policy.round_begins(standing);
    }

    /// An event, as the referee sees it.
    pub fn event(&mut self, event: &Event<Card>) {
        for (inference, seat) in self.seats.iter_mut().zip(Seat::ALL) {
            inference.notice(&event.seen_from(seat));
        }
    }

    /// A seat is about to decide in this state.
    ///
    /// # Panics
    /// If nobody is asked.
    pub fn decides(&mut self, state: &State) {
        let asked = state.actor().expect("somebody is asked");
        self.at.1 += 1;
        for (inference, seat) in self.seats.iter_mut().zip(Seat::ALL) {
            if seat != asked {
                inference.spectate(state.table());
            }
        }
    }

    /// Appraises the decision that is taken in this state, and does what [`Appraiser::decides`] does.
    ///
    /// # Panics
    /// If nobody is asked, or the state is not of the match that it was told of.
    pub fn appraise(&mut self, state: &State, taken: Action) -> Appraisal {
        let seat = state.actor().expect("somebody is asked");
        let view = state.observe(seat);
        let base = mix(SEED ^ mix(self.at.0 << 32 | self.at.1));
        let blunder = self.blunder();
        let Appraiser { policy, seats, valuer, playouts, .. } = self;
        let inference = &seats[seat.index()];
        let mut table = Playouts { policy, valuer, past: inference.past(), seat, number: *playouts, blunder };
        let choice = table.policy.decide(&view, table.past);
        let truth = inference.around(&view, |spot| state.face(spot));

        let mut sums = [Sums::default(); MAX_SEATS];
        for number in 0..*playouts {
            let values = table.values(&truth, choice, Bits::new(base, number));
            sums.iter_mut().zip(values).for_each(|(sums, value)| sums.add(value));
        }
        let chances = sums[..state.table().seats()].iter().map(Sums::estimate).collect();

        let rivals = table.rivals(&view, taken);
        let known = (!rivals.is_empty()).then(|| {
            let worlds = *playouts as usize;
            let draw = Draw { worlds, proposals: 4 * worlds, ..Draw::default() };
            let mut of = |purpose: u64| inference.draw(&view, table.policy, &draw, base ^ purpose);
            let (search, measure) = (of(1), of(2));
            table.regret(rivals, taken, [&search, &measure], base ^ 3)
        });
        let rivals = table.open_rivals(&view, taken, &truth);
        let truth = std::slice::from_ref(&truth);
        let open = (!rivals.is_empty()).then(|| table.regret(rivals, taken, [truth, truth], base ^ 4));
        self.decides(state);
        Appraisal { chances, known, open }
    }

    /// The chance of each seat when the round has ended so, seat a first.
    ///
    /// # Panics
    /// If the round is not over.
    pub fn outcome(&self, state: &State) -> Vec<f64> {
        self.valuer.values(state)[..state.table().seats()].to_vec()
    }
}

/// What playouts of one decision need.
struct Playouts<'a> {
    policy: &'a mut Blueprint,
    valuer: &'a Valuer,
    past: &'a BlueprintPast,
    seat: Seat,
    number: u32,
    blunder: f64,
}

impl Playouts<'_> {
    /// What each seat gets if this is decided and everybody plays on by the policy.
    fn values(&mut self, world: &State, action: Action, bits: Bits) -> [f64; MAX_SEATS] {
        let (mut world, mut past, mut dice) = (world.clone(), self.past.clone(), Dice(bits));
        if !self.policy.gambles() {
            world.ask_knowing_only();
        }
        world.carry_out(action, &mut dice, &mut Follow(&mut past));
        self.policy.play_out(&mut world, &mut past, &mut dice);
        self.valuer.values(&world)
    }

    /// What is compared with the decision that was taken, by what the seat could know: what the network weighs most, or all that is
    /// plausible.
    fn rivals(&mut self, view: &Observation<'_>, taken: Action) -> Vec<Action> {
        let wish = self.policy.decide(view, self.past);
        let Blueprint::Network(network) = &*self.policy else {
            return few(taken, std::iter::once(wish).chain(plausible(view, |spot| view.face(spot))));
        };
        let (weighing, inputs) = (network.weighing(), network.network().inputs());
        // What the network cannot tell from the decision is no rival of it.
        let same = weighing.place_of(inputs, view, taken);
        let logits: Vec<f64> = weighing.logits().collect();
        let mut places: Vec<usize> = (0..logits.len()).filter(|&place| Some(place) != same).collect();
        places.sort_by(|&one, &other| logits[other].total_cmp(&logits[one]));
        few(taken, places.into_iter().map(|place| weighing.choice_of(inputs, view, place)))
    }

    /// What is compared with it by somebody who knows every card on the table: cards need not be looked at then.
    fn open_rivals(&mut self, view: &Observation<'_>, taken: Action, truth: &State) -> Vec<Action> {
        let wish = self.policy.decide(view, self.past);
        let is_look = |action: &Action| matches!(action, Action::Look(_) | Action::Peek(_));
        let more = plausible(view, |spot| truth.face(spot)).filter(|action| !is_look(action));
        few(taken, std::iter::once(wish).chain(more))
    }

    /// What the decision cost against the best of its rivals, which is found in the first worlds and measured in the others.
    fn regret(&mut self, rivals: Vec<Action>, taken: Action, worlds: [&[State]; 2], base: u64) -> Regret {
        let [search, measure] = worlds;
        let mut live: Vec<(Action, Sums)> = rivals.into_iter().map(|action| (action, Sums::default())).collect();
        let mut number = 0;
        let halvings = live.len().next_power_of_two().ilog2().max(1);
        for _ in 0..halvings {
            let each = (self.number / (halvings * (live.len() as u32 + 1))).max(4);
            for _ in 0..each {
                self.compare(&mut live, taken, search, base, number);
                number += 1;
            }
            // The sort is stable: of equals the earlier one stays.
            live.sort_by(|(_, one), (_, other)| other.estimate().mean.total_cmp(&one.estimate().mean));
            live.truncate(live.len().div_ceil(2));
        }
        let (best, lead) = (live[0].0, live[0].1.estimate());
        // Noise alone makes one of many seem better, most often by less than this.
        if lead.mean <= lead.error {
            return Regret { best: taken, cost: Estimate::default() };
        }
        // What cannot be much is not measured closely.
        let may_be_large = lead.mean + lead.half() >= self.blunder;
        let worlds = if may_be_large { 2 * self.number } else { self.number / 4 };
        let mut measured = vec![(best, Sums::default())];
        for number in 0..worlds {
            self.compare(&mut measured, taken, measure, base ^ PLAYOUTS, number);
        }
        Regret { best, cost: measured[0].1.estimate() }
    }

    /// Plays out what was taken and its rivals in one of these worlds, by the same chance.
    fn compare(&mut self, rivals: &mut [(Action, Sums)], taken: Action, worlds: &[State], base: u64, number: u32) {
        // Equal worlds lie side by side.
        let world = &worlds[strided(number as usize % worlds.len(), worlds.len())];
        let bits = Bits::new(base, number);
        let own = self.seat.index();
        let least = self.values(world, taken, bits)[own];
        for (action, sums) in rivals {
            sums.add(self.values(world, *action, bits)[own] - least);
        }
    }
}

/// The first of these decisions that are not the one that was taken.
fn few(taken: Action, actions: impl Iterator<Item = Action>) -> Vec<Action> {
    let mut few: Vec<Action> = Vec::new();
    for action in actions {
        if few.len() == MOST {
            break;
        }
        if action.canonical() != taken.canonical() && !few.contains(&action) {
            few.push(action);
        }
    }
    few
}

/// The plausible decisions: snaps and calls, then what gains most points by the cards that are known.
fn plausible(view: &Observation<'_>, face: impl Fn(Spot) -> Option<Card> + Copy) -> impl Iterator<Item = Action> {
    let points = |spot| face(spot).map_or(0, |card| view.rules().points(card));
    let gain = |action: &Action| match *action {
        Action::Snap(_) | Action::Call => i32::MAX,
        Action::Keep(spot) => points(spot),
        Action::Swap(one, other) if one.seat() == view.seat() => points(one) - points(other),
        Action::Swap(other, one) => points(one) - points(other),
        _ => 0,
    };
    let mut plausible: Vec<Action> = view.choices().iter().filter(|&action| is_plausible(view, action, face)).collect();
    plausible.sort_by_key(|action| Reverse(gain(action)));
    plausible.into_iter()
}
