//! Advice compared with the exact chances of small games, and with the review of a match.

use cambio_core::engine::{Chance, RaceOrder, SnapRace};
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{Card, Phase, Playing, Rules, Spot};

use super::*;
use crate::compare::MeanEstimate;
use crate::params::WordEnum as _;
use crate::review::Reviewer;

/// Chance outcomes in the order of an odometer: every sequence of outcomes once.
#[derive(Default)]
struct Odometer {
    /// The current outcomes, and the number of outcomes at each.
    outcomes: Vec<(usize, usize)>,
    at: usize,
}

impl Odometer {
    fn outcome(&mut self, number: usize) -> usize {
        if self.at == self.outcomes.len() {
            self.outcomes.push((0, number));
        }
        self.at += 1;
        self.outcomes[self.at - 1].0
    }

    /// The probability of the outcomes.
    fn probability(&self) -> f64 {
        self.outcomes.iter().map(|&(_, number)| 1.0 / number as f64).product()
    }

    /// Goes on to the next sequence; returns whether there is one.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((outcome, number)) = self.outcomes.pop() {
            if outcome + 1 < number {
                self.outcomes.push((outcome + 1, number));
                return true;
            }
        }
        false
    }
}

impl Chance for Odometer {
    fn draw(&mut self, pool: &[Card]) -> usize {
        self.outcome(pool.len())
    }

    fn shuffle(&mut self, _: &mut [Card]) {
        unreachable!("sampled worlds have no dealt deck")
    }

    fn race(&mut self, race: &SnapRace<'_>) -> RaceOrder {
        let mut seats: Vec<Seat> = race.snappers.iter_from(race.turn).collect();
        let mut order = Vec::new();
        while !seats.is_empty() {
            order.push(seats.remove(self.outcome(seats.len())));
        }
        RaceOrder::new(order)
    }
}

/// The worlds of a position with equal weights: each unknown spot gets every unseen card.
fn worlds(position: &Position) -> Vec<State> {
    let (view, knowledge) = (position.observation(), position.knowledge());
    let unknown: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
    let mut placements: Vec<Vec<(Spot, usize)>> = vec![Vec::new()];
    for spot in unknown {
        let cards = knowledge.unseen(spot).count();
        let with = |placed: Vec<(Spot, usize)>| {
            let free = (0..cards).filter(|card| placed.iter().all(|(_, other)| other != card)).collect::<Vec<_>>();
            free.into_iter().map(move |card| [&placed[..], &[(spot, card)]].concat())
        };
        placements = placements.into_iter().flat_map(with).collect();
    }
    let bits = || SplitMix::new(0, 0_u32);
    let world = |placed: &Vec<(Spot, usize)>| {
        let mut world = knowledge.sample_around(&view, &mut bits(), placed);
        limit_turns(&mut world);
        world
    };
    placements.iter().map(world).collect()
}

/// The exact chances of the seat after these decisions.
fn exact(position: &Position, settings: &AdviceSettings, decisions: &[DecisionValue]) -> Vec<f64> {
    let (view, worlds) = (position.observation(), worlds(position));
    let (policies, valuer) = begin(position, settings).unwrap();
    let mut draw = |_, _| unreachable!("the worlds are known");
    let effort = Effort { selection: 0, max_measured: 0, worlds: 0, precision: None, z: MeanEstimate::Z };
    let mut comparer = Comparer::new(&view, policies, &valuer, &mut draw, effort, 0);
    let mut chance = |action: Action| {
        let mut sum = 0.0;
        for world in &worlds {
            let mut odometer = Odometer::default();
            loop {
                let (ended, _) = comparer.play(world, action, &mut odometer);
                sum += odometer.probability() * valuer.values(&ended)[view.seat().index()];
                if !odometer.advance() {
                    break;
                }
            }
        }
        sum / worlds.len() as f64
    };
    decisions.iter().map(|own| chance(own.action)).collect()
}

/// The positions with a choice in random play.
fn positions(rules: &Rules, number: u64, mut take: impl FnMut(Position)) {
    for deal in 0..number {
        let mut playing = Playing::new(rules, 2, Key::new(5, deal)).unwrap();
        let mut chance = Key::new(6, deal).stream(Purpose::Deck, 0);
        while let Some(turn) = playing.turn() {
            let choices = turn.view.choices();
            if choices.len() > 1 {
                take(Position::new(&turn.view, playing.totals(), playing.rounds()));
            }
            playing.act(choices.nth(chance.below(choices.len() as u32) as usize).unwrap()).unwrap();
        }
    }
}

