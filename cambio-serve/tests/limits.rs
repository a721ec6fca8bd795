//! Hostile run folders do not stop the server.

use std::path::Path;
use std::time::Duration;

use crate::asking::{TOKEN, get, read, run};
use cambio_agents::roster;
use cambio_serve::{App, Settings};
use cambio_sim::{Executor, Experiment, RunFolder, Runner};

#[cfg(unix)]
#[test]
fn special_files_and_links_in_a_run_folder_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let experiment = Experiment { deals: 4, ..Experiment::at("classic", 2, &["random", "greedy"]) };
    let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    Runner::new(&Executor::new(1).unwrap()).run(&plan, &mut folder).unwrap().outcome.unwrap();
    std::fs::write(path.join("report.html"), "the report").unwrap();
    std::fs::write(root.path().join("secret.html"), "the secret").unwrap();
    let settings = Settings { runs: root.path().to_owned(), ..Settings::new(roster()) };
    let app = App::new(settings, TOKEN.to_owned(), 8417);
    let ask = |path: &str| {
        let answer = run(async {
            tokio::time::timeout(Duration::from_secs(20), async { read(get(&app, path).await).await }).await
        });
        let (status, text) = answer.unwrap_or_else(|_| panic!("{path}: no answer"));
        (status.as_u16(), text)
    };
    let (records, report) = ("api/runs/matches?run=run&kind=guess", "runs/report?run=run");
    let rows = "api/runs/matches?run=run&kind=all";
    assert_eq!([records, rows, report].map(|path| ask(path).0), [200; 3]);
    for (name, path) in [("records.jsonl", records), ("matches.csv", rows), ("report.html", report)] {
        let file = root.path().join("run").join(name);
        let kept = root.path().join("kept");
        // The run has no records: its matches are played again.
        let is_there = std::fs::rename(&file, &kept).is_ok();
        for target in ["/dev/zero", "../secret.html"] {
            std::os::unix::fs::symlink(target, &file).unwrap();
            let (status, text) = ask(path);
            let is_refused = text.contains("is a symbolic link, which this server does not follow");
            assert!(status == 400 && is_refused, "{name}, {target}: {status} {text}");
            assert!(ask("api/runs").1.contains("is a symbolic link"), "the list names the link");
            std::fs::remove_file(&file).unwrap();
        }
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let (status, text) = ask(path);
        assert!(status >= 400, "{name}: {text}");
        std::fs::remove_file(&file).unwrap();
        // A sparse file of 1 TiB without a line break, which takes no space on the disk.
        std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let (status, text) = ask(path);
        assert!(status >= 400 && text.len() < 1000, "{name}: {status}");
        std::fs::remove_file(&file).unwrap();
        assert!(!is_there || std::fs::rename(&kept, &file).is_ok());
        assert_eq!(ask(path).0, 200);
    }
}
