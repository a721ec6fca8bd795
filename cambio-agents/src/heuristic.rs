//! The memory heuristic: one decision at a time, by what the player remembers and expects.

use std::cell::OnceCell;
use std::sync::OnceLock;

use cambio_core::knob::{Gift, Late};
use cambio_core::rng::{Bounded as _, Stream};
use cambio_core::{Action, Agent, Briefing, Card, Observation, Phase, Sighting, Spot, SpotSet};

use crate::memory::{Forgetting, Memory};
use crate::{Param, Params, Range};

/// Declares the parameters of the heuristic once: field, default, range and meaning.
macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal in $range:expr,)+) => {
        /// The parameters of a [`Heuristic`].
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct Manner {
            $($(#[doc = $doc])+ pub $name: f64,)+
        }

        impl Default for Manner {
            fn default() -> Manner {
                Manner { $($name: $default,)+ }
            }
        }

        impl Manner {
            /// The parameters as specs name them; those of the memory models follow.
            pub const PARAMS: &'static [Param] = &[
                $(Param { name: stringify!($name), doc: concat!($($doc),+), default: Some($default), range: $range },)+
                Forgetting::PARAMS[0],
                Forgetting::PARAMS[1],
                Forgetting::PARAMS[2],
                Forgetting::PARAMS[3],
            ];

            /// The manner that a spec describes.
            pub fn from_params(params: &Params) -> Manner {
                Manner { $($name: params.value(stringify!($name)),)+ }
            }

            /// The parameters with this manner's values as defaults.
            fn params(self) -> Vec<Param> {
                let mut params = Manner::PARAMS.to_vec();
                for (name, value) in [$((stringify!($name), self.$name),)+] {
                    let param = params.iter_mut().find(|param| param.name == name).expect("it was declared above");
                    param.default = Some(value);
                }
                params
            }
        }
    };
}

parameters! {
    /// Calls when the expected sum of its own cards is at most this.
    call_at = 5.0 in Range::Real(-1000.0, 1000.0),
    /// Calls only if it expects so many points fewer than the lowest other seat; a large negative number never minds.
    call_margin = -1000.0 in Range::Real(-1000.0, 1000.0),
    /// What it takes a card for that another seat knows and it does not: so many points below the mean.
    hoard = 2.0 in Range::Real(0.0, 20.0),
    /// Keeps a card that saves more points than this.
    keep_gain = 0.0 in Range::Real(-20.0, 20.0),
    /// What a power is worth: a card with one is kept only if it saves so much more.
    power_worth = 1.5 in Range::Real(0.0, 20.0),
    /// What it is worth to know an own card that it does not know.
    curiosity = 0.5 in Range::Real(0.0, 20.0),
    /// Takes the pile's top if that saves so many points.
    take_gain = 4.0 in Range::Real(0.0, 30.0),
    /// Swaps if that saves so many points.
    swap_gain = 1.0 in Range::Real(0.0, 30.0),
    /// What it is worth to move a card that its owner knows and nobody else; 0 leaves others' knowledge alone.
    disrupt = 0.0 in Range::Real(0.0, 20.0),
    /// Snaps an unknown own card if its expected gain is so many times its expected loss; 0 never does.
    gamble = 0.0 in Range::Real(0.0, 100.0),
    /// Snaps cards of other seats if that saves so many points.
    foreign_gain = 0.5 in Range::Real(0.0, 30.0),
    /// Touches a card as a bluff with this probability, where the rules know it.
    bluff = 0.0 in Range::Real(0.0, 1.0),
}

/// A named set of parameters.
#[derive(Clone, Debug)]
pub struct Character {
    /// What a spec calls it.
    pub name: &'static str,
    /// How it plays, in a sentence.
    pub about: &'static str,
    /// What differs from the default.
    pub manner: Manner,
    /// The parameters, with the character's own defaults.
    pub params: Vec<Param>,
}

