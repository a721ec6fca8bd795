//! The cards of each seat, as numbers.

use arrayvec::ArrayVec;
use cambio_core::rules::{MAX_SEATS, MAX_SLOTS};
use cambio_core::{Card, Rules, Score, Seat};

use super::{JointKnowledge, Position};

/// The cards on the table and the numbers that do not depend on the held card.
pub(crate) struct Hands {
    pub(super) seats: ArrayVec<Hand, MAX_SEATS>,
    pub(super) outlooks: ArrayVec<Outlook, MAX_SEATS>,
    /// The expected points of all seats.
    pub(super) sum: f32,
    /// The mean and the variance of the points of an unseen card.
    pub(super) mean: f32,
    pub(super) variance: f32,
    /// Each seat's chance to win the match if the round ended with the expected points.
    pub(super) projected: Option<[f64; MAX_SEATS]>,
}

/// How a seat stands against the other seats.
pub(super) struct Outlook {
    /// The index of the other seat that expects the fewest points for itself.
    pub(super) leader: usize,
    /// The fewest expected points, cards and points in the match of another seat.
    pub(super) least: f32,
    pub(super) fewest: f32,
    pub(super) lowest: f32,
    /// An approximation of the chance to have fewer points than all other seats.
    pub(super) wins: f32,
}

/// The cards of one seat.
#[derive(Clone, Copy, Default)]
pub(super) struct Hand {
    pub(super) cards: f32,
    /// The expected points, given the cards that any seat has seen.
    pub(super) sum: f32,
    pub(super) unseen: f32,
    /// The expected points, given only the cards that the seat itself has seen.
    pub(super) own_sum: f32,
    pub(super) own_seen: f32,
    /// The four highest expected points of a card, as the seat sees them.
    pub(super) most: [f32; 4],
    /// The lowest points of a card that the seat has seen.
    pub(super) least: f32,
    /// The cards that the seat has seen and that match the top of the pile.
    pub(super) matching: f32,
    /// The pairs of cards of one rank that the seat has seen.
    pub(super) pairs: f32,
}

impl JointKnowledge {
    pub(super) fn hands(&self, position: &Position) -> Hands {
        let (seats, mean) = (self.seats(), position.unseen.mean());
        let variance = (position.unseen.squares as f32 / position.unseen.cards.max(1) as f32 - mean * mean).max(0.0);
        let hands: ArrayVec<Hand, MAX_SEATS> =
            Seat::ALL.into_iter().take(seats).map(|seat| position.hand(&self.rules, seat, mean)).collect();
        let projected = self.is_match().then(|| {
            let points = |hand: &Hand| Score::points(hand.sum.round_ties_even() as i32);
            let totals: ArrayVec<Score, MAX_SEATS> =
                self.game.totals().iter().zip(&hands).map(|(&total, hand)| total + points(hand)).collect();
            self.values.chances(&totals, self.game.setup().starter.next(seats), self.rounds() + 1)
        });
        Hands {
            outlooks: (0..seats).map(|seat| self.outlook(&hands, seat, variance)).collect(),
            sum: hands.iter().map(|hand| hand.sum).sum(),
            seats: hands,
            mean,
            variance,
            projected,
        }
    }

    fn outlook(&self, hands: &[Hand], seat: usize, variance: f32) -> Outlook {
        let own = &hands[seat];
        let mut others =
            (1..hands.len()).map(|distance| Seat::ALL[seat].ahead(distance, hands.len()).index()).peekable();
        let leader = *others.peek().expect("a table has two seats");
        let mut outlook = Outlook { leader, least: f32::MAX, fewest: f32::MAX, lowest: f32::MAX, wins: 1.0 };
        for other in others {
            let hand = &hands[other];
            if hand.own_sum < hands[outlook.leader].own_sum {
                outlook.leader = other;
            }
            outlook.least = outlook.least.min(hand.sum);
            outlook.fewest = outlook.fewest.min(hand.cards);
            outlook.lowest = outlook.lowest.min(self.total(other));
            let lead = (hand.sum - own.sum) / ((own.unseen + hand.unseen) * variance + 4.0).sqrt();
            outlook.wins *= 0.5 + 0.5 * lead / (1.0 + lead * lead).sqrt();
        }
        outlook
    }

    /// The points of a seat in the match.
    pub(super) fn total(&self, seat: usize) -> f32 {
        self.game.totals()[seat].units() as f32 / Score::UNITS as f32
    }
}

impl Position {
    fn hand(&self, rules: &Rules, seat: Seat, mean: f32) -> Hand {
        let mut hand = Hand { least: 20.0, ..Hand::default() };
        let mut known = ArrayVec::<Card, MAX_SLOTS>::new();
        for (face, seen) in self.cards(seat) {
            let points = face.map_or(mean, |card| rules.points(card) as f32);
            let mut expected = mean;
            hand.cards += 1.0;
            hand.sum += points;
            hand.unseen += if face.is_none() { 1.0 } else { 0.0 };
            if let Some(card) = face.filter(|_| seen) {
                expected = points;
                hand.own_seen += 1.0;
                hand.least = hand.least.min(points);
                if self.top.is_some_and(|top| rules.match_each_other(top, card, true)) {
                    hand.matching += 1.0;
                }
                hand.pairs += known.iter().filter(|&&other| rules.same_rank(other, card)).count() as f32;
                known.push(card);
            }
            hand.own_sum += expected;
            for most in &mut hand.most {
                if expected > *most {
                    std::mem::swap(most, &mut expected);
                }
            }
        }
        hand
    }
}
