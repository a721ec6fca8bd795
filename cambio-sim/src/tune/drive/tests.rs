use super::*;
use crate::plan::{LuckChoice, Payoff};
use crate::study::{SettingOptions, TableOptions};
use cambio_exec::Executor;

#[test]
fn mixture_scores_are_means_over_their_fields() {
    let (roster, executor) = (cambio_agents::roster(), Executor::new(1).unwrap());
    let specs = ["greedy(call_at=3)", "greedy(call_at=8)"].map(String::from);
    for (seats, luck) in [(2, LuckChoice::Off), (3, LuckChoice::Off), (2, LuckChoice::On)] {
        let scores = |mixture: bool, field: &[&str]| {
            let table = TableOptions { seats: Some(seats), ..TableOptions::default() };
            let setting = SettingOptions { table, rounds: true, luck };
            let options = TuneOptions { mixture, setting, ..TuneOptions::default() };
            let field: Vec<String> = field.iter().map(ToString::to_string).collect();
            let measured = Candidates::new(&options, &roster, &specs, &field).unwrap();
            assert_eq!(measured.labels(), specs);
            measured.scores(&mut StudyDriver::new(&executor, &mut |_| ()), &[0, 1], 0..20).unwrap()
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
fn invalid_options_are_refused_before_play() {
    let task = TuneOptions {
        agent: "greedy(call_at=?)".into(),
        range: vec!["0..15".into()],
        field: vec!["sharp".into()],
        deals: 2,
        validate: 0,
        ..TuneOptions::default()
    };
    let many = vec!["0..100".into(); 2];
    let (agent, marks) = ("heuristic(call_at=?,decay=?)".to_owned(), "greedy(call_at=6)".to_owned());
    let table = TableOptions { seats: Some(9), ..TableOptions::default() };
    let nine = SettingOptions { table, ..SettingOptions::default() };
    let executor = Executor::new(1).unwrap();
    for (task, sentence) in [
        (TuneOptions { agent: marks, ..task.clone() }, "`greedy(call_at=6)` must have one `?` per range, "),
        (TuneOptions { setting: nine, ..task.clone() }, "`seats` must be a whole number from 2 to 8, found 9"),
        (TuneOptions { deals: 1, ..task.clone() }, "`deals` must be a whole number from 2 to 10000000, found 1"),
        (
            TuneOptions { deals: 10_000_001, ..task.clone() },
            "`deals` must be a whole number from 2 to 10000000, found 10000001",
        ),
        (
            TuneOptions { range: vec!["0..99".into()], deals: 1_000_001, ..task.clone() },
            "`deals` must be at most 1000000 for 100 combinations, found 1000001",
        ),
        (
            TuneOptions { validate: 1 << 60, ..task.clone() },
            "`validate` must be a whole number from 0 to 10000000, found",
        ),
        (
            TuneOptions { agent, range: many, ..task.clone() },
            "the ranges must have at most 10000 combinations, found 10201",
        ),
    ] {
        let mut step = |step| panic!("{step:?}");
        let error = task.run(&cambio_agents::roster(), &mut StudyDriver::new(&executor, &mut step)).unwrap_err();
        assert!(error.to_string().starts_with(sentence), "{error}");
    }
}

#[test]
fn the_result_of_a_search_is_validated_on_fresh_deals() {
    let (roster, executor, field) = (cambio_agents::roster(), Executor::new(1).unwrap(), vec!["sharp".to_owned()]);
    let task = TuneOptions {
        agent: "greedy(call_at=?)".into(),
        range: vec!["0..15".into()],
        field: field.clone(),
        setting: SettingOptions { rounds: true, ..SettingOptions::default() },
        payoff: Payoff::Margin,
        method: MethodName::Cma,
        deals: 3,
        generations: 1,
        validate: 5,
        incumbent: Some("random".into()),
        ..TuneOptions::default()
    };
    let mut step = |_| ();
    let mut driver = StudyDriver::new(&executor, &mut step);
    let result = task.run(&roster, &mut driver).unwrap().result;
    let Some(Validation::Played(validation)) = result.validation else { panic!("it was not played") };
    // The candidates of the generation, and then its centre, have played three deals each.
    let scores = Candidates::new(&task, &roster, &[result.best], &field).unwrap().scores(&mut driver, &[0], 6..11);
    assert!((validation.winner - mean(&scores.unwrap()[0])).abs() < 1e-12);
}
