//! Belief: the probabilities of the cards that a seat does not know, inferred from the decisions of the other seats.
//!
//! [`Knowledge`] contains the certain facts; belief adds probabilities. It assumes that the other seats are heuristics
//! with known parameters. For each decision of another seat, it computes the likelihood of the decision for each card
//! that the seat could have had. For example, a card that was kept when a 9 was given away is probably not a king, and
//! a card that was not snapped probably does not match the card that opened the window. A seat makes the decision of
//! the assumed heuristic with probability 1 − ε, and otherwise each alternative with equal probability, so that no
//! style of play is considered impossible. Evidence belongs to a card and moves with it.
//!
//! Worlds are drawn in proportion to the product of the evidence and of the probability of the calls: by rejection if few
//! cards have evidence, otherwise by Metropolis–Hastings exchanges.

use cambio_core::engine::{Motion, SnapRights, WindowSign};
use cambio_core::rules::{MAX_KINDS, MAX_SEATS, SPOTS};
use cambio_core::{
    Briefing, Card, Event, Knowledge, Observation, Rules, Seat, SeatSet, Sighting, Spot, SpotSet, State,
};
use rand::Rng;

use crate::heuristic::HeuristicParams;

/// The play that belief assumes of the other seats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Likelihood {
    /// The parameters of the assumed heuristic.
    pub blueprint: HeuristicParams,
    /// The probability ε that a decision does not follow this heuristic, from 0 to 1. With 1, nothing is inferred.
    pub epsilon: f64,
}

impl Default for Likelihood {
    /// The default heuristic, and ε = 0.15. Among the values tried (0.1 to 0.3), 0.15 loses little strength, both
    /// against players that forget and against players that follow the assumed heuristic.
    fn default() -> Likelihood {
        Likelihood { blueprint: HeuristicParams::default(), epsilon: 0.15 }
    }
}

/// The assumed probability that a seat has forgotten a card that it saw earlier. Among the values tried (0 to 0.3), 0.2
/// does no harm against players that forget three cards in ten at every turn.
const FORGOTTEN: f64 = 0.2;

/// The belief of one seat about the cards that it does not know.
///
/// Pass each sighting of the seat to [`Belief::notice`]. For each decision, call [`Belief::prepare`] once, then
/// [`Belief::sample`] for each world.
///
/// ```
/// use cambio_agents::{Belief, Likelihood};
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Briefing, Card, Event, Rules, Seat, State, engine::{Dice, Setup}};
///
/// let rules = Rules::preset("classic").unwrap();
/// let key = Key::new(1, 0);
/// let stream = key.agent(Seat::B);
/// let briefing = Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream };
/// let mut belief = Belief::new(&briefing, Likelihood::default());
///
/// let mut dice = Dice(key.stream(Purpose::Deck, 0));
/// let mut sink = |event: &Event<Card>| belief.notice(&event.seen_from(Seat::B));
/// // The sorted deck, for a fixed example; a real game shuffles it.
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut sink).unwrap();
/// state.apply("draw".parse().unwrap(), &mut dice, &mut sink).unwrap();
/// state.apply("keep a1".parse().unwrap(), &mut dice, &mut sink).unwrap();
///
/// // Seat a kept a card, so a low card is more likely.
/// let spot = "a1".parse().unwrap();
/// let card = |label| (0..rules.kinds().len()).filter_map(Card::new).find(|&card| rules.label(card) == label).unwrap();
/// assert!(belief.weight(spot, card("2c")) > belief.weight(spot, card("Kc")));
///
/// belief.prepare();
/// let world = belief.sample(&state.observe(Seat::B), &mut dice.0);
/// assert!(world.face(spot).is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Belief {
    likelihood: Likelihood,
    knowledge: Knowledge,
    rules: Rules,
    /// The evidence: a weight for each kind of card in each spot. Only the ratios of weights within a spot have a meaning.
    weights: Vec<[f32; MAX_KINDS]>,
    /// The spots with evidence.
    marked: SpotSet,
    /// The top card of the pile, if it can be taken.
    top: Option<Card>,
    rights: SnapRights,
    /// The current or next snap window: the card that opens it, and the seats that have snapped in it.
    window: Option<(Card, SeatSet)>,
    sampler: Sampler,
}

