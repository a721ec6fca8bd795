#!/usr/bin/env bash
# Builds target/pgo/cambio with profile-guided optimisation: an instrumented build, a minute of play, and a build that uses
# the profile. The program is faster and writes the same bytes.
#
#     cargo install cargo-pgo && rustup component add llvm-tools
#     scripts/pgo.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TARGET_DIR=$PWD/target/pgo
# The program must not contain the paths of the machine that builds it. RUSTFLAGS replaces the flags of .cargo/config.toml.
cargo_home=${CARGO_HOME:-$HOME/.cargo}
flags="--remap-path-prefix=$PWD=cambio --remap-path-prefix=$cargo_home=cargo"
case $(uname -m) in x86_64) flags="-C target-cpu=x86-64-v2 $flags" ;; esac
export RUSTFLAGS="$flags ${RUSTFLAGS:-}"
program=$CARGO_TARGET_DIR/$(rustc -vV | sed -n 's/^host: //p')/dist/cambio
package=(--profile dist --locked --package cambio-cli --bin cambio "$@")

cargo pgo build -- "${package[@]}"
runs=$(mktemp -d)
trap 'rm -r "$runs"' EXIT
cd "$runs"
# One thread, because threads would share the profile counters, which are not atomic.
play() {
    printf '%s\n' "seed = $1" "deals = $2" "rules = [$3]" "seats = [$4]" "agents = [$5]" "lineups = $6" >"$1.toml"
    "$program" run "$1.toml" --out "$1" --quiet --threads 1
}
presets="'original', 'faessler', 'classic'"
{
    play 1 1500 "$presets" "2, 4" "'random', 'random(pass=0.9)'" "'mirror'"
    play 2 300 "$presets" "2, 4" "'random', 'greedy', 'heuristic', 'sharp'" "'all'"
    play 3 60 "$presets" "3" "'sharp(decay=0.1)', 'sharp(capacity=3)', 'sharp(threshold=0.3)'" "'all'"
    play 4 6 "$presets" "2, 4" "'rollout(n=300)', 'heuristic'" "{ field = ['heuristic'] }"
    play 5 6 "$presets" "2, 4" "'ismcts(iterations=300)', 'heuristic'" "{ field = ['heuristic'] }"
    play 6 6 "$presets" "2" "'ismcts(iterations=300,mode=so)', 'ismcts(iterations=300,mode=mo)'" "'all'"
    play 7 3 "$presets" "2" "'rollout(n=300,utility=match,blueprint=sharp)', 'sharp'" "'all'"
    "$program" report 1
    "$program" report 2
    "$program" verify 2
    "$program" run 2.toml --out records --quiet --threads 1 --deals 60 --records
    "$program" replay records/records.jsonl
    "$program" solve --game mini-m1 --iterations 50 --quiet
    "$program" tune --agent 'greedy(call_at=?)' --range 0..15:3 --deals 100 --validate 100 --threads 1 --quiet
} >/dev/null
cd "$OLDPWD"
cargo pgo optimize build -- "${package[@]}"
cp "$program" target/pgo/cambio
if grep -aqF -e "$PWD/" -e "$cargo_home/" target/pgo/cambio; then
    echo "target/pgo/cambio contains paths of this machine; expected none under $PWD or $cargo_home" >&2
    exit 1
fi
echo target/pgo/cambio
