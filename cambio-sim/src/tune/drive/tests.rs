use super::*;
use crate::plan::LuckChoice;
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
    let executor = Executor::new(1).unwrap();
    for (task, sentence) in [
        (TuneOptions { agent: marks, ..task.clone() }, "`greedy(call_at=6)` must have one `?` per range, "),
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
