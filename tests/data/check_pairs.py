"""Check files of equivalence pairs with NumPy alone.

    python3 tests/data/check_pairs.py tests/data/rewrites2/*.pairs tests/data/rewrites2/*.loops [--seed N] [--emit DIR]

A file holds pairs, each

    === NAME | proved or refuted
    program(PARAMETERS)
    statements of both sides: shapes, asserts
    --- left
    statements; the last line is returned
    --- right
    statements; the last line is returned

    proved   the sides agree within 1e-9 (relative) on every random draw at every random shape
    refuted  some draw differs by more than 1e-6, or is defined on one side only
--emit writes every pair as DIR/NAME/left.py and right.py. Exit status: 0 if every pair passes, 1 otherwise.
"""
import argparse
import os
import re
import sys
import warnings

import numpy as np

sys.dont_write_bytecode = True
warnings.filterwarnings("ignore")


def read(path):
    pairs, current = [], None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("=== "):
                name, expect = (part.strip() for part in line[4:].split("|"))
                if expect not in ("proved", "refuted"):
                    raise SystemExit(f"{path}:{number}: {expect}?")
                current = {"name": name, "expect": expect, "signature": None, "given": [], "left": [], "right": []}
                pairs.append(current)
                part = "given"
            elif line.startswith("--- "):
                part = line[4:].strip()
            elif line.strip() and current is not None:
                if current["signature"] is None:
                    current["signature"] = line
                else:
                    current[part].append(line)
    return pairs


def source(pair, side):
    lines = pair["given"] + pair[side][:-1] + ["return " + pair[side][-1]]
    body = "".join(f"    {line}\n" for line in lines)
    return f"from __future__ import annotations\nimport numpy as np\n\n\ndef {pair['signature']}:\n{body}"


def parameters(signature):
    result = []
    for name, kind, dims in re.findall(r"(\w+): (f32|i32)(?:\[([^\]]*)\])?", signature):
        result.append((name, kind, [d.strip() for d in dims.split(",") if d.strip()]))
    return result


def draw_array(rng, kind, shape):
    way = rng.integers(0, 9)
    if kind == "f32":
        if way <= 2:
            return rng.standard_normal(shape)
        if way == 3:
            return np.abs(rng.standard_normal(shape)) + 0.1
        if way == 4:
            return -np.abs(rng.standard_normal(shape)) - 0.1
        if way == 5:
            return rng.integers(-3, 4, shape).astype(float)
        if way == 6:
            return rng.integers(-8, 9, shape) / 2
        if way == 7:
            return rng.random(shape)
        return np.full(shape, float(rng.integers(1, 5)))
    if way <= 1:
        return rng.integers(-40, 41, shape)
    if way == 2:
        return rng.integers(0, 2, shape)
    if way == 3:
        return rng.integers(0, 64, shape)
    if way == 4:
        return rng.integers(0, 4, shape)
    if way == 5:
        return rng.integers(-300, 300, shape)
    return rng.integers(0, 2, shape) if way == 6 else rng.integers(1, 9, shape)


def draws(rng, pair, shapes, count):
    params = parameters(pair["signature"])
    names = sorted({d for _, _, dims in params for d in dims if not d.isdigit()})
    symmetric = re.findall(r"np\.all\((\w+) == \1\.T\)", "\n".join(pair["given"]))
    for index in range(shapes):
        small = len(names) > 3
        extents = {n: 1 if index == 0 else int(rng.choice([1, 2, 3, 4, 5] if small else [1, 2, 3, 4, 5, 6, 8, 12]))
                   for n in names}
        for _ in range(count):
            inputs = {}
            for name, kind, dims in params:
                shape = tuple(int(d) if d.isdigit() else extents[d] for d in dims)
                value = np.asarray(draw_array(rng, kind, shape), dtype=np.float64 if kind == "f32" else np.int64)
                inputs[name] = (value + value.T) / 2 if name in symmetric else value
            yield extents, inputs


def run(call, inputs):
    try:
        return np.asarray(call(**{k: v.copy() for k, v in inputs.items()}), float)
    except (AssertionError, IndexError, ZeroDivisionError):
        return None


def differs(a, b, tolerance):
    if a.shape != b.shape:
        return True
    ua, ub = ~np.isfinite(a), ~np.isfinite(b)
    if (ua != ub).any():
        return True
    if ua.all():
        return False
    a, b = a[~ua], b[~ub]
    return bool(np.max(np.abs(a - b)) > tolerance * max(1.0, float(np.max(np.abs(a)))))


def check(pair, seed):
    scope = {}
    sides = []
    for side in ("left", "right"):
        exec(compile(source(pair, side), f"{pair['name']}_{side}", "exec"), scope)
        sides.append(scope["program"])
    rng = np.random.default_rng([seed, *pair["name"].encode()])
    found, different = 0, False
    for extents, inputs in draws(rng, pair, 400, 12):
        a, b = run(sides[0], inputs), run(sides[1], inputs)
        if a is None or b is None:
            if (a is None) != (b is None):
                return f"an assert or index fails on one side only at {extents} {inputs}"
            continue
        found += 1
        if a.shape != b.shape:
            return f"shapes {a.shape} and {b.shape} at {extents}"
        if pair["expect"] == "proved" and differs(a, b, 1e-9):
            return f"differs at {extents} {inputs}: {a} against {b}"
        if pair["expect"] == "refuted" and differs(a, b, 1e-6):
            different = True
            break
        if found >= 200:
            break
    if found < 10 and not different:
        return f"only {found} inputs satisfy the asserts"
    if pair["expect"] == "refuted" and not different:
        return "no difference was found"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--emit")
    args = parser.parse_args()
    counts, failures, seen = {}, 0, set()
    for path in args.files:
        for pair in read(path):
            if pair["name"] in seen:
                print(f"FAILED  {pair['name']}: the name occurs twice")
                failures += 1
            seen.add(pair["name"])
            if args.emit:
                folder = os.path.join(args.emit, pair["name"])
                os.makedirs(folder, exist_ok=True)
                for side in ("left", "right"):
                    with open(os.path.join(folder, side + ".py"), "w", encoding="utf-8") as file:
                        file.write(source(pair, side))
                continue
            try:
                problem = check(pair, args.seed)
            except Exception as error:  # every failure is reported, the rest is still checked
                problem = f"{type(error).__name__}: {error}"
            if problem:
                failures += 1
                print(f"FAILED  {pair['name']} ({pair['expect']}): {problem[:600]}")
            counts[pair["expect"]] = counts.get(pair["expect"], 0) + 1
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())) + f"; {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
