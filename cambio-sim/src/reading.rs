//! Reads stored rows back: for summaries, for checks, for putting shares together.

use std::path::{Path, PathBuf};

use crate::derived::{Derived, Page, Source};
use crate::digest::Digest;
use crate::folder::{Entry, RunError, RunFolder, StoredRun, build_aside, row_files};
use crate::plan::Plan;
use crate::rows::{MatchRow, PlayerRow, RoundRow, Row};
use crate::run::replay_line;

/// The cells of some rows of CSV without a header.
fn records(bytes: &[u8]) -> Result<Vec<csv::StringRecord>, String> {
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    reader.into_records().collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Hands the rows of a line of the ledger to the digest, block by block; a block without rows was voided.
pub(crate) fn read_line(
    stored: &StoredRun,
    entry: &Entry,
    files: &[Vec<u8>],
    digest: &mut Digest,
    faults: &mut Vec<String>,
) -> Result<(), RunError> {
    let plan = &stored.plan;
    let bad =
        |name: &str, what: String| RunError::damaged(&stored.path.join(name), format!("shard {}: {what}", entry.line));
    let match_cells = records(&files[0]).map_err(|what| bad("matches.csv", what))?;
    let round_cells = records(&files[1]).map_err(|what| bad("rounds.csv", what))?;
    let player_cells = records(&files[2]).map_err(|what| bad("players.csv", what))?;
    let field = |name: &'static str| move |field: &str| bad(name, format!("a row without a good `{field}`"));
    let matches: Vec<MatchRow<'_>> =
        match_cells.iter().map(MatchRow::read).collect::<Result<_, _>>().map_err(field("matches.csv"))?;
    let rounds: Vec<RoundRow<'_>> =
        round_cells.iter().map(RoundRow::read).collect::<Result<_, _>>().map_err(field("rounds.csv"))?;
    let players: Vec<PlayerRow<'_>> =
        player_cells.iter().map(PlayerRow::read).collect::<Result<_, _>>().map_err(field("players.csv"))?;
    let (mut matches, mut rounds, mut players) = (&matches[..], &rounds[..], &players[..]);
    for number in plan.line(entry.line) {
        let block = plan.block(number);
        let (rules, seats, lineup) = (block.cell.rules.name(), block.cell.seats, block.lineup.label());
        let is_of = |row: &MatchRow<'_>, rotation: usize| {
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
        };
        let rotations = block.cell.seatings.len();
        if !matches.first().is_some_and(|row| is_of(row, 0)) {
            continue;
        }
        let place = format!("{rules}, {seats} seats, {lineup}, deal {}", block.deal);
        if matches.len() < rotations || (0..rotations).any(|rotation| !is_of(&matches[rotation], rotation)) {
            return Err(bad("matches.csv", format!("the rotations of {place} are not all there")));
        }
        let seated = |row: &PlayerRow<'_>, count: usize| {
            let (rotation, seat) = (count / seats, count % seats);
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
                && row.seat.index() == seat
                && row.agent == plan.labels[block.agent(seat, rotation)]
                && (1..=seats).contains(&row.rank)
        };
        let of_block = rotations * seats;
        if players.len() < of_block || (0..of_block).any(|count| !seated(&players[count], count)) {
            return Err(bad("players.csv", format!("the seats of {place} are not all there")));
        }
        let played = |row: &RoundRow<'_>, rotation: usize, round: usize| {
            row.rules == rules
                && row.seats == seats
                && row.lineup == lineup
                && row.deal == block.deal
                && row.rotation == rotation
                && row.round == round
                && row.points.as_slice().len() == seats
                && row.callers.first().is_none_or(|caller| caller.index() < seats)
        };
        let expected = matches[..rotations].iter().flat_map(|row| (1..=row.rounds).map(|round| (row.rotation, round)));
        let rounds_of_block: usize = matches[..rotations].iter().map(|row| row.rounds).sum();
        if rounds.len() < rounds_of_block
            || expected.zip(rounds).any(|((rotation, round), row)| !played(row, rotation, round))
        {
            return Err(bad("rounds.csv", format!("the rounds of {place} are not all there")));
        }
        digest.add(&block, &matches[..rotations], &rounds[..rounds_of_block], &players[..of_block]);
        (matches, rounds, players) = (&matches[rotations..], &rounds[rounds_of_block..], &players[of_block..]);
    }
    if !matches.is_empty() || !rounds.is_empty() || !players.is_empty() {
        return Err(bad("matches.csv", "a row that belongs to no block of it".to_owned()));
    }
    if let Some(place) = row_files(plan).iter().position(|file| file.name == "faults.jsonl") {
        let text = std::str::from_utf8(&files[place]).map_err(|error| bad("faults.jsonl", error.to_string()))?;
        faults.extend(text.lines().map(str::to_owned));
    }
    Ok(())
}

