use super::*;

#[test]
fn every_place_sits_in_every_seat_equally_often() {
    for seats in 2..=6 {
        for rotations in [Rotations::Cyclic, Rotations::Williams, Rotations::All] {
            let seatings = rotations.seatings(seats);
            for seat in 0..seats {
                for place in 0..seats {
                    let times = seatings.iter().filter(|seating| seating[seat] == place).count();
                    assert_eq!(times * seats, seatings.len(), "{rotations:?} at {seats} seats");
                }
            }
        }
    }
}

#[test]
fn williams_designs_balance_every_succession() {
    for seats in 2..=8 {
        let mut after = vec![vec![0; seats]; seats];
        let seatings = Rotations::Williams.seatings(seats);
        for pair in seatings.iter().flat_map(|seating| seating.windows(2)) {
            after[pair[0]][pair[1]] += 1;
        }
        let each = if seats % 2 == 0 { 1 } else { 2 };
        for (one, row) in after.iter().enumerate() {
            for (other, &times) in row.iter().enumerate() {
                assert_eq!(times, if one == other { 0 } else { each }, "{seats} seats");
            }
        }
    }
}

/// An experiment with these agents, and more lines.
fn with_agents(agents: &str, more: &str) -> Result<crate::PlayablePlan, String> {
    let text = format!("seed = 1\ndeals = 2\nrules = 'classic'\nseats = 2\nagents = {agents}\n{more}");
    let experiment: Experiment = read_toml(&text)?;
    assert_eq!(toml::from_str::<Experiment>(&experiment.to_toml()), Ok(experiment.clone()));
    experiment.plan(&cambio_agents::roster(), Path::new(".")).map_err(|error| error.to_string())
}

#[test]
fn errors_name_the_field_and_its_values() {
    let whole = ["seed = 1", "deals = 2", "rules = 'classic'", "seats = 2", "agents = ['greedy', 'random']"];
    for (line, sentence) in [
        ("luck = true", "line 6: field `luck` must be one of `auto`, `on`, `off`, found true"),
        ("payoff = 1", "line 6: field `payoff` must be one of `rank_points`, `win`, `points`, `margin`, found 1"),
        ("luck = 'of'", "line 6: field `luck` must be one of `auto`, `on`, `off`, found 'of'"),
        (
            "lineups = { field = ['sharp'] }",
            "field `lineups` must be limited to agents in `agents`, found `sharp`; add it to `agents`",
        ),
        ("lineups = 'each'", "{ focal, field } or { pools }, found 'each'"),
        ("deals = 'many'", "line 2: field `deals` must be a whole number of at least 1, found 'many'"),
        ("deals = -1", "line 2: field `deals` must be a whole number of at least 1, found -1"),
        (
            "deals = 549755813889",
            "field `deals` must be small enough for at most 2^40 matches, found 549755813889, which makes 1099511627778",
        ),
        ("seats = [2, 2]", "field `seats` must be a list without duplicates"),
        ("seats = [2, 'four']", "field `seats` must be a whole number of at least 0, found 'four'"),
        ("agents = 'greedy'", "line 5: field `agents` must be a list of specs, found 'greedy'"),
        ("agents = [\n  'greedy',\n  3,\n]", "line 5: field `agents` must be a list of specs, found ["),
        ("records = 'yes'", "field `records` must be true or false, found 'yes'"),
    ] {
        let field = line.split(' ').next().unwrap();
        let mut lines = whole.to_vec();
        match lines.iter().position(|other| other.starts_with(field)) {
            Some(place) => lines[place] = line,
            None => lines.push(line),
        }
        let planned = read_toml::<Experiment>(&lines.join("\n")).and_then(|experiment| {
            experiment.plan(&cambio_agents::roster(), Path::new(".")).map_err(|error| error.to_string())
        });
        let error = planned.map(|plan| plan.lock()).unwrap_err();
        assert!(error.contains(sentence), "{error}");
    }
}

#[test]
fn results_show_the_names_of_agents() {
    let agents = r#"["greedy", 'mine-2 = external("bot --fast")', "old = greedy(call_at=7)"]"#;
    let more = "anchor = 'mine-2'\nlineups = [['old', 'mine-2'], ['greedy', 'greedy(call_at=7)']]";
    let plan = with_agents(agents, more).unwrap();
    let labels: Vec<&str> = plan.agents.iter().map(|agent| agent.label.as_str()).collect();
    assert_eq!((labels, plan.anchor), (vec!["greedy", "mine-2", "old"], Some(1)));
    let lineups: Vec<&str> = plan.cells[0].lineups.iter().map(crate::Lineup::label).collect();
    assert_eq!(lineups, ["old | mine-2", "greedy | old"]);
    assert_eq!(plan.agents[1].spec, r#"mine-2 = external("bot --fast")"#);
}

#[test]
fn names_of_agents_are_unique_and_short() {
    for (agents, sentence) in [
        ("['x = greedy', 'x = random']", "found the name `x` for another agent"),
        ("['random', 'random = greedy']", "found the name `random` for another agent"),
        ("['greedy', 'x = greedy(call_at=5)']", "found `greedy` and `x = greedy(call_at=5)`"),
        ("[' = greedy']", "must have 1 to 40 of the characters a-z, A-Z, 0-9, `-`, `_` and `.`, found ``"),
        ("['a | b = greedy']", "found `a | b`"),
        (r#"["a\u001b[2J = greedy"]"#, r"found `a\u{1b}[2J`"),
        ("['a\u{202e}b = greedy']", "found `a"),
        ("['a = b = greedy']", "found `a = b`"),
        ("{ mine = 'greedy' }", "must be a list of specs, found"),
        ("['greedy', 'mine = greedy']", "found `greedy` and `mine = greedy`"),
        ("[7]", "must be a list of specs, found"),
    ] {
        let found = with_agents(agents, "").map(|plan| plan.lock()).unwrap_err();
        assert!(found.contains(sentence), "{agents}: {found}");
    }
    let long = |bytes: usize| with_agents(&format!("['{} = greedy']", "n".repeat(bytes)), "");
    assert!(long(40).is_ok() && long(41).is_err());
}
