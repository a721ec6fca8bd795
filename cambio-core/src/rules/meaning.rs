//! The meaning of several knobs together: contradictions, and knobs without effect.

use super::{Rules, RulesError, RulesSpec};
use crate::rules::card::{Kind, PowerStep};
use crate::rules::knob::{Best, Bonus, EmptyHand, Knob as _, Late, MatchEnd, Race, Reset, Score, SnapTargets};
use crate::rules::seat::MAX_SEATS;

impl RulesSpec {
    /// Checks that no knob turns the game round: that the seats which win the rounds win the match, and that a successful
    /// call is better than a failed one.
    ///
    /// [`RulesSpec::from_toml`] calls this function. [`RulesSpec::validate`] does not, because records of earlier versions
    /// may have such rules.
    ///
    /// # Errors
    /// The field that contradicts another field.
    ///
    /// ```
    /// use cambio_core::RulesSpec;
    ///
    /// let error = RulesSpec::from_toml("base = 'classic'\nscore = 'points'").unwrap_err();
    /// assert_eq!(error.to_string(), "field `best` must be \"fewest\" with `score = \"points\"`, found \"most\"");
    /// ```
    pub fn check_meaning(&self) -> Result<(), RulesError> {
        let (success, failure) = (self.call_success, self.call_failure);
        let best = if self.score == Score::Points { Best::Fewest } else { Best::Most };
        let (field, found, allowed) = if self.best != best {
            ("best", self.best.write(), format!("{} with `score = {}`", best.write(), self.score.write()))
        } else if self.score == Score::Points
            && (0..=40).all(|points| success.of(points) >= failure.of(points))
            && success.of(10) > failure.of(10)
        {
            let failure = failure.write();
            let allowed = format!("better than `call_failure = {failure}`, because the fewest points win");
            ("call_success", success.write(), allowed)
        } else {
            return Ok(());
        };
        Err(RulesError::Field { field, found: found.to_string(), allowed })
    }

    /// The most points, positive or negative, that a round can add to a total, with `score = "points"`.
    pub(super) fn most_per_round(&self, kinds: &[Kind]) -> usize {
        let dearest = kinds.iter().map(|kind| kind.points.unsigned_abs()).max().map_or(0, usize::from);
        let bonuses = [self.call_success, self.call_failure, self.lowest_bonus];
        bonuses.map(|bonus| bonus.most(dearest * self.max_slots.count())).into_iter().max().unwrap_or(0)
    }
}

impl Rules {
    /// Why a knob has no effect on play, given the other knobs and the deck; `None` if it has one. Two values without
    /// effect give the same matches.
    ///
    /// ```
    /// use cambio_core::Rules;
    ///
    /// let classic = Rules::preset("classic").unwrap();
    /// assert_eq!(classic.without_effect("carry_over"), Some("a match is one round"));
    /// assert_eq!(classic.without_effect("hand"), None);
    /// ```
    pub fn without_effect(&self, knob: &str) -> Option<&'static str> {
        let spec = self.spec();
        let unless = |has_effect: bool, reason: &'static str| (!has_effect).then_some(reason);
        let steps = || self.kinds().iter().flat_map(|kind| (0..4).filter_map(|number| kind.power.step(number)));
        let unless_step = |has: fn(PowerStep) -> bool, reason| unless(steps().any(has), reason);
        let limit = spec.round_limit.count();
        let rounds = if let MatchEnd::Rounds(number) = spec.match_end { limit.min(number.into()) } else { limit };
        let (least, most) = match spec.score {
            Score::Points => (-1, spec.most_per_round(self.kinds())),
            Score::Share => (0, 1),
            Score::WinLoss => (-1, MAX_SEATS - 1),
        };
        let is_total = |total: i64, rounds| (least * (most * rounds) as i64..=(most * rounds) as i64).contains(&total);

