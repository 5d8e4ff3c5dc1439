"""How far off forecasts are, by how far ahead: from the errors that a backtest made, not from a model's assumptions.

Errors of a backtest are logarithms of actual over forecast. Their typical size is a curve ``a + b √h + c h`` of the
horizon h with coefficients that are not negative, fitted to absolute errors; so it never falls with the horizon. Errors
over that curve are one population, and its quantiles make intervals of any coverage: this is conformal prediction with
errors scaled by the horizon (Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005).

Forecasts of a hundred days from a year of history overlap: only three of them are independent. With ν independent ones,
quantiles are widened as Student's t with ν degrees of freedom is wider than the normal distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ErrorCurve:
    """The errors of one series' forecasts.

    Attributes:
        scale: float64[H], the typical absolute error of each horizon, in logarithms.
        scaled: float64[E], absolute errors over the scale of their horizon, ascending.
        independent: float64[H], how many forecasts so far ahead do not overlap, at least 1.
    """

    scale: NDArray[np.float64]
    scaled: NDArray[np.float64]
    independent: NDArray[np.float64]

    def reach(self, quantile: float) -> NDArray[np.float64]:
        """Return float64[H], how far above the median in logarithms this quantile is; below, as far for its opposite.

        Args:
            quantile: 0.5 to 1.
        """
        from scipy.stats import norm, t

        if quantile <= 0.5 or not len(self.scaled):
            return np.zeros(len(self.scale))
        share = float(np.quantile(self.scaled, 2 * quantile - 1))
        widening = t.ppf(quantile, self.independent) / norm.ppf(quantile)
        return np.asarray(share * self.scale * widening, dtype=np.float64)


def error_curve(errors: NDArray[np.float64], season: int, tested_steps: int) -> ErrorCurve:
    """Fit the curve of errors.

    Args:
        errors: float64[O, H], of each origin and horizon, NaN where there is none.
        season: how many steps a season has; horizons are counted in seasons.
        tested_steps: how many steps the origins stretch over.
    """
    from scipy.optimize import nnls

    horizon = np.arange(1, errors.shape[1] + 1)
    seasons = horizon / season
    terms = np.stack([np.ones(len(seasons)), np.sqrt(seasons), seasons], axis=1)
    _, column = np.nonzero(np.isfinite(errors))
    size = np.abs(errors[np.isfinite(errors)])
    coefficients, _ = nnls(terms[column], size)
    scale = terms @ coefficients
    scaled = np.divide(size, scale[column], out=np.zeros(len(size)), where=scale[column] > 0)
    return ErrorCurve(scale=scale, scaled=np.sort(scaled), independent=np.maximum(1.0, tested_steps / horizon))
