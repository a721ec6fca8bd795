//! Inference: draws worlds in proportion to the likelihood of the other seats' decisions.

use std::collections::{BTreeMap, VecDeque};

use cambio_core::engine::{CardSource, Motion, OnTable};
use cambio_core::rng::SplitMix;
use cambio_core::rules::{MAX_SEATS, SPOTS};
use cambio_core::{
    Action, Briefing, Card, Event, Knowledge, Observation, Phase, Seat, Sighting, Spot, SpotSet, State, Table, View,
};

use crate::policy::{Policy, PublicHistory, STYLES};

/// Makes the random bits of styles different from the random bits of worlds.
const STYLE_BITS: u64 = 0x3333;

/// The settings for drawing worlds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplingSettings {
    /// The number of worlds to draw.
    pub worlds: usize,
    /// The number of uniformly drawn worlds from which the result is resampled; raised to `worlds` if it is lower.
    pub proposals: usize,
    /// The number of the other seats' latest decisions that are used as evidence, at most 64.
    pub last: usize,
    /// The probability that another seat deviates from the policy at a decision.
    pub epsilon: f64,
}

impl Default for SamplingSettings {
    fn default() -> SamplingSettings {
        SamplingSettings { worlds: 240, proposals: 1500, last: 64, epsilon: 0.01 }
    }
}

/// A seat's inference from the decisions of the other seats, if they play by a known policy.
///
/// For each decision, the table, the history and the location of each card are stored, to compute the likelihood of the
/// decision in any sampled world. Pass each sighting of the seat to [`Inference::notice`], and the table before each
/// decision of another seat to [`Inference::spectate`]; then draw worlds with [`Inference::draw`].
///
/// ```
/// use cambio_agents::{Inference, Policy, Preset, SamplingSettings};
/// use cambio_core::rng::{Key, Purpose, SplitMix};
/// use cambio_core::{Briefing, Card, Event, Rules, Seat, State, engine::{Dice, Setup}};
///
/// let rules = Rules::preset("classic").unwrap();
/// let key = Key::new(1, 0);
/// let stream = key.agent(Seat::B);
/// let mut policy = Preset::Sharp.params();
/// let past = policy.begin(&rules, 2).unwrap();
/// let mut inference = Inference::new(&Briefing { rules: &rules, seats: 2, seat: Seat::B, stream: &stream }, past);
///
/// let mut dice = Dice(key.stream(Purpose::Deck, 0));
/// let mut sink = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
/// let mut state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut dice, &mut sink).unwrap();
/// for decision in ["draw", "keep a1"] {
///     inference.spectate(state.table());
///     let mut sink = |event: &Event<Card>| inference.notice(&event.seen_from(Seat::B));
///     state.apply(decision.parse().unwrap(), &mut dice, &mut sink).unwrap();
/// }
///
/// // Seat a kept a card: in most worlds, this card is low.
/// let worlds = inference.draw(&state.observe(Seat::B), &mut policy, &SamplingSettings::default(), 7);
/// let points = |world: &State| rules.points(world.face("a1".parse().unwrap()).unwrap());
/// assert!(worlds.iter().map(points).sum::<i32>() < 4 * worlds.len() as i32);
/// ```
#[derive(Clone, Debug)]
pub struct Inference<P: Policy> {
    knowledge: Knowledge,
    numbers: CardNumbers,
    /// The faces that the seat knows, by card number.
    faces: Vec<Option<Card>>,
    /// The public history of the round.
    past: P::History,
    /// The pending decisions: several in a snap window, otherwise at most one.
    asked: Vec<RecordedDecision<P::History>>,
    /// The decisions so far, the oldest first; at most [`MAX_DECISIONS`].
    decided: VecDeque<RecordedDecision<P::History>>,
}

