//! A round in progress: the public table and the hidden faces.

mod turn;

use crate::engine::action::{Action, Choices};
use crate::engine::chance::Chance;
use crate::engine::event::{Event, Sink};
use crate::engine::motion::Motion;
use crate::engine::observation::{Observation, PointSummary, Private, View};
use crate::engine::table::{CardSource, CarryOver, Opening, Phase, Table};
use crate::rules::card::{Card, MAX_CARDS, MAX_KINDS, Power};
use crate::rules::knob::Peek;
use crate::rules::seat::{MAX_SEATS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::rules::{Rules, RulesError, copies};
use turn::Turn;

/// A round in progress.
///
/// A `State` is the public [`Table`] and the hidden faces, but no random generator. If it was dealt from a deck, the
/// order of its stock is fixed; reshuffles and races, and with latent faces every draw, come from the caller's
/// [`Chance`]. Agents never get a state: they get an [`Observation`] and [`Sighting`](crate::Sighting)s.
///
/// # Examples
/// ```
/// use cambio_core::{Rules, Seat, State, engine::{Dice, Setup}};
/// use cambio_core::rng::{Bounded, Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut stream = Key::new(1, 0).stream(Purpose::Deck, 0);
/// let mut deck = rules.deck().to_vec();
/// stream.shuffle(&mut deck);
///
/// let mut state = State::deal(&Setup::new(&rules, 2), &deck, &mut Dice(stream.clone()), &mut ()).unwrap();
/// while !state.is_over() {
///     let choices = state.choices();
///     let action = choices.nth(stream.below(choices.len() as u32) as usize).unwrap();
///     state.apply(action, &mut Dice(stream.clone()), &mut ()).unwrap();
/// }
/// assert!(state.points(Seat::A).is_some());
/// ```
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) table: Table,
    pub(crate) hidden: Hidden,
}

/// The hidden faces and the secret declarations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hidden {
    /// The card of each spot: `None` for an empty spot or a latent face.
    pub(crate) faces: [Option<Card>; SPOTS],
    /// The stock, its top last. With latent faces, the unordered pool of the stock and the latent faces.
    pub(crate) stock: [Card; MAX_CARDS],
    pub(crate) pool_len: u16,
    pub(crate) order: Order,
    pub(crate) held: Option<Card>,
    /// For each seat, the sum of the points of the cards on the table that it has seen. Cached for playouts.
    pub(crate) seen_points: [i32; MAX_SEATS],
    /// A bit set of ranks, modulo 64: the rank of each card on the table that a seat has seen, and possibly more ranks.
    pub(crate) seen_ranks: u64,
    pub(crate) declared: [Option<Declared>; MAX_SEATS],
    pub(crate) snappers: SeatSet,
    pub(crate) touchers: SeatSet,
    pub(crate) unasked: SeatSet,
    /// Whether snap windows skip seats that know no matching card.
    pub(crate) asks_knowing: bool,
    /// The number of turns after which the round ends: the rules' limit, or a lower one for playouts.
    pub(crate) turn_limit: u16,
}

impl Hidden {
    /// No faces, and a stock of this many cards. No seat has declared anything.
    #[inline]
    pub(crate) fn new(rules: &Rules, order: Order, pool_len: u16) -> Hidden {
        Hidden {
            faces: [None; SPOTS],
            stock: [Card::FILLER; MAX_CARDS],
            pool_len,
            order,
            held: None,
            seen_points: [0; MAX_SEATS],
            seen_ranks: 0,
            declared: [None; MAX_SEATS],
            snappers: SeatSet::EMPTY,
            touchers: SeatSet::EMPTY,
            unasked: SeatSet::EMPTY,
            asks_knowing: false,
            turn_limit: rules.spec().turn_limit.count() as u16,
        }
    }
}

/// Whether the stock has an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// The stock is a shuffled deck.
    Dealt,
    /// Chance decides each card when it is first seen.
    Pool,
}

/// What a seat declared in a snap window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Declared {
    Snap(Spot),
    Touch(Spot),
}

/// The setup of a round.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The rules.
    pub rules: Rules,
    /// The number of seats, 2 to 8.
    pub seats: usize,
    /// The seat with the first turn.
    pub starter: Seat,
    /// The carry-over from the previous round.
    pub carry: CarryOver,
}

