//! The least exploitable strategies of agents that do not distinguish all information sets.
//!
//! An agent that decides from features makes the same decision in all information sets with equal features, so it
//! cannot be better than the best strategy with this restriction. Such a coarser view of a game is an *abstraction*
//! (Waugh, Schnizlein, Bowling and Szafron 2009, "Abstraction Pathologies in Extensive Games").

use std::collections::BTreeMap;

use cambio_core::Seat;

use crate::game::{Game, SequenceTree};
use crate::strategy::Strategy;
use crate::walk::SEATS;
use crate::{InfosetView, SolveError, SolverProgress, StopCondition};

/// An information set as an agent with an abstraction perceives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Perceived<K> {
    /// The class of the information set: equal for information sets that the agent does not distinguish.
    pub key: K,
    /// The candidate of each choice of the seat's view, in order. Candidates are numbered from 0 without gaps. Choices
    /// with the same candidate are equally likely; a choice with `None` is never taken.
    pub candidates: Vec<Option<u16>>,
}

/// An abstraction of a game for both seats: the classes of information sets, and the candidates in each.
///
/// # Examples
/// An agent that knows the number of sightings and of choices, but sees no card:
/// ```
/// use cambio_core::Rules;
/// use cambio_solve::{Abstraction, Game, Limits, Perceived, StopCondition};
///
/// let game = Game::compile(&Rules::preset("mini-m1")?, &Limits::default(), &mut |_| {})?;
/// let blind = Abstraction::of(&game, |moment| {
///     let choices = moment.view.choices().len() as u16;
///     Perceived { key: (moment.sightings.len(), choices), candidates: (0..choices).map(Some).collect() }
/// })?;
/// let strategy = blind.solve(&StopCondition { iterations: 200, exploitability: 0.0 }, &mut |_| {});
/// assert!(blind.classes() < 100);
/// assert!((0.1..0.4).contains(&game.exploitability(&strategy)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Abstraction<'g> {
    game: &'g Game,
    partitions: [InformationPartition; SEATS],
}

/// The abstraction of one seat. Candidates are numbered over all classes.
#[derive(Clone, Debug)]
struct InformationPartition {
    /// The first candidate of each class, and one more entry for the end.
    first: Vec<u32>,
    /// The class of each information set.
    classes: Vec<u32>,
    /// For each sequence, its candidate and its share of the candidate's probability; 0 if the choice is never taken.
    parts: Vec<(u32, f64)>,
}

impl InformationPartition {
    /// The abstraction that distinguishes all information sets and choices.
    fn all(tree: &SequenceTree) -> InformationPartition {
        let parts = (0..tree.sequences() as u32).map(|sequence| (sequence.saturating_sub(1), 1.0)).collect();
        let first = tree.first.iter().map(|first| first - 1).collect();
        InformationPartition { first, classes: (0..tree.sets() as u32).collect(), parts }
    }

    /// The abstraction that `perceive` describes.
    fn of<K: Ord>(
        game: &Game,
        seat: Seat,
        perceive: &mut impl FnMut(&InfosetView<'_>) -> Perceived<K>,
    ) -> Result<InformationPartition, SolveError> {
        let tree = &game.trees[seat.index()];
        let mut known: BTreeMap<K, u32> = BTreeMap::new();
        let mut partition = InformationPartition {
            first: vec![0],
            classes: vec![0; tree.sets()],
            parts: vec![(0, 0.0); tree.sequences()],
        };
        let mut error = None;
        game.visit(seat, |moment| {
            let Perceived { key, candidates } = perceive(moment);
            let most = candidates.iter().flatten().max().map_or(0, |&most| u32::from(most) + 1);
            let new = known.len() as u32;
            let class = *known.entry(key).or_insert(new);
            if class == new {
                partition.first.push(partition.first[class as usize] + most);
            }
            let start = partition.first[class as usize];
            let range = tree.range(moment.set);
            if most == 0 || partition.first[class as usize + 1] - start != most || candidates.len() != range.len() {
                error.get_or_insert(SolveError::Unlike { seat, choices: range.len() });
                return;
            }
            partition.classes[moment.set] = class;
            for (sequence, &candidate) in range.zip(&candidates) {
                if let Some(candidate) = candidate {
                    let alike = candidates.iter().filter(|&&other| other == Some(candidate)).count();
                    partition.parts[sequence] = (start + u32::from(candidate), 1.0 / alike as f64);
                }
            }
        })?;
        error.map_or(Ok(partition), Err)
    }

    /// The probabilities of the sequences, in proportion to candidates' weights; uniform where all weights are 0.
    fn probabilities(&self, tree: &SequenceTree, weights: &[f64]) -> Vec<f64> {
        let mut probabilities = vec![1.0; tree.sequences()];
        for (set, &class) in self.classes.iter().enumerate() {
            let own = self.first[class as usize] as usize..self.first[class as usize + 1] as usize;
            let (sum, each) = (weights[own.clone()].iter().sum::<f64>(), 1.0 / own.len() as f64);
            for sequence in tree.range(set) {
                let (candidate, share) = self.parts[sequence];
                let weight = if sum > 0.0 { weights[candidate as usize] / sum } else { each };
                probabilities[sequence] = weight * share;
            }
        }
        probabilities
    }
}

/// A CFR+ learner in one seat.
struct ClassLearner<'t> {
    partition: &'t InformationPartition,
    /// By candidate.
    regrets: Vec<f64>,
    /// By candidate: the weighted sum of the reach probabilities of its sequences, for the average strategy.
    sums: Vec<f64>,
    /// By sequence: the current strategy.
    probabilities: Vec<f64>,
    /// By sequence: the realisation plan of the current strategy.
    plan: Vec<f64>,
}

