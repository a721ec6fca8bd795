use super::*;

#[test]
fn every_example_in_the_help_is_a_command_that_is_understood() {
    let mut tried = 0;
    for command in Cli::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().filter(|line| line.starts_with("  cambio ")) {
            let words = shlex::split(line.split(" > ").next().unwrap_or(line)).unwrap();
            assert_eq!(words.get(1).map(String::as_str), Some(command.get_name()), "{line}");
            Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried} examples");
}

#[test]
fn every_help_has_examples_and_fits_80_columns_whole() {
    let mut lines = 0;
    for name in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
        let mut command = command().term_width(80);
        let help = command.find_subcommand_mut(&name).expect("the name is in the list").clone().term_width(80);
        let printed = help.clone().render_long_help().to_string();
        let examples = help.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(examples.contains(&format!("  cambio {name}")), "{name} has no example");
        for example in examples.lines() {
            assert!(printed.lines().any(|line| line == example), "{example} is wrapped in:\n{printed}");
        }
        for line in printed.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
            lines += 1;
        }
    }
    let printed = command().term_width(80).render_long_help().to_string();
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert!(lines > 300, "{lines} lines");
}

#[test]
fn the_help_lists_every_subcommand_below_its_heading() {
    let help = command().term_width(80).render_help().to_string();
    let mut listed = help.as_str();
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        if let Some((_, heading)) = HEADINGS.iter().find(|(first, _)| *first == name) {
            listed = listed.split_once(&format!("\n\n{heading}:")).expect(heading).1;
        }
        listed = listed.split_once(&format!("\n  {name} ")).expect(name).1;
    }
    assert!(listed.contains("\n\nOptions:\n  -h, --help "), "{help}");
}
