#!/bin/sh
# What inputs, opponents and longer training are worth: trains networks for `original` at two seats with the recipe of the
# bundled network and three changes of it, each for several numbers of matches, and plays them against `learned` on the
# same deals. A training is evaluated only at its end, so the networks do not play against their past.
#
#     experiments/learn/lengths.sh OUT [OPTION OF CAMBIO]...      for example: runs/lengths --threads 2
#
# Writes a folder per network and the run OUT/run, whose tables it copies to OUT, and skips what exists. CAMBIO is the
# command, found from any folder. LENGTHS are the numbers of training matches, SEEDS the seeds of the trainings, DEALS the
# deals of the run. The defaults take about 80 minutes on one core; use 2000, 1 and 100 for a quick look.
set -eu
out=${1:?usage: lengths.sh OUT [OPTION OF CAMBIO]...}
shift
cambio=${CAMBIO:-cambio}
lengths=${LENGTHS:-50000 200000 800000}
seeds=${SEEDS:-1 2}
deals=${DEALS:-10000}
recipe=$(dirname "$0")/original.toml
agents=
mkdir -p "$out"

# train NAME CHANGE: trains networks with the recipe that the sed script CHANGE makes of the bundled network's, unless they exist.
train() {
    sed "$2; s/^times = .*/times = 1/" "$recipe" > "$out/$1.toml"
    for matches in $lengths; do
        for seed in $seeds; do
            network=$1-$matches-$seed
            agents="$agents    'learned(\"$network.net\")',\n"
            [ ! -f "$out/$network.net" ] || continue
            echo "$network" >&2
            rm -rf "$out/$network"
            # shellcheck disable=SC2086
            $cambio learn "$out/$1.toml" --matches "$matches" --seed "$seed" --out "$out/$network" --quiet $options >&2
            cp "$out/$network/network.net" "$out/$network.net"
        done
    done
}

options=$*
itself='/^past = /d; /^sharp = /d'
witnesses='s/^inputs = .*/inputs = ["witnesses"]/'
train recipe ''
train itself "$itself"
train witnesses "$witnesses"
train witnesses-itself "$witnesses; $itself"

printf '%b' "name = \"lengths\"\nseed = 106\ndeals = $deals\nrules = [\"original\"]\nseats = [2]\nagents = [\n    'learned',\n$agents]\n" > "$out/lengths.toml"
echo 'lineups = { field = ["learned"] }' >> "$out/lengths.toml"
# shellcheck disable=SC2086
[ -d "$out/run" ] || (cd "$out" && $cambio run lengths.toml --out run --quiet $options > /dev/null)
cp "$out/run/summary.csv" "$out/run/pairwise.csv" "$out"
