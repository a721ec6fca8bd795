//! Competitions with a secret: its commitment is public from the start, and the secret is published at the end.

use std::path::Path;

use cambio_sim::{Executor, Experiment, PlanError, ReplayScope, RunFolder, Runner, Secret, StoredRun, verify};

fn experiment() -> Experiment {
    let text =
        "secret = true\ndeals = 6\nrules = ['classic']\nseats = [2]\nagents = ['random', 'greedy']\nrecords = true\n";
    toml::from_str(text).unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_secret_is_published_after_the_last_deal() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let plan = experiment().plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    let secret = plan.secret().unwrap().clone();
    let begun = RunFolder::create(&path, &plan).unwrap();
    // The public files contain the commitment, but not the secret.
    let commitment = secret.commitment().to_string();
    assert!(read(&path.join("spec.lock.json")).contains(&commitment));
    for file in ["spec.lock.json", "manifest.json", "spec.toml", "ledger.jsonl"] {
        assert!(!read(&path.join(file)).contains(&secret.to_string()), "{file}");
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path.join("secret")).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
    drop(begun);

    // An interrupted run is resumed with the secret in its folder.
    let again =
        experiment().plan_with(Some(Secret::read(&path).unwrap()), &cambio_agents::roster(), Path::new(".")).unwrap();
    assert_eq!(again.run_id(), plan.run_id());
    let mut folder = RunFolder::reopen(&path, &again).unwrap();
    Runner::new(&Executor::new(1).unwrap()).run(&again, &mut folder).unwrap();

    assert!(read(&path.join("manifest.json")).contains(&secret.to_string()));
    for line in read(&path.join("records.jsonl")).lines() {
        assert!(line.contains(&commitment) && !line.contains(&secret.to_string()));
    }
    let stored = StoredRun::open(&path).unwrap();
    // Another secret cannot be published afterwards, not even with a recomputed hash of the manifest.
    let file = path.join("manifest.json");
    let told = read(&file);
    let forged = told.replace(&secret.to_string(), &Secret::draw().to_string());
    let (body, _) = forged.split_once(",\n  \"blake3\": ").unwrap();
    std::fs::write(&file, format!("{body},\n  \"blake3\": \"{}\"\n}}\n", blake3::hash(body.as_bytes()))).unwrap();
    let error = StoredRun::open(&path).unwrap_err().to_string();
    assert!(error.contains("`secret` does not match the commitment"), "{error}");
    std::fs::write(&file, told).unwrap();
    let found = verify(&stored, &stored.playable(&cambio_agents::roster()).unwrap(), ReplayScope::All);
    assert_eq!((found.wrong, found.replayed), (Vec::new(), stored.extent().of));
}

#[test]
fn another_secret_than_the_one_committed_to_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let plan = experiment().plan(&cambio_agents::roster(), Path::new(".")).unwrap();
    crate::play(&path, &plan);
    std::fs::write(path.join("secret"), format!("{}\n", Secret::draw())).unwrap();
    let error = StoredRun::open(&path).unwrap().playable(&cambio_agents::roster()).unwrap_err();
    assert!(error.to_string().starts_with("field `secret` must be the secret with the commitment "), "{error}");
    std::fs::write(path.join("secret"), "12\n").unwrap();
    let error = StoredRun::open(&path).unwrap().playable(&cambio_agents::roster()).unwrap_err();
    assert!(error.to_string().contains("it is not 64 hexadecimal digits"), "{error}");
}

#[test]
fn two_competitions_have_other_cards_and_streams() {
    let records = || {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run");
        crate::play(&path, &experiment().plan(&cambio_agents::roster(), Path::new(".")).unwrap());
        read(&path.join("records.jsonl"))
    };
    let decks = |text: &str| -> Vec<String> {
        let deck =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["rounds"][0]["deck"].to_string();
        text.lines().map(deck).collect()
    };
    let (one, other) = (records(), records());
    assert!(decks(&one).iter().all(|deck| !decks(&other).contains(deck)));
}

#[test]
fn a_secret_and_a_seed_exclude_each_other_and_one_is_needed() {
    let refuse = |text: &str| {
        let experiment: Experiment =
            toml::from_str(&format!("{text}\ndeals = 1\nrules = ['classic']\nseats = [2]\nagents = ['random']\n"))
                .unwrap();
        match experiment.plan(&cambio_agents::roster(), Path::new(".")) {
            Err(error @ PlanError::Value { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        refuse("secret = true\nseed = 1"),
        "field `secret` must be true without `seed` and `agent_seed`, found true with a seed"
    );
    assert_eq!(refuse(""), "field `seed` must be a whole number or a text, unless `secret = true`, found nothing");
    for bad in ["seed = -1", "seed = 1.5", "seed = ''", "seed = [1]"] {
        let text = format!("{bad}\ndeals = 1\nrules = ['classic']\nseats = [2]\nagents = ['random']\n");
        let error = toml::from_str::<Experiment>(&text).unwrap_err().to_string();
        assert!(error.contains("a seed must be a whole number from 0 to 18446744073709551615, or a text"), "{error}");
    }
}
