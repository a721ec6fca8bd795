//! Lookahead: the learned player with playouts of its best candidates.
//!
//! A one-ply search over the player's network, as in SPARTA (Lerer, Hu, Foerster and Brown 2020), with changes. Worlds
//! are drawn by the likelihood of the other seats' decisions under the network or a heuristic. In each world, every other seat
//! plays by one of them, which is drawn with the probability that follows from the seat's decisions. All candidates are played out in the
//! same worlds with the same random numbers. Their differences are averaged with the network's own estimates, so that
//! noise does not overrule them. Candidates that fall behind are dropped. Playouts can stop at a later turn of the seat
//! with the network's estimate (`turns`): this is faster and has less noise, but also the network's errors.

use cambio_core::engine::Dice;
use cambio_core::play::Explanation;
use cambio_core::rng::{SplitMix, Stream};
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::CardHistory;
use cambio_core::{
    Action, Agent, AgentError, Briefing, Notice, Observation, Phase, Rules, Seat, Standing, State, View,
};
use rand::Rng as _;

use crate::heuristic::{HeuristicParams, Preset};
use crate::inference::SamplingSettings;
use crate::learned::{Network, win_share};
use crate::params;
use crate::playout::limit_turns;
use crate::policy::{HistorySink, NetworkPolicy, Policy, STYLES};
use crate::search::{ActionRace, ActionRaceSettings, Arm, InferredWorlds, Trust, explained};
use crate::value::{Utility, Valuer};

params! {
    /// The parameters of [`Lookahead`].
    pub struct LookaheadParams {
        /// The maximum number of worlds in which the candidates are played out.
        worlds: u32 = 240 in 1..=100_000,
        /// The number of proposals: `worlds` are resampled from them by the likelihood of the other seats' decisions.
        proposals: u32 = 1500 in 1..=1_000_000,
        /// The number of the other seats' latest decisions that are used as evidence; 0 turns inference off.
        last: u32 = 64 in 0..=64,
        /// The other seats are assumed to take a decision with probability proportional to exp(its logit / temperature).
        temperature: f64 = 0.05 in 0.001..=10.0,
        /// The probability that another seat decides at random instead.
        epsilon: f64 = 0.01 in 0.0001..=1.0,
        /// The prior probability that another seat plays like `sharp` or `heuristic`, equally likely, instead of the network. The
        /// seat's decisions change it.
        heuristics: f64 = 0.5 in 0.0..=1.0,
        /// Playouts stop at the start of the searching seat's turn of this number, counted from 1 after the decision, and take the
        /// network's estimate; by default they go on to the end of the round.
        turns: Option<u32> in 1..=1000,
        /// Candidates whose logit is more than this below the best are not tried.
        margin: f64 = 0.6 in 0.0..=100.0,
        /// The assumed standard error of the differences that the network estimates between candidates, in win shares at
        /// two seats. At a larger table it is smaller in proportion to 1 / seats, as an equal share of the wins is. In a
        /// match of several rounds, where a round matters less, it is in standard deviations of the playouts' utilities.
        trust: f64 = 0.06 in 0.0001..=10.0,
        /// Drops a candidate when it is this many standard errors behind the best.
        errors: f64 = 2.0 in 0.0..=1000.0,
        /// The gain in win shares that is too small to search for.
        tie: f64 = 0.002 in 0.0..=1.0,
    }
}

/// The maximum number of worlds that are drawn at a time.
const BLOCK: u32 = 60;
/// Makes the random bits of playouts different from the random bits of worlds.
const PLAYOUTS: u64 = 0x5555;

/// The learned player with a search.
///
/// The player is a [spectator](Agent::is_spectator): without [`Notice::Table`] it infers nothing about other seats.
#[derive(Clone, Debug)]
pub struct Lookahead {
    params: LookaheadParams,
    policy: Population,
    /// The state during a match; `None` before the first match.
    seated: Option<LookaheadState>,
    arms: Vec<Arm>,
}

/// The state during a match.
#[derive(Clone, Debug)]
struct LookaheadState {
    seat: Seat,
    stream: Stream,
    worlds: InferredWorlds<Population>,
    valuer: Valuer,
}

/// The styles of the other seats: the network, and heuristics.
#[derive(Clone, Debug)]
struct Population {
    network: NetworkPolicy,
    heuristics: [HeuristicParams; STYLES - 1],
    /// The prior probability of the heuristics.
    share: f64,
}

impl Population {
    fn new(network: NetworkPolicy, params: &LookaheadParams) -> Population {
        let heuristics = [Preset::Sharp, Preset::Heuristic].map(Preset::params);
        Population { network: network.at_temperature(params.temperature), heuristics, share: params.heuristics }
    }

