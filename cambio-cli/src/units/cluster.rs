//! `cambio cluster`: the files that let a cluster play an experiment.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::write_whole;
use cambio_sim::Experiment;
use clap::Subcommand;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, context};

use crate::exit::{CliResult, Exit};
use crate::say::say;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// An array job for Slurm, the merge that depends on it, and a script that submits both
    Slurm(SlurmArgs),
    /// An indexed Job for Kubernetes, and a Job that merges
    K8s(KubernetesArgs),
}

#[derive(Debug, clap::Args)]
struct Work {
    /// The experiment file
    spec: PathBuf,
    /// The number of parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    units: u64,
    /// The folder for the files; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The number of cores of each part
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cores: u64,
}

#[derive(Debug, clap::Args)]
struct SlurmArgs {
    #[command(flatten)]
    work: Work,
    /// The store, which all nodes see
    #[arg(long, value_name = "PLACE")]
    store: String,
    /// The run folder that the merge makes
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The most time of a part, as Slurm writes it
    #[arg(long, value_name = "TIME", default_value = "04:00:00")]
    time: String,
}

#[derive(Debug, clap::Args)]
struct KubernetesArgs {
    #[command(flatten)]
    work: Work,
    /// The image; the repository's Dockerfile makes one
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// The volume claim that all pods mount at /data
    #[arg(long, value_name = "NAME", default_value = "cambio")]
    claim: String,
    /// The store, as the pods see it [default: /data/NAME.units]
    #[arg(long, value_name = "PLACE")]
    store: Option<String>,
    /// The run folder that the merge makes, as the pods see it [default: /data/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

pub(crate) fn run(args: &Args, roster: &Roster) -> CliResult {
    match &args.kind {
        Kind::Slurm(args) => slurm(args, roster),
        Kind::K8s(args) => kubernetes(args, roster),
    }
}

/// Reads an experiment and checks that it can be played; returns it with its text and a name for jobs.
fn read(work: &Work, roster: &Roster) -> Result<(Experiment, String, String), Box<dyn std::error::Error>> {
    let (experiment, text) = Experiment::read(&work.spec)?;
    let plan = experiment.plan(roster, work.spec.parent().unwrap_or(Path::new(".")))?;
    if work.units > plan.batch_count() {
        say!("{} parts of {} batches: some parts will have nothing to play", work.units, plan.batch_count());
    }
    let stem = work.spec.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    // The longest label of Kubernetes has 63 letters.
    let name: String = name.trim_matches('-').chars().take(40).collect();
    Ok((experiment, text, if name.is_empty() { "cambio".to_owned() } else { format!("cambio-{name}") }))
}

fn filled(template: &'static str, view: minijinja::Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build().expect("it changes no mark");
    environment.set_syntax(syntax);
    environment.render_str(template, view).expect("our templates are well formed and ask for what there is")
}

fn write(folder: &Path, name: &str, text: &str) -> CliResult {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    write_whole(&folder.join(name), text.as_bytes())?;
    Ok(Exit::Done)
}

/// A word for a shell.
fn quoted(word: &str) -> Result<String, String> {
    let quoted = shlex::try_quote(word).map_err(|error| format!("`{word}` is no word for a shell: {error}"))?;
    Ok(quoted.into_owned())
}

/// A path that holds wherever the job runs; a URL stays as it is.
fn absolute(place: &str) -> Result<String, Box<dyn std::error::Error>> {
    if place.contains("://") {
        return Ok(place.to_owned());
    }
    Ok(std::path::absolute(place)?.display().to_string())
}

fn slurm(args: &SlurmArgs, roster: &Roster) -> CliResult {
    let work = &args.work;
    let (_, _, name) = read(work, roster)?;
    let program = std::env::current_exe()?;
    let view = context! {
        name,
        units => work.units,
        last => work.units - 1,
        cores => work.cores,
        time => quoted(&args.time)?,
        cambio => quoted(&program.display().to_string())?,
        spec => quoted(&absolute(&work.spec.display().to_string())?)?,
        store => quoted(&absolute(&args.store)?)?,
        out => quoted(&absolute(&args.out.display().to_string())?)?,
    };
    write(&work.into, "play.sbatch", &filled(include_str!("../../templates/play.sbatch"), view.clone()))?;
    write(&work.into, "merge.sbatch", &filled(include_str!("../../templates/merge.sbatch"), view.clone()))?;
    write(&work.into, "submit.sh", &filled(include_str!("../../templates/submit.sh"), view))?;
    say!("submit it with: sh {}", work.into.join("submit.sh").display());
    Ok(Exit::Done)
}

fn kubernetes(args: &KubernetesArgs, roster: &Roster) -> CliResult {
    let work = &args.work;
    let (experiment, text, name) = read(work, roster)?;
    // JSON's strings are YAML's.
    let text_of = |text: &str| serde_json::to_string(text).expect("a text can be written");
    let mut files = vec![("spec.toml".to_owned(), text_of(&text))];
    let base = work.spec.parent().unwrap_or(Path::new("."));
    for rules in experiment.rules.iter().filter(|rules| base.join(rules).is_file()) {
        if rules.contains('/') {
            return Err(format!("`{rules}` is in another folder; allowed are rule files beside the experiment").into());
        }
        files.push((rules.clone(), text_of(&cambio_exec::read_text(&base.join(rules))?)));
    }
    let store = args.store.clone().unwrap_or_else(|| format!("/data/{name}.units"));
    let out = args.out.clone().unwrap_or_else(|| format!("/data/{name}"));
    let view = context! {
        name,
        files,
        units => work.units,
        cores => work.cores,
        claim => args.claim.clone(),
        image => text_of(&args.image),
        spec_name => "spec.toml",
        store => text_of(&store),
        out => text_of(&out),
    };
    write(&work.into, "job.yaml", &filled(include_str!("../../templates/job.yaml"), view))?;
    say!("start it with: kubectl apply -f {}", work.into.join("job.yaml").display());
    Ok(Exit::Done)
}
