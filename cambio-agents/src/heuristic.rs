//! The memory heuristic: one decision at a time, by what the player remembers and expects.

mod params;
mod preset;

use std::cell::Cell;

use cambio_core::knob::{Best, CallerTie, Cap, Gift, Late, MatchEnd, Redrop, Score};
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{
    Action, Agent, Briefing, Card, Choices, Observation, Phase, Rules, Seat, Sighting, Source, Spot, SpotSet, Standing,
    View,
};

use crate::memory::Memory;
use crate::player::Extensions;
pub use params::HeuristicParams;
pub use preset::Preset;

/// Plays by what it remembers: keeps, takes, snaps, swaps and calls by expected points.
#[derive(Clone, Debug)]
pub struct Heuristic {
    params: HeuristicParams,
    memory: Option<Memory>,
    stream: Option<Stream>,
    /// The parameters in this round: how the match stands may change them.
    today: HeuristicParams,
}

impl Heuristic {
    /// A heuristic player.
    pub fn new(params: &HeuristicParams) -> Heuristic {
        Heuristic { params: *params, memory: None, stream: None, today: *params }
    }
}

impl Agent for Heuristic {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.memory = Some(Memory::new(self.params.memory, briefing));
        self.stream = Some(briefing.stream.clone());
        self.today = self.params;
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        let seat = self.memory.as_ref().expect("a match begins with a briefing").seat();
        self.today.call_at = self.params.call_at + self.params.chase * behind(standing, seat);
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.memory.as_mut().expect("a match begins with a briefing").notice(sighting);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let memory = self.memory.as_ref().expect("a match begins with a briefing");
        let mind = Mind::new(view, memory, &self.today);
        let action = mind.decide();
        if action == Action::Pass
            && view.table().phase() == Phase::Window
            && let Some(touch) = self.stream.as_mut().and_then(|stream| mind.bluff(stream))
        {
            return touch;
        }
        action
    }
}

impl Extensions for Heuristic {
    fn lapses(&self) -> Option<u32> {
        self.memory.as_ref().map(Memory::lapses)
    }
}

/// How many tens of points this seat is behind the best other, where totals of points decide the match; else 0.
fn behind(standing: &Standing<'_>, seat: Seat) -> f64 {
    let spec = standing.setup.rules.spec();
    if spec.score != Score::Points || spec.best != Best::Fewest || !matches!(spec.match_end, MatchEnd::Total(_)) {
        return 0.0;
    }
    let others = standing.totals.iter().enumerate().filter(|(other, _)| *other != seat.index());
    let best = others.map(|(_, total)| total.units()).min().unwrap_or(0);
    f64::from(standing.totals[seat.index()].units() - best) / f64::from(10 * cambio_core::Score::UNITS)
}

/// What a player with these parameters decides who has forgotten nothing that it saw. Depends on the view alone.
#[inline]
pub(crate) fn blueprint(params: &HeuristicParams, view: &impl View) -> Action {
    Mind::new(view, view, params).decide()
}

/// What a player takes the cards on the table to be.
pub(crate) trait CardModel {
    /// The card that it takes to lie here.
    fn face(&self, spot: Spot) -> Option<Card>;
    /// The spots of which it takes itself to know the card.
    fn known(&self) -> SpotSet;

    /// The cards that it takes to lie in these spots.
    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        spots.intersection(self.known()).into_iter().filter_map(|spot| Some((spot, self.face(spot)?)))
    }

    /// The points of all that it takes itself to know together.
    fn known_points(&self, rules: &Rules) -> i32 {
        self.known_cards(self.known()).map(|(_, card)| rules.points(card)).sum()
    }
}

impl CardModel for Memory {
    fn face(&self, spot: Spot) -> Option<Card> {
        Memory::face(self, spot)
    }

    fn known(&self) -> SpotSet {
        Memory::known(self)
    }
}

impl<V: View> CardModel for V {
    #[inline]
    fn face(&self, spot: Spot) -> Option<Card> {
        View::face(self, spot)
    }

    #[inline]
    fn known(&self) -> SpotSet {
        View::known(self)
    }

    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        View::known_cards(self, spots)
    }

    #[inline]
    fn known_points(&self, _: &Rules) -> i32 {
        View::known_points(self)
    }
}

