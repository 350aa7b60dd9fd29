"""The shapes of the race, and what PyTorch and ONNX Runtime are asked to do for each. Goals are ratios: time of the best peer over ours."""
import math


class Case:
    def __init__(self, program, extents, arrays, goal, flops=0, name=None):
        self.program = program
        self.extents = extents  # in the order of the program's dimensions
        self.arrays = arrays    # shapes of the inputs, then of the result
        self.goal = goal
        self.flops = flops
        self.name = name or program

    @property
    def shape(self):
        return ",".join("%s=%d" % pair for pair in self.extents.items())


def cases():
    M, K, N = 1024, 1024, 1024
    yield Case("matmul", dict(M=M, K=K, N=N), [(M, K), (K, N), (M, N)], 0.95, 2 * M * K * N)
    M, K, N = 512, 1024, 1024
    yield Case("rmsnorm_matmul", dict(M=M, K=K, N=N), [(M, K), (K,), (K, N), (M, N)], 1.0, 2 * M * K * N)
    M, N = 1024, 1024
    yield Case("softmax", dict(M=M, N=N), [(M, N), (M, N)], 1.2)
    yield Case("silu", dict(M=M, N=N), [(M, N), (M, N)], 1.2)
    M, N = 128, 8192
    yield Case("layernorm", dict(M=M, N=N), [(M, N), (N,), (N,), (M, N)], 1.2)
    S, H = 4096, 128
    yield Case("rope", dict(S=S, H=H), [(S, 2 * H), (S, H), (S, H), (S, 2 * H)], 1.2)
    M, N = 1024, 4096
    yield Case("cumsum", dict(M=M, N=N), [(M, N), (M, N)], 1.2)
    M, K, H = 256, 512, 1024
    yield Case("gated_mlp", dict(M=M, K=K, H=H), [(M, K), (K, H), (K, H), (H, K), (M, K)], 1.05, 6 * M * K * H)
    M, D, N, E = 1024, 64, 1024, 64
    yield Case("attention", dict(M=M, D=D, N=N, E=E), [(M, D), (N, D), (N, E), (M, E)], 1.05, 2 * M * N * (D + E))


def small():
    """For the test that keeps the bench alive: seconds, and no PyTorch."""
    yield Case("rmsnorm_matmul", dict(M=48, K=64, N=64), [(48, 64), (64,), (64, 64), (48, 64)], 1.0, 2 * 48 * 64 * 64)


def companion(case):
    """Our own matmul of rmsnorm_matmul's shape: normalisation may cost at most 4 %."""
    if case.program != "rmsnorm_matmul":
        return None
    extents = case.extents
    M, K, N = extents["M"], extents["K"], extents["N"]
    return Case("matmul", extents, [(M, K), (K, N), (M, N)], 1 / 1.04, case.flops, "matmul for rmsnorm_matmul")


def onnx_text(program, arrays):
    """The model for ONNX Runtime, in the notation of onnx.parser."""
    steps = {
        "matmul": (["a", "b"], "y = MatMul(a, b)"),
        "rmsnorm_matmul": (["x", "g", "w"], """
            e = Constant<value_float = 1e-5>() axis = Constant<value_ints = [-1]>()
            s = Mul(x, x) m = ReduceMean(s, axis) n = Add(m, e) r = Sqrt(n) d = Div(x, r) h = Mul(d, g)
            y = MatMul(h, w)"""),
        "softmax": (["x"], "y = Softmax<axis = -1>(x)"),
        "silu": (["x"], "s = Sigmoid(x) y = Mul(x, s)"),
        "layernorm": (["x", "g", "b"], "y = LayerNormalization<axis = -1, epsilon = 1e-5>(x, g, b)"),
        "rope": (["x", "cos", "sin"], """
            p, q = Split<axis = 1, num_outputs = 2>(x)
            pc = Mul(p, cos) qs = Mul(q, sin) qc = Mul(q, cos) ps = Mul(p, sin)
            u = Sub(pc, qs) v = Add(qc, ps) y = Concat<axis = 1>(u, v)"""),
        "cumsum": (["x"], "axis = Constant<value_int = 1>() y = CumSum(x, axis)"),
        "gated_mlp": (["x", "u", "v", "w"], """
            a = MatMul(x, u) s = Sigmoid(a) t = Mul(a, s) b = MatMul(x, v) h = Mul(t, b) y = MatMul(h, w)"""),
        "attention": (["q", "k", "v"], """
            kt = Transpose(k) s = MatMul(q, kt) c = Constant<value_float = %r>() d = Div(s, c)
            p = Softmax<axis = -1>(d) y = MatMul(p, v)""" % math.sqrt(arrays[0][1])),
    }
    names, body = steps[program]
    tensor = lambda shape, name: "float[%s] %s" % (",".join(map(str, shape)), name)
    return '<ir_version: 8, opset_import: ["": 18]>\n%s (%s) => (%s) {%s}' % (
        program, ", ".join(map(tensor, arrays, names)), tensor(arrays[-1], "y"), body)


def torch_functions(program):
    """Name -> function of torch tensors, written as its users write it."""
    import torch
    import torch.nn.functional as F

    def rope(x, cos, sin):
        a, b = x.chunk(2, dim=1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=1)

    eager = {
        "matmul": lambda a, b: a @ b,
        "rmsnorm_matmul": lambda x, g, w: F.rms_norm(x, (x.shape[1],), g, 1e-5) @ w,
        "softmax": lambda x: F.softmax(x, dim=-1),
        "silu": lambda x: F.silu(x),
        "layernorm": lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, 1e-5),
        "rope": rope,
        "cumsum": lambda x: torch.cumsum(x, dim=-1),
        "gated_mlp": lambda x, w1, w2, w3: (F.silu(x @ w1) * (x @ w2)) @ w3,
        "attention": lambda q, k, v: F.softmax(q @ k.T / q.shape[1] ** 0.5, dim=-1) @ v,
    }[program]
    functions = {"eager": eager, "compile": torch.compile(eager)}
    if program == "attention":
        def fused(q, k, v):
            return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]
        functions["fused"] = fused
    return functions
