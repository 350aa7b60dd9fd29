#!/usr/bin/env bash
# The errors of exp, log, tanh, sin and cos over all 2^32 floats, for the vectors of this machine: minutes.
#   bash bench/functions.sh [WORK]
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-build/bench}
mkdir -p "$work"
lanes=4
if grep -q -m1 ' avx2 ' /proc/cpuinfo; then lanes=8; fi
if grep -q -m1 ' avx512f ' /proc/cpuinfo; then lanes=16; fi
c++ -std=c++17 -O3 -march=native -ffp-contract=fast -fwrapv -fno-math-errno -fno-trapping-math -Wno-psabi \
  -DNUSCOPE_LANES=$lanes -DNUSCOPE_ALL_FLOATS -Icore/emit/runtime tests/emit/runtime_checks.cpp \
  -o "$work/functions" -lm -pthread
echo "vectors of $lanes floats"
exec "$work/functions"
