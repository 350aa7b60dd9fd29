"""Random pairs of programs that are related by random sequences of moves, right and wrong ones mixed.

    python3 random_pairs.py --seed N --count N     one JSON object a line: left, right, moves, wrong

A program is a random typed expression over tensors of symbolic extents: elementwise operators, matmuls, reductions,
scans, maxima, conditions, transposes, concatenation, tiles, integer quotients. A right move is an identity over the
reals; a wrong one is a near miss, which may still keep the value: the oracle (oracle.py) decides.
"""
import argparse
import json
import random

PARAMETERS = {
    "x": ("f32", ("M", "K")), "y": ("f32", ("M", "K")), "w": ("f32", ("K", "N")), "u": ("f32", ("K", "N")),
    "q": ("f32", ("N", "N")), "r": ("f32", ("N", "N")), "b": ("f32", ("N",)), "c": ("f32", ("N",)),
    "g": ("f32", ("K",)), "h": ("f32", ("M",)), "s": ("f32", ()), "t": ("f32", ()), "z": ("f32", ("T", "P")),
    "v": ("f32", ("L", "N")), "i": ("i32", ("N",)), "j": ("i32", ("N",)),
}
WHERE_DIMS_ARE = {"M": "x.shape[0]", "K": "x.shape[1]", "N": "w.shape[1]", "T": "z.shape[0]", "P": "z.shape[1]",
                  "L": "v.shape[0]"}


class E:
    """An expression: operator, operands, attribute, shape (a tuple of extents as text)."""
    __slots__ = ("op", "args", "attr", "shape")

    def __init__(self, op, args=(), attr=None, shape=()):
        self.op, self.args, self.attr, self.shape = op, tuple(args), attr, tuple(shape)

    def key(self):
        return (self.op, self.attr, tuple(a.key() for a in self.args))

    def __eq__(self, other):
        return self.key() == other.key()


UNARY = {"neg": "-{}", "exp": "np.exp({})", "tanh": "np.tanh({})", "abs": "np.abs({})", "sin": "np.sin({})",
         "cos": "np.cos({})", "floor": "np.floor({})", "rint": "np.rint({})", "relu": "np.maximum({}, 0)",
         "sqrt": "np.sqrt({})", "log": "np.log({})", "sign": "np.sign({})", "square": "({}) ** 2"}
BINARY = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "div": "({} / {})", "max": "np.maximum({}, {})",
          "min": "np.minimum({}, {})", "idiv": "({} // {})", "mod": "({} % {})"}


def text(e):
    a = [text(x) for x in e.args]
    if e.op == "param":
        return e.attr
    if e.op == "const":
        return str(e.attr)
    if e.op == "dim":
        return e.attr
    if e.op in UNARY:
        return UNARY[e.op].format(f"({a[0]})" if e.op == "neg" else a[0])
    if e.op in BINARY:
        return BINARY[e.op].format(*a)
    if e.op == "matmul":
        return f"({a[0]} @ {a[1]})"
    if e.op == "T":
        return f"({a[0]}).T"
    if e.op in ("sum", "mean", "amax", "amin", "prod"):
        name = {"amax": "max", "amin": "min"}.get(e.op, e.op)
        axis, keep = e.attr
        where = "" if axis is None else f", axis={axis}"
        return f"np.{name}({a[0]}{where}{', keepdims=True' if keep else ''})"
    if e.op == "cumsum":
        return f"np.cumsum({a[0]}, axis={e.attr})"
    if e.op == "where":
        return f"np.where({a[0]} {e.attr} {a[1]}, {a[2]}, {a[3]})"
    if e.op == "cat":
        return f"np.concatenate([{', '.join(a)}], axis={e.attr})"
    if e.op == "reshape":
        return f"({a[0]}).reshape({', '.join(e.shape)})"
    if e.op == "expand":
        return f"np.expand_dims({a[0]}, {e.attr})"
    if e.op == "outer":
        return f"np.outer({a[0]}, {a[1]})"
    if e.op == "ones":
        return f"np.ones(({', '.join(e.shape)}{',' if len(e.shape) == 1 else ''}))"
    raise ValueError(e.op)


