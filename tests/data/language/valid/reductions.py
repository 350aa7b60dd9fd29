from __future__ import annotations
import numpy as np


def reductions(x: f32[A, B, C], m: bool[A, B], i: i32[A, B]):
    a = np.sum(x)
    b = np.mean(x, axis=(0, 2))
    c = np.max(x, axis=-1, keepdims=True)
    d = np.min(x, axis=0)
    e = np.prod(x, axis=1)
    f = np.var(x, axis=1, keepdims=True)
    g = np.cumsum(x, axis=1)
    h = np.cumsum(x)
    j = np.sum(m, axis=1)
    k = np.mean(i, axis=0)
    l = np.all(m, axis=0)
    n = np.mean(m)
    o = np.var(x)
    return a, b, c, d, e, f, g, h, j, k, l, n, o