    /// The decision of a seat that plays in this style.
    fn decide_in(&mut self, style: u8, view: &impl View, past: &CardHistory) -> Action {
        match usize::from(style).checked_sub(1) {
            None => self.network.decide(view, past),
            Some(heuristic) => self.heuristics[heuristic].decide(view, &()),
        }
    }
}

impl Policy for Population {
    type History = CardHistory;

    fn begin(&mut self, rules: &Rules, seats: usize) -> Result<CardHistory, String> {
        self.network.begin(rules, seats)
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        self.network.round_begins(standing);
    }

    fn decide(&mut self, view: &impl View, past: &CardHistory) -> Action {
        self.network.decide(view, past)
    }

    fn likelihood(&mut self, view: &impl View, past: &CardHistory, action: Action, epsilon: f64) -> f64 {
        self.network.likelihood(view, past, action, epsilon)
    }

    fn styles(&self) -> [f64; STYLES] {
        let each = self.share / self.heuristics.len() as f64;
        [1.0 - self.share, each, each]
    }

    fn likelihoods(&mut self, view: &impl View, past: &CardHistory, action: Action, epsilon: f64) -> [f64; STYLES] {
        let [sharp, heuristic] = &mut self.heuristics;
        let of = |policy: &mut HeuristicParams| {
            if self.share > 0.0 { policy.likelihood(view, &(), action, epsilon) } else { 0.0 }
        };
        let (sharp, heuristic) = (of(sharp), of(heuristic));
        [self.likelihood(view, past, action, epsilon), sharp, heuristic]
    }
}

impl Lookahead {
    /// A player with this network.
    pub fn new(network: Network, params: &LookaheadParams) -> Lookahead {
        Lookahead { policy: Population::new(NetworkPolicy::new(network), params), ..Lookahead::shipped(params) }
    }

    /// A player with the bundled network: see [`Network::shipped`].
    pub fn shipped(params: &LookaheadParams) -> Lookahead {
        let policy = Population::new(NetworkPolicy::shipped(), params);
        Lookahead { params: *params, policy, seated: None, arms: Vec::new() }
    }

    /// The candidates of the last decision that were played out: first the network's own choice, with the sum 0, then
    /// the other candidates, with the sums of their gains over that choice in the worlds that both were tried in. Empty if
    /// there was only one candidate.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn seated(&self) -> &LookaheadState {
        self.seated.as_ref().expect("a match begins with a briefing")
    }

    /// Plays the candidates out, all in the same worlds, until one is left.
    fn race(&mut self, view: &Observation<'_>, race: &mut ActionRace) {
        let LookaheadParams { worlds: most, proposals, last, epsilon, trust, errors, tie, .. } = self.params;
        let seated = self.seated.as_mut().expect("a match begins with a briefing");
        let base = seated.stream.next_u64();
        // Most races end early, so the worlds are drawn in blocks.
        let worlds = most.min(BLOCK) as usize;
        let proposals = (proposals as usize * worlds).div_ceil(most as usize);
        seated.worlds.prepare(base, SamplingSettings { worlds, proposals, last: last as usize, epsilon });
        let trust = trust * 2.0 / view.table().seats() as f64;
        let trust = match seated.valuer.utility() {
            Utility::Match => Trust::Relative(trust),
            _ => Trust::Fixed(trust),
        };
        let settings = ActionRaceSettings { errors, tie, trust: Some(trust) };
        for number in 0..most {
            let seated = self.seated.as_mut().expect("a match begins with a briefing");
            let (world, styles) = seated.worlds.world(view, &mut self.policy, number);
            let world = world.clone();
            let bits = SplitMix::new(base ^ PLAYOUTS, number);
            while let Some(action) = race.next() {
                race.add(self.play_out(&world, &styles, action, bits));
            }
            race.end_world(&settings);
            if race.is_decided() {
                break;
            }
        }
        race.finish(&settings);
    }

    /// The utility of a decision in a world if the seat continues with the network and the other seats in their styles, until the
    /// seat's turn of the number `turns` starts or else to the end of the round.
    fn play_out(&mut self, world: &State, styles: &[u8; MAX_SEATS], action: Action, bits: SplitMix) -> f64 {
        let LookaheadState { seat, worlds, .. } = self.seated();
        let (seat, mut past) = (*seat, worlds.inference.past().clone());
        let (mut world, mut dice) = (world.clone(), Dice(bits));
        limit_turns(&mut world);
        world.carry_out(action, &mut dice, &mut HistorySink(&mut past));
        let mut left = self.params.turns.unwrap_or(u32::MAX);
        while let Some(actor) = world.actor() {
            if actor == seat && world.table().phase() == Phase::Start {
                left -= 1;
                if left == 0 {
                    return self.policy.network.value(&world.view(actor), &past);
                }
            }
            let style = if actor == seat { 0 } else { styles[actor.index()] };
            let action = self.policy.decide_in(style, &world.view(actor), &past);
            world.carry_out(action, &mut dice, &mut HistorySink(&mut past));
        }
        self.seated().valuer.values(&world)[seat.index()]
    }
}

