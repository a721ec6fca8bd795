//! Observations: what one seat may know when it decides.

use crate::engine::action::{ChoiceSink, Choices, LegalityCheck, Verb};
use crate::engine::table::{CardSource, Phase, Table};
use crate::rules::card::{Card, MAX_KINDS, PowerStep};
use crate::rules::knob::{CallWhen, Gift, PowerUse, Redrop};
use crate::rules::seat::{MAX_SLOTS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::{Action, Rules};

/// The table and the faces that one seat has legitimately seen.
///
/// An observation contains no hidden faces, so nothing in it needs to be redacted.
///
/// ```
/// use cambio_core::{Playing, Rules, Seat, rng::Key};
///
/// let playing = Playing::new(&Rules::preset("faessler").unwrap(), 2, Key::new(42, 0)).unwrap();
/// let view = playing.turn().unwrap().view;
/// assert_eq!(view.choices().to_string(), "peek b1, peek b2, peek b3, peek b4");
/// assert!(view.allows("peek b2".parse().unwrap()) && !view.allows("draw".parse().unwrap()));
/// // No seat has seen a card yet.
/// assert!(view.known().is_empty());
/// assert_eq!(view.face("b1".parse().unwrap()), None);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Observation<'a> {
    table: &'a Table,
    pub(crate) private: Private,
}

/// The private knowledge of one seat.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Private {
    pub(crate) seat: Seat,
    pub(crate) faces: [Option<Card>; SPOTS],
    pub(crate) held: Option<Card>,
}

impl<'a> Observation<'a> {
    pub(crate) fn new(table: &'a Table, private: Private) -> Observation<'a> {
        Observation { table, private }
    }

    /// The public table.
    pub fn table(&self) -> &'a Table {
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

    /// The card in this spot, if this seat has legitimately seen it. The observation has perfect recall; an agent that
    /// forgets cards must model this itself.
    pub fn face(&self, spot: Spot) -> Option<Card> {
        self.private.faces[spot.index()]
    }

    /// The spots whose cards this seat has legitimately seen.
    pub fn known(&self) -> SpotSet {
        View::known(self)
    }

    /// The held card, if this seat knows it: the seat holds the card itself, or the card was taken from the pile.
    pub fn held(&self) -> Option<Card> {
        self.private.held
    }

    /// The spots of the cards that this seat may snap and knows to match in the open window or chain.
    pub fn known_matches(&self) -> SpotSet {
        View::known_matches(self)
    }

    /// The legal decisions of this seat; none if another seat is to act.
    pub fn choices(&self) -> Choices {
        View::choices(self)
    }

    /// Whether the decision is one of [`Observation::choices`].
    pub fn allows(&self, action: Action) -> bool {
        View::allows(self, action)
    }
}

/// An [`Observation`] that owns its table, so that it can be kept while the game continues.
///
/// ```
/// use cambio_core::{Playing, Rules, engine::OwnedObservation, rng::Key};
///
/// let mut playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// let kept = OwnedObservation::from(&playing.turn().unwrap().view);
/// playing.act("draw".parse().unwrap()).unwrap();
/// assert_eq!(kept.observation().choices().to_string(), "draw");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct OwnedObservation {
    pub(crate) table: Table,
    pub(crate) private: Private,
}

impl From<&Observation<'_>> for OwnedObservation {
    fn from(view: &Observation<'_>) -> OwnedObservation {
        OwnedObservation { table: *view.table, private: view.private.clone() }
    }
}