impl<P: Policy> Inference<P> {
    /// The inference of a seat at the beginning of a match. `past` is the result of [`Policy::begin`].
    pub fn new(briefing: &Briefing<'_>, past: P::History) -> Inference<P> {
        let Briefing { rules, seats, seat, .. } = *briefing;
        Inference {
            knowledge: Knowledge::new(rules, seats, seat),
            numbers: dealt_numbers(),
            faces: vec![None; SPOTS],
            past,
            asked: Vec::new(),
            decided: VecDeque::new(),
        }
    }

    /// Adds a sighting of the seat.
    pub fn notice(&mut self, sighting: &Sighting) {
        self.knowledge.notice(sighting);
        self.hear(sighting);
        if let Event::Dealt { .. } = sighting {
            self.decided.clear();
            self.asked.clear();
        }
        self.follow(sighting);
        self.past.notice(sighting);
    }

    /// Moves the numbers of the cards with the cards, and gives a number to each new card.
    fn follow(&mut self, sighting: &Sighting) {
        let motion = sighting.motion();
        if let Some((place, card)) = motion.seen_face() {
            self.faces[usize::from(self.numbers.at(place))] = Some(card);
        }
        let new = self.faces.len() as u16;
        match motion {
            Motion::Dealt { .. } => {
                (self.numbers, self.faces) = (dealt_numbers(), vec![None; SPOTS]);
                return;
            }
            Motion::Drawn { face, .. } => self.faces.push(face),
            Motion::Taken { card } => self.faces.push(Some(card)),
            Motion::Added { .. } => self.faces.push(None),
            _ => {}
        }
        self.numbers.follow(&motion, new);
    }

    /// Adds the table as it is before another seat decides.
    pub fn spectate(&mut self, table: &Table) {
        let Some(seat) = table.asked() else { return };
        if table.phase() != Phase::Window {
            self.settle();
        }
        // A seat that causes no event in a window has passed.
        let (past, numbers) = (self.past.clone(), self.numbers);
        self.asked.push(RecordedDecision { table: *table, past, numbers, seat, action: Action::Pass });
    }

    /// Finds the pending decisions that a sighting implies.
    fn hear(&mut self, sighting: &Sighting) {
        let is_window = self.asked.first().is_some_and(|decision| decision.table.phase() == Phase::Window);
        match *sighting {
            // A reshuffle comes before the event that needs the new stock.
            Event::Reshuffled { .. } => {}
            _ if is_window => match *sighting {
                Event::Snapped { seat, spot, .. } => {
                    if let Some(decision) = self.asked.iter_mut().find(|decision| decision.seat == seat) {
                        decision.action = Action::Snap(spot);
                    }
                }
                // No evidence: an aborted snap does not show the card, and a touch is not about a known card.
                Event::Aborted { seat } | Event::Touched { seat, .. } => {
                    self.asked.retain(|decision| decision.seat != seat);
                }
                Event::Penalised { .. } | Event::PenaltyWaived { .. } | Event::BecameSafe { .. } => {}
                _ => self.settle(),
            },
            _ => {
                self.asked.retain_mut(|decision| {
                    let decided = decision.table.implied(sighting);
                    decision.action = decided.unwrap_or(decision.action);
                    decided.is_some()
                });
                self.settle();
            }
        }
    }

    /// Moves the pending decisions to the list of decisions, and keeps the latest [`MAX_DECISIONS`].
    fn settle(&mut self) {
        self.decided.extend(self.asked.drain(..));
        let over = self.decided.len().saturating_sub(MAX_DECISIONS);
        self.decided.drain(..over);
    }

    /// The public history of the round.
    pub fn past(&self) -> &P::History {
        &self.past
    }

