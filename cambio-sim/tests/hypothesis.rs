//! The hypothesis of an experiment: its answer, and that it cannot change.

use std::path::Path;

use cambio_sim::{
    Executor, Experiment, HypothesisSpec, HypothesisVerdict, PlanPlayer, PlayablePlan, RunFolder, Runner,
};

fn plan(deals: u64, margin: f64) -> PlayablePlan {
    let pair = ["greedy".to_owned(), "random".to_owned()];
    let hypothesis = Some(HypothesisSpec { pair, table: None, margin, alpha: 0.01, deals: Some(20) });
    let experiment = Experiment { deals, hypothesis, ..Experiment::at("classic", 2, &["random", "greedy", "sharp"]) };
    experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap()
}

#[test]
fn later_deals_do_not_change_the_answer() {
    let executor = Executor::new(1).unwrap();
    let answer = |deals, margin| Runner::new(&executor).play(&plan(deals, margin)).derived.hypothesis.unwrap();
    let found = answer(20, 0.0);
    assert_eq!((found.verdict, found.complete_deals), (HypothesisVerdict::Shown, 20), "{found:?}");
    assert!(found.difference.unwrap() > 0.5 && found.low.unwrap() > 0.0 && found.p.unwrap() < 0.01, "{found:?}");
    assert_eq!(answer(50, 0.0), found);
    assert_eq!(answer(20, 0.1).verdict, HypothesisVerdict::NotShown, "greedy and random are not equivalent");
    let text = found.text(str::to_owned);
    assert!(
        text.starts_with(
            "Hypothesis: greedy and random differ in rank points (classic, 2 seats, alpha 0.01, 20 deals)."
        ),
        "{text}"
    );
    assert!(text.contains(" Shown: the difference is +") && text.contains(" 99 % interval +"), "{text}");
}

#[test]
fn a_hypothesis_is_undecided_until_its_deals_are_complete() {
    let place = tempfile::tempdir().unwrap();
    let (path, plan) = (place.path().join("run"), plan(40, 0.0));
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    let player = PlanPlayer::new(plan.clone());
    let mut answers = Vec::new();
    for batch in folder.batches_left() {
        folder.commit(&player.play(batch).unwrap()).unwrap();
        let answer = folder.finish(None).unwrap().hypothesis.unwrap();
        assert_eq!(answer.difference.is_none(), answer.complete_deals < 20, "{answer:?}");
        assert_eq!(answer.verdict == HypothesisVerdict::Undecided, answer.complete_deals < 20, "{answer:?}");
        answers.push(answer);
    }
    let text = answers[0].text(str::to_owned);
    assert!(text.ends_with(&format!("Undecided: {} of 20 deals are complete.", answers[0].complete_deals)), "{text}");
    let executor = Executor::new(1).unwrap();
    assert_eq!(Runner::new(&executor).play(&plan).derived.hypothesis.as_ref(), answers.last());
}

#[test]
fn a_run_with_another_hypothesis_is_not_resumed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    drop(RunFolder::create(&path, &plan(20, 0.0)).unwrap());
    let error = RunFolder::reopen(&path, &plan(20, 0.1)).unwrap_err().to_string();
    assert!(error.contains("`hypothesis` was {"), "{error}");
}
