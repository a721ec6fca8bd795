//! What a seat makes of how the others play: which cards lie where, beyond what it can deduce.
//!
//! [`Knowledge`] is logic; belief is opinion. It takes the other seats for heuristics of one manner, and asks of every
//! decision that it sees how likely it was for each card that the seat could have had: a card kept over one that
//! counts 9 is hardly a king, one that was not snapped is hardly of that rank. A decision has probability
//! (1 − ε) if the manner would have made it and ε besides, shared by the alternatives, so that a player of another
//! manner is never impossible. The evidence lies with the card and travels with it.
//!
//! Worlds are then drawn in proportion to the product of the evidence, and to how likely calls were: exactly where few
//! cards bear any, and by sweeps of exchanges (Metropolis et al. 1953, Hastings 1970) where many do.

use cambio_core::knob::{CallerSnaps, Flip, SnapTargets, Window};
use cambio_core::{
    Briefing, Card, Event, Knowledge, MAX_SEATS, Observation, Seat, SeatSet, Sighting, Spot, SpotSet, State, Verdict,
};
use rand::Rng;

use crate::heuristic::HeuristicParams;

/// How the others are taken to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Likelihood {
    /// The parameters that they are taken to have.
    pub blueprint: HeuristicParams,
    /// The probability with which a decision is taken to be any other, from 0 (never) to 1: nothing is learnt.
    pub epsilon: f64,
}

impl Default for Likelihood {
    /// The default manner, and 15 decisions in 100 of any other: of what was tried (0.1 to 0.3) one that does little
    /// harm among players who forget, and that costs little among players of that blueprint.
    fn default() -> Likelihood {
        Likelihood { blueprint: HeuristicParams::default(), epsilon: 0.15 }
    }
}

/// How often a seat is taken to have forgotten a card that it saw before. Of what was tried (0 to 0.3) the value with which
/// belief does no harm among players who forget three cards in ten at every turn.
const FORGOTTEN: f64 = 0.2;

/// Up to so many cards with evidence are drawn exactly; above, by Metropolis swaps.
const EXACT: usize = 5;

/// How often an exact draw is tried before sweeps take over: where the evidence wants the same few cards in many places,
/// or a call is a surprise, most tries fail.
const TRIES: usize = 64;

/// How many sweeps make a world.
const SWEEPS: usize = 3;

/// Fills places that are not used.
const ANYWHERE: Spot = Spot::new(Seat::A, 1).expect("a seat has a first slot");

/// What one seat believes.
#[derive(Clone, Debug)]
pub struct Belief {
    likelihood: Likelihood,
    knowledge: Knowledge,
    rules: Facts,
    /// For each spot and kind how much the evidence speaks for it, relatively.
    evidence: Vec<[f32; KINDS]>,
    /// The spots of which the evidence says anything.
    marked: SpotSet,
    /// The pile's top, as far as it bears on decisions.
    top: Option<Card>,
    callers: SeatSet,
    /// Who is not asked in windows any more.
    safe: SeatSet,
    /// The window that is open or may be: the card that opened it, and the seats that reached in it.
    window: Option<(Card, SeatSet)>,
    sampler: Sampler,
}

const SPOTS: usize = 128;
const KINDS: usize = cambio_core::MAX_KINDS;

/// What belief has to know of the rules, without borrowing them.
#[derive(Clone, Debug)]
struct Facts {
    points: Vec<f64>,
    /// The kinds that match each kind, as bits: for a card of another seat than the snapper's, then for its own.
    matching: [Vec<u128>; 2],
    has_power: Vec<bool>,
    takes: bool,
    freezes: bool,
    window: Window,
    /// Whether a window opens for the card that the pile begins with.
    flip_window: bool,
    snap_targets: SnapTargets,
    caller_snaps: CallerSnaps,
    seats: usize,
}

impl Belief {
    /// What the seat of this briefing believes before a round.
    pub fn new(briefing: &Briefing<'_>, likelihood: Likelihood) -> Belief {
        let rules = briefing.rules;
        let cards = || (0..rules.kinds().len()).filter_map(Card::new);
        let matching = |shown: Card, is_own: bool| {
            let found = cards().filter(|&card| rules.match_each_other(shown, card, is_own));
            found.fold(0, |kinds, card| kinds | 1_u128 << card.kind())
        };
        let spec = rules.spec();
        Belief {
            likelihood,
            knowledge: Knowledge::new(rules, briefing.seats, briefing.seat),
            rules: Facts {
                points: cards().map(|card| f64::from(rules.points(card))).collect(),
                matching: [false, true].map(|is_own| cards().map(|shown| matching(shown, is_own)).collect()),
                has_power: cards().map(|card| !rules.power(card).is_none()).collect(),
                takes: spec.take,
                freezes: spec.freeze,
                window: spec.window,
                flip_window: spec.flip == Flip::Window,
                snap_targets: spec.snap_targets,
                caller_snaps: spec.caller_snaps,
                seats: briefing.seats,
            },
            evidence: vec![[1.0; KINDS]; SPOTS],
            marked: SpotSet::EMPTY,
            top: None,
            callers: SeatSet::EMPTY,
            safe: SeatSet::EMPTY,
            window: None,
            sampler: Sampler::default(),
        }
    }