/// One decision: the view, what the player takes the cards to be, and what that makes them worth.
pub(crate) struct Mind<'v, V, M> {
    view: &'v V,
    model: &'v M,
    params: &'v HeuristicParams,
    choices: Choices,
    own: SpotSet,
    known: SpotSet,
    /// The mean of what is not in the model, once it is asked for.
    mean: Cell<Option<f64>>,
    /// What the known own cards come to, once it is asked for.
    survey: Cell<Option<Survey>>,
}

/// The mean points of the cards that are neither on the pile nor held nor in the model; 0 where none is left.
#[inline]
pub(crate) fn mean_elsewhere(view: &impl View, model: &impl CardModel) -> f64 {
    let (rules, table) = (view.rules(), view.table());
    let held = view.held();
    let here = model.known_points(rules) + held.map_or(0, |card| rules.points(card));
    let points = rules.deck_points() - table.pile_points() - here;
    let cards =
        rules.deck().len() as i32 - table.pile_len() as i32 - model.known().len() as i32 - i32::from(held.is_some());
    if cards > 0 { f64::from(points) / f64::from(cards) } else { 0.0 }
}

/// What is computed once; unlike in a `OnceCell`, in line where it is asked for.
#[inline]
fn once<T: Copy>(cell: &Cell<Option<T>>, compute: impl FnOnce() -> T) -> T {
    let value = cell.get().unwrap_or_else(compute);
    cell.set(Some(value));
    value
}

/// What the known cards of a layout come to.
#[derive(Clone, Copy)]
struct Survey {
    /// Their points together.
    sum: i32,
    /// The worst of them, the first of equals.
    worst: Option<(i32, Spot)>,
}

impl<'v, V: View, M: CardModel> Mind<'v, V, M> {
    #[inline]
    pub(crate) fn new(view: &'v V, model: &'v M, params: &'v HeuristicParams) -> Mind<'v, V, M> {
        let own = view.table().layout(view.seat());
        let (mean, survey) = (Cell::new(None), Cell::new(None));
        Mind { view, model, params, choices: view.choices(), own, known: model.known(), mean, survey }
    }

    #[expect(clippy::inline_always, reason = "playouts call it in one place, and it is small but for what is rare")]
    #[inline(always)]
    pub(crate) fn decide(&self) -> Action {
        let choices = &self.choices;
        let wish = match self.view.table().phase() {
            Phase::Start => self.start(),
            Phase::Held(source) => self.keep_or_drop(source, choices.contains(Action::Drop)),
            Phase::Window | Phase::Chain => self.snap(choices.targets()),
            Phase::Gift => self.give(),
            Phase::Power => self.use_power(),
            Phase::Close => self.calls().then_some(Action::Call),
            Phase::Peek | Phase::Show | Phase::Over => None,
        };
        if let Some(action) = wish
            && choices.contains(action)
        {
            return action;
        }
        let idle = [Action::Pass, Action::End, Action::Skip, Action::Draw, Action::Drop];
        let idle = idle.into_iter().find(|&action| choices.contains(action));
        idle.or_else(|| self.least_harm()).expect("who is asked has a choice")
    }

    #[inline]
    fn mean(&self) -> f64 {
        once(&self.mean, || mean_elsewhere(self.view, self.model))
    }

    fn points(&self, card: Card) -> f64 {
        f64::from(self.view.rules().points(card))
    }

    /// Whether this turn is the player's last in the round.
    fn is_last_turn(&self) -> bool {
        !self.view.table().callers().is_empty()
    }

    /// What it is worth to know an own card: nothing where no turn is left to use it.
    fn curiosity(&self) -> f64 {
        if self.is_last_turn() { 0.0 } else { self.params.curiosity }
    }

    /// What the card here is expected to count: one that its owner knows and this player does not is taken for lower.
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

    /// What the cards here are expected to count together, as [`Mind::worth`] says of each.
    fn sum(&self, seat: Seat) -> f64 {
        let table = self.view.table();
        let layout = table.layout(seat);
        let unknown = layout.without(self.known);
        let hoarded = if seat == self.view.seat() { 0 } else { unknown.intersection(table.seen(seat)).len() };
        f64::from(self.survey_of(layout).sum) + unknown.len() as f64 * self.mean() - hoarded as f64 * self.params.hoard
    }

    #[inline]
    fn survey_of(&self, spots: SpotSet) -> Survey {
        let mut survey = Survey { sum: 0, worst: None };
        for (spot, card) in self.model.known_cards(spots) {
            let points = self.view.rules().points(card);
            survey.sum += points;
            if survey.worst.is_none_or(|(most, _)| points > most) {
                survey.worst = Some((points, spot));
            }
        }
        survey
    }

    /// One walk over the known own cards serves most decisions.
    #[inline]
    fn survey(&self) -> Survey {
        once(&self.survey, || self.survey_of(self.own))
    }

    fn own_sum(&self) -> f64 {
        f64::from(self.survey().sum) + self.own.without(self.known).len() as f64 * self.mean()
    }

    /// The own spot that is worst to have, the first of equals, a known one before an unknown one; not to know a card is
    /// worth something too.
    fn worst(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        let known = if spots == self.own { self.survey().worst } else { self.survey_of(spots).worst };
        let known = known.map(|(points, spot)| (f64::from(points), spot));
        let Some(unknown) = spots.without(self.known).lowest() else { return known };
        let worth = self.mean() + self.curiosity();
        known.filter(|(points, _)| *points >= worth).or(Some((worth, unknown)))
    }

    /// The spot of which the fewest points are expected, the first of equals.
    fn best(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        let mut best = None;
        for spot in spots {
            let worth = self.worth(spot);
            if best.is_none_or(|(least, _)| worth < least) {
                best = Some((worth, spot));
            }
        }
        best
    }

    fn calls(&self) -> bool {
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
        let own = self.view.seat();
        Seat::ALL[..self.view.table().seats()].iter().copied().filter(move |&seat| seat != own)
    }

    fn lowest_other(&self) -> f64 {
        let sums = self.others().map(|seat| self.sum(seat));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Whether the chance that no other seat ends below the player, nor level where a tie fails a call, is as large as
    /// `call_chance` for each of them.
    ///
    /// Sums are taken for independent and normal, with the variance of the deck for each card that is not known, and
    /// every other seat for `last_turn` points better after its last turn.
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
            let spread = variance * (own_unknown + unknown(table.layout(seat))) as f64;
            let ahead = self.sum(seat) - self.params.last_turn - own + tie;
            // The normal distribution function of a variance of spread + 1 to within 0.03, by an algebraic curve with its
            // slope at 0: a library's may differ in the last digit from machine to machine.
            chance *= 0.5 + 0.5 * ahead / (ahead * ahead + (spread + 1.0) * std::f64::consts::FRAC_PI_2).sqrt();
            if chance < wanted {
                return false;
            }
        }
        true
    }