impl Belief {
    /// The belief of the briefing's seat before a round.
    pub fn new(briefing: &Briefing<'_>, likelihood: Likelihood) -> Belief {
        let rules = briefing.rules;
        Belief {
            likelihood,
            knowledge: Knowledge::new(rules, briefing.seats, briefing.seat),
            rules: *rules,
            weights: vec![NO_EVIDENCE; SPOTS],
            marked: SpotSet::EMPTY,
            top: None,
            rights: SnapRights::new(rules, briefing.seats),
            window: None,
            sampler: Sampler {
                spots: Vec::new(),
                tables: AliasTables::default(),
                weights: Vec::new(),
                points: Vec::new(),
                calls: Calls::none(briefing.seat, 0.0),
            },
        }
    }

    /// The certain knowledge of the seat.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The weight that the evidence gives to this card in this spot; 1 without evidence. Only ratios between the cards
    /// of one spot have a meaning.
    pub fn weight(&self, spot: Spot, card: Card) -> f64 {
        f64::from(self.weights[spot.index()][card.kind()])
    }

    /// Updates the belief with a sighting of the seat.
    ///
    /// # Panics
    /// If the sighting contradicts earlier ones, because it comes from another table or seat, or out of order.
    pub fn notice(&mut self, sighting: &Sighting) {
        if self.likelihood.epsilon < 1.0 {
            self.infer(*sighting);
        }
        self.knowledge.notice(sighting);
        self.carry(*sighting);
    }

