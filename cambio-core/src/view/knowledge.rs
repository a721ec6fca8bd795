//! What a seat can deduce from its sightings. The deductions are exact and assume nothing about how other seats play.
//!
//! A seat sees every move and some faces, and follows the cards whose faces it knows. It also knows the multiset of
//! unseen cards. A card that was hidden on the table when the pile became a new stock cannot be in that stock, so each
//! *epoch* between two reshuffles has its own pool of unseen cards.

use rand::Rng;

use crate::engine::event::Sighting;
use crate::engine::motion::{Motion, OnTable};
use crate::engine::state::{Hidden, Order, State};
use crate::engine::table::{CardSource, Phase};
use crate::rng::Bounded as _;
use crate::rules::card::{Card, MAX_CARDS, MAX_KINDS};
use crate::rules::seat::{MAX_SEATS, SPOTS, Seat, SeatSet, Spot, SpotSet};
use crate::{Observation, Rules};

/// What one seat knows, updated by its sightings.
///
/// Pass every sighting of one seat to [`Knowledge::notice`] in order, from the start of a round. `Knowledge` has
/// perfect recall. Inference from how other seats play (belief) is left to agents. Two deductions are not made, because
/// no preset of the full game needs them: a call under a feasible cap bounds the caller's sum, and a late snap under
/// `late = "abort"` shows that the card matches.
///
/// # Examples
/// ```
/// use cambio_core::{Knowledge, Rules, Seat, State, engine::{Dice, Setup}};
/// use cambio_core::rng::{Key, Purpose};
///
/// let rules = Rules::preset("classic").unwrap();
/// let mut stream = Key::new(1, 0).stream(Purpose::Deck, 0);
/// let mut knowledge = Knowledge::new(&rules, 2, Seat::B);
/// let mut sink = |event: &cambio_core::Event<_>| knowledge.notice(&event.seen_from(Seat::B));
/// let state = State::deal(&Setup::new(&rules, 2), rules.deck(), &mut Dice(stream.clone()), &mut sink).unwrap();
///
/// // A state in which seat b has the same observation. All cards that it has not seen are redealt.
/// let world = knowledge.sample(&state.observe(Seat::B), &mut stream);
/// assert_eq!(world.observe(Seat::B), state.observe(Seat::B));
/// ```
#[derive(Clone, Debug)]
pub struct Knowledge {
    rules: Rules,
    seat: Seat,
    seats: u8,
    /// Whether a seat holds a card.
    holds: bool,
    /// The seats that know the held card.
    held_seen: SeatSet,
    epoch: u16,
    occupied: SpotSet,
    /// For each seat, including this one, the spots whose cards the seat has seen.
    seen: [SpotSet; MAX_SEATS],
    /// The face of each card, if the seat knows it.
    faces: OnTable<Option<Card>>,
    /// The epoch in which each card left the stock.
    epochs: OnTable<u16>,
    pile: [u8; MAX_KINDS],
    top: Option<Card>,
    /// The cards of the current epoch that this seat has not seen: still in the stock, or drawn from the stock unseen.
    unseen: CardList,
    /// The cards of earlier epochs that this seat has not seen, each with its epoch. All of them are in layouts.
    older: [(Card, u16); SPOTS],
    older_len: u16,
}

/// The error for a sighting that contradicts earlier sightings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("impossible card: the sighting is from another table or seat, or out of order")]
pub struct ImpossibleSighting;

/// A fixed-capacity list of cards.
#[derive(Clone, Debug)]
struct CardList {
    cards: [Card; MAX_CARDS],
    len: u16,
}

impl CardList {
    const EMPTY: CardList = CardList { cards: [Card::FILLER; MAX_CARDS], len: 0 };

    fn all(&self) -> &[Card] {
        &self.cards[..usize::from(self.len)]
    }

    fn push(&mut self, card: Card) {
        self.cards[usize::from(self.len)] = card;
        self.len += 1;
    }

    /// Removes one copy of `card`. Returns whether there was one.
    fn take(&mut self, card: Card) -> bool {
        let Some(index) = self.all().iter().position(|&other| other == card) else { return false };
        self.len -= 1;
        self.cards[index] = self.cards[usize::from(self.len)];
        true
    }
}

