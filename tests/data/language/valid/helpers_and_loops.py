from __future__ import annotations
import numpy as np


EPS = 1e-5


def sigmoid(x, scale=1):
    return 1 / (1 + np.exp(-x * scale))


def norm(x: f32[A, B], g: f32[B]) -> f32[A, B]:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPS) * g


def both(x):
    return x + 1, x - 1


def helpers_and_loops(x: f32[M, N], g: f32[N]):
    """Helpers are inlined, loops unrolled or kept."""
    M, N = x.shape
    y = norm(x, g) + sigmoid(x, scale=2)
    up, down = both(y)
    for k in range(3):
        y = y + k * up
    total = 0.0
    count = 0
    for k in range(N):
        column = x[:, k:k + 1]
        total = total + column
        count = count + k
    best = x[:, 0]
    for k in range(1, N):
        best = np.maximum(best, x[:, k])
    outer = np.zeros((M,))
    for a in range(M):
        inner = np.zeros((N,))
        for b in range(N):
            inner = inner + x[a] * g[b]
        outer = outer + np.sum(inner) * (a + 1)
    back = np.zeros((M, 1))
    for k in range(N - 1, -1, -1):
        back = back * 0.5 + x[:, k:k + 1]
    return y, down, total, count, best, outer, back
