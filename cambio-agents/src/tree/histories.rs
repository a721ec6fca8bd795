//! The information of each seat since the root, as keys of information sets.

use cambio_core::engine::Sink;
use cambio_core::rules::MAX_SEATS;
use cambio_core::{Card, Event, Phase, Seat, State, Table};

use crate::bits::mix;
use crate::words;

words! {
    /// The information that distinguishes the nodes of the other seats.
    pub enum TreeMode {
        /// Single observer: the information of the searching seat, as if all seats had only that information.
        Single = "so",
        /// Multiple observers: each seat's own information in the sampled world.
        Multiple = "mo",
        /// None: only the searching seat has nodes, and the other seats follow the blueprint.
        Policy = "policy",
    }
}

/// Hashes of the information of every seat since the root.
#[derive(Clone, Debug)]
pub(crate) struct SeatHistories {
    pub(super) public: u64,
    pub(super) private: [u64; MAX_SEATS],
}

impl SeatHistories {
    /// The histories at the root. The private knowledge of the other seats comes from the sampled world: the true cards
    /// would leak hidden information, and without these cards all seats would share the information of one observer.
    pub(crate) fn at_root(world: &State, searcher: Seat, mode: TreeMode) -> SeatHistories {
        let mut private = [0; MAX_SEATS];
        if mode == TreeMode::Multiple {
            let table = world.table();
            for (seat, private) in Seat::ALL.into_iter().zip(&mut private[..table.seats()]) {
                if seat == searcher {
                    continue;
                }
                for spot in table.seen(seat).iter_from(seat) {
                    let kind = world.face(spot).map_or(0, |card| card.kind() as u64 + 1);
                    *private = mix(*private ^ (kind << 8 | spot.index() as u64));
                }
            }
        }
        SeatHistories { public: 0, private }
    }

    /// The key of the information set of `actor`.
    #[inline]
    pub(super) fn key(&self, mode: TreeMode, actor: Seat, searcher: Seat, table: &Table) -> u64 {
        let observer = if mode == TreeMode::Single { searcher } else { actor };
        let phase = u64::from(table.phase().code());
        let mut key = self.public ^ self.private[observer.index()].rotate_left(17) ^ ((actor as u64) << 8 | phase);
        if table.phase() == Phase::Show {
            // The cards of a reveal become events only when all are chosen, so the chosen cards are added here.
            for spot in table.pointed().iter_from(actor) {
                key = mix(key ^ spot.index() as u64);
            }
        }
        mix(key)
    }
}

impl Sink for SeatHistories {
    /// Adds the public part of an event to the public hash, and a face that only one seat sees to that seat's hash.
    /// Declarations in a window become events only when all seats have declared.
    #[expect(clippy::inline_always, reason = "the kind of event is constant at each call, so the matches disappear")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.public = mix(self.public ^ event.public().code());
        if let Some((seat, card)) = event.private() {
            let private = &mut self.private[seat.index()];
            *private = mix(private.wrapping_add(card.kind() as u64 + 1));
        }
    }
}
