//! Hostile run folders and long searches do not stop the server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::asking::{Page, TOKEN, get, post, read, run, sentence};
use cambio_agents::roster;
use cambio_core::rng::Key;
use cambio_core::{Action, Agent, AgentError, MatchSetup, Observation, Recorder, Rules, play_match};
use cambio_serve::{App, Settings};
use cambio_sim::{Executor, Experiment, RunFolder, Runner};
use futures_util::future::join_all;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The body of a request to explain the first or the last decision of the first round of a match.
fn explanation(agent: &str, is_last: bool) -> String {
    let match_setup = MatchSetup { rules: Rules::preset("classic").unwrap(), seats: 2, key: Key::new(1, 0) };
    let mut recorder = Recorder::new(&match_setup.rules);
    let mut agents = [(); 2].map(|()| roster().parse("greedy").unwrap().make());
    let result = play_match(&match_setup, &mut agents, &mut recorder).unwrap();
    let record = recorder.finish(match_setup.key, 0, &["greedy", "greedy"], &result);
    let decision = if is_last { record.rounds[0].decisions.len() } else { 1 };
    format!(r#"{{"record":{},"round":1,"decision":{decision},"agent":"{agent}"}}"#, record.to_json())
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
    // A new server without an index, so that it reads the rows.
    let ask = |path: &str| {
        let settings = Settings { runs: root.path().to_owned(), ..Settings::new(roster()) };
        let app = App::new(settings, TOKEN.to_owned(), 8417);
        let _ = std::fs::remove_file(root.path().join("run/matches.index"));
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
    (App::new(settings, TOKEN.to_owned(), 8417), flag, count)
}

#[test]
fn explanations_beyond_the_slots_wait_and_beyond_the_queue_are_refused() {
    let (app, flag, count) = app_with_waiting();
    let body = explanation("waiting", false);
    run(async {
        let asked = join_all((0..100).map(|_| async { sentence(post(&app, "api/explain", body.clone()).await).await }));
        let release = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            flag.store(true, Ordering::SeqCst);
        };
        let (answers, ()) = futures_util::future::join(asked, release).await;
        let refused = answers.iter().filter(|(status, _)| *status == 429).count();
        assert_eq!(refused, 100 - cores() - 16);
        assert!(answers.iter().all(|(status, _)| [200, 429].contains(status)));
        assert_eq!(count.most.load(Ordering::SeqCst), cores());
    });
}

#[test]
fn an_explanation_that_no_page_waits_for_stops() {
    let (app, flag, count) = app_with_waiting();
    let body = explanation("waiting", true);
    run(async {
        let asked = post(&app, "api/explain", body);
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
    let app = App::new(settings, TOKEN.to_owned(), 8417);
    let wish = |agent: &str| serde_json::json!({ "rules": "classic", "opponents": [agent] }).to_string();
    run(async {
        for (agent, what) in [
            ("rollout(time_ms=3600000)", "`time_ms` must be at most 10000 here, found 3600000"),
            ("rollout(n=1000000)", "`n` must be at most 100000 here, found 1000000"),
            ("ismcts(iterations=1000000)", "`iterations` must be at most 100000 here, found 1000000"),
            ("ismcts(time_ms=10001)", "`time_ms` must be at most 10000 here, found 10001"),
            ("lookahead(worlds=100000)", "`worlds` must be at most 10000 here, found 100000"),
            ("lookahead(proposals=1000000)", "`proposals` must be at most 100000 here, found 1000000"),
        ] {
            let bodies = [("api/tables", wish(agent)), ("api/explain", explanation(agent, false))];
            for (path, body) in bodies {
                let (status, found) = sentence(post(&app, path, body).await).await;
                assert!(status == 400 && found.contains(what) && found.contains("`--with`"), "{path}: {found}");
            }
        }
        for agent in ["rollout(time_ms=10000)", "rollout(time_ms=60000)", "ismcts", "lookahead"] {
            assert_eq!(read(post(&app, "api/tables", wish(agent)).await).await.0, 200, "{agent}");
        }
    });
}

#[test]
fn the_replay_of_a_long_match_is_bounded() {
    let rules = "base = 'classic'\nmatch_end = 'rounds(4000)'\nround_limit = 5000";
    let wish = serde_json::json!({ "rules": rules, "agents": ["random", "random"], "seed": "7" });
    let (status, text) = run(async {
        read(post(&App::new(Settings::new(roster()), TOKEN.to_owned(), 8417), "api/matches", wish.to_string()).await)
            .await
    });
    assert_eq!(status, 200, "{text}");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["record"].as_str().unwrap().matches("decisions").count(), 4000, "the record is complete");
    let rounds = answer["film"]["rounds"].as_array().unwrap();
    let frames: usize = rounds.iter().map(|round| round["frames"].as_array().unwrap().len()).sum();
    assert_eq!(frames, 50_000);
    assert_eq!((&answer["film"]["is_cut"], &answer["film"]["flaw"]), (&true.into(), &serde_json::Value::Null));
}

#[test]
fn a_closed_table_does_not_keep_other_tables_from_playing() {
    let (app, flag, count) = app_with_waiting();
    let wish = |agent: &str| serde_json::json!({ "rules": "classic", "opponents": [agent], "seat": "b" }).to_string();
    run(async {
        // As many searches as the server runs at once, and tables that wait for them.
        for table in 1..=cores() as u64 + 2 {
            assert_eq!(read(post(&app, "api/tables", wish("waiting")).await).await.0, 200);
            drop(Page::of(&app, table).await);
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(count.now.load(Ordering::SeqCst), cores());
        for table in 1..=cores() + 2 {
            read(post(&app, &format!("api/tables/{table}/close"), "{}").await).await;
        }
        let table = cores() as u64 + 3;
        assert_eq!(read(post(&app, "api/tables", wish("greedy")).await).await.0, 200);
        let mut page = Page::of(&app, table).await;
        let asked = async { while page.next().await.is_some_and(|step| !step["ask"].is_object()) {} };
        assert!(tokio::time::timeout(Duration::from_secs(10), asked).await.is_ok(), "the agent has not moved");
        flag.store(true, Ordering::SeqCst);
    });
}
