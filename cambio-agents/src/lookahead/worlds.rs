//! Worlds, drawn in proportion to how likely they make what the other seats decided.

use std::collections::BTreeMap;

use cambio_core::{Card, Knowledge, Observation, Spot, State};

use super::moments::{Moment, Moments};
use crate::bits::Bits;
use crate::learned::{MatchStanding, Network, Weighing};

/// How a network is taken to decide: each candidate with a probability proportional to exp(logit / temperature), but for a
/// share ε, which is spread evenly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Softness {
    pub(super) temperature: f64,
    pub(super) epsilon: f64,
}

/// What the searching seat assumes of the others: they play by this network, from these standings of the match.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    pub(super) network: &'a Network,
    pub(super) standings: &'a [MatchStanding],
    pub(super) softness: Softness,
}

/// How many worlds are drawn, out of how many, and how many decisions of other seats tell of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sizes {
    pub(super) worlds: usize,
    pub(super) proposals: usize,
    pub(super) last: usize,
}

/// A decision of another seat that depends on cards that the searching seat does not know, and how likely it was by the
/// cards that it depends on.
struct Evidence<'m> {
    moment: &'m Moment,
    /// The numbers of those cards.
    open: Vec<u16>,
    /// By the kinds of those cards, seven bits each.
    likelihoods: BTreeMap<u128, f64>,
}

/// So many kinds fit into a key.
const MOST_OPEN: usize = 18;

impl Evidence<'_> {
    fn likelihood(&mut self, others: &Others<'_>, faces: &[Option<Card>], weighing: &mut Weighing) -> f64 {
        let kind = |number: &u16| faces[usize::from(*number)].map_or(127, |card| card.kind() as u128);
        let key = self.open.iter().fold(0, |key, number| key << 7 | kind(number));
        let moment = self.moment;
        *self.likelihoods.entry(key).or_insert_with(|| likelihood(moment, others, faces, weighing))
    }
}

/// How likely the decision of a moment was if these are the cards.
fn likelihood(moment: &Moment, others: &Others<'_>, faces: &[Option<Card>], weighing: &mut Weighing) -> f64 {
    let (view, Softness { temperature, epsilon }) = (moment.in_world(faces), others.softness);
    let standing = &others.standings[moment.seat.index()];
    others.network.weigh(&view, &moment.history, standing, weighing);
    let number = weighing.actions().len() as f64;
    let Some(place) = weighing.place_of(others.network.inputs(), &view, moment.action) else {
        return epsilon / (number + 1.0);
    };
    let best = weighing.logits().fold(f64::NEG_INFINITY, f64::max);
    let weight = |logit: f64| libm::exp((logit - best) / temperature);
    let all: f64 = weighing.logits().map(weight).sum();
    let own = weighing.logits().nth(place).map_or(0.0, weight);
    (1.0 - epsilon) * own / all + epsilon / number
}

/// Draws worlds that the seat cannot tell from the true one. From `proposals` even draws it takes `worlds`, in proportion to
/// how likely each makes the last `last` decisions of other seats that depend on what it does not know (sampling, importance
/// resampling: Rubin 1987). Without such decisions it takes `worlds` even draws.
pub(super) fn draw(
    view: &Observation<'_>,
    knowledge: &Knowledge,
    moments: &Moments,
    others: &Others<'_>,
    sizes: Sizes,
    base: u64,
    weighing: &mut Weighing,
) -> Vec<State> {
    let unknown: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
    let Sizes { worlds, proposals, last } = sizes;
    let mut evidence = evidence(moments, &unknown, last);
    if evidence.is_empty() {
        return (0..worlds as u32).map(|number| knowledge.sample(view, &mut Bits::new(base, number))).collect();
    }
    let mut faces = moments.cards.faces().to_vec();
    let mut shares = Vec::with_capacity(proposals);
    let proposed: Vec<State> = (0..proposals as u32)
        .map(|number| {
            let world = knowledge.sample(view, &mut Bits::new(base, number));
            for &spot in &unknown {
                faces[usize::from(moments.cards.at(spot))] = world.face(spot);
            }
            let of_each = evidence.iter_mut().map(|evidence| evidence.likelihood(others, &faces, weighing));
            shares.push(of_each.product::<f64>());
            world
        })
        .collect();
    resample(&shares, worlds).map(|place| proposed[place].clone()).collect()
}

/// The last of the decisions of others that depend on cards in these spots.
fn evidence<'m>(moments: &'m Moments, unknown: &[Spot], last: usize) -> Vec<Evidence<'m>> {
    let mut is_open = vec![false; moments.cards.faces().len()];
    for &spot in unknown {
        is_open[usize::from(moments.cards.at(spot))] = true;
    }
    let of = |moment: &'m Moment| {
        let open: Vec<u16> = moment.known().filter(|&number| is_open[usize::from(number)]).collect();
        let fits = !open.is_empty() && open.len() <= MOST_OPEN;
        fits.then(|| Evidence { moment, open, likelihoods: BTreeMap::new() })
    };
    moments.past().iter().rev().filter_map(of).take(last).collect()
}

