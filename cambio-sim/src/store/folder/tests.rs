use super::*;
use crate::Experiment;

#[test]
fn nothing_follows_lines_of_the_ledger_that_were_lost() {
    let experiment = Experiment { deals: 4, ..Experiment::at("classic", 2, &["random"]) };
    let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    let files = vec![(Vec::new(), 0); 3];
    let lost = || Err(RunError::unwritable(Path::new("rows"))(std::io::Error::other("no room")));
    folder.syncing = Some(std::thread::spawn(lost));
    folder.append(BatchEntry::new(1, &files), &files).unwrap();
    assert!(folder.commit().is_err());
    folder.append(BatchEntry::new(2, &files), &files).unwrap();
    folder.committed = Instant::now().checked_sub(2 * COMMIT_EVERY).unwrap();
    assert!(folder.commit_if_due().is_ok() && folder.commit().is_ok());
    assert_eq!(std::fs::read_to_string(path.join("ledger.jsonl")).unwrap(), "");
    assert_eq!(StoredRun::open(&path).unwrap().matches(), 0);
}
