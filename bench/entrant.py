"""One entrant of the race in a process of its own: commands come in as lines of JSON, answers go out the same way.

    entrant.py JOB        JOB: JSON with kind, program, shapes, extents, threads and what the kind needs

Kinds: "ours" (an exported folder), "plain" (peers.so: OpenBLAS and plain loops), "eager", "compile", "fused" (PyTorch),
"onnx" (ONNX Runtime).
Commands: {"do": "time", "warm": n, "count": n, "cold": false} -> samples in seconds; {"do": "save", "file": path}.
"""
import ctypes
import json
import math
import os
import sys
import time


def buffers(peers, shapes, seed):
    """Arrays at the start of a page; inputs are filled the same way in every process."""
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype = ctypes.c_void_p
    libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    made = []
    for i, shape in enumerate(shapes):
        count = math.prod(shape)
        memory = libc.aligned_alloc(4096, (4 * count + 8191) // 4096 * 4096)
        peers.bench_fill(ctypes.c_void_p(memory), ctypes.c_int64(count), ctypes.c_uint(seed + i))
        made.append((memory, count))
    return made


def ours(job, arrays):
    function = getattr(ctypes.CDLL(job["library"]), job["function"])
    arguments = [ctypes.c_void_p(memory) for memory, _ in arrays] + [ctypes.c_int(job["threads"])]
    return lambda: function(*arguments)


def plain(job, arrays, peers):
    peers.peer_set_threads(ctypes.c_int(job["threads"]))
    function = getattr(peers, "peer_" + job["program"])
    extents = (ctypes.c_int64 * len(job["extents"]))(*job["extents"])
    pointers = (ctypes.c_void_p * len(arrays))(*[memory for memory, _ in arrays])
    return lambda: function(extents, pointers)


def torch_call(job, arrays):
    import torch
    import cases
    torch.set_num_threads(job["threads"])
    torch.set_grad_enabled(False)
    inputs = []
    for (memory, count), shape in zip(arrays[:-1], job["shapes"][:-1]):
        data = (ctypes.c_float * count).from_address(memory)
        inputs.append(torch.frombuffer(data, dtype=torch.float32).reshape(shape))
    function = cases.torch_functions(job["program"])[job["kind"]]
    function(*inputs)
    return lambda: function(*inputs)


def onnx_call(job, arrays):
    import numpy
    import onnx.parser
    import onnxruntime
    import cases
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job["threads"]
    options.inter_op_num_threads = 1
    model = onnx.parser.parse_model(cases.onnx_text(job["program"], job["shapes"]))
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    names = [one.name for one in session.get_inputs() + session.get_outputs()]
    bind = [binding.bind_input] * (len(names) - 1) + [binding.bind_output]
    for name, shape, (memory, _), to in zip(names, job["shapes"], arrays, bind):
        to(name, "cpu", 0, numpy.float32, shape, memory)
    return lambda: session.run_with_iobinding(binding)


def main():
    job = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print goes to standard error
    peers = ctypes.CDLL(job["peers"])
    arrays = buffers(peers, job["shapes"], 1)
    if job["kind"] == "ours":
        call = ours(job, arrays)
    elif job["kind"] == "plain":
        call = plain(job, arrays, peers)
    elif job["kind"] == "onnx":
        call = onnx_call(job, arrays)
    else:
        call = torch_call(job, arrays)
    if hasattr(os, "sched_setaffinity"):  # after compilers and pools have started: they inherit nothing
        allowed = sorted(os.sched_getaffinity(0))
        if job["threads"] == 1:
            os.sched_setaffinity(0, allowed[-1:])

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    answer({"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "save":
            result = call()
            memory, count = arrays[-1]
            data = bytes((ctypes.c_char * (4 * count)).from_address(memory))
            if hasattr(result, "numpy"):
                result = result.contiguous()
                data = ctypes.string_at(result.data_ptr(), 4 * count)
            with open(command["file"], "wb") as out:
                out.write(data)
            answer({"count": count})
            continue
        for _ in range(command["warm"]):
            call()
        samples = []
        for _ in range(command["count"]):
            if command["cold"]:
                peers.bench_flush()
            start = time.perf_counter()
            call()
            samples.append(time.perf_counter() - start)
        answer({"samples": samples})


main()
