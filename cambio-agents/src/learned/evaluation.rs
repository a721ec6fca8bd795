//! A network and its evaluation of a decision.

use std::sync::{Arc, Mutex, PoisonError};

use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::rules::MAX_SEATS;
use cambio_core::view::CardHistory;
use cambio_core::{Action, Rules, Score, Seat, View};

use super::candidates::{Candidate, CandidateKey, candidates, only_candidate};
use super::features::{ALL_GROUPS, EARLY_GROUPS, Features, LayoutSummary};
use super::general::Embedding;
use super::network::{Accumulator, FloatNetwork, LOGIT_ONE, NetworkWeights, WIDTH, add, subtract};
use super::position::{Callers, DecisionContext, RelativeTotals};
use super::vectors::Vectors;
use crate::tie::index;

/// The standing of a match when a round begins, as a network sees it from one seat.
#[derive(Clone, Copy, Debug)]
pub struct MatchStanding(pub(super) RelativeTotals);

/// Whether a network for one of these rule systems can play under the other.
pub(super) fn have_the_same_cards(one: &Rules, other: &Rules) -> bool {
    // Fast path: usually the rules are the same, which a comparison of two words shows.
    one == other || one.kinds() == other.kinds()
}

/// The inputs of networks for one rule system: encodes a seat's view and a decision as active inputs.
///
/// Clones are cheap.
#[derive(Clone, Debug)]
pub struct NetworkInputs {
    rules: Rules,
    features: Arc<Features>,
}

impl NetworkInputs {
    /// All inputs for these rules.
    pub fn new(rules: &Rules) -> NetworkInputs {
        NetworkInputs::with(rules, ALL_GROUPS, false)
    }

    /// The inputs of a general network under these rules.
    pub fn general(rules: &Rules) -> NetworkInputs {
        NetworkInputs::with(rules, ALL_GROUPS, true)
    }

    /// Whether these are the inputs of a general network, which are the same under all rules.
    pub fn are_general(&self) -> bool {
        self.features.embedding.is_some()
    }

    /// The inputs of the bundled network for two seats of `classic`, which is older than the inputs for the ranks on the pile and
    /// in the hand and for the distance of the first caller.
    pub fn early(rules: &Rules) -> NetworkInputs {
        NetworkInputs::with(rules, EARLY_GROUPS, false)
    }

    /// Whether these are the inputs of [`NetworkInputs::early`].
    pub fn are_early(&self) -> bool {
        self.features.groups == EARLY_GROUPS
    }

    /// The same inputs under other rules.
    #[must_use]
    pub fn under(&self, rules: &Rules) -> NetworkInputs {
        NetworkInputs::with(rules, self.groups(), self.are_general())
    }

    /// The groups beyond the basic inputs, one bit each.
    pub(super) fn groups(&self) -> u8 {
        self.features.groups
    }

    pub(super) fn with(rules: &Rules, groups: u8, is_general: bool) -> NetworkInputs {
        NetworkInputs { rules: *rules, features: Arc::new(Features::new(rules, groups, is_general)) }
    }

