//! What all seats together know, and the features of a seat in it.

mod hands;

use std::ops::Range;
use std::sync::Arc;

use arrayvec::ArrayVec;
use cambio_core::engine::{Motion, SnapOutcome};
use cambio_core::play::RoundResult;
use cambio_core::rules::knob::MatchEnd;
use cambio_core::rules::{MAX_KINDS, MAX_SEATS, MAX_SLOTS, Power, PowerStep};
use cambio_core::{Card, Event, Match, Rules, Seat, SeatSet, Spot, SpotSet, Standing};

use crate::MatchValues;
use hands::{Hands, Outlook};

/// The number of spots of all seats.
const SPOTS: usize = MAX_SEATS * MAX_SLOTS;

/// The public table and all cards that any seat has seen.
///
/// Pass it every round and every event of a match. Cards that no seat has seen are uniformly distributed over the unseen
/// cards of their stock, because no decision could depend on them.
#[derive(Clone, Debug)]
pub struct JointKnowledge {
    rules: Rules,
    /// The match up to the current round.
    game: Match,
    values: Arc<MatchValues>,
    /// The total at which the match ends.
    limit: f32,
    /// Each seat's chance to win the match when the round began.
    chances: [f64; MAX_SEATS],
    position: Position,
    /// The cards of each kind that come from the current stock and that no seat has seen.
    unseen: [u8; MAX_KINDS],
    pile: [u8; MAX_KINDS],
    /// Whether the round has ended. The cards are then turned up, which is no longer part of the knowledge.
    has_ended: bool,
}

/// The part of the knowledge that changes with every event, which is cheap to copy.
#[derive(Clone, Copy, Debug)]
struct Position {
    faces: [Option<Card>; SPOTS],
    occupied: SpotSet,
    /// The spots whose cards came from the current stock. Cards that lay on the table during a reshuffle did not.
    current: SpotSet,
    seen: [SpotSet; MAX_SEATS],
    held: Option<Card>,
    held_seen: SeatSet,
    top: Option<Card>,
    turn: Seat,
    turns: u16,
    callers: SeatSet,
    first_caller: Option<Seat>,
    reshuffles: u16,
    stock: i32,
    unseen: CardSums,
}

/// The number of some cards, their points, and their squared points.
#[derive(Clone, Copy, Default, Debug)]
struct CardSums {
    cards: i32,
    points: i32,
    squares: i32,
}

impl CardSums {
    fn mean(self) -> f32 {
        self.points as f32 / self.cards.max(1) as f32
    }

    fn add(&mut self, copies: i32, points: i32) {
        self.cards += copies;
        self.points += copies * points;
        self.squares += copies * points * points;
    }
}

/// The numbers that describe what all seats know, from the viewpoint of one seat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutcomeFeatures(pub [f32; OutcomeFeatures::LEN]);

impl OutcomeFeatures {
    /// The number of features.
    pub const LEN: usize = 60;
}

/// The features that depend on the held card.
const HELD: Range<usize> = 31..40;

impl JointKnowledge {
    /// The knowledge before a match.
    ///
    /// # Panics
    /// If the rules do not allow the number of seats.
    pub fn new(rules: &Rules, seats: usize) -> JointKnowledge {
        let limit = match rules.spec().match_end {
            MatchEnd::Total(most) => f32::from(most),
            MatchEnd::Rounds(rounds) => 10.0 * f32::from(rounds),
        };
        let mut knowledge = JointKnowledge {
            rules: *rules,
            game: Match::new(rules, seats, Seat::A).expect("the rules allow the number of seats"),
            values: MatchValues::of(rules, seats),
            limit,
            chances: [1.0 / seats as f64; MAX_SEATS],
            position: Position::new(rules),
            unseen: [0; MAX_KINDS],
            pile: [0; MAX_KINDS],
            has_ended: false,
        };
        knowledge.deal();
        knowledge
    }

    fn deal(&mut self) {
        self.position = Position::new(&self.rules);
        self.pile = [0; MAX_KINDS];
        self.unseen = [0; MAX_KINDS];
        self.rules.deck().iter().for_each(|card| self.unseen[card.kind()] += 1);
        self.has_ended = false;
    }

