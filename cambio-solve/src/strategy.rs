//! Strategies: their values, best responses, exploitability and files.

use std::fmt::Write as _;

use cambio_core::text::{excerpt, without_mark};
use cambio_core::{Action, Rules, Seat};

use crate::game::{Game, SequenceTree, rules_id};
use crate::key::HistoryKey;
use crate::walk::SEATS;

/// A behaviour strategy of both seats: a probability for each choice at each information set of one [`Game`].
#[derive(Clone, PartialEq, Debug)]
pub struct Strategy {
    /// By seat and sequence; sequence 0 has probability 1.
    pub(crate) probabilities: [Vec<f64>; SEATS],
}

/// A best response of one seat, and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct BestResponse {
    /// The expected payoff of the responding seat.
    pub value: f64,
    /// For each information set of that seat, the index of the best choice; the first one if several are equally good.
    pub choices: Vec<u32>,
}

/// The `NashConv` of a strategy, from the values of both best responses to it.
pub(crate) fn nash_conv(best: [f64; SEATS]) -> f64 {
    best.iter().sum::<f64>().max(0.0)
}

impl Game {
    /// The strategy that takes each choice with equal probability.
    pub fn uniform(&self) -> Strategy {
        let of = |tree: &SequenceTree| {
            let mut probabilities = vec![1.0; tree.sequences()];
            for set in 0..tree.sets() {
                let range = tree.range(set);
                let each = 1.0 / range.len() as f64;
                probabilities[range].fill(each);
            }
            probabilities
        };
        Strategy { probabilities: self.trees.each_ref().map(of) }
    }

