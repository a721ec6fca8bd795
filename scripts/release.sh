#!/usr/bin/env bash
# Builds all files of a release on this machine, into target/release-VERSION: the program, the wheel, the crates, the first rows of
# the published runs, the book with the site to play on, and checksums. Publishes nothing; CONTRIBUTING.md lists what a person does
# before and after.
#
#     scripts/release.sh
#
# The release workflow builds the same for all systems. Needs Python 3.10; with cargo-pgo, the program is the faster one of
# scripts/pgo.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/release-$version
say() { echo "== $*" >&2; }
fail() {
    echo "error: $*" >&2
    exit 1
}

say "checking version $version"
[ -z "$(git status --porcelain)" ] || fail "the working tree has changes; commit or remove them"
[ ! -e "$out" ] || fail "$out exists; move it away"
has_version() { grep -q -- "$2" "$1" || fail "$1 has another version than Cargo.toml; expected a line that matches $2"; }
has_version CHANGELOG.md "^## \[$version\]"
has_version CITATION.cff "^version: $version$"
has_version cambio-py/Cargo.toml "^version = \"$version\"$"
has_version scripts/install.sh "^version=v$version$"
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)
for file in CITATION.cff cambio-py/pyproject.toml scripts/install.sh examples/mine/Cargo.toml; do
    grep -q "\"$repository\"" "$file" || fail "$file has another address than Cargo.toml; expected \"$repository\""
done
python3 scripts/results.py --check
# Files appear in the folder only when all of them are there.
new=$out.new
rm -rf "$new"
mkdir -p "$new"

# The names that scripts/install.sh expects.
case $(uname -sm) in
"Linux x86_64") system=linux-x86_64 ;;
"Linux aarch64") system=linux-aarch64 ;;
"Darwin arm64") system=macos-aarch64 ;;
"Darwin x86_64") system=macos-x86_64 ;;
*) fail "releases are built on Linux or macOS, on x86-64 or ARM; found $(uname -sm)" ;;
esac
say "the program for $system"
if cargo pgo --version >/dev/null 2>&1; then
    scripts/pgo.sh
    program=target/pgo/cambio
else
    echo "without profile-guided optimisation, which needs cargo-pgo and llvm-tools" >&2
    cargo build --quiet --profile dist --locked --package cambio-cli --bin cambio
    program=$target/dist/cambio
fi
"$program" --version
name=cambio-v$version-$system
mkdir "$new/$name"
cp -r "$program" README.md RULES.md PROTOCOL.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT experiments "$new/$name"
cargo run --quiet --locked --package cambio-cli --example manual -- "$new/$name/manual"
tar -C "$new" -czf "$new/$name.tar.gz" "$name"
rm -r "${new:?}/$name"
sed "s/^version=.*/version=v$version/" scripts/install.sh > "$new/install.sh"

say "the first rows of the published runs"
python3 scripts/results.py --rows "$new/rows" --cambio "$program"
tar -C "$new" -czf "$new/cambio-rows.tar.gz" rows
rm -r "${new:?}/rows"

say "the wheel"
python3 -m venv --clear "$target/wheel"
"$target/wheel/bin/pip" install --quiet 'maturin>=1.16,<2'
(cd cambio-py && "$target/wheel/bin/maturin" build --quiet --profile dist --locked --out "$new")
"$target/wheel/bin/pip" install --quiet "$new"/*.whl
(cd / && "$target/wheel/bin/python" -c 'import cambio_game; print(cambio_game.evaluate("greedy", "random", deals=20))')

say "the crates, each compiled from its package"
cargo publish --workspace --dry-run --quiet
# Publishing keeps no packages, so they are made once more, without compiling. It leaves out crates that are not published.
excluded=(--exclude cambio-benches)
for project in examples/*/Cargo.toml; do excluded+=(--exclude "$(basename "$(dirname "$project")")"); done
cargo package --workspace "${excluded[@]}" --no-verify --quiet
mkdir "$new/crates"
cp "$target"/package/*-"$version".crate "$new/crates"

say "the book, with the site to play on"
python3 scripts/book.py build
python3 scripts/book.py links
[ -f "$target/book/play/index.html" ] || fail "the book has no site; install the Rust target wasm32-unknown-unknown"
tar -C "$target" -czf "$new/cambio-book.tar.gz" book

say "checksums, and a test of the installer"
(cd "$new" && find . -type f | sort | xargs sha256sum > "$target/SHA256SUMS" && mv "$target/SHA256SUMS" .)
CAMBIO_RELEASE=file://$new sh "$new/install.sh" "$target/installed"
"$target/installed/cambio" --version
rm -r "$target/installed"
mv "$new" "$out"
say "$out"
(cd "$out" && find . -type f -exec ls -l {} + | awk '{ print $5, $9 }' | sort -k 2)
