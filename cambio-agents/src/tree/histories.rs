//! What each seat has seen on the way from the root: the keys of information sets.

use cambio_core::{Card, Event, MAX_SEATS, Phase, Seat, Sink, State, Table};

use crate::bits::mix;
use crate::words;

words! {
    /// The information by which the nodes of the other seats are told apart.
    pub enum Mode {
        /// Single observer: what the searching seat sees, as if all seats decided by that.
        Single = "so",
        /// Multiple observer: what each seat itself sees in the sampled world.
        Multiple = "mo",
        /// None: only the searching seat has nodes, and the others follow the blueprint.
        Policy = "policy",
    }
}

/// Hashes of what every seat has seen since the root.
#[derive(Clone, Debug)]
pub(crate) struct Histories {
    pub(super) public: u64,
    pub(super) private: [u64; MAX_SEATS],
}

impl Histories {
    /// The histories at the root. What the other seats alone know differs between worlds and comes from the sampled world:
    /// the true cards would leak, and no cards at all would make every seat decide as one observer.
    pub(crate) fn at_root(world: &State, searcher: Seat, mode: Mode) -> Histories {
        let mut private = [0; MAX_SEATS];
        if mode == Mode::Multiple {
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
        Histories { public: 0, private }
    }

    /// The key of the information set of `actor`.
    #[inline]
    pub(super) fn key(&self, mode: Mode, actor: Seat, searcher: Seat, table: &Table) -> u64 {
        let observer = if mode == Mode::Single { searcher } else { actor };
        let phase = u64::from(table.phase().code());
        let mut key = self.public ^ self.private[observer.index()].rotate_left(17) ^ ((actor as u64) << 8 | phase);
        if table.phase() == Phase::Show {
            // The cards that a reveal names become events only when all are named.
            for spot in table.pointed().iter_from(actor) {
                key = mix(key ^ spot.index() as u64);
            }
        }
        mix(key)
    }
}

impl Sink for Histories {
    /// Hashes what the table sees into the public hash, in order, and a face that one seat alone sees into that seat's
    /// hash. Declarations in a window become events only when all are made.
    #[expect(clippy::inline_always, reason = "where an event is made its kind is known, and nothing is left to match")]
    #[inline(always)]
    fn event(&mut self, event: &Event<Card>) {
        self.public = mix(self.public ^ event.public().code());
        if let Some((seat, card)) = event.private() {
            let private = &mut self.private[seat.index()];
            *private = mix(private.wrapping_add(card.kind() as u64 + 1));
        }
    }
}