    /// A strategy from arrays of probabilities, one for each seat: the probability of each choice at each information set
    /// of the seat, in the order of [`Game::choice_range`]. Probabilities that add up to almost 1, such as a softmax in
    /// single precision, are divided by their sum.
    ///
    /// The game is compiled once. After that, an evaluation is a few passes over flat arrays: on `mini-p`, this function
    /// and [`Game::exploitability`] together take about 10 ms.
    ///
    /// # Errors
    /// If the number of probabilities is wrong, or if the probabilities at an information set are not a distribution.
    ///
    /// # Examples
    /// ```
    /// use cambio_core::{Rules, Seat};
    /// use cambio_solve::{Game, Limits};
    ///
    /// let game = Game::compile(&Rules::preset("mini-m0")?, &Limits::default(), &mut |_| {})?;
    /// let mut calls = [Seat::A, Seat::B].map(|seat| vec![0.0; game.uniform().choice_probabilities(seat).len()]);
    /// for (seat, probabilities) in [Seat::A, Seat::B].into_iter().zip(&mut calls) {
    ///     for set in 0..game.information_sets(seat) {
    ///         probabilities[game.choice_range(seat, set).end - 1] = 1.0; // the last choice everywhere
    ///     }
    /// }
    /// let exploitability = game.exploitability(&game.strategy([&calls[0], &calls[1]])?);
    /// assert!((0.2..1.0).contains(&exploitability));
    /// calls[0][0] = -0.5;
    /// let error = game.strategy([&calls[0], &calls[1]]).unwrap_err();
    /// assert!(error.to_string().starts_with("the probabilities at information set 0 of seat a must be from 0 to 1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strategy(&self, probabilities: [&[f64]; SEATS]) -> Result<Strategy, ProbabilityError> {
        let mut strategy = Strategy { probabilities: [Vec::new(), Vec::new()] };
        for (seat, given) in [Seat::A, Seat::B].into_iter().zip(probabilities) {
            let tree = &self.trees[seat.index()];
            if given.len() != tree.sequences() - 1 {
                return Err(ProbabilityError::Count { seat, due: tree.sequences() - 1, found: given.len() });
            }
            let own = &mut strategy.probabilities[seat.index()];
            own.reserve_exact(tree.sequences());
            own.push(1.0);
            own.extend_from_slice(given);
            for set in 0..tree.sets() {
                normalise(&mut own[tree.range(set)], seat, set)?;
            }
        }
        Ok(strategy)
    }

    /// The expected payoff of seat a if both seats follow the same strategy.
    pub fn value(&self, strategy: &Strategy) -> f64 {
        self.value_of(&strategy.probabilities[0], &strategy.probabilities[1])
    }

    /// The expected payoff of seat a if it follows `one` and seat b follows `other`.
    pub fn value_between(&self, one: &Strategy, other: &Strategy) -> f64 {
        self.value_of(&one.probabilities[0], &other.probabilities[1])
    }

    fn value_of(&self, a: &[f64], b: &[f64]) -> f64 {
        let plan = self.trees[0].plan(a);
        let mut worth = vec![0.0; plan.len()];
        self.payoffs.gradient(Seat::A, &self.trees[1].plan(b), &mut worth);
        plan.iter().zip(&worth).map(|(reach, worth)| reach * worth).sum()
    }

    /// A best response of `seat` to the other seat's part of a strategy.
    ///
    /// # Panics
    /// If the seat is neither a nor b.
    pub fn best_response(&self, seat: Seat, strategy: &Strategy) -> BestResponse {
        let other = 1 - seat.index();
        let plan = self.trees[other].plan(&strategy.probabilities[other]);
        let tree = &self.trees[seat.index()];
        let mut worth = vec![0.0; tree.sequences()];
        self.payoffs.gradient(seat, &plan, &mut worth);
        let mut choices = vec![0; tree.sets()];
        for set in (0..tree.sets()).rev() {
            let range = tree.range(set);
            let (best, most) = first_greatest(worth[range].iter().copied());
            choices[set] = best as u32;
            worth[tree.parent[set] as usize] += most;
        }
        BestResponse { value: worth[0], choices }
    }

    /// `NashConv`: the sum of both seats' gains from a best response, 0 in an equilibrium (Lanctot et al. 2017, "A
    /// Unified Game-Theoretic Approach to Multiagent Reinforcement Learning"). Negative rounding errors become 0.
    pub fn nash_conv(&self, strategy: &Strategy) -> f64 {
        nash_conv(self.best_values(strategy))
    }

    /// The value of a best response in each seat.
    pub(crate) fn best_values(&self, strategy: &Strategy) -> [f64; SEATS] {
        [Seat::A, Seat::B].map(|seat| self.best_response(seat, strategy).value)
    }

    /// Half of [`Game::nash_conv`]: the mean gain of a best response over both seats, relative to the game's value.
    pub fn exploitability(&self, strategy: &Strategy) -> f64 {
        self.nash_conv(strategy) / 2.0
    }

    /// A copy of `strategy` in which one seat plays a best response instead.
    ///
    /// # Panics
    /// If the response is for another game or seat.
    pub fn with_response(&self, strategy: &Strategy, seat: Seat, response: &BestResponse) -> Strategy {
        let mut changed = strategy.clone();
        let tree = &self.trees[seat.index()];
        for (set, &choice) in response.choices.iter().enumerate() {
            let range = tree.range(set);
            changed.probabilities[seat.index()][range.clone()].fill(0.0);
            changed.probabilities[seat.index()][range.start + choice as usize] = 1.0;
        }
        changed
    }

    /// The behaviour strategy of a seat that draws one of several strategies before the round, with probabilities in
    /// proportion to their weights, and follows it (Kuhn 1953, "Extensive Games and the Problem of Information"). Where no
    /// drawn strategy gets, all choices are equally likely. Strategies are in the form of [`Strategy::choice_probabilities`].
    ///
    /// # Panics
    /// If the seat is neither a nor b, a strategy has a wrong length, or a weight is negative.
    ///
    /// # Examples
    /// Fictitious play (Brown 1951): the mean of all best responses so far.
    /// ```
    /// use cambio_core::{Rules, Seat};
    /// use cambio_solve::{Game, Limits};
    ///
    /// let game = Game::compile(&Rules::preset("mini-m0")?, &Limits::default(), &mut |_| {})?;
    /// let mut played = vec![game.uniform()];
    /// let mean = |played: &[cambio_solve::Strategy]| {
    ///     let [a, b] = [Seat::A, Seat::B].map(|seat| {
    ///         game.mixture(seat, played.iter().map(|strategy| (1.0, strategy.choice_probabilities(seat))))
    ///     });
    ///     game.strategy([&a, &b])
    /// };
    /// for _ in 0..100 {
    ///     let now = mean(&played)?;
    ///     let responses = [Seat::A, Seat::B].map(|seat| game.best_response(seat, &now));
    ///     let next = game.with_response(&now, Seat::A, &responses[0]);
    ///     played.push(game.with_response(&next, Seat::B, &responses[1]));
    /// }
    /// assert!(game.exploitability(&mean(&played)?) < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mixture(&self, seat: Seat, parts: impl IntoIterator<Item = (f64, impl AsRef<[f64]>)>) -> Vec<f64> {
        let tree = &self.trees[seat.index()];
        let mut plan = vec![0.0; tree.sequences()];
        for (weight, choices) in parts {
            assert!(weight >= 0.0, "a weight must be at least 0, found {weight}");
            let probabilities = [&[1.0], choices.as_ref()].concat();
            assert_eq!(probabilities.len(), plan.len(), "the number of probabilities of seat {seat}");
            plan.iter_mut().zip(tree.plan(&probabilities)).for_each(|(sum, reach)| *sum += weight * reach);
        }
        for set in (0..tree.sets()).rev() {
            let (reach, range) = (plan[tree.parent[set] as usize], tree.range(set));
            let equal = 1.0 / range.len() as f64;
            plan[range].iter_mut().for_each(|choice| *choice = if reach > 0.0 { *choice / reach } else { equal });
        }
        plan.split_off(1)
    }

    /// The probabilities of the choices at an information set, in order.
    ///
    /// # Panics
    /// If the seat has no such information set.
    pub fn probabilities<'s>(&self, strategy: &'s Strategy, seat: Seat, set: usize) -> &'s [f64] {
        &strategy.probabilities[seat.index()][self.trees[seat.index()].range(set)]
    }

    /// Sets the probabilities of the choices at an information set.
    ///
    /// # Panics
    /// If the seat has no such information set, or the probabilities are not a distribution over its choices.
    pub fn set_probabilities(&self, strategy: &mut Strategy, seat: Seat, set: usize, probabilities: &[f64]) {
        assert!(is_distribution(probabilities), "probabilities must be at least 0 and add up to 1");
        let range = self.trees[seat.index()].range(set);
        strategy.probabilities[seat.index()][range].copy_from_slice(probabilities);
    }
}

