#!/bin/sh
# The exact exploitability of networks trained by self-play: one network for each of six mini games, with the recipe mini.toml.
#
#     experiments/learn/mini.sh OUT [OPTION OF CAMBIO LEARN]...      for example: runs/mini --threads 2
#
# Writes OUT/exploitability.csv. CAMBIO is the command. `learned` plays the best decision. In games where deterministic play
# is exploitable, a second network trains and plays with a temperature of 0.15. Takes about an hour on one core.
set -eu
out=${1:?usage: mini.sh OUT [OPTION OF CAMBIO LEARN]...}
shift
cambio=${CAMBIO:-cambio}
recipe=$(dirname "$0")/mini.toml
mkdir -p "$out"
echo game,agent,exploitability > "$out/exploitability.csv"

# network GAME NAME: trains with the recipe OUT/NAME.toml into OUT/NAME.
network() {
    game=$1 name=$2
    shift 2
    echo "$name" >&2
    rm -rf "$out/${name:?}"
    $cambio learn --quiet "$out/$name.toml" --out "$out/$name" "$@" > "$out/$name.txt"
}

# measure GAME NAME SHOWN PARAMETERS STREAMS: appends the exploitability of OUT/NAME to the table, with the agent name SHOWN.
measure() {
    found=$($cambio exploit --quiet --to 1 --game "$1" --agent "learned(\"$out/$2/network.net\"$4)" --streams "$5" |
        awk '$1 == "exploitability" { print $2 }')
    echo "$1,\"$3\",$found" >> "$out/exploitability.csv"
}

for game in mini-m1 mini-m3 mini-k4 mini-p mini-pk mini-dpk; do
    sed "s/mini-m1/$game/" "$recipe" > "$out/$game.toml"
    network "$game" "$game" "$@"
    measure "$game" "$game" learned "" 1
done
for game in mini-p mini-pk mini-dpk; do
    sed -e "s/mini-m1/$game/" -e 's/^temperature = .*/temperature = 0.15/' -e '/^final_temperature/d' "$recipe" > "$out/$game-mixed.toml"
    network "$game" "$game-mixed" "$@"
    measure "$game" "$game-mixed" "learned(temperature=0.15)" ",temperature=0.15" 100
done
