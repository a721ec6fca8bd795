#!/bin/bash
# Time and memory of the command by deals, agents, seats and threads: a Markdown table, and what Amdahl's law says about more threads.
#
#     experiments/growth.sh        CAMBIO is the command; needs GNU time; takes about three minutes
#
# A time is the least of three, of the whole command with its files, tables and report.
set -eu
cambio=${CAMBIO:-cambio}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure COMMAND...: the least seconds of three runs, and its peak memory in kilobytes.
measure() {
    for _ in 1 2 3; do
        rm -rf "$work/run"
        /usr/bin/time -f '%e %M' -o "$work/time" "$@" > /dev/null
        cat "$work/time"
    done | sort -n | head -1
}

# played AGENTS SEATS DEALS THREADS: a row for a run.
played() {
    {
        printf 'name = "growth"\nseed = 1\nrules = ["classic"]\n'
        printf 'deals = %s\nseats = [%s]\nagents = [%s]\n' "$3" "$2" "$(seq -f '"greedy(call_at=%g)"' -s, "$1")"
    } > "$work/growth.toml"
    read -r seconds memory < <(measure "$cambio" run "$work/growth.toml" --out "$work/run" --threads "$4" --quiet)
    matches=$(($(wc -l < "$work/run/matches.csv") - 1))
    awk -v a="$1" -v s="$2" -v d="$3" -v t="$4" -v m="$matches" -v sec="$seconds" -v mem="$memory" \
        'BEGIN { printf "| %d | %d | %d | %d | %d | %.2f | %.0f | %.0f |\n", a, s, d, t, m, sec, m / sec, mem / 1024 }'
}

echo '| agents | seats | deals | threads | matches | seconds | matches a second | peak memory, MB |'
echo '|---:|---:|---:|---:|---:|---:|---:|---:|'
played 2 2 1000 1
played 2 2 30000 1
played 2 2 1000000 1
one=$seconds
played 2 2 1000000 2
two=$seconds
played 4 2 10000 1
played 8 2 10000 1
played 4 4 10000 1
played 8 8 10000 1
# shellcheck disable=SC2016
read -r seconds memory < <(measure sh -c 'for i in $(seq 100); do "$0" rules classic; done' "$cambio")
printf '\n`cambio rules classic` takes %.1f ms with %d MB.\n' "${seconds}e1" "$((memory / 1024))"
awk -v one="$one" -v two="$two" 'BEGIN {
    serial = 2 * two / one - 1
    if (serial < 0) serial = 0
    printf "With 1,000,000 deals, two threads take %.2f s instead of %.2f s, so that %.0f %% of the work is serial. By Amdahl'"'"'s law, ", two, one, 100 * serial
    printf "8 threads would take %.2f s and 64 threads %.2f s; not measured.\n", one * (serial + (1 - serial) / 8), one * (serial + (1 - serial) / 64)
}'
