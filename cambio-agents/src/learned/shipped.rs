//! The bundled networks.

use std::ops::RangeInclusive;
use std::sync::{Mutex, OnceLock, PoisonError};

use cambio_core::Rules;
use cambio_core::rules::knob::MatchEnd;

use super::evaluation::{Network, have_the_same_cards};
use super::file::NetworkError;

/// A file of the library, and the tables that it is for.
pub(crate) struct Shipped<T> {
    /// The preset whose cards the file is for.
    preset: &'static str,
    seats: RangeInclusive<usize>,
    /// The bytes in the program; empty if the program that embeds this library provides the file.
    pub(crate) bytes: &'static [u8],
    provided: OnceLock<&'static [u8]>,
    /// The rules of the preset, and its single rounds.
    rules: OnceLock<[Rules; 2]>,
    content: OnceLock<T>,
}

impl<T> Shipped<T> {
    pub(crate) const fn new(preset: &'static str, seats: RangeInclusive<usize>, bytes: &'static [u8]) -> Shipped<T> {
        let provided = OnceLock::new();
        Shipped { preset, seats, bytes, provided, rules: OnceLock::new(), content: OnceLock::new() }
    }

    /// The bytes in the program or from its embedder, if there are any.
    fn available(&self) -> Option<&'static [u8]> {
        let bundled = Some(self.bytes).filter(|bytes| !bytes.is_empty());
        bundled.or_else(|| self.provided.get().copied())
    }

    /// Whether the file is for the cards and seats of this table. Every match makes this check, so it does not read the file.
    pub(crate) fn fits(&self, rules: &Rules, seats: usize) -> bool {
        self.seats.contains(&seats) && have_the_same_cards(&self.rules()[0], rules)
    }

    fn rules(&self) -> &[Rules; 2] {
        self.rules.get_or_init(|| {
            let rules = Rules::preset(self.preset).expect("the name is a preset");
            [rules, rules.of_one_round()]
        })
    }

    /// The content of a file in the program, which is read once.
    pub(crate) fn content(&self, read: fn(&[u8]) -> Result<T, NetworkError>) -> &T {
        self.content.get_or_init(|| read(self.bytes).expect("the bundled files are valid"))
    }

    /// The content of the file, which is read once; `None` if neither the program nor its embedder has the file.
    fn content_if_available(&self, read: fn(&[u8]) -> Result<T, NetworkError>) -> Option<&T> {
        let bytes = self.available()?;
        Some(self.content.get_or_init(|| read(bytes).expect("bundled and provided files are valid")))
    }
}

/// The bytes of a network; empty without the feature `bundled`.
macro_rules! bundled {
    ($file:literal) => {{
        #[cfg(feature = "bundled")]
        let bytes: &[u8] = include_bytes!(concat!("../../nets/", $file));
        #[cfg(not(feature = "bundled"))]
        let bytes: &[u8] = &[];
        bytes
    }};
}

/// `cambio learn` made each network from the recipe with the same name in experiments/learn.
static SHIPPED: [Shipped<Network>; 7] = [
    Shipped::new("classic", 2..=2, bundled!("classic.net")),
    Shipped::new("classic", 3..=8, bundled!("classic-many.net")),
    Shipped::new("original", 2..=2, bundled!("original.net")),
    Shipped::new("original", 3..=8, bundled!("original-many.net")),
    Shipped::new("faessler", 2..=2, bundled!("faessler.net")),
    Shipped::new("faessler", 3..=8, bundled!("faessler-many.net")),
    Shipped::new(GENERAL, 2..=8, bundled!("general.net")),
];

/// In place of a preset: the file is for all rules.
const GENERAL: &str = "general";

