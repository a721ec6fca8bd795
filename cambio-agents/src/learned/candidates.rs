//! The candidates that a network evaluates: one for each class of decisions that it cannot distinguish.

use cambio_core::{Action, Phase, View};

use super::card::Deck;
use super::position::Scene;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Sort {
    Draw,
    Take,
    Call,
    End,
    Drop,
    Keep,
    SkipStep,
    Pass,
    LookOwn,
    LookOther,
    Swap,
    SnapOwn,
    SnapOther,
    /// A snap of an own card that the seat does not know.
    Blind,
    PassChain,
    Give,
    Peek,
    Show,
    SkipGift,
    Other,
}

pub(super) const SORTS: usize = Sort::Other as usize + 1;

/// A decision that stands for all decisions with the same key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The first of the decisions that it stands for.
    pub(super) action: Action,
    pub(super) key: Key,
    /// The number of decisions that it stands for.
    pub(super) number: usize,
}

/// The properties that distinguish candidates: the sort, and the owner and category of each named card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub(super) sort: Sort,
    /// The distance of the owner and the category of the named card; in a swap, of the own card.
    pub(super) card: Option<(u8, u16)>,
    /// The same for the other card of a swap.
    other: Option<(u8, u16)>,
}

impl Key {
    /// The key of a decision; `None` for decisions that are not evaluated: bluffs, peeks that cost a card, blind snaps
    /// before a call, and swaps that do not move exactly one own card.
    pub(super) fn of(deck: &Deck, scene: &Scene, view: &impl View, action: Action) -> Option<Key> {
        let (table, seat) = (view.table(), view.seat());
        let card = |spot| {
            let (distance, card) = scene.card(table, seat, spot);
            Some((distance as u8, card.category(deck, distance) as u16))
        };
        let plain = |sort| Some(Key { sort, card: None, other: None });
        let naming = |sort, spot| Some(Key { sort, card: card(spot), other: None });
        match action {
            Action::Draw => plain(Sort::Draw),
            Action::Take => plain(Sort::Take),
            Action::Call => plain(Sort::Call),
            Action::End => plain(Sort::End),
            Action::Drop => plain(Sort::Drop),
            Action::Keep(spot) => naming(Sort::Keep, spot),
            Action::Skip => plain(if table.phase() == Phase::Gift { Sort::SkipGift } else { Sort::SkipStep }),
            Action::Pass => plain(if table.phase() == Phase::Chain { Sort::PassChain } else { Sort::Pass }),
            Action::Look(spot) => naming(if spot.seat() == seat { Sort::LookOwn } else { Sort::LookOther }, spot),
            Action::Swap(one, other) if (one.seat() == seat) != (other.seat() == seat) => {
                let (own, foreign) = if one.seat() == seat { (one, other) } else { (other, one) };
                Some(Key { sort: Sort::Swap, card: card(own), other: card(foreign) })
            }
            Action::Snap(spot) => match view.face(spot) {
                Some(face) if view.would_match(spot, face) => {
                    naming(if spot.seat() == seat { Sort::SnapOwn } else { Sort::SnapOther }, spot)
                }
                None if scene.caller.all != 0 && spot.seat() == seat => naming(Sort::Blind, spot),
                _ => None,
            },
            Action::Give(spot) => naming(Sort::Give, spot),
            Action::Peek(_) => plain(Sort::Peek),
            Action::Show(spot) => naming(Sort::Show, spot),
            Action::Swap(..) | Action::Touch(_) | Action::Cheat(_) => None,
        }
    }
}

/// The only candidate, if this is clear at once: in most windows, the seat to act knows no matching card.
#[inline]
pub(super) fn only_candidate(view: &impl View) -> Option<Candidate> {
    let (table, key) = (view.table(), Key { sort: Sort::Pass, card: None, other: None });
    let passes = table.phase() == Phase::Window && table.callers().is_empty() && view.known_matches().is_empty();
    passes.then_some(Candidate { action: Action::Pass, key, number: 1 })
}

/// Writes the candidates into `found`: the first decision of each key, in the order of the choices.
pub(super) fn candidates(deck: &Deck, scene: &Scene, view: &impl View, found: &mut Vec<Candidate>) {
    found.clear();
    let mut add = |action| {
        if let Some(key) = Key::of(deck, scene, view, action) {
            match found.iter_mut().find(|other| other.key == key) {
                Some(like) => like.number += 1,
                None => found.push(Candidate { action, key, number: 1 }),
            }
        }
    };
    match view.table().phase() {
        // Bluffs are left out: they would double the choices of a window.
        Phase::Window | Phase::Chain => {
            add(Action::Pass);
            view.targets().iter_from(view.seat()).for_each(|spot| add(Action::Snap(spot)));
        }
        _ => view.choices().iter().for_each(add),
    }
    if found.is_empty() {
        let action = view.choices().nth(0).expect("the seat to act has a choice");
        found.push(Candidate { action, key: Key { sort: Sort::Other, card: None, other: None }, number: 1 });
    }
}
