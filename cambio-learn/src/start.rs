//! The starting network of a run.

use std::path::Path;

use cambio_agents::{Network, NetworkMetadata};
use cambio_core::Rules;
use cambio_exec::FileError;

use crate::error::LearnError;
use crate::recipe::{Recipe, RecipeError};

/// The maximum size of a network file in bytes.
const MOST: u64 = 1 << 26;

/// The starting network of a recipe and the metadata of its file: from a path, or, for [`Recipe::SHIPPED`], the bundled
/// network for these cards and numbers of seats.
///
/// # Errors
/// If the network does not exist, cannot be read, or is for different cards, or if the numbers of seats have different
/// bundled networks.
///
/// ```
/// use cambio_core::Rules;
/// use cambio_learn::{Recipe, starting_network};
///
/// let (_, facts) = starting_network(Recipe::SHIPPED, &Rules::preset("classic")?, &[2])?;
/// assert_eq!(facts.made["matches"], 10_000_000);
/// assert!(starting_network(Recipe::SHIPPED, &Rules::preset("mini-m1")?, &[2]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn starting_network(from: &str, rules: &Rules, seats: &[usize]) -> Result<(Network, NetworkMetadata), LearnError> {
    let refuse = |found: String, allowed: &str| {
        LearnError::Recipe(RecipeError::Field { field: "from", found, allowed: allowed.to_owned() })
    };
    let (network, facts) = if from == Recipe::SHIPPED {
        let files: Vec<_> = seats.iter().map(|&seats| Network::shipped_file(rules, seats)).collect();
        let Some(&Some(file)) = files.first() else {
            let found = format!("`shipped` (no network is bundled for the cards of `{}`)", rules.name());
            return Err(refuse(found, "a network file or unset"));
        };
        if files.iter().any(|other| !other.is_some_and(|other| std::ptr::eq(other, file))) {
            let found = "`shipped` (the numbers of seats have different bundled networks)".to_owned();
            return Err(refuse(found, "a network file or unset"));
        }
        Network::from_bytes(file)?
    } else {
        let path = Path::new(from);
        let metadata = std::fs::metadata(path).map_err(FileError::unreadable(path))?;
        if !metadata.is_file() || metadata.len() > MOST {
            return Err(refuse(format!("`{from}`"), "a network file of at most 64 MiB"));
        }
        Network::from_bytes(&std::fs::read(path).map_err(FileError::unreadable(path))?)?
    };
    Ok((network.fitting(rules)?, facts))
}