    /// The number of seats.
    pub(crate) fn seats(&self) -> usize {
        self.game.seats()
    }

    /// The number of rounds that have ended.
    pub(crate) fn rounds(&self) -> usize {
        self.game.rounds()
    }

    /// Whether a match may have more than one round.
    fn is_match(&self) -> bool {
        self.rules.spec().match_end != MatchEnd::Rounds(1)
    }

    /// Begins a round. The first round begins another match.
    ///
    /// # Panics
    /// Does not panic: [`JointKnowledge::new`] has checked the number of seats.
    pub fn round_begins(&mut self, standing: &Standing<'_>) {
        if standing.round == 0 {
            let game = Match::new(&self.rules, self.seats(), standing.setup.starter);
            self.game = game.expect("the rules allow the number of seats");
        }
        self.deal();
        if self.is_match() {
            self.chances = self.values.chances(standing.totals, standing.setup.starter, standing.round);
        }
    }

    /// Ends a round.
    pub fn round_ends(&mut self, result: &RoundResult) {
        self.game.add(result);
    }

    /// Each seat's chance to win the match after a round with this result; its share of the win if the match is then over.
    pub fn chances_after(&self, result: &RoundResult) -> [f64; MAX_SEATS] {
        let mut game = self.game.clone();
        game.add(result);
        self.values.chances(game.totals(), game.setup().starter, game.rounds())
    }

    /// Adds an event. Events after the end of a round are ignored.
    pub fn notice(&mut self, event: &Event<Card>) {
        self.has_ended |= matches!(event, Event::Ended { .. });
        if self.has_ended {
            return;
        }
        if let Some(card) = self.revealed(event) {
            self.unseen[card.kind()] -= 1;
        }
        match event.motion() {
            Motion::Flipped { card }
            | Motion::Dropped { card }
            | Motion::Discarded { card, .. }
            | Motion::Kept { replaced: card, .. } => self.pile[card.kind()] += 1,
            Motion::Taken { card } => self.pile[card.kind()] -= 1,
            Motion::Reshuffled { .. } => {
                self.unseen = std::mem::replace(&mut self.pile, [0; MAX_KINDS]);
                if let Some(top) = self.position.top {
                    self.unseen[top.kind()] -= 1;
                    self.pile[top.kind()] += 1;
                }
            }
            _ => {}
        }
        self.position.notice(&self.rules, self.seats(), event);
        if let Motion::Reshuffled { .. } = event.motion() {
            let mut sums = CardSums::default();
            self.possible().for_each(|(card, copies)| sums.add(copies.into(), self.rules.points(card)));
            self.position.unseen = sums;
        }
    }

    /// The card that an event reveals, if no seat has seen it before and it comes from the current stock.
    pub fn revealed(&self, event: &Event<Card>) -> Option<Card> {
        match event.motion() {
            _ if self.has_ended => None,
            Motion::Seen { spot, face: card, .. }
            | Motion::Shown { spot, card }
            | Motion::Discarded { spot, card }
            | Motion::Kept { spot, replaced: card } => self.position.is_unseen(spot).then_some(card),
            Motion::Flipped { card } | Motion::Drawn { face: card, .. } => Some(card),
            _ => None,
        }
    }

    /// Whether the card of this spot comes from the current stock and no seat has seen it.
    pub(crate) fn is_unseen(&self, spot: Spot) -> bool {
        self.position.is_unseen(spot)
    }

    /// The unseen cards of the current stock: each kind with its number of copies.
    pub fn possible(&self) -> impl Iterator<Item = (Card, u8)> {
        let kinds = (0..self.rules.kinds().len()).filter_map(Card::new);
        kinds.zip(self.unseen).filter(|&(_, copies)| copies > 0)
    }

