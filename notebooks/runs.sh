#!/bin/sh
# The runs that the notebooks read: notebooks/runs.sh OUT [small]
#
# As given: about an hour on two cores, for the ladder has searches, and 2 GB. `small` plays next to nothing, without
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

if [ "$size" = small ]; then
    grep -v 'ismcts\|rollout' "$experiments/ladder.toml" > "$out/ladder.toml"
    play quickstart "$experiments/quickstart.toml" --deals 30
    play ladder "$out/ladder.toml" --deals 30
    for name in seats memory decks; do
        play $name "$experiments/$name.toml" --deals 6
    done
    FIXED=12 SELF=4 SEATS=2 "$experiments/when_to_call.sh" "$out/call"
else
    for name in quickstart seats memory decks ladder; do
        play $name "$experiments/$name.toml"
    done
    "$experiments/when_to_call.sh" "$out/call"
fi