impl OwnedObservation {
    /// Checks that all seats and spots are at the table, that the seat has a face for exactly the cards that it has seen, and that no
    /// card is there more often than in the deck. The error is a sentence without a full stop.
    pub(crate) fn check(&self) -> Result<(), String> {
        let OwnedObservation { table, private } = self;
        let (rules, seats) = (&table.rules, SeatSet::first(table.seats()));
        let named = [Some(private.seat), Some(table.turn), Some(table.starter), table.asked, table.first_caller];
        let witnesses = Seat::ALL.into_iter().filter(|&seat| !table.seen(seat).is_empty());
        let marked = [table.callers, table.safe, table.carry.extra_card, table.carry.extra_peek];
        let all = witnesses.chain(named.into_iter().flatten()).collect::<SeatSet>();
        if let Some(seat) = marked.into_iter().fold(all, SeatSet::union).without(seats).first_from(Seat::A) {
            return Err(format!("seat {seat} is named, but it has no layout"));
        }
        let used = [table.occupied, table.pointed, table.named].into_iter().fold(SpotSet::EMPTY, SpotSet::union);
        if let Some(spot) = used.without(table.places()).first_from(Seat::A) {
            return Err(format!("the spot {spot} is named, but it is not at the table"));
        }
        let seen = table.seen(private.seat).bits();
        if (0..SPOTS).any(|spot| private.faces[spot].is_some() != (seen >> spot & 1 == 1)) {
            return Err(format!("the faces are not those that seat {} has seen", private.seat));
        }
        for card in (0..MAX_KINDS).filter_map(Card::new) {
            let shown = private.faces.into_iter().chain([private.held]).filter(|&face| face == Some(card)).count();
            let (found, copies) = (shown + table.on_pile(card), usize::from(rules.copies()[card.raw()]));
            if found > copies {
                // Altered bytes may have a card that the rules lack.
                let label = rules.kinds().get(card.kind()).map_or("of another deck", |kind| kind.label.as_str());
                return Err(format!("the position has {found} cards {label}, but the deck has {copies}"));
            }
        }
        Ok(())
    }

    /// The borrowed form, which agents and [`Knowledge`](crate::Knowledge) take.
    pub fn observation(&self) -> Observation<'_> {
        Observation { table: &self.table, private: self.private.clone() }
    }
}

/// What a policy sees when it decides: the table, and the faces that one seat has legitimately seen.
///
/// Agents get an [`Observation`]. A [`StateView`](crate::engine::StateView) has the same content but copies nothing. A
/// policy that is generic over `View` works both as an agent and in playouts.
///
/// ```
/// use cambio_core::{Playing, Rules, View, rng::Key};
///
/// /// Whether the policy calls: it knows all its cards, and they have at most `most` points.
/// fn would_call(view: &impl View, most: i32) -> bool {
///     let own = view.table().layout(view.seat());
///     own.without(view.known()).is_empty() && view.known_points() <= most
/// }
///
/// let playing = Playing::new(&Rules::preset("classic").unwrap(), 2, Key::new(42, 0)).unwrap();
/// assert!(!would_call(&playing.state().view(playing.turn().unwrap().seat), 5));
/// ```
pub trait View {
    /// The public table.
    fn table(&self) -> &Table;
    /// The seat that observes.
    fn seat(&self) -> Seat;
    /// The card in this spot, if the seat has legitimately seen it.
    fn face(&self, spot: Spot) -> Option<Card>;
    /// The held card, if the seat knows it.
    fn held(&self) -> Option<Card>;

    /// The rules in force.
    #[inline]
    fn rules(&self) -> &Rules {
        &self.table().rules
    }

    /// The spots whose cards the seat has legitimately seen.
    #[inline]
    fn known(&self) -> SpotSet {
        self.table().seen(self.seat())
    }

