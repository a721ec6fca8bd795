use std::path::Path;

use super::*;
use crate::plan::{Experiment, lock_differences};

fn experiment(lineups: &str, seats: usize) -> Experiment {
    let text = format!(
        "seed = 1\ndeals = 10\nrules = ['original']\nseats = [{seats}]\n\
         agents = ['random', 'greedy', 'heuristic']\nlineups = {lineups}"
    );
    toml::from_str(&text).unwrap()
}

fn labels(lineups: &str, seats: usize) -> Vec<String> {
    let plan = experiment(lineups, seats).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    plan.cells[0].lineups.iter().map(|lineup| lineup.label().to_owned()).collect()
}

#[test]
fn lineups_follow_their_rule() {
    assert_eq!(labels("'compositions'", 2), ["random | greedy", "random | heuristic", "greedy | heuristic"]);
    assert_eq!(labels("'compositions'", 3).len(), 10 - 3);
    let field = "{ field = ['heuristic'] }";
    assert_eq!(labels(field, 3), ["random | heuristic | heuristic", "greedy | heuristic | heuristic"]);
    let own = "{ focal = ['greedy'], field = ['random', 'heuristic'] }";
    assert_eq!(labels(own, 3), ["greedy | random | heuristic"]);
    let pools = "{ pools = [['random', 'greedy'], ['heuristic', 'greedy']] }";
    let expected = ["random | heuristic", "random | greedy", "greedy | heuristic", "greedy | greedy"];
    assert_eq!(labels(pools, 2), expected);
    assert_eq!(labels("{ pools = [['random', 'greedy']] }", 2).len(), 3);
}

#[test]
fn only_agents_with_the_same_opponents_are_compared() {
    for (lineups, seats, expected) in [
        ("'all'", 2, "random greedy heuristic"),
        ("'compositions'", 3, "random greedy heuristic"),
        ("{ field = ['heuristic'] }", 3, "random greedy"),
        ("{ focal = ['random', 'heuristic'], field = ['greedy'] }", 2, "random heuristic"),
        (
            "{ focal = ['random', 'greedy', 'heuristic'], field = ['random', 'greedy'], mixture = true }",
            2,
            "random greedy heuristic",
        ),
        ("{ pools = [['random'], ['greedy', 'heuristic']] }", 2, "greedy heuristic"),
        ("{ focal = ['heuristic'], field = ['random', 'greedy'], mixture = true }", 2, "random greedy"),
        ("{ focal = ['random'], field = ['greedy'] }", 3, "random greedy"),
        ("[['random', 'greedy'], ['greedy', 'heuristic'], ['heuristic', 'heuristic']]", 2, ""),
    ] {
        let plan = experiment(lineups, seats).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let names: Vec<&str> = plan.cells[0].compared().into_iter().map(|agent| &*plan.agents[agent].label).collect();
        assert_eq!(names.join(" "), expected, "{lineups}");
    }
}

#[test]
fn a_plan_is_read_back_from_its_lock_and_differences_are_named() {
    let roster = cambio_agents::roster();
    let mut experiment = experiment("'all'", 3);
    experiment.unit = Unit::Rounds;
    let plan = experiment.plan(&roster, Path::new(".")).unwrap();
    let lock = plan.lock();
    assert_eq!(Plan::unlock(&lock).unwrap().lock(), lock);
    assert!(lock.contains("\"match_end\":\"rounds(1)\""));
    experiment.deals = 11;
    experiment.rules = vec!["original-b".into()];
    let other = experiment.plan(&roster, Path::new(".")).unwrap();
    let found = lock_differences(&lock, &other.lock());
    assert!(found[0] == "`deals` was 10 and is now 11" && found[1].starts_with("`tables` was "));
    assert!(Plan::unlock(&lock.replace("\"deals\":10", "\"deals\": 10")).is_err());
}

#[test]
fn blocks_come_deal_by_deal_and_lines_cover_them_once() {
    let plan = experiment("'all'", 2).plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let keys: Vec<(u64, usize)> = plan.blocks().map(|block| (block.deal, block.lineup_index)).collect();
    assert_eq!(keys[..4], [(0, 0), (0, 1), (0, 2), (1, 0)]);
    let covered: Vec<u64> = (0..plan.batch_count()).flat_map(|batch| plan.batch(batch)).collect();
    assert_eq!(covered, (0..plan.block_count()).collect::<Vec<_>>());
}
