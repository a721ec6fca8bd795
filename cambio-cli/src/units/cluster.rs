//! `cambio cluster`: job files that run an experiment on a cluster.

use std::path::{Path, PathBuf};

use cambio_agents::Roster;
use cambio_exec::write_whole;
use cambio_sim::Experiment;
use clap::Subcommand;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, context};

use crate::exit::{CliResult, Exit};
use crate::program;
use crate::say::say;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    kind: Scheduler,
}

#[derive(Debug, Subcommand)]
enum Scheduler {
    /// Write an array job for Slurm, a merge job that waits for it, and a script that submits both
    Slurm(SlurmArgs),
    /// Write an indexed Job for Kubernetes, and a Job that merges the results
    K8s(KubernetesArgs),
}

#[derive(Debug, clap::Args)]
struct ClusterWork {
    /// The experiment file
    spec: PathBuf,
    /// The number of parts into which the experiment is divided
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    units: u64,
    /// The folder for the job files; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The number of cores for each part
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cores: u64,
}

#[derive(Debug, clap::Args)]
struct SlurmArgs {
    #[command(flatten)]
    work: ClusterWork,
    /// The store for the played units; all nodes must have access to it
    #[arg(long, value_name = "PLACE")]
    store: String,
    /// The run folder that the merge writes
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The time limit of a part, in Slurm's format
    #[arg(long, value_name = "TIME", default_value = "04:00:00")]
    time: String,
}

#[derive(Debug, clap::Args)]
struct KubernetesArgs {
    #[command(flatten)]
    work: ClusterWork,
    /// The container image; the repository's Dockerfile builds one
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// The volume claim that all pods mount at /data
    #[arg(long, value_name = "NAME", default_value = "cambio")]
    claim: String,
    /// The store, as a path inside the pods [default: /data/cambio-SPEC.units, with the name of the experiment file]
    #[arg(long, value_name = "PLACE")]
    store: Option<String>,
    /// The run folder that the merge writes, as a path inside the pods [default: /data/cambio-SPEC]
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

pub(crate) fn run(args: &Args, roster: &Roster) -> CliResult {
    match &args.kind {
        Scheduler::Slurm(args) => slurm(args, roster),
        Scheduler::K8s(args) => kubernetes(args, roster),
    }
}

/// Reads an experiment and checks that it can be played. Returns the experiment, its text and a name for the jobs.
fn read(work: &ClusterWork, roster: &Roster) -> Result<(Experiment, String, String), Box<dyn std::error::Error>> {
    let (experiment, text) = Experiment::read(&work.spec)?;
    let plan = experiment.plan(roster, work.spec.parent().unwrap_or(Path::new(".")))?;
    if work.units > plan.batch_count() {
        say!("{} parts for only {} batches: some parts will have nothing to play", work.units, plan.batch_count());
    }
    let stem = work.spec.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    // A label in Kubernetes has at most 63 characters, and the name gets a prefix and suffixes.
    let name: String = name.trim_matches('-').chars().take(40).collect();
    Ok((experiment, text, if name.is_empty() { "cambio".to_owned() } else { format!("cambio-{name}") }))
}

fn filled(template: &'static str, view: minijinja::Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build().expect("the default delimiters are valid");
    environment.set_syntax(syntax);
    environment.render_str(template, view).expect("the templates are valid and the context has all variables")
}

fn write(folder: &Path, name: &str, text: &str) -> CliResult {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    write_whole(&folder.join(name), text.as_bytes())?;
    Ok(Exit::Done)
}

fn quoted(word: &str) -> Result<String, String> {
    let quoted = shlex::try_quote(word).map_err(|error| format!("cannot quote `{word}` for a shell: {error}"))?;
    Ok(quoted.into_owned())
}

/// The absolute path, which is valid in any working folder. A URL is returned unchanged.
fn absolute(place: &str) -> Result<String, Box<dyn std::error::Error>> {
    if place.contains("://") {
        return Ok(place.to_owned());
    }
    Ok(std::path::absolute(place)?.display().to_string())
}

fn slurm(args: &SlurmArgs, roster: &Roster) -> CliResult {
    let work = &args.work;
    let (_, _, name) = read(work, roster)?;
    let view = context! {
        name,
        units => work.units,
        last => work.units - 1,
        cores => work.cores,
        time => quoted(&args.time)?,
        cambio => program(),
        spec => quoted(&absolute(&work.spec.display().to_string())?)?,
        store => quoted(&absolute(&args.store)?)?,
        out => quoted(&absolute(&args.out.display().to_string())?)?,
    };
    write(&work.into, "play.sbatch", &filled(include_str!("../../templates/play.sbatch"), view.clone()))?;
    write(&work.into, "merge.sbatch", &filled(include_str!("../../templates/merge.sbatch"), view.clone()))?;
    write(&work.into, "submit.sh", &filled(include_str!("../../templates/submit.sh"), view))?;
    say!("submit the jobs with: sh {}", work.into.join("submit.sh").display());
    Ok(Exit::Done)
}

fn kubernetes(args: &KubernetesArgs, roster: &Roster) -> CliResult {
    let work = &args.work;
    let (experiment, text, name) = read(work, roster)?;
    // A JSON string is a valid YAML string.
    let text_of = |text: &str| serde_json::to_string(text).expect("a string can be serialized");
    let mut files = vec![("spec.toml".to_owned(), text_of(&text))];
    let base = work.spec.parent().unwrap_or(Path::new("."));
    for rules in experiment.rules.iter().filter(|rules| base.join(rules).is_file()) {
        if rules.contains('/') {
            return Err(format!("the rule file `{rules}` must be in the folder of the experiment file").into());
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
    say!("start the jobs with: kubectl apply -f {}", work.into.join("job.yaml").display());
    Ok(Exit::Done)
}
