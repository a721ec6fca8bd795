//! `cambio rules`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cambio_core::rules::knob::{Bonus, MatchEnd, Score};
use cambio_core::rules::{MINI_GAMES, PRESETS};
use cambio_core::{Rules, RulesSpec};
use cambio_exec::read_text;
use cambio_view::{CardValue, rules_in_short};

use crate::exit::{CliResult, Exit};
use crate::person::filled;
use crate::say::{plain, stdout};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The preset or mini game to print; without a name, all presets and mini games are listed
    #[arg(conflicts_with = "check")]
    preset: Option<String>,
    /// Instead of printing rules, check this rule file
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> CliResult {
    let mut out = stdout();
    if let Some(path) = &args.check {
        let shown = plain(&path.display().to_string());
        let text = read_text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        let rules = RulesSpec::from_toml(&text).and_then(RulesSpec::validate);
        let rules = rules.map_err(|error| format!("{shown}: {error}"))?;
        let (cards, kinds, most) = (rules.deck().len(), rules.kinds().len(), rules.max_seats());
        writeln!(out, "{shown}: `{}`, {cards} cards of {kinds} kinds, 2 to {most} seats", rules.name())?;
        for worth in CardValue::all(&rules) {
            writeln!(out, "{}", filled(&worth.to_string(), "             "))?;
        }
        for line in rules_in_short(&rules).iter().filter(|line| !line.is_empty()) {
            writeln!(out, "{}", filled(line, "  "))?;
        }
        let spec = rules.spec();
        for (knob, bonus) in [
            ("call_success", spec.call_success),
            ("call_failure", spec.call_failure),
            ("lowest_bonus", spec.lowest_bonus),
        ] {
            if bonus != Bonus::Add(0) && spec.score != Score::Points {
                writeln!(out, "note: `{knob}` has no effect without `score = \"points\"`")?;
            }
        }
        return Ok(Exit::Done);
    }
    match &args.preset {
        Some(preset) => match RulesSpec::preset(preset) {
            Ok(spec) => write!(out, "{}", spec.to_toml())?,
            Err(error) if Path::new(preset).is_file() => {
                return Err(format!("{error}; `--check {preset}` checks the file").into());
            }
            Err(error) => return Err(error.into()),
        },
        None => {
            for preset in PRESETS.into_iter().chain(MINI_GAMES) {
                let rules = RulesSpec::preset(preset)?.validate()?;
                writeln!(out, "{preset:12} {}", about(preset, &rules))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// A one-line description of a preset or mini game.
fn about(name: &str, rules: &Rules) -> String {
    let (cards, kinds) = (rules.deck().len(), rules.kinds().len());
    let what = match name {
        "original" => "Cambio – Das Original; its rule text does not give the number of copies of each card",
        "faessler" => "Fässler Jass Cambio",
        "classic" => "the common international rules",
        _ if MINI_GAMES.contains(&name) => "solved exactly",
        _ => "as original, with another deck that fits the rule text",
    };
    let end = match rules.spec().match_end {
        MatchEnd::Rounds(1) => "one round".to_owned(),
        MatchEnd::Rounds(rounds) => format!("{rounds} rounds"),
        MatchEnd::Total(most) => format!("to {most} points"),
    };
    format!("{cards} cards of {kinds} kinds, {end}; {what}")
}
