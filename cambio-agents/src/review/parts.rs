//! The result of a round as a sum of parts: luck and decisions.

use std::iter::once;

use cambio_core::Phase;
use serde::Serialize;

use super::{DecisionReview, MeanEstimate};

/// How the result of a round came about: for each seat, seat a first, parts that add up to its result.
///
/// `before + deal + draws + decisions + rest = result`, in shares of the win of the round, or in chances to win the match if
/// a match has several rounds.
///
/// The baseline is the playout policy of the [`Reviewer`](super::Reviewer) with the true cards on the table, so this is AIVAT
/// (Burch, Schmid, Moravčík, Morrill and Bowling 2018) with simulated values: `deal` and `draws` have an expected value of 0 if
/// all seats decide by their observations alone. Races and reshuffles count as draws. In a snap window, a seat's
/// declaration is compared with the policy's declaration while the other seats play the policy; what two unusual
/// declarations cause only together is part of `draws`.
///
/// ```
/// use cambio_agents::{MeanEstimate, ResultParts};
///
/// // A round that was over after the deal.
/// let half = MeanEstimate { mean: 0.5, error: 0.01 };
/// let parts = ResultParts::of(&[half, half], &[], &[1.0, 0.0]);
/// assert_eq!(parts.deal[0], half);
/// assert_eq!((parts.draws[1].mean, parts.result), (0.0, vec![1.0, 0.0]));
/// ```
#[derive(Serialize, Clone, PartialEq, Debug)]
pub struct ResultParts {
    /// The chances before the deal.
    pub before: Vec<MeanEstimate>,
    /// The luck of the deal: the chances with the true cards after the deal, minus the chances before it.
    pub deal: Vec<MeanEstimate>,
    /// The luck of all later chance events.
    pub draws: Vec<MeanEstimate>,
    /// `draws` by decision: the luck of chance events between each decision and the next one. In a snap window the luck is 0
    /// for all declarations but the last, because no card moves before all seats have declared.
    pub steps: Vec<Vec<MeanEstimate>>,
    /// For each seat that decides, what its decisions changed for each seat: the sum of the certain costs with the
    /// information of the seat, with the sign reversed.
    pub decisions: Vec<Vec<MeanEstimate>>,
    /// What no other part explains: how well decisions that the policy would not have taken happened to fit cards that the
    /// seat did not know, decisions with an uncertain cost, and what the policy itself leaves to gain.
    pub rest: Vec<MeanEstimate>,
    /// The result.
    pub result: Vec<f64>,
}

impl ResultParts {
    /// The parts of a round: the chances before the deal ([`Reviewer::before_deal`](super::Reviewer::before_deal)), the
    /// reviews of all decisions in order, and the outcome ([`Reviewer::outcome`](super::Reviewer::outcome)).
    pub fn of(before: &[MeanEstimate], reviews: &[DecisionReview], outcome: &[f64]) -> ResultParts {
        let exact: Vec<MeanEstimate> = outcome.iter().map(|&mean| MeanEstimate { mean, error: 0.0 }).collect();
        let dealt = reviews.first().map_or(&exact, |review| &review.chances);
        let seats = 0..outcome.len();
        let advantage = |seat: usize| reviews.iter().map(|review| review.advantages[seat]).sum::<MeanEstimate>();
        let decided = |by: usize, seat: usize| -> MeanEstimate {
            let judged = reviews.iter().filter(|review| review.seat.index() == by).filter_map(DecisionReview::judged);
            MeanEstimate::default() - judged.map(|regret| regret.by_seat[seat]).sum()
        };
        ResultParts {
            before: before.to_vec(),
            deal: seats.clone().map(|seat| dealt[seat] - before[seat]).collect(),
            draws: seats.clone().map(|seat| exact[seat] - dealt[seat] - advantage(seat)).collect(),
            steps: steps(reviews, &exact),
            decisions: seats.clone().map(|by| seats.clone().map(|seat| decided(by, seat)).collect()).collect(),
            rest: seats
                .clone()
                .map(|seat| seats.clone().fold(advantage(seat), |rest, by| rest - decided(by, seat)))
                .collect(),
            result: outcome.to_vec(),
        }
    }
}

/// The entries of [`ResultParts::steps`].
fn steps(reviews: &[DecisionReview], outcome: &[MeanEstimate]) -> Vec<Vec<MeanEstimate>> {
    let nexts = reviews.iter().skip(1).map(|next| (&next.chances[..], next.phase)).chain(once((outcome, Phase::Over)));
    let mut expected: Option<Vec<MeanEstimate>> = None;
    let mut steps = Vec::new();
    for (review, (chances, next)) in reviews.iter().zip(nexts) {
        let now = expected.take().unwrap_or_else(|| review.chances.clone());
        let now: Vec<MeanEstimate> =
            now.into_iter().zip(&review.advantages).map(|(now, &change)| now + change).collect();
        if review.phase == Phase::Window && next == Phase::Window {
            steps.push(vec![MeanEstimate::default(); now.len()]);
            expected = Some(now);
        } else {
            steps.push(chances.iter().zip(now).map(|(&chance, now)| chance - now).collect());
        }
    }
    steps
}