impl Setup {
    /// The setup of the first round of a match, with seat a as the starter.
    pub fn new(rules: &Rules, seats: usize) -> Setup {
        Setup { rules: *rules, seats, starter: Seat::A, carry: CarryOver::default() }
    }

    pub(crate) fn check(&self) -> Result<(), DealError> {
        self.rules.covers(self.seats)?;
        if self.starter.index() >= self.seats {
            return Err(DealError::Starter { starter: self.starter, seats: self.seats });
        }
        Ok(())
    }
}

/// Why a round cannot be dealt.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message explains the fields")]
pub enum DealError {
    /// The rules do not allow the number of seats.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The starter is not a seat of the table.
    #[error("the starter must be one of the {seats} seats of the table, found seat {starter}")]
    Starter { starter: Seat, seats: usize },
    /// The cards differ from the rules' deck.
    #[error("impossible deck: expected {allowed} of `{label}`, found {found}")]
    Deck { label: String, found: usize, allowed: usize },
}

/// The error of an illegal decision. The state has not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalAction {
    /// The decision.
    pub action: Action,
    /// The seat to act, if any.
    pub actor: Option<Seat>,
    /// The legal decisions.
    pub legal: Choices,
}

impl std::error::Error for IllegalAction {}

impl std::fmt::Display for IllegalAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.actor {
            Some(seat) => write!(f, "`{}` is illegal for seat {seat}; legal: {}", self.action, self.legal),
            None => write!(f, "`{}` is illegal: the round is over", self.action),
        }
    }
}

impl State {
    /// Deals a round from a shuffled deck, whose first card is dealt first, and continues to the first decision.
    ///
    /// # Errors
    /// If the rules do not allow the number of seats, the starter is not at the table, or `deck` is not the rules' deck
    /// in some order.
    #[inline]
    pub fn deal<C: Chance, S: Sink>(
        setup: &Setup,
        deck: &[Card],
        chance: &mut C,
        sink: &mut S,
    ) -> Result<State, DealError> {
        let mut state = State::empty(setup, Order::Dealt);
        state.redeal(setup, deck, chance, sink)?;
        Ok(state)
    }

    /// Deals a round in which chance decides each face when it is first seen.
    ///
    /// # Errors
    /// As [`State::deal`].
    ///
    /// ```
    /// use cambio_core::{Rules, Seat, State, engine::{Dice, Setup}};
    /// use cambio_core::rng::{Key, Purpose};
    ///
    /// let rules = Rules::preset("faessler").unwrap();
    /// let mut dice = Dice(Key::new(42, 0).stream(Purpose::Deck, 0));
    /// let mut state = State::deal_latent(&Setup::new(&rules, 2), &mut dice, &mut ()).unwrap();
    /// let a1 = "a1".parse().unwrap();
    /// assert_eq!(state.face(a1), None);
    /// state.apply("peek a1".parse().unwrap(), &mut dice, &mut ()).unwrap();
    /// assert!(state.face(a1).is_some());
    /// assert_eq!(state.points(Seat::A), None, "other faces of seat a are still latent");
    /// state.settle(&mut dice);
    /// assert!(state.points(Seat::A).is_some());
    /// ```
    #[inline]
    pub fn deal_latent<C: Chance, S: Sink>(setup: &Setup, chance: &mut C, sink: &mut S) -> Result<State, DealError> {
        setup.check()?;
        let mut state = State::empty(setup, Order::Pool);
        state.begin(setup.rules.deck(), chance, sink);
        Ok(state)
    }

    /// Deals another round as [`State::deal`] does, reusing the memory of this state. This avoids a move of the state,
    /// which matters when millions of rounds are dealt.
    ///
    /// # Errors
    /// As [`State::deal`]; the state is then unchanged.
    pub fn redeal<C: Chance, S: Sink>(
        &mut self,
        setup: &Setup,
        deck: &[Card],
        chance: &mut C,
        sink: &mut S,
    ) -> Result<(), DealError> {
        setup.check()?;
        setup.rules.check_deck(deck)?;
        *self = State::empty(setup, Order::Dealt);
        self.begin(deck, chance, sink);
        Ok(())
    }

