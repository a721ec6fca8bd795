//! What a seat infers from how the others play: which cards lie where, beyond what it can deduce.
//!
//! [`Knowledge`] holds what is certain; belief adds what is likely. It assumes that the other seats are heuristics with
//! known parameters. For each decision that it sees it asks how likely that decision was for each card that the seat could
//! have had: a card that was kept when one that counts 9 was given away is hardly a king, and one that was not snapped
//! hardly has the rank of the opener. A seat makes the decision of the assumed heuristic with probability 1 − ε, and any
//! alternative with equal probability otherwise, so no other style of play is ever impossible. Evidence belongs to a
//! card and moves with it.
//!
//! Worlds are drawn in proportion to the product of the evidence and of the probability of the calls: by rejection if few
//! cards have evidence, and by Metropolis–Hastings exchanges if many do.

mod alias;
mod calls;
mod evidence;
mod sampler;

use cambio_core::{
    Briefing, Card, Event, Knowledge, Motion, Observation, Rules, Seat, SeatSet, Sighting, SnapRights, Spot, SpotSet,
    State, WindowSign,
};
use rand::Rng;

use crate::heuristic::HeuristicParams;
use calls::Calls;
use evidence::Evidence;
use sampler::Sampler;

/// How belief assumes that the others play.
///
/// ```
/// use cambio_agents::{Likelihood, Preset};
///
/// let bold = Likelihood { blueprint: Preset::Bold.params(), ..Likelihood::default() };
/// assert_eq!(bold.epsilon, 0.15);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Likelihood {
    /// The parameters of the heuristic that they are.
    pub blueprint: HeuristicParams,
    /// The probability ε that a decision is any other than this heuristic's, from 0 to 1. With 1 belief learns nothing.
    pub epsilon: f64,
}

impl Default for Likelihood {
    /// The default heuristic, and ε = 0.15. Of the values that were tried (0.1 to 0.3) this one does little harm among
    /// players who forget, and costs little among players of the assumed kind.
    fn default() -> Likelihood {
        Likelihood { blueprint: HeuristicParams::default(), epsilon: 0.15 }
    }
}

/// The probability that a seat has forgotten a card that it saw earlier. Of the values that were tried (0 to 0.3) this is
/// the one with which belief does no harm among players who forget three cards in ten at every turn.
const FORGOTTEN: f64 = 0.2;

/// What one seat believes about the cards that it does not know.
///
/// Tell it what the seat perceives ([`Belief::notice`]), make it ready for a decision ([`Belief::prepare`]), and draw as
/// many worlds as you want ([`Belief::sample`]).
///
/// ```
/// use cambio_agents::{Belief, Likelihood};
/// use cambio_core::rng::{Key, Purpose};
/// use cambio_core::{Briefing, Card, Dice, Event, Rules, Seat, Setup, State};
///
/// let rules = Rules::preset("classic").unwrap();
/// let key = Key::new(1, 0);
/// let stream = key.agent(Seat::B);
/// let briefing = Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream };
/// let mut belief = Belief::new(&briefing, Likelihood::default());
///
/// let mut dice = Dice(key.stream(Purpose::Deck, 0));
/// let mut heard = |event: &Event<Card>| belief.notice(&event.seen_from(Seat::B));
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut heard).unwrap();
/// state.apply("draw".parse().unwrap(), &mut dice, &mut heard).unwrap();
/// state.apply("keep a1".parse().unwrap(), &mut dice, &mut heard).unwrap();
///
/// // Seat a kept a card, so it is more likely a low one.
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
    facts: Facts,
    evidence: Evidence,
    /// The pile's top, if it bears on decisions.
    top: Option<Card>,
    rights: SnapRights,
    /// The window that is open or is going to open: the card that opens it, and the seats that have snapped in it.
    window: Option<(Card, SeatSet)>,
    sampler: Sampler,
}

