#!/bin/sh
# Starts a Slurm cluster of one controller and one node on this machine, plays an experiment on it, and ends it.
#
#     scripts/slurm.sh PROGRAM FOLDER     needs root and Debian's slurm-wlm and munge; FOLDER must be empty
#
# FOLDER gets spec.toml, the run `one` in one piece, the jobs' files and the run `many` from the array job. Exits 0 if their rows
# are the same bytes, 77 with a sentence if Slurm is not there or does not start.
set -eu
program=$(realpath "$1")
mkdir -p "$2"
cd "$2"
here=$(pwd)
for tool in slurmctld slurmd sbatch munged; do
    command -v $tool >/dev/null || { echo "left out: there is no $tool; Debian's slurm-wlm and munge have it"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "left out: starting a node needs root"; exit 77; }
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
    echo "left out: the cluster does not start: $(tail -n 2 log/slurmctld.log log/slurmd.log 2>&1 | tr '\n' ' ')"
    exit 77
fi
cat >spec.toml <<SPEC
seed = 8
deals = 120
rules = ["classic", "faessler"]
seats = [2, 3]
agents = ["random", "random(pass=0.9)", "greedy"]
SPEC
"$program" run spec.toml --out one --quiet >/dev/null
"$program" cluster slurm spec.toml --units 6 --store store --out many --into jobs
# A part that is killed is queued again by Slurm, and a part that was lost is played by submitting again.
sh jobs/submit.sh
for _ in $(seq 120); do
    [ -e many/manifest.json ] && break
    sleep 0.5
done
for file in matches.csv rounds.csv players.csv ledger.jsonl summary.csv; do
    cmp one/$file many/$file
    sha256sum many/$file
done
# Every part again: nothing is played twice.
again=$(sbatch --parsable --chdir=jobs jobs/play.sbatch)
for _ in $(seq 120); do
    squeue -h -j "$again" 2>/dev/null | grep -q . || break
    sleep 0.5
done
[ "$(find store/units -type f | wc -l)" = 6 ]
grep -l "nothing to play" jobs/play-*.log | wc -l
echo "Slurm: the rows of 6 parts are those of one run"
