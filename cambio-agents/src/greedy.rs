//! The greedy memory player.

use cambio_core::{Action, Agent, AgentError, Card, Observation, Phase, Spot, SpotSet};

use crate::call_rule::CallRule;
use crate::card_model::mean_elsewhere;
use crate::params;
use crate::tie::{LeastSpots, least_of, one_of};

params! {
    /// The parameters of [`Greedy`].
    pub(crate) struct GreedyParams {
        /// Calls when the expected sum of its own cards is at most this.
        call_at: i32 = 5 in -20..=100,
        /// The rule for its calls.
        ..rule: CallRule,
    }
}

/// A player that takes the decision that lowers its own expected sum most.
///
/// The player remembers every card that it saw, and values each unknown card at the mean of the unseen cards. It calls
/// once its expected sum is at most `call_at`, and snaps only cards that it knows to match. It does not look ahead. It
/// breaks ties between cards by a hash of the pile, so that it prefers no seat and no slot.
#[derive(Clone, Debug)]
pub(crate) struct Greedy {
    params: GreedyParams,
}

/// The top card is taken only if it saves this many points. Otherwise a draw may save more, or give a power.
const TAKE_GAIN: f64 = 4.0;

impl Greedy {
    /// A greedy player.
    pub(crate) fn new(params: &GreedyParams) -> Greedy {
        Greedy { params: *params }
    }

    fn calls(&self, estimate: &CardEstimates<'_, '_>) -> bool {
        let view = estimate.view;
        let rule = self.params.rule.decides(view, view.seat(), estimate.own(), view.rules());
        rule.unwrap_or_else(|| estimate.own_sum() <= self.params.call_at.into())
    }

    fn start(&self, estimate: &CardEstimates<'_, '_>) -> Action {
        let choices = estimate.view.choices();
        if choices.contains(Action::Call) && self.calls(estimate) {
            return Action::Call;
        }
        let top = estimate.view.table().top();
        let saves = top.and_then(|card| estimate.best_place(card)).is_some_and(|(gain, _)| gain >= TAKE_GAIN);
        if choices.contains(Action::Take) && (saves || !choices.contains(Action::Draw)) {
            Action::Take
        } else if choices.contains(Action::Draw) {
            Action::Draw
        } else {
            Action::Call
        }
    }
}

impl Agent for Greedy {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let estimate = CardEstimates::new(view);
        Ok(match view.table().phase() {
            Phase::Start => self.start(&estimate),
            Phase::Close if self.calls(&estimate) && view.choices().contains(Action::Call) => Action::Call,
            Phase::Close => Action::End,
            Phase::Held(_) => estimate.keep_or_drop(),
            Phase::Window | Phase::Chain => estimate.snap_or_pass(),
            Phase::Gift => estimate.give(),
            Phase::Power => estimate.use_power(),
            Phase::Peek | Phase::Show | Phase::Over => estimate.any(),
        })
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Estimates the points of cards from the cards that one seat knows.
struct CardEstimates<'v, 'a> {
    view: &'v Observation<'a>,
    /// The mean points of the cards that the seat has not seen.
    mean: f64,
}

impl CardEstimates<'_, '_> {
    fn new<'v, 'a>(view: &'v Observation<'a>) -> CardEstimates<'v, 'a> {
        CardEstimates { view, mean: mean_elsewhere(view, view) }
    }

    fn points(&self, card: Card) -> f64 {
        f64::from(self.view.rules().points(card))
    }

    fn worth(&self, spot: Spot) -> f64 {
        self.view.face(spot).map_or(self.mean, |card| self.points(card))
    }

    fn own(&self) -> SpotSet {
        self.view.table().layout(self.view.seat())
    }

    fn own_sum(&self) -> f64 {
        self.own().iter_from(self.view.seat()).map(|spot| self.worth(spot)).sum()
    }

