"""Residuals of forces: their size, whether they are white, what stands out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array

OUTLIER = 6.0
"""Residuals beyond this many times the channel's usual size (by its median) are outliers."""
LAGS = 20
WHITE = 0.01
"""Residuals of a smaller p-value are not white."""


class Whiteness(NamedTuple):
    """Of each channel (a,): rms, correlation of neighbours, correlation time in samples, p-value of Ljung and Box."""

    rms: Array
    neighbours: Array
    time: Array
    p_value: Array

    @property
    def widening(self) -> Array:
        """By how much intervals widen (a,): the correlation time of residuals that are not white, else 1."""
        return np.where(self.p_value < WHITE, self.time, 1.0)


def whiteness(residual: Array, good: NDArray[np.bool_]) -> Whiteness:
    """Of residuals (n, a); samples that are not good count as zero. By autocorrelations rho_j:

    time tau = 1 + 2 sum rho_j up to the first window of 5 tau (Sokal), Q = n (n + 2) sum rho_j^2/(n - j) over 20 lags.
    """
    from scipy.special import chdtrc

    n = len(residual)
    r, rho = _correlations(residual, good)
    running = 1 + 2 * np.cumsum(rho[1:], axis=0)
    window = np.arange(1, len(running) + 1)[:, None] >= 5 * running
    times = np.array([
        running[int(np.argmax(window[:, k])) if window[:, k].any() else -1, k] for k in range(r.shape[1])
    ])  # fmt: skip
    lags = min(LAGS, len(rho) - 1)
    q = n * (n + 2) * (rho[1 : lags + 1] ** 2 / (n - np.arange(1, lags + 1))[:, None]).sum(axis=0)
    rms = np.sqrt((r**2).sum(axis=0) / np.maximum(good.sum(axis=0), 1))
    return Whiteness(rms, rho[1], np.maximum(times, 1.0), chdtrc(lags, q))


def _correlations(residual: Array, good: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Residuals (n, a) without their mean, and their autocorrelations rho_0 ... (n/2, a)."""
    from scipy.fft import irfft, next_fast_len, rfft

    r = np.where(good, residual, 0.0)
    r = r - np.where(good, r.sum(axis=0) / np.maximum(good.sum(axis=0), 1), 0.0)
    n = len(r)
    size = next_fast_len(n + n // 2, real=True)  # lags up to n/2 do not come round
    spectrum = rfft(np.ascontiguousarray(r.T), size)
    auto = irfft(spectrum.real**2 + spectrum.imag**2, size)[:, : n // 2].T
    with np.errstate(invalid="ignore", divide="ignore"):
        return r, np.nan_to_num(auto / auto[0])


def autocorrelation(residual: Array, good: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Array]:
    """Lags 1 ... (l,) and the autocorrelations (l, a) of residuals (n, a) at them."""
    rho = _correlations(residual, good)[1][1 : LAGS + 1]
    return np.arange(1, len(rho) + 1), rho


def outliers(residual: Array, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Good samples whose residual stands out of its channel."""
    # the usual size of many residuals is that of some of them
    some = slice(None, None, max(len(residual) // 10_000, 1))
    masked = np.where(good, residual, np.nan)[some]
    middle = np.nanmedian(masked, axis=0)
    size = 1.4826 * np.nanmedian(np.abs(masked - middle), axis=0)
    return good & (np.abs(residual - middle) > OUTLIER * size)
