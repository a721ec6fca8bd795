//! A seat's beliefs about the cards that it does not see, together with the true cards.

use std::collections::BTreeSet;

use cambio_agents::{Inference, NetworkPolicy, Policy as _, SamplingSettings};
use cambio_core::rng::Stream;
use cambio_core::{Briefing, Card, Knowledge, Observation, Rules, Seat, Sighting, Spot, Standing, State, Table};
use serde::Serialize;

const WORLDS: usize = 600;

/// A seat's beliefs about the cards that it does not see. Cards of the same rank and points form one class.
#[derive(Serialize, Clone, Debug)]
pub struct CardProbabilities {
    /// The names of the classes, the fewest points first.
    classes: Vec<String>,
    unseen: Vec<UnseenCard>,
    /// The expected points of the cards of each seat, seat a first.
    points: Vec<f64>,
    /// The probability that this seat has the fewest points, if the cards were counted now. Each of `k` tied seats counts 1 / `k`.
    lowest: f64,
}

/// The expected points of each seat's cards, and the probability that `seat` has the fewest, as means over the worlds.
fn points_in(worlds: &[State], seat: Seat) -> (Vec<f64>, f64) {
    let seats = worlds.first().map_or(0, |world| world.table().seats());
    let (mut means, mut lowest) = (vec![0.0; seats], 0.0);
    for world in worlds {
        let points = Seat::ALL[..seats].iter().map(|&seat| world.points(seat).unwrap_or_default());
        let points: Vec<i32> = points.collect();
        for (mean, &points) in means.iter_mut().zip(&points) {
            *mean += f64::from(points) / worlds.len() as f64;
        }
        let least = points.iter().min().copied().unwrap_or_default();
        if points[seat.index()] == least {
            lowest += 1.0 / (points.iter().filter(|points| **points == least).count() * worlds.len()) as f64;
        }
    }
    (means, lowest)
}

/// A card that the seat does not see, with the probability of each class.
#[derive(Serialize, Clone, Debug)]
struct UnseenCard {
    spot: String,
    /// The class of the true card.
    truth: usize,
    /// The probabilities given only the cards that the seat has seen.
    even: Vec<f64>,
    /// The probabilities given also the other seats' decisions, if they play like `learned`; `None` if no network
    /// supports the rules.
    inferred: Option<Vec<f64>>,
}

struct CardClasses {
    names: Vec<String>,
    /// The class of each kind.
    of: Vec<usize>,
}

impl CardClasses {
    fn new(rules: &Rules) -> CardClasses {
        let cards: Vec<Card> = (0..rules.kinds().len()).filter_map(Card::new).collect();
        let key = |card: &Card| (rules.points(*card), rules.kind(*card).rank.clone());
        let keys: Vec<(i32, String)> = cards.iter().map(key).collect::<BTreeSet<_>>().into_iter().collect();
        let is_alone = |rank: &str| keys.iter().filter(|(_, other)| other == rank).count() == 1;
        let name = |(points, rank): &(i32, String)| {
            if is_alone(rank) { rank.clone() } else { format!("{rank} ({points})") }
        };
        let of = |card: &Card| keys.iter().position(|other| *other == key(card)).expect("every card has a key");
        CardClasses { names: keys.iter().map(name).collect(), of: cards.iter().map(of).collect() }
    }

    /// For each spot and each class, the share of the worlds in which the card at the spot is of this class.
    fn shares(&self, worlds: &[State], spots: &[Spot]) -> Vec<Vec<f64>> {
        let mut shares = vec![vec![0.0; self.names.len()]; spots.len()];
        for world in worlds {
            for (shares, &spot) in shares.iter_mut().zip(spots) {
                if let Some(card) = world.face(spot) {
                    shares[self.of[card.kind()]] += 1.0 / worlds.len() as f64;
                }
            }
        }
        shares
    }
}

/// Computes a seat's beliefs from its sightings.
pub(crate) struct BeliefTracker {
    classes: CardClasses,
    knowledge: Knowledge,
    policy: NetworkPolicy,
    inference: Option<Inference<NetworkPolicy>>,
    stream: Stream,
}

impl BeliefTracker {
    pub(crate) fn new(briefing: &Briefing<'_>) -> BeliefTracker {
        let mut policy = NetworkPolicy::shipped();
        let past = policy.begin(briefing.rules, briefing.seats).ok();
        BeliefTracker {
            classes: CardClasses::new(briefing.rules),
            knowledge: Knowledge::new(briefing.rules, briefing.seats, briefing.seat),
            inference: past.map(|past| Inference::new(briefing, past)),
            policy,
            stream: briefing.stream.clone(),
        }
    }

    pub(crate) fn round_begins(&mut self, standing: &Standing<'_>) {
        if self.inference.is_some() {
            self.policy.round_begins(standing);
        }
    }

    pub(crate) fn notice(&mut self, sighting: &Sighting) {
        self.knowledge.notice(sighting);
        if let Some(inference) = &mut self.inference {
            inference.notice(sighting);
        }
    }