impl Character {
    /// The characters that ship.
    pub fn all() -> &'static [Character] {
        static ALL: OnceLock<Vec<Character>> = OnceLock::new();
        ALL.get_or_init(Character::make_all)
    }

    fn make_all() -> Vec<Character> {
        let base = Manner::default();
        let character = |name, about, manner: Manner| Character { name, about, manner, params: manner.params() };
        vec![
            character("cautious", "Calls only with next to nothing.", Manner { call_at: 1.0, ..base }),
            character("bold", "Calls early.", Manner { call_at: 11.0, ..base }),
            character(
                "patient",
                "Calls when it expects to be clearly lowest.",
                Manner { call_at: 12.0, call_margin: 4.0, ..base },
            ),
            character("snapper", "Gambles on unknown cards.", Manner { gamble: 0.15, foreign_gain: 0.0, ..base }),
            character("disruptor", "Moves what others know.", Manner { disrupt: 3.0, swap_gain: 0.5, ..base }),
            character("collector", "Takes from the pile whatever saves a point.", Manner { take_gain: 1.0, ..base }),
            character(
                "looker",
                "Drops powers to use them, whatever their points.",
                Manner { power_worth: 6.0, ..base },
            ),
            character("bluffer", "Touches cards that it would not snap.", Manner { bluff: 0.2, ..base }),
            character("never-calls", "Never calls.", Manner { call_at: -1000.0, ..base }),
        ]
    }
}

/// Plays by what it remembers: keeps, takes, snaps, swaps and calls by expected points.
#[derive(Clone, Debug)]
pub struct Heuristic {
    manner: Manner,
    forgetting: Forgetting,
    memory: Option<Memory>,
    stream: Option<Stream>,
}

impl Heuristic {
    /// A heuristic player of this manner and memory.
    pub fn new(manner: Manner, forgetting: Forgetting) -> Heuristic {
        Heuristic { manner, forgetting, memory: None, stream: None }
    }
}

impl Agent for Heuristic {
    fn begin(&mut self, briefing: &Briefing<'_>) {
        self.memory = Some(Memory::new(self.forgetting, briefing));
        self.stream = Some(briefing.stream.clone());
    }

    fn notice(&mut self, sighting: &Sighting) {
        self.memory.as_mut().expect("a match begins with a briefing").notice(sighting);
    }

    fn decide(&mut self, view: &Observation<'_>) -> Action {
        let memory = self.memory.as_ref().expect("a match begins with a briefing");
        let mind = Mind::new(view, memory, self.manner);
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

/// What a player of this manner decides who has forgotten nothing that it saw. Depends on the view alone.
pub(crate) fn blueprint(manner: Manner, view: &Observation<'_>) -> Action {
    Mind::new(view, view, manner).decide()
}

/// What a player takes the cards on the table to be.
pub(crate) trait Picture {
    /// The card that it takes to lie here.
    fn face(&self, spot: Spot) -> Option<Card>;
    /// The spots of which it takes itself to know the card.
    fn known(&self) -> SpotSet;
}

/// The mean points of the cards that are neither on the pile nor held nor in the picture; 0 where none is left.
pub(crate) fn mean_unseen(view: &Observation<'_>, picture: &impl Picture) -> f64 {
    let (rules, table) = (view.rules(), view.table());
    let mut points = rules.deck_points() - table.pile_points();
    let mut cards = rules.deck().len() as i32 - table.pile_len() as i32;
    let seen = picture.known().into_iter().filter_map(|spot| picture.face(spot));
    for card in seen.chain(view.held()) {
        points -= rules.points(card);
        cards -= 1;
    }
    if cards > 0 { f64::from(points) / f64::from(cards) } else { 0.0 }
}

impl Picture for Memory {
    fn face(&self, spot: Spot) -> Option<Card> {
        Memory::face(self, spot)
    }

    fn known(&self) -> SpotSet {
        Memory::known(self)
    }
}

impl Picture for Observation<'_> {
    fn face(&self, spot: Spot) -> Option<Card> {
        Observation::face(self, spot)
    }

    fn known(&self) -> SpotSet {
        Observation::known(self)
    }
}

/// One decision: the view, what the player takes the cards to be, and what that makes them worth.
struct Mind<'v, 'a, P> {
    view: &'v Observation<'a>,
    picture: &'v P,
    manner: Manner,
    own: SpotSet,
    known: SpotSet,
    /// The mean points of the cards that are not remembered, once it is asked for.
    mean: OnceCell<f64>,
}

impl<'v, 'a, P: Picture> Mind<'v, 'a, P> {
    fn new(view: &'v Observation<'a>, picture: &'v P, manner: Manner) -> Mind<'v, 'a, P> {
        let own = view.table().layout(view.seat());
        Mind { view, picture, manner, own, known: picture.known(), mean: OnceCell::new() }
    }

    fn decide(&self) -> Action {
        let wish = match self.view.table().phase() {
            Phase::Start => self.start(),
            Phase::Held(_) => self.keep_or_drop(),
            Phase::Window | Phase::Chain => self.snap(),
            Phase::Gift => self.give(),
            Phase::Power => self.use_power(),
            Phase::Close => self.call(),
            Phase::Peek | Phase::Show | Phase::Over => None,
        };
        let choices = self.view.choices();
        let idle = [Action::Pass, Action::End, Action::Skip, Action::Draw, Action::Drop];
        let legal = wish.into_iter().chain(idle).find(|&action| choices.contains(action));
        legal.or_else(|| self.least_harm()).expect("who is asked has a choice")
    }