/// So many places, each as often as its share of the whole says, to within one: systematic resampling (Carpenter, Clifford
/// and Fearnhead 1999).
fn resample(shares: &[f64], number: usize) -> impl Iterator<Item = usize> {
    let step = shares.iter().sum::<f64>() / number as f64;
    let (mut place, mut upto) = (0, shares.first().copied().unwrap_or(0.0));
    (0..number).map(move |drawn| {
        let ticket = step * (drawn as f64 + 0.5);
        while upto < ticket && place + 1 < shares.len() {
            place += 1;
            upto += shares[place];
        }
        place
    })
}

#[cfg(test)]
mod tests {
    use cambio_core::rng::{Bounded as _, Key as RngKey, Purpose};
    use cambio_core::{Dice, Event, History, Rules, Seat, Setup};

    use super::*;
    use crate::learned::{Floats, Inputs};

    /// Where everybody plays as assumed, what they did is on average more likely in the true world than in another.
    #[test]
    fn decisions_tell_of_cards() {
        let rules = Rules::preset("classic").unwrap();
        let inputs = Inputs::new(&rules);
        let mut floats = Floats::zero(inputs.count());
        let mut stream = RngKey::new(7, 0).stream(Purpose::Agent, 0);
        let mut next = |scale: f32| (stream.below(2001) as f32 / 1000.0 - 1.0) * scale;
        floats.rows.iter_mut().for_each(|weight| *weight = next(0.5));
        floats.second.iter_mut().for_each(|weight| *weight = next(0.5));
        floats.last.iter_mut().for_each(|weight| *weight = next(0.5));
        let network = Network::new(&inputs, &floats);
        let standings = [inputs.standing(&[], Seat::A), inputs.standing(&[], Seat::B)];
        let softness = Softness { temperature: 0.05, epsilon: 0.01 };
        let others = Others { network: &network, standings: &standings, softness };
        let (mut gain, mut told, mut weighing) = (0.0, 0, Weighing::default());
        for deal in 0..60 {
            let key = RngKey::new(7, deal);
            let mut deck = rules.deck().to_vec();
            key.stream(Purpose::Deck, 0).shuffle(&mut deck);
            let mut dice = Dice(key.stream(Purpose::Race, 0));
            let mut knowledge = Knowledge::new(&rules, 2, Seat::B);
            let mut moments = Moments::new(History::new(&rules, 2));
            let mut hear = |event: &Event<Card>| {
                knowledge.notice(&event.seen_from(Seat::B));
                moments.notice(&event.seen_from(Seat::B));
            };
            let mut state = State::deal(&Setup::new(&rules, 2), &deck, &mut dice, &mut hear).unwrap();
            while let Some(seat) = state.actor().filter(|_| state.table().turns() < 40) {
                if seat == Seat::B {
                    let view = state.observe(seat);
                    let unknown: Vec<Spot> =
                        view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
                    let mut faces = moments.cards.faces().to_vec();
                    let mut fill = |world: &State| {
                        for &spot in &unknown {
                            faces[usize::from(moments.cards.at(spot))] = world.face(spot);
                        }
                        faces.clone()
                    };
                    let truth = fill(&state);
                    let worlds: Vec<_> =
                        (0..20).map(|number| fill(&knowledge.sample(&view, &mut Bits::new(deal, number)))).collect();
                    for mut evidence in evidence(&moments, &unknown, 3) {
                        let mut of = |faces: &[Option<Card>]| evidence.likelihood(&others, faces, &mut weighing);
                        let mean = worlds.iter().map(|faces| of(faces)).sum::<f64>() / worlds.len() as f64;
                        gain += (of(&truth) / mean).ln();
                        told += 1;
                    }
                } else {
                    moments.spectate(state.table());
                }
                let view = state.view(seat);
                network.weigh(&view, &moments.history, &standings[seat.index()], &mut weighing);
                let action = weighing.choose(&inputs, &view);
                let mut hear = |event: &Event<Card>| {
                    knowledge.notice(&event.seen_from(Seat::B));
                    moments.notice(&event.seen_from(Seat::B));
                };
                state.apply(action, &mut dice, &mut hear).unwrap();
            }
        }
        let gain = gain / f64::from(told);
        println!("{told} decisions, {gain} nats each");
        assert!(told > 500 && gain > 0.05, "{told} decisions, {gain} nats each");
    }

    #[test]
    fn places_are_drawn_as_their_shares_say() {
        let drawn: Vec<usize> = resample(&[1.0, 0.0, 3.0, 4.0], 8).collect();
        assert_eq!(drawn, [0, 2, 2, 2, 3, 3, 3, 3]);
        assert_eq!(resample(&[0.5], 3).collect::<Vec<_>>(), [0, 0, 0]);
    }
}
