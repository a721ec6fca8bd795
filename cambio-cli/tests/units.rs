//! A run on many machines gives the same bytes as a run on one machine, even if processes are killed.

use crate::command::{all_blocks, assert_same, cambio, command, done, fails, play, said, timing};
use crate::folder::folder;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SPEC: &str = "seed = 8\ndeals = 120\nrules = ['classic', 'faessler']\nseats = [2, 3]\n\
                    agents = ['random', 'random(pass=0.9)', 'greedy']\n";

/// All unit files of a store.
fn units(store: &Path) -> Vec<std::path::PathBuf> {
    let entries = |path: &Path| fs::read_dir(path).map(|found| found.map(|entry| entry.unwrap().path()).collect());
    let folders: Vec<std::path::PathBuf> = entries(&store.join("units")).unwrap_or_default();
    folders.iter().flat_map(|folder| entries(folder).unwrap()).collect()
}

#[test]
fn the_parts_of_an_array_job_give_the_bytes_of_one_run() {
    let folder = folder("parts");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "run spec.toml --out one --records --quiet");
    assert!(fails(&folder, 1, "units play --store store --of 4").contains("has no run"));
    assert!(!folder.join("store").exists(), "only `units begin` creates a store");
    let occupied = fails(&folder, 1, "units begin spec.toml --store one");
    assert!(occupied.contains("one already has files, but no plan.json; choose a new or empty folder"), "{occupied}");
    assert!(!folder.join("one/plan.json").exists() && !folder.join("one/aside").exists());
    done(&folder, "units begin spec.toml --store store --records");
    done(&folder, "units begin spec.toml --store store --records");
    let changed = fails(&folder, 1, "units begin spec.toml --store store --deals 7 --records");
    assert!(changed.contains("`deals` was 120 and is now 7"), "{changed}");
    for (name, index) in [("SLURM_ARRAY_TASK_ID", "2"), ("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETION_INDEX", "3")] {
        let output = command(&folder, "units play --store store --of 4 --quiet").env(name, index).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
    let missing = fails(&folder, 1, "units merge --store store --out many");
    assert!(missing.contains("the store lacks batches 48 to 95") && !folder.join("many").exists(), "{missing}");
    assert!(fails(&folder, 1, "units play --store store --of 4").contains("--of requires --index"));
    assert!(fails(&folder, 1, "units play --store store --of 4 --index 4").contains("must be from 0 to 3"));
    done(&folder, "units play --store store --of 4 --index 1 --quiet");
    assert!(done(&folder, "units play --store store --of 4 --index 1").contains("nothing to play"));
    done(&folder, "units play --store store --of 4 --index 1 --again --quiet");
    assert_eq!(units(&folder.join("store")).len(), 4, "a unit that was played twice is stored once");
    assert!(done(&folder, "units check --store store --sample 2").contains("2 of 4 units"));
    assert!(done(&folder, "units show --store store").contains("ms a match  faessler, 3 seats"));
    done(&folder, "units merge --store store --out many --quiet");
    assert_same(&folder.join("one"), &folder.join("many"));
    let counted =
        |run: &str| timing(&folder.join(run)).into_iter().map(|(agent, blocks, _)| (agent, blocks)).collect::<Vec<_>>();
    assert_eq!(counted("many"), counted("one"), "the times of all parts are there once");
    done(&folder, "verify many");
}

#[test]
#[cfg(unix)]
fn a_worker_that_is_killed_leaves_nothing_that_is_taken() {
    let folder = folder("killed");
    play(&folder, "one", SPEC.replace("120", "600"));
    done(&folder, "units begin spec.toml --store store");
    let (_, seconds) = all_blocks(&folder.join("one"));
    let mut hit = 0;
    for share in [0.1, 0.3, 0.5, 0.7] {
        let mut child = command(&folder, "units play --store store --quiet --threads 1").spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(share * seconds));
        child.kill().unwrap();
        child.wait().unwrap();
        hit += usize::from(units(&folder.join("store")).is_empty());
    }
    assert!(hit > 0, "no kill was early enough");
    for index in 0..3 {
        done(&folder, &format!("units play --store store --quiet --index {index} --of 3"));
    }
    done(&folder, "units merge --store store --out many --quiet");
    assert_same(&folder.join("one"), &folder.join("many"));
}

#[test]
fn a_flipped_byte_in_a_unit_is_found() {
    let folder = folder("flipped");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "units begin spec.toml --store store");
    done(&folder, "units play --store store --quiet");
    let unit = units(&folder.join("store")).remove(0);
    let mut bytes = fs::read(&unit).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&unit, bytes).unwrap();
    let printed = fails(&folder, 4, "units merge --store store --out many --quiet");
    assert!(printed.contains("is damaged") && printed.contains("units/"), "{printed}");
    assert!(!folder.join("many").exists());
}