    /// A state in which no card has been dealt.
    #[inline]
    pub(crate) fn empty(setup: &Setup, order: Order) -> State {
        let Setup { rules, seats, starter, carry } = *setup;
        let cards = rules.deck().len() as u16;
        State {
            table: Table {
                rules,
                occupied: SpotSet::EMPTY,
                pointed: SpotSet::EMPTY,
                named: SpotSet::EMPTY,
                seen: [SpotSet::EMPTY; MAX_SEATS],
                pile: [0; MAX_KINDS],
                pile_points: 0,
                pile_len: 0,
                stock_len: cards,
                reshuffles: 0,
                turns: 0,
                seats: seats as u8,
                starter,
                turn: starter,
                asked: None,
                phase: Phase::Over,
                opening: Opening::Landing,
                top: None,
                top_spent: false,
                opener: None,
                power: Power::NONE,
                step: 0,
                cheated: false,
                declined_look: false,
                carried_out: false,
                won: false,
                frozen: false,
                gap: None,
                callers: SeatSet::EMPTY,
                first_caller: None,
                safe: SeatSet::EMPTY,
                carry,
                ended: None,
            },
            hidden: Hidden::new(&rules, order, cards),
        }
    }

    /// Deals from these cards and continues to the first decision.
    pub(crate) fn begin<C: Chance, S: Sink>(&mut self, deck: &[Card], chance: &mut C, sink: &mut S) {
        let stock = &mut self.hidden.stock[..deck.len()];
        stock.copy_from_slice(deck);
        stock.reverse();
        let spec = self.table.rules.spec();
        let (hand, seats, starter) = (spec.hand.count(), self.table.seats(), self.table.starter);
        let carry = self.table.carry;
        let mut turn = Turn { state: self, chance, sink };
        turn.emit(Event::Dealt { starter, extra: carry.extra_card });
        match spec.peek {
            Peek::Slots(mask) => {
                for seat in starter.round(seats) {
                    let slots = (0..hand).filter(|slot| mask >> slot & 1 == 1);
                    for spot in slots.filter_map(|slot| Spot::new(seat, slot + 1)) {
                        turn.peek(seat, spot);
                    }
                }
            }
            Peek::Choose(_) => {}
        }
        if matches!(spec.peek, Peek::Slots(_)) && carry.extra_peek.is_empty() {
            turn.after_peeks();
        } else {
            turn.ask_to_peek(starter);
        }
    }

    /// The public part of the state, which a spectator sees.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The seat to act; `None` if the round is over.
    #[inline]
    pub fn actor(&self) -> Option<Seat> {
        self.table.asked
    }