/// The index of the greatest value, the first one if several are equal, and the value.
pub(crate) fn first_greatest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let first = (0, f64::NEG_INFINITY);
    values.enumerate().fold(first, |best, (index, value)| if value > best.1 { (index, value) } else { best })
}

pub(crate) fn is_distribution(probabilities: &[f64]) -> bool {
    probabilities.iter().all(|&p| p >= 0.0) && (probabilities.iter().sum::<f64>() - 1.0).abs() < EXACT
}

/// Probabilities whose sum differs from 1 by less than this are taken as they are.
const EXACT: f64 = 1e-9;

/// The largest deviation of a sum from 1 that is a rounding error: single precision has 7 digits.
const ROUNDED: f64 = 1e-5;

/// Divides almost normalised probabilities at an information set by their sum.
fn normalise(probabilities: &mut [f64], seat: Seat, set: usize) -> Result<(), ProbabilityError> {
    let mut sum = 0.0;
    for &found in &*probabilities {
        if !(0.0..=1.0 + ROUNDED).contains(&found) {
            return Err(ProbabilityError::Range { seat, set, found });
        }
        sum += found;
    }
    if (sum - 1.0).abs() > ROUNDED {
        return Err(ProbabilityError::Sum { seat, set, found: sum });
    }
    if (sum - 1.0).abs() >= EXACT {
        for probability in probabilities {
            *probability /= sum;
        }
    }
    Ok(())
}

