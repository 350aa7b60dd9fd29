from __future__ import annotations
import numpy as np


def creation(x: f32[M, N]):
    M, N = x.shape
    a = np.zeros((M, 2)) + np.ones((2,)) + np.full((M, 1), 0.25)
    b = np.arange(N) + np.arange(1, N + 1) * np.arange(0, 2 * N, 2)
    c = np.tril(x) + np.tril(x, k=-1) + np.tril(x, 1)
    d = np.full((N,), 3)
    e = np.zeros(x.shape) + x
    f = np.broadcast_to(np.arange(M)[:, None], (M, N))
    g = np.float32(N) * 0.5
    h = np.where(np.arange(M)[:, None] >= np.arange(N), x, -np.inf)
    return a, b, c, d, e, f, g, np.max(h, axis=1)
