//! The luck of the cards in a match, which can be subtracted from its result without bias.

use std::sync::Arc;

use cambio_core::play::RoundResult;
use cambio_core::rng::{Bounded as _, SplitMix, mix};
use cambio_core::rules::knob::{Cap, Late};
use cambio_core::rules::{MAX_KINDS, MAX_SEATS};
use cambio_core::{Card, Event, Observer, Rules, Seat, Spot, Standing, State};

use crate::outcome::{Evaluation, JointKnowledge, OutcomeModel};

/// The number of times that the unseen cards are dealt again at the end of a round.
const REDEALS: u32 = 32;

/// An observer that measures the luck of each seat in a match, as a share of the win.
///
/// Whenever an event reveals a card that no seat has seen, the luck of a seat grows by the difference between its
/// expected share of the win with this card and the mean of its expected shares over all cards that could have been
/// revealed, according to a baseline, an [`OutcomeModel`]. At the end of a round, the cards that no seat has seen are
/// dealt again, and the luck is the difference between the actual result and the mean of the redeals.
///
/// The expected luck is 0 for every baseline and all agents that decide by their observations alone: given what all
/// seats know, each unseen card of the current stock is equally likely to be revealed. So the result minus the luck has
/// the same mean as the result. A better baseline gives a smaller variance. This is AIVAT (Burch, Schmid, Moravčík,
/// Morrill and Bowling 2018, "AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information
/// Games") for chance events. Races, the order of a new stock, cards that lay unseen on the table during a reshuffle,
/// and random decisions of the agents are not corrected; they remain noise.
///
/// ```
/// use cambio_agents::{Luck, roster};
/// use cambio_core::{MatchSetup, Rules, play_match, rng::Key};
///
/// let rules = Rules::preset("classic")?;
/// let mut luck = Luck::new(&rules, 2);
/// let mut agents = ["sharp", "heuristic"].map(|spec| roster().parse(spec).unwrap().make());
/// let result = play_match(&MatchSetup { rules, seats: 2, key: Key::new(1, 0) }, &mut agents, &mut luck).unwrap();
/// let won = if result.ranks[0] == 1 { 1.0 } else { 0.0 };
/// println!("result {won}, without luck {:.3}", won - luck.shares()[0]);
/// # Ok::<(), cambio_core::RulesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Luck {
    model: Arc<OutcomeModel>,
    rules: Rules,
    knowledge: JointKnowledge,
    shares: [f64; MAX_SEATS],
}

impl Luck {
    /// Measures the luck with the bundled baseline for these rules.
    ///
    /// # Panics
    /// If the rules do not allow the number of seats.
    pub fn new(rules: &Rules, seats: usize) -> Luck {
        Luck::over(OutcomeModel::shipped(rules, seats), rules, seats)
    }

    /// Measures the luck with this baseline.
    ///
    /// # Panics
    /// If the rules do not allow the number of seats.
    pub fn over(model: Arc<OutcomeModel>, rules: &Rules, seats: usize) -> Luck {
        Luck { model, rules: *rules, knowledge: JointKnowledge::new(rules, seats), shares: [0.0; MAX_SEATS] }
    }

    /// Forgets the match, before another one begins.
    pub fn clear(&mut self) {
        self.shares = [0.0; MAX_SEATS];
    }

    /// Whether the luck can be measured under these rules. With some knobs, a decision or an event depends on a card that
    /// no seat has seen, so the unseen cards are not equally likely.
    pub fn supports(rules: &Rules) -> bool {
        !matches!(rules.spec().cap, Cap::Feasible(_)) && rules.spec().late != Late::Abort
    }

    /// The luck of each seat in the match so far, seat a first: positive if the cards increased the seat's share of the
    /// win.
    pub fn shares(&self) -> &[f64] {
        &self.shares[..self.knowledge.seats()]
    }

    /// Adds the luck of an event that reveals `card`.
    fn reveal(&mut self, event: &Event<Card>, card: Card) {
        let mut values: [Option<[f64; MAX_SEATS]>; MAX_KINDS] = [None; MAX_KINDS];
        let (mut sums, mut cards) = ([0.0; MAX_SEATS], 0.0);
        let (mut evaluation, mut possibilities) = (Evaluation::default(), self.knowledge.possibilities(event));
        for (other, copies) in self.knowledge.possible() {
            let shares = *values[self.rules.class(other)]
                .get_or_insert_with(|| evaluation.shares(&self.model, possibilities.with(other)));
            for (sum, share) in sums.iter_mut().zip(shares) {
                *sum += f64::from(copies) * share;
            }
            cards += f64::from(copies);
        }
        let actual = values[self.rules.class(card)].expect("the card is one of the possible cards");
        for (seat, luck) in self.shares[..self.knowledge.seats()].iter_mut().enumerate() {
            *luck += actual[seat] - sums[seat] / cards;
        }
    }

    /// Adds the luck of the cards that are turned up at the end of a round.
    fn turn_up(&mut self, state: &State, result: &RoundResult) {
        let is_unseen = |spot: &Spot| self.knowledge.is_unseen(*spot);
        let (unseen, seen): (Vec<Spot>, Vec<Spot>) = state.table().occupied().iter_from(Seat::A).partition(is_unseen);
        if unseen.is_empty() {
            return;
        }
        let points = |spot: Spot| self.rules.points(state.face(spot).expect("a card that was turned up has a face"));
        let mut fixed = [0; MAX_SEATS];
        // The redeals must depend on what the seats know, and not on the unseen cards, so that they have no bias.
        let mut number = mix(state.table().turns() as u64 ^ (self.knowledge.rounds() as u64) << 32);
        for &spot in &seen {
            fixed[spot.seat().index()] += points(spot);
            let kind = state.face(spot).map_or(0, |card| card.kind() as u64);
            number = mix(number ^ (kind << 8 | spot.index() as u64));
        }
        let mut pool: Vec<i32> = Vec::new();
        for (card, copies) in self.knowledge.possible() {
            pool.resize(pool.len() + usize::from(copies), self.rules.points(card));
            number = mix(number ^ (u64::from(copies) << 8 | card.kind() as u64));
        }
        let mut stream = SplitMix::new(number, 0_u32);
        let mut sums = [0.0; MAX_SEATS];
        for _ in 0..REDEALS {
            let mut sum = fixed;
            for (index, spot) in unseen.iter().enumerate() {
                let other = index + stream.below((pool.len() - index) as u32) as usize;
                pool.swap(index, other);
                sum[spot.seat().index()] += pool[index];
            }
            let other = result.with_points(&self.rules, &sum[..self.knowledge.seats()]);
            let worth = self.knowledge.chances_after(&other);
            sums.iter_mut().zip(worth).for_each(|(sum, worth)| *sum += worth);
        }
        let actual = self.knowledge.chances_after(result);
        for (seat, luck) in self.shares[..self.knowledge.seats()].iter_mut().enumerate() {
            *luck += actual[seat] - sums[seat] / f64::from(REDEALS);
        }
    }
}

impl Observer for Luck {
    fn round_begins(&mut self, standing: &Standing<'_>, _: &[Card]) {
        if standing.round == 0 {
            self.clear();
        }
        self.knowledge.round_begins(standing);
    }

    fn event(&mut self, event: &Event<Card>) {
        if let Some(card) = self.knowledge.revealed(event) {
            self.reveal(event, card);
        }
        self.knowledge.notice(event);
    }

    fn round_ends(&mut self, state: &State, result: &RoundResult) {
        self.turn_up(state, result);
        self.knowledge.round_ends(result);
    }
}
