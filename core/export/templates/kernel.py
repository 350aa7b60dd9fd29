"""Calls the exported kernel on NumPy arrays. Everything it knows of the kernel stands in manifest.json.

    import kernel
    y = kernel.call(x, w, threads=2)      # inputs in the program's order; a new array for every result

Errors are exceptions with a sentence: another dtype or shape, extents that were not exported, a violated assert, a
processor that lacks an instruction set. Build the library first; `python3 kernel.py` says how.
"""
import ctypes
import json
import os

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, "manifest.json")) as _file:
    MANIFEST = json.load(_file)
NAME = MANIFEST["function"]
_DTYPES = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i8": np.int8, "bool": np.bool_}


def library_path():
    """Where the built library is; FileNotFoundError says how to build it."""
    for folder in (FOLDER, os.path.join(FOLDER, "build")):
        path = os.path.join(folder, MANIFEST["library"])
        if os.path.exists(path):
            return path
    raise FileNotFoundError(
        "%s is not built yet. Build it in %s:\n  %s\nor: cmake -B build && cmake --build build"
        % (MANIFEST["library"], FOLDER, MANIFEST["compile"]))


_library = None


def library():
    global _library
    if _library is None:
        loaded = ctypes.CDLL(library_path())
        getattr(loaded, NAME + "_error").restype = ctypes.c_char_p
        getattr(loaded, NAME + "_for").restype = ctypes.c_int
        _library = loaded
    return _library


def _extent(dimension, extents):
    """The value of an extent such as "2*H" or "N // 4"."""
    return eval(dimension, {"__builtins__": {}}, extents)


def extents_of(shapes, given=None):
    """The extents of all dimensions from the shapes of the inputs; ValueError where they disagree."""
    extents = dict(given or {})
    for one, shape in zip(MANIFEST["inputs"], shapes):
        if len(shape) != len(one["dims"]):
            raise ValueError("%s has %d axes; %s is expected" % (one["name"], len(shape), one["dims"]))
        for dimension, extent in zip(one["dims"], shape):
            if dimension in MANIFEST["dimensions"]:
                extents.setdefault(dimension, int(extent))
    for dimension in MANIFEST["dimensions"]:
        if dimension not in extents:
            raise ValueError("no input's shape gives the extent of %s: pass extents={'%s': ...}" % (dimension, dimension))
    for one, shape in zip(MANIFEST["inputs"], shapes):
        expected = tuple(_extent(dimension, extents) for dimension in one["dims"])
        if tuple(shape) != expected:
            raise ValueError("%s has the shape %s; %s = %s is expected"
                             % (one["name"], tuple(shape), one["dims"], expected))
    return extents


def result_shapes(extents):
    return [tuple(_extent(dimension, extents) for dimension in one["dims"]) for one in MANIFEST["outputs"]]


def call_pointers(extents, pointers, threads):
    """Inputs, then results, as addresses; ValueError with the kernel's own sentence."""
    list_of_extents = (ctypes.c_int64 * max(1, len(MANIFEST["dimensions"])))(
        *[extents[dimension] for dimension in MANIFEST["dimensions"]])
    code = getattr(library(), NAME + "_for")(list_of_extents, *[ctypes.c_void_p(p) for p in pointers],
                                             ctypes.c_int(threads))
    if code != 0:
        sentence = getattr(library(), NAME + "_error")(code).decode()
        raise ValueError("%s (code %d, extents %s)" % (sentence, code, extents))


def call(*inputs, threads=MANIFEST["threads"], extents=None):
    """The result, or a tuple of them."""
    if len(inputs) != len(MANIFEST["inputs"]):
        raise TypeError("%d inputs are expected: %s"
                        % (len(MANIFEST["inputs"]), ", ".join(one["name"] for one in MANIFEST["inputs"])))
    arrays = []
    for one, value in zip(MANIFEST["inputs"], inputs):
        array = np.asarray(value)
        if array.dtype != _DTYPES[one["dtype"]]:
            raise TypeError("%s is %s; %s is expected" % (one["name"], array.dtype, np.dtype(_DTYPES[one["dtype"]])))
        arrays.append(array if array.flags.c_contiguous else np.ascontiguousarray(array))
    found = extents_of([array.shape for array in arrays], extents)
    results = [np.empty(shape, _DTYPES[one["dtype"]])
               for one, shape in zip(MANIFEST["outputs"], result_shapes(found))]
    call_pointers(found, [array.ctypes.data for array in arrays + results], threads)
    return results[0] if len(results) == 1 else tuple(results)


if __name__ == "__main__":
    print(library_path())