    /// The latest decisions of other seats, at most `last`: those that depend on cards in these spots, or all, because every
    /// decision is evidence of the style of its seat.
    fn evidence(&self, unknown: &[Spot], last: usize, all: bool) -> Vec<DecisionEvidence<'_, P::History>> {
        let mut is_open = vec![false; self.faces.len()];
        for &spot in unknown {
            is_open[usize::from(self.numbers.at(Some(spot)))] = true;
        }
        let of = |decision| {
            let open: Vec<u16> =
                RecordedDecision::known(decision).filter(|&number| is_open[usize::from(number)]).collect();
            let fits = (all || !open.is_empty()) && open.len() <= MOST_OPEN;
            fits.then(|| DecisionEvidence { decision, open, likelihoods: BTreeMap::new() })
        };
        self.decided.iter().rev().filter_map(of).take(last).collect()
    }

    /// The world with these cards on the table and an unordered stock. It must be in the seat's information set.
    pub(crate) fn around(&self, view: &Observation<'_>, face: impl Fn(Spot) -> Option<Card>) -> State {
        let mut placed: Vec<(Spot, usize)> = Vec::new();
        for spot in view.table().occupied().without(view.known()).iter_from(view.seat()) {
            let mut unseen = self.knowledge.unseen(spot).enumerate();
            let is_it = |&(index, (card, fits)): &(usize, (Card, bool))| {
                fits && Some(card) == face(spot) && placed.iter().all(|&(_, other)| other != index)
            };
            let (index, _) = unseen.find(is_it).expect("the seat has not seen this card");
            placed.push((spot, index));
        }
        // No card remains to be drawn: every spot has its card, and only the seat to act can have a held card.
        let world = self.knowledge.sample_around(view, &mut SplitMix::new(0, 0_u32), &placed);
        debug_assert!(
            view.table().occupied().iter_from(view.seat()).all(|spot| world.face(spot) == face(spot)),
            "the world has the given cards"
        );
        world
    }

    /// Draws worlds from the seat's information set. Uniformly drawn worlds are resampled by the likelihood of the
    /// other seats' decisions that depend on unknown cards (sampling importance resampling: Rubin 1987). Without such
    /// decisions, worlds are drawn uniformly. Equal worlds are adjacent. The same `base` gives the same worlds.
    pub fn draw(&self, view: &Observation<'_>, policy: &mut P, draw: &SamplingSettings, base: u64) -> Vec<State> {
        self.sample(view, policy, draw, (0.0, 0), base).into_draws().0
    }

    /// Like [`Inference::draw`], with the different worlds and their effective number. Proposes up to `most` worlds, until
    /// the effective number is at least `least`.
    pub(crate) fn sample(
        &self,
        view: &Observation<'_>,
        policy: &mut P,
        draw: &SamplingSettings,
        (least, most): (f64, usize),
        base: u64,
    ) -> WorldSample {
        let unknown: Vec<Spot> = view.table().occupied().without(view.known()).iter_from(view.seat()).collect();
        let SamplingSettings { worlds, last, epsilon, .. } = *draw;
        let priors = [policy.styles(); MAX_SEATS];
        let is_mixed = priors[0][0] < 1.0;
        let mut evidence = self.evidence(&unknown, last, is_mixed);
        let sample = |number: u32| self.knowledge.sample(view, &mut SplitMix::new(base, number));
        // In playing order from the searching seat, so that the letters of the seats do not matter.
        let all = view.table().seats();
        let others = || (1..all).map(|distance| view.seat().ahead(distance, all).index());
        // Draws a style for each seat, from the probabilities of the styles.
        let pick_styles = |number: usize, of: &[[f64; STYLES]; MAX_SEATS]| {
            let mut bits = SplitMix::new(base ^ STYLE_BITS, number as u32);
            let mut styles = [0; MAX_SEATS];
            others().for_each(|seat| styles[seat] = draw_style(&of[seat], &mut bits));
            styles
        };
        if evidence.is_empty() {
            let proposed = (0..worlds as u32).map(sample).collect();
            let styles = (0..if is_mixed { worlds } else { 0 }).map(|number| pick_styles(number, &priors)).collect();
            return WorldSample { styles, ..WorldSample::uniform(proposed) };
        }
        let mut faces = self.faces.clone();
        let (mut proposed, mut shares, mut styles) = (Vec::new(), Vec::new(), Vec::new());
        let mut proposals = draw.proposals.max(worlds);
        let effective = loop {
            for number in proposed.len()..proposals {
                let world = sample(number as u32);
                for &spot in &unknown {
                    faces[usize::from(self.numbers.at(Some(spot)))] = world.face(spot);
                }
                let of_each = evidence
                    .iter_mut()
                    .map(|evidence| (evidence.decision.seat, evidence.likelihoods(policy, epsilon, &faces)));
                if is_mixed {
                    let mut seats = priors;
                    for (seat, likelihoods) in of_each {
                        let styles = seats[seat.index()].iter_mut().zip(likelihoods);
                        styles.for_each(|(share, likelihood)| *share *= likelihood);
                    }
                    shares.push(others().map(|seat| seats[seat].iter().sum::<f64>()).product());
                    styles.push(seats);
                } else {
                    shares.push(of_each.map(|(_, likelihoods)| likelihoods[0]).product::<f64>());
                }
                proposed.push(world);
            }
            let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), &w| (sum + w, squares + w * w));
            let effective = if squares > 0.0 { sum * sum / squares } else { 0.0 };
            if effective >= least || proposals >= most {
                break effective;
            }
            proposals = (2 * proposals).min(most);
        };
        // Keeps only the worlds that were drawn.
        let (mut kept, mut draws, mut previous) = (Vec::new(), Vec::with_capacity(worlds), None);
        let mut styles_of_draws = Vec::new();
        for index in resample(&shares, worlds) {
            styles_of_draws.extend(styles.get(index).map(|of| pick_styles(draws.len(), of)));
            if previous != Some(index) {
                kept.push(proposed[index].clone());
                previous = Some(index);
            }
            draws.push(kept.len() - 1);
        }
        WorldSample { worlds: kept, draws, styles: styles_of_draws, effective }
    }
}