    /// Whether the round is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.table.asked.is_none()
    }

    /// The legal decisions of the seat to act.
    #[inline]
    pub fn choices(&self) -> Choices {
        self.table.asked.map_or(Choices::NONE, |seat| self.view(seat).choices())
    }

    /// Whether the decision is one of [`State::choices`]. This is faster than building the set.
    #[inline]
    pub fn allows(&self, action: Action) -> bool {
        self.table.asked.is_some_and(|seat| self.view(seat).allows(action))
    }

    /// Carries out a decision of the seat to act and continues to the next decision.
    ///
    /// # Errors
    /// If the decision is not legal; the state is then unchanged.
    #[inline]
    pub fn apply<C: Chance, S: Sink>(
        &mut self,
        action: Action,
        chance: &mut C,
        sink: &mut S,
    ) -> Result<(), IllegalAction> {
        self.check(action)?;
        Turn { state: self, chance, sink }.carry_out(action);
        Ok(())
    }

    /// Validates a decision before anything changes. Returns the seat to act.
    #[inline]
    pub(crate) fn check(&self, action: Action) -> Result<Seat, IllegalAction> {
        match self.actor() {
            Some(seat) if self.allows(action) => Ok(seat),
            actor => Err(IllegalAction { action, actor, legal: self.choices() }),
        }
    }

    /// Carries out a decision as [`State::apply`] does, but without checking that it is legal. For playouts, because
    /// their policies choose only legal decisions.
    ///
    /// # Panics
    /// With debug assertions, if the decision is illegal. Without them, an illegal decision may make the state invalid,
    /// and a later call may panic.
    #[inline]
    pub fn carry_out<C: Chance, S: Sink>(&mut self, action: Action, chance: &mut C, sink: &mut S) {
        debug_assert!(self.allows(action), "`{action}` is not one of {}", self.choices());
        Turn { state: self, chance, sink }.carry_out(action);
    }

    /// The observation of `seat`: everything that it may know now.
    pub fn observe(&self, seat: Seat) -> Observation<'_> {
        let private = Private { seat, faces: [None; SPOTS], held: self.view(seat).held() };
        let mut view = Observation::new(&self.table, private);
        // The faces are written in place, because copying an array directly after writing single bytes is slow.
        for spot in self.table.seen(seat).each() {
            view.private.faces[spot.index()] = self.hidden.faces[spot.index()];
        }
        view
    }

    /// A view of everything that `seat` may know now, which borrows the state instead of copying from it. For policies
    /// in playouts.
    #[inline]
    pub fn view(&self, seat: Seat) -> StateView<'_> {
        StateView { state: self, seat }
    }

    /// The card in this spot, for referees and analysis; `None` for an empty spot or a latent face.
    pub fn face(&self, spot: Spot) -> Option<Card> {
        self.hidden.faces[spot.index()]
    }

    /// The held card, for referees and analysis.
    pub fn held(&self) -> Option<Card> {
        if matches!(self.table.phase, Phase::Held(_)) { self.hidden.held } else { None }
    }

    /// The stock, its top first, for referees and analysis. With latent faces, this is the unordered pool, which also
    /// contains the cards of spots with a latent face.
    pub fn stock(&self) -> impl Iterator<Item = Card> {
        self.hidden.stock[..usize::from(self.hidden.pool_len)].iter().rev().copied()
    }

    /// The points of a seat's layout, 0 for a safe seat; `None` while one of its faces is latent.
    pub fn points(&self, seat: Seat) -> Option<i32> {
        let faces = self.table.layout(seat).each().map(|spot| self.face(spot));
        faces.map(|card| card.map(|card| self.table.rules.points(card))).sum()
    }

    /// Makes snap windows and chains ask only seats that know a matching card, from now on.
    ///
    /// If every seat snaps only cards that it knows, this does not change the course of the round, but saves decisions.
    /// Playouts of policies that never gamble skip most of their decisions this way.
    pub fn ask_knowing_only(&mut self) {
        self.hidden.asks_knowing = true;
    }

    /// Ends the round after this many more turns, as if the rules had this `turn_limit`, if their limit is not lower. The
    /// views of the seats do not show the new limit.
    ///
    /// Some policies never end a round: playouts with a limit do not spend their time on such rounds.
    pub fn limit_turns(&mut self, more: usize) {
        let limit = u16::try_from(self.table.turns() + more).unwrap_or(u16::MAX);
        self.hidden.turn_limit = self.hidden.turn_limit.min(limit);
    }

    /// Redeals all cards that no seat has ever seen: the stock, and the unseen cards on the table. No decision so far
    /// could depend on them, so the new state is as likely as the old one.
    ///
    /// After a reshuffle the cards on the table stay, because they do not come from the current stock. With latent
    /// faces, nothing changes.
    ///
    /// # Panics
    /// Does not panic: without latent faces, every card on the table has a face.
    pub fn redeal_unseen<C: Chance>(&mut self, chance: &mut C) {
        let State { table, hidden } = self;
        if hidden.order != Order::Dealt {
            return;
        }
        let mut unseen = SpotSet::EMPTY;
        if table.reshuffles == 0 {
            unseen = Seat::ALL.into_iter().fold(table.occupied(), |unseen, seat| unseen.without(table.seen(seat)));
        }
        let mut len = usize::from(hidden.pool_len);
        for spot in unseen.iter_from(Seat::A) {
            hidden.stock[len] = hidden.faces[spot.index()].expect("a dealt card has a face");
            len += 1;
        }
        chance.shuffle(&mut hidden.stock[..len]);
        for spot in unseen.iter_from(Seat::A) {
            len -= 1;
            hidden.faces[spot.index()] = Some(hidden.stock[len]);
        }
    }

    /// Draws every latent face of the layouts from `chance`.
    pub fn settle<C: Chance>(&mut self, chance: &mut C) {
        Turn { state: self, chance, sink: &mut () }.settle();
    }
}

impl Rules {
    /// Checks that `cards` are exactly the cards of the rules' deck, in any order.
    pub(crate) fn check_deck(&self, cards: &[Card]) -> Result<(), DealError> {
        let found = copies(cards);
        let allowed = self.copies();
        if cards.len() == self.deck().len() && found == *allowed {
            return Ok(());
        }
        let count = |card| cards.iter().filter(|&&other| other == card).count();
        let off = (0..MAX_KINDS).filter_map(Card::new).find(|&card| count(card) != self.copies_of(card));
        match off {
            None => Ok(()),
            Some(card) => Err(DealError::Deck {
                label: self.kinds().get(card.kind()).map_or_else(|| format!("{card:?}"), |kind| kind.label.clone()),
                found: count(card),
                allowed: self.copies_of(card),
            }),
        }
    }
}

