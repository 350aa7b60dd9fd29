#!/usr/bin/env bash
# Our kernels against OpenBLAS with plain loops, PyTorch, compiled PyTorch and its fused attention, for which the goals
# are, and beside them ONNX Runtime: one table of ratios.
#   bash bench/run.sh                          everything: makes a virtual environment (5 GB), builds, sweeps, races
#   bash bench/run.sh --only softmax --threads 1
#   bash bench/run.sh --again                  races the kernels of the last run
#   bash bench/run.sh --small                  one small shape without PyTorch (seconds; the test runs it)
#   bash bench/run.sh --functions              errors of exp, log, tanh, sin and cos over all 2^32 floats
#   bash bench/run.sh --parts                  parsing, spaces, emission and model alone (needs libbenchmark-dev)
# NUSCOPE: an executable that is built already. NUSCOPE_BENCH_PYTHON: a Python that has torch, onnx and onnxruntime. See bench.py -h.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${NUSCOPE_BENCH_WORK:-build/bench}
mkdir -p "$work"

if [ "${1:-}" = --functions ]; then
  exec bash bench/functions.sh "$work"
fi
if [ "${1:-}" = --parts ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target nuscope_parts >/dev/null ||
    { echo "install libbenchmark-dev (Google Benchmark) first" >&2; exit 1; }
  exec build/release/bench/nuscope_parts
fi
if [ -z "${NUSCOPE:-}" ]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target nuscope >/dev/null
  NUSCOPE=build/release/bin/nuscope
fi
python=${NUSCOPE_BENCH_PYTHON:-python3}
if [ -z "${NUSCOPE_BENCH_PYTHON:-}" ] && [[ " $* " != *" --small "* ]]; then
  python=$work/venv/bin/python
  if ! "$python" -c "import torch, onnx, onnxruntime" 2>/dev/null; then
    echo "Installing PyTorch and ONNX Runtime into $work/venv (minutes, 5 GB)" >&2
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet torch numpy onnx onnxruntime
  fi
fi
exec "$python" bench/bench.py --nuscope "$NUSCOPE" --work "$work" "$@"