impl Knowledge {
    /// What `seat` knows before a round is dealt, at a table of `seats` seats.
    pub fn new(rules: &Rules, seats: usize, seat: Seat) -> Knowledge {
        let mut unseen = CardList::EMPTY;
        rules.deck().iter().for_each(|&card| unseen.push(card));
        Knowledge {
            rules: *rules,
            seat,
            seats: seats as u8,
            holds: false,
            held_seen: SeatSet::EMPTY,
            epoch: 0,
            occupied: SpotSet::EMPTY,
            seen: [SpotSet::EMPTY; MAX_SEATS],
            faces: OnTable::new(None),
            epochs: OnTable::new(0),
            pile: [0; MAX_KINDS],
            top: None,
            unseen,
            older: [(Card::FILLER, 0); SPOTS],
            older_len: 0,
        }
    }

    /// The seat whose knowledge this is.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// The spots whose cards the seat knows.
    pub fn known(&self) -> SpotSet {
        self.seen(self.seat)
    }

    /// The spots whose cards a seat has seen. These spots are common knowledge; the faces are not.
    pub fn seen(&self, seat: Seat) -> SpotSet {
        self.seen[seat.index()]
    }

    /// Whether another seat holds a card that this seat has not seen.
    pub fn holds_unknown(&self) -> bool {
        self.holds && self.faces.at(None).is_none()
    }

    /// The spots with a card.
    pub fn occupied(&self) -> SpotSet {
        self.occupied
    }

    /// The card in this spot, if the seat knows it.
    pub fn face(&self, spot: Spot) -> Option<Card> {
        self.faces.at(Some(spot))
    }

    /// The cards that may lie in this spot: the multiset of the unseen cards that are possible there.
    ///
    /// If the card is known, it is the only candidate. An empty spot has no candidates.
    ///
    /// ```
    /// use cambio_core::{Knowledge, Rules, Seat, Sighting};
    ///
    /// let rules = Rules::preset("classic").unwrap();
    /// let mut knowledge = Knowledge::new(&rules, 2, Seat::A);
    /// knowledge.notice(&Sighting::Dealt { starter: Seat::A, extra: Default::default() });
    /// let (spot, card) = ("a1".parse().unwrap(), rules.card("6h").unwrap());
    /// assert_eq!(knowledge.candidates(spot).count(), 54);
    /// knowledge.notice(&Sighting::Peeked { seat: Seat::A, spot, face: Some(card) });
    /// assert!(knowledge.candidates(spot).eq([card]));
    /// assert_eq!(knowledge.face(spot), Some(card));
    /// assert_eq!(knowledge.stock_candidates().len(), 53);
    /// ```
    pub fn candidates(&self, spot: Spot) -> impl Iterator<Item = Card> {
        let is_unknown = self.occupied.contains(spot) && !self.known().contains(spot);
        let fitting = self.unseen(spot).filter(move |&(_, fits)| is_unknown && fits).map(|(card, _)| card);
        self.face(spot).into_iter().chain(fitting)
    }

    /// The cards that may be on top of the stock: the multiset of the unseen cards that are possible there.
    pub fn stock_candidates(&self) -> &[Card] {
        self.unseen.all()
    }

    /// Every card that the seat has not seen, with a flag: whether the card can lie in this spot. A card can lie only
    /// in a spot that was filled in the card's epoch. The cards of the stock's epoch come first, then the older cards.
    pub fn unseen(&self, spot: Spot) -> impl Iterator<Item = (Card, bool)> {
        let epoch = self.epochs.at(Some(spot));
        let current = self.unseen.all().iter().map(move |&card| (card, epoch == self.epoch));
        current.chain(self.older().iter().map(move |&(card, of)| (card, of == epoch && epoch != self.epoch)))
    }

    fn older(&self) -> &[(Card, u16)] {
        &self.older[..usize::from(self.older_len)]
    }

    /// Updates the knowledge with a sighting of the seat.
    ///
    /// # Panics
    /// If the sighting contradicts earlier sightings, because it is from another table or seat, or out of order.
    pub fn notice(&mut self, sighting: &Sighting) {
        assert!(self.follow(sighting).is_some(), "{ImpossibleSighting}");
    }

    /// What a seat knows after these sightings of a round, the last of which led to this observation. Both may come from
    /// outside.
    ///
    /// # Errors
    /// If a sighting contradicts earlier ones, or the observation does not follow from the sightings.
    pub fn deduced(view: &Observation<'_>, sightings: &[Sighting]) -> Result<Knowledge, ImpossibleSighting> {
        let mut knowledge = Knowledge::new(view.rules(), view.table().seats(), view.seat());
        let follows = sightings.iter().all(|sighting| knowledge.follow(sighting).is_some());
        if follows && knowledge.agrees_with(view) { Ok(knowledge) } else { Err(ImpossibleSighting) }
    }

