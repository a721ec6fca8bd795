#!/bin/sh
# Installs the command `cambio` of a release: downloads the program for this system, compares its SHA-256 hash with the hash
# of the release, and copies it into a folder.
#
#     sh install.sh [FOLDER]      the default is ~/.local/bin
#
# The release workflow sets the version. CAMBIO_RELEASE is another address with the files of a release, such as file:///mirror.
set -eu

repository="https://example.org/cambio"
version=v0.1.0
folder=${1:-$HOME/.local/bin}
release=${CAMBIO_RELEASE:-$repository/releases/download/$version}

fail() {
    echo "error: $*" >&2
    exit 1
}

case $(uname -sm) in
"Linux x86_64") system=linux-x86_64 ;;
"Linux aarch64" | "Linux arm64") system=linux-aarch64 ;;
"Darwin arm64") system=macos-aarch64 ;;
"Darwin x86_64") system=macos-x86_64 ;;
*) fail "there is no program for $(uname -sm); build it with Rust: cargo install --path cambio-cli" ;;
esac
name=cambio-$version-$system

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$work/$1" "$release/$1"
    else
        wget --quiet --output-document="$work/$1" "$release/$1"
    fi || fail "cannot download $release/$1"
}
hash_of() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

fetch SHA256SUMS
fetch "$name.tar.gz"
expected=$(sed -n "s|^\([0-9a-f]\{64\}\) [ *]\(\./\)\{0,1\}$name\.tar\.gz\$|\1|p" "$work/SHA256SUMS")
found=$(hash_of "$work/$name.tar.gz")
[ "$expected" = "$found" ] ||
    fail "$name.tar.gz must have the SHA-256 hash ${expected:-in SHA256SUMS}, found $found; nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work" "$name/cambio"
mkdir -p "$folder"
# A running program cannot be overwritten, but it can be replaced.
cp "$work/$name/cambio" "$folder/cambio.new"
mv "$folder/cambio.new" "$folder/cambio"
echo "installed $("$folder/cambio" --version) in $folder"
case :$PATH: in
*:"$folder":*) ;;
*) echo "add $folder to PATH to run it as \`cambio\`" ;;
esac
