//! The best that a player can do who cannot tell all information sets apart.
//!
//! A player that decides by features plays alike where its features are alike, so it cannot come nearer to perfect play than
//! the best strategy that does so. Such a coarser view of a game is an *abstraction* (Waugh, Schnizlein, Bowling and Szafron
//! 2009, "Abstraction Pathologies in Extensive Games").

use std::collections::BTreeMap;

use cambio_core::Seat;

use crate::game::{Game, Tree};
use crate::strategy::Strategy;
use crate::walk::SEATS;
use crate::{Moment, Progress, SolveError, Until};

/// What a player perceives of an information set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Perceived<K> {
    /// What is equal where the player cannot tell two sets apart.
    pub key: K,
    /// For each choice of `moment.view`, in order, the number of the candidate that it is to the player, from 0 without a gap.
    /// Choices of one candidate are taken equally often; one that is `None` is never taken.
    pub candidates: Vec<Option<u16>>,
}

/// The sets and choices of a game that a player tells apart, in either seat.
///
/// # Examples
/// A player that knows how much has happened and how many choices it has, but sees no card:
/// ```
/// use cambio_core::Rules;
/// use cambio_solve::{Abstraction, Game, Limits, Perceived, Until};
///
/// let game = Game::compile(&Rules::preset("mini-m1")?, &Limits::default(), &mut |_| {})?;
/// let blind = Abstraction::of(&game, |moment| {
///     let choices = moment.view.choices().len() as u16;
///     Perceived { key: (moment.sightings.len(), choices), candidates: (0..choices).map(Some).collect() }
/// })?;
/// let strategy = blind.solve(&Until { iterations: 200, exploitability: 0.0 }, &mut |_| {});
/// assert!(blind.classes() < 100);
/// assert!((0.1..0.4).contains(&game.exploitability(&strategy)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Abstraction<'g> {
    game: &'g Game,
    told: [Told; SEATS],
}

/// What somebody tells apart in one seat. A candidate has a number among those of all classes.
#[derive(Clone, Debug)]
struct Told {
    /// For each class its first candidate; one entry more for the end.
    first: Vec<u32>,
    /// For each information set its class.
    classes: Vec<u32>,
    /// For each sequence its candidate, and what share of the candidate it is; 0 where it is never taken.
    parts: Vec<(u32, f64)>,
}

impl Told {
    /// Everything.
    fn all(tree: &Tree) -> Told {
        let parts = (0..tree.sequences() as u32).map(|sequence| (sequence.saturating_sub(1), 1.0)).collect();
        let first = tree.first.iter().map(|first| first - 1).collect();
        Told { first, classes: (0..tree.sets() as u32).collect(), parts }
    }

