from __future__ import annotations
import numpy as np


def python_numbers(x: f32[M, N], s: f32):
    M, N = x.shape
    a = np.float32(1 / N)[None] + x
    b = (N > 2) | (x > 0)
    c = np.int32(M / 2) + np.arange(N)
    d = np.where(not (M > 4), x, -x)
    e = np.where(M > 2 and N > 2 or M == 1, x, 0)
    f = np.float32(M).reshape(1, 1) * x
    g = np.where(0 < s < 1 and not s == 0.5, x, s)
    h = np.sum(M > 2) + np.maximum(M, N) + np.sqrt(M * N)
    i = -(M / N) + x
    return a, b, c, d, e, f, g, h, i
