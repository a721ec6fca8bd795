use super::*;
use crate::plan::{LuckChoice, Unit};
use crate::tune::PlaySetting;
use cambio_exec::Executor;
use cambio_stats::race::RaceSettings;

#[test]
fn a_score_against_a_mixture_is_the_mean_of_the_scores_against_each_field() {
    let (roster, executor) = (cambio_agents::roster(), Executor::new(1).unwrap());
    let specs = ["greedy(call_at=3)", "greedy(call_at=8)"].map(String::from);
    for (seats, luck) in [(2, LuckChoice::Off), (3, LuckChoice::Off), (2, LuckChoice::On)] {
        let scores = |mixture: bool, field: &[&str]| {
            let setting = PlaySetting { unit: Unit::Rounds, seats, luck, mixture, ..PlaySetting::default() };
            let field: Vec<String> = field.iter().map(ToString::to_string).collect();
            let measured = Candidates::new(&setting, &roster, &executor, &specs, &field).unwrap();
            assert_eq!(measured.labels(), specs);
            measured.scores(&[0, 1], 0..20).unwrap()
        };
        let (both, one, other) = (
            scores(true, &["sharp", "greedy(call_at=3)"]),
            scores(false, &["sharp"]),
            scores(false, &["greedy(call_at=3)"]),
        );
        assert_ne!(one, other);
        for ((both, one), other) in both.concat().iter().zip(one.concat()).zip(other.concat()) {
            assert!((both - f64::midpoint(one, other)).abs() < 1e-6, "{seats} seats: {both}, {one}, {other}");
        }
    }
}

#[test]
fn a_task_that_is_not_allowed_is_refused_with_what_it_has_before_anything_is_played() {
    let setting = PlaySetting { unit: Unit::Rounds, ..PlaySetting::default() };
    let task = Task {
        agent: "greedy(call_at=?)".into(),
        ranges: vec!["0..15".parse().unwrap()],
        opponents: Opponents::Themselves,
        setting: setting.clone(),
        method: TuneMethod::Sweep { deals: 2 },
        validate: 0,
        incumbent: None,
        command: String::new(),
    };
    let race = RaceSettings { indifference: 0.1, alpha: 0.05, first: 1, step: 16 };
    let many = vec!["0..100".parse().unwrap(); 2];
    let (agent, marks) = ("heuristic(call_at=?,decay=?)".to_owned(), "greedy(call_at=6)".to_owned());
    let points = PlaySetting { payoff: Payoff::Points, ..setting };
    let executor = Executor::new(1).unwrap();
    for (task, sentence) in [
        (Task { agent: marks, ..task.clone() }, "`greedy(call_at=6)` must have one `?` per range, "),
        (Task { method: TuneMethod::Race(race), ..task.clone() }, "first must be from 2 to 10000000, found 1"),
        (Task { validate: 1 << 60, ..task.clone() }, "validate must be from 2 to 10000000, found 1152921504606846976"),
        (
            Task { method: TuneMethod::Halving { blocks: 8 }, ..task.clone() },
            "tuning against the candidates themselves requires the method sweep, found halving",
        ),
        (
            Task { setting: points, ..task.clone() },
            "tuning against the candidates themselves requires the payoff rank_points, win or margin",
        ),
        (Task { agent, ranges: many, ..task.clone() }, "the ranges must have at most 10000 combinations, found 10201"),
        (
            Task { method: TuneMethod::Sweep { deals: 400_000 }, ..task.clone() },
            "deals must be at most 390625 for 16 combinations, found 400000",
        ),
    ] {
        let said = task.run(&cambio_agents::roster(), &executor, |step| panic!("{step}")).unwrap_err().to_string();
        assert!(said.starts_with(sentence), "{said}");
    }
}
