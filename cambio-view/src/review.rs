//! Reviews: the win chance of each seat over a round of a finished match, the cost of each decision, and the parts of luck and
//! decisions in the result.

use cambio_agents::{DecisionComparison, DecisionReview, DecisionValue, Grade, MeanEstimate, ResultParts, Reviewer};
use cambio_core::play::RoundResult;
use cambio_core::text::excerpt;
use cambio_core::{Action, Card, Event, Observer, Phase, Record, Seat, Standing, State, replay};
use serde::Serialize;

/// The best decision that was found, and how much worse the actual decision is.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct RegretView {
    best: String,
    /// The cost; `None` if the actual decision is the best, or if the cost is uncertain.
    #[serde(flatten)]
    cost: Option<MeanEstimate>,
    /// Whether too few different worlds fit the decisions of the other seats to estimate the cost.
    uncertain: bool,
}

/// Another decision, and how much worse it is than the best one.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct AlternativeView {
    action: String,
    #[serde(flatten)]
    cost: MeanEstimate,
    grade: Grade,
}

/// A decision of the round, with its costs.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct ReviewedDecision {
    by: char,
    action: String,
    #[serde(skip)]
    phase: Phase,
    /// The seat's chance to win after the best decision, given its knowledge; `None` if there was no other legal decision, or if
    /// the chance is too uncertain.
    own: Option<MeanEstimate>,
    /// The cost given the seat's knowledge, and the cost given all cards; `None` if there was no other legal decision.
    known: Option<RegretView>,
    open: Option<RegretView>,
    /// The grade; `None` if the cost is unknown or too uncertain.
    grade: Option<Grade>,
    /// The most promising other decisions with what the seat could know, and the reason for the best one.
    others: Vec<AlternativeView>,
    reason: Option<String>,
    blunder: bool,
}

/// The cost of a decision with what its seat could know.
#[derive(Clone, PartialEq, Debug)]
pub struct DecisionCost<'r> {
    /// The number of the decision in its round, counted from 1.
    pub decision: usize,
    /// The letter of the seat that decided.
    pub by: char,
    /// The phase in which the seat decided.
    pub phase: Phase,
    /// The decision.
    pub action: &'r str,
    /// The best decision found; the decision itself if none was better.
    pub best: &'r str,
    /// The chance to win that the best decision would have gained. Noise can make it negative.
    pub cost: f64,
    /// Half the width of the 95 % interval of the cost.
    pub half: f64,
}

/// The progress of a review of one round.
#[derive(Serialize, Clone, PartialEq, Debug, Default)]
pub struct ReviewProgress {
    decisions: Vec<ReviewedDecision>,
    /// The win chance of each seat after the deal and after each decision. The last entry is the actual outcome.
    chances: Vec<Vec<MeanEstimate>>,
    /// The parts of the result, when all decisions are reviewed.
    parts: Option<ResultParts>,
    of: usize,
    /// The number of playouts for each chance.
    playouts: u32,
    /// Whether `chances` are the chances to win the round; otherwise, to win the match.
    one_round: bool,
    /// The smallest cost of a blunder.
    least: f64,
    /// The smallest cost of a mistake.
    mistake: f64,
    /// Whether the review is finished.
    pub over: bool,
    /// The error in the record, if it has one.
    pub trouble: Option<String>,
}

impl ReviewProgress {
    /// The number of playouts for each estimated chance to win.
    pub const PLAYOUTS: u32 = 200;

    /// The progress of a review that has not begun, for a round with `of` decisions and `playouts` playouts per chance.
    pub(crate) fn new(of: usize, playouts: u32) -> ReviewProgress {
        ReviewProgress { of, playouts, one_round: true, ..ReviewProgress::default() }
    }

    /// The costs of the decisions so far that had an alternative, without those that are too uncertain.
    pub fn costs(&self) -> impl Iterator<Item = DecisionCost<'_>> {
        self.decisions.iter().enumerate().filter_map(|(index, decided)| {
            let RegretView { best, cost, .. } = decided.known.as_ref().filter(|known| !known.uncertain)?;
            let ReviewedDecision { by, action, phase, .. } = decided;
            let MeanEstimate { mean: cost, half } = cost.unwrap_or_default();
            Some(DecisionCost { decision: index + 1, by: *by, phase: *phase, action, best, cost, half })
        })
    }
}

