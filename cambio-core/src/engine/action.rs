//! Decisions, their text form, and the set of legal decisions.

use std::fmt;
use std::mem::discriminant;
use std::str::FromStr;

use crate::rules::seat::{Seat, Spot, SpotSet, set_bits};
use crate::text::{ParseError, excerpt};

/// A decision of one seat.
///
/// Records, tests, the command line and agents in other languages use the text form ([`Display`](fmt::Display),
/// [`FromStr`]): `draw`, `keep a3`, `swap a1 b3`, `snap b2`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Look at one of the seat's own cards before the first turn.
    Peek(Spot),
    /// Draw the top of the stock.
    Draw,
    /// Take the top of the pile.
    Take,
    /// Call: the round ends when the turn comes back to the first caller.
    Call,
    /// End the turn without a call.
    End,
    /// Put the held card onto the pile.
    Drop,
    /// Put the held card into one of the seat's own spots. The card that lay there goes onto the pile.
    Keep(Spot),
    /// Look at a card.
    Look(Spot),
    /// Swap two cards. The order of the spots has no meaning; [`Action::swap`] puts the lower one first.
    Swap(Spot, Spot),
    /// Name a card of another seat, which a reveal then shows to all seats.
    Show(Spot),
    /// Decline a power step or a gift.
    Skip,
    /// Declare nothing in a snap window, or end a chain.
    Pass,
    /// Snap a card.
    Snap(Spot),
    /// Touch a card as a bluff.
    Touch(Spot),
    /// Give one of the seat's own cards to fill the gap that the snap left.
    Give(Spot),
    /// Look at one of the seat's own cards, at the price of a penalty (knob `paid_peek`).
    Cheat(Spot),
}

impl Action {
    /// The swap of two spots, the lower one first.
    ///
    /// ```
    /// use cambio_core::Action;
    ///
    /// let [a1, b3] = ["a1", "b3"].map(|name| name.parse().unwrap());
    /// assert_eq!(Action::swap(b3, a1), Action::swap(a1, b3));
    /// assert_eq!(Action::swap(b3, a1).to_string(), "swap a1 b3");
    /// ```
    pub fn swap(one: Spot, other: Spot) -> Action {
        Action::Swap(one.min(other), one.max(other))
    }

    /// The canonical form of the decision: a swap names its lower spot first.
    #[must_use]
    pub fn canonical(self) -> Action {
        match self {
            Action::Swap(one, other) => Action::swap(one, other),
            other => other,
        }
    }
}

impl FromStr for Action {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Action, ParseError> {
        let parse = || {
            let mut words = text.split(' ');
            let action = Action::read(words.next()?, || words.next()?.parse().ok())?;
            words.next().is_none().then_some(action)
        };
        parse().ok_or_else(|| {
            ParseError(format!(
                "`{}` is not a decision; decisions are draw, take, call, end, drop, skip, pass, one of peek, keep, look, show, \
                 snap, touch, give, cheat with a spot such as a3, or swap with two spots",
                excerpt(text)
            ))
        })
    }
}

/// Declares the words of all decisions except swaps: `plain` decisions name no spot, `aimed` decisions name one.
macro_rules! words {
    (plain { $($plain_code:literal $plain:ident = $plain_word:literal,)+ } aimed { $($verb_code:literal $verb:ident = $verb_word:literal,)+ }) => {
        impl fmt::Display for Action {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.canonical() {
                    $(Action::$plain => f.write_str($plain_word),)+
                    $(Action::$verb(spot) => write!(f, concat!($verb_word, " {}"), spot),)+
                    Action::Swap(one, other) => write!(f, "swap {one} {other}"),
                }
            }
        }

        impl Action {
            /// The code of the verb, from 1 to 16. It does not depend on the spots.
            #[inline]
            pub(crate) const fn verb_code(self) -> u8 {
                match self {
                    $(Action::$plain => $plain_code,)+
                    $(Action::$verb(_) => $verb_code,)+
                    Action::Swap(..) => 11,
                }
            }

            /// Parses a decision from its first word. `spot` parses the next word as a spot.
            fn read(word: &str, mut spot: impl FnMut() -> Option<Spot>) -> Option<Action> {
                Some(match word {
                    $($plain_word => Action::$plain,)+
                    $($verb_word => Action::$verb(spot()?),)+
                    "swap" => Action::swap(spot()?, spot()?),
                    _ => return None,
                })
            }

            /// The verb and the spot of a decision that names one spot.
            #[inline]
            pub(crate) const fn aimed(self) -> Option<(Verb, Spot)> {
                match self {
                    $(Action::$verb(spot) => Some((Verb::$verb, spot)),)+
                    _ => None,
                }
            }
        }

        /// The decisions that name no spot, in the order in which [`Choices`] lists them.
        pub(crate) const PLAIN: [Action; 7] = [$(Action::$plain),+];

        /// The verb of a decision that names one spot.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Verb {
            $($verb,)+
        }

        impl Verb {
            pub(crate) const fn of(self, spot: Spot) -> Action {
                match self {
                    $(Verb::$verb => Action::$verb(spot),)+
                }
            }
        }
    };
}