    /// The cards in these spots that the seat has legitimately seen, in playing order from the seat on.
    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)>
    where
        Self: Sized,
    {
        spots.intersection(self.known()).iter_from(self.seat()).filter_map(|spot| Some((spot, self.face(spot)?)))
    }

    /// The cards of `owner` in these spots that the seat has legitimately seen, by slot.
    #[inline]
    fn known_cards_of(&self, owner: Seat, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)>
    where
        Self: Sized,
    {
        spots.intersection(self.known()).iter_of(owner).filter_map(|spot| Some((spot, self.face(spot)?)))
    }

    /// The points of the cards that [`View::known_cards_of`] returns.
    #[inline]
    fn tally(&self, owner: Seat, spots: SpotSet) -> PointSummary
    where
        Self: Sized,
    {
        PointSummary::of(self.known_cards_of(owner, spots).map(|(_, card)| self.rules().points(card)))
    }

    /// The sum of the points of all cards on the table that the seat has legitimately seen.
    fn known_points(&self) -> i32
    where
        Self: Sized,
    {
        self.known_cards(self.known()).map(|(_, card)| self.rules().points(card)).sum()
    }

    /// Whether this card would match in the open window or chain if it lay in this spot.
    #[inline]
    fn would_match(&self, spot: Spot, card: Card) -> bool {
        matches!(self.table().phase, Phase::Window | Phase::Chain) && matches(self.table(), self.seat(), spot, card)
    }

    /// The spots of the cards that the seat may snap and knows to match in the open window or chain.
    #[inline]
    fn known_matches(&self) -> SpotSet
    where
        Self: Sized,
    {
        let mut matching = SpotSet::EMPTY;
        if matches!(self.table().phase, Phase::Window | Phase::Chain) {
            for (spot, card) in self.known_cards(self.table().snap_targets(self.seat())) {
                if matches(self.table(), self.seat(), spot, card) {
                    matching.insert(spot);
                }
            }
        }
        matching
    }

    /// The legal decisions of the seat; none if another seat is to act.
    #[expect(clippy::inline_always, reason = "the fields of the set then stay in registers")]
    #[inline(always)]
    fn choices(&self) -> Choices
    where
        Self: Sized,
    {
        if self.table().asked != Some(self.seat()) {
            return Choices::NONE;
        }
        let mut choices = Choices::none_of(self.seat());
        offer(self, &mut choices);
        choices
    }

    /// Whether the decision is one of [`View::choices`]. This is faster than building the set.
    #[expect(clippy::inline_always, reason = "most callers pass a constant decision, so most of the match folds away")]
    #[inline(always)]
    fn allows(&self, action: Action) -> bool
    where
        Self: Sized,
    {
        let mut check = LegalityCheck { action, is_legal: false };
        offer(self, &mut check);
        check.is_legal
    }

    /// The targets of the decisions with one spot; see [`Choices::targets`].
    #[inline]
    fn targets(&self) -> SpotSet
    where
        Self: Sized,
    {
        self.choices().targets()
    }

    /// The spots that swaps may involve; see [`Choices::swappable`].
    #[inline]
    fn swappable(&self) -> SpotSet
    where
        Self: Sized,
    {
        self.choices().swappable()
    }
}

/// The points of some cards: their sum and their maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointSummary {
    /// The sum of the points.
    pub sum: i32,
    /// The points of the card with the most points; `None` without cards.
    pub most: Option<i32>,
}

impl PointSummary {
    /// The summary of these points.
    pub fn of(points: impl IntoIterator<Item = i32>) -> PointSummary {
        let none = PointSummary { sum: 0, most: None };
        points
            .into_iter()
            .fold(none, |all, points| PointSummary { sum: all.sum + points, most: all.most.max(Some(points)) })
    }

    /// The summary of the cards of `owner` in these spots. All these cards must be known.
    ///
    /// The function always reads four slots, even if some have no known card. A loop over the known cards only would
    /// be slower in playouts, because the processor cannot predict the length of the loop well.
    #[expect(clippy::inline_always, reason = "called in each playout decision; the result stays in registers")]
    #[inline(always)]
    pub(crate) fn of_layout(rules: &Rules, faces: &[Option<Card>; SPOTS], owner: Seat, spots: SpotSet) -> PointSummary {
        let known = spots.slots_of(owner);
        let row = &faces[owner.index() * MAX_SLOTS..][..MAX_SLOTS];
        let (mut sum, mut most) = (0, i32::MIN);
        let mut weigh = |slot: usize| {
            let points = rules.points_here(row[slot]);
            let is_in = known >> slot & 1 == 1;
            sum += if is_in { points } else { 0 };
            most = most.max(if is_in { points } else { i32::MIN });
        };
        (0..4).for_each(&mut weigh);
        if known >> 4 != 0 {
            (4..MAX_SLOTS).for_each(weigh);
        }
        PointSummary { sum, most: (known != 0).then_some(most) }
    }
}

macro_rules! views {
    ($($view:ty: |$own:ident| $table:expr;)+) => {$(
        impl View for $view {
            #[inline]
            fn table(&self) -> &Table {
                let $own = self;
                $table
            }

            #[inline]
            fn seat(&self) -> Seat {
                self.private.seat
            }

            #[inline]
            fn face(&self, spot: Spot) -> Option<Card> {
                self.private.faces[spot.index()]
            }

            #[inline]
            fn held(&self) -> Option<Card> {
                self.private.held
            }

            #[inline]
            fn tally(&self, owner: Seat, spots: SpotSet) -> PointSummary {
                PointSummary::of_layout(self.rules(), &self.private.faces, owner, spots.intersection(self.known()))
            }
        }
    )+};
}

views! {
    Observation<'_>: |view| view.table;
    OwnedObservation: |view| &view.table;
}