    /// Whether the layouts, the known faces, the pile, the held card and the stock of an observation are those of this
    /// knowledge, and as many older cards are unseen as lie unseen in layouts.
    fn agrees_with(&self, view: &Observation<'_>) -> bool {
        let table = view.table();
        let holds = matches!(table.phase(), Phase::Held(_));
        let held_is_current = !self.holds_unknown() || self.epochs.at(None) == self.epoch;
        let unknown = self.occupied.without(self.known());
        let of_epoch = |epoch| unknown.each().filter(|&spot| self.epochs.at(Some(spot)) == epoch).count();
        let hidden = of_epoch(self.epoch) + usize::from(self.holds_unknown());
        let older = |epoch| self.older().iter().filter(|&&(_, of)| of == epoch).count();
        (table.occupied(), table.pile, table.top()) == (self.occupied, self.pile, self.top)
            && (holds, view.held()) == (self.holds, self.faces.at(None))
            // The cards that are turned up at the end of a round do not change the table.
            && (table.phase() == Phase::Over || (table.seen, &view.private.faces) == (self.seen, &self.faces.spots))
            && view.private.faces.iter().zip(&self.faces.spots).all(|(face, own)| face.is_none() || face == own)
            // The sightings of a position have no epochs.
            && table.reshuffles() >= usize::from(self.epoch)
            && held_is_current
            && usize::from(self.unseen.len) == table.stock_len() + hidden
            && self.older().len() + of_epoch(self.epoch) == unknown.len()
            && self.older().iter().all(|&(_, epoch)| older(epoch) == of_epoch(epoch))
    }

    /// Updates the knowledge; `None` if the sighting contradicts earlier sightings.
    fn follow(&mut self, sighting: &Sighting) -> Option<()> {
        let motion = sighting.motion();
        if !self.is_possible(&motion) {
            return None;
        }
        // The face of the card that becomes the held card.
        let mut new = None;
        match motion {
            Motion::Dealt { extra, .. } => self.begin(extra),
            Motion::Seen { seat, spot, face } => {
                if let Some(card) = face {
                    self.learn(spot, card)?;
                }
                self.show_to(spot, SeatSet::only(seat));
            }
            Motion::Shown { spot, card } => {
                self.learn(spot, card)?;
                self.show_to(spot, self.everyone());
            }
            Motion::Flipped { card } => {
                self.see(card, self.epoch)?;
                self.push_pile(card);
            }
            Motion::Drawn { seat, face } => {
                if let Some(card) = face {
                    self.see(card, self.epoch)?;
                }
                (self.holds, self.held_seen, new) = (true, SeatSet::only(seat), face);
            }
            Motion::Taken { card } => {
                self.pile[card.kind()] -= 1;
                self.top = None;
                (self.holds, self.held_seen, new) = (true, self.everyone(), Some(card));
            }
            Motion::Dropped { card } => {
                if self.holds_unknown() {
                    self.see(card, self.epochs.at(None))?;
                }
                self.holds = false;
                self.push_pile(card);
            }
            Motion::Kept { spot, replaced } => {
                self.discard(spot, replaced)?;
                self.occupied.insert(spot);
                self.show_to(spot, self.held_seen);
                self.holds = false;
            }
            Motion::Discarded { spot, card } => self.discard(spot, card)?,
            Motion::Exchanged { one, other } => self.exchange_seen(one, other),
            Motion::Moved { from, to } => {
                self.occupied.insert(to);
                self.occupied.remove(from);
                self.exchange_seen(from, to);
            }
            Motion::Added { spot } => self.occupied.insert(spot),
            Motion::Reshuffled { .. } => self.reshuffle(),
            Motion::Nothing => {}
        }
        self.faces.follow(&motion, new);
        self.epochs.follow(&motion, self.epoch);
        Some(())
    }

    /// Whether the cards that move lie where the motion takes them from, and the places that it fills are empty.
    fn is_possible(&self, motion: &Motion<Option<Card>>) -> bool {
        let lies = |spot| self.occupied.contains(spot);
        match *motion {
            Motion::Seen { spot, .. } | Motion::Shown { spot, .. } | Motion::Discarded { spot, .. } => lies(spot),
            Motion::Drawn { .. } => !self.holds,
            Motion::Taken { card } => !self.holds && self.pile[card.kind()] > 0,
            Motion::Dropped { card } => self.holds && self.faces.at(None).is_none_or(|held| held == card),
            Motion::Kept { spot, .. } => lies(spot) && self.holds,
            Motion::Exchanged { one, other } => lies(one) && lies(other),
            Motion::Moved { from, to } => lies(from) && !lies(to),
            Motion::Added { spot } => spot.seat().index() < self.seats.into() && !lies(spot),
            Motion::Reshuffled { .. } => {
                self.has_stock() || usize::from(self.older_len + self.unseen.len) <= SPOTS && self.epoch < u16::MAX
            }
            Motion::Dealt { .. } | Motion::Flipped { .. } | Motion::Nothing => true,
        }
    }

