use super::*;
use crate::Experiment;

#[test]
fn nothing_follows_a_lost_line_of_the_ledger() {
    let experiment = Experiment { deals: 4, ..Experiment::at("classic", 2, &["random"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    let entry = |batch| BatchEntry::new(batch, &vec![(Vec::new(), 0); 3]);
    let lost = || Err(RunError::unwritable(Path::new("rows"))(std::io::Error::other("no room")));
    folder.syncing = Some(std::thread::spawn(lost));
    folder.append(&entry(1), &[]).unwrap();
    assert!(folder.flush().is_err());
    folder.append(&entry(2), &[]).unwrap();
    folder.committed = Instant::now().checked_sub(2 * COMMIT_EVERY).unwrap();
    assert!(folder.commit_if_due().is_ok() && folder.flush().is_ok());
    assert_eq!(std::fs::read_to_string(path.join("ledger.jsonl")).unwrap(), "");
    assert_eq!(StoredRun::open(&path).unwrap().matches(), 0);
}
