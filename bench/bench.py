"""Races exported kernels against OpenBLAS with plain loops, PyTorch and ONNX Runtime, and prints one table. See run.sh.

Each entrant is a process of its own; they are timed in turns, a few calls at a time, so that all see the same machine.
A ratio is the median of the peer's calls over the median of ours; its spread, the quartiles of the ratios of the single
turns. Every result is compared with that of the plain loops first.
"""
import argparse
import array
import ctypes
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TOLERANCE = 1e-4  # of the largest element; rounding alone, the gate of the sweep is finer


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        sys.exit("%s\nended with %d:\n%s" % (" ".join(command), done.returncode, done.stderr[-3000:]))
    return done.stdout


def build_peers(folder):
    library = os.path.join(folder, "peers.so")
    run(["c++", "-std=c++17", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-Wno-psabi",
         os.path.join(HERE, "peers.cpp"), "-o", library, "-ldl"])
    return library


class Kernel:
    """A built kernel: the winner of a short sweep, exported; or what the presets give."""

    def __init__(self, options, case, threads):
        self.options, self.case, self.threads = options, case, threads
        shape = case.shape.replace(",", "-").replace("=", "")
        self.folder = os.path.join(options.work, "%s-%s-%d" % (case.program, shape, threads))
        self.source = os.path.join(ROOT, "resources/programs", case.program + ".py")
        if options.presets:
            self.emit()
            return
        manifest = os.path.join(self.folder, "manifest.json")
        if not options.again or not os.path.exists(manifest):
            self.sweep()
        with open(manifest) as file:
            exported = json.load(file)
        self.function = exported["function"]
        self.library = os.path.join(self.folder, exported["library"])
        best = exported["kernels"][0]
        self.text = "variant %s, %s" % (best["variant"], best["parameters"])

    def sweep(self):
        options, study = self.options, self.folder + ".nuscope"
        say("sweeping %s at %s, %d thread(s), for %s" % (self.case.program, self.case.shape, self.threads, options.budget))
        for path in (study, study + "-wal", study + "-shm"):
            if os.path.exists(path):
                os.remove(path)
        shutil.rmtree(self.folder, ignore_errors=True)
        run([options.nuscope, "sweep", self.source, "--shape", self.case.shape, "--threads", str(self.threads),
             "--budget", options.budget, "--no-baselines", "-o", study])
        run([options.nuscope, "export", study, "-o", self.folder])
        with open(os.path.join(self.folder, "manifest.json")) as file:
            run(["sh", "-c", json.load(file)["compile"]], cwd=self.folder)

    def emit(self):
        text = self.folder + ".cpp"
        command = [self.options.nuscope, "emit", self.source, "--shape", self.case.shape, "--json"]
        for setting in self.options.set:
            command += ["--set", setting]
        emitted = json.loads(run(command))
        with open(text, "w") as file:
            file.write(emitted["text"])
        self.function, self.library = emitted["function"], self.folder + ".so"
        run([{"{source}": text, "{output}": self.library}.get(word, word) for word in emitted["compile"]])
        self.text = "presets"


