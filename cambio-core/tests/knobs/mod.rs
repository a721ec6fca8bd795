//! Tests of the knobs: what each value changes, and which values are rejected.

mod calls;
mod deal;
mod meaning;
mod refused;
mod scoring;
mod snaps;
mod turn;

use cambio_core::rules::KNOBS;

/// The name of each knob in rule files, and the test of the knob.
const TESTED: &[(&str, fn())] = &[
    ("jokers", deal::the_deck_has_as_many_jokers_as_the_knob_says),
    ("decks", deal::two_decks_have_every_card_twice),
    ("direction", deal::the_direction_is_recorded_and_changes_nothing),
    ("hand", deal::each_seat_is_dealt_a_hand_and_extra_cards_lie_beyond_it),
    ("max_slots", deal::a_layout_has_no_more_slots_than_the_knob_says),
    ("peek", deal::the_first_peek_is_at_fixed_slots_or_chosen_ones_or_none),
    ("flip", deal::the_flip_starts_the_pile_with_or_without_a_window),
    ("first_dealer", deal::the_first_dealer_is_seat_a_or_drawn),
    ("starter", deal::the_starter_is_the_dealer_or_the_seat_after_or_the_winner),
    ("take", turn::the_pile_can_be_taken_or_not),
    ("redrop", turn::dropped_taken_cards_act_as_their_knob_says),
    ("drop_plain", turn::a_drawn_card_without_power_may_have_to_be_kept),
    ("paid_peek", turn::a_paid_peek_costs_a_penalty_card_once_a_turn),
    ("power_use", turn::a_power_must_be_used_or_may_be_declined),
    ("replaced_power", turn::the_power_of_a_replaced_card_can_be_used_or_not),
    ("swap_two_own", turn::two_own_cards_can_be_swapped_or_not),
    ("swap_same_owner", turn::two_cards_of_one_other_seat_can_be_swapped_or_not),
    ("match", snaps::a_snap_matches_by_rank_or_by_points),
    ("snap_targets", snaps::only_own_cards_or_all_can_be_snapped),
    ("snap_known_only", snaps::only_seats_that_know_a_match_are_asked),
    ("discarder_snaps", snaps::the_discarder_may_snap_or_not),
    ("touch", snaps::a_bluff_is_possible_or_not),
    ("gift", snaps::a_gift_may_or_must_be_given),
    ("late", snaps::a_late_match_is_penalised_or_taken_back_or_aborted),
    ("penalty", snaps::a_penalty_has_as_many_cards_as_the_knob_says),
    ("chain", snaps::the_winner_goes_on_or_not),
    ("freeze", snaps::a_snap_freezes_the_pile_or_not),
    ("window", snaps::the_window_opens_before_or_after_the_power_or_both_or_never),
    ("final_window", snaps::the_last_discard_has_a_window_or_not),
    ("race", snaps::the_order_of_a_race_is_drawn_as_the_knob_says),
    ("race_weights", snaps::a_heavier_seat_is_first_more_often),
    ("look_at_caller", calls::a_callers_cards_can_be_looked_at_or_not),
    ("lock_caller", calls::the_cards_of_a_caller_are_locked_or_open),
    ("caller_snaps", calls::a_caller_snaps_nothing_or_foreign_cards_or_its_own_or_both),
    ("others_after_call", calls::after_a_call_all_snap_or_callers_alone),
    ("call", calls::the_call_is_instead_of_a_turn_or_after_it),
    ("first_call", calls::a_seat_may_call_from_a_turn_on),
    ("callers", calls::one_seat_may_call_or_several),
    ("cap", calls::a_cap_advises_or_forbids_or_judges),
    ("empty_hand", calls::empty_layouts_act_as_their_knob_says),
    ("empty_hand_fines", calls::snaps_after_an_empty_layout_are_fined_or_not),
    ("empty_call", calls::an_empty_layout_counts_as_a_call_or_not),
    ("stock_empty", calls::an_empty_stock_is_reshuffled_or_ends_the_round),
    ("turn_limit", calls::the_turn_limit_ends_the_round),
    ("limit_in_lap", calls::the_turn_limit_cuts_the_last_lap_or_waits_for_it),
    ("round_limit", scoring::the_round_limit_ends_the_match),
    ("score", scoring::a_round_scores_points_or_shares_or_wins_and_losses),
    ("call_success", scoring::a_successful_call_adds_or_sets_or_multiplies),
    ("call_failure", scoring::a_failed_call_adds_or_sets_or_multiplies),
    ("lowest_bonus", scoring::the_lowest_seat_without_a_call_adds_or_sets_or_multiplies),
    ("caller_tie", scoring::a_tie_fails_or_succeeds),
    ("carry_over", scoring::a_call_is_felt_in_the_next_round_or_not),
    ("match_end", scoring::a_match_ends_on_a_total_or_after_rounds),
    ("total_reset", scoring::a_total_is_reset_at_exactly_its_value),
    ("best", scoring::the_fewest_or_the_most_win_a_match),
];

#[test]
fn every_knob_has_a_test_that_shows_what_it_changes() {
    let tested: Vec<&str> = TESTED.iter().map(|(name, _)| *name).collect();
    let knobs: Vec<&str> = KNOBS.iter().map(|knob| knob.name).collect();
    assert_eq!(tested, knobs);
    let distinct: std::collections::BTreeSet<usize> = TESTED.iter().map(|(_, test)| *test as usize).collect();
    assert_eq!(distinct.len(), knobs.len(), "each knob has a test of its own");
}