    /// What is perceived at each set.
    fn of<K: Ord>(
        game: &Game,
        seat: Seat,
        perceive: &mut impl FnMut(&Moment<'_>) -> Perceived<K>,
    ) -> Result<Told, SolveError> {
        let tree = &game.trees[seat.index()];
        let mut known: BTreeMap<K, u32> = BTreeMap::new();
        let mut told = Told { first: vec![0], classes: vec![0; tree.sets()], parts: vec![(0, 0.0); tree.sequences()] };
        let mut flaw = None;
        game.visit(seat, |moment| {
            let Perceived { key, candidates } = perceive(moment);
            let most = candidates.iter().flatten().max().map_or(0, |&most| u32::from(most) + 1);
            let new = known.len() as u32;
            let class = *known.entry(key).or_insert(new);
            if class == new {
                told.first.push(told.first[class as usize] + most);
            }
            let start = told.first[class as usize];
            let range = tree.range(moment.set);
            if most == 0 || told.first[class as usize + 1] - start != most || candidates.len() != range.len() {
                flaw.get_or_insert(SolveError::Unlike { seat, choices: range.len() });
                return;
            }
            told.classes[moment.set] = class;
            for (sequence, &candidate) in range.zip(&candidates) {
                if let Some(candidate) = candidate {
                    let alike = candidates.iter().filter(|&&other| other == Some(candidate)).count();
                    told.parts[sequence] = (start + u32::from(candidate), 1.0 / alike as f64);
                }
            }
        })?;
        flaw.map_or(Ok(told), Err)
    }

    /// Probabilities that take candidates in proportion to these weights; where a class has none, all equally often.
    fn probabilities(&self, tree: &Tree, weights: &[f64]) -> Vec<f64> {
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

/// Somebody who learns in one seat.
struct Learner<'t> {
    told: &'t Told,
    /// By candidate.
    regrets: Vec<f64>,
    /// By candidate: how often it was taken, the later the more.
    sums: Vec<f64>,
    /// By sequence: what is played now.
    probabilities: Vec<f64>,
    /// By sequence: how likely that leads to it.
    plan: Vec<f64>,
}

impl<'t> Learner<'t> {
    fn new(tree: &Tree, told: &'t Told) -> Learner<'t> {
        let candidates = vec![0.0; told.first.last().map_or(0, |&end| end as usize)];
        let probabilities = told.probabilities(tree, &candidates);
        let plan = tree.plan(&probabilities);
        Learner { told, regrets: candidates.clone(), sums: candidates, probabilities, plan }
    }

    /// Adds up what is regretted against the other seat's plan, and plays by that.
    fn learn(&mut self, game: &Game, seat: Seat, others: &[f64], weight: f64) {
        let tree = &game.trees[seat.index()];
        let mut worth = vec![0.0; tree.sequences()];
        game.payoffs.gradient(seat, others, &mut worth);
        for (set, &parent) in tree.parent.iter().enumerate().rev() {
            let value: f64 = tree.range(set).map(|sequence| self.probabilities[sequence] * worth[sequence]).sum();
            worth[parent as usize] += value;
            for sequence in tree.range(set) {
                let (candidate, share) = self.told.parts[sequence];
                if share > 0.0 {
                    self.regrets[candidate as usize] += share * (worth[sequence] - value);
                    self.sums[candidate as usize] += weight * self.plan[sequence];
                }
            }
        }
        self.regrets.iter_mut().for_each(|regret| *regret = regret.max(0.0));
        self.probabilities = self.told.probabilities(tree, &self.regrets);
        self.plan = tree.plan(&self.probabilities);
    }
}

impl<'g> Abstraction<'g> {
    /// Asks at every information set of both seats what a player perceives there.
    ///
    /// # Errors
    /// If nothing is left to take at a set, or what is perceived alike has other numbers of candidates.
    pub fn of<K: Ord>(
        game: &'g Game,
        mut perceive: impl FnMut(&Moment<'_>) -> Perceived<K>,
    ) -> Result<Abstraction<'g>, SolveError> {
        let told = [Told::of(game, Seat::A, &mut perceive)?, Told::of(game, Seat::B, &mut perceive)?];
        Ok(Abstraction { game, told })
    }

    /// How many sets the player tells apart, in both seats together.
    pub fn classes(&self) -> usize {
        self.told.iter().map(|told| told.first.len() - 1).sum()
    }

    /// Looks for the least exploitable strategy that the player can play: for each seat by CFR+ (Tammelin 2014, "Solving
    /// Large Imperfect Information Games Using CFR+") with regrets and averages that all sets of a class share, against an
    /// opponent that tells everything apart (Johanson, Bard, Burch and Bowling 2012, "Finding Optimal Abstract Strategies
    /// in Extensive-Form Games"). Against one that is as blind as the player it would find more exploitable ones.
    ///
    /// Where a player forgets what it knew before, as features do, no proof says that this comes to the least, and one that
    /// comes to the same class twice in a round is far from it. The exploitability of what is found is exact in any case, and
    /// a bound from above on the least.
    /// It is measured, for `progress` and to stop, after 1, 2, 4, 8, … iterations and at the end, unless
    /// `until.exploitability` is 0.
    pub fn solve(&self, until: &Until, progress: &mut dyn FnMut(Progress)) -> Strategy {
        let trees = &self.game.trees;
        let seeing = trees.each_ref().map(Told::all);
        // Who plays in seat a and in seat b: first the player in seat a, then in seat b.
        let mut tables = [0, 1].map(|own| {
            [0, 1].map(|seat| Learner::new(&trees[seat], if seat == own { &self.told[seat] } else { &seeing[seat] }))
        });
        let average = |tables: &[[Learner<'_>; SEATS]; SEATS]| Strategy {
            probabilities: [0, 1].map(|own| self.told[own].probabilities(&trees[own], &tables[own][own].sums)),
        };
        for iteration in 1..=until.iterations {
            for [a, b] in &mut tables {
                a.learn(self.game, Seat::A, &b.plan, iteration as f64);
                b.learn(self.game, Seat::B, &a.plan, iteration as f64);
            }
            let is_due = until.exploitability > 0.0 && (iteration.is_power_of_two() || iteration == until.iterations);
            let found = is_due.then(|| self.game.exploitability(&average(&tables)));
            progress(Progress::Iterated { iterations: iteration, exploitability: found });
            if found.is_some_and(|found| found <= until.exploitability) {
                break;
            }
        }
        average(&tables)
    }
}
