#!/usr/bin/env bash
# Installs what is missing, builds and runs every test (about twenty minutes on two cores with an empty cache).
#   bash tests/run.sh [ctest arguments]      e.g. bash tests/run.sh -R proof
#   NUSCOPE_PRESET=asan bash tests/run.sh    under the address and undefined-behaviour sanitizers
set -euo pipefail
cd "$(dirname "$0")/.."
. app/packages.sh
install_packages $nuscope_build_packages $nuscope_run_packages $nuscope_test_packages

preset=${NUSCOPE_PRESET:-dev}
cmake --preset "$preset"
cmake --build --preset "$preset"
export QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES="qt.qpa.*=false"
ctest --preset "$preset" "$@"
