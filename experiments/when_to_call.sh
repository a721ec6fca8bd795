#!/bin/sh
# When to call: the best threshold on each rule system, including the other decks of `original`, at 2, 4 and 6 seats. Each
# threshold plays the same deals in every seat: against agents that call at 5, which the original rules advise, and (except
# for the other decks) against every other threshold in all other seats.
#
#     experiments/when_to_call.sh OUT [OPTION OF CAMBIO TUNE]...      for example: runs/call --threads 2
#
# Writes one folder per curve and skips existing folders. CAMBIO is the command. FIXED and SELF are the numbers of matches of a
# threshold against call_at=5 and against each other threshold; 0 means none. On classic, where a match is one round, five
# times as many are played. SEATS are the numbers of seats. The best threshold and five then play four times as many fresh
# deals. The defaults take about 20 minutes on one core; use 80 and 12 for a quick look.
set -eu
out=${1:?usage: when_to_call.sh OUT [OPTION OF CAMBIO TUNE]...}
shift
cambio=${CAMBIO:-cambio}
fixed=${FIXED:-8000}
self=${SELF:-800}
tables=${SEATS:-2 4 6}
mkdir -p "$out"

# tune NAME OPTION...: tunes into OUT/NAME, unless it exists.
tune() {
    name=$1
    shift
    [ ! -d "$out/$name" ] || return 0
    echo "$name" >&2
    rm -rf "$out/$name.new"
    $cambio tune --quiet --seed 1 --out "$out/$name.new" "$@" > "$out/$name.txt"
    mv "$out/$name.new" "$out/$name"
}

scale() {
    case $1 in classic) echo 5 ;; *) echo 1 ;; esac
}

# against_five AGENT RULES SEATS [OPTION]...: all thresholds against call_at=5.
against_five() {
    agent=$1 rules=$2 seats=$3 deals=$(($(scale "$2") * fixed / $3))
    shift 3
    [ "$deals" -gt 0 ] || return 0
    five=$(echo "$agent" | sed 's/?/5/')
    tune "${agent%%(*}-$rules-$seats-fixed" --agent "$agent" --rules "$rules" --seats "$seats" --field "$five" \
        --range=-4..20 --deals "$deals" --incumbent "$five" --validate $((4 * deals)) "$@"
}

# against_itself AGENT RULES SEATS [OPTION]...: all thresholds against each threshold in all other seats.
against_itself() {
    agent=$1 rules=$2 seats=$3 deals=$(($(scale "$2") * self / $3))
    shift 3
    [ "$deals" -gt 0 ] || return 0
    case $rules-$seats in classic-2) highest=20 ;; *) highest=12 ;; esac
    mkdir -p "$out/${agent%%(*}-$rules-$seats-self"
    for threshold in $(seq -2 "$highest"); do
        tune "${agent%%(*}-$rules-$seats-self/$threshold" --agent "$agent" --rules "$rules" --seats "$seats" \
            --field "$(echo "$agent" | sed "s/?/$threshold/")" --range="-2..$highest" --deals "$deals" --validate 0 "$@"
    done
}

for agent in 'greedy(call_at=?)' 'heuristic(call_at=?,call_chance=0)'; do
    for seats in $tables; do
        for rules in classic original faessler original-b original-c original-d; do
            against_five "$agent" "$rules" "$seats" "$@"
        done
    done
done
for agent in 'greedy(call_at=?)' 'heuristic(call_at=?,call_chance=0)'; do
    for seats in $tables; do
        for rules in classic original faessler; do
            against_itself "$agent" "$rules" "$seats" "$@"
        done
    done
done
