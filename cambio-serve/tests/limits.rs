//! Hostile run folders and long searches do not stop the server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::asking::{app_with, get, post, run, sentence, table};
use cambio_agents::roster;
use cambio_core::{Action, Agent, AgentError, Observation};
use cambio_serve::{App, Settings};
use cambio_sim::{Executor, Experiment, RunFolder, Runner};
use serde_json::{Value, json};

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The body of a request to play a match.
fn played(agent: &str) -> String {
    json!({ "rules": "classic", "agents": [agent, "greedy"], "seed": "1" }).to_string()
}

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
    let app = app_with(Settings { runs: root.path().to_owned(), ..Settings::new(roster()) });
    let ask = |path: &str| {
        let answer = run(async { tokio::time::timeout(Duration::from_secs(20), get(&app, path)).await });
        answer.unwrap_or_else(|_| panic!("{path}: no answer"))
    };
    let (replay, report) = ("api/runs/replay?run=run&match=3", "runs/report?run=run");
    assert_eq!([replay, report].map(|path| ask(path).0), [200; 2]);
    for (name, path) in [("spec.lock.json", replay), ("report.html", report)] {
        let file = root.path().join("run").join(name);
        let kept = root.path().join("kept");
        std::fs::rename(&file, &kept).unwrap();
        for target in ["/dev/zero", "../secret.html"] {
            std::os::unix::fs::symlink(target, &file).unwrap();
            let (status, text) = ask(path);
            let is_refused = text.contains("is a symbolic link") || text.contains("there is no run folder");
            assert!(status >= 400 && is_refused, "{name}, {target}: {status} {text}");
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
        std::fs::rename(&kept, &file).unwrap();
        assert_eq!(ask(path).0, 200);
    }
}

#[test]
fn matches_of_a_run_have_the_numbers_of_its_rows() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let experiment = Experiment {
        deals: 2,
        rules: vec!["original".into(), "classic".into()],
        seats: vec![2, 3],
        records: true,
        ..Experiment::at("classic", 2, &["random", "greedy", "heuristic"])
    };
    let plan = experiment.plan(&roster(), Path::new(".")).unwrap();
    let mut folder = RunFolder::create(&path, &plan).unwrap();
    Runner::new(&Executor::new(1).unwrap()).run(&plan, &mut folder).unwrap().outcome.unwrap();
    let app = app_with(Settings { runs: root.path().to_owned(), ..Settings::new(roster()) });
    let ask = |number: usize| run(get(&app, &format!("api/runs/replay?run=run&match={number}")));
    let records = std::fs::read_to_string(path.join("records.jsonl")).unwrap();
    let records: Vec<&str> = records.lines().collect();
    for (number, record) in (1..).zip(&records).step_by(7) {
        let (status, text) = ask(number);
        assert_eq!(status, 200, "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["record"], *record, "match {number}");
    }
    for number in [0, records.len() + 1] {
        let (status, text) = ask(number);
        assert_eq!(
            (status, sentence(&text)),
            (404, format!("the run has matches 1 to {}, found {number}", records.len()))
        );
    }
}

#[derive(Default)]
struct Counts {
    /// The number of agents that wait now.
    now: AtomicUsize,
    /// The maximum of `now` so far.
    most: AtomicUsize,
    /// The number of decisions so far.
    decisions: AtomicUsize,
}

/// An agent that waits until the flag is set.
struct Waiting {
    flag: Arc<AtomicBool>,
    count: Arc<Counts>,
}

impl Agent for Waiting {
    fn decide(&mut self, view: &Observation<'_>) -> Result<Action, AgentError> {
        let now = self.count.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.count.most.fetch_max(now, Ordering::SeqCst);
        self.count.decisions.fetch_add(1, Ordering::SeqCst);
        let begun = Instant::now();
        while !self.flag.load(Ordering::SeqCst) && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.count.now.fetch_sub(1, Ordering::SeqCst);
        Ok(view.choices().iter().next().expect("there is a choice"))
    }
}

/// An app with the agent `waiting`, its flag and its counts.
fn app_with_waiting() -> (App, Arc<AtomicBool>, Arc<Counts>) {
    let (flag, count) = (Arc::<AtomicBool>::default(), Arc::<Counts>::default());
    let (own_flag, own_count) = (Arc::clone(&flag), Arc::clone(&count));
    let make = move || Waiting { flag: Arc::clone(&own_flag), count: Arc::clone(&own_count) };
    let settings = Settings::new(roster().with("waiting", "Waits.", make));
    (app_with(settings), flag, count)
}