    /// The number of inputs.
    pub fn count(&self) -> usize {
        self.features.embedding.as_ref().map_or(self.features.len(), Embedding::count)
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether the inputs are valid under these rules. The inputs of a general network depend on the rules. Otherwise the kinds of
    /// cards must be the same; other knobs may differ, for example in single rounds of a match.
    pub(crate) fn fit(&self, rules: &Rules) -> bool {
        if self.are_general() { self.rules == *rules } else { have_the_same_cards(&self.rules, rules) }
    }

    /// Calls `on` for the inputs of the network that are active with an input of the rule system.
    #[inline]
    fn embed(&self, input: usize, on: &mut impl FnMut(usize)) {
        match &self.features.embedding {
            None => on(input),
            Some(embedding) => embedding.of(input).iter().for_each(|&input| on(input.into())),
        }
    }

    /// The standing of a match with these totals, seat a first, as `seat` sees it.
    pub fn standing(&self, totals: &[Score], seat: Seat) -> MatchStanding {
        MatchStanding(RelativeTotals::new(&self.features.deck, totals, seat))
    }

    /// Finds the candidates of a decision, without their values. The view must be the view of the seat to act.
    #[inline]
    pub fn look(
        &self,
        view: &impl View,
        history: &CardHistory,
        standing: &MatchStanding,
        evaluation: &mut NetworkEvaluation,
    ) {
        evaluation.values.clear();
        evaluation.standing = *standing;
        if let Some(only) = only_candidate(view) {
            // For a pass or a snap in this case, `index_of` needs no other part of the context.
            evaluation.context.caller = Callers::NONE;
            evaluation.candidates.clear();
            evaluation.candidates.push(only);
            return;
        }
        evaluation.context.read(&self.features.deck, view, history);
        candidates(&self.features.deck, &evaluation.context, view, &mut evaluation.candidates);
    }

    /// Calls `on` for each active input of a candidate, in a fixed order, after [`NetworkInputs::look`]. An input of a general
    /// network may be active several times: its row is then added as often.
    ///
    /// # Panics
    /// If the candidate does not exist, or is the only one, because a single candidate has no inputs.
    pub fn on(&self, view: &impl View, evaluation: &NetworkEvaluation, index: usize, mut on: impl FnMut(usize)) {
        self.on_under_rules(view, evaluation, index, |input| self.embed(input, &mut on));
        if let Some(embedding) = self.embedding() {
            embedding.always().iter().for_each(|&input| on(input.into()));
        }
    }

    /// As [`NetworkInputs::on`], with the inputs of a general network under these rules, before their [`Embedding`].
    ///
    /// # Panics
    /// As [`NetworkInputs::on`].
    pub fn on_under_rules(
        &self,
        view: &impl View,
        evaluation: &NetworkEvaluation,
        index: usize,
        mut on: impl FnMut(usize),
    ) {
        let (features, context, totals) = (&*self.features, &evaluation.context, &evaluation.standing.0);
        let candidate = &evaluation.candidates[index];
        let after = context.after(view, candidate.action);
        let summaries = features.position(context, &after, totals, &mut on);
        let summaries = &summaries[..context.seats];
        features.candidate(context, &after, &candidate.key, totals, summaries, &mut on);
    }

    /// How a general network computes the rows of these inputs; `None` if the inputs are not general.
    pub fn embedding(&self) -> Option<&Embedding> {
        self.features.embedding.as_ref()
    }

    /// Calls `on` for each active input of the position before a decision: the inputs of candidates, without the inputs for
    /// the kind of decision. `buffer` is overwritten.
    pub fn on_position(
        &self,
        view: &impl View,
        history: &CardHistory,
        standing: &MatchStanding,
        buffer: &mut NetworkEvaluation,
        mut on: impl FnMut(usize),
    ) {
        let (features, context, totals) = (&*self.features, &mut buffer.context, &standing.0);
        context.read(&features.deck, view, history);
        let before = context.before();
        let mut on = |input| self.embed(input, &mut on);
        let summaries = features.position(context, &before, totals, &mut on);
        features.faces(&before, &mut on);
        features.ranks(context, &before, &summaries[..context.seats], on);
    }
}

/// The evaluation of a decision: its candidates and their values. If it is reused, it allocates nothing.
#[derive(Clone, Debug)]
pub struct NetworkEvaluation {
    context: DecisionContext,
    standing: MatchStanding,
    candidates: Vec<Candidate>,
    values: Vec<i32>,
    /// Buffers: the active inputs, and the sums of their rows for each layout.
    on: Vec<u16>,
    parts: Vec<Accumulator>,
}

impl Default for NetworkEvaluation {
    fn default() -> NetworkEvaluation {
        NetworkEvaluation {
            context: DecisionContext::NONE,
            standing: MatchStanding(RelativeTotals::NONE),
            candidates: Vec::new(),
            values: Vec::new(),
            on: Vec::new(),
            parts: Vec::new(),
        }
    }
}

impl NetworkEvaluation {
    /// The candidates: one for each class of decisions that the network cannot distinguish.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = Action> {
        self.candidates.iter().map(|candidate| candidate.action)
    }

