//! Reviews: the win chance of each seat over a round of a finished match, the cost of each decision, and the parts of luck and
//! decisions in the result.

use cambio_agents::{DecisionReview, MeanEstimate, Regret, ResultParts, Reviewer};
use cambio_core::play::RoundResult;
use cambio_core::record::MadeUp;
use cambio_core::text::excerpt;
use cambio_core::{Action, Card, Event, Observer, Phase, Record, Seat, Standing, State, replay};
use serde::Serialize;

/// The best decision that was found, and how much worse the actual decision is.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct RegretView {
    best: String,
    #[serde(flatten)]
    cost: MeanEstimate,
    /// Whether too few different worlds fit the decisions of the other seats to estimate the cost.
    uncertain: bool,
}

impl From<Regret> for RegretView {
    fn from(regret: Regret) -> RegretView {
        RegretView { best: regret.best.to_string(), cost: regret.cost, uncertain: !regret.is_certain }
    }
}

/// A decision of the round, with its costs.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct ReviewedDecision {
    by: char,
    action: String,
    #[serde(skip)]
    phase: Phase,
    /// Whether the decision is not judged, because its seat had seen a made-up card.
    #[serde(rename = "made_up")]
    is_made_up: bool,
    /// The seat's chance to win before the decision, given its knowledge; `None` if there was no other legal decision, or if
    /// the chance is too uncertain.
    own: Option<MeanEstimate>,
    /// The cost given the seat's knowledge, and the cost given all cards; `None` if there was no other legal decision, or if
    /// it depends on made-up cards.
    known: Option<RegretView>,
    open: Option<RegretView>,
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
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct ReviewProgress {
    decisions: Vec<ReviewedDecision>,
    /// The win chance of each seat after the deal and after each decision. The last entry is the actual outcome. Empty if made-up
    /// cards are in play.
    chances: Vec<Vec<MeanEstimate>>,
    /// The parts of the result, when all decisions are reviewed; `None` if made-up cards are in play.
    parts: Option<ResultParts>,
    /// Whether made-up cards are in play: see [`MadeUp`].
    #[serde(rename = "made_up")]
    is_made_up: bool,
    of: usize,
    /// The policy of the playouts, and the number of playouts for each chance.
    player: &'static str,
    playouts: u32,
    /// Whether `chances` are the chances to win the round; otherwise, to win the match.
    one_round: bool,
    /// The smallest cost of a blunder.
    least: f64,
    /// Whether the review is finished.
    pub over: bool,
    /// The error in the record, if it has one.
    pub trouble: Option<String>,
}

impl ReviewProgress {
    /// The progress of a review that has not begun, for a round with `of` decisions and `playouts` playouts per chance.
    pub fn new(of: usize, playouts: u32) -> ReviewProgress {
        ReviewProgress {
            decisions: Vec::new(),
            chances: Vec::new(),
            parts: None,
            is_made_up: false,
            of,
            player: "learned",
            playouts,
            one_round: true,
            least: 0.0,
            over: false,
            trouble: None,
        }
    }

    /// The costs of the decisions so far that had an alternative, without those that are too uncertain.
    pub fn costs(&self) -> impl Iterator<Item = DecisionCost<'_>> {
        self.decisions.iter().enumerate().filter_map(|(index, decided)| {
            let RegretView { best, cost, .. } = decided.known.as_ref().filter(|known| !known.uncertain)?;
            let ReviewedDecision { by, action, phase, .. } = decided;
            let (cost, half) = (cost.mean, cost.half());
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
    /// The made-up cards, if any are in play. Then only the decisions of seats that have not seen them are reviewed.
    made_up: Option<MadeUp>,
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
            self.progress.player = reviewer.player();
            self.progress.one_round = reviewer.is_of_a_round();
            self.progress.least = reviewer.blunder();
            if self.made_up.is_none() {
                self.before = reviewer.before_deal(standing);
            }
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
        let decision = self.progress.decisions.len();
        let is_made_up = self.made_up.as_ref().is_some_and(|made_up| made_up.seen_before[decision].contains(seat));
        let review = if is_made_up {
            reviewer.decides(state);
            None
        } else {
            Some(reviewer.review(state, action))
        };
        let known = review.as_ref().and_then(|review| review.known);
        self.progress.decisions.push(ReviewedDecision {
            by: seat.letter(),
            action: action.to_string(),
            phase: state.table().phase(),
            is_made_up,
            own: review.as_ref().and_then(|review| review.own_chance),
            known: known.map(RegretView::from),
            open: None,
            blunder: review.as_ref().is_some_and(|review| review.is_blunder(self.progress.least)),
        });
        // Chances and costs with all cards on the table.
        if let (Some(review), None) = (review, &self.made_up) {
            self.progress.decisions[decision].open = review.open.map(RegretView::from);
            self.progress.chances.push(review.chances.clone());
            self.reviews.push(review);
        }
        self.stopped = !(self.tell)(&self.progress);
    }

    fn round_ends(&mut self, state: &State, _: &RoundResult) {
        let is_due = self.at == self.round && !self.stopped && self.made_up.is_none();
        if let Some(reviewer) = self.reviewer.as_ref().filter(|_| is_due) {
            let outcome = reviewer.outcome(state);
            self.progress.chances.push(outcome.iter().map(|&mean| MeanEstimate { mean, error: 0.0 }).collect());
            self.progress.parts = Some(ResultParts::of(&self.before, &self.reviews, &outcome));
        }
    }
}

/// Reviews a round of a record, counted from 1. `tell` receives the progress after each decision, and returns whether
/// to continue; if not, the result is `None`. An error in the record ends the review and is stored in
/// [`ReviewProgress::trouble`].
///
/// If made-up cards are in play in the round ([`Record::made_up`]), the review contains only what does not depend on them: the costs
/// of decisions and the chances by what each player knew, for seats that have seen no made-up card. It is then the same for all
/// completions of a record.
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
    let made_up = record.made_up().into_iter().nth(round - 1).filter(|made_up| made_up.in_play);
    let progress = ReviewProgress { is_made_up: made_up.is_some(), ..ReviewProgress::new(of, playouts) };
    let (before, reviews) = (Vec::new(), Vec::new());
    let mut watcher = RoundReviewer {
        round,
        playouts,
        at: 0,
        reviewer: None,
        made_up,
        before,
        reviews,
        progress,
        tell,
        stopped: false,
    };
    // An error after the reviewed round is ignored.
    let flaw = replay(record, &mut watcher).err().filter(|_| watcher.progress.decisions.len() < of);
    let RoundReviewer { mut progress, stopped, .. } = watcher;
    progress.trouble = flaw.map(|flaw| excerpt(&flaw.to_string()).up_to(500).to_string());
    progress.over = true;
    (!stopped).then_some(progress)
}

#[cfg(test)]
mod tests;
