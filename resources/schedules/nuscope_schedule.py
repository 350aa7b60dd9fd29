"""Writes megakernel schedules in Nuscope's form (README.md) from a generator's loop. One file, no dependencies; copy it.

    from nuscope_schedule import Schedule, pos, least
    s = Schedule(sms=132)
    x = s.buffer("x", "ACTIVATION", "F32", [1, 2048])
    ready = s.counter("x is written")
    for t in range(4):
        s.task("NORM", sm=t, writes=[x[:, 512 * t:512 * (t + 1)]], signals=[ready])
    s.task("USE", sm=9, reads=[x], waits=[(ready, 4)])
    s.write("schedule.json")            # then: nuscope check schedule.json

Regions are slices of buffers; bounds may depend on the run-time position: kv[pos:pos + 1], kv[0:least(pos + 1, 512)].
"""
import json


class Expression:
    """slope * pos + offset, or the least or greatest of several."""

    def __init__(self, text, slope=None, offset=None):
        self.text, self.slope, self.offset = text, slope, offset

    @staticmethod
    def affine(slope, offset):
        head = "" if slope == 0 else "pos" if slope == 1 else f"{slope}*pos"
        if not head:
            return Expression(str(offset), 0, offset)
        tail = f" + {offset}" if offset > 0 else f" - {-offset}" if offset < 0 else ""
        return Expression(head + tail, slope, offset)

    def __add__(self, number):
        if self.slope is None:
            raise ValueError("add inside least() and greatest(), not outside")
        return Expression.affine(self.slope, self.offset + number)

    def __sub__(self, number):
        return self + -number

    def __mul__(self, number):
        if self.slope is None:
            raise ValueError("multiply inside least() and greatest(), not outside")
        return Expression.affine(self.slope * number, self.offset * number)

    __radd__, __rmul__ = __add__, __mul__


pos = Expression.affine(1, 0)


def _text(value):
    return value.text if isinstance(value, Expression) else str(int(value))


def least(*values):
    return Expression("min(" + ", ".join(map(_text, values)) + ")")


def greatest(*values):
    return Expression("max(" + ", ".join(map(_text, values)) + ")")


class Buffer:
    def __init__(self, number, shape):
        self.number, self.shape = number, list(shape)

    def __getitem__(self, key):
        axes = list(key) if isinstance(key, tuple) else [key]
        if len(axes) > len(self.shape):
            raise IndexError(f"{len(axes)} axes of a buffer that has {len(self.shape)}")
        axes += [slice(None)] * (len(self.shape) - len(axes))
        region = []
        for axis, extent in zip(axes, self.shape):
            if not isinstance(axis, slice):
                axis = slice(axis, axis + 1)
            if axis.step not in (None, 1):
                raise ValueError("regions are rectangles: no steps")
            start = 0 if axis.start is None else axis.start
            stop = extent if axis.stop is None else axis.stop
            region.append([v.text if isinstance(v, Expression) else int(v) for v in (start, stop)])
        return {"buffer": self.number, "region": region}


def _access(what):
    return {"buffer": what.number} if isinstance(what, Buffer) else what


class Schedule:
    def __init__(self, sms=None, positions=None, counters="reset"):
        """positions: (first, end) for which the schedule must hold, where regions depend on pos.
        counters: "reset" between passes, or "kept" (then waits need per_pass)."""
        self.root = {"format": "nuscope-schedule", "version": 1}
        if positions is not None:
            self.root["positions"] = {"from": positions[0], "to": positions[1]}
        if sms is not None:
            self.root["target"] = {"num_sms": sms}
        self.root["passes"] = {"counters": counters}
        self.root.update(buffers=[], counters=[], tasks=[])

    def buffer(self, name, kind, dtype, shape, space="HBM", source=None):
        """kind: WEIGHT, ACTIVATION, KV_CACHE, IO_INPUT, IO_OUTPUT, CONST."""
        number = len(self.root["buffers"])
        record = {"id": number, "name": name, "kind": kind, "dtype": dtype, "shape": list(shape), "space": space}
        if source is not None:
            record["source"] = source
        self.root["buffers"].append(record)
        return Buffer(number, shape)

    def counter(self, note=""):
        self.root["counters"].append({"id": len(self.root["counters"]), "note": note})
        return len(self.root["counters"]) - 1

    def task(self, op, sm=None, reads=(), writes=(), signals=(), waits=(), label="", params=None, est_bytes=0, est_flops=0):
        """The order of calls is the order of each SM's queue. waits: (counter, threshold) or (counter, threshold, per_pass)."""
        number = len(self.root["tasks"])
        self.root["tasks"].append({
            "id": number, "op": op, "label": label or op, "sm": sm,
            "reads": [_access(a) for a in reads], "writes": [_access(a) for a in writes],
            "signals": list(signals),
            "waits": [dict(zip(("counter", "threshold", "per_pass"), w)) for w in waits],
            "params": params or {}, "est_bytes": est_bytes, "est_flops": est_flops})
        return number

    def write(self, path):
        root = dict(self.root)
        lists = {key: root.pop(key) for key in ("buffers", "counters", "tasks")}
        with open(path, "w", encoding="utf-8") as out:
            out.write("{" + json.dumps(root)[1:-1])
            for key, records in lists.items():
                out.write(f',\n"{key}": [\n ' + ",\n ".join(json.dumps(r) for r in records) + "\n]")
            out.write("\n}\n")