words! {
    plain {
        1 Draw = "draw",
        2 Take = "take",
        3 Call = "call",
        4 End = "end",
        5 Drop = "drop",
        6 Skip = "skip",
        7 Pass = "pass",
    }
    aimed {
        8 Peek = "peek",
        9 Keep = "keep",
        10 Look = "look",
        12 Show = "show",
        13 Snap = "snap",
        14 Touch = "touch",
        15 Give = "give",
        16 Cheat = "cheat",
    }
}

impl Verb {
    /// The spot that a decision of this verb names; `None` for other decisions.
    #[inline]
    fn spot(self, action: Action) -> Option<Spot> {
        action.aimed().and_then(|(verb, spot)| (verb == self).then_some(spot))
    }
}

/// The pairs of spots that may be swapped: any two of `spots`, except those that `apart` and `passive` exclude.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pairs {
    pub(crate) spots: SpotSet,
    /// Seats within which no two cards may be swapped with each other.
    pub(crate) apart: crate::SeatSet,
    /// Spots that may not be swapped with each other, because one spot of each pair must be outside this set.
    pub(crate) passive: SpotSet,
}

impl Pairs {
    pub(crate) const NONE: Pairs =
        Pairs { spots: SpotSet::EMPTY, apart: crate::SeatSet::EMPTY, passive: SpotSet::EMPTY };

    /// The same pairs, with all seats relabelled relative to `from`.
    fn turned(&self, from: Seat) -> Pairs {
        Pairs { spots: self.spots.turned(from), apart: self.apart.turned(from), passive: self.passive.turned(from) }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.spots.is_empty() || self.len() == 0
    }

    /// The spots after `spot` that may be swapped with `spot`.
    fn partners(&self, spot: Spot) -> SpotSet {
        let mut above = self.spots.above(spot);
        if self.passive.contains(spot) {
            above = above.without(self.passive);
        }
        if self.apart.contains(spot.seat()) { above.without(SpotSet::of_seat(spot.seat())) } else { above }
    }

    fn len(&self) -> usize {
        let all = self.len_among(self.spots);
        if self.passive.is_empty() { all } else { all - self.len_among(self.passive) }
    }

    /// The number of pairs among `spots`, without the pairs within one of the seats in `apart`.
    #[inline]
    fn len_among(&self, spots: SpotSet) -> usize {
        let pairs = |n: usize| n * n.saturating_sub(1) / 2;
        let of = |seat| spots.intersection(SpotSet::of_seat(seat)).len();
        pairs(spots.len()) - self.apart.each().map(|seat| pairs(of(seat))).sum::<usize>()
    }

    /// The pairs in playing order from `from` on: by first spot, then by second spot.
    fn iter_from(self, from: Seat) -> impl Iterator<Item = Action> {
        let turned = self.turned(from);
        let pairs = move |low: Spot| turned.partners(low).each().map(move |high| (low, high));
        turned
            .spots
            .each()
            .flat_map(pairs)
            .map(move |(low, high)| Action::swap(low.turned_back(from), high.turned_back(from)))
    }

