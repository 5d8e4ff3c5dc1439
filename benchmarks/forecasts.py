"""How good forecasts are on public series: ``python -m benchmarks.forecasts`` takes minutes and prints a table."""

from __future__ import annotations

from tests.unit.demand.public_series import Measured, daily_page_views, hourly_pedestrians, measured


def main() -> None:
    print("| series | history | horizon | forecasts | inside the 80 % interval | error / seasonal naive |")
    print("|---|---|---|---|---|---|")
    daily = daily_page_views()
    for history, horizon in ((150, 30), (200, 60), (400, 100), (400, 200), (760, 365), (1460, 365)):
        _print(
            "daily page views",
            "days",
            measured(daily, season=7, history=history, horizon=horizon, step=97),
            history,
            horizon,
        )
    for location in ("location_4", "location_41"):
        hourly = hourly_pedestrians(location)
        for history, horizon in ((480, 24), (480, 48), (500, 96), (500, 168)):
            found = measured(hourly, season=24, history=history, horizon=horizon, step=11)
            _print(f"hourly pedestrians, {location}", "hours", found, history, horizon)


def _print(name: str, unit: str, found: Measured, history: int, horizon: int) -> None:
    print(
        f"| {name} | {history:,} {unit} | {horizon} {unit} | {found.forecasts} | {found.coverage_ratio:.1%} | "
        f"{found.relative_error:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
