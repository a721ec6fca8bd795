//! Sampled rounds of the default heuristic, from which the values of matches are computed.

use cambio_core::engine::{Dice, Setup};
use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, Key, Purpose};
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Match, Rules, Score, Seat, State};

use crate::bits::Bits;
use crate::heuristic::HeuristicParams;
use crate::policy::Policy as _;

/// The number of sampled rounds.
const ROUNDS: u64 = 20_000;
/// The seed of the sampled rounds.
pub(super) const SEED: u64 = 0x0ca3_b105;

/// The outcome of one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundOutcome {
    /// The scores that the round added, in playing order from its starter.
    pub(super) added: [Score; MAX_SEATS],
    /// The distance from the round's starter to the starter of the next round.
    pub(super) next: usize,
}

/// Plays rounds with the default heuristic in every seat.
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
        // The default heuristic does not snap unknown cards.
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