    fn exchange_seen(&mut self, one: Spot, other: Spot) {
        for seen in &mut self.seen {
            seen.swap(one, other);
        }
    }

    fn discard(&mut self, spot: Spot, card: Card) -> Option<()> {
        self.learn(spot, card)?;
        self.occupied.remove(spot);
        for seen in &mut self.seen {
            seen.remove(spot);
        }
        self.push_pile(card);
        Some(())
    }

    fn begin(&mut self, extra: SeatSet) {
        *self = Knowledge::new(&self.rules, self.seats.into(), self.seat);
        self.occupied = self.rules.dealt_spots(self.seats.into(), extra);
    }

    /// Removes a card, which the seat sees for the first time, from the unseen cards of `epoch`; `None` if it is not there.
    fn see(&mut self, card: Card, epoch: u16) -> Option<()> {
        let found = if epoch == self.epoch {
            self.unseen.take(card)
        } else {
            let index = self.older().iter().position(|&entry| entry == (card, epoch));
            if let Some(index) = index {
                self.older_len -= 1;
                self.older[index] = self.older[usize::from(self.older_len)];
            }
            index.is_some()
        };
        found.then_some(())
    }

    /// Learns the face of a card; `None` if this card cannot lie there.
    fn learn(&mut self, spot: Spot, card: Card) -> Option<()> {
        if let Some(known) = self.face(spot) {
            return (known == card).then_some(());
        }
        self.see(card, self.epochs.at(Some(spot)))?;
        self.faces.set(spot, Some(card));
        Some(())
    }

    fn everyone(&self) -> SeatSet {
        SeatSet::first(self.seats.into())
    }

    fn show_to(&mut self, spot: Spot, seats: SeatSet) {
        for seat in seats.each() {
            self.seen[seat.index()].insert(spot);
        }
    }

    fn push_pile(&mut self, card: Card) {
        self.pile[card.kind()] += 1;
        self.top = Some(card);
    }

    /// Whether the stock has a card: more cards of this epoch are unseen than lie unseen in layouts and in the hand.
    fn has_stock(&self) -> bool {
        let of_epoch = |spot: &Spot| self.epochs.at(Some(*spot)) == self.epoch;
        let is_held = self.holds_unknown() && self.epochs.at(None) == self.epoch;
        let hidden = self.occupied.without(self.known()).each().filter(of_epoch).count() + usize::from(is_held);
        usize::from(self.unseen.len) > hidden
    }

    /// The pile becomes a part of the stock. In play the stock is empty then, so an epoch begins: all unseen cards are in layouts.
    /// A [position](crate::Position) has no epochs: its stock has cards, which the pile joins.
    fn reshuffle(&mut self) {
        if !self.has_stock() {
            for &card in self.unseen.all() {
                self.older[usize::from(self.older_len)] = (card, self.epoch);
                self.older_len += 1;
            }
            self.epoch += 1;
            self.unseen.len = 0;
        }
        for kind in 0..MAX_KINDS {
            let card = Card::new(kind).expect("the pile has a count for each kind");
            let stays = u8::from(self.top == Some(card));
            for _ in stays..self.pile[kind] {
                self.unseen.push(card);
            }
            self.pile[kind] = stays;
        }
    }

    /// Samples a state uniformly from the information set of this seat.
    ///
    /// The faces that the seat knows stay. The unknown faces are redealt, each from the pool of its epoch, and the
    /// stock is an unordered pool. In a snap window, the other seats' secret declarations are not copied: these seats
    /// are asked again. Sampling does not allocate.
    ///
    /// # Panics
    /// If `view` belongs to another seat or table.
    #[inline]
    pub fn sample(&self, view: &Observation<'_>, rng: &mut impl Rng) -> State {
        self.sample_around(view, rng, &[])
    }

