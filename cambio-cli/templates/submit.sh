#!/bin/sh
# Puts the experiment into the store, and submits the parts and the merge, which waits for the parts.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
{{ cambio }} units begin {{ spec }} --store {{ store }}
parts=$(sbatch --parsable --chdir="$here" "$here/play.sbatch")
merge=$(sbatch --parsable --chdir="$here" --dependency="afterok:$parts" --kill-on-invalid-dep=yes "$here/merge.sbatch")
echo "parts: job $parts; merge: job $merge; cambio units show --store {{ store }} shows the progress"
