#!/bin/sh
# Distils a search into a network: plays rounds of `classic` between two copies of `lookahead`, trains a clone of it that
# starts from the bundled network, and plays the clone against `learned` and `sharp`. The two rotations of a round between
# copies are the same, so the records contain each round twice.
#
#     experiments/learn/distil.sh OUT [OPTION OF CAMBIO]...      for example: runs/distil --threads 2
#
# Writes the records into OUT/games, the clone into OUT/clone and the run OUT/run, whose tables it copies to OUT, and skips
# what exists. CAMBIO is the command, found from any folder. GAMES is the number of deals with the search, DEALS the number
# of deals with the clone. The defaults take about half an hour on one core; use 200 and 100 for a quick look.
set -eu
out=${1:?usage: distil.sh OUT [OPTION OF CAMBIO]...}
shift
cambio=${CAMBIO:-cambio}
games=${GAMES:-40000}
deals=${DEALS:-20000}
search='lookahead(worlds=480,proposals=1200,errors=2.5,turns=1)'
mkdir -p "$out"
cd "$out"

# write NAME SEED DEALS LINEUPS AGENT...: writes the experiment NAME.toml.
write() {
    printf 'name = "%s"\nseed = %s\ndeals = %s\nrules = ["classic"]\nseats = [2]\nlineups = "%s"\nagents = [\n' "$1" "$2" "$3" "$4" > "$1.toml"
    file=$1.toml
    shift 4
    printf "    '%s',\n" "$@" >> "$file"
    echo ']' >> "$file"
}

write games 777 "$games" mirror "$search"
[ -f games/summary.csv ] || $cambio run games.toml --records --out games --quiet "$@" > /dev/null
[ -f clone/network.net ] || $cambio learn --clone games --from shipped --out clone --quiet "$@" > clone.txt
cp clone/network.net clone/agreed.csv .
write run 107 "$deals" all learned 'learned("network.net")' sharp
[ -f run/summary.csv ] || $cambio run run.toml --out run --quiet "$@" > /dev/null
cp run/summary.csv run/pairwise.csv .
