//! The memory heuristic: one decision at a time, by what the player remembers and expects.

use std::cell::OnceCell;

use cambio_core::knob::{Best, CallerTie, Cap, Gift, Late, MatchEnd, Redrop, Score};
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{
    Action, Agent, Briefing, Card, Observation, Phase, Seat, Sighting, Source, Spot, SpotSet, Standing, View,
};

use crate::Manner;
use crate::memory::{Forgetting, Memory};

/// Plays by what it remembers: keeps, takes, snaps, swaps and calls by expected points.
#[derive(Clone, Debug)]
pub struct Heuristic {
    manner: Manner,
    forgetting: Forgetting,
    memory: Option<Memory>,
    stream: Option<Stream>,
    /// The manner in this round: how the match stands may change it.
    today: Manner,
}

impl Heuristic {
    /// A heuristic player of this manner and memory.
    pub fn new(manner: Manner, forgetting: Forgetting) -> Heuristic {
        Heuristic { manner, forgetting, memory: None, stream: None, today: manner }
    }
}

impl Agent for Heuristic {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.memory = Some(Memory::new(self.forgetting, briefing));
        self.stream = Some(briefing.stream.clone());
        self.today = self.manner;
    }

    fn round_begins(&mut self, standing: &Standing<'_>) {
        let seat = self.memory.as_ref().expect("a match begins with a briefing").seat();
        self.today =
            Manner { call_at: self.manner.call_at + self.manner.chase * behind(standing, seat), ..self.manner };
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

/// What a player of this manner decides who has forgotten nothing that it saw. Depends on the view alone.
#[inline]
pub(crate) fn blueprint(manner: &Manner, view: &impl View) -> Action {
    Mind::new(view, view, manner).decide()
}

/// What a player takes the cards on the table to be.
pub(crate) trait Picture {
    /// The card that it takes to lie here.
    fn face(&self, spot: Spot) -> Option<Card>;
    /// The spots of which it takes itself to know the card.
    fn known(&self) -> SpotSet;
}

impl Picture for Memory {
    fn face(&self, spot: Spot) -> Option<Card> {
        Memory::face(self, spot)
    }

    fn known(&self) -> SpotSet {
        Memory::known(self)
    }
}

impl<V: View> Picture for V {
    #[inline]
    fn face(&self, spot: Spot) -> Option<Card> {
        View::face(self, spot)
    }

    #[inline]
    fn known(&self) -> SpotSet {
        View::known(self)
    }
}

/// One decision: the view, what the player takes the cards to be, and what that makes them worth.
pub(crate) struct Mind<'v, V, P> {
    view: &'v V,
    picture: &'v P,
    manner: &'v Manner,
    own: SpotSet,
    known: SpotSet,
    /// What the known cards come to, once it is asked for.
    survey: OnceCell<Survey>,
}

/// What the known cards come to.
#[derive(Clone, Copy)]
pub(crate) struct Survey {
    /// The mean points of the cards that are neither on the pile nor held nor in the picture; 0 where none is left.
    pub(crate) mean: f64,
    /// The points of the own cards that are known.
    own: i32,
    /// The worst of them, the first of equals.
    worst: Option<(i32, Spot)>,
}

impl Survey {
    #[inline]
    pub(crate) fn new(view: &impl View, picture: &impl Picture) -> Survey {
        let (rules, table) = (view.rules(), view.table());
        let (layout, known) = (table.layout(view.seat()), picture.known());
        let mut points = rules.deck_points() - table.pile_points();
        let mut cards = rules.deck().len() as i32 - table.pile_len() as i32;
        let foreign = known.without(layout).into_iter().filter_map(|spot| picture.face(spot));
        for card in foreign.chain(view.held()) {
            points -= rules.points(card);
            cards -= 1;
        }
        let (mut own, mut worst) = (0, None);
        for spot in known.intersection(layout) {
            let Some(card) = picture.face(spot) else { continue };
            let counts = rules.points(card);
            points -= counts;
            cards -= 1;
            own += counts;
            if worst.is_none_or(|(most, _)| counts > most) {
                worst = Some((counts, spot));
            }
        }
        let mean = if cards > 0 { f64::from(points) / f64::from(cards) } else { 0.0 };
        Survey { mean, own, worst }
    }
}

