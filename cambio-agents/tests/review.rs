//! Reviews: the chances of the seats and the costs of the decisions.

use cambio_agents::{DecisionReview, Reviewer, roster};
use cambio_core::play::RoundResult;
use cambio_core::rng::Key;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Action, Card, Event, MatchSetup, Observer, Rules, RulesSpec, Seat, Standing, State, play_match};

use crate::play::amount;

/// Reviews every decision of a match of one round.
struct Watcher {
    reviewer: Reviewer,
    told: Vec<(Seat, Action, DecisionReview)>,
    outcome: Vec<f64>,
}

impl Observer for Watcher {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.reviewer.round_begins(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.reviewer.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let review = self.reviewer.review(state, action);
        for regret in [review.known, review.open].into_iter().flatten() {
            assert!(state.allows(regret.best), "{} is not legal", regret.best);
        }
        self.told.push((seat, action, review));
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        self.outcome = self.reviewer.outcome(state);
    }
}

/// One round of classic.
fn round() -> Rules {
    let spec = Rules::preset("classic").unwrap().spec().clone();
    RulesSpec { match_end: MatchEnd::Rounds(1), ..spec }.validate().unwrap()
}

fn watch(rules: Rules, agents: &[&str], deal: u64, playouts: u32) -> Watcher {
    let reviewer = Reviewer::new(&rules, agents.len(), playouts);
    let mut watcher = Watcher { reviewer, told: Vec::new(), outcome: Vec::new() };
    let mut agents: Vec<_> = agents.iter().map(|spec| roster().parse(spec).unwrap().make()).collect();
    let match_setup = MatchSetup { rules, seats: agents.len(), key: Key::new(18, deal) };
    play_match(&match_setup, &mut agents, &mut watcher).unwrap();
    watcher
}

#[test]
fn random_decisions_cost_more_than_those_of_the_network() {
    let (mut cost, mut open, mut blunders) = ([0.0; 2], [0.0; 2], [0; 2]);
    for deal in 0..6 {
        let watcher = watch(round(), &["learned", "random"], deal, 32);
        assert_eq!((watcher.reviewer.player(), watcher.reviewer.is_of_a_round()), ("learned", true));
        for (seat, _, review) in &watcher.told {
            let mean = |regret: Option<cambio_agents::Regret>| regret.map_or(0.0, |regret| regret.cost.mean);
            cost[seat.index()] += mean(review.known);
            open[seat.index()] += mean(review.open);
            blunders[seat.index()] += u32::from(review.is_blunder(watcher.reviewer.blunder()));
        }
    }
    println!("{cost:?} {open:?} {blunders:?}");
    assert!(cost[1] > 1.0 && cost[1] > 5.0 * cost[0], "{cost:?}");
    assert!(open[0] > cost[0] && open[1] > 1.0, "an oracle finds more: {open:?}, {cost:?}");
    assert!(blunders[1] >= 3 && blunders[0] <= 1, "{blunders:?}");
}

#[test]
fn chances_are_of_one_whole_and_foretell_who_wins() {
    let (mut brier, mut number) = (0.0, 0.0);
    for deal in 0..amount(10, 40) {
        let watcher = watch(round(), &["learned", "heuristic", "learned"], deal, amount(8, 16));
        for (_, _, review) in &watcher.told {
            let all: f64 = review.chances.iter().map(|chance| chance.mean).sum();
            assert!((all - 1.0).abs() < 1e-9, "{review:?}");
            for (chance, share) in review.chances.iter().zip(&watcher.outcome) {
                brier += (chance.mean - share) * (chance.mean - share);
                number += 1.0;
            }
        }
    }
    println!("{}", brier / number);
    // A constant prediction of one third has a Brier score of 2/9.
    assert!(brier / number < 0.8 * 2.0 / 9.0, "{}", brier / number);
}

#[test]
fn the_same_match_has_the_same_appraisal() {
    let [one, other] = [0, 0].map(|deal| watch(round(), &["heuristic", "random"], deal, 8));
    assert_eq!(one.told, other.told);
}

#[test]
fn where_no_network_knows_the_cards_the_heuristic_plays_on() {
    let watcher = watch(Rules::preset("mini-dpk").unwrap(), &["greedy", "random"], 1, 8);
    assert_eq!(watcher.reviewer.player(), "heuristic");
    assert!(watcher.told.iter().any(|(_, _, review)| review.known.is_some()));
}
