//! The solvers agree, strategy files are read back unchanged, invalid input is rejected, and agents are measured.

use crate::{SEATS, mini};
use cambio_core::testing::RandomAgent;
use cambio_core::{Action, Agent, AgentError, Observation, Rules, RulesSpec, Seat};
use cambio_solve::{
    AgentPolicy, Cfr, CfrMethod, Game, InfosetView, Limits, Mccfr, SolveError, StopCondition, Strategy, StrategyError,
};

fn solved(game: &Game, to: f64) -> Strategy {
    Cfr::new(game, CfrMethod::DCFR).run(&StopCondition { iterations: 100_000, exploitability: to }, &mut |_| {})
}

#[test]
fn discounted_plus_and_sampling_agree() {
    let rules = Rules::preset("mini-m1").unwrap();
    let game = mini("mini-m1");
    for method in [CfrMethod::DCFR, CfrMethod::Plus] {
        let strategy =
            Cfr::new(&game, method).run(&StopCondition { iterations: 2_000, exploitability: 1e-6 }, &mut |_| {});
        assert!(game.exploitability(&strategy) <= 1e-5, "{method:?}");
        assert!((game.value(&strategy) - 11.0 / 280.0).abs() < 2e-5, "{method:?}");
    }
    let mut mccfr = Mccfr::new(&rules, Limits::default(), 1).unwrap();
    for _ in 0..20_000 {
        mccfr.iterate().unwrap();
    }
    let strategy = mccfr.average(&game);
    let exploitability = game.exploitability(&strategy);
    assert!(exploitability < 0.03, "{exploitability}");
    assert!((game.value(&strategy) - 11.0 / 280.0).abs() < 2.0 * exploitability);
    // A sampled strategy can be written and read like any other.
    assert_eq!(Strategy::read(&game, &mccfr.write()).unwrap(), strategy);
}