    /// The spot with the most points. An unknown card counts a little more than the mean, because replacing the card
    /// also reveals it.
    fn worst(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        let worth = |spot| self.worth(spot) + if self.view.face(spot).is_none() { 0.01 } else { 0.0 };
        let (least, spot) = self.least(spots, |spot| -worth(spot))?;
        Some((-least, spot))
    }

    /// The spot with the fewest points.
    fn best(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        self.least(spots, |spot| self.worth(spot))
    }

    /// The spot with the least `value`, and that value.
    fn least(&self, spots: SpotSet, value: impl Fn(Spot) -> f64) -> Option<(f64, Spot)> {
        let mut least = LeastSpots::NONE;
        spots.iter_from(self.view.seat()).for_each(|spot| least.offer(value(spot), spot));
        Some((least.value, one_of(self.view, least.spots)?))
    }

    /// The spot of the player where this card saves the most points, and the points that it saves.
    fn best_place(&self, card: Card) -> Option<(f64, Spot)> {
        self.worst(self.own()).map(|(worth, spot)| (worth - self.points(card), spot))
    }

    /// A decision in a phase in which the player has no preference.
    fn any(&self) -> Action {
        least_of(self.view, |_| 0.0).expect("the seat to act has a choice")
    }

    fn keep_or_drop(&self) -> Action {
        let place = self.view.held().and_then(|card| self.best_place(card));
        match place {
            Some((gain, spot)) if gain > 0.0 || !self.view.choices().contains(Action::Drop) => Action::Keep(spot),
            _ => Action::Drop,
        }
    }

    /// Snaps the card that saves most: one of the player's cards saves its own points; another seat's card saves the
    /// points of the card that the player gives for it.
    fn snap_or_pass(&self) -> Action {
        let matching = self.view.known_matches();
        let own = self.worst(matching.intersection(self.own()));
        let gift = self.worst(self.own()).filter(|_| !matching.without(self.own()).is_empty());
        match (own, gift) {
            (Some((saved, spot)), gift) if saved > 0.0 && gift.is_none_or(|(given, _)| saved >= given) => {
                Action::Snap(spot)
            }
            (_, Some((given, _))) if given > 0.0 => {
                let spot = one_of(self.view, matching.without(self.own()));
                Action::Snap(spot.expect("`gift` is set only if another seat's card matches"))
            }
            _ => Action::Pass,
        }
    }

    fn give(&self) -> Action {
        match self.worst(self.own()) {
            Some((worth, spot)) if worth > 0.0 || !self.view.choices().contains(Action::Skip) => Action::Give(spot),
            _ => Action::Skip,
        }
    }

    /// Tries a look at one's own unknown card, then a swap that saves points, then a look at another seat's card.
    fn use_power(&self) -> Action {
        let choices = self.view.choices();
        let unknown = choices.targets().without(self.view.known());
        if let Some(spot) = one_of(self.view, unknown.intersection(self.own())) {
            return Action::Look(spot);
        }
        let others = choices.swappable().without(self.own());
        if let Some((own, mine)) = self.worst(choices.swappable().intersection(self.own()))
            && let Some((theirs, spot)) = self.best(others)
            && own - theirs >= 1.0
            && choices.contains(Action::swap(mine, spot))
        {
            return Action::swap(mine, spot);
        }
        if let Some(spot) = one_of(self.view, unknown) {
            return Action::Look(spot);
        }
        if choices.contains(Action::Skip) {
            return Action::Skip;
        }
        self.least_harm()
    }

    /// The decision if a power must be used but saves nothing: a look, or the swap that costs least.
    fn least_harm(&self) -> Action {
        let own = self.own();
        let cost = |action: &Action| match *action {
            Action::Swap(one, other) => match (own.contains(one), own.contains(other)) {
                (true, false) => self.worth(other) - self.worth(one),
                (false, true) => self.worth(one) - self.worth(other),
                _ => 0.0,
            },
            _ => 0.0,
        };
        least_of(self.view, cost).expect("the seat to act has a choice")
    }
}