    /// Adds the evidence of a decision, before the decision changes the table.
    fn infer(&mut self, sighting: Sighting) {
        let own = self.knowledge.seat();
        let (blueprint, rules) = (self.likelihood.blueprint, self.rules);
        if self.rules.window_sign(&sighting) == WindowSign::Closes {
            self.close_window();
        }
        match sighting {
            // The seat did not take the top card, so no card that it knows in its layout is `take_gain` points worse.
            Event::Drew { seat, .. } if seat != own => {
                if let (Some(top), true) = (self.top, self.rules.spec().take) {
                    let most = self.points(top) + blueprint.take_gain;
                    self.bound(seat, None, |points| points < most);
                }
            }
            // The seat dropped the drawn card, so replacing a known card with it would have gained too little.
            Event::Dropped { seat, card } if seat != own && self.knowledge.holds_unknown() => {
                let power = if rules.power(card).is_none() { 0.0 } else { blueprint.power_worth.max(0.0) };
                let most = self.points(card) + blueprint.keep_gain + power;
                self.bound(seat, None, |points| points <= most);
            }
            // The seat kept a card in this spot, so the replaced card was the worst card that it knew, or an unknown
            // card that it expected to be worse.
            Event::Kept { seat, spot, replaced } if seat != own => {
                let knew = self.knowledge.seen(seat).contains(spot);
                let worth = if knew { self.points(replaced) } else { self.mean() + blueprint.curiosity };
                self.bound(seat, Some(spot), |points| points <= worth);
                self.flatten(spot);
                if self.knowledge.holds_unknown() {
                    // The kept card saves points in this spot, and the seat knows the card from now on.
                    self.weigh(spot, self.likelihood.epsilon, |card| {
                        let gain = worth - points(&rules, card) - blueprint.keep_gain;
                        gain > 0.0 && gain > if rules.power(card).is_none() { 0.0 } else { blueprint.power_worth }
                    });
                }
            }
            Event::Swapped { seat, one, other } if seat != own && (one.seat() == seat) != (other.seat() == seat) => {
                let (mine, theirs) = if one.seat() == seat { (one, other) } else { (other, one) };
                self.infer_swap(seat, mine, theirs);
            }
            Event::Gave { seat, from, .. } if seat != own => {
                let knew = self.knowledge.seen(seat).contains(from);
                match (knew, self.knowledge.face(from)) {
                    (true, Some(card)) => {
                        let most = self.points(card);
                        self.bound(seat, Some(from), |points| points <= most);
                    }
                    (true, None) => {
                        let unknown = self.layout(seat).without(self.knowledge.seen(seat));
                        if !unknown.is_empty() {
                            let least = self.mean() + blueprint.curiosity;
                            self.bound_spot(from, |points| points >= least);
                        }
                    }
                    (false, _) => {
                        let most = self.mean() + blueprint.curiosity;
                        self.bound(seat, Some(from), |points| points <= most);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds the evidence of a swap of one's own card for another seat's card: the seat expected to save points.
    fn infer_swap(&mut self, seat: Seat, mine: Spot, theirs: Spot) {
        let blueprint = self.likelihood.blueprint;
        let seen = self.knowledge.seen(seat);
        let (knew_mine, knew_theirs) = (seen.contains(mine), seen.contains(theirs));
        let worth = |belief: &Belief, spot: Spot, knew: bool| match (knew, belief.knowledge.face(spot)) {
            (true, Some(card)) => Some(belief.points(card)),
            (true, None) => None,
            (false, _) if spot.seat() == seat => Some(belief.mean() + blueprint.curiosity),
            (false, _) if belief.knowledge.seen(spot.seat()).contains(spot) => Some(belief.mean() - blueprint.hoard),
            (false, _) => Some(belief.mean()),
        };
        let (gives, gets) = (worth(self, mine, knew_mine), worth(self, theirs, knew_theirs));
        if let (true, Some(gets)) = (knew_mine, gets) {
            self.bound_spot(mine, |points| points >= gets + blueprint.swap_gain);
        }
        if let (true, Some(gives)) = (knew_theirs, gives) {
            self.bound_spot(theirs, |points| points <= gives - blueprint.swap_gain);
        }
        if let Some(gives) = gives {
            self.bound(seat, Some(mine), |points| points <= gives);
        }
    }

    /// Adds the evidence of a closed window: a seat that declared nothing knew no card that it could snap with a gain.
    fn close_window(&mut self) {
        let Some((opener, snapped)) = self.window.take() else { return };
        let own = self.knowledge.seat();
        for seat in self.rights.seats().without(snapped).iter_from(own).filter(|&seat| seat != own) {
            let targets = self.rights.targets(seat, self.knowledge.occupied());
            for spot in self.unknown_to_me(self.knowledge.seen(seat)).intersection(targets).iter_from(own) {
                let is_own = spot.seat() == seat;
                let rules = self.rules;
                self.weigh(spot, self.doubt(), |card| {
                    let saves = !is_own || rules.points(card) > 0;
                    !(saves && rules.match_each_other(opener, card, is_own))
                });
            }
        }
    }

    /// Moves the evidence with the cards.
    fn carry(&mut self, sighting: Sighting) {
        match sighting.motion() {
            Motion::Dealt { .. } => {
                self.weights.fill(NO_EVIDENCE);
                self.marked = SpotSet::EMPTY;
                self.top = None;
                self.window = None;
            }
            // `infer` has already replaced the evidence of a spot in which a card is kept.
            Motion::Flipped { card } | Motion::Dropped { card } | Motion::Kept { replaced: card, .. } => {
                self.top = Some(card);
            }
            Motion::Taken { .. } => self.top = None,
            Motion::Discarded { spot, card } => {
                self.top = if self.rules.spec().freeze { None } else { Some(card) };
                self.flatten(spot);
            }
            Motion::Exchanged { one, other } => self.swap(one, other),
            Motion::Moved { from, to } => {
                self.swap(from, to);
                self.flatten(from);
            }
            Motion::Added { spot } => self.flatten(spot),
            Motion::Seen { .. }
            | Motion::Shown { .. }
            | Motion::Drawn { .. }
            | Motion::Reshuffled { .. }
            | Motion::Nothing => {}
        }
        match self.rules.window_sign(&sighting) {
            WindowSign::Opens(opener) => self.window = Some((opener, SeatSet::EMPTY)),
            WindowSign::Snaps(seat) => {
                if let Some((_, snapped)) = &mut self.window {
                    snapped.insert(seat);
                }
            }
            WindowSign::Closes | WindowSign::None => {}
        }
        self.rights.notice(&sighting);
    }

    fn points(&self, card: Card) -> f64 {
        points(&self.rules, card)
    }

    /// The mean points of the cards that this seat has not seen.
    fn mean(&self) -> f64 {
        let unseen = self.knowledge.stock_candidates();
        let points: f64 = unseen.iter().map(|&card| self.points(card)).sum();
        if unseen.is_empty() { 0.0 } else { points / unseen.len() as f64 }
    }

    fn layout(&self, seat: Seat) -> SpotSet {
        self.knowledge.occupied().intersection(SpotSet::of_seat(seat))
    }

    fn unknown_to_me(&self, spots: SpotSet) -> SpotSet {
        spots.without(self.knowledge.known())
    }

    /// Adds the evidence of a decision to each card in the seat's layout that the seat knows, except in the spot `but`.
    /// `agrees` returns whether the decision agrees with the points of the card.
    fn bound(&mut self, seat: Seat, but: Option<Spot>, agrees: impl Fn(f64) -> bool) {
        let own = self.layout(seat).intersection(self.knowledge.seen(seat));
        for spot in self.unknown_to_me(own).iter_from(seat).filter(|&spot| Some(spot) != but) {
            self.bound_spot(spot, &agrees);
        }
    }

    fn bound_spot(&mut self, spot: Spot, agrees: impl Fn(f64) -> bool) {
        if self.knowledge.known().contains(spot) {
            return;
        }
        let rules = self.rules;
        self.weigh(spot, self.doubt(), |card| agrees(points(&rules, card)));
    }

    /// Adds the evidence of a decision about a card: a kind that contradicts the decision loses weight. The decision has
    /// probability 1 − ε/2 if the kind agrees with it, otherwise ε/2.
    fn weigh(&mut self, spot: Spot, epsilon: f64, agrees: impl Fn(Card) -> bool) {
        const LEAST: f32 = 1e-12;
        self.marked.insert(spot);
        let miss = (epsilon / (2.0 - epsilon)) as f32;
        let cards = (0..self.rules.kinds().len()).filter_map(Card::new);
        for (weight, card) in self.weights[spot.index()].iter_mut().zip(cards) {
            if !agrees(card) {
                *weight = (*weight * miss).max(LEAST);
            }
        }
    }

    /// Removes the evidence for one spot.
    fn flatten(&mut self, spot: Spot) {
        self.weights[spot.index()] = NO_EVIDENCE;
        self.marked.remove(spot);
    }

    /// Swaps the evidence of two spots, whose cards are swapped.
    fn swap(&mut self, one: Spot, other: Spot) {
        self.weights.swap(one.index(), other.index());
        self.marked.swap(one, other);
    }

    /// ε for a decision about a card that the seat saw earlier and may have forgotten.
    fn doubt(&self) -> f64 {
        let epsilon = self.likelihood.epsilon;
        epsilon + (1.0 - epsilon) * FORGOTTEN
    }

    /// Prepares to draw worlds for one decision. It must be called before [`Belief::sample`].
    pub fn prepare(&mut self) {
        let calls = self.calls();
        // A card that a caller knew affects the caller's expected sum, with or without other evidence.
        let marked = self.marked.intersection(self.knowledge.occupied()).without(self.knowledge.known());
        let Belief { sampler, knowledge, weights, rules, .. } = self;
        sampler.spots.clear();
        sampler.spots.extend(marked.union(calls.spots).iter_from(knowledge.seat()));
        sampler.calls = calls;
        // The unseen cards and their order are the same for every spot.
        let first = sampler.spots.first().map(|&spot| knowledge.unseen(spot));
        sampler.points.clear();
        sampler.points.extend(first.into_iter().flatten().map(|(card, _)| points(rules, card)));
        sampler.weights.clear();
        sampler.tables.clear(sampler.points.len());
        for &spot in &sampler.spots {
            let (row, from) = (&weights[spot.index()], sampler.weights.len());
            let weight = |(card, fits): (Card, bool)| if fits { f64::from(row[card.kind()]) } else { 0.0 };
            sampler.weights.extend(knowledge.unseen(spot).map(weight));
            sampler.tables.append(&sampler.weights[from..]);
        }
    }

    /// The evidence of this round's calls about cards that this seat does not know.
    fn calls(&self) -> Calls {
        let epsilon = self.likelihood.epsilon;
        let mut calls = Calls::none(self.knowledge.seat(), epsilon / 2.0);
        if epsilon >= 1.0 {
            return calls;
        }
        let knowledge = &self.knowledge;
        for seat in self.rights.callers().iter_from(knowledge.seat()).filter(|&seat| seat != knowledge.seat()) {
            let layout = self.layout(seat);
            let knew = layout.intersection(knowledge.seen(seat));
            let hidden = self.unknown_to_me(knew);
            if !hidden.is_empty() {
                let faces = knew.iter_from(seat).filter_map(|spot| knowledge.face(spot));
                let seen: f64 = faces.map(|card| self.points(card)).sum();
                calls.rest[seat.index()] = seen + self.mean() * layout.without(knew).len() as f64;
                calls.callers.insert(seat);
                calls.spots = calls.spots.union(hidden);
            }
        }
        calls
    }

    /// Draws a world from the seat's information set, in proportion to the evidence. It allocates nothing.
    ///
    /// # Panics
    /// If [`Belief::prepare`] was not called before, or `view` belongs to another seat or table.
    #[inline]
    pub fn sample(&self, view: &Observation<'_>, rng: &mut impl Rng) -> State {
        let (sampler, cards) = (&self.sampler, self.sampler.spots.len());
        // Clearing an array for every spot of the table would take longer than a draw of five cards.
        let (mut few, mut many);
        let placed = if cards <= MAX_EXACT_SPOTS {
            few = [(UNUSED_SPOT, 0); MAX_EXACT_SPOTS];
            &mut few[..cards]
        } else {
            many = [(UNUSED_SPOT, 0); SPOTS];
            &mut many[..cards]
        };
        let is_drawn = cards <= MAX_EXACT_SPOTS && (0..EXACT_TRIES).any(|_| sampler.draw_exactly(placed, rng));
        if !is_drawn {
            sampler.draw_by_sweeps(placed, rng);
        }
        self.knowledge.sample_around(view, rng, placed)
    }
}

/// The weights of a spot without evidence.
const NO_EVIDENCE: [f32; MAX_KINDS] = [1.0; MAX_KINDS];

fn points(rules: &Rules, card: Card) -> f64 {
    f64::from(rules.points(card))
}

/// Up to this many cards with evidence are drawn exactly.
const MAX_EXACT_SPOTS: usize = 5;

/// The number of exact draws that are tried before sweeps are used instead. Most tries fail if the evidence favours the
/// same few cards in many spots, or if a call was improbable.
const EXACT_TRIES: usize = 64;

/// The number of sweeps for a world.
const SWEEPS: usize = 3;

/// A placeholder for unused entries.
const UNUSED_SPOT: Spot = Spot::new(Seat::A, 1).expect("a seat has a first slot");

/// The cards with evidence at one decision, and their weights.
#[derive(Clone, Debug)]
struct Sampler {
    spots: Vec<Spot>,
    /// One table for each spot, over the unseen cards.
    tables: AliasTables,
    /// For each spot the weight of each unseen card.
    weights: Vec<f64>,
    /// The points of the unseen cards.
    points: Vec<f64>,
    calls: Calls,
}

impl Sampler {
    /// Draws a card for each spot independently, and returns whether the draw is accepted: all cards must differ, and
    /// then the draw is accepted with the probability of the calls. Accepted draws have exactly the distribution of the
    /// evidence.
    #[inline]
    fn draw_exactly(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) -> bool {
        for number in 0..placed.len() {
            let card = self.tables.draw(number, rng);
            if placed[..number].iter().any(|&(_, other)| other == card) {
                return false;
            }
            placed[number] = (self.spots[number], card);
        }
        self.calls.callers.is_empty() || bernoulli(self.calls.probability(placed, &self.points), rng)
    }

    /// Draws different cards for the spots one by one, then corrects the draw by sweeps: for each spot another card is
    /// proposed in proportion to its evidence. If another spot has the proposed card, the two spots exchange their
    /// cards (Metropolis et al. 1953, Hastings 1970).
    fn draw_by_sweeps(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) {
        for number in 0..placed.len() {
            let is_free = |placed: &[(Spot, usize)], card| placed[..number].iter().all(|&(_, other)| other != card);
            let drawn = (0..8).map(|_| self.tables.draw(number, rng)).find(|&card| is_free(placed, card));
            let row = &self.weights[number * self.points.len()..][..self.points.len()];
            let any = || (0..row.len()).find(|&card| row[card] > 0.0 && is_free(placed, card));
            let card = drawn.or_else(any).expect("an epoch has an unseen card for each spot that holds one");
            placed[number] = (self.spots[number], card);
        }
        let weight = |number: usize, card: usize| self.weights[number * self.points.len() + card];
        let mut called = self.calls.probability(placed, &self.points);
        for _ in 0..SWEEPS {
            for number in 0..placed.len() {
                let (old, new) = (placed[number].1, self.tables.draw(number, rng));
                let holder = placed.iter().position(|&(_, card)| card == new);
                // The proposal is in proportion to the evidence, so the evidence cancels if the card is free.
                let ratio = holder.map_or(1.0, |holder| {
                    let (gives, gets) = (weight(holder, new), weight(holder, old));
                    gets / gives
                });
                placed[number].1 = new;
                if let Some(holder) = holder.filter(|&holder| holder != number) {
                    placed[holder].1 = old;
                }
                let now = self.calls.probability(placed, &self.points);
                if bernoulli(ratio * now / called, rng) {
                    called = now;
                } else {
                    if let Some(holder) = holder.filter(|&holder| holder != number) {
                        placed[holder].1 = new;
                    }
                    placed[number].1 = old;
                }
            }
        }
    }
}

/// Returns true with this probability; always if the probability is above 1.
#[inline]
fn bernoulli(probability: f64, rng: &mut impl Rng) -> bool {
    probability >= 1.0 || f64::from(rng.next_u32()) < probability * SCALE
}

/// 2³², the scale of thresholds.
const SCALE: f64 = 4_294_967_296.0;

/// Alias tables over the same items, stored one after the other.
#[derive(Clone, Debug, Default)]
struct AliasTables {
    items: usize,
    /// For each item of each table, a threshold out of 2³², and the item that is drawn above the threshold.
    columns: Vec<(u32, u16)>,
    // Buffers of `append`, kept to avoid allocations.
    scaled: Vec<f64>,
    small: Vec<u16>,
    large: Vec<u16>,
}

impl AliasTables {
    /// Removes all tables. The next tables are over `items` items.
    fn clear(&mut self, items: usize) {
        self.items = items;
        self.columns.clear();
    }

    fn append(&mut self, weights: &[f64]) {
        let items = weights.len();
        let total: f64 = weights.iter().sum();
        self.scaled.clear();
        self.small.clear();
        self.large.clear();
        for (index, weight) in weights.iter().enumerate() {
            let scaled = weight * (items as f64 / total);
            self.scaled.push(scaled);
            if scaled < 1.0 { self.small.push(index as u16) } else { self.large.push(index as u16) }
        }
        let first = self.columns.len();
        self.columns.extend((0..items).map(|index| (u32::MAX, index as u16)));
        while let (Some(small), Some(&large)) = (self.small.pop(), self.large.last()) {
            let share = self.scaled[usize::from(small)];
            self.columns[first + usize::from(small)] = ((share * SCALE) as u32, large);
            let rest = &mut self.scaled[usize::from(large)];
            *rest -= 1.0 - share;
            if *rest < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
    }

    /// Draws an item from the table with this number.
    #[inline]
    fn draw(&self, number: usize, rng: &mut impl Rng) -> usize {
        let (items, word) = (self.items, rng.next_u64());
        let column = (((word >> 32) * items as u64) >> 32) as usize;
        let (threshold, other) = self.columns[number * items + column];
        if (word as u32) < threshold { column } else { usize::from(other) }
    }
}

/// A call has probability 1 if the caller's expected sum is at most this.
const EXPECTED_CALL: f64 = 6.0;

/// The calls of a round so far, as one seat sees them.
#[derive(Clone, Copy, Debug)]
struct Calls {
    callers: SeatSet,
    observer: Seat,
    /// The cards that the callers knew and the observer does not know.
    spots: SpotSet,
    /// For each caller, the points that it expected from its other cards.
    rest: [f64; MAX_SEATS],
    /// The lower bound on the probability of a call.
    least: f64,
}

impl Calls {
    /// No calls. A call has at least the probability `least`, because the caller's threshold is unknown.
    const fn none(observer: Seat, least: f64) -> Calls {
        Calls { observer, callers: SeatSet::EMPTY, spots: SpotSet::EMPTY, rest: [0.0; MAX_SEATS], least }
    }

    /// The probability of the calls if these cards lie in these spots. The cards are indices into `points`.
    ///
    /// For each call, the factor is 1 up to [`EXPECTED_CALL`], and falls to `least` over the next eight points.
    #[inline]
    fn probability(&self, placed: &[(Spot, usize)], points: &[f64]) -> f64 {
        const FALLS_OVER: f64 = 8.0;
        let mut probability = 1.0;
        for seat in self.callers.iter_from(self.observer) {
            let of_seat = placed.iter().filter(|(spot, _)| spot.seat() == seat && self.spots.contains(*spot));
            let sum: f64 = of_seat.map(|&(_, card)| points[card]).sum();
            let over = sum + self.rest[seat.index()] - EXPECTED_CALL;
            probability *= (1.0 - over / FALLS_OVER).clamp(self.least, 1.0);
        }
        probability
    }
}