#[test]
fn costs_of_lineups_that_are_not_in_the_plan_are_refused() {
    let folder = folder("costs");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "units begin spec.toml --store store");
    done(&folder, "units play --store store --index 0 --of 1 --quiet");
    let file = fs::read_dir(folder.join("store/costs")).unwrap().next().unwrap().unwrap().path();
    let costs = fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("\"cell\":0", "\"cell\":18446744073709551615"),
        ("\"lineup\":0", "\"lineup\":99"),
        ("\"matches\":", "\"matches\":999999"),
        ("\"seconds\":", "\"seconds\":-"),
    ] {
        let changed = costs.replacen(from, to, 1);
        assert_ne!(changed, costs, "{from}");
        fs::write(&file, changed).unwrap();
        let error = fails(&folder, 4, "units show --store store");
        assert!(error.contains("is not in the plan, or its numbers are too large"), "{to}: {error}");
    }
    fs::write(&file, costs).unwrap();
    done(&folder, "units show --store store");
}

#[test]
fn a_bot_that_ends_is_a_fault_with_its_deal_and_nobody_plays_on() {
    let folder = folder("fault");
    let spec = "seed = 1\ndeals = 40\nrules = ['classic']\nseats = [2]\nagents = ['greedy', 'external(\"false\")']\n";
    fs::write(folder.join("spec.toml"), spec).unwrap();
    done(&folder, "units begin spec.toml --store store");
    let printed = fails(&folder, 2, "units play --store store --quiet --index 0 --of 2");
    assert!(printed.contains("deal 0") && printed.contains("faults/"), "{printed}");
    assert!(units(&folder.join("store")).is_empty());
    assert!(done(&folder, "units show --store store").contains("fault: store/faults/"));
    let printed = fails(&folder, 1, "units merge --store store --out many --wait --quiet");
    assert!(printed.contains("the unit stopped by the fault in store/faults/"), "{printed}");
    let record = fs::read_dir(folder.join("store/faults")).unwrap().next().unwrap().unwrap().path();
    let replayed = cambio(&folder, &format!("replay --events {}", record.display()));
    assert!(said(&replayed).contains("turn of a"), "{}", said(&replayed));
}

/// A limit on the file size simulates a full disk. The script ignores the signal that usually comes with the limit.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_and_leaves_nothing() {
    let folder = folder("full");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "units begin spec.toml --store store");
    let program = env!("CARGO_BIN_EXE_cambio");
    let script = format!("trap '' XFSZ; ulimit -f 64; exec '{program}' units play --store store --quiet");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("cannot write"), "{}", said(&output));
    assert!(units(&folder.join("store")).is_empty());
    assert_eq!(fs::read_dir(folder.join("store/aside")).unwrap().count(), 0, "nothing is left aside");
    // Another machine can still play the unit.
    done(&folder, "units play --store store --quiet");
    done(&folder, "units merge --store store --out many --quiet");
}

#[test]
fn the_files_for_slurm_and_kubernetes_name_what_they_run() {
    let folder = folder("cluster");
    fs::write(folder.join("spec.toml"), SPEC).unwrap();
    done(&folder, "cluster slurm spec.toml --units 4 --store store --out many --into jobs");
    let read = |name: &str| fs::read_to_string(folder.join("jobs").join(name)).unwrap();
    assert!(read("play.sbatch").contains("#SBATCH --array=0-3\n") && read("merge.sbatch").contains("units merge"));
    done(&folder, "cluster k8s spec.toml --units 4 --image cambio:1 --into jobs");
    let job = read("job.yaml");
    assert!(
        job.contains("completions: 4\n") && job.contains("deals = 120") && job.contains("image: &image \"cambio:1\"")
    );
    // The scripts run with a fake `sbatch`, which runs all parts in a different order.
    let stand_in = "#!/bin/sh\nfor last; do :; done\ncase $last in\n*play*) for i in 3 1 0 2; do \
                    SLURM_ARRAY_TASK_ID=$i sh \"$last\" >&2 || exit 1; done; echo 1;;\n*) sh \"$last\" >&2; echo 2;;\nesac\n";
    let bin = folder.join("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("sbatch"), stand_in).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(bin.join("sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh").arg("jobs/submit.sh").current_dir(&folder).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        done(&folder, "run spec.toml --out one --quiet");
        assert_same(&folder.join("one"), &folder.join("many"));
    }
}