/// An error in arrays of probabilities for a [`Game`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum ProbabilityError {
    /// The array has a wrong length.
    #[error("seat {seat} must have {due} probabilities, one for each choice at each information set, found {found}")]
    Count { seat: Seat, due: usize, found: usize },
    /// A probability is negative, above 1 or not a number.
    #[error("the probabilities at information set {set} of seat {seat} must be from 0 to 1, found {found}")]
    Range { seat: Seat, set: usize, found: f64 },
    /// The probabilities at an information set do not add up to 1.
    #[error("the probabilities at information set {set} of seat {seat} must add up to 1, found {found}")]
    Sum { seat: Seat, set: usize, found: f64 },
}

/// The first line of a strategy file.
const STRATEGY_FORMAT: &str = "cambio-strategy/1";

/// The head of a strategy file.
pub(crate) fn strategy_head(rules: &Rules, id: HistoryKey, [a, b]: [usize; SEATS]) -> String {
    format!("{STRATEGY_FORMAT}\ngame\t{id}\t{}\nsets\t{a}\t{b}\n", rules.name())
}

/// Adds the line of an information set to a strategy file.
pub(crate) fn write_line(
    text: &mut String,
    (seat, key): (Seat, HistoryKey),
    actions: &[Action],
    probabilities: impl Iterator<Item = f64>,
) {
    let _ = write!(text, "{seat}\t{key}");
    for (action, probability) in actions.iter().zip(probabilities) {
        let _ = write!(text, "\t{action}={probability}");
    }
    text.push('\n');
}

impl Strategy {
    /// The probabilities of all choices of a seat, in the order of [`Game::choice_range`]. [`Game::strategy`] is the
    /// inverse.
    ///
    /// # Panics
    /// If the seat is neither a nor b.
    pub fn choice_probabilities(&self, seat: Seat) -> &[f64] {
        &self.probabilities[seat.index()][1..]
    }

    /// The strategy as text: one line for each information set, with fields separated by tabs.
    ///
    /// ```text
    /// cambio-strategy/1
    /// game    ⟨digest of the rules⟩    ⟨name of the rules⟩
    /// sets    ⟨information sets of seat a⟩    ⟨information sets of seat b⟩
    /// a    ⟨key⟩    draw=0.25    call=0.75
    /// ```
    ///
    /// A key has 32 hexadecimal digits. A probability is the shortest decimal that parses to the same double.
    /// Information sets are written in the order of the tree walk; [`Strategy::read`] accepts any order.
    pub fn write(&self, game: &Game) -> String {
        let sets = [Seat::A, Seat::B].map(|seat| game.information_sets(seat));
        let mut text = strategy_head(game.rules(), game.id(), sets);
        for seat in [Seat::A, Seat::B] {
            for set in 0..game.information_sets(seat) {
                let probabilities = game.probabilities(self, seat, set).iter().copied();
                write_line(&mut text, (seat, game.key(seat, set)), game.choices(seat, set), probabilities);
            }
        }
        text
    }

    /// Reads a strategy for a game. Choices at information sets that are missing from the text are equally likely,
    /// because a sampling solver may never have reached these sets.
    ///
    /// # Errors
    /// If the text is not a strategy, is for another game, is cut short, or has a line that does not fit the game.
    pub fn read(game: &Game, text: &str) -> Result<Strategy, StrategyError> {
        let mut strategy = game.uniform();
        let mut seen = game.trees.each_ref().map(|tree| vec![false; tree.sets()]);
        read_strategy(game.rules(), text, |seat, key, actions, probabilities| {
            let fitting = game.find(seat, key).filter(|&set| game.choices(seat, set) == actions);
            let Some(set) = fitting.filter(|&set| !seen[seat.index()][set]) else { return false };
            seen[seat.index()][set] = true;
            game.set_probabilities(&mut strategy, seat, set, probabilities);
            true
        })?;
        Ok(strategy)
    }
}

