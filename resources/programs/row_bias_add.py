from __future__ import annotations
import numpy as np


# A bias for each column, added to every row.
def row_bias_add(x: f32[M, N], b: f32[N]) -> f32[M, N]:
    return x + b
