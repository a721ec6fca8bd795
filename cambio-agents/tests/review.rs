//! Reviews: the chances of the seats, the costs of the decisions, and the parts of the result.

use cambio_agents::{DecisionComparison, DecisionReview, Grade, Luck, MeanEstimate, ResultParts, Reviewer, roster};
use cambio_core::play::RoundResult;
use cambio_core::rng::Key;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::{Action, Card, Event, MatchSetup, Observer, Rules, RulesSpec, Seat, Standing, State, play_match};

use crate::play::amount;

/// Reviews every decision of a match of one round.
struct Watcher {
    reviewer: Reviewer,
    before: Vec<MeanEstimate>,
    told: Vec<(Seat, Action, DecisionReview)>,
    outcome: Vec<f64>,
}

impl Watcher {
    fn parts(&self) -> ResultParts {
        let reviews: Vec<DecisionReview> = self.told.iter().map(|(_, _, review)| review.clone()).collect();
        ResultParts::of(&self.before, &reviews, &self.outcome)
    }
}

impl Observer for Watcher {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.reviewer.round_begins(standing);
        self.before = self.reviewer.before_deal(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        self.reviewer.event(event);
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        let review = self.reviewer.review(state, action);
        for comparison in [&review.known, &review.open].into_iter().flatten() {
            assert!(comparison.decisions.iter().all(|value| state.allows(value.action)), "{comparison:?}");
            assert!(comparison.of(action).is_some() && comparison.decisions[0].cost.is_none(), "{comparison:?}");
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
    watch_with(Reviewer::new(&rules, agents.len(), playouts), rules, agents, deal).0
}

/// The review of a match, and the luck by the bundled outcome model.
fn watch_with(reviewer: Reviewer, rules: Rules, agents: &[&str], deal: u64) -> (Watcher, Luck) {
    let watcher = Watcher { reviewer, before: Vec::new(), told: Vec::new(), outcome: Vec::new() };
    let mut agents: Vec<_> = agents.iter().map(|spec| roster().parse(spec).unwrap().make()).collect();
    let match_setup = MatchSetup { rules, seats: agents.len(), key: Key::new(18, deal) };
    let mut observers = (watcher, Luck::new(&rules, agents.len()));
    play_match(&match_setup, &mut agents, &mut observers).unwrap();
    observers
}

#[test]
fn random_decisions_cost_more_than_those_of_the_network() {
    let (mut cost, mut open, mut blunders) = ([0.0; 2], [0.0; 2], [0; 2]);
    for deal in 0..6 {
        let watcher = watch(round(), &["learned", "random"], deal, 32);
        assert!(watcher.reviewer.is_single_round());
        for (seat, taken, review) in &watcher.told {
            let mean = |comparison: &Option<DecisionComparison>| {
                let value = comparison.as_ref().and_then(|comparison| comparison.of(*taken));
                value.and_then(|value| value.cost).map_or(0.0, |cost| cost.mean)
            };
            cost[seat.index()] += mean(&review.known);
            open[seat.index()] += mean(&review.open);
            blunders[seat.index()] += u32::from(review.grade(watcher.reviewer.blunder()) == Some(Grade::Blunder));
        }
    }
    println!("{cost:?} {open:?} {blunders:?}");
    assert!(cost[1] > 1.0 && cost[1] > 5.0 * cost[0], "{cost:?}");
    assert!(open[0] > cost[0] && open[1] > 1.0, "an oracle finds more: {open:?}, {cost:?}");
    assert!(blunders[1] >= 3 && blunders[0] <= 1, "{blunders:?}");
}

#[test]
fn chances_add_up_to_one_and_predict_the_winner() {
    let (mut brier, mut number) = (0.0, 0.0);
    for deal in 0..amount(10, 40) {
        let watcher = watch(round(), &["learned", "heuristic", "learned"], deal, amount(4, 16));
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
fn the_general_network_reviews_matches_with_other_cards() {
    let watcher = watch(Rules::preset("mini-dpk").unwrap(), &["greedy", "random"], 1, 8);
    assert!(watcher.told.iter().any(|(_, _, review)| review.known.is_some()));
}

#[test]
fn the_parts_of_a_result_add_up_to_it() {
    for (agents, deal, playouts) in [(&["random", "greedy"][..], 1, 120), (&["heuristic", "random", "learned"], 2, 8)] {
        let watcher = watch(round(), agents, deal, playouts);
        let parts = watcher.parts();
        let (mut luck, mut decisions) = (0.0, 0.0);
        for seat in 0..agents.len() {
            let decided: f64 = parts.decisions.iter().map(|by| by[seat].mean).sum();
            let sum = parts.before[seat].mean + parts.deal[seat].mean + parts.draws[seat].mean + decided;
            assert!((sum + parts.rest[seat].mean - parts.result[seat]).abs() < 1e-9, "{parts:?}");
            let steps: f64 = parts.steps.iter().map(|step| step[seat].mean).sum();
            assert!((steps - parts.draws[seat].mean).abs() < 1e-9, "{steps}: {parts:?}");
            // The seat's own part is the sum of the costs that the review shows.
            let own = watcher.told.iter().filter(|(by, ..)| by.index() == seat);
            let costs = own.filter_map(|(_, _, review)| review.value()?.cost);
            let cost: f64 = costs.map(|cost| cost.mean).sum();
            assert!((cost + parts.decisions[seat][seat].mean).abs() < 1e-9, "{parts:?}");
            luck += parts.draws[seat].mean.abs() + parts.deal[seat].mean.abs();
            decisions += decided.abs();
        }
        // With few playouts, all costs are uncertain.
        assert!(luck > 0.05 && (decisions > 0.05 || playouts < 100), "{luck} {decisions}");
        let own: Vec<(f64, f64)> = watcher
            .told
            .iter()
            .filter_map(|(seat, _, review)| Some((review.value()?.chance.mean, review.chances[seat.index()].mean)))
            .collect();
        assert!(own.len() > 5 || playouts < 100, "{own:?}");
        assert!(own.iter().all(|(own, _)| (0.0..=1.0).contains(own)), "{own:?}");
        let differ = own.iter().filter(|(own, open)| (own - open).abs() > 0.2).count();
        assert!(differ > 0 || playouts < 100, "a seat does not know the other seats' cards: {own:?}");
        // The seats share one win, so no part changes the sum of their chances.
        let of_all = |part: &[MeanEstimate]| part.iter().map(|estimate| estimate.mean).sum::<f64>();
        let mut parts_of_all = vec![of_all(&parts.deal), of_all(&parts.draws), of_all(&parts.rest)];
        parts_of_all.extend(parts.decisions.iter().chain(&parts.steps).map(|part| of_all(part)));
        assert!(parts_of_all.iter().all(|sum| sum.abs() < 1e-9), "{parts_of_all:?}");
    }
}

/// Seat a calls at once, and this ends the round: no card is drawn.
#[test]
fn without_chance_events_after_the_deal_all_luck_is_of_the_deal() {
    let rules = serde_json::json!({ "base": "mini-m0", "turn_limit": 1, "limit_in_lap": "ends" });
    let rules = RulesSpec::from_json(&rules).unwrap().validate().unwrap();
    let (mut deals, mut decided) = (0.0, 0.0);
    for deal in 0..12 {
        let watcher = watch(rules, &["greedy(call_at=30)", "greedy"], deal, 40);
        assert_eq!(watcher.told.last().unwrap().1, Action::Call);
        let parts = watcher.parts();
        for seat in 0..2 {
            assert!(parts.draws[seat].mean.abs() < 1e-9, "{parts:?}");
        }
        deals += parts.deal[0].mean.abs();
        decided += parts.rest[0].mean.abs() + parts.decisions[0][0].mean.abs();
    }
    assert!(deals > 1.0 && decided > 0.1, "{deals}, {decided}");
}

/// The mean luck is 0 even if one of the agents is much weaker than the policy of the playouts.
#[test]
fn the_mean_luck_is_0_and_it_agrees_with_the_outcome_model() {
    let (deals, playouts) = (amount(16, 2000), amount(6, 16));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / deals as f64;
    let product = |one: &[f64], other: &[f64]| {
        let (means, pairs) = ((mean(one), mean(other)), one.iter().zip(other));
        pairs.map(|(one, other)| (one - means.0) * (other - means.1)).sum::<f64>() / (deals - 1) as f64
    };
    for agents in [["random(pass=0.9)", "greedy"], ["learned", "sharp"]] {
        let mut lucks = [const { Vec::new() }; 3];
        let (mut results, mut gains) = (Vec::new(), Vec::new());
        for deal in 0..deals {
            let reviewer = Reviewer::new(&round(), 2, playouts).with_seed(deal);
            let (watcher, model) = watch_with(reviewer, round(), &agents, deal);
            let parts = watcher.parts();
            lucks[0].push(parts.deal[0].mean);
            lucks[1].push(parts.draws[0].mean);
            lucks[2].push(model.shares()[0]);
            results.push(parts.result[0]);
            gains.push(parts.result[0] - parts.before[0].mean);
        }
        for luck in &lucks {
            let error = (product(luck, luck) / deals as f64).sqrt();
            println!("{agents:?}: mean luck {:.4}, standard error {error:.4}", mean(luck));
            assert!(mean(luck).abs() < 3.5 * error, "{} with the standard error {error}", mean(luck));
        }
        let all: Vec<f64> = lucks[0].iter().zip(&lucks[1]).map(|(deal, draws)| deal + draws).collect();
        let correlation = product(&all, &lucks[2]) / (product(&all, &all) * product(&lucks[2], &lucks[2])).sqrt();
        println!("{agents:?}: result {:.3}, correlation of the lucks {correlation:.3}", mean(&results));
        if agents[0] == "learned" {
            assert!(correlation > 0.5, "{correlation}");
        } else {
            // The gain over the chance before the deal is not luck alone, and the bound above would show this.
            let error = (product(&gains, &gains) / deals as f64).sqrt();
            assert!(mean(&gains) < -3.5 * error, "{} with the standard error {error}", mean(&gains));
        }
    }
}