class Entrant:
    """A process that times one way of computing the case."""

    def __init__(self, options, case, threads, kind, **more):
        job = dict(kind=kind, program=case.program, shapes=case.arrays, extents=list(case.extents.values()),
                   threads=threads, peers=options.peers, **more)
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                           OMP_WAIT_POLICY="passive" if kind == "plain" else "active",
                           TORCHINDUCTOR_CACHE_DIR=os.path.join(options.work, "inductor"))
        if kind != "plain":
            environment.pop("OMP_WAIT_POLICY")
        environment.pop("OPENBLAS_CORETYPE", None)
        self.name = kind
        self.process = subprocess.Popen([options.python, os.path.join(HERE, "entrant.py"), json.dumps(job)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                                        stderr=None if options.verbose else subprocess.DEVNULL)
        self.turns = []
        self.cold = []

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the entrant %s ended (%s); --verbose shows why" % (self.name, self.process.wait()))
        return json.loads(line)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def save(self, path):
        self.ask(do="save", file=path)
        values = array.array("f")
        with open(path, "rb") as file:
            values.frombytes(file.read())
        return values

    def samples(self):
        return [sample for turn in self.turns for sample in turn]

    def median(self):
        return statistics.median(self.samples())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(options, case, entrants):
    """Every result against that of the plain loops: a fast wrong answer is none."""
    peers = ctypes.CDLL(options.peers)
    peers.bench_difference.restype = ctypes.c_double
    path = os.path.join(options.work, "result.bin")
    reference = next(one for one in entrants if one.name == "plain").save(path)
    for entrant in entrants:
        if entrant.name == "companion":
            continue
        values = entrant.save(path)
        pointers = [(ctypes.c_float * len(v)).from_buffer(v) for v in (values, reference)]
        difference = peers.bench_difference(pointers[0], pointers[1], ctypes.c_int64(len(values)))
        if not difference <= TOLERANCE:
            sys.exit("%s: %s differs from the plain loops by %g of the largest element" %
                     (case.name, entrant.name, difference))


def race(options, threads, entrants):
    for entrant in entrants:  # how many calls a turn of about 25 ms has
        once = min(entrant.ask(do="time", warm=3, count=5, cold=False)["samples"])
        entrant.count = max(3, min(100, int(0.025 / once)))
    start = time.monotonic()
    turn = 0
    while turn < options.turns and (turn < 4 or time.monotonic() - start < options.seconds):
        for entrant in entrants if turn % 2 == 0 else entrants[::-1]:
            if threads > 1:
                time.sleep(0.03)  # until threads of the one before have stopped spinning
            entrant.turns.append(entrant.ask(do="time", warm=2, count=entrant.count, cold=False)["samples"])
        turn += 1
    for _ in range(options.cold):
        for entrant in entrants:
            entrant.cold += entrant.ask(do="time", warm=0, count=3, cold=True)["samples"]


def ratio(peer, ours):
    """Of medians, with the quartiles over turns."""
    turns = sorted(statistics.median(p) / statistics.median(o) for p, o in zip(peer.turns, ours.turns))
    at = lambda share: turns[min(len(turns) - 1, max(0, round(share * (len(turns) - 1))))]
    return peer.median() / ours.median(), at(0.25), at(0.75)


def measure(options, case, threads):
    kernel = Kernel(options, case, threads)
    entrants = [Entrant(options, case, threads, "ours", library=kernel.library, function=kernel.function)]
    entrants += [Entrant(options, case, threads, kind) for kind in ["plain"] + options.kinds
                 if kind != "fused" or case.program == "attention"]
    companion = cases.companion(case)
    if companion is not None:
        other = Kernel(options, companion, threads)
        entrants.append(Entrant(options, companion, threads, "ours", library=other.library, function=other.function))
        entrants[-1].name = "companion"
    for entrant in entrants:  # all start at once: PyTorch and its compiler take their time
        entrant.answer()
    compare(options, case, entrants)
    race(options, threads, entrants)
    ours, peers = entrants[0], [one for one in entrants[1:] if one.name != "companion"]
    best = min((one for one in peers if one.name not in BESIDE), key=Entrant.median)
    row = {"case": case.name, "shape": case.shape, "threads": threads, "goal": case.goal, "kernel": kernel.text,
           "ours_ms": ours.median() * 1e3, "gflops": case.flops / ours.median() * 1e-9,
           "peers_ms": {one.name: one.median() * 1e3 for one in peers},
           "ratios": {one.name: ratio(one, ours) for one in peers}, "best": best.name,
           "cold": {one.name: statistics.median(one.cold) / statistics.median(ours.cold) for one in peers
                    if one.cold and ours.cold},
           "cold_ms": statistics.median(ours.cold) * 1e3 if ours.cold else None}
    if companion is not None:
        row["over_matmul"] = [1 / x for x in ratio(entrants[-1], ours)]
    for entrant in entrants:
        entrant.close()
    return row


BESIDE = ("onnx",)  # raced and shown, but the goals are of the other peers
NAMES = {"plain": "BLAS+loops", "eager": "torch", "compile": "compiled", "fused": "fused", "onnx": "onnxruntime"}


def show(row):
    peers = "  ".join("%s %.3f" % (NAMES[name], ms) for name, ms in row["peers_ms"].items())
    value, low, high = row["ratios"][row["best"]]
    text = "%-15s %d  ours %8.3f ms" % (row["case"], row["threads"], row["ours_ms"])
    text += "  best peer %-10s  ratio %5.2f (%.2f .. %.2f)  goal %.2f %s" % (
        NAMES[row["best"]], value, low, high, row["goal"], "met" if value >= row["goal"] else "MISSED")
    if row["cold"]:
        text += "  cold %.2f" % row["cold"][row["best"]]
    if row["gflops"]:
        text += "  %.0f GFLOP/s" % row["gflops"]
    text += "\n" + " " * 19 + peers + " ms"
    for name in BESIDE:
        if name in row["ratios"]:
            text += "\n" + " " * 19 + "against %s: %.2f (%.2f .. %.2f)" % ((NAMES[name],) + tuple(row["ratios"][name]))
    if "over_matmul" in row:
        value, low, high = row["over_matmul"][0], row["over_matmul"][2], row["over_matmul"][1]
        text += "\n" + " " * 19 + "%.3f (%.3f .. %.3f) times our matmul of that shape, goal 1.04 %s" % (
            value, min(low, high), max(low, high), "met" if value <= 1.04 else "MISSED")
    print(text, flush=True)


def lead(ratios, without):
    """Our lead over the fastest of the peers: the smallest ratio."""
    return min(value[0] for name, value in ratios.items() if name not in without)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def machine(options, threads):
    peers = ctypes.CDLL(options.peers)
    peers.peer_blas_core.restype = ctypes.c_char_p
    for name in ("bench_fma_peak", "bench_read_bandwidth", "bench_copy_bandwidth"):
        getattr(peers, name).restype = ctypes.c_double
    facts = {"openblas_core": peers.peer_blas_core().decode(), "fma_peak_gflops": peers.bench_fma_peak()}
    facts["read_gbs"] = {t: peers.bench_read_bandwidth(t) for t in threads}
    facts["copy_4mib_gbs"] = {t: peers.bench_copy_bandwidth(ctypes.c_int64(4 << 20), t) for t in threads}
    with open("/proc/cpuinfo") as file:
        facts["processor"] = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    return facts


def showMachine(facts):
    pair = lambda values: ", ".join("%.1f (%d)" % (value, t) for t, value in values.items())
    print("%s; OpenBLAS core %s; multiply-add peak %.1f GFLOP/s a core; GB/s (threads): reading memory %s, "
          "reading and writing 4 MiB arrays %s\n" %
          (facts["processor"], facts["openblas_core"], facts["fma_peak_gflops"], pair(facts["read_gbs"]),
           pair(facts["copy_4mib_gbs"])), flush=True)


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nuscope", required=True, help="the executable")
    parser.add_argument("--work", required=True, help="folder for studies, kernels and the result")
    parser.add_argument("--only", action="append", default=[], help="these programs only (repeatable)")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget", help="of each sweep (default: 60s; small: 4 candidates)")
    parser.add_argument("--again", action="store_true", help="race the kernels of the last run, sweep nothing")
    parser.add_argument("--prepare", action="store_true", help="sweep and build only")
    parser.add_argument("--presets", action="store_true", help="kernels as emitted without a sweep")
    parser.add_argument("--set", action="append", default=[], metavar="K=V", help="a parameter, with --presets")
    parser.add_argument("--small", action="store_true", help="one small shape without PyTorch: for the tests")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=6, help="of each race")
    parser.add_argument("--cold", type=int, default=2, help="turns with cold caches")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    options.python = sys.executable
    options.work = os.path.abspath(options.work)
    options.budget = options.budget or ("4" if options.small else "60s")
    if options.small:
        options.turns, options.seconds, options.cold = 4, 1, 0
    options.kinds = [] if options.small else ["eager", "compile", "fused", "onnx"]
    return options


