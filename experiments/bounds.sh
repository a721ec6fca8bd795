#!/bin/sh
# How far can each player of the ladder be exploited? A responder for each: a network that learns to beat it and nobody else
# (`cambio learn --exploit`). What the best of its levels wins on fresh deals is a lower bound.
#
#     experiments/bounds.sh OUT [OPTION OF CAMBIO LEARN]...      for example: runs/bounds --threads 2
#
# One folder for each player; what is there is not learned again. CAMBIO is the command; FAST and SLOW are the matches that a
# responder learns from, against players that do not search and against those that do. As given it takes some six hours on one core;
# 400000 and 8000 give a look.
set -eu
out=${1:?usage: bounds.sh OUT [OPTION OF CAMBIO LEARN]...}
shift
cambio=${CAMBIO:-cambio}
fast=${FAST:-2000000}
slow=${SLOW:-400000}
mkdir -p "$out"

# responder NAME AGENT MATCHES: into OUT/NAME, unless that is complete.
responder() {
    name=$1 agent=$2 matches=$3
    shift 3
    [ ! -f "$out/$name/bound.csv" ] || return 0
    echo "$agent" >&2
    rm -rf "$out/$name"
    $cambio learn --quiet --exploit "$agent" --matches "$matches" --out "$out/$name" "$@" > "$out/$name.txt"
}

responder random 'random' $((fast / 10)) "$@"
responder random-pass 'random(pass=0.9)' $((fast / 10)) "$@"
responder greedy 'greedy' "$fast" "$@"
responder heuristic-threshold 'heuristic(call_at=3,call_chance=0)' "$fast" "$@"
responder heuristic 'heuristic' "$fast" "$@"
responder sharp 'sharp' "$fast" "$@"
responder learned 'learned' "$fast" "$@"
responder ismcts-so 'ismcts(mode=so)' "$slow" "$@"
responder ismcts-mo 'ismcts(mode=mo)' "$slow" "$@"
responder ismcts 'ismcts' "$slow" "$@"
responder rollout 'rollout' "$slow" "$@"
responder rollout-match 'rollout(utility=match)' "$slow" "$@"
