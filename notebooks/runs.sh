#!/bin/sh
# The runs that the notebooks read: notebooks/runs.sh OUT [small]
#
# As given: about an hour and a half on two cores, for the ladder has searches and a network learns, and 2 GB. `small` plays next to nothing, without
# searches, to see that the notebooks run; what they then show means nothing. CAMBIO is the command. What is there is not
# played again, and an interrupted run is resumed.
set -eu
out=${1:?usage: notebooks/runs.sh OUT [small]}
size=${2:-full}
export CAMBIO="${CAMBIO:-cambio}"
experiments=$(dirname "$0")/../experiments
mkdir -p "$out"

# play NAME FILE [OPTION]...
play() {
    name=$1 file=$2
    shift 2
    $CAMBIO run "$file" --out "$out/$name" --resume --quiet "$@" > "$out/$name.txt"
}

# learn RECIPE: a network's training, taken up again where it was interrupted
learn() {
    if [ -e "$out/learning/network.net" ]; then
        return
    elif [ -e "$out/learning" ]; then
        $CAMBIO learn --out "$out/learning" --resume --quiet
    else
        $CAMBIO learn "$1" --out "$out/learning" --quiet
    fi > "$out/learning.txt"
}

if [ "$size" = small ]; then
    grep -v 'ismcts\|rollout' "$experiments/ladder.toml" > "$out/ladder.toml"
    play quickstart "$experiments/quickstart.toml" --deals 30
    play ladder "$out/ladder.toml" --deals 30
    for name in seats memory decks; do
        play $name "$experiments/$name.toml" --deals 6
    done
    play heuristics "$experiments/heuristics.toml" --deals 40
    sed -e 's/^matches = .*/matches = 3000/' -e 's/^deals = .*/deals = 20/' "$experiments/learn/classic.toml" > "$out/learning.toml"
    learn "$out/learning.toml"
    FIXED=12 SELF=4 SEATS=2 "$experiments/when_to_call.sh" "$out/call"
else
    for name in quickstart seats memory decks ladder heuristics; do
        play $name "$experiments/$name.toml"
    done
    learn "$experiments/learn/classic.toml"
    "$experiments/when_to_call.sh" "$out/call"
fi