def const(value):
    return E("const", (), value)


def broadcast(a, b):
    n = max(len(a), len(b))
    result = []
    for x, y in zip(("1",) * (n - len(a)) + a, ("1",) * (n - len(b)) + b):
        if x != y and "1" not in (x, y):
            return None
        result.append(y if x == "1" else x)
    return tuple(result)


def binary(op, a, b):
    shape = broadcast(a.shape, b.shape)
    if shape is None:
        raise ValueError("shapes")
    return E(op, (a, b), None, shape)


def unary(op, a):
    return E(op, (a,), None, a.shape)


def matmul(a, b):
    if a.shape[-1] != b.shape[0 if len(b.shape) == 1 else -2]:
        raise ValueError("shapes")
    return E("matmul", (a, b), None, a.shape[:-1] + b.shape[1:])


def transpose(a):
    return E("T", (a,), None, a.shape[::-1])


def reduced(op, a, axis, keep=False):
    if axis is None:
        return E(op, (a,), (None, False), ())
    shape = tuple("1" if i == axis else d for i, d in enumerate(a.shape)) if keep else \
        a.shape[:axis] + a.shape[axis + 1:]
    return E(op, (a,), (axis, keep), shape)


def where(a, relation, b, yes, no):
    shape = broadcast(broadcast(a.shape, b.shape) or (), broadcast(yes.shape, no.shape) or ())
    if shape is None:
        raise ValueError("shapes")
    return E("where", (a, b, yes, no), relation, shape)


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def leaf(self, shape):
        fits = [n for n, (kind, s) in PARAMETERS.items() if kind == "f32" and s == shape]
        if fits and self.rng.random() < 0.85:
            name = self.rng.choice(fits)
            return E("param", (), name, shape)
        if len(shape) == 2:
            row = [n for n, (kind, s) in PARAMETERS.items() if kind == "f32" and s == shape[1:]]
            if row:
                return binary("add", E("ones", (), None, shape), E("param", (), self.rng.choice(row), shape[1:]))
        if shape == ():
            return const(self.rng.choice([2, 3, 0.5, -1, 0.25]))
        return E("ones", (), None, shape)

    def positive(self, shape, depth):
        inner = self.tree(shape, depth - 1)
        if self.rng.random() < 0.4:
            return unary("exp", inner)
        return binary("add", unary("square", inner), const(self.rng.choice([1, 0.5])))

    def tree(self, shape, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.12:
            return self.leaf(shape)
        kinds = ["elementwise"] * 6
        if len(shape) == 2:
            kinds += ["matmul"] * 4 + ["T"] * 2 + ["cumsum", "scale_row", "outer"]
            if shape == ("M", "1"):
                kinds = ["keep"]
        if len(shape) == 1:
            kinds += ["reduce"] * 4 + ["matvec", "cumsum1", "tiles"]
        if shape == ():
            kinds += ["all"] * 4
        kind = rng.choice(kinds)
        try:
            return getattr(self, "_" + kind)(shape, depth)
        except ValueError:
            return self.leaf(shape)

    def _elementwise(self, shape, depth):
        rng = self.rng
        op = rng.choice(["add", "add", "sub", "mul", "mul", "div", "max", "min", "exp", "abs", "relu", "tanh", "sin",
                         "cos", "sqrt", "log", "where", "neg", "scalar", "floor", "square"])
        if op in ("add", "sub", "mul", "max", "min"):
            return binary(op, self.tree(shape, depth - 1), self.tree(shape, depth - 1))
        if op == "div":
            return binary("div", self.tree(shape, depth - 1), self.positive(shape, depth - 1))
        if op in ("sqrt", "log"):
            return unary(op, self.positive(shape, depth - 1))
        if op == "where":
            return where(self.tree(shape, depth - 2), rng.choice(["<", ">", "<=", ">="]),
                         rng.choice([const(0), self.leaf(shape)]), self.tree(shape, depth - 1),
                         self.tree(shape, depth - 1))
        if op == "scalar":
            scalar = E("param", (), rng.choice(["s", "t"]), ()) if rng.random() < 0.6 else self.leaf(())
            return binary("mul", scalar, self.tree(shape, depth - 1))
        return unary(op, self.tree(shape, depth - 1))

    def _matmul(self, shape, depth):
        inner = self.rng.choice(["K", "N", "M"])
        return matmul(self.tree((shape[0], inner), depth - 1), self.tree((inner, shape[1]), depth - 1))

    def _T(self, shape, depth):
        return transpose(self.tree(shape[::-1], depth - 1))

    def _cumsum(self, shape, depth):
        return E("cumsum", (self.tree(shape, depth - 1),), self.rng.choice([0, 1]), shape)

    def _cumsum1(self, shape, depth):
        return E("cumsum", (self.tree(shape, depth - 1),), 0, shape)

    def _scale_row(self, shape, depth):
        op = self.rng.choice(["mul", "add", "div"])
        side = self.positive((shape[1],), depth - 2) if op == "div" else self.tree((shape[1],), depth - 2)
        return binary(op, self.tree(shape, depth - 1), side)

    def _outer(self, shape, depth):
        return E("outer", (self.tree((shape[0],), depth - 2), self.tree((shape[1],), depth - 2)), None, shape)

    def _reduce(self, shape, depth):
        op = self.rng.choice(["sum", "sum", "mean", "amax", "amin"])
        other = self.rng.choice(["K", "N", "M"])
        if self.rng.random() < 0.25 and op != "mean":
            parts = E("cat", (self.tree((shape[0], other), depth - 1), self.tree((shape[0], "N"), depth - 2)), 1,
                      (shape[0], f"{other} + N"))
            return reduced(op, parts, 1)
        if self.rng.random() < 0.5:
            return reduced(op, self.tree((shape[0], other), depth - 1), 1)
        return reduced(op, self.tree((other, shape[0]), depth - 1), 0)

    def _matvec(self, shape, depth):
        inner = self.rng.choice(["K", "N"])
        return matmul(self.tree((shape[0], inner), depth - 1), self.tree((inner,), depth - 2))

    def _tiles(self, shape, depth):
        flat = E("reshape", (self.tree(("T", "P"), depth - 1),), None, ("T * P",))
        return binary("add", reduced(self.rng.choice(["sum", "amax"]), flat, 0), self.tree(shape, depth - 2))

    def _all(self, shape, depth):
        op = self.rng.choice(["sum", "mean", "amax"])
        if self.rng.random() < 0.3:
            return reduced(op, E("reshape", (self.tree(("T", "P"), depth - 1),), None, ("T * P",)), 0)
        return reduced(op, self.tree(self.rng.choice([("M", "K"), ("N",), ("K", "N")]), depth - 1), None)

    def _keep(self, shape, depth):
        return reduced(self.rng.choice(["sum", "amax", "mean"]), self.tree(("M", "K"), depth - 1), 1, True)

    def integer(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return E("param", (), rng.choice(["i", "j"]), ("N",)) if rng.random() < 0.8 else const(rng.randint(-5, 9))
        op = rng.choice(["add", "sub", "mul", "idiv", "mod", "idiv", "mod", "max", "abs", "where"])
        a = self.integer(depth - 1)
        if op in ("idiv", "mod"):
            return E(op, (a, const(rng.choice([2, 3, 4, 6, 8, -3]))), None, a.shape)
        if op == "abs":
            return unary("abs", a)
        if op == "where":
            return where(a, rng.choice(["<", ">="]), const(rng.randint(-2, 5)), self.integer(depth - 1),
                         self.integer(depth - 1))
        if op == "mul":
            return binary("mul", a, const(rng.choice([2, 3, 4, 6])))
        return binary(op, a, self.integer(depth - 1))


def is_scalar(e):
    return e.shape == ()


def lacks(e, axis, rank):
    """Constant along that axis when broadcast to that rank?"""
    position = axis - (rank - len(e.shape))
    return position < 0 or e.shape[position] == "1"


def collector(e, out):
    """add(name, make): keeps what make gives, if it can be made and has e's shape."""
    def add(name, make):
        try:
            made = make()
        except (ValueError, IndexError):
            return
        if made.shape == e.shape:
            out.append((name, made))
    return add


def right_moves(e, rng):
    """Pairs (name, expression) that are equal to e wherever defined."""
    op, a = e.op, e.args
    out = []
    add = collector(e, out)

    if op in ("add", "mul", "max", "min"):
        add("commute", lambda: binary(op, a[1], a[0]))
        for left in (0, 1):
            inner, other = a[left], a[1 - left]
            if inner.op == op:
                add("associate", lambda: binary(op, inner.args[0], binary(op, inner.args[1], other)))
    if op == "mul":
        for left in (0, 1):
            inner, other = a[left], a[1 - left]
            if inner.op in ("add", "sub"):
                add("distribute", lambda: binary(inner.op, binary("mul", inner.args[0], other),
                                                 binary("mul", inner.args[1], other)))
            if inner.op == "where":
                add("into branches", lambda: where(inner.args[0], inner.attr, inner.args[1],
                                                   binary("mul", inner.args[2], other),
                                                   binary("mul", inner.args[3], other)))
        if a[0].op == "exp" and a[1].op == "exp":
            add("exp of sum", lambda: unary("exp", binary("add", a[0].args[0], a[1].args[0])))
    if op == "sub":
        add("plus negative", lambda: binary("add", a[0], unary("neg", a[1])))
    if op == "div":
        add("times inverse", lambda: binary("mul", a[0], binary("div", const(1), a[1])))
        if a[1].op == "exp":
            add("times exp of negative", lambda: binary("mul", a[0], unary("exp", unary("neg", a[1].args[0]))))
        if a[0].op == "add":
            add("divide apart", lambda: binary("add", binary("div", a[0].args[0], a[1]),
                                               binary("div", a[0].args[1], a[1])))
    if op == "exp":
        if a[0].op == "add":
            add("exp splits", lambda: binary("mul", unary("exp", a[0].args[0]), unary("exp", a[0].args[1])))
        if a[0].op == "neg":
            add("exp of negative", lambda: binary("div", const(1), unary("exp", a[0].args[0])))
    if op == "tanh":
        add("tanh by exp", lambda: binary("sub", const(1), binary("div", const(2), binary(
            "add", unary("exp", binary("mul", const(2), a[0])), const(1)))))
    if op == "square":
        add("square as product", lambda: binary("mul", a[0], a[0]))
    if op == "abs":
        add("abs as maximum", lambda: binary("max", a[0], unary("neg", a[0])))
        add("abs by sign", lambda: binary("mul", unary("sign", a[0]), a[0]))
    if op == "relu":
        add("relu by abs", lambda: binary("mul", const(0.5), binary("add", a[0], unary("abs", a[0]))))
        add("relu by where", lambda: where(a[0], ">", const(0), a[0], const(0)))
    if op == "max":
        add("maximum by where", lambda: where(a[0], ">", a[1], a[0], a[1]))
        add("maximum by relu", lambda: binary("add", a[1], unary("relu", binary("sub", a[0], a[1]))))
    if op == "min":
        add("minimum mirrored", lambda: unary("neg", binary("max", unary("neg", a[0]), unary("neg", a[1]))))
    if op == "floor":
        add("floor shifted", lambda: binary("sub", unary("floor", binary("add", a[0], const(3))), const(3)))
    if op == "where":
        opposite = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}[e.attr]
        add("branches turned", lambda: where(a[0], opposite, a[1], a[3], a[2]))
        mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}[e.attr]
        add("comparison turned", lambda: where(a[1], mirrored, a[0], a[2], a[3]))
    if op == "matmul":
        for left in (0, 1):
            inner, other = a[left], a[1 - left]
            both = (lambda p: matmul(p, other)) if left == 0 else (lambda p: matmul(other, p))
            if inner.op in ("add", "sub") and inner.args[0].shape == inner.args[1].shape:
                add("matmul distributes", lambda: binary(inner.op, both(inner.args[0]), both(inner.args[1])))
            if inner.op == "mul" and is_scalar(inner.args[0]):
                add("scalar leaves", lambda: binary("mul", inner.args[0], both(inner.args[1])))
        if len(a[1].shape) == 2 and len(a[0].shape) == 2:
            if a[0].op == "matmul":
                add("matmul associates", lambda: matmul(a[0].args[0], matmul(a[0].args[1], a[1])))
            add("transposed product", lambda: transpose(matmul(transpose(a[1]), transpose(a[0]))))
            if a[0].op == "mul" and len(a[0].args[1].shape) == 1:
                add("gain moves", lambda: matmul(a[0].args[0], binary("mul", E("expand", (a[0].args[1],), 1,
                    a[0].args[1].shape + ("1",)), a[1])))
    if op == "T":
        if a[0].op == "T":
            add("twice", lambda: a[0].args[0])
        if a[0].op in ("exp", "tanh", "abs", "relu", "neg", "sqrt", "square"):
            add("past elementwise", lambda: unary(a[0].op, transpose(a[0].args[0])))
        if a[0].op == "outer":
            add("outer turned", lambda: E("outer", (a[0].args[1], a[0].args[0]), None, e.shape))
    if op in ("sum", "mean"):
        inner = a[0]
        if inner.op in ("add", "sub") and inner.args[0].shape == inner.args[1].shape:
            add("sum distributes", lambda: binary(inner.op, reduced(op, inner.args[0], *e.attr),
                                                  reduced(op, inner.args[1], *e.attr)))
        if inner.op == "mul" and is_scalar(inner.args[0]):
            add("scalar leaves", lambda: binary("mul", inner.args[0], reduced(op, inner.args[1], *e.attr)))
        if inner.op == "T" and e.attr[0] is not None and not e.attr[1]:
            add("other axis", lambda: reduced(op, inner.args[0], 1 - e.attr[0]))
        if inner.op == "cat" and op == "sum" and e.attr[0] == inner.attr:
            add("parts apart", lambda: binary("add", *[reduced(op, p, *e.attr) for p in inner.args]))
        if inner.op == "matmul" and op == "sum" and e.attr == (1, False) and len(inner.args[1].shape) == 2:
            add("row sums", lambda: matmul(inner.args[0], reduced("sum", inner.args[1], 1)))
        if inner.op == "reshape" and op == "sum":
            add("tile sums", lambda: reduced("sum", reduced("sum", inner.args[0], rng.choice([0, 1])), 0))
    if op == "mean" and e.attr[0] is not None:
        extent = a[0].shape[e.attr[0]]
        if extent in WHERE_DIMS_ARE:
            add("mean by sum", lambda: binary("div", reduced("sum", *((a[0],) + e.attr)), E("dim", (), extent)))
    if op in ("amax", "amin"):
        inner = a[0]
        other = "amin" if op == "amax" else "amax"
        add("mirrored", lambda: unary("neg", reduced(other, unary("neg", inner), *e.attr)))
        if inner.op == "exp":
            add("monotone", lambda: unary("exp", reduced(op, inner.args[0], *e.attr)))
        if inner.op == "add" and e.attr[0] is not None and is_scalar(inner.args[0]):
            add("addend leaves", lambda: binary("add", inner.args[0], reduced(op, inner.args[1], *e.attr)))
        if inner.op == "relu" and op == "amax":
            add("relu past max", lambda: unary("relu", reduced(op, inner.args[0], *e.attr)))
        if inner.op == "cat" and e.attr[0] == inner.attr:
            name = "max" if op == "amax" else "min"
            add("parts apart", lambda: binary(name, *[reduced(op, p, *e.attr) for p in inner.args]))
        if inner.op == "reshape":
            add("tiles", lambda: reduced(op, reduced(op, inner.args[0], 1), 0))
    if op == "cumsum":
        inner = a[0]
        if inner.op in ("add", "sub") and inner.args[0].shape == inner.args[1].shape:
            add("scan distributes", lambda: binary(inner.op, E("cumsum", (inner.args[0],), e.attr, e.shape),
                                                   E("cumsum", (inner.args[1],), e.attr, e.shape)))
        if inner.op == "mul" and is_scalar(inner.args[0]):
            add("scalar leaves", lambda: binary("mul", inner.args[0], E("cumsum", (inner.args[1],), e.attr, e.shape)))
    if op == "outer":
        add("outer as product", lambda: binary("mul", E("expand", (a[0],), 1, a[0].shape + ("1",)), a[1]))
    if op == "idiv":
        d = a[1].attr
        add("whole multiple", lambda: binary("sub", E("idiv", (binary("add", a[0], const(3 * d)), a[1]), None, e.shape),
                                             const(3)))
        if a[0].op == "idiv" and d > 0 and a[0].args[1].attr > 0:
            add("quotient of quotient", lambda: E("idiv", (a[0].args[0], const(d * a[0].args[1].attr)), None, e.shape))
    if op == "mod":
        add("by quotient", lambda: binary("sub", a[0], binary("mul", a[1], E("idiv", a, None, e.shape))))
        add("periodic", lambda: E("mod", (binary("add", a[0], const(2 * a[1].attr)), a[1]), None, e.shape))
    if e.shape and op not in ("const", "dim") and len(e.shape) <= 2:
        add("times one", lambda: binary("mul", e, const(1)))
        if op in ("add", "sub", "mul", "param", "matmul", "exp"):
            add("added and taken", lambda: binary("sub", binary("add", e, const(2)), const(2)))
        if len(e.shape) == 2 and op in ("param", "add", "mul"):
            add("transposed twice", lambda: transpose(transpose(e)))
    return out


