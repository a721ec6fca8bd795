//! `cambio learn` on the command line: responders to agents, and exported networks.

use std::fs;
use std::path::Path;

use crate::command::{fails, prints};
use crate::folder::folder;

/// Asserts that the data dictionary has the columns of all tables in the folder, which `command` wrote.
fn check_dictionary(folder: &Path, command: &str) {
    let columns: Vec<serde_json::Value> = serde_json::from_str(&prints(folder, "schema --rows --format json")).unwrap();
    let mut checked = 0;
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if file.extension().is_none_or(|extension| extension != "csv") || name == "timing.csv" {
            continue;
        }
        // Some columns have the names of candidates or parameters, and `luck` is optional.
        let is_fixed = |name: &&str| !name.starts_with('<') && !name.contains("call_at") && *name != "luck";
        let documented = columns
            .iter()
            .filter(|column| column["command"] == command && column["file"] == *name)
            .map(|column| column["name"].as_str().unwrap());
        let documented: Vec<&str> = documented.filter(is_fixed).collect();
        let text = fs::read_to_string(&file).unwrap();
        let header: Vec<&str> = text.lines().next().unwrap().split(',').filter(is_fixed).collect();
        assert_eq!(header, documented, "{}", file.display());
        checked += 1;
    }
    assert!(checked > 1, "{}", folder.display());
}

#[test]
fn responders_are_trained() {
    let folder = folder("responder");
    let spec = "seed = 5\ndeals = 40\nrules = ['classic']\nseats = [2]\nagents = ['greedy', 'sharp', 'random']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    prints(&folder, "run spec.toml --quiet --out run");
    let respond = "--matches 600 --deals 60 --quiet --out responder";
    let printed = prints(&folder, &format!("learn --exploit greedy {respond}"));
    let lines: Vec<&str> = printed.lines().collect();
    let share = |line: &str, start: &str| -> f64 {
        let rest = line.strip_prefix(start).unwrap_or_else(|| panic!("{printed}"));
        rest.strip_suffix(" % of the 200 deals that chose it").unwrap().parse().unwrap()
    };
    let shipped = share(lines[0], "responder/from-shipped wins ");
    let best = if shipped >= share(lines[1], "responder/from-nothing wins ") { "from-shipped" } else { "from-nothing" };
    assert_eq!(lines[2], "greedy on classic at 2 seats, a lower bound");
    assert!(
        lines[3].starts_with("a responder wins   ") && lines[3].ends_with("; an equally strong one 50.0 %"),
        "{printed}"
    );
    assert!(lines[4].starts_with("weakness           "), "{printed}");
    assert_eq!(lines[5], "deals              60 in all seats, not used for training or selection");
    assert!(lines[6].starts_with(&format!("responder          responder/{best}/levels/")), "{printed}");
    assert!(lines[6].ends_with("selected on 200 other deals"), "{printed}");
    assert_eq!(lines[7], "network            responder/network.net");
    for file in ["network.net", "bound.csv"] {
        let content = |name: &str| fs::read(folder.join("responder").join(name).join(file)).unwrap();
        assert!(content("") == content(best), "{file}");
    }
    let recipe = |name: &str| fs::read_to_string(folder.join("responder").join(name).join("recipe.toml")).unwrap();
    assert!(recipe("from-shipped").contains("from = \"shipped\"") && !recipe("from-nothing").contains("from ="));
    // If a training is complete, only the other one is resumed.
    let [bound, best_network] =
        ["from-nothing/bound.csv", "network.net"].map(|name| folder.join("responder").join(name));
    fs::remove_file(&bound).unwrap();
    fs::remove_file(&best_network).unwrap();
    let damaged = fails(&folder, 1, "learn --resume --out responder");
    assert!(damaged.contains("from-nothing is complete: network.net is its network"), "{damaged}");
    let words = "learn --exploit greedy --matches 500 --deals 40 --quiet --from shipped --out one";
    let printed = prints(&folder, words);
    assert!(printed.starts_with("one/network.net\ngreedy on classic at 2 seats"), "{printed}");
    // The stored recipe is complete: it gives the same network in another folder.
    prints(&folder, "learn one/recipe.toml --quiet --out again --threads 1");
    let network = |name: &str| fs::read(folder.join(name).join("network.net")).unwrap();
    assert!(network("one") == network("again"));
    // Regression test: formerly a responder from nothing had default settings if it was trained alone.
    prints(&folder, &words.replace("shipped --out one", "nothing --rules faessler --out alone"));
    let alone = recipe("../alone");
    assert!(alone.contains("generation = 32\n") && alone.contains("extra_card = 5.2\n") && !alone.contains("from ="));
    let complete = fails(&folder, 1, "learn --resume --out one");
    assert!(complete.contains("one is complete: network.net is its network"), "{complete}");
    prints(&folder, "tune --agent greedy(call_at=?) --range 3..4 --deals 10 --validate 0 --out tuned");
    for (command, name) in [("run", "run"), ("learn", "one"), ("tune", "tuned")] {
        check_dictionary(&folder.join(name), command);
    }
}

#[test]
fn responders_under_other_rules_begin_with_the_general_network() {
    let folder = folder("own");
    let printed = prints(&folder, "learn --exploit random --rules mini-m1 --matches 3000 --quiet --out out");
    assert!(printed.contains("random on mini-m1 at 2 seats, a lower bound"), "{printed}");
    let recipe = |of: &str| fs::read_to_string(folder.join("out").join(of).join("recipe.toml")).unwrap();
    assert!(recipe("from-shipped").contains("from = \"shipped\"") && !recipe("from-nothing").contains("from ="));
    // Another training can start from a network for one deck, but not on rules with other cards.
    let other = "learn --exploit greedy --matches 500 --quiet --from out/from-nothing/network.net";
    prints(&folder, &format!("{other} --rules mini-m1 --out more"));
    let said = fails(&folder, 1, &format!("{other} --out else"));
    assert!(said.contains("for the cards of `mini-m1`, which differ from the cards of `classic`"), "{said}");
}

