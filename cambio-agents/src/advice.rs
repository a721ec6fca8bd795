//! Advice for a position: what each decision is worth, in worlds that are drawn uniformly from what the position leaves open.

use cambio_core::rng::{SplitMix, mix};
use cambio_core::view::CardHistory;
use cambio_core::{Action, Position, Seat, State};
use serde::Serialize;

use crate::compare::{Comparer, DecisionComparison, DecisionValue, Effort, as_text, grouped};
use crate::inference::WorldSample;
use crate::playout::{is_plausible, limit_turns};
use crate::policy::{Blueprint, BlueprintHistory, Policy as _, PublicHistory as _};
use crate::search::BlueprintName;
use crate::value::{Utility, Valuer};

/// The maximum number of decisions that are measured.
const MAX_MEASURED: usize = 12;
/// With more different decisions, only those are tried that searches try: no bluffs, and no swaps that do not move one own card.
const MAX_TRIED: usize = 24;
/// The maximum number of worlds, if the caller gives none.
const MAX_WORLDS: u32 = 60_000;
/// The half-width at which a cost is known well enough.
const PRECISION: f64 = 0.01;
/// The number of worlds that say how often the seat has the fewest points now.
const LOWEST_WORLDS: u32 = 4000;

/// How advice is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdviceSettings {
    /// The policy of the seat after its decision.
    pub agent: BlueprintName,
    /// The policy of the other seats.
    pub opponents: BlueprintName,
    /// The number of playouts after each decision; `None` to stop when each cost is known to ± 1 win in 100 or a quarter of
    /// the cost, or after some three seconds.
    pub games: Option<u32>,
    /// The seed of the playouts.
    pub seed: u64,
}

impl Default for AdviceSettings {
    fn default() -> AdviceSettings {
        AdviceSettings { agent: BlueprintName::Learned, opponents: BlueprintName::Learned, games: None, seed: 0 }
    }
}

/// The advice for a position.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Advice {
    /// The seat that is advised.
    #[serde(serialize_with = "as_text")]
    pub seat: Seat,
    /// Whether chances are chances to win a match of several rounds, by [`MatchValues`](crate::MatchValues). Otherwise they
    /// are shares of the win of the round.
    pub of_match: bool,
    /// The decisions, the best first. All intervals are valid together at 95 %.
    pub decisions: Vec<DecisionValue>,
    /// The number of decisions that were not tried, or fell behind early and were not measured.
    pub unmeasured: usize,
    /// The chance that no other seat has fewer points on the table now.
    pub lowest_now: f64,
    /// The number of worlds in which the best decision was measured.
    pub worlds: u32,
}

