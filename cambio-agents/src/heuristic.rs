//! The heuristic: a player that decides by expected points.

use std::cell::Cell;

use cambio_core::engine::CardSource;
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::rules::PowerStep;
use cambio_core::rules::knob::{Best, CallerTie, Cap, Gift, Late, MatchEnd, Redrop, Score as ScoreKnob};
use cambio_core::{
    Action, Agent, AgentError, Briefing, Card, Notice, Observation, Phase, Score, Seat, Spot, SpotSet, Standing, View,
};

use crate::call_rule::CallRule;
use crate::card_model::{CardModel, mean_elsewhere};
use crate::memory::{Memory, MemoryParams};
use crate::tie::{LeastSpots, least_of, one_of};
use crate::{params, words};

params! {
    /// The parameters of the agent `heuristic`.
    pub struct HeuristicParams {
        /// Calls when its expected sum is at most this and its estimated chance is at least `call_chance`.
        call_at: f64 = 1000.0 in -1000.0..=1000.0,
        /// Calls only if its expected sum is at least this much below the lowest expected sum of another seat. -1000
        /// turns this condition off.
        call_margin: f64 = -1000.0 in -1000.0..=1000.0,
        /// Calls only if its estimated chance to end below another seat, as the geometric mean over the other seats, is
        /// at least this. 0 turns this condition off.
        call_chance: f64 = 0.7 in 0.0..=1.0,
        /// For `call_chance`: the points that it expects each other seat to save in its last turn.
        last_turn: f64 = 3.0 in 0.0..=20.0,
        /// In a match decided by totals of points: raises `call_at` by this much for each 10 points that it trails.
        chase: f64 = 0.0 in -20.0..=20.0,
        /// How many points below the mean it expects an unknown card to be if the owner of the card knows it.
        hoard: f64 = 2.0 in 0.0..=20.0,
        /// Keeps a card only if that saves more points than this.
        keep_gain: f64 = 0.0 in -20.0..=20.0,
        /// The value of using a power, in points: a card with a power is kept only if it saves this much more.
        power_worth: f64 = 2.0 in 0.0..=20.0,
        /// The value of learning one of its own unknown cards, in points.
        curiosity: f64 = 4.0 in 0.0..=20.0,
        /// Takes the top card of the pile if that saves at least this many points.
        take_gain: f64 = 8.0 in 0.0..=30.0,
        /// Swaps if that saves at least this many points.
        swap_gain: f64 = 0.0 in 0.0..=30.0,
        /// The value of moving a card that only its owner knows, in points. With 0 it makes no such swaps.
        disrupt: f64 = 0.0 in 0.0..=20.0,
        /// Snaps unknown cards of its own if the expected gain exceeds this many times the expected loss; never with 0.
        gamble: f64 = 0.0 in 0.0..=100.0,
        /// Snaps cards of other seats if that saves at least this many points.
        foreign_gain: f64 = 0.5 in 0.0..=30.0,
        /// Touches a card as a bluff with this probability, if the rules allow it.
        bluff: f64 = 0.0 in 0.0..=1.0,
        /// The rule for its calls.
        ..rule: CallRule,
        /// The parameters of its memory.
        ..memory: MemoryParams,
    }
}