/// The networks that were requested and are missing, since the last call of [`missing_networks`].
static MISSING: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Shipped<Network> {
    /// The file for this table. The general network is stronger under knobs that no preset has, but weaker in matches of several
    /// rounds, where the network for the same cards plays under all knobs.
    fn find(rules: &Rules, seats: usize) -> &'static Shipped<Network> {
        let is_match = rules.spec().match_end != MatchEnd::Rounds(1);
        let is_preset = |own: &Rules| own == rules || own.spec().plays_as(rules.spec());
        let is_for = |shipped: &&Shipped<Network>| {
            shipped.preset == GENERAL || shipped.fits(rules, seats) && (is_match || is_preset(&shipped.rules()[1]))
        };
        SHIPPED.iter().find(is_for).expect("the last file is for all tables")
    }

    /// The network under these rules; `None` if this program does not have it.
    fn network(&self, rules: &Rules) -> Option<Network> {
        let content = self.content_if_available(|bytes| Network::from_bytes(bytes).map(|(network, _)| network));
        if content.is_none() {
            MISSING.lock().unwrap_or_else(PoisonError::into_inner).push(self.file());
        }
        if self.preset == GENERAL { content?.under(rules) } else { content.cloned() }
    }

    /// The name of the file in the folder `nets`.
    fn file(&self) -> String {
        let many = if *self.seats.start() > 2 { "-many" } else { "" };
        format!("{}{many}.net", self.preset)
    }
}

/// The files of the networks that agents have requested since the last call, and that this program does not have. Without the
/// feature `bundled`, provide them with [`provide_network`] and make the agents again. With the feature, the list is empty.
pub fn missing_networks() -> Vec<String> {
    std::mem::take(&mut MISSING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Provides the bytes of one of the library's networks, by the name of its file in the folder `nets`. A network that the
/// program already has is not replaced. The bytes are never freed.
///
/// # Errors
/// If no network has this name, or the bytes are not a network. The error is one sentence.
///
/// ```
/// use cambio_agents::provide_network;
///
/// let error = provide_network("classic.net", b"not a network".to_vec()).unwrap_err();
/// assert!(error.starts_with("`classic.net`: this is not a network"), "{error}");
/// ```
pub fn provide_network(file: &str, bytes: Vec<u8>) -> Result<(), String> {
    let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.file() == file) else {
        let known: Vec<String> = SHIPPED.iter().map(Shipped::file).collect();
        return Err(format!("no network has the file `{file}`; there are {}", known.join(", ")));
    };
    let (network, _) = Network::from_bytes(&bytes).map_err(|error| format!("`{file}`: {error}"))?;
    shipped.provided.get_or_init(|| bytes.leak());
    shipped.content.get_or_init(|| network);
    Ok(())
}

impl Network {
    /// The bundled network for these rules and this number of seats: the network of a preset for the preset and for matches of
    /// several rounds with its cards, and the general network for all other rules. `None` without the feature `bundled`, if
    /// the network was not passed to [`provide_network`].
    ///
    /// ```
    /// use cambio_agents::Network;
    /// use cambio_core::Rules;
    ///
    /// assert!(Network::shipped(&Rules::preset("classic")?, 2).is_some());
    /// assert!(Network::shipped(&Rules::preset("mini-m1")?, 2).is_some());
    /// # Ok::<(), cambio_core::RulesError>(())
    /// ```
    pub fn shipped(rules: &Rules, seats: usize) -> Option<Network> {
        Shipped::find(rules, seats).network(rules)
    }

    /// The bundled general network under these rules, even where [`Network::shipped`] is the network of a preset. `None` as there.
    pub fn general(rules: &Rules) -> Option<Network> {
        SHIPPED[SHIPPED.len() - 1].network(rules)
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
        Shipped::find(rules, seats).available()
    }

    /// The names and the files of all bundled networks.
    pub fn shipped_files() -> impl Iterator<Item = (String, &'static [u8])> {
        let file = |shipped: &'static Shipped<Network>| {
            let name = shipped.file().trim_end_matches(".net").to_owned();
            Some((name, shipped.available()?))
        };
        SHIPPED.iter().filter_map(file)
    }

    /// The network of a player in a match: its own, otherwise the bundled one. The error is the reason for having none.
    pub(crate) fn for_match(own: Option<&Network>, rules: &Rules, seats: usize) -> Result<Network, String> {
        match own {
            Some(own) => own
                .under(rules)
                .ok_or_else(|| format!("its network is for the cards of `{}`", own.inputs().rules().name())),
            None => Network::shipped(rules, seats).ok_or_else(|| "its network is not in this program".to_owned()),
        }
    }
}
