"""Compares the kernel with NumPy in float64, on the inputs in data/, element by element, within what rounding explains.

    python3 test.py

Three numbers for every element: what the kernel computes, what program.py computes under NumPy in float64, and how far
an honest computation in the kernel's precision may be off (the bound that Nuscope's running error analysis gave).
"""
import importlib.util
import os
import sys

import numpy as np

import kernel

ALLOWED = 4  # bounds of rounding; the factor of Nuscope's numeric gate


def program():
    spec = importlib.util.spec_from_file_location("program", os.path.join(kernel.FOLDER, "program.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel.MANIFEST["program"])


def wide(array):
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    return array if array.dtype.kind == "b" else array.astype(np.int64)


def worst(got, expected, bound):
    """The largest error in bounds, over the elements that are defined."""
    defined = ~np.isnan(bound)
    error = np.abs(got.astype(np.float64) - expected)[defined]
    bound = bound[defined]
    if error.size == 0:
        return 0.0
    ratio = np.where(error == 0, 0, error / np.where(bound > 0, bound, 1e-300))
    return float(np.where(np.isnan(ratio), np.inf, ratio).max())


def main():
    failed = False
    for number, case in enumerate(kernel.MANIFEST["kernels"], 1):
        def load(name):
            return np.load(os.path.join(kernel.FOLDER, "data", str(number), name + ".npy"), allow_pickle=False)
        inputs = [load(one["name"]) for one in kernel.MANIFEST["inputs"]]
        results = kernel.call(*inputs)
        with np.errstate(all="ignore"):
            oracle = program()(*[wide(array) for array in inputs])
        if len(kernel.MANIFEST["outputs"]) == 1:
            results, oracle = (results,), (oracle,)
        for one, got, numpy_value in zip(kernel.MANIFEST["outputs"], results, oracle):
            expected, bound = load("expected_" + one["name"]), load("bound_" + one["name"])
            kernel_ratio = worst(got, expected, bound)
            numpy_ratio = worst(np.broadcast_to(np.asarray(numpy_value), expected.shape), expected, bound)
            ok = kernel_ratio <= ALLOWED and numpy_ratio <= ALLOWED
            failed = failed or not ok
            print("%s %s at %s: the kernel is off by %.3g, NumPy in float64 by %.3g bounds of rounding; %g are allowed"
                  % ("ok    " if ok else "FAILED", one["name"], case["extents"], kernel_ratio, numpy_ratio, ALLOWED))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
