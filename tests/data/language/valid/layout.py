from __future__ import annotations
import numpy as np


def layout(x: f32[A, B, C], y: f32[A, B, C], i: i32[D], v: f32[N]):
    assert np.all(i >= 0)
    assert np.all(i < 1)
    A, B, C = x.shape
    N = v.shape[0]
    assert N % 6 == 0
    a = np.transpose(x, (2, 0, 1))
    b = x.T
    c = np.swapaxes(x, 0, -1)
    d = x.transpose(1, 0, 2).reshape(B, A * C)
    e = np.expand_dims(x, (0, 2))
    f = np.squeeze(np.expand_dims(v, 1), axis=1)
    g = np.broadcast_to(x, (3, A, B, C))
    h = np.concatenate([x, y], axis=1)
    k = np.stack([x, y], axis=-1)
    l, m, n = np.split(v, 3)
    o, p = np.split(v, [N // 3])
    q = np.repeat(x, 2, axis=1)
    r = np.take(x, i, axis=0)
    s = v.reshape(-1, 6)
    t = np.reshape(v, (2, -1))
    u = np.take(x, np.arange(B) % B, axis=1)
    w = np.repeat(v, 3)
    return a, b, c, d, e, f, g, h, k, l, m, n, o, p, q, r, s, t, u, w
