//! Counterfactual regret minimisation (CFR) on a compiled game: discounted CFR and CFR+.
//!
//! In each iteration, each seat learns once, over all histories at once. First the payoffs against the other seat's
//! realisation plan are computed; then, in the seat's tree from the leaves up, the counterfactual values and regrets;
//! then, from the root down, the seat's next plan (Zinkevich, Johanson, Bowling and Piccione 2007, "Regret Minimization
//! in Games with Incomplete Information", equations 5 to 8; with sequences instead of histories, which gives the same
//! values). The seats learn in turn, each against the other seat's newest plan.

use cambio_core::Seat;

use crate::game::{Game, SequenceTree};
use crate::strategy::Strategy;
use crate::walk::SEATS;
use crate::{SolverProgress, StopCondition};

/// The variant of CFR: the weights of regrets and averages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CfrMethod {
    /// Discounted CFR (Brown and Sandholm 2019, "Solving Imperfect-Information Games via Discounted Regret
    /// Minimization"): after iteration t positive regrets are multiplied by `t^α / (t^α + 1)`, negative ones by the
    /// same factor with β, and iteration t has weight `t^γ` in the average.
    Discounted {
        /// The exponent for positive regrets.
        alpha: f64,
        /// The exponent for negative regrets.
        beta: f64,
        /// The exponent for the average.
        gamma: f64,
    },
    /// CFR+ (Tammelin 2014, "Solving Large Imperfect Information Games Using CFR+"): regrets never fall below 0, and
    /// iteration t has weight t in the average.
    Plus,
}

impl CfrMethod {
    /// Discounted CFR with the parameters that its authors recommend: α = 1.5, β = 0, γ = 2.
    pub const DCFR: CfrMethod = CfrMethod::Discounted { alpha: 1.5, beta: 0.0, gamma: 2.0 };
}

/// A solver by counterfactual regret minimisation.
///
/// # Examples
/// ```
/// use cambio_core::Rules;
/// use cambio_solve::{Cfr, CfrMethod, Game, Limits};
///
/// let game = Game::compile(&Rules::preset("mini-m1").unwrap(), &Limits::default(), &mut |_| {}).unwrap();
/// let mut cfr = Cfr::new(&game, CfrMethod::DCFR);
/// (0..200).for_each(|_| cfr.iterate());
/// let strategy = cfr.average();
/// assert!(game.exploitability(&strategy) < 1e-4);
/// assert!((game.value(&strategy) - 11.0 / 280.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug)]
pub struct Cfr<'g> {
    game: &'g Game,
    method: CfrMethod,
    seats: [SeatLearner; SEATS],
    /// The value of each sequence of the learning seat.
    worth: Vec<f64>,
    iterations: u64,
}

/// The regrets and plans of one seat, by sequence.
#[derive(Clone, Debug)]
struct SeatLearner {
    regrets: Vec<f64>,
    /// The weighted sum of the realisation plans.
    average: Vec<f64>,
    plan: Vec<f64>,
}

impl SeatLearner {
    fn new(tree: &SequenceTree) -> SeatLearner {
        let zeros = vec![0.0; tree.sequences()];
        let mut learner = SeatLearner { regrets: zeros.clone(), average: zeros.clone(), plan: zeros };
        learner.plan_on(tree, 0.0);
        learner
    }

    /// Computes the next plan by regret matching, and adds it to the average with this weight.
    fn plan_on(&mut self, tree: &SequenceTree, weight: f64) {
        let SeatLearner { regrets, average, plan } = self;
        plan[0] = 1.0;
        let mut start = 1;
        for (&end, &parent) in tree.first[1..].iter().zip(&tree.parent) {
            let end = end as usize;
            let reach = plan[parent as usize];
            let plan = &mut plan[start..end];
            if reach == 0.0 {
                plan.fill(0.0);
            } else {
                let regrets = &regrets[start..end];
                let sum: f64 = regrets.iter().map(|regret| regret.max(0.0)).sum();
                if sum > 0.0 {
                    let scale = reach / sum;
                    plan.iter_mut().zip(regrets).for_each(|(plan, regret)| *plan = regret.max(0.0) * scale);
                } else {
                    plan.fill(reach / (end - start) as f64);
                }
                average[start..end].iter_mut().zip(plan).for_each(|(average, plan)| *average += weight * *plan);
            }
            start = end;
        }
    }