/// Declares the presets, each with a description, a name and the parameters that differ from the defaults.
macro_rules! presets {
    ($($(#[doc = $about:literal])+ $variant:ident = $name:literal { $($field:ident: $value:expr),* },)+) => {
        words! {
            /// A named set of parameters of the heuristic. Each is an agent of the roster, and a blueprint of searches.
            pub enum Preset {
                $($(#[doc = $about])+ $variant = $name,)+
            }
        }

        impl Preset {
            /// A description in one sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Preset::$variant => const { concat!($($about),+).trim_ascii() },)+
                }
            }

            /// The parameters.
            ///
            /// ```
            /// use cambio_agents::{HeuristicParams, Preset};
            ///
            /// assert_eq!(Preset::Heuristic.params(), HeuristicParams::default());
            /// assert_eq!(Preset::Bold.params().call_at, 11.0);
            /// ```
            pub fn params(self) -> HeuristicParams {
                let base = HeuristicParams::default();
                match self {
                    $(Preset::$variant => HeuristicParams { $($field: $value,)* ..base },)+
                }
            }
        }
    };
}

presets! {
    /// The defaults.
    Heuristic = "heuristic" {},
    /// Calls only with almost no points.
    Cautious = "cautious" { call_at: 1.0, call_chance: 0.0 },
    /// Calls early.
    Bold = "bold" { call_at: 11.0, call_chance: 0.0 },
    /// Calls when it expects to be clearly lowest.
    Patient = "patient" { call_at: 12.0, call_margin: 4.0, call_chance: 0.0 },
    /// Gambles on unknown cards.
    Snapper = "snapper" { gamble: 0.15, foreign_gain: 0.0 },
    /// Swaps cards that their owners know.
    Disruptor = "disruptor" { disrupt: 3.0 },
    /// Takes every card from the pile that saves two points.
    Collector = "collector" { take_gain: 2.0 },
    /// Drops cards with a power to use it, even if they would save a few points.
    Looker = "looker" { power_worth: 6.0 },
    /// Touches cards as a bluff.
    Bluffer = "bluffer" { bluff: 0.2 },
    /// The strongest known heuristic on `classic`: uses powers, learns its cards, and calls at a lower chance.
    Sharp = "sharp" { call_chance: 0.57, curiosity: 5.0, keep_gain: 1.0, power_worth: 3.0 },
    /// Never calls.
    NeverCalls = "never-calls" { call_at: -1000.0 },
}

/// A player that keeps, takes, snaps, swaps and calls by expected points of the cards that it remembers.
///
/// The player breaks ties between cards by a hash of the pile's points, the top card and the turn. The hash selects a
/// card by its number in playing order from the player's seat; while the pile is empty, the first card is chosen. A
/// decision therefore depends on the view alone, and no seat letter, neighbour or slot is preferred. Cards may still be
/// treated differently: for example, the player prefers to swap for a card that its owner has seen.
///
/// ```
/// use cambio_agents::roster;
/// use cambio_core::{MatchSetup, Rules, play_match, rng::Key};
///
/// let mut agents = ["heuristic(decay=0.1)", "sharp"].map(|spec| roster().parse(spec).unwrap().make());
/// let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
/// assert!(play_match(&match_setup, &mut agents, &mut ()).is_ok());
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Heuristic {
    params: HeuristicParams,
    /// The parameters for the current round, in which `chase` and the totals of the match have changed `call_at`.
    current: HeuristicParams,
    memory: Option<Memory>,
    stream: Option<Stream>,
}

impl Heuristic {
    /// A heuristic player.
    pub(crate) fn new(params: &HeuristicParams) -> Heuristic {
        Heuristic { params: *params, current: *params, memory: None, stream: None }
    }
}

impl Agent for Heuristic {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.memory = Some(Memory::new(self.params.memory, briefing));
        self.stream = Some(briefing.stream.clone());
        self.current = self.params;
        Ok(())
    }

    fn notice(&mut self, notice: Notice<'_>) {
        let memory = self.memory.as_mut().expect("a match begins with a briefing");
        match notice {
            Notice::Event(sighting) => memory.notice(sighting),
            Notice::RoundBegins(standing) => {
                self.current.call_at =
                    self.params.call_at + self.params.chase * tenth_of_deficit(standing, memory.seat());
            }
            _ => {}
        }
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let memory = self.memory.as_ref().expect("a match begins with a briefing");
        let mind = HeuristicDecision::new(view, memory, &self.current);
        let action = mind.decide();
        if action == Action::Pass
            && view.table().phase() == Phase::Window
            && let Some(touch) = self.stream.as_mut().and_then(|stream| mind.bluff(stream))
        {
            return Ok(touch);
        }
        Ok(action)
    }

    fn draws(&self) -> bool {
        self.params.bluff > 0.0 || self.params.memory.draws()
    }

    fn lapses(&self) -> Option<u32> {
        self.memory.as_ref().map(Memory::lapses)
    }
}

/// A tenth of the points by which this seat trails the best other seat; 0 if totals of points do not decide the match.
fn tenth_of_deficit(standing: &Standing<'_>, seat: Seat) -> f64 {
    let spec = standing.setup.rules.spec();
    if spec.score != ScoreKnob::Points || spec.best != Best::Fewest || !matches!(spec.match_end, MatchEnd::Total(_)) {
        return 0.0;
    }
    let others = standing.totals.iter().enumerate().filter(|(other, _)| *other != seat.index());
    let best = others.map(|(_, total)| total.units()).min().unwrap_or(0);
    f64::from(standing.totals[seat.index()].units() - best) / f64::from(10 * Score::UNITS)
}

/// The decision of a heuristic with these parameters and perfect memory. It depends on the view alone.
#[inline]
pub(crate) fn blueprint(params: &HeuristicParams, view: &impl View) -> Action {
    HeuristicDecision::new(view, view, params).decide()
}

/// One decision of a heuristic: the view, the player's model of the cards, and the parameters.
///
/// For speed, legality is checked for single decisions of the current phase. All legal decisions are listed only if the
/// heuristic has no preference.
pub(crate) struct HeuristicDecision<'v, V, M> {
    view: &'v V,
    model: &'v M,
    params: &'v HeuristicParams,
    own: SpotSet,
    known: SpotSet,
    /// The mean points of the unseen cards, computed on first use.
    mean: Cell<Option<f64>>,
}

