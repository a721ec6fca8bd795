//! `cambio learn` as a user meets it: responders and clones from agents and records.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::folder::folder;

fn cambio(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cambio")).current_dir(folder).args(words).output().unwrap()
}

/// What a command prints that succeeds.
fn done(folder: &Path, words: &[&str]) -> String {
    let output = cambio(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a command says that is refused.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = cambio(folder, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_clone_is_made_from_the_records_of_a_run_and_a_responder_learns_to_beat_it() {
    let folder = folder("clone");
    let spec = "seed = 5\ndeals = 40\nrules = ['classic']\nseats = [2]\nagents = ['greedy', 'sharp', 'random']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    done(&folder, &["run", "spec.toml", "--records", "--quiet", "--out", "run"]);
    let clone = ["learn", "--clone", "run", "--agent", "greedy", "--quiet", "--out", "clone", "--threads", "2"];
    let told = done(&folder, &clone);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[..2], ["clone/network.net", "clone/report.html"]);
    assert!(lines[2].contains("decisions of greedy with a choice are the clone's too, over 4 deals"), "{told}");
    let recipe = fs::read_to_string(folder.join("clone/recipe.toml")).unwrap();
    for said in ["agent = \"greedy\"", "records = [\"run\"]", "from = \"shipped\""] {
        assert!(recipe.contains(said), "{recipe}");
    }
    let page = fs::read_to_string(folder.join("clone/report.html")).unwrap();
    assert!(page.contains("A clone of greedy on classic") && page.contains("of the decisions of"), "{page}");
    // The same again, from the file and in another folder: a recipe is complete.
    done(&folder, &["learn", "clone/recipe.toml", "--quiet", "--out", "again", "--threads", "1"]);
    let network = |name: &str| fs::read(folder.join(name).join("network.net")).unwrap();
    assert!(network("clone") == network("again"));

    let respond = ["--matches", "2000", "--deals", "60", "--quiet", "--out", "responder"];
    let told = done(&folder, &[&["learn", "--exploit", "learned(\"clone/network.net\")"][..], &respond].concat());
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[2], "learned(\"clone/network.net\") on classic at 2 seats, a lower bound");
    assert!(lines[3].starts_with("a responder wins   ") && lines[3].ends_with("; equals win 50.0 %"), "{told}");
    assert_eq!(lines[4], "deals              60 in all seats, which neither taught nor chose it");
    assert!(lines[5].ends_with("chosen on 200 other deals"), "{told}");
    let recipe = fs::read_to_string(folder.join("responder/recipe.toml")).unwrap();
    assert!(recipe.contains("from = \"shipped\""), "{recipe}");
    let page = fs::read_to_string(folder.join("responder/report.html")).unwrap();
    assert!(page.contains("A lower bound on how far"), "{page}");
    let complete = refused(&folder, &["learn", "--resume", "--out", "responder"]);
    assert!(complete.contains("responder is complete: network.net is its network"), "{complete}");
}

#[test]
fn a_responder_to_rules_of_ones_own_begins_with_nothing() {
    let folder = folder("own");
    let words = ["learn", "--exploit", "random", "--rules", "mini-m1", "--matches", "3000", "--quiet", "--out", "out"];
    let told = done(&folder, &words);
    assert!(told.contains("random on mini-m1 at 2 seats, a lower bound"), "{told}");
    let recipe = fs::read_to_string(folder.join("out/recipe.toml")).unwrap();
    assert!(!recipe.contains("from ="), "{recipe}");
    // It goes on from its own network, but not from one for other cards.
    let other = ["--matches", "500", "--quiet", "--out", "more", "--from", "out/network.net"];
    done(&folder, &[&["learn", "--exploit", "greedy", "--rules", "mini-m1"][..], &other].concat());
    let other = ["--matches", "500", "--quiet", "--out", "else", "--from", "out/network.net"];
    let said = refused(&folder, &[&["learn", "--exploit", "greedy"][..], &other].concat());
    assert!(said.contains("the network is for the cards of `mini-m1`, and those of `classic` are others"), "{said}");
}

#[test]
fn what_cannot_be_learned_is_one_sentence() {
    let folder = folder("refused");
    let said = |words: &[&str]| refused(&folder, &[&["learn", "--out", "out"][..], words].concat());
    assert!(said(&["--exploit", "shark"]).contains("there is no agent `shark`"));
    assert!(said(&["--exploit", "oracle"]).contains("`oracle` sees hidden cards"));
    assert!(said(&["--exploit", "external(\"python3 bot.py\")"]).contains("is a bot"));
    assert!(said(&["--exploit", "learned", "--rules", "mini-m1"]).contains("`learned` cannot play here"));
    let none = said(&["--exploit", "greedy", "--rules", "mini-m1", "--from", "shipped"]);
    assert!(none.contains("`from` is `shipped`, and no network comes with the cards of `mini-m1`"), "{none}");
    assert!(said(&["--exploit", "greedy", "--from", "no.net"]).contains("no.net"));
    assert!(said(&["--clone", "no.jsonl"]).contains("no.jsonl cannot be read"));
    fs::write(folder.join("bad.jsonl"), "[]\n").unwrap();
    assert!(said(&["--clone", "bad.jsonl"]).contains("bad.jsonl, line 1: this is no record"));
    fs::write(folder.join("empty.jsonl"), "\n").unwrap();
    let empty = said(&["--clone", "empty.jsonl"]);
    assert!(empty.contains("the records name no agents"), "{empty}");
    assert!(!folder.join("out").exists());
}