/// Reads a strategy for these rules without their [`Game`]: calls `visit` with the seat, the key, the choices and their
/// probabilities at each information set. `visit` returns whether the information set is right.
///
/// ```
/// use cambio_core::Rules;
/// use cambio_solve::{Game, Limits, read_strategy};
///
/// let rules = Rules::preset("mini-m0")?;
/// let game = Game::compile(&rules, &Limits::default(), &mut |_| {})?;
/// let (text, mut sets) = (game.uniform().write(&game), 0);
/// read_strategy(&rules, &text, |_, _, actions, _| {
///     sets += 1;
///     actions.len() > 1
/// })?;
/// assert_eq!(sets, 114 + 108);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a strategy, is for other rules, is cut short, or has a line that is not an information set.
pub fn read_strategy(
    rules: &Rules,
    text: &str,
    mut visit: impl FnMut(Seat, HistoryKey, &[Action], &[f64]) -> bool,
) -> Result<(), StrategyError> {
    let mut lines = without_mark(text).lines();
    let format = lines.next().unwrap_or_default();
    if format != STRATEGY_FORMAT {
        return Err(StrategyError::Format { found: format.to_owned() });
    }
    let mut header = |word: &str| -> Option<Vec<&str>> {
        let fields: Vec<&str> = lines.next()?.split('\t').collect();
        (fields.len() == 3 && fields[0] == word).then_some(fields)
    };
    let (Some(of), Some(sets)) = (header("game"), header("sets")) else { return Err(StrategyError::Header) };
    if of[1] != rules_id(rules).to_string() {
        return Err(StrategyError::OtherGame { found: of[2].to_owned(), allowed: rules.name().to_owned() });
    }
    let due: [Option<usize>; SEATS] = [sets[1].parse().ok(), sets[2].parse().ok()];
    let mut counts = [0; SEATS];
    for (number, line) in lines.enumerate() {
        let refused = || StrategyError::Line { number: number + 4 };
        let mut fields = line.split('\t');
        let seat = match fields.next() {
            Some("a") => Seat::A,
            Some("b") => Seat::B,
            _ => return Err(refused()),
        };
        let key = fields.next().and_then(HistoryKey::parse).ok_or_else(refused)?;
        let (mut actions, mut probabilities) = (Vec::new(), Vec::new());
        for field in fields {
            let (action, probability) = field.split_once('=').ok_or_else(refused)?;
            actions.push(action.parse::<Action>().map_err(|_| refused())?);
            probabilities.push(probability.parse::<f64>().map_err(|_| refused())?);
        }
        if !is_distribution(&probabilities) || !visit(seat, key, &actions, &probabilities) {
            return Err(refused());
        }
        counts[seat.index()] += 1;
    }
    if due != counts.map(Some) {
        return Err(StrategyError::Short { found: counts.iter().sum(), due: format!("{}+{}", sets[1], sets[2]) });
    }
    Ok(())
}

/// An error in a strategy file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum StrategyError {
    /// The text has another format.
    #[error("not a strategy file of this version: it must begin with the line `{STRATEGY_FORMAT}`, found `{}`", excerpt(.found))]
    Format { found: String },
    /// The second and third line are not the header.
    #[error("not a strategy file: its second and third line must begin with `game` and `sets`")]
    Header,
    /// The strategy is for another game.
    #[error("the strategy is for `{found}`, whose rules differ from the rules of `{allowed}`")]
    OtherGame { found: String, allowed: String },
    /// A line does not match an information set of the game.
    #[error(
        "line {number} is not an information set of the game with its choices in order, and probabilities that sum to 1"
    )]
    Line { number: usize },
    /// The number of information sets differs from the header.
    #[error("the header requires {due} information sets, found {found}: the file is cut or altered")]
    Short { found: usize, due: String },
}