    /// The values of the candidates, as logits of the win share; empty before [`Network::evaluate`].
    pub fn logits(&self) -> impl ExactSizeIterator<Item = f64> {
        self.values.iter().map(|&value| f64::from(value) / f64::from(LOGIT_ONE))
    }

    /// The index of the candidate that stands for this decision, if there is one.
    pub fn index_of(&self, inputs: &NetworkInputs, view: &impl View, action: Action) -> Option<usize> {
        let key = CandidateKey::of(&inputs.features.deck, &self.context, view, action)?;
        self.candidates.iter().position(|candidate| candidate.key == key)
    }

    /// Removes the candidate of this decision, unless it is the only one.
    pub(crate) fn remove(&mut self, action: Action) {
        let found = self.candidates.iter().position(|candidate| candidate.action == action);
        if let Some(index) = found.filter(|_| self.candidates.len() > 1) {
            self.candidates.remove(index);
            self.values.remove(index);
        }
    }

    /// The index of the candidate with the highest value, the first one if several tie.
    pub fn best(&self) -> usize {
        let mut best = 0;
        for (index, value) in self.values.iter().enumerate() {
            if *value > self.values[best] {
                best = index;
            }
        }
        best
    }

    /// The decision with the highest value. Ties between candidates, and between the decisions of a candidate, are
    /// broken by a hash of the pile.
    pub(crate) fn choose(&self, inputs: &NetworkInputs, view: &impl View) -> Action {
        let best = self.best();
        let value = self.values[best];
        self.one_of(inputs, view, best, |index| self.values[index] == value)
    }

    /// One of the decisions that the candidate at this index stands for, chosen by a hash of the pile.
    pub(crate) fn choice_of(&self, inputs: &NetworkInputs, view: &impl View, index: usize) -> Action {
        self.one_of(inputs, view, index, |other| other == index)
    }

    /// A decision drawn from a softmax of the values: each candidate has a probability proportional to
    /// exp(logit / temperature).
    pub(crate) fn draw(
        &self,
        inputs: &NetworkInputs,
        view: &impl View,
        temperature: f64,
        stream: &mut Stream,
    ) -> Action {
        let shares = self.shares(temperature);
        let mut left = stream.below(shares.iter().sum());
        let drawn = shares.iter().position(|&share| {
            let is_here = left < share;
            left = left.wrapping_sub(share);
            is_here
        });
        let drawn = drawn.expect("the number is below the sum of the shares");
        self.choice_of(inputs, view, drawn)
    }

    /// For each candidate, a number proportional to its probability in a softmax of the values.
    fn shares(&self, temperature: f64) -> Vec<u32> {
        const ONE: f64 = (1 << 24) as f64;
        let most = self.values[self.best()];
        // With 256 or more candidates the shares are smaller, so that their sum does not overflow.
        let shift = self.values.len().ilog2().saturating_sub(7);
        let share = |&value: &i32| {
            let behind = f64::from(most - value) / f64::from(LOGIT_ONE);
            // Integers, so that the sum does not depend on the order.
            (libm::exp(-behind / temperature) * ONE) as u32 >> shift
        };
        self.values.iter().map(share).collect()
    }

    /// The probability of each of the choices in a softmax of the values: see [`NetworkEvaluation::draw`].
    pub(crate) fn probabilities(&self, inputs: &NetworkInputs, view: &impl View, temperature: f64) -> Vec<f64> {
        let shares = self.shares(temperature);
        let all = f64::from(shares.iter().sum::<u32>());
        let mut probabilities = vec![0.0; view.choices().len()];
        for (index, &share) in shares.iter().enumerate() {
            let action = self.choice_of(inputs, view, index);
            let place = view.choices().iter().position(|choice| choice == action).expect("a candidate is a choice");
            probabilities[place] += f64::from(share) / all;
        }
        probabilities
    }