/// Everything that one seat may know, as in an [`Observation`], but borrowed from the state instead of copied.
///
/// For policies in playouts, which decide in sampled states. Agents do not get a `StateView`, because it contains the
/// state.
#[derive(Clone, Copy)]
pub struct StateView<'a> {
    state: &'a State,
    seat: Seat,
}

impl View for StateView<'_> {
    #[inline]
    fn table(&self) -> &Table {
        &self.state.table
    }

    #[inline]
    fn seat(&self) -> Seat {
        self.seat
    }

    #[inline]
    fn face(&self, spot: Spot) -> Option<Card> {
        let is_seen = self.state.table.seen(self.seat).contains(spot);
        if is_seen { self.state.hidden.faces[spot.index()] } else { None }
    }

    #[inline]
    fn held(&self) -> Option<Card> {
        match self.state.table.phase {
            Phase::Held(CardSource::Pile(card)) => Some(card),
            Phase::Held(CardSource::Stock) if self.state.table.turn == self.seat => self.state.hidden.held,
            _ => None,
        }
    }

    #[inline]
    fn known_cards(&self, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        let seen = spots.intersection(self.known());
        seen.iter_from(self.seat).filter_map(|spot| Some((spot, self.state.hidden.faces[spot.index()]?)))
    }

    #[inline]
    fn known_cards_of(&self, owner: Seat, spots: SpotSet) -> impl Iterator<Item = (Spot, Card)> {
        let seen = spots.intersection(self.known());
        seen.iter_of(owner).filter_map(|spot| Some((spot, self.state.hidden.faces[spot.index()]?)))
    }

    #[inline]
    fn tally(&self, owner: Seat, spots: SpotSet) -> PointSummary {
        PointSummary::of_layout(self.rules(), &self.state.hidden.faces, owner, spots.intersection(self.known()))
    }

    #[inline]
    fn known_points(&self) -> i32 {
        self.state.hidden.seen_points[self.seat.index()]
    }
}

// Applies motions to the state. Cards change places only here.

impl State {
    /// Moves the cards, and updates which seats have seen them. A latent face must be drawn before a seat sees it.
    #[expect(clippy::inline_always, reason = "callers construct the motion, so the match folds away")]
    #[inline(always)]
    pub(crate) fn follow(&mut self, motion: Motion<Card>) {
        match motion {
            Motion::Dealt { starter, extra } => self.deal_hands(starter, extra),
            Motion::Seen { seat, spot, .. } => self.show_to(spot, SeatSet::only(seat)),
            Motion::Shown { spot, .. } => self.show_to(spot, self.everyone()),
            Motion::Flipped { card } => {
                self.table.stock_len -= 1;
                self.push_pile(card);
            }
            Motion::Drawn { face, .. } => {
                self.table.stock_len -= 1;
                self.hidden.held = Some(face);
            }
            Motion::Taken { card } => {
                let table = &mut self.table;
                table.top = None;
                table.pile[card.kind()] -= 1;
                table.pile_points -= table.rules.points(card);
                table.pile_len -= 1;
                self.hidden.held = Some(card);
            }
            Motion::Dropped { card } => {
                self.hidden.held = None;
                self.push_pile(card);
            }
            Motion::Kept { spot, replaced } => {
                let seen_by = match self.table.phase {
                    Phase::Held(CardSource::Pile(_)) => self.everyone(),
                    _ => SeatSet::only(self.table.turn),
                };
                self.clear(spot);
                self.hidden.faces[spot.index()] = self.hidden.held.take();
                self.show_to(spot, seen_by);
                self.push_pile(replaced);
            }
            Motion::Discarded { spot, card } => {
                self.lift(spot);
                self.push_pile(card);
            }
            Motion::Exchanged { one, other } => {
                self.hidden.faces.swap(one.index(), other.index());
                for seen in &mut self.table.seen[..usize::from(self.table.seats)] {
                    seen.swap(one, other);
                }
            }
            Motion::Moved { from, to } => {
                let seen_by = self.table.seen_by(from);
                let face = self.lift(from);
                self.table.occupied.insert(to);
                self.hidden.faces[to.index()] = face;
                self.show_to(to, seen_by);
            }
            Motion::Added { spot } => self.add(spot),
            Motion::Reshuffled { cards } => self.turn_pile_over(cards),
            Motion::Nothing => {}
        }
    }