/// Draws a style in proportion to the shares.
fn draw_style(shares: &[f64; STYLES], bits: &mut SplitMix) -> u8 {
    let sum: f64 = shares.iter().sum();
    let mut left = sum * (bits.word() >> 11) as f64 / (1_u64 << 53) as f64;
    let style = shares.iter().position(|&share| {
        let is_here = left < share;
        left -= share;
        is_here
    });
    style.unwrap_or(0) as u8
}

/// A decision of another seat that depends on cards that the searching seat does not know, with a cache of its
/// likelihoods.
struct DecisionEvidence<'m, Q> {
    decision: &'m RecordedDecision<Q>,
    /// The numbers of the unknown cards.
    open: Vec<u16>,
    /// By the classes of the unknown cards, seven bits each: the likelihood is the same for all cards of a class.
    likelihoods: BTreeMap<u128, [f64; STYLES]>,
}

/// The maximum number of unknown cards: this many classes fit into a key.
const MOST_OPEN: usize = 18;

impl<Q> DecisionEvidence<'_, Q> {
    /// The likelihood of the decision for a seat of each style.
    fn likelihoods<P: Policy<History = Q>>(
        &mut self,
        policy: &mut P,
        epsilon: f64,
        faces: &[Option<Card>],
    ) -> [f64; STYLES] {
        let decision = self.decision;
        let rules = decision.table.rules();
        let class = |number: &u16| faces[usize::from(*number)].map_or(127, |card| rules.class(card) as u128);
        let key = self.open.iter().fold(0, |key, number| key << 7 | class(number));
        let ask =
            || policy.likelihoods(&HypotheticalView { decision, faces }, &decision.past, decision.action, epsilon);
        *self.likelihoods.entry(key).or_insert_with(ask)
    }
}