def main():
    options = options_of(sys.argv[1:])
    os.makedirs(options.work, exist_ok=True)
    options.peers = build_peers(options.work)
    threads = [int(t) for t in options.threads.split(",")]
    chosen = [case for case in (cases.small() if options.small else cases.cases())
              if not options.only or case.program in options.only]
    if options.prepare:
        for t in threads:
            for case in chosen:
                for one in filter(None, (case, cases.companion(case))):
                    Kernel(options, one, t)
        return
    facts = machine(options, threads)
    showMachine(facts)
    rows = []
    for t in threads:
        for case in chosen:
            rows.append(measure(options, case, t))
            show(rows[-1])
        mine = [row["ratios"] for row in rows if row["threads"] == t]
        without = [lead(ratios, BESIDE) for ratios in mine]
        text = "geometric mean, %d thread(s): %.2f, goal 1.4" % (t, mean(without))
        if any(name in ratios for ratios in mine for name in BESIDE):
            text += "; with %s among the peers %.2f" % (", ".join(NAMES[name] for name in BESIDE),
                                                       mean([lead(ratios, ()) for ratios in mine]))
        print(text + "\n", flush=True)
    with open(os.path.join(options.work, "result.json"), "w") as file:
        json.dump({"machine": facts, "rows": rows}, file, indent=1)


main()
