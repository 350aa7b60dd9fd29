from __future__ import annotations
import numpy as np


# Mean of the elements of each row whose mask is positive; every row has one.
def masked_mean(x: f32[M, N], mask: f32[M, N]) -> f32[M]:
    assert np.all(np.max(mask, axis=-1) > 0)
    total = np.sum(np.where(mask > 0, x, 0), axis=-1)
    return total / np.sum(np.where(mask > 0, 1.0, 0.0), axis=-1)
