use cambio_agents::Network;
use cambio_core::Rules;
use cambio_sim::{Plan, play_block};

use super::*;

/// An agent outside the suite, which therefore meets all opponents.
const GUEST: &str = "greedy(call_at=7)";

/// The plans of all tables of a class, from the files of the suite.
fn plans_of(class: &str) -> Vec<PlayablePlan> {
    let (suite, roster) = (Suite::own(), cambio_agents::roster());
    let tables = suite.tables(suite.class(class).unwrap(), 1, GUEST, &roster).unwrap();
    super::plans(&tables, &roster).unwrap()
}

fn hash(parts: impl IntoIterator<Item = String>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The run id of a plan is a hash of its rules, seeds, deals, agents and outcome model, and of the version. If this test fails, published
/// results can no longer be compared with new ones: undo the change, or make it a new suite.
#[test]
fn the_suite_is_frozen() {
    let of_0_1_0 = |plan: &PlayablePlan| Plan { version: "0.1.0".to_owned(), ..Plan::clone(plan) }.run_id();
    let found = ["1ms", "10ms", "100ms"].map(|class| hash(plans_of(class).iter().map(of_0_1_0)));
    assert_eq!(found, ["2a295614eea394c6", "3460e0b9c0f5619a", "7fdf5851a19cdb94"]);
}

/// The opponents must decide as they did when the suite was frozen. If this test fails, keep the former agent under
/// another name for the suite, or make the change a new suite.
#[test]
fn the_opponents_are_frozen() {
    let mut found = Vec::new();
    for plan in plans_of("1ms") {
        for block in plan.blocks().filter(|block| block.deal == 0) {
            let rows = play_block(&plan, &block).unwrap();
            found.extend(rows.matches.iter().map(|row| row.fingerprint.to_string()));
        }
    }
    assert_eq!((found.len(), hash(found).as_str()), (76, "59009e27f23639a3"));
}

/// If this test fails because a network was trained again, the former file must stay available as an opponent: add it
/// to `benchmark/2`, or make the change a new suite.
#[test]
fn the_bundled_networks_are_those_of_the_suite() {
    for (place, wanted) in Suite::own().networks {
        let (rules, seats) = place.split_once(' ').unwrap();
        let file = Network::shipped_file(&Rules::preset(rules).unwrap(), seats.parse().unwrap()).unwrap();
        // A network file ends with its hash.
        let hash = blake3::Hash::from_bytes(*file.last_chunk::<32>().unwrap());
        assert_eq!(hash.to_string(), wanted, "{place}");
    }
}

#[test]
fn the_agent_meets_every_opponent_except_itself() {
    let (suite, roster) = (Suite::own(), cambio_agents::roster());
    let tables = |agent| suite.tables(suite.class("1ms").unwrap(), 100, agent, &roster).unwrap();
    for (agent, lineups) in [(GUEST, 6), ("sharp", 5)] {
        let duel = &tables(agent)[0];
        assert_eq!((duel.name.as_str(), duel.experiment.deals, duel.opponents.len()), ("duel", 100, 6));
        let Lineups::Listed(listed) = &duel.experiment.lineups else { panic!("lineups are listed") };
        assert_eq!(listed.len(), lineups);
        assert!(listed.iter().all(|lineup| lineup[0] == agent && lineup[1] != agent), "{listed:?}");
    }
    let guests = tables(GUEST);
    let four = guests.iter().find(|table| table.part == "table").unwrap();
    let Lineups::Listed(listed) = &four.experiment.lineups else { panic!("lineups are listed") };
    assert_eq!(listed[0], [GUEST, "sharp", "sharp", "sharp"]);
}
