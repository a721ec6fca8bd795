#!/bin/sh
# Starts a Slurm cluster of one controller and one node on this machine, plays an experiment on it, and stops the cluster.
#
#     scripts/slurm.sh PROGRAM FOLDER     needs root and Debian's slurm-wlm and munge; FOLDER must be empty
#
# Writes into FOLDER: spec.toml, the local run `one`, the job files, and the run `many` from the array job. Then kills one part
# of a slower run, and takes the node down while it plays parts. Exits with 0 if all rows have the same bytes, and with 77 and a
# message if Slurm is not installed or does not start.
set -eu
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"
here=$(pwd)
for tool in slurmctld slurmd sbatch munged; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed; install Debian's slurm-wlm and munge"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: starting a node requires root"; exit 77; }
mkdir -p etc run state spool log
head -c 128 /dev/urandom >etc/munge.key
chmod 600 etc/munge.key
chmod 755 run
host=$(hostname -s)
cores=$(nproc)
cat >etc/slurm.conf <<CONF
ClusterName=cambio
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$here/run/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldPidFile=$here/run/slurmctld.pid
SlurmdPidFile=$here/run/slurmd.pid
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldLogFile=$here/log/slurmctld.log
SlurmdLogFile=$here/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_interval=2
ReturnToService=2
MinJobAge=300
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF="$here/etc/slurm.conf"
munged --force --foreground --key-file="$here/etc/munge.key" --socket="$here/run/munge.socket" \
    --pid-file="$here/run/munged.pid" --log-file="$here/log/munged.log" --seed-file="$here/run/munged.seed" 2>log/munged.out &
munge=$!
slurmctld -D -i >log/controller.out 2>&1 &
controller=$!
slurmd -D >log/node.out 2>&1 &
node=$!
trap 'kill $node $controller $munge 2>/dev/null || true; wait 2>/dev/null || true' EXIT
ready=no
for _ in $(seq 60); do
    if sinfo -h -o %T 2>/dev/null | grep -q idle; then ready=yes; break; fi
    sleep 0.5
done
if [ $ready = no ]; then
    echo "skipped: the cluster does not start: $(tail -n 2 log/slurmctld.log log/slurmd.log 2>&1 | tr '\n' ' ')"
    exit 77
fi
# same ONE MANY: checks that the rows of two runs have the same bytes.
same() {
    for file in matches.csv rounds.csv players.csv ledger.jsonl summary.csv; do
        cmp "$1/$file" "$2/$file"
        sha256sum "$2/$file"
    done
}
# until_ WHAT COMMAND...: waits until a command succeeds, for at most a minute.
until_() {
    what=$1
    shift
    for _ in $(seq 120); do
        if "$@"; then return; fi
        sleep 0.5
    done
    echo "Slurm: timeout while waiting for $what; see $here/log and $here/*/play-*.log" >&2
    exit 1
}
is_idle() { [ -z "$(squeue -h 2>/dev/null)" ]; }
is_there() { [ -e "$1" ]; }
is_restarted() { scontrol show job 2>/dev/null | grep -q "Restarts=[1-9]"; }
is_played() { pgrep -f "units play --store $here/$1 " >"$here/playing"; }

cat >spec.toml <<SPEC
seed = 8
deals = 120
rules = ["classic", "faessler"]
seats = [2, 3]
agents = ["random", "random(pass=0.9)", "greedy"]
SPEC
"$program" run spec.toml --out one --quiet >/dev/null
"$program" cluster slurm spec.toml --units 6 --store store --out many --into jobs
sh jobs/submit.sh
until_ "the merge" is_there many/manifest.json
same one many
# Submit every part again: nothing is played twice.
sbatch --parsable --chdir=jobs jobs/play.sbatch
until_ "the end of the parts" is_idle
[ "$(find store/units -type f | wc -l)" = 6 ]
[ "$(grep -l "nothing to play" jobs/play-*.log | wc -l)" = 6 ]
echo "Slurm: a run in 6 parts has the same rows as a local run"

# A run whose parts take some seconds each.
sed -e 's/^deals = .*/deals = 16/' -e 's/^seats = .*/seats = [2]/' -e 's/^agents = .*/agents = ["rollout(n=400)", "greedy"]/' spec.toml >slow.toml
"$program" run slow.toml --out slow-one --quiet >/dev/null
for fault in killed lost; do
    "$program" cluster slurm slow.toml --units 4 --store $fault.store --out $fault --into $fault.jobs >/dev/null
    sh $fault.jobs/submit.sh
    until_ "a running part" is_played $fault.store
    if [ $fault = killed ]; then
        # If a part fails, the dependent merge is cancelled. Submitting again plays the missing parts.
        kill -9 "$(head -n 1 playing)"
        until_ "the end of the other parts" is_idle
        [ ! -e killed ]
        sh killed.jobs/submit.sh
    else
        # Slurm automatically requeues the parts of a lost node.
        scontrol update "nodename=$host" state=down reason=lost
        until_ "a requeued part" is_restarted
        # The node may already have resumed.
        scontrol update "nodename=$host" state=resume 2>/dev/null || true
        # Slurm delays a requeued part by two minutes; a few seconds are enough for the node to clean up.
        sleep 3
        for job in $(squeue -h -r -t PENDING -n cambio-slow -o %A); do
            scontrol update "jobid=$job" starttime=now 2>/dev/null || true
        done
    fi
    until_ "the merge" is_there $fault/manifest.json
    same slow-one $fault
    [ "$(find $fault.store/units -type f | wc -l)" = 4 ]
    echo "Slurm: a run with a part or node that was $fault has the same rows as a local run"
done