    /// Updates the regrets from the values of the sequences, from the leaves up.
    fn learn(&mut self, tree: &SequenceTree, worth: &mut [f64], method: CfrMethod, iteration: f64) {
        let (positive, negative) = match method {
            CfrMethod::Discounted { alpha, beta, .. } => {
                let discount = |power: f64| libm::pow(iteration, power) / (libm::pow(iteration, power) + 1.0);
                (discount(alpha), discount(beta))
            }
            CfrMethod::Plus => (1.0, 0.0),
        };
        let mut end = self.regrets.len();
        for (&start, &parent) in tree.first[..tree.sets()].iter().zip(&tree.parent).rev() {
            let start = start as usize;
            let regrets = &mut self.regrets[start..end];
            let worths = &worth[start..end];
            let (mut sum, mut value) = (0.0, 0.0);
            for (regret, worth) in regrets.iter().zip(worths) {
                sum += regret.max(0.0);
                value += regret.max(0.0) * worth;
            }
            let value = if sum > 0.0 { value / sum } else { worths.iter().sum::<f64>() / (end - start) as f64 };
            for (regret, worth) in regrets.iter_mut().zip(worths) {
                let next = *regret + worth - value;
                *regret = next * if next > 0.0 { positive } else { negative };
            }
            worth[parent as usize] += value;
            end = start;
        }
    }
}

impl<'g> Cfr<'g> {
    /// Creates a solver in which all regrets are 0.
    pub fn new(game: &'g Game, method: CfrMethod) -> Cfr<'g> {
        let longest = game.trees.iter().map(SequenceTree::sequences).max().unwrap_or(1);
        let seats = game.trees.each_ref().map(SeatLearner::new);
        Cfr { game, method, seats, worth: vec![0.0; longest], iterations: 0 }
    }

    /// Runs one iteration: each seat learns once.
    pub fn iterate(&mut self) {
        self.iterations += 1;
        let iteration = self.iterations as f64;
        let weight = match self.method {
            CfrMethod::Discounted { gamma, .. } => libm::pow(iteration, gamma),
            CfrMethod::Plus => iteration,
        };
        for seat in [Seat::A, Seat::B] {
            let tree = &self.game.trees[seat.index()];
            let worth = &mut self.worth[..tree.sequences()];
            self.game.payoffs.gradient(seat, &self.seats[1 - seat.index()].plan, worth);
            let learner = &mut self.seats[seat.index()];
            learner.learn(tree, worth, self.method, iteration);
            learner.plan_on(tree, weight);
        }
    }

    /// The number of iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The average strategy, which converges to an equilibrium.
    pub fn average(&self) -> Strategy {
        let mut strategy = self.game.uniform();
        for (seat, tree) in self.game.trees.iter().enumerate() {
            for set in 0..tree.sets() {
                let range = tree.range(set);
                let average = &self.seats[seat].average[range.clone()];
                let sum: f64 = average.iter().sum();
                if sum > 0.0 {
                    for (probability, average) in strategy.probabilities[seat][range].iter_mut().zip(average) {
                        *probability = average / sum;
                    }
                }
            }
        }
        strategy
    }

    /// Iterates until the average strategy reaches the given exploitability, or the iterations are used up.
    ///
    /// Exploitability is measured after each of the first iterations, later each time that their number has grown by a
    /// twentieth.
    pub fn run(&mut self, until: &StopCondition, progress: &mut dyn FnMut(SolverProgress)) -> Strategy {
        let mut next = self.iterations + 1;
        while self.iterations < until.iterations {
            self.iterate();
            let is_due = self.iterations >= next && until.exploitability > 0.0;
            if is_due {
                next = self.iterations + 1 + self.iterations / 20;
            }
            let exploitability = is_due.then(|| self.game.exploitability(&self.average()));
            progress(SolverProgress::Iterated { iterations: self.iterations, exploitability });
            if exploitability.is_some_and(|found| found <= until.exploitability) {
                break;
            }
        }
        self.average()
    }
}