def wrong_moves(e, rng):
    """Near misses."""
    op, a = e.op, e.args
    out = []
    add = collector(e, out)

    swaps = {"add": "sub", "sub": "add", "max": "min", "min": "max", "sum": "amax", "amax": "sum", "mean": "sum",
             "exp": "tanh", "sin": "cos", "cos": "sin", "floor": "rint", "relu": "abs", "abs": "relu", "mul": "add",
             "amin": "amax"}
    if op in swaps:
        add("other operator", lambda: E(swaps[op], a, e.attr, e.shape))
    if op == "const":
        add("other constant", lambda: const(e.attr + 1))
    if op in ("add", "mul") and a[0].shape == e.shape:
        add("operand dropped", lambda: a[0])
    if op == "param" and len(e.shape) == 2 and e.shape[0] == e.shape[1]:
        add("transposed", lambda: transpose(e))
    if op == "param":
        same = [n for n, p in PARAMETERS.items() if p[1] == e.shape and n != e.attr and p[0] == PARAMETERS[e.attr][0]]
        if same:
            add("other tensor", lambda: E("param", (), rng.choice(same), e.shape))
    if op == "matmul" and len(e.shape) == 2 and a[0].shape == a[1].shape:
        add("factors exchanged", lambda: matmul(a[1], a[0]))
    if op == "T" and e.shape[0] == e.shape[1]:
        add("transpose dropped", lambda: a[0])
    if op in ("sum", "mean", "amax") and e.attr[0] is not None and len(a[0].shape) == 2:
        add("other axis", lambda: reduced(op, a[0], 1 - e.attr[0], e.attr[1]))
    if op == "exp" and a[0].op in ("add", "sub"):
        add("exp is additive", lambda: binary(a[0].op, unary("exp", a[0].args[0]), unary("exp", a[0].args[1])))
    if op in ("abs", "relu", "floor", "sqrt", "square") and a[0].op == "add":
        add("taken as additive", lambda: binary("add", unary(op, a[0].args[0]), unary(op, a[0].args[1])))
    if op in ("relu", "floor") and a[0].op == "mul":
        add("taken as homogeneous", lambda: binary("mul", a[0].args[0], unary(op, a[0].args[1])))
    if op == "abs" and a[0].op == "mul":
        add("sign lost", lambda: binary("mul", a[0].args[0], unary("abs", a[0].args[1])))
    if op in ("amax", "amin"):
        if a[0].op == "mul" and is_scalar(a[0].args[0]):
            add("scale past max", lambda: binary("mul", a[0].args[0], reduced(op, a[0].args[1], *e.attr)))
        if a[0].op == "add" and a[0].args[0].shape == a[0].args[1].shape:
            add("max is additive", lambda: binary("add", reduced(op, a[0].args[0], *e.attr),
                                                  reduced(op, a[0].args[1], *e.attr)))
        if a[0].op in ("abs", "square", "neg", "sin"):
            add("taken as monotone", lambda: unary(a[0].op, reduced(op, a[0].args[0], *e.attr)))
    if op in ("sum", "mean") and a[0].op == "mul" and a[0].args[0].shape == a[0].args[1].shape:
        add("sum is multiplicative", lambda: binary("mul", reduced(op, a[0].args[0], *e.attr),
                                                    reduced(op, a[0].args[1], *e.attr)))
    if op == "sum" and a[0].op == "cat":
        add("part dropped", lambda: reduced("sum", a[0].args[0], *e.attr))
    if op == "log" and a[0].op == "mul":
        add("log apart", lambda: binary("add", unary("log", a[0].args[0]), unary("log", a[0].args[1])))
    if op == "where":
        add("branches exchanged", lambda: where(a[0], e.attr, a[1], a[3], a[2]))
        add("tie moved", lambda: where(a[0], {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[e.attr], a[1], a[2], a[3]))
    if op == "cumsum" and len(e.shape) == 2:
        add("other axis", lambda: E("cumsum", a, 1 - e.attr, e.shape))
    if op == "idiv":
        if a[0].op in ("add", "sub"):
            add("quotients add", lambda: binary(a[0].op, E("idiv", (a[0].args[0], a[1]), None, a[0].args[0].shape),
                                                E("idiv", (a[0].args[1], a[1]), None, a[0].args[1].shape)))
        if a[0].op == "idiv":
            add("divisors multiply", lambda: E("idiv", (a[0].args[0], const(a[1].attr * a[0].args[1].attr)), None,
                                               e.shape))
        add("rounds off by one", lambda: E("idiv", (binary("add", a[0], const(1)), a[1]), None, e.shape))
    if op == "mod":
        if a[0].op == "mod":
            add("inner modulus dropped", lambda: E("mod", (a[0].args[0], a[1]), None, e.shape))
        add("modulus dropped", lambda: a[0])
    if op == "div":
        if a[0].op == "mul" and a[0].args[1] == a[1]:
            add("cancelled", lambda: a[0].args[0])
        add("quotient turned", lambda: binary("div", a[1], a[0]))
    if e.shape and op in ("add", "mul", "param"):
        side = E("param", (), "s", ())
        add("times x over x", lambda: binary("div", binary("mul", e, side), side))
    if op == "matmul" and len(e.shape) == 2 and a[0].op == "mul" and len(a[0].args[1].shape) == 1 \
            and a[0].args[1].shape[0] == e.shape[1]:
        add("gain leaves", lambda: binary("mul", matmul(a[0].args[0], a[1]), a[0].args[1]))
    return out


def positions(e, path=()):
    yield path, e
    for index, argument in enumerate(e.args):
        yield from positions(argument, path + (index,))


def replaced(e, path, new):
    if not path:
        return new
    args = list(e.args)
    args[path[0]] = replaced(args[path[0]], path[1:], new)
    return E(e.op, args, e.attr, e.shape)


def size(e):
    return 1 + sum(size(a) for a in e.args)


PLAIN = {"times one", "added and taken", "transposed twice", "commute", "times x over x", "other constant",
         "other tensor", "operand dropped"}


def moved(e, count, rules, rng):
    names = []
    for _ in range(count):
        options = [(path, name, new) for path, node in positions(e) for name, new in rules(node, rng)]
        if not options:
            break
        kinds = sorted({name for _, name, _ in options})
        kind = rng.choices(kinds, [0.1 if name in PLAIN else 1 for name in kinds])[0]
        path, name, new = rng.choice([option for option in options if option[1] == kind])
        candidate = replaced(e, path, new)
        if size(candidate) > 60:
            continue
        e = candidate
        names.append(name)
    return e, names


def used(e):
    names = {node.attr for _, node in positions(e) if node.op == "param"}
    return names


def module(e, names, dims):
    signature = ", ".join(f"{n}: {PARAMETERS[n][0]}" + (f"[{', '.join(PARAMETERS[n][1])}]" if PARAMETERS[n][1] else "")
                          for n in PARAMETERS if n in names)
    lines = "".join(f"    {d} = {WHERE_DIMS_ARE[d]}\n" for d in WHERE_DIMS_ARE if d in dims)
    return ("from __future__ import annotations\nimport numpy as np\n\n\n"
            f"def program({signature}):\n{lines}    return {text(e)}\n")


def dims_of(e):
    found = set()
    for _, node in positions(e):
        if node.op in ("ones", "reshape"):
            for extent in node.shape:
                found |= {d for d in WHERE_DIMS_ARE if d in extent.replace("*", " ").replace("+", " ").split()}
        if node.op == "dim":
            found.add(node.attr)
    return found


def pair(rng):
    generator = Generator(rng)
    if rng.random() < 0.18:
        start = generator.integer(4)
        if not start.shape:
            start = binary("add", E("param", (), "i", ("N",)), start)
    else:
        shape = rng.choice([("M", "N"), ("M", "K"), ("N",), ("M",), (), ("N", "N"), ("M", "N")])
        start = generator.tree(shape, rng.choice([2, 3, 4, 4, 5]))
        if size(start) > 40:
            return None
    left, first = moved(start, rng.choice([0, 0, 1, 2]), right_moves, rng)
    right, second = moved(start, rng.choice([1, 2, 3, 4, 6]), right_moves, rng)
    wrong = []
    if rng.random() < 0.6:
        right, wrong = moved(right, rng.choice([1, 1, 2]), wrong_moves, rng)
        right, third = moved(right, rng.choice([0, 1, 2]), right_moves, rng)
        second = second + third
    names = used(left) | used(right)
    dims = dims_of(left) | dims_of(right)
    for dim in dims:  # where the extents are read from
        names.add(WHERE_DIMS_ARE[dim].split(".")[0])
    if not names or left == right:
        return None
    return {"left": module(left, names, dims), "right": module(right, names, dims), "moves": first + second,
            "wrong": wrong}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    made = 0
    while made < args.count:
        found = pair(rng)
        if found is None:
            continue
        print(json.dumps(found))
        made += 1


if __name__ == "__main__":
    main()
