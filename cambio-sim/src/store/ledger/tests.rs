use std::path::Path;

use super::*;
use crate::plan::Experiment;

#[test]
fn changed_ledger_entries_are_refused() {
    for (records, faults, files) in [(false, FaultPolicy::Stop, 3), (true, FaultPolicy::Void, 5)] {
        let experiment = Experiment { deals: 100, records, faults, ..Experiment::at("classic", 2, &["random"]) };
        let plan = experiment.plan(&cambio_agents::roster(), Path::new(".")).unwrap();
        let rows: Vec<(Vec<u8>, u64)> = (0..files).map(|file| (vec![b'x'; file], file as u64)).collect();
        let entry = BatchEntry::new(1, &rows);
        let text = entry.to_text(&plan);
        assert!(
            text.starts_with(r#"{"shard":1,"blocks":[8,16],"files":{"matches.csv":{"rows":0,"bytes":0,"blake3":""#)
        );
        assert_eq!(text.contains(r#"},"records.jsonl":{"rows":3,"bytes":3,"#), records);
        let line = text.trim_end();
        assert_eq!(BatchEntry::read(line, &plan), Some(entry));
        for other in
            [line.replace(',', ", "), line.replace("[8,16]", "[8,17]"), line.replace("\"shard\":1", "\"shard\":99")]
        {
            assert_eq!(BatchEntry::read(&other, &plan), None, "{other}");
        }
    }
}