/// Worlds drawn from an information set.
#[derive(Clone, Debug)]
pub(crate) struct WorldSample {
    /// The different worlds.
    pub(crate) worlds: Vec<State>,
    /// The draws: the index of each in `worlds`. Draws of the same world are adjacent.
    pub(crate) draws: Vec<usize>,
    /// For each draw, the style of each seat; empty if all seats have the style of the policy.
    pub(crate) styles: Vec<[u8; MAX_SEATS]>,
    /// The effective number of worlds by their weights, (Σw)² / Σw² (Kong 1992): copies of one world are not independent.
    pub(crate) effective: f64,
}

impl WorldSample {
    /// Independent worlds.
    pub(crate) fn uniform(worlds: Vec<State>) -> WorldSample {
        let number = worlds.len();
        WorldSample { worlds, draws: (0..number).collect(), styles: Vec::new(), effective: number as f64 }
    }

    /// The world of each draw, and [`WorldSample::styles`].
    pub(crate) fn into_draws(self) -> (Vec<State>, Vec<[u8; MAX_SEATS]>) {
        (self.draws.iter().map(|&index| self.worlds[index].clone()).collect(), self.styles)
    }
}

/// Draws `number` indices by systematic resampling (Carpenter, Clifford and Fearnhead 1999): the count of each index
/// differs from its exact share of the draws by less than one.
fn resample(shares: &[f64], number: usize) -> impl Iterator<Item = usize> {
    let step = shares.iter().sum::<f64>() / number as f64;
    let (mut index, mut upto) = (0, shares.first().copied().unwrap_or(0.0));
    (0..number).map(move |drawn| {
        let ticket = step * (drawn as f64 + 0.5);
        while upto < ticket && index + 1 < shares.len() {
            index += 1;
            upto += shares[index];
        }
        index
    })
}

/// The maximum number of decisions that are kept: the latest ones of the other seats.
const MAX_DECISIONS: usize = 64;

/// The number of each card of a round, which the card keeps when it moves.
type CardNumbers = OnTable<u16>;

/// The numbers after a deal: each card has the index of its spot.
fn dealt_numbers() -> CardNumbers {
    let mut numbers = CardNumbers::new(0);
    let spots = Seat::ALL.into_iter().flat_map(|seat| SpotSet::of_seat(seat).iter_of(seat));
    spots.for_each(|spot| numbers.set(spot, spot.index() as u16));
    numbers
}

/// A decision of another seat, and the table before the decision.
#[derive(Clone, Debug)]
struct RecordedDecision<Q> {
    table: Table,
    /// The public history of the round before the decision.
    past: Q,
    numbers: CardNumbers,
    seat: Seat,
    action: Action,
}

impl<Q> RecordedDecision<Q> {
    /// The numbers of the cards that the seat knew.
    fn known(&self) -> impl Iterator<Item = u16> + '_ {
        let held = self.held_from_stock().then_some(None);
        self.table.seen(self.seat).iter_from(self.seat).map(Some).chain(held).map(|place| self.numbers.at(place))
    }

    fn held_from_stock(&self) -> bool {
        self.table.turn() == self.seat && self.table.phase() == Phase::Held(CardSource::Stock)
    }
}

/// A hypothetical view: the view that another seat had if these are the faces of the cards.
#[derive(Debug)]
struct HypotheticalView<'m, Q> {
    decision: &'m RecordedDecision<Q>,
    faces: &'m [Option<Card>],
}

impl<Q> View for HypotheticalView<'_, Q> {
    fn table(&self) -> &Table {
        &self.decision.table
    }

    fn seat(&self) -> Seat {
        self.decision.seat
    }

    fn face(&self, spot: Spot) -> Option<Card> {
        let has_seen = self.decision.table.seen(self.decision.seat).contains(spot);
        if has_seen { self.faces[usize::from(self.decision.numbers.at(Some(spot)))] } else { None }
    }

    fn held(&self) -> Option<Card> {
        match self.decision.table.phase() {
            Phase::Held(CardSource::Pile(card)) => Some(card),
            _ if self.decision.held_from_stock() => self.faces[usize::from(self.decision.numbers.at(None))],
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
