//! The bundled networks.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use cambio_core::Rules;

use super::evaluation::{Network, have_the_same_cards};

/// A bundled network, and the tables that it is for.
struct Shipped {
    /// The preset whose cards the network is for.
    preset: &'static str,
    seats: RangeInclusive<usize>,
    bytes: &'static [u8],
    rules: OnceLock<Rules>,
    network: OnceLock<Network>,
}

impl Shipped {
    const fn new(preset: &'static str, seats: RangeInclusive<usize>, bytes: &'static [u8]) -> Shipped {
        Shipped { preset, seats, bytes, rules: OnceLock::new(), network: OnceLock::new() }
    }

    /// Whether the network is for this table. Every match makes this check, so it does not load the network.
    fn fits(&self, rules: &Rules, seats: usize) -> bool {
        let own = || Rules::preset(self.preset).expect("the name is a preset");
        self.seats.contains(&seats) && have_the_same_cards(self.rules.get_or_init(own), rules)
    }

    fn network(&self) -> &Network {
        self.network.get_or_init(|| Network::from_bytes(self.bytes).expect("the bundled networks are valid").0)
    }
}

/// `cambio learn` made each network from the recipe with the same name in experiments/learn.
static SHIPPED: [Shipped; 6] = [
    Shipped::new("classic", 2..=2, include_bytes!("../../nets/classic.net")),
    Shipped::new("classic", 3..=8, include_bytes!("../../nets/classic-many.net")),
    Shipped::new("original", 2..=2, include_bytes!("../../nets/original.net")),
    Shipped::new("original", 3..=8, include_bytes!("../../nets/original-many.net")),
    Shipped::new("faessler", 2..=2, include_bytes!("../../nets/faessler.net")),
    Shipped::new("faessler", 3..=8, include_bytes!("../../nets/faessler-many.net")),
];

impl Network {
    /// The bundled network for these cards and this number of seats; `None` if there is none. Rules with the cards of a
    /// preset have the network of that preset.
    ///
    /// ```
    /// use cambio_agents::Network;
    /// use cambio_core::Rules;
    ///
    /// assert!(Network::shipped(&Rules::preset("classic")?, 2).is_some());
    /// assert!(Network::shipped(&Rules::preset("mini-m1")?, 2).is_none());
    /// # Ok::<(), cambio_core::RulesError>(())
    /// ```
    pub fn shipped(rules: &Rules, seats: usize) -> Option<Network> {
        SHIPPED.iter().find(|shipped| shipped.fits(rules, seats)).map(|shipped| shipped.network().clone())
    }

    /// The file of [`Network::shipped`], for [`Network::from_bytes`]. Its metadata describe how it was made.
    ///
    /// ```
    /// use cambio_agents::Network;
    /// use cambio_core::Rules;
    ///
    /// let file = Network::shipped_file(&Rules::preset("classic")?, 2).unwrap();
    /// let (_, facts) = Network::from_bytes(file)?;
    /// assert_eq!(facts.made["recipe"]["rules"], "classic");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shipped_file(rules: &Rules, seats: usize) -> Option<&'static [u8]> {
        SHIPPED.iter().find(|shipped| shipped.fits(rules, seats)).map(|shipped| shipped.bytes)
    }

    /// The network of a player in a match: its own, otherwise the bundled one. The error is the reason for having none.
    pub(crate) fn for_match(own: Option<&Network>, rules: &Rules, seats: usize) -> Result<Network, String> {
        match own {
            Some(own) if own.inputs().fit(rules) => Ok(own.clone()),
            Some(own) => Err(format!("its network is for the cards of `{}`", own.inputs().rules().name())),
            None => Network::shipped(rules, seats).ok_or_else(|| {
                let name = rules.name();
                format!(
                    "no network comes with the cards of `{name}`; `cambio learn` makes one, and learned(\"FILE\") plays it"
                )
            }),
        }
    }
}
