#!/bin/sh
# Copies an example crate to a folder outside the repository, so that it is a separate project.
#
#     scripts/outside.sh EXAMPLE FOLDER     EXAMPLE is `mine` or `tournament`; FOLDER must not exist
#
# The dependencies of the copy are paths to this repository. The copy gets what Cargo reads only in the repository: the versions
# of the other dependencies (Cargo.lock), the flags of the compiler (.cargo/config.toml), and the profile for release.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ -f "$root/examples/$1/Cargo.toml" ] || { echo "error: EXAMPLE must be \`mine\` or \`tournament\`, found \`$1\`" >&2; exit 1; }
mkdir -p "$(dirname "$2")"
mkdir "$2"
cp -R "$root/examples/$1/." "$2"
mkdir "$2/.cargo"
cp "$root/.cargo/config.toml" "$2/.cargo"
cp "$root/Cargo.lock" "$2"
sed "s|\"\.\./\.\./|\"$root/|" "$root/examples/$1/Cargo.toml" >"$2/Cargo.toml"
{
    echo
    echo "[profile.release.package]"
    sed -n '/^\[profile.release.package\]/,/^$/s/^cambio-.*codegen-units.*/&/p' "$root/Cargo.toml"
} >>"$2/Cargo.toml"
