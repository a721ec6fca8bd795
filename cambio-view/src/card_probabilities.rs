//! A seat's beliefs about the cards that it does not see, together with the true cards.

use std::collections::BTreeSet;

use cambio_agents::{Inference, NetworkPolicy, Policy as _, SamplingSettings};
use cambio_core::rng::Stream;
use cambio_core::{Briefing, Card, Knowledge, Observation, Rules, Seat, Sighting, Spot, Standing, State, Table};
use serde::Serialize;

const WORLDS: usize = 600;

/// A seat's beliefs about the cards that it does not see. Cards of the same rank and points form one class.
#[derive(Serialize, Clone, Debug)]
pub(crate) struct CardProbabilities {
    /// The names of the classes, the fewest points first.
    classes: Vec<String>,
    unseen: Vec<UnseenCard>,
    /// The expected points of the cards of each seat, seat a first.
    points: Vec<f64>,
    /// The probability that this seat has the fewest points, if the cards were counted now. Each of `k` tied seats counts 1 / `k`.
    lowest: f64,
    /// The number of simulated deals behind `points` and `lowest`.
    deals: usize,
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
    /// The exact probabilities given only the cards that the seat has seen.
    even: Vec<f64>,
    /// The probabilities given also the other seats' decisions, if they play like `learned`; `None` if the
    /// program has no network.
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

    /// For each class, the share of the cards.
    fn shares_of(&self, cards: impl Iterator<Item = Card>) -> Vec<f64> {
        let mut shares = vec![0.0; self.names.len()];
        for card in cards {
            shares[self.of[card.kind()]] += 1.0;
        }
        let all: f64 = shares.iter().sum();
        shares.into_iter().map(|share| share / all).collect()
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
        let draw = SamplingSettings { worlds: WORLDS, proposals: 5 * WORLDS, ..SamplingSettings::default() };
        let inferred = self.inference.as_ref().map(|inference| inference.draw(view, &mut self.policy, &draw, 0));
        let mut shares = inferred.as_ref().map(|worlds| self.classes.shares(worlds, &spots).into_iter());
        let worlds =
            inferred.unwrap_or_else(|| (0..WORLDS).map(|_| self.knowledge.sample(view, &mut self.stream)).collect());
        let (points, lowest) = points_in(&worlds, view.seat());
        let unseen = spots.iter().filter_map(|&spot| {
            let even = self.classes.shares_of(self.knowledge.candidates(spot));
            let inferred = shares.as_mut().and_then(Iterator::next);
            let truth = self.classes.of[truth.face(spot)?.kind()];
            Some(UnseenCard { spot: spot.to_string(), truth, even, inferred })
        });
        CardProbabilities {
            unseen: unseen.collect(),
            classes: self.classes.names.clone(),
            points,
            lowest,
            deals: worlds.len(),
        }
    }
}

#[cfg(test)]
mod tests;