fn is_full() -> bool {
    std::env::var_os("CAMBIO_FULL").is_some()
}

#[test]
fn intervals_contain_the_exact_chances_of_small_games() {
    let of_each = if is_full() { 400 } else { 12 };
    let (mut found, mut covered) = (0, 0);
    for game in ["mini-m1", "mini-m3", "mini-k4", "mini-p", "mini-pk"] {
        let mut left = of_each;
        positions(&Rules::preset(game).unwrap(), of_each, |position| {
            if left == 0 {
                return;
            }
            left -= 1;
            let settings = AdviceSettings {
                opponents: BlueprintName::named("sharp").unwrap(),
                seed: 1000 * u64::from(found) + left,
                ..AdviceSettings::default()
            };
            let advice = Advice::of(&position, &settings, &|| true).unwrap();
            let exact = exact(&position, &settings, &advice.decisions);
            let is_in = |value: f64, of: MeanEstimate| (value - of.mean).abs() <= of.half + 1e-9;
            let chances = advice.decisions.iter().zip(&exact).all(|(own, &exact)| is_in(exact, own.chance));
            let gaps = advice.decisions.iter().zip(&exact);
            let are_right =
                gaps.filter_map(|(own, other)| Some(is_in(exact[0] - other, own.cost?))).all(|is_right| is_right);
            found += 1;
            // All intervals hold together.
            covered += u32::from(chances && are_right);
        });
    }
    assert!(found >= 5 * of_each as u32 * 9 / 10, "{found} positions");
    println!("{covered} of {found} positions are covered");
    // A hundred positions miss a coverage of 95 % by 2 points, as a standard error.
    let least = if is_full() { 0.93 } else { 0.88 };
    assert!(f64::from(covered) >= least * f64::from(found), "{covered} of {found} positions are covered");
}

#[test]
fn advice_for_a_first_turn_agrees_with_the_review() {
    let rules = Rules::preset("classic").unwrap();
    let (deals, mut squares, mut outside) = (if is_full() { 300 } else { 5 }, 0.0, 0);
    for deal in 0..deals {
        let mut playing = Playing::new(&rules, 2, Key::new(8, deal)).unwrap();
        let mut reviewer = Reviewer::new(&rules, 2, 500).with_seed(deal);
        reviewer.round_begins(&playing.standing());
        playing.events().iter().for_each(|event| reviewer.event(event));
        let _ = reviewer.review(playing.state(), Action::Draw);
        playing.act(Action::Draw).unwrap();
        playing.events().iter().for_each(|event| reviewer.event(event));
        let turn = playing.turn().unwrap();
        assert!(matches!(turn.view.table().phase(), Phase::Held(_)));
        let position = Position::new(&turn.view, playing.totals(), playing.rounds());
        let settings = AdviceSettings { games: Some(2000), seed: deal, ..AdviceSettings::default() };
        let (policy, past) = &mut begin(&position, &settings).unwrap().0[0];
        let choice = policy.decide(&turn.view, past);
        let review = reviewer.review(playing.state(), choice);
        let expected = review.value().unwrap().chance;
        let advice = Advice::of(&position, &settings, &|| true).unwrap();
        let own = advice.decisions.iter().find(|own| own.action == choice).unwrap().chance;
        let errors =
            [own.half / simultaneous_quantile(2 * advice.decisions.len() - 1), expected.half / MeanEstimate::Z];
        let z = (own.mean - expected.mean) / libm::hypot(errors[0], errors[1]);
        squares += z * z;
        outside += u32::from(z.abs() > 1.96);
    }
    println!("mean square {}, {outside} of {deals} outside", squares / deals as f64);
    assert!(
        squares / (deals as f64) < if is_full() { 1.3 } else { 2.0 },
        "the squares of z are {squares} in {deals} deals"
    );
}

#[test]
fn positions_without_a_decision_are_refused() {
    let of = |text: &str| Advice::of(&text.parse().unwrap(), &AdviceSettings::default(), &|| true).unwrap_err();
    let over = "classic a=7s,2h,?,? b=?,?,?,? turns=9 pile=9c phase=over ended=turn_limit";
    assert_eq!(of(over), "the round is over, so there is nothing to decide");
    let other = "classic a=7s,2h,?,? b=?,?,?,? pile=9c turns=2 view=a";
    assert_eq!(of(other), "seat b is to act, but the position is what seat a knows: give view=b");
}