#[test]
fn matches_wait_for_slots_and_full_queues_refuse() {
    let (app, flag, count) = app_with_waiting();
    let body = played("waiting");
    run(async {
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let (app, body) = (app.clone(), body.clone());
            asked.spawn(async move { post(&app, "api/matches", body).await.0 });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        flag.store(true, Ordering::SeqCst);
        let answers = asked.join_all().await;
        let refused = answers.iter().filter(|status| **status == 429).count();
        assert_eq!(refused, 100 - cores() - 16);
        assert!(answers.iter().all(|status| [200, 429].contains(status)));
        assert_eq!(count.most.load(Ordering::SeqCst), cores());
    });
}

#[test]
fn a_match_that_no_page_waits_for_stops() {
    let (app, flag, count) = app_with_waiting();
    let body = played("waiting");
    run(async {
        let asked = post(&app, "api/matches", body);
        assert!(tokio::time::timeout(Duration::from_secs(1), asked).await.is_err());
        assert_eq!(count.now.load(Ordering::SeqCst), 1);
        flag.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(count.decisions.load(Ordering::SeqCst), 1, "the agent is not asked again");
    });
}

#[test]
fn long_budgets_are_allowed_only_at_the_start_of_the_server() {
    let settings = Settings { allowed: vec!["rollout(time_ms=60000)".to_owned()], ..Settings::new(roster()) };
    let app = app_with(settings);
    run(async {
        for (agent, what) in [
            ("rollout(time_ms=3600000)", "`time_ms` must be at most 10000 here, found 3600000"),
            ("rollout(n=1000000)", "`n` must be at most 100000 here, found 1000000"),
            ("ismcts(iterations=1000000)", "`iterations` must be at most 100000 here, found 1000000"),
            ("ismcts(time_ms=10001)", "`time_ms` must be at most 10000 here, found 10001"),
            ("lookahead(proposals=1000000)", "`proposals` must be at most 100000 here, found 1000000"),
        ] {
            let bodies = [("api/tables/1/open", table(agent)), ("api/matches", played(agent))];
            for (path, body) in bodies {
                let (status, text) = post(&app, path, body).await;
                let found = sentence(&text);
                assert!(status == 400 && found.contains(what) && found.contains("`--with`"), "{path}: {found}");
            }
        }
        for agent in ["rollout(time_ms=10000)", "rollout(time_ms=60000)", "ismcts", "lookahead"] {
            assert_eq!(post(&app, "api/tables/1/open", table(agent)).await.0, 200, "{agent}");
        }
    });
}

#[test]
fn the_replay_of_a_long_match_is_bounded() {
    let rules = "base = 'classic'\nmatch_end = 'rounds(4000)'\nround_limit = 5000";
    let wish = json!({ "rules": rules, "agents": ["random", "random"], "seed": "7" });
    let (status, text) = run(post(&app_with(Settings::new(roster())), "api/matches", wish.to_string()));
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["record"].as_str().unwrap().matches("decisions").count(), 4000, "the record is complete");
    let rounds = answer["replay"]["rounds"].as_array().unwrap();
    let frames: usize = rounds.iter().map(|round| round["frames"].as_array().unwrap().len()).sum();
    assert_eq!(frames, 50_000);
    assert_eq!((&answer["replay"]["is_cut"], &answer["replay"]["flaw"]), (&true.into(), &Value::Null));
}

#[test]
fn a_hint_does_not_delay_the_table() {
    let (app, flag, count) = app_with_waiting();
    run(async {
        let open = json!({ "request": { "rules": "classic", "opponents": ["greedy"], "practice": true } }).to_string();
        assert_eq!(post(&app, "api/tables/1/open", open).await.0, 200);
        let own = app.clone();
        let hint = tokio::spawn(async move { post(&own, "api/tables/1/hint", r#"{"agent":"waiting"}"#).await });
        while count.now.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (status, text) = post(&app, "api/tables/1/act", r#"{"at":0,"action":"draw"}"#).await;
        assert_eq!(status, 200, "{text}");
        assert!(!hint.is_finished());
        flag.store(true, Ordering::SeqCst);
        assert_eq!(hint.await.unwrap().0, 200);
    });
}