/// Offers the legal decisions of the seat, if it is to act. Only this function defines which decisions are legal. They
/// depend on the table and the seat's knowledge, never on hidden faces.
#[expect(clippy::inline_always, reason = "the fields of the sink then stay in registers")]
#[inline(always)]
fn offer(view: &impl View, to: &mut impl ChoiceSink) {
    let (table, seat) = (view.table(), view.seat());
    if table.asked != Some(seat) {
        return;
    }
    let spec = table.rules.spec();
    match table.phase {
        Phase::Window | Phase::Chain => {
            let targets = || if spec.snap_known_only { view.known_matches() } else { table.snap_targets(seat) };
            to.allow(Action::Pass, || true);
            to.aim(Verb::Snap, targets);
            if spec.touch && table.phase == Phase::Window {
                to.aim(Verb::Touch, targets);
            }
        }
        Phase::Start => {
            to.allow(Action::Draw, || table.can_draw());
            to.allow(Action::Take, || table.can_take());
            to.allow(Action::Call, || spec.call == CallWhen::InsteadOfTurn && may_call(table, seat, view));
            if spec.paid_peek && !table.cheated && table.can_draw() && table.penalty_spot(seat).is_some() {
                to.aim(Verb::Cheat, || table.layout(seat));
            }
        }
        Phase::Held(source) => {
            to.allow(Action::Drop, || match source {
                CardSource::Pile(_) => spec.redrop != Redrop::Forbidden,
                CardSource::Stock => {
                    spec.drop_plain
                        || table.layout(seat).is_empty()
                        || view.held().is_some_and(|card| !table.rules.power(card).is_none())
                }
            });
            to.aim(Verb::Keep, || table.layout(seat));
        }
        Phase::Close => {
            to.allow(Action::Call, || may_call(table, seat, view));
            to.allow(Action::End, || true);
        }
        Phase::Power => {
            if let Some(step) = table.power.step(table.step.into()) {
                to.aim(Verb::Look, || table.look_targets(step));
                to.pair(|| table.swap_targets(step));
            }
            to.allow(Action::Skip, || spec.power_use == PowerUse::May);
        }
        Phase::Show => {
            to.allow(Action::Skip, || spec.power_use == PowerUse::May && table.named.is_empty());
            to.aim(Verb::Show, || table.next_shown().map_or(SpotSet::EMPTY, |target| table.layout(target)));
        }
        Phase::Gift => {
            to.allow(Action::Skip, || spec.gift == Gift::May);
            to.aim(Verb::Give, || table.layout(seat));
        }
        Phase::Peek => to.aim(Verb::Peek, || table.unpeeked(seat)),
        Phase::Over => {}
    }
}

/// Whether this step of the current power has a legal target.
#[inline]
pub(crate) fn step_has_target(table: &Table, step: PowerStep) -> bool {
    !table.look_targets(step).is_empty() || !table.swap_targets(step).is_empty()
}

/// Whether a card matches in the open window or chain.
#[inline]
pub(crate) fn matches(table: &Table, seat: Seat, spot: Spot, card: Card) -> bool {
    shown(table).is_some_and(|shown| table.rules.match_each_other(shown, card, spot.seat() == seat))
}

/// The card that a snapped card has to match.
#[inline]
fn shown(table: &Table) -> Option<Card> {
    if table.phase == Phase::Chain { table.top } else { table.opener }
}

/// Whether the seat may call under the rules, including a feasible cap.
#[inline]
pub(crate) fn may_call(table: &Table, seat: Seat, view: &impl View) -> bool {
    table.can_call(seat)
        && table.feasible_cap().is_none_or(|cap| lowest_feasible_sum(table, seat, view) <= i32::from(cap))
}

/// The lowest sum of `seat` that is consistent with its knowledge: the points of its known cards, plus the points of
/// the cheapest unseen cards in place of its unknown cards.
fn lowest_feasible_sum(table: &Table, seat: Seat, view: &impl View) -> i32 {
    let rules = table.rules;
    let mut unseen = [0u16; MAX_KINDS];
    for &card in rules.deck() {
        unseen[card.kind()] += 1;
    }
    for (left, &gone) in unseen.iter_mut().zip(&table.pile) {
        *left -= u16::from(gone);
    }
    let (mut sum, mut unknown) = (0, 0);
    for spot in table.occupied.each() {
        match view.face(spot) {
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