    /// The features after an event that reveals a card, with any card that it could reveal.
    pub(crate) fn possibilities(&self, event: &Event<Card>) -> Possibilities<'_> {
        let hands = self.hands(&self.position);
        Possibilities { knowledge: self, event: *event, position: self.position, hands, features: ArrayVec::new() }
    }

    /// The features of each seat, seat a first.
    pub fn features(&self) -> ArrayVec<OutcomeFeatures, MAX_SEATS> {
        self.features_at(&self.position, &self.hands(&self.position)).collect()
    }

    fn features_at<'a>(
        &'a self,
        position: &'a Position,
        all_hands: &'a Hands,
    ) -> impl Iterator<Item = OutcomeFeatures> + 'a {
        let seats = self.seats();
        let &Hands { seats: ref hands, ref outlooks, sum: all, mean, variance, projected } = all_hands;
        let turn = position.turn;
        hands.iter().zip(outlooks).enumerate().map(move |(index, (own, outlook))| {
            let seat = Seat::ALL[index];
            let &Outlook { leader, least, fewest, lowest, wins } = outlook;
            let (lead_seat, leader) = (Seat::ALL[leader], &hands[leader]);
            let [held, held_points, held_gain, knows_rank, others_held, others_gain, looks, looks_at_others, swaps] =
                self.held_features(position, all_hands, seat);
            let has_called = position.callers.contains(seat);
            let other_called = !position.callers.without(SeatSet::only(seat)).is_empty();
            let caller = position.first_caller.map(|caller| &hands[caller.index()]);
            let distance = seat.distance_from(turn, seats);
            let still_moves = position.first_caller.is_some_and(|caller| distance < caller.distance_from(turn, seats));
            let if_true = |is: bool, value: f32| if is { value } else { 0.0 };
            OutcomeFeatures([
                own.cards / 4.0,
                own.sum / 10.0,
                own.unseen / 4.0,
                (own.unseen * variance).sqrt() / 10.0,
                own.own_seen / 4.0,
                own.own_sum / 10.0,
                own.most[0] / 10.0,
                own.most[1] / 10.0,
                own.most[2] / 10.0,
                own.most[3] / 10.0,
                own.least / 10.0,
                own.matching / 2.0,
                own.pairs / 2.0,
                (own.cards - own.own_seen) / 4.0,
                least / 10.0,
                (all - own.sum) / (10.0 * (seats as f32 - 1.0)),
                fewest / 4.0,
                (least - own.sum) / 10.0,
                wins,
                leader.own_sum / 10.0,
                (leader.own_sum - own.own_sum) / 10.0,
                leader.cards / 4.0,
                leader.own_seen / 4.0,
                (leader.cards - leader.own_seen) / 4.0,
                leader.unseen / 4.0,
                leader.most[0] / 10.0,
                leader.most[1] / 10.0,
                leader.matching / 2.0,
                flag(lead_seat == turn),
                flag(distance == 0),
                distance as f32 / 4.0,
                held,
                held_points,
                held_gain,
                knows_rank,
                others_held,
                others_gain,
                looks,
                looks_at_others,
                swaps,
                flag(has_called),
                flag(other_called),
                flag(still_moves),
                caller.map_or(0.0, |caller| (caller.sum - own.sum) / 10.0),
                caller.map_or(0.0, |caller| caller.own_sum / 10.0),
                if_true(has_called, wins),
                if_true(other_called && !has_called, wins),
                if_true(position.first_caller.is_none(), wins),
                if_true(held > 0.0, wins),
                position.stock as f32 / 50.0,
                f32::from(position.turns) / 20.0,
                f32::from(position.reshuffles),
                1.0 / seats as f32,
                mean / 10.0,
                variance.sqrt() / 10.0,
                self.total(index) / self.limit,
                lowest / self.limit,
                self.chances[index] as f32,
                projected.map_or(0.0, |chances| chances[index] as f32),
                1.0,
            ])
        })
    }

    /// The features [`HELD`]: those that depend on the held card.
    fn held_features(&self, position: &Position, hands: &Hands, seat: Seat) -> [f32; HELD.end - HELD.start] {
        let rules = &self.rules;
        let gain = |card: Card| {
            let most = hands.seats[position.turn.index()].most[0];
            (most - rules.points(card) as f32).max(0.0) / 10.0
        };
        let is_own = position.turn == seat;
        let held = position.held.filter(|_| is_own);
        let others_held = position.held.filter(|_| !is_own);
        let power = held.map_or(Power::NONE, |card| rules.power(card));
        let steps = || (0..4).filter_map(|number| power.step(number));
        [
            flag(held.is_some()),
            held.map_or(0.0, |card| rules.points(card) as f32) / 10.0,
            held.map_or(0.0, gain),
            flag(held.is_some_and(|card| position.knows_rank(rules, seat, card))),
            flag(others_held.is_some()),
            others_held.map_or(0.0, gain),
            flag(steps().any(PowerStep::looks_at_own)),
            flag(steps().any(PowerStep::looks_at_others)),
            flag(steps().any(PowerStep::swaps)),
        ]
    }
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