    pub(crate) fn spectate(&mut self, table: &Table) {
        if let Some(inference) = &mut self.inference {
            inference.spectate(table);
        }
    }

    /// The beliefs of the seat when it decides, with the true cards.
    pub(crate) fn believe(&mut self, view: &Observation<'_>, truth: &State) -> CardProbabilities {
        let spots: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
        let even: Vec<State> = (0..WORLDS).map(|_| self.knowledge.sample(view, &mut self.stream)).collect();
        let draw = SamplingSettings { worlds: WORLDS, proposals: 5 * WORLDS, ..SamplingSettings::default() };
        let inferred = self.inference.as_ref().map(|inference| inference.draw(view, &mut self.policy, &draw, 0));
        let (points, lowest) = points_in(inferred.as_ref().unwrap_or(&even), view.seat());
        let mut inferred = inferred.map(|worlds| self.classes.shares(&worlds, &spots).into_iter());
        let even = self.classes.shares(&even, &spots);
        let unseen = spots.iter().zip(even).filter_map(|(&spot, even)| {
            let inferred = inferred.as_mut().and_then(Iterator::next);
            let truth = self.classes.of[truth.face(spot)?.kind()];
            Some(UnseenCard { spot: spot.to_string(), truth, even, inferred })
        });
        CardProbabilities { unseen: unseen.collect(), classes: self.classes.names.clone(), points, lowest }
    }
}

#[cfg(test)]
mod tests {
    use cambio_core::Event;
    use cambio_core::engine::{Dice, Setup};
    use cambio_core::rng::{Key, Purpose};

    use super::*;

    #[test]
    fn a_card_that_was_kept_is_believed_to_be_low_and_shares_are_of_one_whole() {
        let rules = Rules::preset("classic").unwrap();
        let key = Key::new(1, 0);
        let stream = key.agent(Seat::B);
        let mut believer = BeliefTracker::new(&Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream });
        let mut dice = Dice(key.stream(Purpose::Deck, 0));
        let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut |event: &Event<Card>| {
            believer.notice(&event.seen_from(Seat::B));
        })
        .unwrap();
        for decision in ["draw", "keep a1"] {
            believer.spectate(state.table());
            let mut sink = |event: &Event<Card>| believer.notice(&event.seen_from(Seat::B));
            state.apply(decision.parse().unwrap(), &mut dice, &mut sink).unwrap();
        }
        let beliefs = believer.believe(&state.observe(Seat::B), &state);
        // The classes are 2 to 10, aces, jacks, queens, jokers, and the kings of each colour if their points differ.
        assert!(beliefs.classes.len() >= 13 && beliefs.unseen.len() == 6, "{beliefs:?}");
        let points: Vec<i32> = beliefs
            .classes
            .iter()
            .map(|class| {
                let kinds = (0..rules.kinds().len()).filter_map(Card::new);
                let mut of = kinds.filter(|card| {
                    let rank = &rules.kind(*card).rank;
                    class == rank || *class == format!("{rank} ({})", rules.points(*card))
                });
                rules.points(of.next().unwrap())
            })
            .collect();
        for unseen in &beliefs.unseen {
            let spot: Spot = unseen.spot.parse().unwrap();
            let card = state.face(spot).unwrap();
            assert_eq!(points[unseen.truth], rules.points(card), "{unseen:?}");
            let mean = |shares: &[f64]| {
                shares.iter().zip(&points).map(|(share, points)| share * f64::from(*points)).sum::<f64>()
            };
            let inferred = unseen.inferred.as_ref().unwrap();
            for shares in [&unseen.even, inferred] {
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{unseen:?}");
            }
            assert!(mean(&unseen.even) > 5.0, "only the remaining cards are known: {unseen:?}");
            if unseen.spot == "a1" {
                assert!(mean(inferred) < 4.0, "a kept card is likely to be low: {unseen:?}");
            }
        }
        assert!(beliefs.unseen.iter().any(|unseen| unseen.spot == "a1"));

        // The seat's own points: its known cards, and the means of those that it does not know.
        let view = state.observe(Seat::B);
        let known: i32 = view
            .known()
            .iter_from(Seat::B)
            .filter(|spot| spot.seat() == Seat::B)
            .map(|spot| rules.points(state.face(spot).unwrap()))
            .sum();
        let expected = |seat: char| -> f64 {
            let of_seat = beliefs.unseen.iter().filter(|unseen| unseen.spot.starts_with(seat));
            of_seat
                .map(|unseen| {
                    unseen
                        .inferred
                        .as_ref()
                        .unwrap()
                        .iter()
                        .zip(&points)
                        .map(|(share, points)| share * f64::from(*points))
                        .sum::<f64>()
                })
                .sum()
        };
        assert!((beliefs.points[0] - expected('a')).abs() < 1e-9, "{beliefs:?}");
        assert!((beliefs.points[1] - expected('b') - f64::from(known)).abs() < 1e-9, "{beliefs:?}");
        assert!(
            (0.0..=1.0).contains(&beliefs.lowest) && (beliefs.lowest > 0.5) == (beliefs.points[1] < beliefs.points[0]),
            "{beliefs:?}"
        );
    }
}
