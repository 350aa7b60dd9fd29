from __future__ import annotations
import numpy as np


def arithmetic(x: f32[M, N], y: f32[N], i: i32[N], j: i32[N], s: f32, n: i32):
    assert np.all(j > 0)
    assert n > 0 and s > 0
    M, N = x.shape
    a = -x + 2 * y - s / 3
    b = x ** 3 - (x - 1) ** 2 + 1e-3
    c = i // j + i % j - (i + 1) * 2
    d = i / j
    e = np.sqrt(N) * x / M
    f = np.where(x > y, x, -1) + np.where(i == j, 1.5, 0)
    g = np.clip(x, -0.5, 0.5) + np.maximum(x, y) + np.minimum(0, x)
    h = np.square(x) + np.abs(x) + np.sign(x) + np.floor(x) + np.rint(2 * x)
    k = np.exp(x) + np.log(1 + np.exp(y)) + np.tanh(x) + np.sin(y) * np.cos(y)
    l = (x > 0).astype(np.float32) + (i > 0) * 2
    m = i.astype(np.float64) * 0.5 + x.astype(np.int32)
    o = (x > 0) & (y > 0) | ~(x < -1)
    p = N * M + i
    q = (N + 1) // 2 * x
    r = 1 / N + 1 / 3
    t = n * i + 7 // 2
    return a, b, c, d, e, f, g, h, k, l, m, o, p, q, r, t