/// What all seats know after an event, for one card after another that it could reveal.
pub(crate) struct Possibilities<'k> {
    knowledge: &'k JointKnowledge,
    event: Event<Card>,
    /// The position after the event with the latest card; before the first card, the position before the event.
    position: Position,
    /// The hands before the event.
    hands: Hands,
    features: ArrayVec<OutcomeFeatures, MAX_SEATS>,
}

impl Possibilities<'_> {
    /// The features of each seat if the event reveals this card.
    pub(crate) fn with(&mut self, other: Card) -> &[OutcomeFeatures] {
        let Possibilities { knowledge, event, position, hands, features } = self;
        // A drawn card leaves the cards on the table as they are.
        let is_drawn = matches!(event, Event::Drew { .. });
        if is_drawn && !features.is_empty() {
            position.held = Some(other);
            for (features, seat) in features.iter_mut().zip(Seat::ALL) {
                features.0[HELD].copy_from_slice(&knowledge.held_features(position, hands, seat));
            }
            return features;
        }
        match event {
            Event::Peeked { face: card, .. }
            | Event::Drew { face: card, .. }
            | Event::Looked { face: card, .. }
            | Event::Flipped { card }
            | Event::Shown { card, .. }
            | Event::Kept { replaced: card, .. } => *card = other,
            Event::Snapped { seat, spot, card, verdict } => {
                *card = other;
                let (rules, is_own) = (&knowledge.rules, spot.seat() == *seat);
                let top = knowledge.position.top;
                let is_right = top.is_some_and(|top| rules.match_each_other(top, other, is_own));
                *verdict = if is_right { SnapOutcome::Right } else { SnapOutcome::Wrong };
            }
            _ => {}
        }
        *position = knowledge.position;
        position.notice(&knowledge.rules, knowledge.seats(), event);
        // The mean of the unseen cards stays the same, so that few features differ between the possible cards.
        position.unseen = knowledge.position.unseen;
        features.clear();
        if is_drawn {
            features.extend(knowledge.features_at(position, hands));
        } else {
            features.extend(knowledge.features_at(position, &knowledge.hands(position)));
        }
        features
    }
}

impl Position {
    fn new(rules: &Rules) -> Position {
        let mut unseen = CardSums::default();
        rules.deck().iter().for_each(|&card| unseen.add(1, rules.points(card)));
        Position {
            faces: [None; SPOTS],
            occupied: SpotSet::EMPTY,
            current: SpotSet::EMPTY,
            seen: [SpotSet::EMPTY; MAX_SEATS],
            held: None,
            held_seen: SeatSet::EMPTY,
            top: None,
            turn: Seat::A,
            turns: 0,
            callers: SeatSet::EMPTY,
            first_caller: None,
            reshuffles: 0,
            stock: unseen.cards,
            unseen,
        }
    }

    /// Whether the card of this spot is an unseen card of the current stock.
    fn is_unseen(&self, spot: Spot) -> bool {
        self.current.contains(spot) && self.faces[spot.index()].is_none()
    }

    fn see(&mut self, rules: &Rules, card: Card) {
        self.unseen.add(-1, rules.points(card));
    }