    /// Samples as [`Knowledge::sample`] does, but with given cards in given spots. A card is given by its index in
    /// [`Knowledge::unseen`]. The other unseen cards are dealt uniformly to the other spots.
    ///
    /// # Panics
    /// If `view` belongs to another seat or table. Indices must be valid and distinct, and the card in each spot must
    /// be unknown and of the given card's epoch; otherwise this panics or returns a state outside the information set.
    #[inline]
    pub fn sample_around(&self, view: &Observation<'_>, rng: &mut impl Rng, placed: &[(Spot, usize)]) -> State {
        let table = view.table();
        assert!(
            view.seat() == self.seat && self.occupied == table.occupied(),
            "the view must belong to the same seat and table as the knowledge"
        );
        let mut hidden = Hidden {
            faces: self.faces.spots,
            stock: self.unseen.cards,
            held: view.held(),
            seen_ranks: u64::MAX,
            ..Hidden::new(table.rules(), Order::Pool, self.unseen.len)
        };
        let mut unknown = self.occupied.without(self.known());
        for (spot, index) in from_the_highest(placed) {
            unknown.remove(spot);
            if index < usize::from(self.unseen.len) {
                hidden.faces[spot.index()] = Some(hidden.stock[index]);
                hidden.pool_len -= 1;
                hidden.stock[index] = hidden.stock[usize::from(hidden.pool_len)];
            }
        }
        if self.older_len > 0 {
            self.sample_older(&mut hidden, rng, placed);
        }
        for spot in unknown.iter_from(self.seat) {
            if self.epochs.at(Some(spot)) == self.epoch {
                hidden.faces[spot.index()] = Some(draw(&mut hidden, rng));
            }
        }
        match (table.phase(), table.asked()) {
            (Phase::Held(CardSource::Stock), _) if hidden.held.is_none() => hidden.held = Some(draw(&mut hidden, rng)),
            (Phase::Window, Some(asked)) => {
                hidden.unasked = table.may_snap();
                hidden.unasked.remove(asked);
            }
            _ => {}
        }
        debug_assert_eq!(usize::from(hidden.pool_len), table.stock_len(), "the remaining cards are the stock");
        for (points, &seen) in hidden.seen_points.iter_mut().zip(&table.seen[..table.seats()]) {
            for card in seen.each().filter_map(|spot| hidden.faces[spot.index()]) {
                *points += table.rules().points(card);
            }
        }
        State { table: *table, hidden }
    }

    /// Deals the unseen cards of earlier epochs, except the placed cards, to spots of their epochs.
    #[cold]
    fn sample_older(&self, hidden: &mut Hidden, rng: &mut impl Rng, placed: &[(Spot, usize)]) {
        let current = usize::from(self.unseen.len);
        let mut pool = self.older;
        let mut len = usize::from(self.older_len);
        for (spot, index) in from_the_highest(placed).take_while(|&(_, index)| index >= current) {
            hidden.faces[spot.index()] = Some(pool[index - current].0);
            len -= 1;
            pool[index - current] = pool[len];
        }
        for spot in self.occupied.without(self.known()).iter_from(self.seat) {
            let epoch = self.epochs.at(Some(spot));
            if epoch == self.epoch || hidden.faces[spot.index()].is_some() {
                continue;
            }
            let of_epoch = pool[..len].iter().filter(|(_, of)| *of == epoch).count();
            let chosen = rng.below(of_epoch as u32) as usize;
            let index = (0..len)
                .filter(|&index| pool[index].1 == epoch)
                .nth(chosen)
                .expect("an epoch has an unseen card for each unknown card of that epoch");
            hidden.faces[spot.index()] = Some(pool[index].0);
            len -= 1;
            pool.swap(index, len);
        }
    }
}

#[inline]
fn draw(hidden: &mut Hidden, rng: &mut impl Rng) -> Card {
    let len = usize::from(hidden.pool_len);
    let index = rng.below(len as u32) as usize;
    let card = hidden.stock[index];
    hidden.stock[index] = hidden.stock[len - 1];
    hidden.pool_len -= 1;
    card
}

/// The placements by descending index. Each removal moves the last card of the list into the gap. In this order, that
/// card is never one that is still to be placed.
#[inline]
fn from_the_highest(placed: &[(Spot, usize)]) -> impl Iterator<Item = (Spot, usize)> {
    let mut below = usize::MAX;
    placed.iter().map(move |_| {
        let next = placed.iter().copied().filter(|&(_, index)| index < below).max_by_key(|&(_, index)| index);
        let (spot, index) = next.expect("each card is placed once");
        below = index;
        (spot, index)
    })
}
