//! The networks that come with the library.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use cambio_core::Rules;

use super::weighing::Network;

/// A network that comes with the library, and where it plays.
struct Shipped {
    /// The preset whose cards it knows.
    preset: &'static str,
    seats: RangeInclusive<usize>,
    bytes: &'static [u8],
    read: OnceLock<Network>,
}

impl Shipped {
    const fn new(preset: &'static str, seats: RangeInclusive<usize>, bytes: &'static [u8]) -> Shipped {
        Shipped { preset, seats, bytes, read: OnceLock::new() }
    }
}

/// Each was made by `cambio learn` from the recipe of its name in experiments/learn.
static SHIPPED: [Shipped; 6] = [
    Shipped::new("classic", 2..=2, include_bytes!("../../nets/classic.net")),
    Shipped::new("classic", 3..=8, include_bytes!("../../nets/classic-many.net")),
    Shipped::new("original", 2..=2, include_bytes!("../../nets/original.net")),
    Shipped::new("original", 3..=8, include_bytes!("../../nets/original-many.net")),
    Shipped::new("faessler", 2..=2, include_bytes!("../../nets/faessler.net")),
    Shipped::new("faessler", 3..=8, include_bytes!("../../nets/faessler-many.net")),
];

impl Network {
    /// The network that comes with the library for these cards and this table; `None` if there is none. Rules with the
    /// cards of a preset have the network of that preset.
    ///
    /// ```
    /// use cambio_agents::Network;
    /// use cambio_core::Rules;
    ///
    /// assert!(Network::shipped(&Rules::preset("classic")?, 2).is_some());
    /// assert!(Network::shipped(&Rules::preset("mini-m1")?, 2).is_none());
    /// # Ok::<(), cambio_core::RulesError>(())
    /// ```
    ///
    /// # Panics
    /// Never: the files are part of the library.
    pub fn shipped(rules: &Rules, seats: usize) -> Option<Network> {
        let fits = |shipped: &&Shipped| {
            let preset = Rules::preset(shipped.preset).expect("it is a preset");
            shipped.seats.contains(&seats) && preset.kinds() == rules.kinds()
        };
        let shipped = SHIPPED.iter().find(fits)?;
        let read = || Network::from_bytes(shipped.bytes).expect("what comes with the library is whole").0;
        Some(shipped.read.get_or_init(read).clone())
    }
}
