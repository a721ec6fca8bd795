//! Exact beliefs about unseen cards, from a walk over all histories.

use std::collections::BTreeMap;

use cambio_core::{Card, Seat, Spot};

use crate::SolveError;
use crate::game::Game;
use crate::strategy::Strategy;
use crate::walk::{DecisionNode, HistoryNode, Trail, Visitor, settled, walk};

/// The posterior over the faces that a seat has not seen, at one of its information sets: by Bayes' rule from the
/// seat's sightings and the other seat's strategy. The strategy of the seat itself does not matter.
#[derive(Clone, PartialEq, Debug)]
pub struct Posterior {
    /// The seat whose posterior this is.
    pub seat: Seat,
    /// The number of the information set.
    pub set: usize,
    /// The occupied spots whose cards the seat has not seen, in order.
    pub spots: Vec<Spot>,
    /// The possible cards in `spots`, in the same order, with their probabilities. Empty if the other seat's strategy
    /// rules out the information set.
    pub worlds: Vec<(Vec<Card>, f64)>,
}

impl Posterior {
    /// The probability of each card at one of the spots, by kind; `None` if `spot` is not one of `spots`.
    pub fn marginal(&self, spot: Spot) -> Option<Vec<(Card, f64)>> {
        let index = self.spots.iter().position(|&other| other == spot)?;
        let mut marginal = BTreeMap::new();
        for (faces, probability) in &self.worlds {
            *marginal.entry(faces[index]).or_insert(0.0) += probability;
        }
        Some(marginal.into_iter().collect())
    }
}

impl Game {
    /// The posteriors at these information sets of a seat, in the same order, if the other seat follows `strategy`. One
    /// walk of the tree computes all of them.
    ///
    /// # Errors
    /// Only if there is a bug: the same tree was walked when the game was compiled.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{Rules, Seat};
    /// use cambio_solve::{Game, Limits};
    ///
    /// let game = Game::compile(&Rules::preset("mini-m0").unwrap(), &Limits::default(), &mut |_| {}).unwrap();
    /// let sets: Vec<usize> = (0..game.information_sets(Seat::B)).collect();
    /// let posteriors = game.posteriors(&game.uniform(), Seat::B, &sets).unwrap();
    /// for posterior in posteriors {
    ///     let all: f64 = posterior.worlds.iter().map(|(_, probability)| probability).sum();
    ///     assert!((all - 1.0).abs() < 1e-12);
    /// }
    /// ```
    pub fn posteriors(&self, strategy: &Strategy, seat: Seat, sets: &[usize]) -> Result<Vec<Posterior>, SolveError> {
        let mut indices = vec![None; self.information_sets(seat)];
        for (index, &set) in sets.iter().enumerate() {
            indices[set] = Some(index);
        }
        let found =
            sets.iter().map(|&set| (Posterior { seat, set, spots: Vec::new(), worlds: Vec::new() }, BTreeMap::new()));
        let mut believer = PosteriorVisitor { game: self, strategy, seat, indices, found: found.collect() };
        walk(self.rules(), 1.0, &mut believer)?;
        let mut posteriors = Vec::new();
        for (mut posterior, weights) in believer.found {
            let all: f64 = weights.values().sum();
            posterior.worlds =
                weights.into_iter().map(|(faces, weight): (Vec<Card>, f64)| (faces, weight / all)).collect();
            posteriors.push(posterior);
        }
        // If an information set occurs twice in `sets`, only one of its posteriors was filled in: copy it.
        for (index, &set) in sets.iter().enumerate() {
            if let Some(first) = believer.indices[set].filter(|&first| first != index) {
                posteriors[index] = posteriors[first].clone();
            }
        }
        Ok(posteriors)
    }
}

struct PosteriorVisitor<'g> {
    game: &'g Game,
    strategy: &'g Strategy,
    seat: Seat,
    indices: Vec<Option<usize>>,
    found: Vec<(Posterior, BTreeMap<Vec<Card>, f64>)>,
}

impl Visitor for PosteriorVisitor<'_> {
    /// The product of the probabilities of the other seat's decisions.
    type Path = f64;
    const TRAIL: bool = false;

    fn decision(
        &mut self,
        node: &HistoryNode<f64>,
        at: DecisionNode,
        _: &Trail,
        paths: &mut Vec<Option<f64>>,
    ) -> Result<(), SolveError> {
        let set = self.game.find(at.seat, node.keys[at.seat.index()]).expect("the game was compiled by the same walk");
        if at.seat != self.seat {
            let probabilities = self.game.probabilities(self.strategy, at.seat, set);
            paths.extend(probabilities.iter().map(|&p| (p > 0.0).then_some(node.path * p)));
            return Ok(());
        }
        paths.resize(at.choices.len(), Some(node.path));
        let Some(index) = self.indices[set] else { return Ok(()) };
        let (posterior, weights) = &mut self.found[index];
        if posterior.spots.is_empty() {
            let known = node.state.observe(self.seat).known();
            posterior.spots = node.state.table().occupied().without(known).iter_from(self.seat).collect();
        }
        let weight = node.chance * node.path;
        settled(&node.state, |world, odds| {
            let face = |&spot| world.face(spot).expect("a settled world has every face");
            *weights.entry(posterior.spots.iter().map(face).collect()).or_insert(0.0) += weight * odds.probability();
        });
        Ok(())
    }
}