    fn learn(&mut self, rules: &Rules, spot: Spot, card: Card) {
        if self.is_unseen(spot) {
            self.see(rules, card);
        }
        self.faces[spot.index()] = Some(card);
    }

    fn clear(&mut self, spot: Spot) {
        self.occupied.remove(spot);
        self.current.remove(spot);
        self.faces[spot.index()] = None;
        self.seen.iter_mut().for_each(|seen| seen.remove(spot));
    }

    fn exchange(&mut self, one: Spot, other: Spot) {
        self.faces.swap(one.index(), other.index());
        self.current.swap(one, other);
        self.seen.iter_mut().for_each(|seen| seen.swap(one, other));
    }

    /// Adds an event. The caller sets the unseen cards after a reshuffle.
    fn notice(&mut self, rules: &Rules, seats: usize, event: &Event<Card>) {
        match *event {
            Event::TurnBegan { seat } => {
                self.turn = seat;
                self.turns = self.turns.saturating_add(1);
            }
            Event::Called { seat } => {
                self.callers.insert(seat);
                self.first_caller.get_or_insert(seat);
            }
            _ => {}
        }
        let all = SeatSet::first(seats);
        match event.motion() {
            Motion::Dealt { extra, .. } => {
                for seat in all.iter_from(Seat::A) {
                    for spot in (1..=rules.dealt_to(seat, extra)).filter_map(|number| Spot::new(seat, number)) {
                        self.occupied.insert(spot);
                        self.current.insert(spot);
                        self.stock -= 1;
                    }
                }
            }
            Motion::Seen { seat, spot, face } => {
                self.learn(rules, spot, face);
                self.seen[seat.index()].insert(spot);
            }
            Motion::Shown { spot, card } => {
                self.learn(rules, spot, card);
                all.iter_from(Seat::A).for_each(|seat| self.seen[seat.index()].insert(spot));
            }
            Motion::Flipped { card } => {
                self.see(rules, card);
                self.stock -= 1;
                self.top = Some(card);
            }
            Motion::Drawn { seat, face } => {
                self.see(rules, face);
                self.stock -= 1;
                (self.held, self.held_seen) = (Some(face), SeatSet::only(seat));
            }
            Motion::Taken { card } => {
                self.top = None;
                (self.held, self.held_seen) = (Some(card), all);
            }
            Motion::Dropped { card } => {
                self.held = None;
                self.top = Some(card);
            }
            Motion::Kept { spot, replaced } => {
                self.learn(rules, spot, replaced);
                self.clear(spot);
                self.occupied.insert(spot);
                self.faces[spot.index()] = self.held.take();
                self.held_seen.iter_from(Seat::A).for_each(|seat| self.seen[seat.index()].insert(spot));
                self.top = Some(replaced);
            }
            Motion::Discarded { spot, card } => {
                self.learn(rules, spot, card);
                self.clear(spot);
                self.top = Some(card);
            }
            Motion::Exchanged { one, other } => self.exchange(one, other),
            Motion::Moved { from, to } => {
                self.occupied.insert(to);
                self.exchange(from, to);
                self.clear(from);
            }
            Motion::Added { spot } => {
                self.occupied.insert(spot);
                self.current.insert(spot);
                self.stock -= 1;
            }
            Motion::Reshuffled { cards } => {
                self.stock = i32::from(cards);
                self.current = SpotSet::EMPTY;
                self.reshuffles += 1;
            }
            Motion::Nothing => {}
        }
    }

    /// The cards of a seat, each with its face if any seat has seen it, and whether this seat has seen it.
    fn cards(&self, seat: Seat) -> impl Iterator<Item = (Option<Card>, bool)> {
        let spots = self.occupied.intersection(SpotSet::of_seat(seat)).iter_from(seat);
        spots.map(move |spot| (self.faces[spot.index()], self.seen[seat.index()].contains(spot)))
    }

    fn knows_rank(&self, rules: &Rules, seat: Seat, card: Card) -> bool {
        self.cards(seat).any(|(face, seen)| seen && face.is_some_and(|face| rules.same_rank(card, face)))
    }
}

#[cfg(test)]
mod tests;