    /// A decision of the candidates that `is_in` accepts, chosen by a hash of the pile. `first` is the first of them.
    fn one_of(&self, inputs: &NetworkInputs, view: &impl View, first: usize, is_in: impl Fn(usize) -> bool) -> Action {
        let number: usize =
            (0..self.candidates.len()).filter(|&index| is_in(index)).map(|index| self.candidates[index].number).sum();
        let nth = index(view.table(), number);
        if nth == 0 {
            return self.candidates[first].action;
        }
        let is_one = |action: &Action| self.index_of(inputs, view, *action).is_some_and(&is_in);
        view.choices().iter().filter(is_one).nth(nth).unwrap_or(self.candidates[first].action)
    }
}

/// The number of prepared networks that [`Network::under`] keeps.
const MAX_PREPARED: usize = 16;

/// A network that evaluates decisions: for each candidate, it estimates the win share of the seat to act (1 for a win,
/// split equally in a tie).
///
/// A *general* network plays under all rules: see [`Network::under`].
///
/// Clones are cheap and share the weights.
#[derive(Clone)]
pub struct Network {
    pub(super) inputs: NetworkInputs,
    /// The weights for the inputs of the rule system.
    pub(super) weights: Arc<NetworkWeights>,
    /// The weights of a general network, of which `weights` are sums.
    pub(super) general: Option<Arc<NetworkWeights>>,
    /// The vector instructions of this machine.
    vectors: Vectors,
    is_policy: bool,
}

impl Network {
    /// The network with these weights, rounded to integers.
    ///
    /// # Panics
    /// If the number of rows is not the number of inputs.
    pub fn new(inputs: &NetworkInputs, floats: &FloatNetwork) -> Network {
        assert_eq!(floats.rows.len(), inputs.count() * WIDTH, "a row for each input");
        Network::of(inputs.clone(), floats.round())
    }

    pub(super) fn of(inputs: NetworkInputs, weights: NetworkWeights) -> Network {
        let own = Arc::new(weights);
        let (weights, general) = match &inputs.features.embedding {
            None => (own, None),
            Some(embedding) => (Arc::new(own.embedded(embedding)), Some(own)),
        };
        Network { inputs, weights, general, vectors: Vectors::new(), is_policy: false }
    }

    /// The network under these rules; `None` if it was not made for them. A general network plays under all rules. It takes
    /// milliseconds to prepare it for rules that its latest matches did not have.
    pub fn under(&self, rules: &Rules) -> Option<Network> {
        /// The networks that were prepared lately, the latest last.
        static PREPARED: Mutex<Vec<Network>> = Mutex::new(Vec::new());
        if self.inputs.fit(rules) {
            return Some(self.clone());
        }
        let general = self.general.as_ref()?;
        let is_it = |known: &Network| {
            known.inputs.fit(rules) && known.general.as_ref().is_some_and(|other| Arc::ptr_eq(general, other))
        };
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = prepared.iter().find(|known| is_it(known)) {
            return Some(Network { is_policy: self.is_policy, ..known.clone() });
        }
        let network = self.with_inputs(NetworkInputs::general(rules));
        if prepared.len() == MAX_PREPARED {
            prepared.remove(0);
        }
        prepared.push(network.clone());
        Some(network)
    }

    /// The same general network with the inputs of another rule system.
    ///
    /// # Panics
    /// If the network or the inputs are not general.
    #[must_use]
    pub fn with_inputs(&self, inputs: NetworkInputs) -> Network {
        let general = self.general.clone().expect("the network is general");
        let embedding = inputs.features.embedding.as_ref().expect("the inputs are general");
        let weights = Arc::new(general.embedded(embedding));
        Network { inputs, weights, general: Some(general), ..*self }
    }

    /// The same weights as a policy: the outputs are logits of a decision's probability, not of a win share. A policy
    /// draws its decisions with probabilities proportional to exp(logit).
    #[must_use]
    pub fn into_policy(self) -> Network {
        Network { is_policy: true, ..self }
    }

