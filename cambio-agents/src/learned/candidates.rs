//! The candidates that a network evaluates: one for each class of decisions that it cannot distinguish.

use cambio_core::{Action, Phase, View};

use super::card::DeckClasses;
use super::position::DecisionContext;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum DecisionKind {
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
    /// A snap of one of the seat's own cards that it does not know.
    Blind,
    PassChain,
    Give,
    Peek,
    Show,
    SkipGift,
    Other,
}

pub(super) const DECISION_KINDS: usize = DecisionKind::Other as usize + 1;

/// A decision that stands for all decisions with the same key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The first of the decisions that the candidate stands for.
    pub(super) action: Action,
    pub(super) key: CandidateKey,
    /// The number of decisions that the candidate stands for.
    pub(super) number: usize,
}

/// The properties that distinguish candidates: the kind of decision, and the owner and category of each named card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CandidateKey {
    pub(super) kind: DecisionKind,
    /// The distance of the owner and the category of the named card; in a swap, of the seat's own card.
    pub(super) card: Option<(u8, u16)>,
    /// The distance of the owner and the category of the other card of a swap.
    other: Option<(u8, u16)>,
}

impl CandidateKey {
    /// The key of a decision; `None` for decisions that are not evaluated: bluffs, peeks that cost a card, blind snaps
    /// before a call, and swaps that do not move exactly one of the seat's own cards.
    pub(super) fn of(
        deck: &DeckClasses,
        context: &DecisionContext,
        view: &impl View,
        action: Action,
    ) -> Option<CandidateKey> {
        let (table, seat) = (view.table(), view.seat());
        let card = |spot| {
            let (distance, card) = context.card(table, seat, spot);
            Some((distance as u8, card.category(deck, distance) as u16))
        };
        let plain = |kind| Some(CandidateKey { kind, card: None, other: None });
        let naming = |kind, spot| Some(CandidateKey { kind, card: card(spot), other: None });
        match action {
            Action::Draw => plain(DecisionKind::Draw),
            Action::Take => plain(DecisionKind::Take),
            Action::Call => plain(DecisionKind::Call),
            Action::End => plain(DecisionKind::End),
            Action::Drop => plain(DecisionKind::Drop),
            Action::Keep(spot) => naming(DecisionKind::Keep, spot),
            Action::Skip => {
                plain(if table.phase() == Phase::Gift { DecisionKind::SkipGift } else { DecisionKind::SkipStep })
            }
            Action::Pass => {
                plain(if table.phase() == Phase::Chain { DecisionKind::PassChain } else { DecisionKind::Pass })
            }
            Action::Look(spot) => {
                naming(if spot.seat() == seat { DecisionKind::LookOwn } else { DecisionKind::LookOther }, spot)
            }
            Action::Swap(one, other) if (one.seat() == seat) != (other.seat() == seat) => {
                let (own, theirs) = if one.seat() == seat { (one, other) } else { (other, one) };
                Some(CandidateKey { kind: DecisionKind::Swap, card: card(own), other: card(theirs) })
            }
            Action::Snap(spot) => match view.face(spot) {
                Some(face) if view.would_match(spot, face) => {
                    naming(if spot.seat() == seat { DecisionKind::SnapOwn } else { DecisionKind::SnapOther }, spot)
                }
                None if context.caller.all != 0 && spot.seat() == seat => naming(DecisionKind::Blind, spot),
                _ => None,
            },
            Action::Give(spot) => naming(DecisionKind::Give, spot),
            Action::Peek(_) => plain(DecisionKind::Peek),
            Action::Show(spot) => naming(DecisionKind::Show, spot),
            // A look at an own card, which costs a penalty card.
            Action::Cheat(spot) if deck.is_general() => naming(DecisionKind::LookOwn, spot),
            Action::Swap(..) | Action::Touch(_) | Action::Cheat(_) => None,
        }
    }
}

/// The only candidate, if this is clear at once: in most windows, the seat to act knows no matching card.
#[inline]
pub(super) fn only_candidate(view: &impl View) -> Option<Candidate> {
    let (table, key) = (view.table(), CandidateKey { kind: DecisionKind::Pass, card: None, other: None });
    let passes = table.phase() == Phase::Window && table.callers().is_empty() && view.known_matches().is_empty();
    passes.then_some(Candidate { action: Action::Pass, key, number: 1 })
}

/// Writes the candidates into `found`: the first decision of each key, in the order of the choices.
pub(super) fn candidates(deck: &DeckClasses, context: &DecisionContext, view: &impl View, found: &mut Vec<Candidate>) {
    found.clear();
    let mut add = |action| {
        if let Some(key) = CandidateKey::of(deck, context, view, action) {
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
        found.push(Candidate {
            action,
            key: CandidateKey { kind: DecisionKind::Other, card: None, other: None },
            number: 1,
        });
    }
}