impl Agent for Lookahead {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.arms.clear();
        self.seated = None;
        let Briefing { rules, seats, seat, stream } = *briefing;
        let past = self.policy.begin(rules, seats)?;
        if self.policy.network.network().is_policy() {
            return Err(
                "its network gives probabilities and no values, which the search needs; learned(\"FILE\") plays it"
                    .into(),
            );
        }
        let (worlds, valuer) = (InferredWorlds::new(briefing, past), Valuer::new(Utility::of_winning(rules)));
        self.seated = Some(LookaheadState { seat, stream: stream.clone(), worlds, valuer });
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let Some(seated) = &mut self.seated else { return };
        match notice {
            Notice::Event(sighting) => seated.worlds.inference.notice(sighting),
            Notice::Table(table) => seated.worlds.inference.spectate(table),
            Notice::RoundBegins(standing) => {
                seated.valuer.round_begins(standing);
                self.policy.round_begins(standing);
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        self.arms.clear();
        let seated = self.seated.as_ref().expect("a match begins with a briefing");
        let choice = self.policy.decide(view, seated.worlds.inference.past());
        let (evaluation, inputs) = (self.policy.network.evaluation(), self.policy.network.network().inputs());
        let best = evaluation.best();
        let logits: Vec<f64> = evaluation.logits().collect();
        // The network's own choice comes first.
        let least = logits[best] - self.params.margin;
        let rivals = (0..logits.len()).filter(|&index| index != best && logits[index] >= least);
        let rivals = rivals.map(|index| (evaluation.choice_of(inputs, view, index), win_share(logits[index])));
        let mut race = ActionRace::default();
        race.begin(std::iter::once((choice, win_share(logits[best]))).chain(rivals));
        if !race.is_decided() {
            self.race(view, &mut race);
            self.arms.extend(race.gains());
        }
        Ok(race.best())
    }

    fn is_spectator(&self) -> bool {
        self.params.last > 0
    }

    /// The candidates that were played out; none if there was only one candidate.
    fn explain(&self, _: &Observation<'_>, _: Action) -> Option<Explanation> {
        Some(explained("gain over the network's first choice", &self.arms))
    }
}

#[cfg(all(test, feature = "bundled"))]
mod tests {
    use cambio_core::engine::Setup;
    use cambio_core::rng::{Bounded as _, Key, Purpose};
    use cambio_core::{Card, Event};

    use super::*;
    use crate::inference::Inference;

    /// The share of worlds in which seat b takes seat a for a heuristic, late in rounds in which seat a plays in this style.
    fn taken_for_a_heuristic(style: u8) -> f64 {
        let rules = Rules::preset("classic").unwrap();
        let mut policy = Population::new(NetworkPolicy::shipped(), &LookaheadParams::default());
        let settings = SamplingSettings { worlds: 20, proposals: 60, ..SamplingSettings::default() };
        let (mut heuristic, mut all) = (0, 0);
        for deal in 0..30 {
            let key = Key::new(3, deal);
            let stream = key.agent(Seat::B);
            let past = policy.begin(&rules, 2).unwrap();
            let briefing = Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream };
            let mut inference = Inference::new(&briefing, past);
            let mut deck = rules.deck().to_vec();
            key.stream(Purpose::Deck, 0).shuffle(&mut deck);
            let mut dice = Dice(key.stream(Purpose::Race, 0));
            let mut hear = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
            let mut state = State::deal(&Setup::new(&rules, 2), &deck, &mut dice, &mut hear).unwrap();
            while let Some(seat) = state.actor() {
                let of = if seat == Seat::A { style } else { 0 };
                let action = policy.decide_in(of, &state.view(seat), inference.past());
                if seat == Seat::A {
                    inference.spectate(state.table());
                } else if state.table().turns() >= 6 {
                    let sample = inference.sample(&state.observe(seat), &mut policy, &settings, (0.0, 0), deal);
                    heuristic += sample.styles.iter().filter(|styles| styles[0] > 0).count();
                    all += sample.styles.len();
                }
                let mut hear = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
                state.apply(action, &mut dice, &mut hear).unwrap();
            }
        }
        heuristic as f64 / all as f64
    }

    #[test]
    fn decisions_are_evidence_of_a_style() {
        let found = [0, 1, 2].map(taken_for_a_heuristic);
        println!("{found:?}");
        assert!(found[0] < 0.3 && found[1] > 0.7 && found[2] > 0.7, "{found:?}");
    }
}
