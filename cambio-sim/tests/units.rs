//! Stores of units tolerate failing and slow writes, and detect machines that give different results.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use cambio_agents::roster;
use cambio_core::rng::Bounded as _;
use cambio_core::{Action, Agent, AgentError, Briefing, Observation};
use cambio_sim::units::{Blobs, FolderBlobs, UnitStore, WorkUnit, merge_units, play_unit, replay_unit};
use cambio_sim::{Executor, Experiment, FaultPolicy, PlayablePlan, RunFolder, Runner, derive};

/// A storage in which one operation in ten fails and one in ten is delayed, in a reproducible order.
#[derive(Debug)]
struct Flaky {
    blobs: FolderBlobs,
    count: AtomicU64,
    failed: std::sync::Arc<AtomicU64>,
}

impl Flaky {
    fn try_luck(&self) -> io::Result<()> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        match number.wrapping_mul(7) % 10 {
            0 => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                Err(io::Error::other("injected failure"))
            }
            1 => {
                std::thread::sleep(Duration::from_millis(20));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Blobs for Flaky {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.try_luck()?;
        self.blobs.list(folder)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        self.try_luck()?;
        self.blobs.open(name)
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.try_luck()?;
        self.blobs.create(name, bytes)
    }

    fn aside(&self) -> io::Result<PathBuf> {
        self.try_luck()?;
        self.blobs.aside()
    }

    fn commit(&self, aside: &Path, name: &str) -> io::Result<()> {
        // Half of the failures are reported after a successful commit, so that a retry finds the file.
        let luck = self.try_luck();
        if luck.is_ok() || self.failed.load(Ordering::Relaxed).is_multiple_of(2) {
            self.blobs.commit(aside, name)?;
        }
        luck
    }
}

fn plan() -> PlayablePlan {
    let experiment = Experiment {
        seed: Some(3.into()),
        deals: 60,
        rules: vec!["classic".into()],
        seats: vec![2, 3],
        agents: ["random", "greedy", "random(pass=0.9)"].map(String::from).to_vec(),
        ..Experiment::default()
    };
    experiment.plan(&roster(), Path::new(".")).unwrap()
}

/// Compares all files of two run folders except `timing.csv`.
fn assert_same_rows(one: &Path, other: &Path) {
    let names = |folder: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "timing.csv");
        names.sort();
        names
    };
    assert_eq!(names(one), names(other));
    assert!(names(one).len() > 8, "{:?}", names(one));
    for name in names(one) {
        assert!(
            std::fs::read(one.join(&name)).unwrap() == std::fs::read(other.join(&name)).unwrap(),
            "{} differs",
            name.display()
        );
    }
}

#[test]
fn a_store_that_fails_one_time_in_ten_loses_nothing_and_has_nothing_twice() {
    let (place, plan, executor) = (tempfile::tempdir().unwrap(), plan(), Executor::new(2).unwrap());
    Runner::new(&executor).run(&plan, &mut RunFolder::create(&place.path().join("one"), &plan).unwrap()).unwrap();
    let failed = std::sync::Arc::new(AtomicU64::new(0));
    let blobs = FolderBlobs::at(&place.path().join("store"));
    let store = UnitStore::on(Box::new(Flaky { blobs, count: AtomicU64::new(0), failed: failed.clone() }), "flaky");
    store.begin(&plan).unwrap();
    for index in [4, 1, 0, 3, 2, 1] {
        play_unit(&executor, &plan, plan.part(index, 5), &store, |_| ()).unwrap();
    }
    assert_eq!(store.units().unwrap().len(), 5);
    assert!(store.missing(0..plan.batch_count()).unwrap().is_empty());
    assert_eq!(merge_units(&store, &place.path().join("many"), |_, _| ()).unwrap().0.matches(), plan.matches());
    assert_same_rows(&place.path().join("one"), &place.path().join("many"));
    assert!(failed.load(Ordering::Relaxed) > 5, "too few failures were injected");
    assert_eq!(std::fs::read_dir(place.path().join("store/aside")).unwrap().count(), 0, "temporary files are left");
}

