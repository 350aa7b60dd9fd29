"""The exported kernel as an operator of PyTorch, on the CPU, also under torch.compile.

    import torch_op
    y = torch_op.op(x, w, threads=2)       # or torch.ops.nuscope_export.NAME(x, w, 2)

Tensors must be on the CPU and of the kernel's dtypes; others raise TypeError, extents that were not exported ValueError.
There is no gradient: a tensor that requires one raises. `python3 torch_op.py` checks the operator on data/ and times it.
"""
import os
import sys
import time

try:
    import torch
except ImportError as error:
    raise ImportError("torch_op.py needs PyTorch (pip install torch). Without it, kernel.py calls the same kernel on "
                      "NumPy arrays.") from error

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernel  # noqa: E402

_DTYPES = {"f64": torch.float64, "f32": torch.float32, "i32": torch.int32, "i8": torch.int8, "bool": torch.bool}
NAMESPACE = "nuscope_export"
NAME = kernel.NAME


def _empty_results(tensors, device):
    extents = kernel.extents_of([tuple(tensor.shape) for tensor in tensors])
    results = [torch.empty(shape, dtype=_DTYPES[one["dtype"]], device=device)
               for one, shape in zip(kernel.MANIFEST["outputs"], kernel.result_shapes(extents))]
    return extents, results


def _returned(results):
    return results[0] if len(results) == 1 else tuple(results)


def _cpu(*arguments):
    *tensors, threads = arguments
    for one, tensor in zip(kernel.MANIFEST["inputs"], tensors):
        if tensor.dtype != _DTYPES[one["dtype"]]:
            raise TypeError("%s is %s; %s is expected" % (one["name"], tensor.dtype, _DTYPES[one["dtype"]]))
    tensors = [tensor.contiguous() for tensor in tensors]
    extents, results = _empty_results(tensors, "cpu")
    kernel.call_pointers(extents, [tensor.data_ptr() for tensor in tensors + results], threads)
    return _returned(results)


def _meta(*arguments):
    return _returned(_empty_results(arguments[:-1], "meta")[1])


_library = torch.library.Library(NAMESPACE, "FRAGMENT")
_library.define("%s(%s, int threads) -> %s" % (
    NAME, ", ".join("Tensor in%d" % i for i in range(len(kernel.MANIFEST["inputs"]))),
    "Tensor" if len(kernel.MANIFEST["outputs"]) == 1
    else "(%s)" % ", ".join(["Tensor"] * len(kernel.MANIFEST["outputs"]))))
_library.impl(NAME, _cpu, "CPU")
_library.impl(NAME, _meta, "Meta")


def op(*inputs, threads=kernel.MANIFEST["threads"]):
    """The result, or a tuple of them."""
    for one, tensor in zip(kernel.MANIFEST["inputs"], inputs):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type not in ("cpu", "meta"):
            raise TypeError("%s must be a tensor on the CPU" % one["name"])
        if tensor.requires_grad and torch.is_grad_enabled():
            raise TypeError("%s requires a gradient, and the kernel has none; call it under torch.no_grad()" % one["name"])
    return getattr(getattr(torch.ops, NAMESPACE), NAME)(*inputs, threads)


def main():
    import numpy as np
    failed = False
    for number, case in enumerate(kernel.MANIFEST["kernels"], 1):
        def load(name):
            return np.load(os.path.join(kernel.FOLDER, "data", str(number), name + ".npy"), allow_pickle=False)
        inputs = [torch.from_numpy(load(one["name"]).copy()) for one in kernel.MANIFEST["inputs"]]
        results = op(*inputs)
        results = (results,) if isinstance(results, torch.Tensor) else results
        for one, got in zip(kernel.MANIFEST["outputs"], results):
            expected, bound = load("expected_" + one["name"]), load("bound_" + one["name"])
            error = np.abs(got.numpy().astype(np.float64) - expected)
            with np.errstate(invalid="ignore"):
                ok = bool(np.all((error <= 4 * bound) | np.isnan(bound)))
            failed = failed or not ok
            print("%s %s at %s" % ("ok    " if ok else "FAILED", one["name"], case["extents"]))
        samples = []
        for _ in range(21):
            start = time.perf_counter()
            op(*inputs)
            samples.append(time.perf_counter() - start)
        print("       torch.ops.%s.%s: median %.3f ms, %d threads"
              % (NAMESPACE, NAME, sorted(samples)[10] * 1e3, kernel.MANIFEST["threads"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