#[test]
fn the_same_seed_samples_the_same() {
    let rules = Rules::preset("mini-m3").unwrap();
    let run = |seed| {
        let mut mccfr = Mccfr::new(&rules, Limits::default(), seed).unwrap();
        (0..50).for_each(|_| mccfr.iterate().unwrap());
        (mccfr.write(), mccfr.histories())
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

#[test]
fn a_strategy_is_read_as_it_was_written() {
    let game = mini("mini-m1");
    let strategy = solved(&game, 1e-3);
    let text = strategy.write(&game);
    assert_eq!(Strategy::read(&game, &text).unwrap(), strategy, "bit by bit");
    assert!(text.starts_with("cambio-strategy/1\ngame\t"), "{}", &text[..80]);
    // Equal rules with another name are the same game.
    let renamed = RulesSpec::from_toml("base = 'mini-m1'\nname = 'mine'").unwrap().validate().unwrap();
    let renamed = Game::compile(&renamed, &Limits::default(), &mut |_| {}).unwrap();
    assert_eq!(Strategy::read(&renamed, &text).unwrap(), strategy);
}

#[test]
fn a_strategy_that_does_not_fit_is_refused_in_one_sentence() {
    let game = mini("mini-m1");
    let text = solved(&game, 1e-2).write(&game);
    let refusal = |text: &str| Strategy::read(&game, text).unwrap_err().to_string();
    let other = mini("mini-m0");
    assert_eq!(
        Strategy::read(&other, &text).unwrap_err(),
        StrategyError::OtherGame { found: "mini-m1".to_owned(), allowed: "mini-m0".to_owned() }
    );
    assert_eq!(
        Strategy::read(&other, &text).unwrap_err().to_string(),
        "the strategy is for `mini-m1`, whose rules differ from the rules of `mini-m0`"
    );
    assert_eq!(
        refusal("cambio-strategy/2\n"),
        "not a strategy file of this version: it must begin with the line `cambio-strategy/1`, found `cambio-strategy/2`"
    );
    assert!(refusal("cambio-strategy/1\n").starts_with("not a strategy file"));
    assert!(refusal(&text.replacen("a\t", "c\t", 1)).starts_with("line 4 is not an information set of the game"));
    let first = text.lines().nth(3).unwrap();
    for (found, put) in [("draw=", "drop="), ("=0", "=2"), ("=1", "=2"), ("a\t", "b\t")] {
        if first.contains(found) {
            let altered = text.replacen(first, &first.replacen(found, put, 1), 1);
            assert!(refusal(&altered).starts_with("line 4 is not an"), "{found}: {}", refusal(&altered));
        }
    }
    let twice = format!("{text}{first}\n");
    assert!(refusal(&twice).starts_with("line 3056 is not an information set"), "{}", refusal(&twice));
    let cut = text.lines().take(100).collect::<Vec<_>>().join("\n");
    assert_eq!(refusal(&cut), "the header requires 1912+1140 information sets, found 97: the file is cut or altered");
}

#[test]
fn games_that_are_too_large_are_refused_at_once() {
    for preset in ["classic", "original", "faessler"] {
        let error = Game::compile(&Rules::preset(preset).unwrap(), &Limits::default(), &mut |_| {}).unwrap_err();
        let SolveError::TooLarge { walked: None, estimate, .. } = &error else { panic!("{preset}: {error}") };
        assert!(estimate.histories > 1e12, "{preset}: {estimate}");
        let sentence = format!("`{preset}` is too large to be solved exactly: about 10^");
        assert!(error.to_string().starts_with(&sentence), "{error}");
    }
}

#[test]
fn games_that_exceed_their_limits_are_stopped() {
    let rules = Rules::preset("mini-m3").unwrap();
    let refuse = |limits: Limits| {
        let error = Game::compile(&rules, &limits, &mut |_| {}).unwrap_err();
        assert!(matches!(error, SolveError::TooLarge { walked: Some(_), .. }), "{error}");
    };
    refuse(Limits { memory: 20_000_000, ..Limits::default() });
    refuse(Limits { histories: 400_000, ..Limits::default() });
    let small = Limits { memory: 10_000, ..Limits::default() };
    let mut mccfr = Mccfr::new(&rules, small, 1).unwrap();
    let error = (0..1_000).find_map(|_| mccfr.iterate().err()).unwrap();
    assert!(matches!(error, SolveError::Sampled { .. }), "{error}");
    // The limit is also checked within an iteration: with full rules, one iteration follows all choices of a seat.
    let classic = Rules::preset("classic").unwrap();
    let mut mccfr = Mccfr::new(&classic, Limits { memory: 20_000_000, ..Limits::default() }, 1).unwrap();
    let error = mccfr.iterate().unwrap_err();
    assert!(matches!(error, SolveError::Sampled { iterations: 0, .. }), "{error}");
}

#[test]
fn custom_rules_are_solved() {
    let text = "base = 'mini-m0'\nhand = 1\nmax_slots = 1\npeek = 'none'";
    let rules = RulesSpec::from_toml(text).unwrap().validate().unwrap();
    let game = Game::compile(&rules, &Limits::default(), &mut |_| {}).unwrap();
    let strategy = solved(&game, 1e-6);
    assert!(game.information_sets(Seat::A) > 0 && game.nash_conv(&strategy) <= 2e-6);
}

/// The estimate is unbiased, so it must be close to the actual size.
#[test]
fn the_estimate_of_a_small_game_is_near_its_size() {
    let mut told = None;
    let rules = Rules::preset("mini-m3").unwrap();
    let game = Game::compile(&rules, &Limits::default(), &mut |progress| {
        if let cambio_solve::SolverProgress::Estimated(estimate) = progress {
            told = Some(estimate);
        }
    })
    .unwrap();
    let estimate = told.expect("the size is reported first");
    let ratio = estimate.histories / game.histories() as f64;
    assert!((0.7..1.4).contains(&ratio), "{estimate}, actual size {}", game.histories());
}

#[test]
fn policies_that_follow_a_strategy_equal_it() {
    let game = mini("mini-m1");
    let strategy = solved(&game, 1e-4);
    let mut follow =
        |moment: &InfosetView<'_>| -> Vec<f64> { game.probabilities(&strategy, moment.seat, moment.set).to_vec() };
    let answers = game.ask(&mut follow, &mut |_| {}).unwrap();
    assert!((game.nash_conv(&answers.strategy) - game.nash_conv(&strategy)).abs() < 1e-12);
    assert!((0..2).all(|seat| answers.asked[seat] <= game.information_sets(SEATS[seat])));
    let found = game.exploit(&answers.strategy, &strategy);
    assert!((found.lost[0] + found.lost[1] - found.nash_conv).abs() < 1e-12);
    assert!(found.against_equilibrium.iter().all(|gain| gain.abs() < 1e-12), "{found:?}");
    assert!(found.exploitability() <= 1e-4);
}

#[test]
fn a_random_agent_asked_often_is_nearly_uniform() {
    let game = mini("mini-m0");
    let mut policy = AgentPolicy::new(RandomAgent::default, 5, 400);
    let answers = game.ask(&mut policy, &mut |_| {}).unwrap();
    assert_eq!(answers.asked, [114, 108]);
    assert!((game.nash_conv(&answers.strategy) - 1.08889).abs() < 0.1, "{}", game.nash_conv(&answers.strategy));
    let mut again = AgentPolicy::new(RandomAgent::default, 5, 400);
    assert_eq!(game.ask(&mut again, &mut |_| {}).unwrap(), answers, "the same seed gives the same answers");
}

/// Takes the given action, or the first choice.
struct Fixed(Option<Action>);

impl Agent for Fixed {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        Ok(self.0.unwrap_or_else(|| view.choices().nth(0).unwrap()))
    }
}

#[test]
fn agents_are_asked_only_at_sets_that_they_reach() {
    let game = mini("mini-m1");
    let answers = game.ask(&mut AgentPolicy::new(|| Fixed(None), 0, 1), &mut |_| {}).unwrap();
    assert!(answers.asked.iter().sum::<usize>() < 1_000, "{:?}", answers.asked);
    let error = game.ask(&mut AgentPolicy::new(|| Fixed(Some(Action::Take)), 0, 1), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "seat a decided `take`, which is illegal; legal: draw, call");
    let error = game.ask(&mut |_: &InfosetView<'_>| vec![0.5, 0.25], &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "seat a answered [0.5, 0.25]; expected 2 probabilities that add up to 1");
}