    fn start(&self) -> Option<Action> {
        if self.choices.contains(Action::Call) && self.calls() {
            return Some(Action::Call);
        }
        if !self.choices.contains(Action::Take) {
            return None;
        }
        let enough = self.points(self.view.table().top()?) + self.params.take_gain;
        // Most tops are too high whatever the player has.
        let most = f64::from(self.view.rules().most_points()).max(self.mean() + self.curiosity());
        (most >= enough && self.worst(self.own)?.0 >= enough).then_some(Action::Take)
    }

    fn keep_or_drop(&self, source: Source, may_drop: bool) -> Option<Action> {
        let held = self.view.held()?;
        let (worth, spot) = self.worst(self.own)?;
        let gain = worth - self.points(held) - self.params.keep_gain;
        let keeps = gain > 0.0 && gain > self.power_worth(held, source);
        Some(if keeps || !may_drop { Action::Keep(spot) } else { Action::Drop })
    }

    /// What the power is worth that dropping the held card sets free. To look at cards is worth nothing in a last turn.
    fn power_worth(&self, held: Card, source: Source) -> f64 {
        let rules = self.view.rules();
        let power = rules.power(held);
        let is_free = source == Source::Stock || matches!(rules.spec().redrop, Redrop::Power | Redrop::UnspentPower);
        let swaps = || (0..).map_while(|step| power.step(step)).any(cambio_core::Step::swaps);
        if power.is_none() || !is_free || (self.is_last_turn() && !swaps()) { 0.0 } else { self.params.power_worth }
    }