impl<'v, V: View, M: CardModel> HeuristicDecision<'v, V, M> {
    #[inline]
    pub(crate) fn new(view: &'v V, model: &'v M, params: &'v HeuristicParams) -> HeuristicDecision<'v, V, M> {
        let own = view.table().layout(view.seat());
        HeuristicDecision { view, model, params, own, known: model.known(), mean: Cell::new(None) }
    }

    /// Returns a legal decision.
    #[expect(clippy::inline_always, reason = "playouts call it in one place, and the common path is small")]
    #[inline(always)]
    pub(crate) fn decide(&self) -> Action {
        match self.view.table().phase() {
            Phase::Start => self.start(),
            Phase::Held(source) => self.keep_or_drop(source),
            Phase::Window | Phase::Chain => self.snap(),
            Phase::Gift => self.give(),
            Phase::Power => self.use_power(),
            Phase::Close => self.close(),
            Phase::Peek | Phase::Show | Phase::Over => self.idle(),
        }
    }

    #[inline]
    fn mean(&self) -> f64 {
        // The compiler inlines this, but not a `OnceCell`.
        let mean = self.mean.get().unwrap_or_else(|| mean_elsewhere(self.view, self.model));
        self.mean.set(Some(mean));
        mean
    }

    fn points(&self, card: Card) -> f64 {
        f64::from(self.view.rules().points(card))
    }

    /// Whether this turn is the player's last in the round.
    fn is_last_turn(&self) -> bool {
        !self.view.table().callers().is_empty()
    }

    /// The value of learning one of the player's own cards: 0 if no turn is left to use the knowledge.
    fn curiosity(&self) -> f64 {
        if self.is_last_turn() { 0.0 } else { self.params.curiosity }
    }

    /// The expected points of the card in this spot. An unknown card is expected to be lower if its owner knows it.
    fn worth(&self, spot: Spot) -> f64 {
        match self.model.face(spot) {
            Some(card) => self.points(card),
            None if self.is_hoarded(spot) => self.mean() - self.params.hoard,
            None => self.mean(),
        }
    }

    /// Whether this is another seat's card that its owner has seen.
    fn is_hoarded(&self, spot: Spot) -> bool {
        spot.seat() != self.view.seat() && self.view.table().seen(spot.seat()).contains(spot)
    }

    /// The total points of the known cards of a layout.
    #[inline]
    fn known_sum(&self, seat: Seat, layout: SpotSet) -> i32 {
        self.model.tally(seat, layout, self.view.rules()).sum
    }

    /// The total expected points of another seat's cards, by [`HeuristicDecision::worth`].
    #[inline]
    fn sum(&self, seat: Seat) -> f64 {
        let table = self.view.table();
        let layout = table.layout(seat);
        let unknown = layout.without(self.known);
        let hoarded = unknown.intersection(table.seen(seat)).len();
        f64::from(self.known_sum(seat, layout)) + unknown.len() as f64 * self.mean()
            - hoarded as f64 * self.params.hoard
    }

    fn own_sum(&self) -> f64 {
        f64::from(self.known_sum(self.view.seat(), self.own)) + self.own.without(self.known).len() as f64 * self.mean()
    }

    /// The value of losing the worst of these cards of the player. If a known and an unknown card tie, the known card
    /// is the worst. Replacing an unknown card also gains [`HeuristicDecision::curiosity`].
    #[inline]
    fn worst(&self, spots: SpotSet) -> Option<f64> {
        let known = self.model.tally(self.view.seat(), spots, self.view.rules()).most.map(f64::from);
        if spots.without(self.known).is_empty() {
            return known;
        }
        let unknown = self.mean() + self.curiosity();
        known.filter(|&points| points >= unknown).or(Some(unknown))
    }

    /// All of the player's `spots` that tie for the worst. `worth` is the result of [`HeuristicDecision::worst`].
    fn worst_spots(&self, spots: SpotSet, worth: f64) -> SpotSet {
        let known = self.model.known_cards_of(self.view.seat(), spots);
        let worst: SpotSet = known.filter(|&(_, card)| self.points(card) >= worth).map(|(spot, _)| spot).collect();
        if worst.is_empty() { spots.without(self.known) } else { worst }
    }

    /// The spots with the fewest expected points.
    fn best(&self, spots: SpotSet) -> LeastSpots {
        let mut best = LeastSpots::NONE;
        spots.iter_from(self.view.seat()).for_each(|spot| best.offer(self.worth(spot), spot));
        best
    }

    /// One of these equally good spots.
    #[inline]
    fn one_of(&self, spots: SpotSet) -> Option<Spot> {
        if spots.is_empty() { None } else { one_of(self.view, spots) }
    }

    fn calls(&self) -> bool {
        let (seat, rules) = (self.view.seat(), self.view.rules());
        if let Some(calls) = self.params.rule.decides(self.model, seat, self.own, rules) {
            return calls;
        }
        let own = self.own_sum();
        if let Cap::Score(most) = self.view.rules().spec().cap
            && own > f64::from(most)
        {
            return false;
        }
        own <= self.params.call_at
            && (self.params.call_margin <= -1000.0 || own + self.params.call_margin <= self.lowest_other())
            && (self.params.call_chance <= 0.0 || self.expects_lowest(own))
    }

    fn others(&self) -> impl Iterator<Item = Seat> {
        self.view.seat().round(self.view.table().seats()).skip(1)
    }

    fn lowest_other(&self) -> f64 {
        let sums = self.others().map(|seat| self.sum(seat));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Whether the chance that no other seat ends below the player is at least `call_chance`, in the geometric mean
    /// over the other seats. If a call fails on a tie, the other seats must not tie either.
    ///
    /// Sums are modelled as independent and normal, with the deck's variance for each unknown card. Each of the other
    /// seats is expected to save `last_turn` points in its last turn.
    fn expects_lowest(&self, own: f64) -> bool {
        let (rules, table) = (self.view.rules(), self.view.table());
        let (cards, points) = (rules.deck().len() as i32, rules.deck_points());
        let variance = f64::from(cards * rules.deck_squares() - points * points) / f64::from(cards * cards);
        let unknown = |spots: SpotSet| spots.without(self.known).len();
        let own_unknown = unknown(self.own);
        let tie = if rules.spec().caller_tie == CallerTie::Fails { -0.5 } else { 0.5 };
        let (mut chance, mut wanted) = (1.0, 1.0);
        for _ in 1..table.seats() {
            wanted *= self.params.call_chance;
        }
        for seat in self.others() {
            let ahead = self.sum(seat) - self.params.last_turn - own + tie;
            // A player that is behind has a chance of at most a half.
            if ahead <= 0.0 && 0.5 * chance < wanted {
                return false;
            }
            let spread = variance * (own_unknown + unknown(table.layout(seat))) as f64;
            // The normal distribution function for variance spread + 1, to within 0.03: an algebraic curve with the same
            // slope at 0. A library function may differ in the last digit between machines.
            chance *= 0.5 + 0.5 * ahead / (ahead * ahead + (spread + 1.0) * std::f64::consts::FRAC_PI_2).sqrt();
            if chance < wanted {
                return false;
            }
        }
        true
    }

    fn start(&self) -> Action {
        if self.view.allows(Action::Call) && self.calls() {
            return Action::Call;
        }
        if self.view.allows(Action::Take) && self.gains_by_taking() {
            return Action::Take;
        }
        if self.view.allows(Action::Draw) { Action::Draw } else { self.idle() }
    }

    fn gains_by_taking(&self) -> bool {
        let Some(top) = self.view.table().top() else { return false };
        let enough = self.points(top) + self.params.take_gain;
        // Fast path: most top cards are too high for any layout.
        let most = f64::from(self.view.rules().most_points()) + self.curiosity();
        most >= enough && self.worst(self.own).is_some_and(|worth| worth >= enough)
    }

    fn close(&self) -> Action {
        if self.view.allows(Action::Call) && self.calls() { Action::Call } else { Action::End }
    }

    fn keep_or_drop(&self, source: CardSource) -> Action {
        let (Some(held), Some(worth)) = (self.view.held(), self.worst(self.own)) else { return self.idle() };
        let gain = worth - self.points(held) - self.params.keep_gain;
        let keeps = gain > 0.0 && gain > self.power_worth(held, source);
        if !keeps && self.view.allows(Action::Drop) {
            return Action::Drop;
        }
        self.one_of(self.worst_spots(self.own, worth)).map_or(Action::Drop, Action::Keep)
    }

    /// The value of the power that dropping the held card would give. In the last turn a look has no value.
    fn power_worth(&self, held: Card, source: CardSource) -> f64 {
        let rules = self.view.rules();
        let power = rules.power(held);
        let is_free =
            source == CardSource::Stock || matches!(rules.spec().redrop, Redrop::Power | Redrop::UnspentPower);
        let swaps = || (0..).map_while(|step| power.step(step)).any(PowerStep::swaps);
        if power.is_none() || !is_free || (self.is_last_turn() && !swaps()) { 0.0 } else { self.params.power_worth }
    }

    /// Snaps the card that saves most: one of the player's cards saves its own points; another seat's card saves the
    /// points of the card that the player gives for it.
    fn snap(&self) -> Action {
        let targets = self.view.targets();
        let mut best = LeastSpots::NONE;
        let mut offer = |gain: f64, spot: Spot| {
            if gain > 0.0 {
                best.offer(-gain, spot);
            }
        };
        for (spot, card) in self.model.known_cards(targets) {
            if !self.view.would_match(spot, card) {
                continue;
            }
            if self.own.contains(spot) {
                offer(self.points(card), spot);
            } else if let Some(given) = self.worst(self.own)
                && given >= self.params.foreign_gain
            {
                offer(given, spot);
            }
        }
        if self.params.gamble > 0.0 {
            for spot in targets.intersection(self.own).without(self.known).iter_from(self.view.seat()) {
                offer(self.gamble(spot), spot);
            }
        }
        self.one_of(best.spots).map_or(Action::Pass, Action::Snap)
    }

    /// The expected gain of snapping one of the player's unknown cards: its points if it matches. 0 if the gain is too
    /// small compared with the expected points of a penalty.
    fn gamble(&self, spot: Spot) -> f64 {
        let (rules, table) = (self.view.rules(), self.view.table());
        let (mut matching, mut all, mut points) = (0.0, 0.0, 0.0);
        for card in (0..rules.kinds().len()).filter_map(Card::new) {
            let seen = self.model.known_cards(self.known).filter(|(_, known)| *known == card).count();
            let copies = rules.copies_of(card).saturating_sub(table.on_pile(card) + seen) as f64;
            all += copies;
            if self.view.would_match(spot, card) {
                matching += copies;
                points += copies * self.points(card);
            }
        }
        if all == 0.0 {
            return 0.0;
        }
        let late = if rules.spec().late == Late::Penalise { 0.2 } else { 0.0 };
        let penalty = self.mean().max(0.0) * rules.spec().penalty.get() as f64;
        let (gain, loss) = (points / all, ((all - matching) / all + late * matching / all) * penalty);
        if gain > self.params.gamble * loss { gain } else { 0.0 }
    }

    /// Touches a card as a bluff with the probability `bluff`.
    fn bluff(&self, stream: &mut Stream) -> Option<Action> {
        const SCALE: u32 = 1 << 20;
        let spot = self.one_of(self.own)?;
        let touches = self.params.bluff > 0.0 && self.view.allows(Action::Touch(spot));
        (touches && stream.chance((self.params.bluff * f64::from(SCALE)) as u32, SCALE)).then_some(Action::Touch(spot))
    }

    fn give(&self) -> Action {
        let must = self.view.rules().spec().gift == Gift::Must;
        match self.worst(self.own) {
            Some(worth) if worth > 0.0 || must => {
                self.one_of(self.worst_spots(self.own, worth)).map_or(Action::Skip, Action::Give)
            }
            _ => Action::Skip,
        }
    }

    /// Tries in this order: a look at one of the player's unknown cards, a swap that saves points, a look at another
    /// seat's card, a swap that disrupts. In the last turn, the swap that saves points comes first.
    fn use_power(&self) -> Action {
        let unknown = self.view.targets().without(self.known);
        let own = self.one_of(unknown.intersection(self.own)).map(Action::Look);
        let first = if self.is_last_turn() { self.gainful_swap().or(own) } else { own.or_else(|| self.gainful_swap()) };
        if let Some(action) = first {
            return action;
        }
        // A card that its owner knows is the most informative.
        let look = self.one_of(self.hoarded(unknown)).or_else(|| self.one_of(unknown));
        let action = look.map(Action::Look).or_else(|| self.disrupting_swap());
        action.unwrap_or_else(|| if self.view.allows(Action::Skip) { Action::Skip } else { self.idle() })
    }

    fn gainful_swap(&self) -> Option<Action> {
        let swappable = self.view.swappable();
        let own = swappable.intersection(self.own);
        let worth = self.worst(own)?;
        let theirs = self.best(swappable.without(self.own));
        if worth - theirs.value < self.params.swap_gain {
            return None;
        }
        let swap = Action::swap(self.one_of(self.worst_spots(own, worth))?, self.one_of(theirs.spots)?);
        self.view.allows(swap).then_some(swap)
    }

    /// A swap of two cards of other seats, the first of which its owner knows.
    fn disrupting_swap(&self) -> Option<Action> {
        if self.params.disrupt <= 0.0 {
            return None;
        }
        let swappable = self.view.swappable().without(self.own);
        let first = self.one_of(self.hoarded(swappable))?;
        let others = swappable.without(SpotSet::only(first)).iter_from(self.view.seat());
        let second = self.one_of(others.filter(|&spot| self.view.allows(Action::swap(first, spot))).collect())?;
        Some(Action::swap(first, second))
    }

    /// The spots in the set whose cards their owners know and the player does not.
    fn hoarded(&self, spots: SpotSet) -> SpotSet {
        spots.without(self.known).iter_from(self.view.seat()).filter(|&spot| self.is_hoarded(spot)).collect()
    }

    /// The decision if the player has no preference: the one that changes least, otherwise the one that costs least.
    #[cold]
    fn idle(&self) -> Action {
        let choices = self.view.choices();
        let idle = [Action::Pass, Action::End, Action::Skip, Action::Draw, Action::Drop];
        if let Some(action) = idle.into_iter().find(|&action| choices.contains(action)) {
            return action;
        }
        let cost = |action: &Action| match *action {
            Action::Swap(one, other) => match (self.own.contains(one), self.own.contains(other)) {
                (true, false) => self.worth(other) - self.worth(one),
                (false, true) => self.worth(one) - self.worth(other),
                _ => 0.0,
            },
            Action::Give(spot) | Action::Keep(spot) => -self.worth(spot),
            _ => 0.0,
        };
        least_of(self.view, cost).expect("the seat to act has a choice")
    }
}
