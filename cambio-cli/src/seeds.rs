//! The default seeds of commands, and a warning about seeds that are used twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cambio_core::rng::Seed;
use cambio_exec::read_text;
use cambio_sim::tune::{TuningOutcome, TuningResult};

use crate::say::say;

/// Prints a warning for each tuning that chose one of these agents on deals of this seed. Looks at the folders in the
/// current folder, in `runs`, and beside the folder `out`.
pub(super) fn warn_if_tuned_on(seed: Seed, agents: &[String], out: Option<&Path>) {
    const MOST_FOLDERS: usize = 1000;
    let here = std::env::current_dir().unwrap_or_default();
    let beside = out.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    let places = [Some(here.as_path()), Some(Path::new("runs")), beside].into_iter().flatten();
    let places: BTreeSet<PathBuf> = places.filter_map(|place| place.canonicalize().ok()).collect();
    let folders = places.iter().filter_map(|place| place.read_dir().ok()).flat_map(|list| list.take(MOST_FOLDERS));
    let mut folders: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let text = read_text(&folder.join("tuning.json")).unwrap_or_default();
        let Ok(TuningResult { seed: tuned_on, found: TuningOutcome::AgainstField(found), .. }) =
            serde_json::from_str(&text)
        else {
            continue;
        };
        // A spec may begin with a name.
        let is_chosen =
            |spec: &String| *spec == found.best || spec.split_once(" = ").is_some_and(|(_, spec)| spec == found.best);
        if tuned_on == seed && agents.iter().any(is_chosen) {
            let shown = folder.strip_prefix(&here).unwrap_or(&folder).display();
            say!(
                "warning: {shown} chose `{}` on deals of the same seed, so its result on them is too good; use another seed",
                found.best
            );
        }
    }
}
