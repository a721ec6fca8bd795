#!/usr/bin/env bash
# Builds `cambio` with profile-guided optimisation: a build that counts, a minute of play that it counts, and a build that
# knows what is called how often. The program is faster and writes the same bytes.
#
#     scripts/release.sh [--benches] [--features parquet,zstd]
#
# The program is then target/pgo/cambio. With `--benches` the programs that scripts/pair.py measures are built in the same
# way, under target/pgo/examples. Needs llvm-profdata of the LLVM in rustc (`rustc -vV` names its version): from
# `rustup component add llvm-tools`, from Debian's llvm-22 or the like, or as LLVM_PROFDATA=/path/to/llvm-profdata.
set -euo pipefail
cd "$(dirname "$0")/.."

benches=
if [ "${1:-}" = --benches ]; then
    benches=yes
    shift
fi

host=$(rustc -vV | sed -n 's/^host: //p')
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')

# The first llvm-profdata of the same major version as rustc's LLVM: another cannot read, or write, its profiles.
profdata=
for tool in "${LLVM_PROFDATA:-}" "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata" \
    "llvm-profdata-$major" "/usr/lib/llvm-$major/bin/llvm-profdata" llvm-profdata; do
    if [ -n "$tool" ] && [[ $("$tool" merge --version 2>/dev/null) == *"version $major."* ]]; then
        profdata=$tool
        break
    fi
done
if [ -z "$profdata" ]; then
    echo "error: no llvm-profdata of LLVM $major; \`rustup component add llvm-tools\` or the package llvm-$major has one" >&2
    exit 1
fi

pgo=$PWD/target/pgo
# Cargo does not know that the last build depends on the profile, so that one is made from nothing.
rm -rf "$pgo/raw" "$pgo/runs" "$pgo/using" "$pgo/examples" "$pgo/cambio"
mkdir -p "$pgo/raw" "$pgo/runs"
# With a target, the flags hold for the program alone and not for build scripts.
build() {
    local -x CARGO_TARGET_DIR=$pgo/$1 RUSTFLAGS="${RUSTFLAGS:-} $2"
    cargo build --release --locked --target "$host" --package cambio-cli --bin cambio "${@:3}"
    if [ "$benches" ]; then
        cargo build --release --locked --target "$host" --package cambio-benches --example count --example think
    fi
}

echo "== a build that counts"
build counting "-Cprofile-generate=$pgo/raw" "$@"

echo "== training"
# One thread: the counters are shared, and not atomic.
cambio() {
    "$pgo/counting/$host/release/cambio" "$@" >/dev/null
}
cd "$pgo/runs"
play() {
    printf '%s\n' "seed = $1" "deals = $2" "rules = [$3]" "seats = [$4]" "agents = [$5]" "lineups = $6" >"$1.toml"
    cambio run "$1.toml" --out "$1" --quiet --threads 1
}
presets="'original', 'faessler', 'classic'"
play 1 1500 "$presets" "2, 4" "'random', 'random(pass=0.9)'" "'mirror'"
play 2 300 "$presets" "2, 4" "'random', 'greedy', 'heuristic', 'sharp'" "'all'"
play 3 60 "$presets" "3" "'sharp(decay=0.1)', 'sharp(capacity=3)', 'sharp(threshold=0.3)'" "'all'"
play 4 6 "$presets" "2, 4" "'rollout(n=300)', 'heuristic'" "{ field = ['heuristic'] }"
play 5 6 "$presets" "2, 4" "'ismcts(iterations=300)', 'heuristic'" "{ field = ['heuristic'] }"
play 6 6 "$presets" "2" "'ismcts(iterations=300,mode=so)', 'ismcts(iterations=300,mode=mo)'" "'all'"
play 7 3 "$presets" "2" "'rollout(n=300,utility=match,blueprint=sharp)', 'sharp'" "'all'"
for run in 1 2; do
    cambio report "$run"
done
cambio verify 2
cambio run 2.toml --out records --quiet --threads 1 --deals 60 --records
cambio replay records/records.jsonl
cambio solve --game mini-m1 --iterations 50 --quiet
cambio tune --agent 'greedy(call_at=?)' --range 0..15:3 --deals 100 --validate 100 --threads 1 --quiet
if [ "$benches" ]; then
    examples=$pgo/counting/$host/release/examples
    for table in "original 2" "classic 2" "classic 4"; do
        for what in "count $table dealt 2000000" "count $table latent 1000000" "count $table events 500000" \
            "count $table tensors 50000" "think $table rollout(n=300) 40" "think $table ismcts(iterations=300) 40" \
            "think $table ismcts(iterations=300,mode=so) 40"; do
            read -ra words <<<"$what"
            "$examples/${words[0]}" "${words[@]:1}" >/dev/null
        done
    done
fi
cd - >/dev/null
"$profdata" merge --output "$pgo/cambio.profdata" "$pgo/raw"

echo "== the build that knows"
build using "-Cprofile-use=$pgo/cambio.profdata" "$@"
cp "$pgo/using/$host/release/cambio" "$pgo/cambio"
if [ "$benches" ]; then
    mkdir "$pgo/examples"
    cp "$pgo/using/$host/release/examples/"{count,think} "$pgo/examples"
fi
rm -rf "$pgo/raw" "$pgo/runs"
echo "target/pgo/cambio"
