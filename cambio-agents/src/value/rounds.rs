//! Rounds of the blueprint: the sample on which the values of matches rest.

use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::{Dice, MAX_SEATS, Match, RoundResult, Rules, Score, Seat, Setup, State};

use crate::bits::Bits;
use crate::heuristic::HeuristicParams;
use crate::policy::Policy as _;

/// The size of the sample.
const ROUNDS: u64 = 20_000;
/// The seed of those rounds.
pub(super) const SEED: u64 = 0x0ca3_b105;

/// How one round ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundOutcome {
    /// The scores that it added, from its starter on.
    pub(super) added: [Score; MAX_SEATS],
    /// How many seats behind its starter the starter of the next round sits.
    pub(super) next: usize,
}

/// Plays rounds of the default heuristic in every seat.
pub(super) fn sample(rules: &Rules, seats: usize) -> Vec<RoundOutcome> {
    let mut policy = HeuristicParams::default();
    let mut deck = rules.deck().to_vec();
    let round = |number: u64| {
        let key = Key::new(SEED, number);
        deck.copy_from_slice(rules.deck());
        key.stream(Purpose::Deck, 0).shuffle(&mut deck);
        let mut dice = Dice(Bits::new(SEED, number as u32));
        let setup = Setup::new(rules, seats);
        let mut state = State::deal(&setup, &deck, &mut dice, &mut ()).expect("the rules fit the seats");
        // It does not gamble.
        state.ask_knowing_only();
        policy.play_out(&mut state, &mut (), &mut dice);
        let result = RoundResult::of(&state).expect("the round is over");
        let mut game = Match::new(rules, seats, Seat::A).expect("the rules fit the seats");
        game.add(&result);
        let mut added = [Score::default(); MAX_SEATS];
        added[..seats].copy_from_slice(result.scores());
        RoundOutcome { added, next: game.setup().starter.index() }
    };
    (0..ROUNDS).map(round).collect()
}
