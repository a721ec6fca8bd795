//! The bundled networks.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use cambio_core::Rules;

use super::evaluation::{Network, have_the_same_cards};
use super::file::NetworkError;

/// A bundled file, and the tables that it is for.
pub(crate) struct Shipped<T> {
    /// The preset whose cards the file is for.
    preset: &'static str,
    seats: RangeInclusive<usize>,
    pub(crate) bytes: &'static [u8],
    rules: OnceLock<Rules>,
    content: OnceLock<T>,
}

impl<T> Shipped<T> {
    pub(crate) const fn new(preset: &'static str, seats: RangeInclusive<usize>, bytes: &'static [u8]) -> Shipped<T> {
        Shipped { preset, seats, bytes, rules: OnceLock::new(), content: OnceLock::new() }
    }

    /// Whether the file is for this table. Every match makes this check, so it does not read the file.
    pub(crate) fn fits(&self, rules: &Rules, seats: usize) -> bool {
        let own = || Rules::preset(self.preset).expect("the name is a preset");
        self.seats.contains(&seats) && have_the_same_cards(self.rules.get_or_init(own), rules)
    }

    /// The content of the file, which is read once.
    pub(crate) fn content(&self, read: fn(&[u8]) -> Result<T, NetworkError>) -> &T {
        self.content.get_or_init(|| read(self.bytes).expect("the bundled files are valid"))
    }
}

/// `cambio learn` made each network from the recipe with the same name in experiments/learn.
static SHIPPED: [Shipped<Network>; 6] = [
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
        let found = SHIPPED.iter().find(|shipped| shipped.fits(rules, seats))?;
        Some(found.content(|bytes| Network::from_bytes(bytes).map(|(network, _)| network)).clone())
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