/// Reviews one round while its record is replayed.
struct RoundReviewer<'a> {
    round: usize,
    playouts: u32,
    at: usize,
    reviewer: Option<Reviewer>,
    /// The chances before the deal, and the reviews of the decisions.
    before: Vec<MeanEstimate>,
    reviews: Vec<DecisionReview>,
    progress: ReviewProgress,
    /// Receives the progress after each decision, and returns whether to continue.
    tell: &'a mut dyn FnMut(&ReviewProgress) -> bool,
    stopped: bool,
}

impl RoundReviewer<'_> {
    fn is_done(&self) -> bool {
        self.stopped || self.at > self.round
    }
}

impl Observer for RoundReviewer<'_> {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        self.at += 1;
        if self.is_done() {
            return;
        }
        let (setup, playouts) = (standing.setup, self.playouts);
        let reviewer = self.reviewer.get_or_insert_with(|| Reviewer::new(&setup.rules, setup.seats, playouts));
        // A deal resets the seats' knowledge, so the events of earlier rounds are not needed.
        if self.at == self.round {
            reviewer.round_begins(standing);
            self.progress.one_round = reviewer.is_single_round();
            self.progress.least = reviewer.blunder();
            self.progress.mistake = Grade::MISTAKE_SHARE * self.progress.least;
            self.before = reviewer.before_deal(standing);
        }
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some(reviewer) = self.reviewer.as_mut().filter(|_| self.at == self.round && !self.stopped) {
            reviewer.event(event);
        }
    }

    fn decides(&mut self, state: &State, seat: Seat, action: Action) {
        if self.at != self.round || self.stopped {
            return;
        }
        let Some(reviewer) = &mut self.reviewer else { return };
        let review = reviewer.review(state, action);
        let (least, grade) = (self.progress.least, review.grade(self.progress.least));
        let regret = |comparison: &DecisionComparison| {
            let cost = comparison.of(action).and_then(|value| value.cost);
            RegretView { best: comparison.best().to_string(), cost, uncertain: false }
        };
        let uncertain = || RegretView { best: action.to_string(), cost: None, uncertain: true };
        let alternative = |value: &DecisionValue| {
            let cost = value.cost.filter(|_| value.action != action)?;
            Some(AlternativeView { action: value.action.to_string(), cost, grade: Grade::of(&cost, least) })
        };
        let is_wrong = matches!(grade, Some(Grade::Mistake | Grade::Blunder));
        self.progress.decisions.push(ReviewedDecision {
            by: seat.letter(),
            action: action.to_string(),
            phase: state.table().phase(),
            own: review.known.as_ref().map(|known| known.decisions[0].chance),
            known: review.known.as_ref().map(regret).or_else(|| review.is_uncertain.then(uncertain)),
            open: review.open.as_ref().map(regret),
            grade,
            others: review.known.iter().flat_map(|known| &known.decisions).filter_map(alternative).collect(),
            reason: review.value().filter(|_| is_wrong).and_then(|value| value.reason.clone()),
            blunder: grade == Some(Grade::Blunder),
        });
        self.progress.chances.push(review.chances.clone());
        self.reviews.push(review);
        self.stopped = !(self.tell)(&self.progress);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        let is_due = self.at == self.round && !self.stopped;
        if let Some(reviewer) = self.reviewer.as_ref().filter(|_| is_due) {
            let outcome = reviewer.outcome(state);
            self.progress.chances.push(outcome.iter().copied().map(MeanEstimate::exact).collect());
            self.progress.parts = Some(ResultParts::of(&self.before, &self.reviews, &outcome));
        }
    }
}

/// Reviews a round of a record, counted from 1. `tell` receives the progress after each decision, and returns whether
/// to continue; if not, the result is `None`. An error in the record ends the review and is stored in
/// [`ReviewProgress::trouble`].
///
/// # Panics
/// If the record has no such round.
pub fn review(
    record: &Record,
    round: usize,
    playouts: u32,
    tell: &mut dyn FnMut(&ReviewProgress) -> bool,
) -> Option<ReviewProgress> {
    let of = record.rounds[round - 1].decisions.len();
    let progress = ReviewProgress::new(of, playouts);
    let (before, reviews) = (Vec::new(), Vec::new());
    let mut watcher =
        RoundReviewer { round, playouts, at: 0, reviewer: None, before, reviews, progress, tell, stopped: false };
    // An error after the reviewed round is ignored.
    let flaw = replay(record, &mut watcher).err().filter(|_| watcher.progress.decisions.len() < of);
    let RoundReviewer { mut progress, stopped, .. } = watcher;
    progress.trouble = flaw.map(|flaw| excerpt(&flaw.to_string()).up_to(500).to_string());
    progress.over = true;
    (!stopped).then_some(progress)
}

#[cfg(test)]
mod tests;
