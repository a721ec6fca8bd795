#!/bin/sh
# What each group of inputs is worth: trains networks for `original` at two seats, with all groups, without one of them, and
# with `witnesses` alone, and plays them against `learned` on the same deals. A training is evaluated only at its end, so the
# networks do not play against their past.
#
#     experiments/learn/inputs.sh OUT [OPTION OF CAMBIO]...      for example: runs/inputs --threads 2
#
# Writes a folder per network and the run OUT/run, whose tables it copies to OUT, and skips what exists. CAMBIO is the
# command, found from any folder. MATCHES are the training matches of a network, SEEDS the seeds of the trainings, DEALS the
# deals of the run. The defaults take about half an hour on one core; use 4000, 1 and 100 for a quick look.
set -eu
out=${1:?usage: inputs.sh OUT [OPTION OF CAMBIO]...}
shift
cambio=${CAMBIO:-cambio}
matches=${MATCHES:-300000}
seeds=${SEEDS:-1 2}
deals=${DEALS:-10000}
recipe=$(dirname "$0")/original.toml
agents=
mkdir -p "$out"

# train NAME GROUP...: trains a network with these groups of inputs for each seed, unless it exists.
train() {
    name=$1
    shift
    groups=$(printf '"%s", ' "$@")
    for seed in $seeds; do
        network=$name-$seed.net
        agents="$agents    'learned(\"$network\")',\n"
        [ ! -f "$out/$network" ] || continue
        echo "$network" >&2
        sed "s/^inputs = .*/inputs = [$groups]/; s/^times = .*/times = 1/" "$recipe" > "$out/$name-$seed.toml"
        rm -rf "$out/$name-$seed"
        # shellcheck disable=SC2086
        $cambio learn "$out/$name-$seed.toml" --matches "$matches" --seed "$seed" --out "$out/$name-$seed" --quiet $options >&2
        cp "$out/$name-$seed/network.net" "$out/$network"
    done
}

options=$*
train all witnesses matches pairs unseen caller
train without-matches witnesses pairs unseen caller
train without-pairs witnesses matches unseen caller
train without-unseen witnesses matches pairs caller
train without-caller witnesses matches pairs unseen
train witnesses witnesses

printf '%b' "name = \"inputs\"\nseed = 105\ndeals = $deals\nrules = [\"original\"]\nseats = [2]\nagents = [\n    'learned',\n$agents]\n" > "$out/inputs.toml"
echo 'lineups = { field = ["learned"] }' >> "$out/inputs.toml"
# shellcheck disable=SC2086
[ -d "$out/run" ] || (cd "$out" && $cambio run inputs.toml --out run --quiet $options > /dev/null)
cp "$out/run/summary.csv" "$out/run/pairwise.csv" "$out"
