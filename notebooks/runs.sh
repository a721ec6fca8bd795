#!/bin/sh
# Plays the runs for the notebooks: notebooks/runs.sh OUT [small | first]
#
# The full runs take about an hour and a half on two cores and 2 GB of disk, because of the searches in the ladder and the training of a
# network. `small` plays very few deals, without searches, only to test that the notebooks run; `first` plays only the run of
# notebook 12. CAMBIO is the command. Finished runs are not repeated, and interrupted runs are resumed.
set -eu
out=${1:?usage: notebooks/runs.sh OUT [small | first]}
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

# learn RECIPE: trains a network, or resumes its training
learn() {
    if [ -e "$out/learning/network.net" ]; then
        return
    elif [ -e "$out/learning" ]; then
        $CAMBIO learn --out "$out/learning" --resume --quiet
    else
        $CAMBIO learn "$1" --out "$out/learning" --quiet
    fi > "$out/learning.txt"
}

play columns "$experiments/columns.toml"
if [ "$size" = first ]; then
    exit
elif [ "$size" = small ]; then
    grep -v 'ismcts\|rollout' "$experiments/ladder.toml" > "$out/ladder.toml"
    play quickstart "$experiments/quickstart.toml" --deals 30
    play ladder "$out/ladder.toml" --deals 30
    for name in seats memory decks; do
        play $name "$experiments/$name.toml" --deals 6
    done
    play heuristics "$experiments/heuristics.toml" --deals 40
    sed -e 's/^matches = .*/matches = 3000/' -e 's/^deals = .*/deals = 20/' "$experiments/learn/classic.toml" > "$out/learning.toml"
    learn "$out/learning.toml"
    # As in some of the full runs, the best threshold is the incumbent, so nothing is validated.
    [ -d "$out/call/greedy-original-2-fixed" ] || $CAMBIO tune --quiet --seed 1 --agent 'greedy(call_at=?)' --rules original --seats 2 \
        --field 'greedy(call_at=5)' --range=-4..5:9 --deals 100 --incumbent 'greedy(call_at=5)' --validate 100 \
        --out "$out/call/greedy-original-2-fixed" > /dev/null
    FIXED=12 SELF=4 SEATS=2 "$experiments/when_to_call.sh" "$out/call"
else
    for name in quickstart seats memory decks ladder heuristics; do
        play $name "$experiments/$name.toml"
    done
    learn "$experiments/learn/classic.toml"
    "$experiments/when_to_call.sh" "$out/call"
fi
