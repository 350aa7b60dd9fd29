#!/usr/bin/env bash
# Installs what is missing, builds Nuscope, and does the main job: with a display it opens the explorer on the example;
# without one it explores and sweeps the example on this host and says where the report lies.
#   bash app/run.sh [PROGRAM.py]
set -euo pipefail
cd "$(dirname "$0")/.."
. app/packages.sh
install_packages $nuscope_build_packages $nuscope_run_packages libgtest-dev

cmake --preset release >/dev/null
cmake --build --preset release --target nuscope nuscope-explorer nuscope-layout
bin=build/release/bin
program=${1:-resources/programs/rmsnorm_matmul.py}

if [ -n "${DISPLAY:-}" ] || [ -n "${WAYLAND_DISPLAY:-}" ]; then
  exec "$bin/nuscope-explorer" "$program"
fi

name=$(basename "$program" .py)
out=build/example
mkdir -p "$out"
study="$out/$name.nuscope"
echo "No display: exploring and sweeping $program on this host."
"$bin/nuscope" explore "$program" -o "$study"
shape=()
[ "$name" != rmsnorm_matmul ] || shape=(--shape M=512,K=1024,N=1024)
"$bin/nuscope" sweep "$study" --device host "${shape[@]}" --budget "${NUSCOPE_BUDGET:-60s}"
"$bin/nuscope" report "$study" -o "$out/$name-report"
echo "The report: $PWD/$(find "$out/$name-report" -name '*.html' | head -1)"
