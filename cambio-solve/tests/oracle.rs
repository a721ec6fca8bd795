//! Comparison with an independent solver, the crate `cfr`, on an independent walk of the same engine.

use std::convert::Infallible;

use crate::tree::{Node, Tree};
use cambio_core::{Rules, Seat};
use cambio_solve::{Cfr, CfrMethod, Game, Limits, StopCondition};
use cfr::{GameTree, Moves, NodeType, Outcomes, PlayerNum, SolveMethod, SolveParams};

#[derive(Clone, Copy)]
struct At<'t>(&'t Tree, usize);

struct Children<'t>(At<'t>);

impl<'t> cfr::Game for At<'t> {
    type Action = String;
    type Infoset = u32;
    type ChanceInfoset = Infallible;
    type Chance = Children<'t>;
    type Player = Children<'t>;

    fn into_node(self) -> NodeType<Self> {
        match &self.0.nodes[self.1] {
            Node::End(worth) => NodeType::Terminal(*worth),
            Node::Chance(_) => NodeType::Chance(None, Children(self)),
            Node::Ask(Seat::A, set, _) => NodeType::Player(PlayerNum::One, *set, Children(self)),
            Node::Ask(_, set, _) => NodeType::Player(PlayerNum::Two, *set, Children(self)),
        }
    }
}

impl<'t> Outcomes<At<'t>> for Children<'t> {
    fn len(&self) -> usize {
        let Node::Chance(outcomes) = &self.0.0.nodes[self.0.1] else { return 0 };
        outcomes.len()
    }

    fn get(&self, index: usize) -> (f64, At<'t>) {
        let Node::Chance(outcomes) = &self.0.0.nodes[self.0.1] else { unreachable!("a chance node has outcomes") };
        (outcomes[index].0, At(self.0.0, outcomes[index].1))
    }
}

impl<'t> Moves<At<'t>> for Children<'t> {
    fn len(&self) -> usize {
        let Node::Ask(_, _, choices) = &self.0.0.nodes[self.0.1] else { return 0 };
        choices.len()
    }

    fn apply(&self, index: usize) -> At<'t> {
        let Node::Ask(_, _, choices) = &self.0.0.nodes[self.0.1] else { unreachable!("a decision has choices") };
        At(self.0.0, choices[index].1)
    }

    fn action(&self, index: usize) -> String {
        let Node::Ask(_, _, choices) = &self.0.0.nodes[self.0.1] else { unreachable!("a decision has choices") };
        choices[index].0.to_string()
    }
}

/// Both solvers, each on its own walk: the value, and the distance to an equilibrium that each reports.
fn both(name: &str, iterations: u64) -> [(f64, f64); 2] {
    let rules = Rules::preset(name).unwrap();
    let tree = Tree::of(&rules);
    let game = Game::compile(&rules, &Limits::default(), &mut |_| {}).unwrap();
    let theirs = GameTree::from_game(At(&tree, tree.nodes.len() - 1)).unwrap();
    let (strategies, _) =
        theirs.solve(SolveMethod::Full, iterations, 0.0, 1, SolveParams::default()).expect("one thread is available");
    let info = strategies.get_info();
    let mut ours = Cfr::new(&game, CfrMethod::DCFR);
    let strategy = ours.run(&StopCondition { iterations, exploitability: 0.0 }, &mut |_| {});
    [(info.player_utility(PlayerNum::One), info.regret()), (game.value(&strategy), game.nash_conv(&strategy))]
}

#[test]
fn another_solver_on_another_walk_finds_the_same_values() {
    // On M0 and M1 both agree to 1e-6 quickly. Only the full test solves K3, where the regret of `cfr` is 1.6e-6 after 30,000
    // iterations, which take minutes, and its value is within 1.0e-6 of ours.
    let games = [("mini-m0", 2_000, 1e-6), ("mini-m1", 2_000, 1e-6), ("mini-k3", 30_000, 2e-6)];
    for &(name, iterations, tolerance) in &games[..crate::amount(2, 3)] {
        let [(theirs, regret), (ours, nash_conv)] = both(name, iterations);
        println!("{name}: {theirs:.9} (regret {regret:.1e}) and {ours:.9} (NashConv {nash_conv:.1e})");
        // Each value differs from the true value by at most the distance that its solver reports.
        assert!((theirs - ours).abs() <= 2.0 * regret + nash_conv, "{name}: {theirs} and {ours}");
        assert!((theirs - ours).abs() < tolerance, "{name}: {theirs} and {ours}");
    }
}