/// Makes the derived files of a run, with these pages, again from its rows.
///
/// # Errors
/// If something cannot be read or is not what the ledger says.
pub fn derive(stored: &StoredRun, pages: &[Page]) -> Result<Derived, RunError> {
    let mut digest = Digest::new(&stored.plan);
    let mut faults = Vec::new();
    stored.for_each_line(|entry, rows| read_line(stored, entry, &rows, &mut digest, &mut faults))?;
    digest.finish();
    let source = Source { plan: &stored.plan, spec: &stored.spec, extent: stored.extent() };
    Ok(Derived::new(&source, &digest, &faults, pages))
}

/// How much of a run is played again to be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replay {
    /// So many shards of the ledger, spread evenly.
    Sample(u64),
    /// All of it.
    All,
}

/// What a check of a run found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Findings {
    /// What is wrong, a sentence each.
    pub wrong: Vec<String>,
    /// What a run that was stopped left behind, a sentence each: resuming cuts it off.
    pub unfinished: Vec<String>,
    /// How many shards were played again and gave the same bytes.
    pub replayed: u64,
    /// How many were chosen to be played again and have agents that may decide differently.
    pub not_reproducible: u64,
}

/// Checks a run: hashes of every shard, what is on disk beyond them, the derived files with these pages, and by playing again.
///
/// # Errors
/// If the folder is no run at all. What is wrong with a run is found, not an error.
pub fn verify(stored: &StoredRun, plan: &Plan, replay: Replay, pages: &[Page]) -> Result<Findings, RunError> {
    let mut findings = Findings::default();
    let mut loose = Vec::new();
    if stored.is_torn {
        loose.push(format!("{}/ledger.jsonl ends in the middle of a line", stored.path.display()));
    }
    for (path, bytes) in stored.covered() {
        match std::fs::metadata(&path) {
            Ok(found) if found.len() > bytes => {
                loose.push(format!("{} has {} bytes; its ledger covers {bytes}", path.display(), found.len()));
            }
            // What is missing is found while reading.
            Ok(_) | Err(_) => {}
        }
    }
    if stored.claims_complete {
        findings.wrong = loose;
        if !stored.is_complete() {
            let (found, lines) = (stored.entries.len(), stored.lines());
            let what =
                format!("the manifest says complete, and the ledger has {found} of {} shards", lines.end - lines.start);
            findings.wrong.push(what);
        }
    } else {
        // A run that was stopped in the middle of writing.
        findings.unfinished = loose.into_iter().map(|left| left + "; resuming cuts off the rest").collect();
    }
    findings.wrong.extend(stored.manifest_flaws());
    match derive(stored, pages) {
        Err(error) => findings.wrong.push(error.to_string()),
        // The files of an unfinished run, or of a share, are written when it ends.
        Ok(derived) if stored.is_complete() && stored.share.is_none() => {
            for (name, text) in derived.files() {
                let path = stored.path.join(name);
                match std::fs::read(&path) {
                    Ok(found) if found == text.as_bytes() => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound && !stored.claims_complete => {
                        findings.unfinished.push(format!("{} is not there yet", path.display()));
                    }
                    Ok(_) => findings.wrong.push(format!("{} is not what its rows give", path.display())),
                    Err(error) => findings.wrong.push(format!("cannot read {}: {error}", path.display())),
                }
            }
        }
        Ok(_) => {}
    }
    let entries = stored.entries.len() as u64;
    let chosen = match replay {
        Replay::All => entries,
        Replay::Sample(wanted) => wanted.min(entries),
    };
    for number in 0..chosen {
        let entry = &stored.entries[(u128::from(number) * u128::from(entries) / u128::from(chosen.max(1))) as usize];
        match replay_line(plan, entry) {
            None => findings.not_reproducible += 1,
            Some(Ok(true)) => findings.replayed += 1,
            Some(Ok(false)) => findings.wrong.push(format!("shard {} played again gives other rows", entry.line)),
            Some(Err(fault)) => findings
                .wrong
                .push(format!("shard {} cannot be played again: {}: {}", entry.line, fault.place, fault.what)),
        }
    }
    Ok(findings)
}