/// What belief looks up in the rules often.
#[derive(Clone, Debug)]
struct Facts {
    points: Vec<f64>,
    /// For each kind the kinds that match it, as bits: first for a snap of another seat's card, then for one's own.
    matching: [Vec<u128>; 2],
    has_power: Vec<bool>,
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
        Belief {
            likelihood,
            knowledge: Knowledge::new(rules, briefing.seats, briefing.seat),
            rules: *rules,
            facts: Facts {
                points: cards().map(|card| f64::from(rules.points(card))).collect(),
                matching: [false, true].map(|is_own| cards().map(|shown| matching(shown, is_own)).collect()),
                has_power: cards().map(|card| !rules.power(card).is_none()).collect(),
            },
            evidence: Evidence::new(),
            top: None,
            rights: SnapRights::new(rules, briefing.seats),
            window: None,
            sampler: Sampler::default(),
        }
    }

    /// What the seat knows for certain.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The weight that the evidence gives to this card in this spot, 1 without evidence. Only ratios between the cards of
    /// one spot count.
    pub fn weight(&self, spot: Spot, card: Card) -> f64 {
        self.evidence.weight(spot, card)
    }

    /// Takes in what the seat perceives.
    ///
    /// # Panics
    /// If the sighting contradicts earlier ones: it comes from another table or seat, or out of order.
    pub fn notice(&mut self, sighting: &Sighting) {
        if self.likelihood.epsilon < 1.0 {
            self.weigh(*sighting);
        }
        self.knowledge.notice(sighting);
        self.carry(*sighting);
    }

    /// Takes in what a decision tells, before the decision changes the table.
    fn weigh(&mut self, sighting: Sighting) {
        let own = self.knowledge.seat();
        let blueprint = self.likelihood.blueprint;
        if self.rules.window_sign(&sighting) == WindowSign::Closes {
            self.close_window();
        }
        match sighting {
            // It did not take the top, so no card that it knows to have is that much worse.
            Event::Drew { seat, .. } if seat != own => {
                if let (Some(top), true) = (self.top, self.rules.spec().take) {
                    let most = self.points(top) + blueprint.take_gain;
                    self.bound(seat, None, |points| points < most);
                }
            }
            // It did not keep what it drew, so no card that it knows to have is worse by more than that was worth.
            Event::Dropped { seat, card } if seat != own && self.knowledge.holds_unknown() => {
                let power = if self.has_power(card) { blueprint.power_worth.max(0.0) } else { 0.0 };
                let most = self.points(card) + blueprint.keep_gain + power;
                self.bound(seat, None, |points| points <= most);
            }
            // It kept a card here, so the card that lay here was the worst that it knew, or an unknown one that it
            // expected to be worse than those.
            Event::Kept { seat, spot, replaced } if seat != own => {
                let knew = self.knowledge.seen(seat).contains(spot);
                let worth = if knew { self.points(replaced) } else { self.mean() + blueprint.curiosity };
                self.bound(seat, Some(spot), |points| points <= worth);
                self.evidence.flatten(spot);
                if self.knowledge.holds_unknown() {
                    // The card that it kept saves points here, and it knows that card from now on.
                    for kind in 0..self.facts.points.len() {
                        let gain = worth - self.facts.points[kind] - blueprint.keep_gain;
                        let power = if self.facts.has_power[kind] { blueprint.power_worth } else { 0.0 };
                        let keeps = gain > 0.0 && gain > power;
                        self.evidence.weigh(spot, kind, keeps, self.likelihood.epsilon);
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

    /// Takes in a swap of an own card for another seat's: the seat expected fewer points from the other card.
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

    /// Takes in the end of a window: a seat that declared nothing knew no card that it could snap with a gain.
    fn close_window(&mut self) {
        let Some((opener, snapped)) = self.window.take() else { return };
        let own = self.knowledge.seat();
        for seat in self.rights.seats().without(snapped).iter_from(own).filter(|&seat| seat != own) {
            let targets = self.rights.targets(seat, self.knowledge.occupied());
            for spot in self.unknown_to_me(self.knowledge.seen(seat)).intersection(targets).iter_from(own) {
                let is_own = spot.seat() == seat;
                let matching = self.facts.matching[usize::from(is_own)][opener.kind()];
                for kind in 0..self.facts.points.len() {
                    let matches = matching >> kind & 1 == 1;
                    let saves = !is_own || self.facts.points[kind] > 0.0;
                    self.evidence.weigh(spot, kind, !(matches && saves), self.doubt());
                }
            }
        }
    }

    /// Moves the evidence with the cards.
    fn carry(&mut self, sighting: Sighting) {
        match sighting.motion() {
            Motion::Dealt { .. } => {
                self.evidence.clear();
                self.top = None;
                self.window = None;
            }
            // Where a card is kept, its evidence begins with what keeping it tells.
            Motion::Flipped { card } | Motion::Dropped { card } | Motion::Kept { replaced: card, .. } => {
                self.top = Some(card);
            }
            Motion::Taken { .. } => self.top = None,
            Motion::Discarded { spot, card } => {
                self.top = if self.rules.spec().freeze { None } else { Some(card) };
                self.evidence.flatten(spot);
            }
            Motion::Exchanged { one, other } => self.evidence.swap(one, other),
            Motion::Moved { from, to } => {
                self.evidence.swap(from, to);
                self.evidence.flatten(from);
            }
            Motion::Added { spot } => self.evidence.flatten(spot),
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
        self.facts.points[card.kind()]
    }

    fn has_power(&self, card: Card) -> bool {
        self.facts.has_power[card.kind()]
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

    /// Takes in that a decision agrees with the points of each card that the seat knows to have, except in one spot.
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
        for kind in 0..self.facts.points.len() {
            let agrees = agrees(self.facts.points[kind]);
            self.evidence.weigh(spot, kind, agrees, self.doubt());
        }
    }

    /// ε for a decision about a card that the seat saw some time ago: it may have forgotten the card.
    fn doubt(&self) -> f64 {
        let epsilon = self.likelihood.epsilon;
        epsilon + (1.0 - epsilon) * FORGOTTEN
    }

    /// Makes ready to draw worlds for one decision. It has to come before [`Belief::sample`].
    pub fn prepare(&mut self) {
        let calls = self.calls();
        // What a caller knew bears on its sum, whether or not there is other evidence.
        let marked = self.evidence.marked().intersection(self.knowledge.occupied());
        let Belief { sampler, knowledge, evidence, facts, .. } = self;
        sampler.prepare(
            marked.without(knowledge.known()).union(calls.spots()).iter_from(knowledge.seat()),
            calls,
            |spot| knowledge.unseen(spot),
            |spot, card| evidence.weight(spot, card),
            |card| facts.points[card.kind()],
        );
    }

    /// What the calls of this round tell about cards that this seat does not know.
    fn calls(&self) -> Calls {
        let epsilon = self.likelihood.epsilon;
        let mut calls = Calls::new(self.knowledge.seat(), epsilon / 2.0);
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
                calls.add(seat, hidden, seen + self.mean() * layout.without(knew).len() as f64);
            }
        }
        calls
    }

    /// Draws a world that the seat cannot tell from the true one, in proportion to the evidence. Nothing is allocated.
    ///
    /// # Panics
    /// If [`Belief::prepare`] did not come before, or `view` is of another seat or table.
    #[inline]
    pub fn sample(&self, view: &Observation<'_>, rng: &mut impl Rng) -> State {
        if self.sampler.is_empty() {
            return self.knowledge.sample(view, rng);
        }
        self.sampler.draw(rng, |placed, rng| self.knowledge.sample_around(view, rng, placed))
    }
}