        let windows = unless(self.has_windows(), "there are no snap windows");
        let takes = unless(spec.take, "seats cannot take from the pile");
        let scores = "rounds do not score points; add `score = \"points\"` and `best = \"fewest\"`";
        let scores = unless(spec.score == Score::Points, scores);
        let can_call = spec.turn_limit.count() > (spec.first_call.count() - 1) * 2;
        let calls =
            unless(can_call || (spec.empty_call && windows.is_none()), "no seat can call before the turn limit");
        let carries = calls.or(unless(rounds > 1, "a match is one round"));
        let costs_snaps = !spec.snap_known_only || spec.late == Late::Penalise;
        let fines = windows.or(unless(costs_snaps, "snaps cost no penalty cards"));
        let pays = spec.paid_peek || fines.is_none() || (spec.carry_over && carries.is_none());
        let pays = unless(pays, "there are no penalties");
        let costs = pays.or(unless(spec.penalty.get() > 0, "a penalty has no cards"));
        let room = unless(spec.max_slots.count() > spec.hand.count(), "`max_slots` leaves no room for penalty cards");
        match knob {
            "direction" => Some("the seats are lettered in playing order; the direction is only for players"),
            "match" | "snap_targets" | "snap_known_only" | "discarder_snaps" | "touch" | "late" | "chain"
            | "final_window" | "race" | "empty_hand" | "empty_call" => windows,
            "gift" => windows.or(unless(spec.snap_targets == SnapTargets::Any, "seats snap only their own cards")),
            "freeze" => windows.or(takes),
            "race_weights" => windows.or(unless(spec.race == Race::Weighted, "`race` is not \"weighted\"")),
            "caller_snaps" | "others_after_call" => windows.or(calls),
            "call" | "callers" | "cap" | "caller_tie" | "limit_in_lap" => calls,
            "look_at_caller" => calls.or(unless_step(PowerStep::looks_at_others, "no power looks at other seats")),
            "lock_caller" => {
                let moves = unless_step(|step| step.swaps() || step.reveals(), "no snap, swap or reveal is possible");
                calls.or(windows.and(moves))
            }
            "redrop" => takes,
            "drop_plain" => unless(self.kinds().iter().any(|kind| kind.power.is_none()), "all cards have powers"),
            "power_use" | "replaced_power" => unless(steps().next().is_some(), "no card has a power"),
            "swap_two_own" | "swap_same_owner" => {
                unless_step(|step| step.swaps() && !step.swaps_own(), "no power swaps two cards of one seat")
            }
            "paid_peek" => room,
            "max_slots" => costs.filter(|_| !spec.paid_peek),
            "penalty" => pays.or(room),
            "empty_hand_fines" => {
                let ends = unless(spec.empty_hand == EmptyHand::EndsRound, "`empty_hand` is not \"ends_round\"");
                fines.or(ends).or(costs).or(room)
            }
            "stock_empty" => {
                let seats = (2..=MAX_SEATS).rfind(|&seats| self.covers(seats).is_ok()).unwrap_or(2);
                // A turn draws one card. The last lap may go on beyond the turn limit, and the flip takes one more card.
                let used = seats * (spec.hand.count() + 1) + spec.turn_limit.count() + 1;
                let runs_out = costs.or(room).is_none() || self.deck().len() <= used;
                unless(runs_out, "the stock cannot run out before the turn limit")
            }
            "call_success" | "call_failure" => scores.or(calls),
            "lowest_bonus" => scores,
            "carry_over" => carries,
            "round_limit" => {
                let ends_first = matches!(spec.match_end, MatchEnd::Rounds(number) if usize::from(number) <= limit);
                unless(!ends_first, "`match_end` ends the match first")
            }
            "match_end" => {
                let is_reached = match spec.match_end {
                    MatchEnd::Rounds(number) => usize::from(number) <= limit,
                    MatchEnd::Total(_) if spec.total_reset != Reset::None => limit > 1,
                    MatchEnd::Total(total) => limit > 1 && is_total(total.into(), limit),
                };
                unless(is_reached, "`round_limit` ends the match first")
            }
            "total_reset" => {
                let resets = |from: i16, to| from != to && is_total(from.into(), rounds);
                let has_effect = matches!(spec.total_reset, Reset::To(from, to) if resets(from, to));
                unless(has_effect, "no total can become another")
            }
            _ => None,
        }
    }

    /// Sentences about values that are probably not meant: knobs without effect whose values differ from `base`, and
    /// knobs that reward the wrong seat.
    pub fn notes(&self, base: &RulesSpec) -> Vec<String> {
        let (spec, mut notes) = (self.spec(), Vec::new());
        for ((name, value), (_, before)) in spec.knobs().into_iter().zip(base.knobs()) {
            if let Some(reason) = self.without_effect(name).filter(|_| value != before) {
                notes.push(format!("`{name}` has no effect, because {reason}"));
            }
        }
        let is_points = spec.score == Score::Points;
        if let (false, MatchEnd::Total(total)) = (is_points, spec.match_end) {
            let score = spec.score.write();
            notes.push(format!("with `score = {score}`, a match ends at {total} wins, not at {total} points"));
        }
        let is_more = |bonus: Bonus| bonus.of(10) > 10;
        for (name, bonus, is_wrong) in [
            ("call_success", spec.call_success, is_more(spec.call_success)),
            ("call_failure", spec.call_failure, spec.call_failure.of(10) < 10),
            ("lowest_bonus", spec.lowest_bonus, is_more(spec.lowest_bonus)),
        ] {
            if is_points && is_wrong {
                let value = bonus.write();
                notes.push(format!("`{name} = {value}` rewards the wrong seats, because the fewest points win"));
            }
        }
        notes
    }
}