    /// What the seat knows for certain.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// How much the evidence speaks for this card in this spot, relatively; 1 where there is none.
    pub fn weight(&self, spot: Spot, card: Card) -> f64 {
        f64::from(self.evidence[spot.index()][card.kind()])
    }

    /// Takes in what the seat perceived.
    ///
    /// # Panics
    /// If the sighting contradicts what was seen before, that is, comes from another table, seat or order.
    pub fn notice(&mut self, sighting: &Sighting) {
        if self.likelihood.epsilon < 1.0 {
            self.weigh(*sighting);
        }
        self.knowledge.notice(sighting);
        self.carry(*sighting);
    }

    /// What a decision tells, before it changes the table.
    fn weigh(&mut self, sighting: Sighting) {
        let own = self.knowledge.seat();
        let blueprint = self.likelihood.blueprint;
        match sighting {
            Event::TurnBegan { .. } | Event::Called { .. } | Event::Ended { .. } => self.close_window(),
            Event::Looked { .. } | Event::Swapped { .. } | Event::Skipped { .. } | Event::Shown { .. }
                if self.rules.window != Window::After =>
            {
                self.close_window();
            }
            _ => {}
        }
        match sighting {
            // It did not take the top: nothing that it knows to have is so much worse.
            Event::Drew { seat, .. } if seat != own => {
                if let (Some(top), true) = (self.top, self.rules.takes) {
                    let most = self.points(top) + blueprint.take_gain;
                    self.bound(seat, None, |points| points < most);
                }
            }
            // It did not keep what it drew: nothing that it knows to have is worse by more than that was worth to it.
            Event::Dropped { seat, card } if seat != own && self.knowledge.holds_unknown() => {
                let power = if self.has_power(card) { blueprint.power_worth.max(0.0) } else { 0.0 };
                let most = self.points(card) + blueprint.keep_gain + power;
                self.bound(seat, None, |points| points <= most);
            }
            // It kept a card here: what lay here was the worst that it knew, or not known and worse than the rest.
            Event::Kept { seat, spot, replaced } if seat != own => {
                let knew = self.knowledge.seen(seat).contains(spot);
                let worth = if knew { self.points(replaced) } else { self.mean() + blueprint.curiosity };
                self.bound(seat, Some(spot), |points| points <= worth);
                self.flatten(spot);
                if self.knowledge.holds_unknown() {
                    // What it kept saves points here. The spot will be its own to know.
                    for kind in 0..self.rules.points.len() {
                        let gain = worth - self.rules.points[kind] - blueprint.keep_gain;
                        let power = if self.rules.has_power[kind] { blueprint.power_worth } else { 0.0 };
                        let keeps = gain > 0.0 && gain > power;
                        self.multiply(spot, kind, keeps, self.likelihood.epsilon);
                    }
                }
            }
            Event::Swapped { seat, one, other } if seat != own && (one.seat() == seat) != (other.seat() == seat) => {
                let (mine, theirs) = if one.seat() == seat { (one, other) } else { (other, one) };
                self.weigh_swap(seat, mine, theirs);
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

    /// It gave a card for one of another seat: for fewer points, as far as it knew.
    fn weigh_swap(&mut self, seat: Seat, mine: Spot, theirs: Spot) {
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

    /// A window is over: who did not reach had no card to snap, as far as it knew.
    fn close_window(&mut self) {
        let Some((opener, reached)) = self.window.take() else { return };
        if self.rules.window == Window::None {
            return;
        }
        let own = self.knowledge.seat();
        for seat in Seat::ALL[..self.rules.seats].iter().copied() {
            let may_snap = self.rules.caller_snaps != CallerSnaps::None || !self.callers.contains(seat);
            if seat == own || reached.contains(seat) || self.safe.contains(seat) || !may_snap {
                continue;
            }
            for spot in self.unknown_to_me(self.knowledge.seen(seat)) {
                let is_own = spot.seat() == seat;
                let locked = self.callers.contains(spot.seat())
                    && !(is_own && self.rules.caller_snaps == CallerSnaps::OwnAndForeign);
                if locked || (!is_own && self.rules.snap_targets == SnapTargets::Own) {
                    continue;
                }
                let matching = self.rules.matching[usize::from(is_own)][opener.kind()];
                for kind in 0..self.rules.points.len() {
                    let matches = matching >> kind & 1 == 1;
                    let saves = !is_own || self.rules.points[kind] > 0.0;
                    self.multiply(spot, kind, !(matches && saves), self.doubt());
                }
            }
        }
    }

    /// What happens to the evidence when cards move.
    fn carry(&mut self, sighting: Sighting) {
        match sighting {
            Event::Dealt { .. } => {
                self.evidence.fill([1.0; KINDS]);
                self.marked = SpotSet::EMPTY;
                self.top = None;
                self.window = None;
                self.callers = SeatSet::EMPTY;
                self.safe = SeatSet::EMPTY;
            }
            Event::Flipped { card } => {
                self.land(card);
                self.window = self.window.take().filter(|_| self.rules.flip_window);
            }
            Event::Dropped { card, .. } => self.land(card),
            Event::Kept { replaced, .. } => self.land(replaced),
            Event::Took { .. } => self.top = None,
            Event::Called { seat } => self.callers.insert(seat),
            Event::BecameSafe { seat } => self.safe.insert(seat),
            Event::Snapped { seat, spot, card, verdict } => {
                self.reach(seat);
                if verdict == Verdict::Right {
                    self.top = if self.rules.freezes { None } else { Some(card) };
                    self.flatten(spot);
                }
            }
            Event::Aborted { seat } => self.reach(seat),
            Event::Swapped { one, other, .. } => self.exchange(one, other),
            Event::Gave { from, to, .. } => {
                self.exchange(from, to);
                self.flatten(from);
            }
            Event::Penalised { spot, .. } => self.flatten(spot),
            _ => {}
        }
    }

    /// Two cards change places, and their evidence with them.
    fn exchange(&mut self, one: Spot, other: Spot) {
        self.evidence.swap(one.index(), other.index());
        self.marked.swap(one, other);
    }

    fn reach(&mut self, seat: Seat) {
        if let Some((_, reached)) = &mut self.window {
            reached.insert(seat);
        }
    }

    fn land(&mut self, card: Card) {
        self.top = Some(card);
        self.window = Some((card, SeatSet::EMPTY));
    }

    fn points(&self, card: Card) -> f64 {
        self.rules.points[card.kind()]
    }

    fn has_power(&self, card: Card) -> bool {
        self.rules.has_power[card.kind()]
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

    /// Each card that a seat knows to have, but for one spot, has points that the decision agrees with.
    fn bound(&mut self, seat: Seat, but: Option<Spot>, agrees: impl Fn(f64) -> bool) {
        let own = self.layout(seat).intersection(self.knowledge.seen(seat));
        for spot in self.unknown_to_me(own).into_iter().filter(|&spot| Some(spot) != but) {
            self.bound_spot(spot, &agrees);
        }
    }

    fn bound_spot(&mut self, spot: Spot, agrees: impl Fn(f64) -> bool) {
        if self.knowledge.known().contains(spot) {
            return;
        }
        for kind in 0..self.rules.points.len() {
            let agrees = agrees(self.rules.points[kind]);
            self.multiply(spot, kind, agrees, self.doubt());
        }
    }

    /// ε for what a seat made of a card that it saw some time ago: it may have forgotten it.
    fn doubt(&self) -> f64 {
        let epsilon = self.likelihood.epsilon;
        epsilon + (1.0 - epsilon) * FORGOTTEN
    }

    /// One decision of two alternatives: (1 − ε) + ε/2 if it agrees, ε/2 if not, relatively.
    fn multiply(&mut self, spot: Spot, kind: usize, agrees: bool, epsilon: f64) {
        const LEAST: f32 = 1e-12;
        self.marked.insert(spot);
        if !agrees {
            let miss = epsilon / (2.0 - epsilon);
            let weight = &mut self.evidence[spot.index()][kind];
            *weight = (*weight * miss as f32).max(LEAST);
        }
    }

    fn flatten(&mut self, spot: Spot) {
        self.evidence[spot.index()] = [1.0; KINDS];
        self.marked.remove(spot);
    }

    /// Makes ready to draw worlds for one decision; has to come before [`Belief::sample`].
    pub fn prepare(&mut self) {
        let calls = Calls::new(self);
        // What a caller knew bears on its sum, whether or not there is other evidence.
        let evidence = self.unknown_to_me(self.marked.intersection(self.knowledge.occupied())).union(calls.spots);
        let sampler = &mut self.sampler;
        sampler.spots.clear();
        sampler.alias.clear();
        sampler.weights.clear();
        sampler.points.clear();
        sampler.spots.extend(evidence);
        for &spot in &sampler.spots {
            let row = &self.evidence[spot.index()];
            sampler.build.weights.clear();
            let weigh = |(card, fits): (Card, bool)| if fits { f64::from(row[card.kind()]) } else { 0.0 };
            sampler.build.weights.extend(self.knowledge.unseen(spot).map(weigh));
            sampler.weights.extend_from_slice(&sampler.build.weights);
            sampler.build.append(&mut sampler.alias);
        }
        if let Some(&spot) = sampler.spots.first() {
            sampler.points.extend(self.knowledge.unseen(spot).map(|(card, _)| self.rules.points[card.kind()]));
        }
        sampler.calls = calls;
    }

    /// A world that the seat cannot tell from the true one, drawn in proportion to the evidence. Nothing is allocated.
    ///
    /// # Panics
    /// If [`Belief::prepare`] did not come before, or `view` is of another seat or table.
    #[inline]
    pub fn sample(&self, view: &Observation<'_>, rng: &mut impl Rng) -> State {
        if self.sampler.spots.is_empty() {
            return self.knowledge.sample(view, rng);
        }
        let cards = self.sampler.spots.len();
        // Room for every spot of the table would take longer to clear than a draw of five cards.
        let (mut few, mut many);
        let placed = if cards <= EXACT {
            few = [(ANYWHERE, 0); EXACT];
            &mut few[..cards]
        } else {
            many = [(ANYWHERE, 0); SPOTS];
            &mut many[..cards]
        };
        self.sampler.draw(placed, rng);
        self.knowledge.sample_around(view, rng, placed)
    }
}

/// Where the cards with evidence are drawn from in one decision.
#[derive(Clone, Debug, Default)]
struct Sampler {
    /// The spots with evidence.
    spots: Vec<Spot>,
    /// For each spot an alias table over the unseen cards (Walker 1977): a threshold of 2³², and the card beyond it.
    alias: Vec<(u32, u16)>,
    /// For each spot the weight of each unseen card.
    weights: Vec<f64>,
    /// The points of the unseen cards.
    points: Vec<f64>,
    build: AliasBuild,
    calls: Calls,
}

impl Sampler {
    /// Draws which unseen card lies in each spot.
    #[inline]
    fn draw(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) {
        let is_drawn = self.spots.len() <= EXACT && (0..TRIES).any(|_| self.draw_exactly(placed, rng));
        if !is_drawn {
            self.draw_by_sweeps(placed, rng);
        }
    }

    /// A card for the spot with this number, in proportion to its evidence.
    #[inline]
    fn card(&self, number: usize, rng: &mut impl Rng) -> usize {
        let (cards, word) = (self.points.len(), rng.next_u64());
        let column = (((word >> 32) * cards as u64) >> 32) as usize;
        let (threshold, other) = self.alias[number * cards + column];
        if (word as u32) < threshold { column } else { usize::from(other) }
    }

    /// Draws a card for each spot, each alone. The draw counts if all are different and the calls accept their sums;
    /// what is kept so is distributed as the evidence says, exactly (rejection).
    #[inline]
    fn draw_exactly(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) -> bool {
        for number in 0..placed.len() {
            let card = self.card(number, rng);
            if placed[..number].iter().any(|&(_, other)| other == card) {
                return false;
            }
            placed[number] = (self.spots[number], card);
        }
        !self.calls.is_any || happens(self.calls.probability(placed, &self.points), rng)
    }

    /// Draws one after the other what is not taken, then lets sweeps correct it: each spot is offered another card in
    /// proportion to its evidence, or, if that one lies elsewhere, to exchange the two (Metropolis and Hastings).
    fn draw_by_sweeps(&self, placed: &mut [(Spot, usize)], rng: &mut impl Rng) {
        for number in 0..placed.len() {
            let is_free = |placed: &[(Spot, usize)], card| placed[..number].iter().all(|&(_, other)| other != card);
            let wish = (0..8).map(|_| self.card(number, rng)).find(|&card| is_free(placed, card));
            let row = &self.weights[number * self.points.len()..][..self.points.len()];
            let any = || (0..row.len()).find(|&card| row[card] > 0.0 && is_free(placed, card));
            let card = wish.or_else(any).expect("an epoch has an unseen card for each spot that holds one");
            placed[number] = (self.spots[number], card);
        }
        let weight = |number: usize, card: usize| self.weights[number * self.points.len() + card];
        let mut called = self.calls.probability(placed, &self.points);
        for _ in 0..SWEEPS {
            for number in 0..placed.len() {
                let (old, new) = (placed[number].1, self.card(number, rng));
                let holder = placed.iter().position(|&(_, card)| card == new);
                // The proposal is in proportion to the evidence, so that it cancels where the card is free.
                let ratio = holder.map_or(1.0, |holder| {
                    let (gives, gets) = (weight(holder, new), weight(holder, old));
                    gets / gives
                });
                placed[number].1 = new;
                if let Some(holder) = holder.filter(|&holder| holder != number) {
                    placed[holder].1 = old;
                }
                let now = self.calls.probability(placed, &self.points);
                if happens(ratio * now / called, rng) {
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

/// Whether something of this probability happens; above 1 it does.
#[inline]
fn happens(probability: f64, rng: &mut impl Rng) -> bool {
    const SCALE: f64 = 4_294_967_296.0;
    probability >= 1.0 || f64::from(rng.next_u32()) < probability * SCALE
}

/// What making an alias table needs.
#[derive(Clone, Debug, Default)]
struct AliasBuild {
    weights: Vec<f64>,
    small: Vec<u16>,
    large: Vec<u16>,
}

impl AliasBuild {
    /// Appends the table of the weights (Vose 1991).
    fn append(&mut self, table: &mut Vec<(u32, u16)>) {
        let cards = self.weights.len();
        let total: f64 = self.weights.iter().sum();
        self.small.clear();
        self.large.clear();
        for (place, weight) in self.weights.iter_mut().enumerate() {
            *weight *= cards as f64 / total;
            if *weight < 1.0 { self.small.push(place as u16) } else { self.large.push(place as u16) }
        }
        let first = table.len();
        table.extend((0..cards).map(|place| (u32::MAX, place as u16)));
        while let (Some(small), Some(&large)) = (self.small.pop(), self.large.last()) {
            let share = self.weights[usize::from(small)];
            table[first + usize::from(small)] = ((share * 4_294_967_296.0) as u32, large);
            let rest = &mut self.weights[usize::from(large)];
            *rest -= 1.0 - share;
            if *rest < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
    }
}

/// What calls tell: the sum that the caller expected was low. Joint over the cards of a layout.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    is_any: bool,
    /// The cards that callers knew and this seat does not.
    spots: SpotSet,
    /// For each caller what its other cards were worth to it.
    rest: [f64; MAX_SEATS],
    callers: SeatSet,
    call_at: f64,
    least: f64,
}

impl Calls {
    fn new(belief: &Belief) -> Calls {
        let knowledge = &belief.knowledge;
        let mut calls = Calls { call_at: EXPECTED_CALL, least: belief.likelihood.epsilon / 2.0, ..Calls::default() };
        if belief.likelihood.epsilon >= 1.0 {
            return calls;
        }
        for seat in belief.callers.iter().filter(|&seat| seat != knowledge.seat()) {
            let layout = belief.layout(seat);
            let knew = layout.intersection(knowledge.seen(seat));
            let hidden = belief.unknown_to_me(knew);
            if !hidden.is_empty() {
                let faces = knew.into_iter().filter_map(|spot| knowledge.face(spot));
                let seen: f64 = faces.map(|card| belief.points(card)).sum();
                calls.rest[seat.index()] = seen + belief.mean() * layout.without(knew).len() as f64;
                calls.callers.insert(seat);
                calls.spots = calls.spots.union(hidden);
                calls.is_any = true;
            }
        }
        calls
    }

    /// How likely the calls were with these cards: 1 up to the sum at which a call is expected, falling to ε/2 over the
    /// next eight points, for nobody knows another's threshold.
    #[inline]
    fn probability(&self, placed: &[(Spot, usize)], points: &[f64]) -> f64 {
        const FALLS_OVER: f64 = 8.0;
        let mut probability = 1.0;
        for seat in self.callers.iter() {
            let of_seat = placed.iter().filter(|(spot, _)| spot.seat() == seat && self.spots.contains(*spot));
            let sum: f64 = of_seat.map(|&(_, card)| points[card]).sum();
            let over = sum + self.rest[seat.index()] - self.call_at;
            probability *= (1.0 - over / FALLS_OVER).clamp(self.least, 1.0);
        }
        probability
    }
}

/// The sum up to which a call surprises nobody.
const EXPECTED_CALL: f64 = 6.0;