impl<'t> ClassLearner<'t> {
    fn new(tree: &SequenceTree, partition: &'t InformationPartition) -> ClassLearner<'t> {
        let candidates = vec![0.0; partition.first.last().map_or(0, |&end| end as usize)];
        let probabilities = partition.probabilities(tree, &candidates);
        let plan = tree.plan(&probabilities);
        ClassLearner { partition, regrets: candidates.clone(), sums: candidates, probabilities, plan }
    }

    /// Updates the regrets against the other seat's plan, then the current strategy by regret matching.
    fn learn(&mut self, game: &Game, seat: Seat, others: &[f64], weight: f64) {
        let tree = &game.trees[seat.index()];
        let mut worth = vec![0.0; tree.sequences()];
        game.payoffs.gradient(seat, others, &mut worth);
        for (set, &parent) in tree.parent.iter().enumerate().rev() {
            let value: f64 = tree.range(set).map(|sequence| self.probabilities[sequence] * worth[sequence]).sum();
            worth[parent as usize] += value;
            for sequence in tree.range(set) {
                let (candidate, share) = self.partition.parts[sequence];
                if share > 0.0 {
                    self.regrets[candidate as usize] += share * (worth[sequence] - value);
                    self.sums[candidate as usize] += weight * self.plan[sequence];
                }
            }
        }
        self.regrets.iter_mut().for_each(|regret| *regret = regret.max(0.0));
        self.probabilities = self.partition.probabilities(tree, &self.regrets);
        self.plan = tree.plan(&self.probabilities);
    }
}

impl<'g> Abstraction<'g> {
    /// Creates an abstraction: calls `perceive` at every information set of both seats.
    ///
    /// # Errors
    /// If an information set has no candidate, or two with the same key have different numbers of candidates.
    pub fn of<K: Ord>(
        game: &'g Game,
        mut perceive: impl FnMut(&InfosetView<'_>) -> Perceived<K>,
    ) -> Result<Abstraction<'g>, SolveError> {
        let partitions = [
            InformationPartition::of(game, Seat::A, &mut perceive)?,
            InformationPartition::of(game, Seat::B, &mut perceive)?,
        ];
        Ok(Abstraction { game, partitions })
    }

    /// The number of classes of both seats together.
    pub fn classes(&self) -> usize {
        self.partitions.iter().map(|partition| partition.first.len() - 1).sum()
    }

    /// Searches for the least exploitable strategy of the abstraction: for each seat by CFR+ (Tammelin 2014, "Solving
    /// Large Imperfect Information Games Using CFR+") with regrets and averages that all information sets of a class
    /// share, against an opponent without abstraction (Johanson, Bard, Burch and Bowling 2012, "Finding Optimal
    /// Abstract Strategies in Extensive-Form Games"). Against an opponent with the same abstraction, the search would
    /// find more exploitable strategies.
    ///
    /// If the abstraction has imperfect recall, as abstractions by features have, there is no proof that the search
    /// converges to the lowest exploitability; if a class can occur twice in a round, the result stays far from it. The
    /// measured exploitability is always exact, and an upper bound on the lowest. It is measured, for `progress` and to
    /// stop, after 1, 2, 4, 8, … iterations and at the end, unless `until.exploitability` is 0.
    pub fn solve(&self, until: &StopCondition, progress: &mut dyn FnMut(SolverProgress)) -> Strategy {
        let trees = &self.game.trees;
        let full = trees.each_ref().map(InformationPartition::all);
        // The learners of two games: in the first, seat a has the abstraction; in the second, seat b.
        let mut tables = [0, 1].map(|own| {
            [0, 1].map(|seat| {
                ClassLearner::new(&trees[seat], if seat == own { &self.partitions[seat] } else { &full[seat] })
            })
        });
        let average = |tables: &[[ClassLearner<'_>; SEATS]; SEATS]| Strategy {
            probabilities: [0, 1].map(|own| self.partitions[own].probabilities(&trees[own], &tables[own][own].sums)),
        };
        for iteration in 1..=until.iterations {
            for [a, b] in &mut tables {
                a.learn(self.game, Seat::A, &b.plan, iteration as f64);
                b.learn(self.game, Seat::B, &a.plan, iteration as f64);
            }
            let is_due = until.exploitability > 0.0 && (iteration.is_power_of_two() || iteration == until.iterations);
            let found = is_due.then(|| self.game.exploitability(&average(&tables)));
            progress(SolverProgress::Iterated { iterations: iteration, exploitability: found });
            if found.is_some_and(|found| found <= until.exploitability) {
                break;
            }
        }
        average(&tables)
    }
}