    /// Whether the outputs are logits of probabilities: see [`Network::into_policy`].
    pub fn is_policy(&self) -> bool {
        self.is_policy
    }

    /// Sets the rows of some inputs, and all other weights to the weights of `floats`, rounded to integers.
    ///
    /// # Panics
    /// If an input does not exist, or its row does not have [`FloatNetwork::WIDTH`] weights.
    pub fn update<'r>(&mut self, rows: impl Iterator<Item = (usize, &'r [f32])>, floats: &FloatNetwork) {
        let own = Arc::make_mut(self.general.as_mut().unwrap_or(&mut self.weights));
        for (input, row) in rows {
            assert_eq!(row.len(), WIDTH, "a row");
            own.rows[input] = FloatNetwork::round_row(row);
        }
        let rows = std::mem::take(&mut own.rows);
        *own = NetworkWeights { rows, ..floats.round_layers() };
        if let Some(general) = &self.general {
            let embedding = self.inputs.features.embedding.as_ref().expect("the inputs are general");
            self.weights = Arc::new(general.embedded(embedding));
        }
    }

    /// The weights as floating-point numbers, to continue training.
    pub fn floats(&self) -> FloatNetwork {
        self.general.as_ref().unwrap_or(&self.weights).floats()
    }

    /// The inputs of the network.
    pub fn inputs(&self) -> &NetworkInputs {
        &self.inputs
    }

    /// Evaluates the candidates of a decision. The view must be the view of the seat to act.
    #[inline]
    pub fn evaluate(
        &self,
        view: &impl View,
        history: &CardHistory,
        standing: &MatchStanding,
        evaluation: &mut NetworkEvaluation,
    ) {
        self.inputs.look(view, history, standing, evaluation);
        if evaluation.candidates.len() == 1 {
            evaluation.values.push(0);
            return;
        }
        let (features, weights, vectors) = (&*self.inputs.features, &*self.weights, self.vectors);
        let NetworkEvaluation { context, standing: MatchStanding(totals), candidates, values, on, parts } = evaluation;
        // The inputs that no candidate changes and the inputs of each unchanged layout are summed once.
        on.clear();
        features.context(context, totals, |input| on.push(input as u16));
        let mut base = weights.bias;
        vectors.add(weights, &mut base, on);
        parts.clear();
        let mut before = [LayoutSummary::default(); MAX_SEATS];
        for (distance, side) in context.sides[..context.seats].iter().enumerate() {
            on.clear();
            before[distance] = features.side(context, distance, side, |input| on.push(input as u16));
            let mut part = [0; WIDTH];
            vectors.add(weights, &mut part, on);
            add(&mut base, &part);
            parts.push(part);
        }
        // The inputs for the comparison of unchanged layouts are also summed once.
        let mut same = base;
        on.clear();
        features.comparison(context, context.caller, totals, &before[..context.seats], |input| on.push(input as u16));
        vectors.add(weights, &mut same, on);
        let mut changed = before;
        for candidate in candidates {
            let after = context.after(view, candidate.action);
            let (mut summaries, mut sums) = (&before, same);
            on.clear();
            if !after.changed().is_empty() || after.caller != context.caller {
                changed[..context.seats].copy_from_slice(&before[..context.seats]);
                sums = base;
                for (distance, side) in after.changed() {
                    let distance = usize::from(*distance);
                    subtract(&mut sums, &parts[distance]);
                    changed[distance] = features.side(context, distance, side, |input| on.push(input as u16));
                }
                summaries = &changed;
                let summaries = &summaries[..context.seats];
                features.comparison(context, after.caller, totals, summaries, |input| on.push(input as u16));
            }
            let summaries = &summaries[..context.seats];
            features.candidate(context, &after, &candidate.key, totals, summaries, |input| on.push(input as u16));
            values.push(vectors.value(weights, &sums, on));
        }
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("rules", &self.inputs.rules.name()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