impl Advice {
    /// Advises the seat to act. `goes_on` is called before each world that is played; when it returns false, the advice has the
    /// precision that was reached.
    ///
    /// ```
    /// use cambio_agents::{Advice, AdviceSettings};
    ///
    /// let position = "classic a=Ah,2h,3s,Ad b=?,?,?,? turns=7 phase=close pile=9c".parse().unwrap();
    /// let settings = AdviceSettings { games: Some(200), ..AdviceSettings::default() };
    /// let advice = Advice::of(&position, &settings, &|| true).unwrap();
    /// assert_eq!(advice.decisions[0].action.to_string(), "call");
    /// assert!(advice.lowest_now > 0.9);
    /// ```
    ///
    /// # Errors
    /// If the round is over, another seat is to act, or a policy cannot play under the rules. The error is a sentence without a
    /// full stop.
    ///
    /// # Determinism
    /// The advice depends on the position and the settings alone, unless `goes_on` ends it.
    pub fn of(position: &Position, settings: &AdviceSettings, goes_on: &dyn Fn() -> bool) -> Result<Advice, String> {
        let view = position.observation();
        let seat = view.seat();
        match view.table().asked() {
            None => return Err("the round is over, so there is nothing to decide".to_owned()),
            Some(asked) if asked != seat => {
                let what = format!("seat {asked} is to act, but the position is what seat {seat} knows");
                return Err(format!("{what}: give view={asked}"));
            }
            Some(_) => {}
        }
        let (policies, valuer) = begin(position, settings)?;
        let (knowledge, seed) = (position.knowledge(), mix(settings.seed ^ 0x0adc_1ce0));
        let mut draw = |block: u64, worlds: u32| {
            let world = |number: u32| {
                let mut world = knowledge.sample(&view, &mut SplitMix::new(mix(seed ^ block), number));
                limit_turns(&mut world);
                world
            };
            WorldSample::uniform((0..worlds).map(world).collect())
        };
        let lowest = draw(0, LOWEST_WORLDS).worlds.iter().filter(|world| has_fewest_points(world, seat)).count();
        let mut history = CardHistory::new(view.rules(), view.table().seats());
        position.sightings().iter().for_each(|sighting| history.notice(sighting));
        let mut groups = grouped(view.choices().iter(), |one, other| history.are_alike_decisions(&view, one, other));
        let of_all = groups.len();
        let is_tried = |group: &Vec<Action>| is_plausible(&view, group[0], |spot| view.face(spot));
        if of_all > MAX_TRIED && groups.iter().any(is_tried) {
            groups.retain(is_tried);
        }
        let effort = Effort {
            selection: 2400,
            max_measured: MAX_MEASURED,
            worlds: settings.games.map_or(MAX_WORLDS, |games| games.max(1)),
            precision: settings.games.is_none().then_some(PRECISION),
            z: simultaneous_quantile(2 * groups.len().min(MAX_MEASURED) - 1),
        };
        let mut comparer = Comparer::new(&view, policies, &valuer, &mut draw, effort, seed);
        comparer.goes_on = goes_on;
        let DecisionComparison { decisions, games } = comparer.compare(groups, 0);
        Ok(Advice {
            seat,
            of_match: valuer.utility() == Utility::Match,
            unmeasured: of_all - decisions.len(),
            decisions,
            lowest_now: f64::from(lowest as u32) / f64::from(LOWEST_WORLDS),
            worlds: games,
        })
    }
}

/// The policy of the seat and, if it is another one, the policy of the other seats, with their public histories; and the values of
/// the ends of games.
fn begin(
    position: &Position,
    settings: &AdviceSettings,
) -> Result<(Vec<(Blueprint, BlueprintHistory)>, Valuer), String> {
    let (standing, sightings) = (position.standing(), position.sightings());
    let rules = standing.setup.rules;
    let names = [settings.agent, settings.opponents];
    let number = if settings.agent == settings.opponents { 1 } else { 2 };
    let policies = names[..number].iter().map(|name| {
        let mut policy = name.policy();
        let mut past = policy.begin(&rules, standing.setup.seats)?;
        policy.round_begins(&standing);
        for sighting in &sightings {
            past.notice(sighting);
        }
        Ok((policy, past))
    });
    let mut valuer = Valuer::new(Utility::of_winning(&rules));
    valuer.round_begins(&standing);
    Ok((policies.collect::<Result<_, String>>()?, valuer))
}

/// The number of standard errors at which this many independent normal estimates are all within their intervals with a
/// probability of 95 % (Šidák 1967). Estimates that are positively correlated are within more often.
fn simultaneous_quantile(number: usize) -> f64 {
    let each = libm::pow(0.95, 1.0 / number.max(1) as f64);
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if libm::erf(middle / std::f64::consts::SQRT_2) < each { low = middle } else { high = middle }
    }
    high
}

/// Whether no other seat has fewer points on the table than this seat.
fn has_fewest_points(world: &State, seat: Seat) -> bool {
    let own = world.points(seat);
    Seat::ALL[..world.table().seats()].iter().all(|&other| world.points(other) >= own)
}

#[cfg(test)]
mod tests;