    fn everyone(&self) -> SeatSet {
        SeatSet::first(self.table.seats())
    }

    /// Deals one card to each seat in turn, from the starter on, until all have a hand, and then the extra cards.
    fn deal_hands(&mut self, starter: Seat, extra: SeatSet) {
        let State { table, hidden } = self;
        let (hand, seats) = (table.rules.spec().hand.count(), table.seats());
        for seat in SeatSet::first(seats).each() {
            table.occupied = table.occupied.union(SpotSet::row(seat, hand));
        }
        table.stock_len -= (hand * seats) as u16;
        if hidden.order == Order::Dealt {
            let top = usize::from(hidden.pool_len) - 1;
            hidden.pool_len = table.stock_len;
            for (place, seat) in starter.round(seats).enumerate() {
                for slot in 0..hand {
                    let spot = Spot::new(seat, slot + 1).expect("a hand has at most eight cards");
                    hidden.faces[spot.index()] = Some(hidden.stock[top - slot * seats - place]);
                }
            }
        }
        for seat in starter.round(seats).filter(|&seat| extra.contains(seat)) {
            let row = SpotSet::row(seat, self.table.rules.dealt_to(seat, extra));
            row.without(self.table.occupied).iter_from(seat).for_each(|spot| self.add(spot));
        }
    }

    /// Moves the top of the stock into an empty spot, unseen.
    fn add(&mut self, spot: Spot) {
        let State { table, hidden } = self;
        table.stock_len -= 1;
        table.occupied.insert(spot);
        if hidden.order == Order::Dealt {
            hidden.pool_len -= 1;
            hidden.faces[spot.index()] = Some(hidden.stock[usize::from(hidden.pool_len)]);
        }
    }

    /// Moves all cards but the top from the pile to the stock, sorted by kind. The caller shuffles the stock.
    fn turn_pile_over(&mut self, cards: u16) {
        let State { table, hidden } = self;
        let top = table.top.expect("a pile that is reshuffled has a top");
        table.pile[top.kind()] -= 1;
        let mut len = 0;
        for (kind, copies) in table.pile.iter_mut().enumerate() {
            for _ in 0..std::mem::take(copies) {
                hidden.stock[len] = Card::new(kind).expect("the pile has a count for each kind");
                len += 1;
            }
        }
        debug_assert_eq!(len, usize::from(cards), "all but the top becomes the stock");
        table.pile[top.kind()] = 1;
        table.pile_points = table.rules.points(top);
        table.pile_len = 1;
        table.stock_len = cards;
        table.reshuffles += 1;
        hidden.pool_len = cards;
    }

    #[inline]
    fn push_pile(&mut self, card: Card) {
        let table = &mut self.table;
        table.pile[card.kind()] += 1;
        table.pile_points += table.rules.points(card);
        table.pile_len += 1;
        table.top = Some(card);
        table.top_spent = false;
    }

    /// Marks the card in this spot as seen by these seats.
    #[inline]
    fn show_to(&mut self, spot: Spot, seats: SeatSet) {
        let State { table, hidden } = self;
        let Some(card) = hidden.faces[spot.index()] else { return };
        hidden.seen_ranks |= table.rules.rank_bit(card);
        let points = table.rules.points(card);
        for seat in seats.each().map(Seat::index) {
            // Branch-free, because the processor cannot predict well whether a seat has seen a card.
            let is_new = !table.seen[seat].contains(spot);
            table.seen[seat].insert(spot);
            hidden.seen_points[seat] += i32::from(is_new) * points;
        }
    }

    /// Removes the face from a spot, and marks the spot as unseen by all seats.
    #[inline]
    fn clear(&mut self, spot: Spot) -> Option<Card> {
        let State { table, hidden } = self;
        let card = hidden.faces[spot.index()].take();
        let points = card.map_or(0, |card| table.rules.points(card));
        for (seen, seen_points) in table.seen.iter_mut().zip(&mut hidden.seen_points).take(usize::from(table.seats)) {
            let was_seen = seen.contains(spot);
            seen.remove(spot);
            *seen_points -= i32::from(was_seen) * points;
        }
        card
    }

    /// Removes the card from a spot, which is then empty.
    fn lift(&mut self, spot: Spot) -> Option<Card> {
        self.table.occupied.remove(spot);
        self.clear(spot)
    }
}