    /// The snap that saves most: an own card its points, a foreign one those of the card that is given for it.
    fn snap(&self, targets: SpotSet) -> Option<Action> {
        let mut best: Option<(f64, Spot)> = None;
        let mut offer = |gain: f64, spot: Spot| {
            if gain > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, spot));
            }
        };
        for (spot, card) in self.model.known_cards(targets) {
            if !self.view.would_match(spot, card) {
                continue;
            }
            if self.own.contains(spot) {
                offer(self.points(card), spot);
            } else if let Some((given, _)) = self.worst(self.own)
                && given >= self.params.foreign_gain
            {
                offer(given, spot);
            }
        }
        if self.params.gamble > 0.0 {
            for spot in targets.intersection(self.own).without(self.known) {
                offer(self.gamble(spot), spot);
            }
        }
        best.map(|(_, spot)| Action::Snap(spot))
    }

    /// What snapping an unknown own card is expected to gain, its points if it matches; 0 where that is too little
    /// against the penalty card that it may cost.
    fn gamble(&self, spot: Spot) -> f64 {
        let (rules, table) = (self.view.rules(), self.view.table());
        let (mut matching, mut all, mut points) = (0.0, 0.0, 0.0);
        for card in (0..rules.kinds().len()).filter_map(Card::new) {
            let seen = self.known.into_iter().filter(|&spot| self.model.face(spot) == Some(card)).count();
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
        let (gain, loss) = (points / all, ((all - matching) / all + late * matching / all) * self.mean().max(0.0));
        if gain > self.params.gamble * loss { gain } else { 0.0 }
    }

    fn bluff(&self, stream: &mut Stream) -> Option<Action> {
        const SCALE: u32 = 1 << 20;
        let spot = self.own.lowest()?;
        let touches = self.params.bluff > 0.0 && self.choices.contains(Action::Touch(spot));
        (touches && stream.chance((self.params.bluff * f64::from(SCALE)) as u32, SCALE)).then_some(Action::Touch(spot))
    }

    fn give(&self) -> Option<Action> {
        let (worth, spot) = self.worst(self.own)?;
        let must = self.view.rules().spec().gift == Gift::Must;
        (worth > 0.0 || must).then_some(Action::Give(spot))
    }

    /// Looks at an unknown own card, swaps if that saves points, looks at a foreign card, disrupts, in this order; in a
    /// last turn it swaps first.
    fn use_power(&self) -> Option<Action> {
        let unknown = self.choices.targets().without(self.known);
        let own = unknown.intersection(self.own).lowest().map(Action::Look);
        let first = if self.is_last_turn() { self.gainful_swap().or(own) } else { own.or_else(|| self.gainful_swap()) };
        if first.is_some() {
            return first;
        }
        // A card that its owner knows tells most.
        let look = unknown.into_iter().find(|&spot| self.is_hoarded(spot)).or_else(|| unknown.lowest());
        look.map(Action::Look).or_else(|| self.disrupting_swap())
    }

    fn gainful_swap(&self) -> Option<Action> {
        let swappable = self.choices.swappable();
        let (mine_worth, mine) = self.worst(swappable.intersection(self.own))?;
        let (theirs_worth, theirs) = self.best(swappable.without(self.own))?;
        let swap = Action::swap(mine, theirs);
        (mine_worth - theirs_worth >= self.params.swap_gain && self.choices.contains(swap)).then_some(swap)
    }

    /// Moves the lowest card that its owner alone knows, for another one of a seat that is not this player's.
    fn disrupting_swap(&self) -> Option<Action> {
        if self.params.disrupt <= 0.0 {
            return None;
        }
        let foreign = self.choices.swappable().without(self.own);
        let first = foreign.into_iter().find(|&spot| self.is_hoarded(spot))?;
        let others = foreign.into_iter().filter(|&spot| spot != first);
        others.map(|spot| Action::swap(first, spot)).find(|&swap| self.choices.contains(swap))
    }

    /// What costs least where something has to be done.
    #[cold]
    fn least_harm(&self) -> Option<Action> {
        let cost = |action: &Action| match *action {
            Action::Swap(one, other) => match (self.own.contains(one), self.own.contains(other)) {
                (true, false) => self.worth(other) - self.worth(one),
                (false, true) => self.worth(one) - self.worth(other),
                _ => 0.0,
            },
            Action::Give(spot) | Action::Keep(spot) => -self.worth(spot),
            _ => 0.0,
        };
        self.choices.iter().min_by(|one, other| cost(one).total_cmp(&cost(other)))
    }
}