impl<'v, V: View, P: Picture> Mind<'v, V, P> {
    #[inline]
    pub(crate) fn new(view: &'v V, picture: &'v P, manner: &'v Manner) -> Mind<'v, V, P> {
        let own = view.table().layout(view.seat());
        Mind { view, picture, manner, own, known: picture.known(), survey: OnceCell::new() }
    }

    #[inline]
    pub(crate) fn decide(&self) -> Action {
        let choices = self.view.choices();
        let wish = match self.view.table().phase() {
            Phase::Start => self.start(choices.contains(Action::Call)),
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

    fn mean(&self) -> f64 {
        self.survey().mean
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
        if self.is_last_turn() { 0.0 } else { self.manner.curiosity }
    }

    /// What the card here is expected to count: one that its owner knows and this player does not is taken for lower.
    fn worth(&self, spot: Spot) -> f64 {
        match self.picture.face(spot) {
            Some(card) => self.points(card),
            None if self.is_hoarded(spot) => self.mean() - self.manner.hoard,
            None => self.mean(),
        }
    }

    /// Whether this is another seat's card that its owner has seen.
    fn is_hoarded(&self, spot: Spot) -> bool {
        spot.seat() != self.view.seat() && self.view.table().seen(spot.seat()).contains(spot)
    }

    fn sum(&self, spots: SpotSet) -> f64 {
        spots.into_iter().map(|spot| self.worth(spot)).sum()
    }

    /// One walk over the known cards serves most decisions.
    #[inline]
    fn survey(&self) -> &Survey {
        self.survey.get_or_init(|| Survey::new(self.view, self.picture))
    }

    fn own_sum(&self) -> f64 {
        let Survey { mean, own, .. } = *self.survey();
        f64::from(own) + self.own.without(self.known).len() as f64 * mean
    }

    /// The own spot that is worst to have, the first of equals, a known one before an unknown one; not to know a card is
    /// worth something too.
    fn worst(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        let known = if spots == self.own {
            self.survey().worst
        } else {
            let mut worst: Option<(i32, Spot)> = None;
            for spot in spots.intersection(self.known) {
                let points = self.picture.face(spot).map_or(0, |card| self.view.rules().points(card));
                if worst.is_none_or(|(most, _)| points > most) {
                    worst = Some((points, spot));
                }
            }
            worst
        };
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
        own <= self.manner.call_at
            && (self.manner.call_margin <= -1000.0 || own + self.manner.call_margin <= self.lowest_other())
            && (self.manner.call_chance <= 0.0 || self.expects_lowest(own))
    }

    fn others(&self) -> impl Iterator<Item = Seat> {
        let own = self.view.seat();
        Seat::ALL[..self.view.table().seats()].iter().copied().filter(move |&seat| seat != own)
    }

    fn lowest_other(&self) -> f64 {
        let sums = self.others().map(|seat| self.sum(self.view.table().layout(seat)));
        sums.fold(f64::INFINITY, f64::min)
    }

    /// Whether the chance that no other seat ends below the player, nor level where a tie fails a call, is as large as
    /// `call_chance` for each of them.
    ///
    /// Sums are taken for independent and normal, with the variance of the deck for each card that is not known, and
    /// every other seat for `last_turn` points better after its last turn.
    fn expects_lowest(&self, own: f64) -> bool {
        let (rules, table) = (self.view.rules(), self.view.table());
        let cards = rules.deck().len() as f64;
        let mean = f64::from(rules.deck_points()) / cards;
        let variance = f64::from(rules.deck_squares()) / cards - mean * mean;
        let spread = |spots: SpotSet| variance * spots.without(self.known).len() as f64;
        let tie = if rules.spec().caller_tie == CallerTie::Fails { -0.5 } else { 0.5 };
        let (mut chance, mut wanted) = (1.0, 1.0);
        for _ in self.others() {
            wanted *= self.manner.call_chance;
        }
        for seat in self.others() {
            let layout = table.layout(seat);
            let ahead = self.sum(layout) - self.manner.last_turn - own + tie;
            // The normal distribution function to within 0.03, by an algebraic curve with its slope at 0: a library's
            // may differ in the last digit from machine to machine.
            let deviations = ahead / (spread(self.own) + spread(layout) + 1.0).sqrt();
            chance *= 0.5 + 0.5 * deviations / (deviations * deviations + std::f64::consts::FRAC_PI_2).sqrt();
            if chance < wanted {
                return false;
            }
        }
        true
    }

    fn start(&self, may_call: bool) -> Option<Action> {
        if may_call && self.calls() {
            return Some(Action::Call);
        }
        let top = self.view.table().top()?;
        let (worth, _) = self.worst(self.own)?;
        (worth - self.points(top) >= self.manner.take_gain).then_some(Action::Take)
    }

    fn keep_or_drop(&self, source: Source, may_drop: bool) -> Option<Action> {
        let held = self.view.held()?;
        let (worth, spot) = self.worst(self.own)?;
        let gain = worth - self.points(held) - self.manner.keep_gain;
        let keeps = gain > 0.0 && gain > self.power_worth(held, source);
        Some(if keeps || !may_drop { Action::Keep(spot) } else { Action::Drop })
    }

    /// What the power is worth that dropping the held card sets free. To look at cards is worth nothing in a last turn.
    fn power_worth(&self, held: Card, source: Source) -> f64 {
        let rules = self.view.rules();
        let power = rules.power(held);
        let is_free = source == Source::Stock || matches!(rules.spec().redrop, Redrop::Power | Redrop::UnspentPower);
        let swaps = || (0..).map_while(|step| power.step(step)).any(cambio_core::Step::swaps);
        if power.is_none() || !is_free || (self.is_last_turn() && !swaps()) { 0.0 } else { self.manner.power_worth }
    }

    /// The snap that saves most: an own card its points, a foreign one those of the card that is given for it.
    fn snap(&self, targets: SpotSet) -> Option<Action> {
        let mut best: Option<(f64, Spot)> = None;
        let mut offer = |gain: f64, spot: Spot| {
            if gain > 0.0 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, spot));
            }
        };
        for spot in targets.intersection(self.known) {
            let Some(card) = self.picture.face(spot) else { continue };
            if !self.view.would_match(spot, card) {
                continue;
            }
            if self.own.contains(spot) {
                offer(self.points(card), spot);
            } else if let Some((given, _)) = self.worst(self.own)
                && given >= self.manner.foreign_gain
            {
                offer(given, spot);
            }
        }
        if self.manner.gamble > 0.0 {
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
            let seen = self.known.into_iter().filter(|&spot| self.picture.face(spot) == Some(card)).count();
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
        if gain > self.manner.gamble * loss { gain } else { 0.0 }
    }

    fn bluff(&self, stream: &mut Stream) -> Option<Action> {
        const SCALE: u32 = 1 << 20;
        let spot = self.own.lowest()?;
        let touches = self.manner.bluff > 0.0 && self.view.choices().contains(Action::Touch(spot));
        (touches && stream.chance((self.manner.bluff * f64::from(SCALE)) as u32, SCALE)).then_some(Action::Touch(spot))
    }

    fn give(&self) -> Option<Action> {
        let (worth, spot) = self.worst(self.own)?;
        let must = self.view.rules().spec().gift == Gift::Must;
        (worth > 0.0 || must).then_some(Action::Give(spot))
    }

    /// Looks at an unknown own card, swaps if that saves points, looks at a foreign card, disrupts, in this order; in a
    /// last turn it swaps first.
    fn use_power(&self) -> Option<Action> {
        let choices = self.view.choices();
        let unknown = choices.targets().without(self.known);
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
        let choices = self.view.choices();
        let swappable = choices.swappable();
        let (mine_worth, mine) = self.worst(swappable.intersection(self.own))?;
        let (theirs_worth, theirs) = self.best(swappable.without(self.own))?;
        let swap = Action::swap(mine, theirs);
        (mine_worth - theirs_worth >= self.manner.swap_gain && choices.contains(swap)).then_some(swap)
    }

    /// Moves the lowest card that its owner alone knows, for another one of a seat that is not this player's.
    fn disrupting_swap(&self) -> Option<Action> {
        if self.manner.disrupt <= 0.0 {
            return None;
        }
        let choices = self.view.choices();
        let foreign = choices.swappable().without(self.own);
        let first = foreign.into_iter().find(|&spot| self.is_hoarded(spot))?;
        let others = foreign.into_iter().filter(|&spot| spot != first);
        others.map(|spot| Action::swap(first, spot)).find(|&swap| choices.contains(swap))
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
        self.view.choices().iter().min_by(|one, other| cost(one).total_cmp(&cost(other)))
    }
}