    fn mean(&self) -> f64 {
        *self.mean.get_or_init(|| mean_unseen(self.view, self.picture))
    }

    fn points(&self, card: Card) -> f64 {
        f64::from(self.view.rules().points(card))
    }

    fn knows(&self, spot: Spot) -> bool {
        self.known.contains(spot)
    }

    /// What the card here is expected to count: one that its owner knows and this player does not is taken for lower.
    fn worth(&self, spot: Spot) -> f64 {
        match self.picture.face(spot) {
            Some(card) => self.points(card),
            None if spot.seat() != self.view.seat() && self.view.table().seen_by(spot).contains(spot.seat()) => {
                self.mean() - self.manner.hoard
            }
            None => self.mean(),
        }
    }

    fn sum(&self, spots: SpotSet) -> f64 {
        spots.into_iter().map(|spot| self.worth(spot)).sum()
    }

    /// The spot that is worst to have, the first of equals; not to know a card is worth something too.
    fn worst(&self, spots: SpotSet) -> Option<(f64, Spot)> {
        let mut worst = None;
        for spot in spots {
            let worth = self.worth(spot) + if self.knows(spot) { 0.0 } else { self.manner.curiosity };
            if worst.is_none_or(|(most, _)| worth > most) {
                worst = Some((worth, spot));
            }
        }
        worst
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

    fn call(&self) -> Option<Action> {
        let table = self.view.table();
        let own = self.sum(self.own);
        let others = table.seats();
        let lowest = cambio_core::Seat::ALL[..others]
            .iter()
            .filter(|&&seat| seat != self.view.seat())
            .map(|&seat| self.sum(table.layout(seat)))
            .fold(f64::INFINITY, f64::min);
        (own <= self.manner.call_at && own + self.manner.call_margin <= lowest).then_some(Action::Call)
    }

    fn start(&self) -> Option<Action> {
        let choices = self.view.choices();
        if choices.contains(Action::Call) && self.call().is_some() {
            return Some(Action::Call);
        }
        let top = self.view.table().top()?;
        let (worth, _) = self.worst(self.own)?;
        (worth - self.points(top) >= self.manner.take_gain).then_some(Action::Take)
    }

    fn keep_or_drop(&self) -> Option<Action> {
        let held = self.view.held()?;
        let (worth, spot) = self.worst(self.own)?;
        let power = if self.drop_has_power(held) { self.manner.power_worth } else { 0.0 };
        let keeps = worth - self.points(held) > self.manner.keep_gain + power;
        Some(if keeps || !self.view.choices().contains(Action::Drop) { Action::Keep(spot) } else { Action::Drop })
    }

    /// Whether dropping the held card would let its power be used, as far as the card tells.
    fn drop_has_power(&self, held: Card) -> bool {
        use cambio_core::knob::Redrop;
        let from_pile = matches!(self.view.table().phase(), Phase::Held(cambio_core::Source::Pile(_)));
        !self.view.rules().power(held).is_none()
            && (!from_pile || matches!(self.view.rules().spec().redrop, Redrop::Power | Redrop::UnspentPower))
    }

    /// The snap that saves most: an own card its points, a foreign one those of the card that is given for it.
    fn snap(&self) -> Option<Action> {
        let targets = self.view.choices().targets();
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

    /// Looks at an unknown own card, swaps if that saves points, looks at a foreign card, disrupts, in this order.
    fn use_power(&self) -> Option<Action> {
        let choices = self.view.choices();
        let unknown = choices.targets().without(self.known);
        if let Some(spot) = unknown.intersection(self.own).lowest() {
            return Some(Action::Look(spot));
        }
        if let Some(swap) = self.gainful_swap() {
            return Some(swap);
        }
        // A card that its owner knows tells most.
        let seen = |spot: &Spot| self.view.table().seen_by(*spot).contains(spot.seat());
        let look = unknown.into_iter().find(seen).or_else(|| unknown.lowest());
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
        let known_to_owner = |spot: &Spot| self.view.table().seen_by(*spot).contains(spot.seat());
        let first = foreign.into_iter().find(known_to_owner)?;
        let others = foreign.into_iter().filter(|&spot| spot != first);
        others.map(|spot| Action::swap(first, spot)).find(|&swap| choices.contains(swap))
    }

    /// What costs least where something has to be done.
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