    /// The pair with index `n`, counted from 0, in the order of `iter_from`.
    fn nth_from(&self, from: Seat, mut n: usize) -> Option<Action> {
        let turned = self.turned(from);
        for spot in turned.spots.each() {
            let partners = turned.partners(spot);
            if n < partners.len() {
                let partner = partners.nth_from(Seat::A, n)?;
                return Some(Action::swap(spot.turned_back(from), partner.turned_back(from)));
            }
            n -= partners.len();
        }
        None
    }

    fn contains(&self, one: Spot, other: Spot) -> bool {
        let (low, high) = (one.min(other), one.max(other));
        low != high && self.spots.contains(low) && self.partners(low).contains(high)
    }
}

/// Receives the legal decisions of a seat, kind by kind. [`Choices`] collects all of them; [`LegalityCheck`] checks a
/// single decision.
///
/// Decisions are passed as closures, so that a check computes only the kind that it needs.
pub(crate) trait ChoiceSink {
    /// Offers a decision without a spot, which is legal if the condition holds.
    fn allow(&mut self, action: Action, condition: impl FnOnce() -> bool);

    /// Offers the targets of a verb: one verb in each phase, except that [`Verb::Touch`] comes with [`Verb::Snap`].
    fn aim(&mut self, verb: Verb, spots: impl FnOnce() -> SpotSet);

    /// Offers the pairs of spots that may be swapped.
    fn pair(&mut self, pairs: impl FnOnce() -> Pairs);
}

impl ChoiceSink for Choices {
    #[inline]
    fn allow(&mut self, action: Action, condition: impl FnOnce() -> bool) {
        if let Some(bit) = plain_bit(action) {
            self.plain |= u8::from(condition()) << bit;
        }
    }

    #[inline]
    fn aim(&mut self, verb: Verb, spots: impl FnOnce() -> SpotSet) {
        if verb == Verb::Touch {
            self.has_touch = true;
        } else {
            (self.verb, self.spots) = (verb, spots());
        }
    }

    #[inline]
    fn pair(&mut self, pairs: impl FnOnce() -> Pairs) {
        self.pairs = pairs();
    }
}

/// Checks whether one decision is legal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LegalityCheck {
    pub(crate) action: Action,
    pub(crate) is_legal: bool,
}

#[expect(clippy::inline_always, reason = "callers pass constant decisions, so most comparisons fold away")]
impl ChoiceSink for LegalityCheck {
    #[inline(always)]
    fn allow(&mut self, action: Action, condition: impl FnOnce() -> bool) {
        // A plain decision has no spot, so comparing the variants is sufficient.
        if discriminant(&self.action) == discriminant(&action) {
            self.is_legal = condition();
        }
    }

    #[inline(always)]
    fn aim(&mut self, verb: Verb, spots: impl FnOnce() -> SpotSet) {
        if let Some(spot) = verb.spot(self.action) {
            self.is_legal = spots().contains(spot);
        }
    }

    #[inline(always)]
    fn pair(&mut self, pairs: impl FnOnce() -> Pairs) {
        if let Action::Swap(one, other) = self.action {
            self.is_legal = pairs().contains(one, other);
        }
    }
}

/// The legal decisions of the seat to act: a small set in a fixed order.
///
/// [`Choices::nth`] and [`Choices::iter`] use this order: decisions without a spot (draw, take, call, end, drop, skip,
/// pass), decisions with one spot, touches, and swaps by their first and then their second spot. Spots are in playing
/// order from the deciding seat on, its own spots first, and by slot within a seat. The index of a decision therefore
/// depends on the positions of the other seats relative to the deciding seat, and never on seat letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choices {
    /// The seat that decides.
    seat: Seat,
    plain: u8,
    verb: Verb,
    has_touch: bool,
    spots: SpotSet,
    pairs: Pairs,
}

impl Choices {
    /// The empty set.
    pub const NONE: Choices = Choices::none_of(Seat::A);

    /// The empty set, with `seat` as the seat that decides.
    pub(crate) const fn none_of(seat: Seat) -> Choices {
        Choices { seat, plain: 0, verb: Verb::Peek, has_touch: false, spots: SpotSet::EMPTY, pairs: Pairs::NONE }
    }

    /// The seat that decides; seat a if no seat is to act.
    #[inline]
    pub const fn seat(&self) -> Seat {
        self.seat
    }

