//! What one seat may know when it decides.

use crate::action::{Choices, Legal, Verb};
use crate::card::{Card, MAX_KINDS};
use crate::knob::{CallWhen, Gift, PowerUse, Redrop};
use crate::seat::{SPOTS, Seat, Spot, SpotSet};
use crate::table::{Phase, Source, Table};
use crate::{Action, Rules};

/// The table and what one seat has legitimately seen.
///
/// An observation holds no hidden face: there is nothing in it to redact.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation<'a> {
    table: &'a Table<'a>,
    private: Private,
}

/// What one seat knows and the table does not tell.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Private {
    pub(crate) seat: Seat,
    pub(crate) faces: [Option<Card>; SPOTS],
    pub(crate) held: Option<Card>,
}

impl<'a> Observation<'a> {
    pub(crate) fn new(table: &'a Table<'a>, private: Private) -> Observation<'a> {
        Observation { table, private }
    }

    /// The table as everybody sees it.
    pub fn table(&self) -> &'a Table<'a> {
        self.table
    }

    /// The rules in force.
    pub fn rules(&self) -> &'a Rules {
        self.table.rules()
    }

    /// The seat that observes.
    pub fn seat(&self) -> Seat {
        self.private.seat
    }

    /// The card that lies here, if this seat has legitimately seen it. Nothing is forgotten; an agent that forgets
    /// does so by itself.
    pub fn face(&self, spot: Spot) -> Option<Card> {
        self.private.faces[spot.index()]
    }

    /// The spots whose cards this seat has legitimately seen.
    pub fn known(&self) -> SpotSet {
        let mut known = SpotSet::EMPTY;
        for spot in self.table.occupied() {
            if self.face(spot).is_some() {
                known.insert(spot);
            }
        }
        known
    }

    /// The held card, if this seat knows it: its own, or one taken from the pile.
    pub fn held(&self) -> Option<Card> {
        self.private.held
    }

    /// The cards that this seat knows to match in the window or chain that is open, and may snap.
    pub fn known_matches(&self) -> SpotSet {
        match self.table.phase() {
            Phase::Window | Phase::Chain => known_matches(self.table, self.seat(), self),
            _ => SpotSet::EMPTY,
        }
    }

    /// The decisions that are legal for this seat now; none if another seat is asked.
    pub fn choices(&self) -> Choices {
        if self.table.asked() == Some(self.seat()) { choices(self.table, self, |all| all) } else { Choices::NONE }
    }
}

/// What the asked seat knows, as far as it bears on what is legal.
pub(crate) trait Eyes {
    fn knows(&self, spot: Spot) -> Option<Card>;
    fn holds(&self) -> Option<Card>;
}

impl Eyes for Observation<'_> {
    fn knows(&self, spot: Spot) -> Option<Card> {
        self.face(spot)
    }

    fn holds(&self) -> Option<Card> {
        self.held()
    }
}

/// What `then` makes of the decisions of the asked seat: from the table and what that seat itself knows, never from
/// hidden faces.
///
/// It is handed on rather than returned, so that each phase gets code of its own.
#[expect(clippy::inline_always, reason = "each phase gets code of its own")]
#[inline(always)]
pub(crate) fn choices<T>(table: &Table<'_>, eyes: &impl Eyes, then: impl Fn(Choices) -> T) -> T {
    let Some(seat) = table.asked else { return then(Choices::NONE) };
    let spec = table.rules.spec();
    match table.phase {
        Phase::Window | Phase::Chain => {
            let targets =
                if spec.snap_known_only { known_matches(table, seat, eyes) } else { table.snap_targets(seat) };
            let choices = Choices::spots(Verb::Snap, targets).or_plain(Action::Pass, Legal::Yes);
            if spec.touch && table.phase == Phase::Window { then(choices.or_touches()) } else { then(choices) }
        }
        Phase::Start => then(start_choices(table, seat, eyes)),
        Phase::Held(source) => {
            let layout = table.layout(seat);
            let drops = match source {
                Source::Pile(_) => spec.redrop != Redrop::Forbidden,
                Source::Stock => {
                    spec.drop_plain
                        || layout.is_empty()
                        || eyes.holds().is_some_and(|card| !table.rules.power(card).is_none())
                }
            };
            then(Choices::spots(Verb::Keep, layout).or_plain(Action::Drop, Legal::when(drops)))
        }
        Phase::Power => then(power_choices(table)),
        Phase::Close => {
            let calls = Legal::when(may_call(table, seat, eyes));
            then(Choices::NONE.or_plain(Action::Call, calls).or_plain(Action::End, Legal::Yes))
        }
        Phase::Gift => {
            let skips = Legal::when(spec.gift == Gift::May);
            then(Choices::spots(Verb::Give, table.layout(seat)).or_plain(Action::Skip, skips))
        }
        Phase::Peek => then(Choices::spots(Verb::Peek, table.unpeeked(seat))),
        Phase::Show => {
            let layout = table.next_shown().map_or(SpotSet::EMPTY, |target| table.layout(target));
            let skips = Legal::when(spec.power_use == PowerUse::May && table.pointed == SpotSet::EMPTY);
            then(Choices::spots(Verb::Show, layout).or_plain(Action::Skip, skips))
        }
        Phase::Over => then(Choices::NONE),
    }
}

