"""Do two programs agree? NumPy's answer, with seeds, shapes and distributions of its own.

    python3 oracle.py --seed N < pairs     one JSON object a line: left, right, and effort (draws)
    one JSON object a line comes back: verdict "agree" (with the number of draws), "differ" (with dims and inputs),
    "rounding" (differs in float64, but not once it is computed more precisely) or "none" (no inputs, or it fails)

A difference counts if it is there in float64 and in long double and if the last digits of the inputs do not decide
it, or if exact fractions show it.
"""
import argparse
import json
import re
import signal
import sys
import warnings
from fractions import Fraction

import numpy as np

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")


class TooLong(Exception):
    """One pair took too long."""


def parameters(text):
    head = text[text.rindex("def "):]
    head = head[head.index("(") + 1:head.index("):")]
    result = []
    for name, kind, dims in re.findall(r"(\w+): (f32|i32)(?:\[([^\]]*)\])?", head):
        result.append((name, kind, [d.strip() for d in dims.split(",") if d.strip()]))
    return result


def compiled(text):
    scope = {}
    exec(compile(text, "program", "exec"), scope)
    names = re.findall(r"^def (\w+)\(", text, re.M)
    return scope[names[-1]]


def reals(rng, shape):
    way = int(rng.integers(0, 12))
    if way == 0:
        return rng.normal(0, 2, shape)
    if way == 1:
        return rng.uniform(-1, 1, shape)
    if way == 2:
        return rng.uniform(0.05, 3, shape)
    if way == 3:
        return -rng.uniform(0.05, 3, shape)
    if way == 4:
        return rng.integers(-2, 3, shape).astype(float)
    if way == 5:
        return rng.integers(-20, 21, shape) / 4
    if way == 6:
        return rng.integers(0, 2, shape).astype(float)
    if way == 7:
        return np.where(rng.random(shape) < 0.4, 0.0, rng.normal(0, 1, shape))
    if way == 8:
        return np.full(shape, float(rng.choice([-2, -1, -0.5, 0, 0.5, 1, 2, 3])))
    if way == 9:
        return rng.normal(0, 6, shape)
    if way == 10:
        return np.zeros(shape)
    return np.sort(rng.normal(0, 1, int(np.prod(shape, dtype=int)))).reshape(shape)


def integers(rng, shape):
    way = int(rng.integers(0, 7))
    if way == 0:
        return rng.integers(-9, 10, shape)
    if way == 1:
        return rng.integers(-200, 201, shape)
    if way == 2:
        return rng.integers(0, 10, shape)
    if way == 3:
        return rng.integers(0, 130, shape)
    if way == 4:
        return 12 * rng.integers(-5, 6, shape)
    if way == 5:
        return rng.integers(1, 5, shape)
    return rng.integers(0, 2, shape)


def evaluate(call, inputs):
    return np.asarray(call(**{k: v.copy() for k, v in inputs.items()}))


def unequal(a, b):
    """Where two results certainly look different."""
    if a.shape != b.shape:
        return True
    a, b = np.asarray(a, np.longdouble), np.asarray(b, np.longdouble)
    undefined_a, undefined_b = ~np.isfinite(a), ~np.isfinite(b)
    big = np.maximum(np.abs(np.where(undefined_a, 0, a)), np.abs(np.where(undefined_b, 0, b)))
    if big.size and big.max() > 1e12:
        return False  # overflow is near: rounding decides
    if (undefined_a != undefined_b).any():
        return True
    gap = np.abs(np.where(undefined_a, 0, a) - np.where(undefined_b, 0, b))
    return bool((gap > 1e-6 * np.maximum(1, big.max() if big.size else 1)).any())


def precise(inputs):
    return {k: v.astype(np.longdouble) if v.dtype.kind == "f" else v for k, v in inputs.items()}


def exact(inputs):
    def one(v):
        out = np.empty(v.shape, object)
        for at in np.ndindex(v.shape):
            out[at] = Fraction(float(v[at])) if v.dtype.kind == "f" else int(v[at])
        return out
    return {k: one(v) for k, v in inputs.items()}


def shaken(inputs, size):
    return {k: v * (1 + size) if v.dtype.kind == "f" else v for k, v in inputs.items()}


def confirmed(calls, inputs):
    """The difference is no matter of rounding."""
    if not unequal(evaluate(calls[0], precise(inputs)), evaluate(calls[1], precise(inputs))):
        return False
    try:
        a, b = (evaluate(call, exact(inputs)) for call in calls)
        if a.shape == b.shape and all(isinstance(v, (int, Fraction)) for v in a.flat) and \
                all(isinstance(v, (int, Fraction)) for v in b.flat):
            return bool(np.any(a != b))
    except Exception:  # no fractions here: exp, floor, division by zero
        pass
    # sin(exp(30)): the value of one side alone is lost in the last digits of its inputs.
    return not all(unequal(evaluate(call, inputs), evaluate(call, shaken(inputs, size)))
                   for call in calls[:1] for size in (1e-13, -1e-13))


def judge(pair, rng):
    calls = [compiled(pair["left"]), compiled(pair["right"])]
    params = parameters(pair["left"])
    names = sorted({d for _, _, dims in params for d in dims if not d.isdigit()})
    wanted, found, tries, rounding = int(pair.get("effort", 60)), 0, 0, 0
    while found < wanted and tries < 25 * wanted:
        extents = {n: int(rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 8, 10])) for n in names}
        if len(names) > 3:
            extents = {n: min(4, d) for n, d in extents.items()}
        for _ in range(5):
            tries += 1
            inputs = {}
            for name, kind, dims in params:
                shape = tuple(int(d) if d.isdigit() else extents[d] for d in dims)
                value = np.asarray(reals(rng, shape) if kind == "f32" else integers(rng, shape),
                                   np.float64 if kind == "f32" else np.int64)
                if len(shape) == 2 and shape[0] == shape[1] and rng.random() < 0.2:
                    value = value + value.T
                inputs[name] = value
            results = []
            try:
                for call in calls:
                    results.append(evaluate(call, inputs))
            except AssertionError:
                continue
            except (IndexError, ValueError, ZeroDivisionError):
                if results and not isinstance(results[0], Exception):
                    # one side fails (an index outside, say): the other may not
                    return {"verdict": "differ", "dims": extents, "why": "the right side fails"}
                try:
                    evaluate(calls[1], inputs)
                except Exception:
                    continue
                return {"verdict": "differ", "dims": extents, "why": "the left side fails"}
            found += 1
            if not unequal(*results):
                continue
            if confirmed(calls, inputs):
                return {"verdict": "differ", "dims": extents, "inputs": {k: v.tolist() for k, v in inputs.items()},
                        "left": str(results[0].tolist())[:200], "right": str(results[1].tolist())[:200]}
            rounding += 1
    if rounding:
        return {"verdict": "rounding", "draws": found}
    return {"verdict": "agree" if found else "none", "draws": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    def late(*_):
        raise TooLong()

    signal.signal(signal.SIGALRM, late)
    for number, line in enumerate(sys.stdin):
        try:
            signal.alarm(10)
            answer = judge(json.loads(line), np.random.default_rng([args.seed, number]))
        except Exception as error:  # what fails says so
            answer = {"verdict": "none", "why": f"{type(error).__name__}: {error}"[:200]}
        finally:
            signal.alarm(0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