/// Puts the shares of a run together, in a folder of their own: the same bytes as of a run in one piece.
///
/// # Errors
/// If the folders are of different runs, overlap, or do not make a whole; the sentence names what is missing. If they cannot
/// be read, or the whole cannot be written; then nothing is left of it. Until it is whole its name is `OUT.new`.
pub fn merge(folders: &[PathBuf], out: &Path, pages: &[Page]) -> Result<StoredRun, RunError> {
    let parts = parts(folders)?;
    build_aside(out, |new| merge_into(&parts, new, pages))?;
    StoredRun::open(out)
}

/// The shares of a run, in order, if they make a whole.
fn parts(folders: &[PathBuf]) -> Result<Vec<StoredRun>, RunError> {
    let mut parts = folders.iter().map(|folder| StoredRun::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = parts.first() else {
        return Err(RunError::Parts("there is nothing to merge; name the folders of a run's shares".to_owned()));
    };
    let shown = |part: &StoredRun| part.path.display().to_string();
    let (id, name) = (first.plan.run_id(), shown(first));
    for part in &parts {
        if part.plan.run_id() != id {
            let what = format!(
                "{} is of run {}, {name} of run {id}; they do not go together",
                shown(part),
                part.plan.run_id()
            );
            return Err(RunError::Parts(what));
        }
        let [one, other] = [first, part].map(StoredRun::build);
        if one.revision() != other.revision() {
            let (other_name, one, other) = (shown(part), one.revision(), other.revision());
            let what = format!("{name} was played by revision {one}, {other_name} by {other}; they do not go together");
            return Err(RunError::Parts(what));
        }
        if let (Some(one), Some(other)) = (&first.programs, &part.programs)
            && let Some(change) = one.changes(other).first()
        {
            return Err(RunError::Parts(format!("{name} and {} do not go together: {change}", shown(part))));
        }
        if !part.is_complete() || part.is_torn {
            let what = format!("{} is not complete; finish it with --resume", shown(part));
            return Err(RunError::Parts(what));
        }
    }
    // An empty share comes before the one that begins where it is.
    parts.sort_by_key(|part| (part.lines().start, part.lines().end));
    let mut neighbours = parts.iter().zip(&parts[1..]);
    if let Some((one, other)) = neighbours.find(|(one, other)| one.lines().end > other.lines().start) {
        let what = format!("{} and {} overlap; each shard may be there once", shown(one), shown(other));
        return Err(RunError::Parts(what));
    }
    let all = parts[0].plan.line_count();
    let mut missing = Vec::new();
    let mut next = 0;
    for lines in parts.iter().map(StoredRun::lines).chain(std::iter::once(all..all)) {
        if lines.start > next {
            let of = parts[0].share.map(|share| share.of);
            let shares = of.into_iter().flat_map(|of| {
                (0..of).filter(move |&index| {
                    let from = |index: u64| (u128::from(index) * u128::from(all) / u128::from(of)) as u64;
                    from(index) >= next && from(index + 1) <= lines.start && from(index) < from(index + 1)
                })
            });
            let named: Vec<String> = shares.map(|index| index.to_string()).collect();
            let named = if named.is_empty() { String::new() } else { format!(" (--index {})", named.join(", ")) };
            missing.push(format!("shards {next} to {} of the ledger{named}", lines.start - 1));
        }
        next = next.max(lines.end);
    }
    if !missing.is_empty() {
        return Err(RunError::Parts(format!("{} of {all} are missing", missing.join(" and "))));
    }
    Ok(parts)
}

fn merge_into(parts: &[StoredRun], out: &Path, pages: &[Page]) -> Result<(), RunError> {
    let mut folder = RunFolder::create(out, &parts[0].spec, &parts[0].plan, None)?;
    folder.come_from(&parts[0]);
    let mut digest = Digest::new(&parts[0].plan);
    let mut faults = Vec::new();
    for part in parts {
        part.for_each_line(|entry, rows| {
            read_line(part, entry, &rows, &mut digest, &mut faults)?;
            let counted = rows.into_iter().zip(&entry.segments);
            let files: Vec<(Vec<u8>, u64)> =
                counted.map(|(rows, segment)| (crate::folder::packed(&part.plan, rows), segment.rows)).collect();
            folder.append(entry.clone(), &files)
        })?;
    }
    folder.commit()?;
    digest.finish();
    let source = Source { plan: &parts[0].plan, spec: &parts[0].spec, extent: folder.extent() };
    Derived::new(&source, &digest, &faults, pages).write(out)?;
    folder.write_manifest("complete")
}
