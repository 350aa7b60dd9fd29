from __future__ import annotations
import numpy as np


def contractions(a: f32[B, M, K], b: f32[B, K, N], c: f32[K, N], v: f32[K], i: i32[K, K]):
    p = a @ b
    q = a @ c
    r = a @ v
    s = v @ c
    t = v @ v
    u = np.einsum('bmk,bkn->bmn', a, b)
    w = np.einsum('kn,k', c, v)
    x = np.einsum('ii->i', i)
    y = np.outer(v, v)
    z = i @ i
    return p, q, r, s, t, u, w, x, y, z