    /// A bit for each decision without a spot, in the order of [`PLAIN`].
    #[inline]
    pub(crate) const fn plain(&self) -> u8 {
        self.plain
    }

    /// The verb of the decisions with one spot, and the targets of that verb.
    #[inline]
    pub(crate) const fn aimed(&self) -> (Verb, SpotSet) {
        (self.verb, self.spots)
    }

    /// The swaps in order.
    #[inline]
    pub(crate) fn swaps(&self) -> impl Iterator<Item = Action> + use<> {
        // Most sets have no pairs.
        let Choices { seat, pairs, .. } = *self;
        (!pairs.spots.is_empty()).then(|| pairs.iter_from(seat)).into_iter().flatten()
    }

    #[inline]
    pub(crate) fn touches(&self) -> SpotSet {
        if self.has_touch { self.spots } else { SpotSet::EMPTY }
    }

    /// The number of legal decisions.
    #[inline]
    pub fn len(&self) -> usize {
        let spots = self.spots.len();
        let touches = if self.has_touch { spots } else { 0 };
        let swaps = if self.pairs.spots.is_empty() { 0 } else { self.pairs.len() };
        self.plain.count_ones() as usize + spots + touches + swaps
    }

    /// Whether no decision is legal. The seat to act always has a legal decision.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.plain == 0 && self.spots.is_empty() && self.pairs.is_empty()
    }

    /// The decision with index `n`, counted from 0.
    #[expect(clippy::inline_always, reason = "a set that was just built stays in registers")]
    #[inline(always)]
    pub fn nth(&self, n: usize) -> Option<Action> {
        let plain = self.plain.count_ones() as usize;
        if n < plain {
            let mut bits = self.plain;
            for _ in 0..n {
                bits &= bits - 1;
            }
            return Some(PLAIN[bits.trailing_zeros() as usize]);
        }
        let n = n - plain;
        match self.spots.nth_from(self.seat, n) {
            Some(spot) => Some(self.verb.of(spot)),
            None => self.nth_beyond(n - self.spots.len()),
        }
    }

    /// The decision with index `n` among touches and swaps. Not inlined, to keep [`Choices::nth`] small and fast.
    #[inline(never)]
    fn nth_beyond(&self, n: usize) -> Option<Action> {
        match self.touches().nth_from(self.seat, n) {
            Some(spot) => Some(Action::Touch(spot)),
            None => self.pairs.nth_from(self.seat, n - self.touches().len()),
        }
    }

    /// Whether the decision is legal. The spots of a swap may be in either order.
    #[inline]
    pub fn contains(&self, action: Action) -> bool {
        match action {
            Action::Swap(one, other) => self.pairs.contains(one, other),
            Action::Touch(spot) => self.touches().contains(spot),
            other => match (plain_bit(other), self.verb.spot(other)) {
                (Some(bit), _) => self.plain >> bit & 1 == 1,
                (None, spot) => spot.is_some_and(|spot| self.spots.contains(spot)),
            },
        }
    }

    /// The legal decisions in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Action> + use<> {
        let Choices { seat, plain, verb, spots, .. } = *self;
        let plain = set_bits(plain.into()).map(|bit| PLAIN[bit as usize]);
        let aimed = spots.iter_from(seat).map(move |spot| verb.of(spot));
        let touches = self.touches().iter_from(seat).map(Action::Touch);
        plain.chain(aimed).chain(touches).chain(self.swaps())
    }

    /// The targets of the decisions with one spot: for example the spots that may be looked at, snapped or given.
    pub fn targets(&self) -> SpotSet {
        self.spots
    }

    /// The spots that swaps may involve. Not every pair of them is legal; see [`Choices::contains`].
    #[inline]
    pub fn swappable(&self) -> SpotSet {
        self.pairs.spots
    }
}

impl fmt::Display for Choices {
    /// The decisions in their text form, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, action) in self.iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{action}")?;
        }
        Ok(())
    }
}

/// The index of a decision without a spot in [`PLAIN`], whose decisions have the verb codes from 1 on.
#[inline]
pub(crate) const fn plain_bit(action: Action) -> Option<u32> {
    let code = action.verb_code() as u32;
    if code <= PLAIN.len() as u32 { Some(code - 1) } else { None }
}