fn start_choices(table: &Table<'_>, seat: Seat, eyes: &impl Eyes) -> Choices {
    let spec = table.rules.spec();
    let cheats = spec.paid_peek && !table.cheated && table.can_draw() && table.penalty_spot(seat).is_some();
    let spots = if cheats { table.layout(seat) } else { SpotSet::EMPTY };
    let calls = spec.call == CallWhen::InsteadOfTurn && may_call(table, seat, eyes);
    Choices::spots(Verb::Cheat, spots)
        .or_plain(Action::Draw, Legal::when(table.can_draw()))
        .or_plain(Action::Take, Legal::when(table.can_take()))
        .or_plain(Action::Call, Legal::when(calls))
}

/// What the step of a power that is due offers; nothing but a skip where it has no legal target.
pub(crate) fn power_choices(table: &Table<'_>) -> Choices {
    let Some(step) = table.power.step(table.step.into()) else { return Choices::NONE };
    let (spots, apart) = table.swap_targets(step);
    let skips = Legal::when(table.rules.spec().power_use == PowerUse::May);
    Choices::spots(Verb::Look, table.look_targets(step)).or_swaps(spots, apart).or_plain(Action::Skip, skips)
}

/// Whether a card matches in the window or chain that is open.
#[inline]
pub(crate) fn matches(table: &Table<'_>, seat: Seat, spot: Spot, card: Card) -> bool {
    use crate::knob::Matching;
    let shown = if table.phase == Phase::Chain { table.top } else { table.opener };
    let Some(shown) = shown else { return false };
    let (one, other) = (table.rules.face(shown), table.rules.face(card));
    match table.rules.spec().matching {
        Matching::Rank => one.rank == other.rank,
        Matching::RankOwnPointsForeign if spot.seat() == seat => one.rank == other.rank,
        Matching::RankOwnPointsForeign | Matching::Points => one.points == other.points,
    }
}

/// The cards that a seat may snap because it knows that they match.
pub(crate) fn known_matches(table: &Table<'_>, seat: Seat, eyes: &impl Eyes) -> SpotSet {
    let mut spots = table.snap_targets(seat);
    for spot in spots {
        if !eyes.knows(spot).is_some_and(|card| matches(table, seat, spot, card)) {
            spots.remove(spot);
        }
    }
    spots
}

/// Whether the seat may call, the cap included.
pub(crate) fn may_call(table: &Table<'_>, seat: Seat, eyes: &impl Eyes) -> bool {
    table.can_call(seat)
        && table.feasible_cap().is_none_or(|cap| lowest_feasible_sum(table, seat, eyes) <= i32::from(cap))
}

/// The lowest sum that `seat` can have as far as it can tell: the faces it knows, and for each card it does not
/// know the cheapest of the cards that it sees nowhere.
fn lowest_feasible_sum(table: &Table<'_>, seat: Seat, eyes: &impl Eyes) -> i32 {
    let rules = table.rules;
    let mut unseen = [0u16; MAX_KINDS];
    for &card in rules.deck() {
        unseen[card.kind()] += 1;
    }
    for (left, &gone) in unseen.iter_mut().zip(&table.pile) {
        *left -= u16::from(gone);
    }
    let (mut sum, mut unknown) = (0, 0);
    for spot in table.occupied {
        match eyes.knows(spot) {
            Some(card) => {
                unseen[card.kind()] -= 1;
                if spot.seat() == seat {
                    sum += rules.points(card);
                }
            }
            None => unknown += usize::from(spot.seat() == seat),
        }
    }
    for _ in 0..unknown {
        let cheapest = (0..rules.kinds().len())
            .filter(|&kind| unseen[kind] > 0)
            .filter_map(Card::new)
            .min_by_key(|&card| rules.points(card));
        if let Some(card) = cheapest {
            unseen[card.kind()] -= 1;
            sum += rules.points(card);
        }
    }
    sum
}
