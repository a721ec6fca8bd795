//! The luck of the cards: its expected value is 0 for every baseline, and a good baseline reduces the variance.

use std::sync::Arc;

use cambio_agents::{Luck, OutcomeModel, roster};
use cambio_core::record::replay;
use cambio_core::rng::{Bounded as _, Key, SplitMix};
use cambio_core::{MatchSetup, Recorder, Rules, RulesSpec, play_match};

use crate::play::amount;

/// A baseline with random weights: its shares have nothing to do with the game.
fn terrible() -> Arc<OutcomeModel> {
    let mut numbers = SplitMix::new(1, 0_u32);
    let mut weight = || numbers.below(2001) as f32 / 500.0 - 2.0;
    Arc::new(OutcomeModel::new((0..OutcomeModel::WEIGHTS).map(|_| weight()).collect()))
}

/// Plays one match per deal. Returns for each deal the luck and the win share of seat a.
fn play(rules: &Rules, agents: &[&str], model: &Arc<OutcomeModel>, deals: u64) -> Vec<[f64; 2]> {
    let mut luck = Luck::over(Arc::clone(model), rules, agents.len());
    let deal = |deal: u64| {
        let mut agents: Vec<_> = agents.iter().map(|spec| roster().parse(spec).unwrap().make()).collect();
        let setup = MatchSetup { rules: *rules, seats: agents.len(), key: Key::new(271, deal) };
        let result = play_match(&setup, &mut agents, &mut luck).unwrap();
        // The shares of single rounds add up to 1; the chances to win a match do so approximately.
        assert!(luck.shares().iter().sum::<f64>().abs() < 0.01, "{:?}", luck.shares());
        let winners = result.ranks.iter().filter(|&&rank| rank == 1).count() as f64;
        [luck.shares()[0], if result.ranks[0] == 1 { 1.0 / winners } else { 0.0 }]
    };
    (0..deals).map(deal).collect()
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let number = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / number;
    (mean, values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / (number - 1.0))
}

#[test]
fn the_expected_luck_is_0_for_any_baseline() {
    let pairs = [["greedy", "random(pass=0.9)"], ["heuristic", "sharp"], ["sharp", "greedy(call_at=9)"]];
    let mut statistics = Vec::new();
    for (index, preset) in ["classic", "original", "faessler"].into_iter().enumerate() {
        let rules = Rules::preset(preset).unwrap();
        for [one, other] in pairs {
            for seats in [2, 4] {
                let agents: Vec<&str> = (0..seats).map(|seat| if seat == 0 { one } else { other }).collect();
                let deals = amount(if index == 0 { 200 } else { 40 }, if index == 0 { 100_000 } else { 10_000 });
                for model in [terrible(), OutcomeModel::shipped(&rules, seats)] {
                    let played = play(&rules, &agents, &model, deals);
                    let (mean, variance) = mean_and_variance(played.iter().map(|[luck, _]| *luck));
                    let statistic = mean / (variance / played.len() as f64).sqrt();
                    println!("{preset} {seats} {one} {other}: {mean:.5}, {statistic:.2} standard errors");
                    statistics.push(statistic);
                }
            }
        }
    }
    // 36 statistics: the largest exceeds 3.6 with a probability of about 1 %.
    assert!(statistics.iter().all(|statistic| statistic.abs() < 4.0), "{statistics:?}");
    let (_, spread) = mean_and_variance(statistics.iter().copied());
    assert!((0.4..2.2).contains(&spread), "the variance of the statistics is {spread}");
}

#[test]
fn the_bundled_baseline_more_than_halves_the_variance() {
    let rules = Rules::preset("classic").unwrap();
    let played = play(&rules, &["learned", "sharp"], &OutcomeModel::shipped(&rules, 2), amount(300, 20_000));
    let (_, raw) = mean_and_variance(played.iter().map(|[_, won]| *won));
    let (_, adjusted) = mean_and_variance(played.iter().map(|[luck, won]| won - luck));
    println!("variance {raw:.4}, without luck {adjusted:.4}: ratio {:.2}", raw / adjusted);
    assert!(raw / adjusted > 2.0, "{raw} and {adjusted}");
}

#[test]
fn a_record_has_the_luck_of_its_match() {
    for (preset, seats) in [("classic", 3), ("faessler", 2)] {
        let rules = Rules::preset(preset).unwrap();
        for deal in 0..4 {
            let key = Key::new(5, deal);
            let mut agents: Vec<_> = (0..seats).map(|_| roster().parse("heuristic").unwrap().make()).collect();
            let mut observers = (Recorder::new(&rules), Luck::new(&rules, seats));
            let result = play_match(&MatchSetup { rules, seats, key }, &mut agents, &mut observers).unwrap();
            let (recorder, luck) = observers;
            let record = recorder.finish(key, 0, &vec!["heuristic"; seats], &result);
            let mut again = Luck::new(&rules, seats);
            replay(&record, &mut again).unwrap();
            assert_eq!(luck.shares(), again.shares(), "{preset}, deal {deal}");
            assert!(luck.shares()[0].abs() > 0.0);
        }
    }
}

#[test]
fn luck_refuses_rules_that_reveal_unseen_cards() {
    for (knob, value) in [("late", "abort"), ("cap", "feasible(5)")] {
        let rules = RulesSpec::from_json(&serde_json::json!({ "base": "classic", knob: value })).unwrap();
        assert!(!Luck::supports(&rules.validate().unwrap()), "{knob}");
    }
    assert!(["classic", "original", "faessler"].iter().all(|preset| Luck::supports(&Rules::preset(preset).unwrap())));
}
