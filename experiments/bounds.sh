#!/bin/sh
# Lower bounds on the exploitability of each agent of the ladder. For each agent, trains a responder: a network that learns
# to beat only this agent (`cambio learn --exploit`). The bound is the win share of its best level on fresh deals.
#
#     experiments/bounds.sh OUT [OPTION OF CAMBIO LEARN]...      for example: runs/bounds --threads 2
#
# Writes one folder per agent and skips complete folders. CAMBIO is the command. FAST and SLOW are the numbers of training
# matches against agents without and with search. Against a search, a network from scratch would learn too slowly, so only the
# bundled network is trained. The defaults take about two hours on one core; use 400000 and 8000 for a quick look.
set -eu
out=${1:?usage: bounds.sh OUT [OPTION OF CAMBIO LEARN]...}
shift
cambio=${CAMBIO:-cambio}
fast=${FAST:-2000000}
slow=${SLOW:-150000}
mkdir -p "$out"

# responder NAME AGENT MATCHES: trains a responder into OUT/NAME, unless it is complete.
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
responder ismcts-so 'ismcts(mode=so)' "$slow" --from shipped "$@"
responder ismcts-mo 'ismcts(mode=mo)' "$slow" --from shipped "$@"
responder ismcts 'ismcts' "$slow" --from shipped "$@"
responder rollout 'rollout' "$slow" --from shipped "$@"
responder rollout-match 'rollout(utility=match)' "$slow" --from shipped "$@"