#[test]
fn errors_of_learning_are_one_sentence() {
    let folder = folder("refused");
    let said = |words: &str| fails(&folder, 1, &format!("learn --out out {words}"));
    assert!(said("--exploit shark").contains("there is no agent `shark`"));
    assert!(said("--exploit oracle").contains("`oracle` sees hidden cards"));
    assert!(said("--exploit 'external(\"python3 bot.py\")'").contains("is a bot"));
    let classic = cambio_core::Rules::preset("classic").unwrap();
    fs::write(folder.join("classic.net"), cambio_agents::Network::shipped_file(&classic, 2).unwrap()).unwrap();
    let unfit = said("--exploit greedy --rules mini-m1 --from classic.net");
    assert!(unfit.contains("`classic`") && unfit.contains("`mini-m1`"), "{unfit}");
    assert!(said("--exploit 'learned(\"classic.net\")' --rules mini-m1").contains("cannot play here"));
    assert!(said("--exploit greedy --from no.net").contains("no.net"));
    let whole = "must be a whole number from 0 to 18446744073709551615, found";
    for (recipe, sentence) in [
        ("\nmatches = -5", format!("line 2: field `matches` {whole} -5")),
        ("matches = 1e6", format!("field `matches` {whole} 1e6")),
        ("matches = 99999999999999999999", format!("field `matches` {whole} 99999999999999999999")),
        ("seed = 'x'", format!("field `seed` {whole} 'x'")),
        ("seats = [2, -3]", "field `seats` must be a whole number of at least 0, found -3".to_owned()),
        ("method = 'polcy'", "field `method` must be `value` or `policy`, found 'polcy'".to_owned()),
        ("policy = 3", "field `policy` must be a table, found 3".to_owned()),
        ("[play]\nturn_limit = -1", "field `play.turn_limit` must be a whole number from 0 to 65535".to_owned()),
        ("[rivals]\nself = 'x'", "field `rivals.self` must be a number, found 'x'".to_owned()),
        ("maches = 3", "unknown field `maches`; did you mean `matches`?".to_owned()),
        ("[training]\nrate = 1e300", "`training.rate` must be a number from 0 to 1, found 1e300".to_owned()),
        (
            "[policy]\nclip = 0.1",
            "`policy` must be absent unless `method = \"policy\"`, found { clip = 0.1 }".to_owned(),
        ),
    ] {
        fs::write(folder.join("bad.toml"), recipe).unwrap();
        let error = said("bad.toml");
        assert!(error.starts_with("error: bad.toml: ") && error.contains(&sentence), "{recipe}: {error}");
    }
    assert!(!folder.join("out").exists());
}

#[test]
fn the_weights_of_a_network_are_exported() {
    let folder = folder("export");
    prints(&folder, "learn --export classic-many --out one.safetensors");
    let bytes = fs::read(folder.join("one.safetensors")).unwrap();
    let length = u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let about: serde_json::Value = serde_json::from_str(header["__metadata__"]["cambio"].as_str().unwrap()).unwrap();
    let file = cambio_agents::Network::shipped_file(&cambio_core::Rules::preset("classic").unwrap(), 3).unwrap();
    let (network, facts) = cambio_agents::Network::from_bytes(file).unwrap();
    let (count, floats) = (network.inputs().count(), network.floats());
    assert_eq!((&about["inputs"], &about["made"], &about["policy"]), (&count.into(), &facts.made, &false.into()));
    assert_eq!((&about["rules"], &about["step"]), (&"classic".into(), &0.015_625.into()));
    let tensors: [(&str, &[usize], &[f32]); 6] = [
        ("rows", &[count, 128], &floats.rows),
        ("bias", &[128], &floats.bias),
        ("second", &[32, 128], &floats.second),
        ("second_bias", &[32], &floats.second_bias),
        ("last", &[32], &floats.last),
        ("last_bias", &[], &[floats.last_bias]),
    ];
    for (name, shape, values) in tensors {
        assert_eq!(header[name]["shape"], serde_json::json!(shape), "{name}");
        let [from, to] = [0, 1].map(|end| header[name]["data_offsets"][end].as_u64().unwrap() as usize + 8 + length);
        let found = bytes[from..to].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        assert!(found.eq(values.iter().copied()), "{name}");
    }
    // A network file gives the same bytes as the name of the network.
    fs::write(folder.join("own.net"), file).unwrap();
    prints(&folder, "learn --export own.net --out two.safetensors");
    assert!(fs::read(folder.join("two.safetensors")).unwrap() == bytes);

    let found = fails(&folder, 1, "learn --export classic --out one.safetensors");
    assert!(found.contains("one.safetensors already exists; choose another file"), "{found}");
    let found = fails(&folder, 1, "learn --export none --out none.safetensors");
    assert!(found.contains("cannot read none: ") && found.contains("a bundled network: "), "{found}");
    fs::write(folder.join("text.net"), "text").unwrap();
    let found = fails(&folder, 1, "learn --export text.net --out none.safetensors");
    assert!(found.contains("text.net: this is not a network of format 3"), "{found}");
    assert!(!folder.join("none.safetensors").exists());
}