#[test]
fn what_a_killed_machine_left_aside_is_removed_and_what_is_written_stays() {
    let (place, plan, executor) = (tempfile::tempdir().unwrap(), plan(), Executor::new(1).unwrap());
    let store = UnitStore::open(place.path().join("store").to_str().unwrap()).unwrap();
    store.begin(&plan).unwrap();
    play_unit(&executor, &plan, 0..plan.batch_count(), &store, |_| ()).unwrap();
    let (left, written) = (place.path().join("store/aside/left"), place.path().join("store/aside/written"));
    for (path, minutes) in [(&left, 61), (&written, 59)] {
        let file = std::fs::File::create_new(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
    }
    merge_units(&store, &place.path().join("run"), |_, _| ()).unwrap();
    assert!(!left.exists() && written.exists());
}

#[test]
fn units_that_overlap_are_compared_batch_by_batch() {
    let (place, plan, executor) = (tempfile::tempdir().unwrap(), plan(), Executor::new(1).unwrap());
    Runner::new(&executor).run(&plan, &mut RunFolder::create(&place.path().join("one"), &plan).unwrap()).unwrap();
    let store = UnitStore::open(place.path().join("store").to_str().unwrap()).unwrap();
    store.begin(&plan).unwrap();
    let all = plan.batch_count();
    for unit in [0..all / 2, all / 3..all, all / 4..all / 4 + 1] {
        play_unit(&executor, &plan, unit, &store, |_| ()).unwrap();
    }
    merge_units(&store, &place.path().join("many"), |_, _| ()).unwrap();
    assert_same_rows(&place.path().join("one"), &place.path().join("many"));
}

#[test]
fn other_bytes_for_the_same_batches_stop_and_both_files_are_named() {
    let (place, plan, executor) = (tempfile::tempdir().unwrap(), plan(), Executor::new(1).unwrap());
    let path = place.path().join("store");
    let store = UnitStore::open(path.to_str().unwrap()).unwrap();
    store.begin(&plan).unwrap();
    let unit = play_unit(&executor, &plan, 0..plan.batch_count(), &store, |_| ()).unwrap().unit;
    // Simulate a machine with a memory error: its file matches the hash in its name, but has other bytes.
    let mut bytes = std::fs::read(path.join(unit.name())).unwrap();
    let at = bytes.windows(7).position(|word| word == b"\"rows\":").unwrap() + 6;
    bytes.insert(at, b' ');
    let other = blake3::hash(&bytes).to_hex().to_string();
    std::fs::rename(path.join(unit.name()), place.path().join("kept")).unwrap();
    let folder = path.join(unit.name()).parent().unwrap().to_owned();
    std::fs::write(folder.join(&other), &bytes).unwrap();
    let error = play_unit(&executor, &plan, unit.batches(), &store, |_| ()).unwrap_err().to_string();
    assert!(error.contains("gave different bytes") && error.contains(&other) && error.contains(&unit.hash), "{error}");
    let error = merge_units(&store, &place.path().join("run"), |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("the entry of batch 0 is missing") || error.contains("different bytes"), "{error}");
    assert!(!place.path().join("run").exists());
    // A replay detects the difference too.
    std::fs::remove_file(path.join(unit.name())).unwrap();
    let there = store.units().unwrap().remove(0);
    let error = replay_unit(&executor, &plan, &there, &store).unwrap_err().to_string();
    assert!(error.contains(&other) && error.contains(&unit.hash), "{error}");
}

/// Decides at random, but illegally in one deal of three.
struct Careless {
    is_wrong: bool,
    random: Box<dyn Agent>,
}

impl Agent for Careless {
    fn begin(&mut self, briefing: &Briefing<'_>) -> Result<(), AgentError> {
        self.is_wrong = briefing.stream.clone().below(3) == 0;
        self.random.begin(briefing)
    }

    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        if self.is_wrong { Ok(Action::Call) } else { self.random.decide(view) }
    }
}

#[test]
fn tables_are_the_same_from_memory_from_the_rows_and_from_the_sums_beside_the_rows() {
    let careless = || Careless { is_wrong: false, random: roster().parse("random").unwrap().make() };
    let roster = roster().with("careless", "Sometimes decides illegally.", careless);
    let mut voided = 0;
    for faults in [FaultPolicy::Stop, FaultPolicy::Forfeit, FaultPolicy::Void] {
        let (place, executor) = (tempfile::tempdir().unwrap(), Executor::new(2).unwrap());
        let third = if faults == FaultPolicy::Stop { "sharp" } else { "careless" };
        let experiment = Experiment {
            seed: Some(3.into()),
            deals: 40,
            rules: vec!["classic".into(), "original".into()],
            seats: vec![2, 3],
            agents: ["random", "greedy", third].map(String::from).to_vec(),
            faults,
            ..Experiment::default()
        };
        let plan = experiment.plan(&roster, Path::new(".")).unwrap();
        Runner::new(&executor).run(&plan, &mut RunFolder::create(&place.path().join("one"), &plan).unwrap()).unwrap();
        let store = UnitStore::open(place.path().join("store").to_str().unwrap()).unwrap();
        store.begin(&plan).unwrap();
        (0..3).for_each(|index| drop(play_unit(&executor, &plan, plan.part(index, 3), &store, |_| ()).unwrap()));
        let (merged, derived) = merge_units(&store, &place.path().join("many"), |_, _| ()).unwrap();
        voided += plan.matches() - merged.matches();
        assert_same_rows(&place.path().join("one"), &place.path().join("many"));
        assert_eq!(derive(&merged).unwrap().files(), derived.files(), "tables from the rows");
        let played = Runner::new(&executor).play(&plan);
        assert_eq!((played.derived.files(), played.matches), (derived.files(), merged.matches()), "tables from memory");
    }
    assert!(voided > 0, "no block was voided");
}

#[test]
fn sums_that_cannot_be_those_of_the_blocks_are_refused() {
    let (place, plan, executor) = (tempfile::tempdir().unwrap(), plan(), Executor::new(1).unwrap());
    let path = place.path().join("store");
    let store = UnitStore::open(path.to_str().unwrap()).unwrap();
    store.begin(&plan).unwrap();
    let unit = play_unit(&executor, &plan, 0..plan.batch_count(), &store, |_| ()).unwrap().unit;
    // The same rows with invalid sums: the last block begins after the last outcome. The hash in the name is correct.
    let mut bytes = std::fs::read(path.join(unit.name())).unwrap();
    std::fs::remove_file(path.join(unit.name())).unwrap();
    *bytes.last_mut().unwrap() = 127;
    let other = WorkUnit { hash: blake3::hash(&bytes).to_hex().to_string(), ..unit };
    std::fs::write(path.join(other.name()), &bytes).unwrap();
    let error = merge_units(&store, &place.path().join("run"), |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("the sums of batch") && error.contains(&other.hash), "{error}");
    assert!(!place.path().join("run").exists());
}
