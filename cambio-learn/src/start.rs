//! The network to go on from.

use std::path::Path;

use cambio_agents::{Network, NetworkFacts};
use cambio_core::Rules;
use cambio_exec::FileError;

use crate::error::LearnError;
use crate::recipe::{Recipe, RecipeError};

/// The most bytes of a network's file.
const MOST: u64 = 1 << 26;

/// The network that a recipe goes on from: the one of a file, or [`Recipe::SHIPPED`] for the one that comes with the library
/// for these cards and tables. What its file says of it comes with it.
///
/// # Errors
/// If there is none, it cannot be read, or it is for other cards; or if several networks come with the library for the tables.
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
pub fn starting_network(from: &str, rules: &Rules, seats: &[usize]) -> Result<(Network, NetworkFacts), LearnError> {
    let refuse = |found: String, allowed: &str| {
        LearnError::Recipe(RecipeError::Field { field: "from", found, allowed: allowed.to_owned() })
    };
    let (network, facts) = if from == Recipe::SHIPPED {
        let files: Vec<_> = seats.iter().map(|&seats| Network::shipped_file(rules, seats)).collect();
        let Some(&Some(file)) = files.first() else {
            let found = format!("`shipped`, and no network comes with the cards of `{}`", rules.name());
            return Err(refuse(found, "the file of a network, or nothing"));
        };
        if files.iter().any(|other| !other.is_some_and(|other| std::ptr::eq(other, file))) {
            let found = "`shipped`, and not all the tables have the same network".to_owned();
            return Err(refuse(found, "the file of a network, or nothing"));
        }
        Network::from_bytes(file)?
    } else {
        let path = Path::new(from);
        let metadata = std::fs::metadata(path).map_err(FileError::unreadable(path))?;
        if !metadata.is_file() || metadata.len() > MOST {
            return Err(refuse(format!("`{from}`, which is no network"), "a file of at most 64 MiB"));
        }
        Network::from_bytes(&std::fs::read(path).map_err(FileError::unreadable(path))?)?
    };
    Ok((network.fitting(rules)?, facts))
}
