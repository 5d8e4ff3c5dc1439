"""Figures as people read them: IEC units, times in the two largest units that say something."""

from __future__ import annotations

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIME_UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def format_bytes(amount: float) -> str:
    """Write an amount of bytes.

    >>> [format_bytes(n) for n in (0, 1023, 1536, 5 * 1024**4)]
    ['0 B', '1,023 B', '1.5 KiB', '5.0 TiB']
    """
    unit = 0
    while abs(amount) >= 1024 and unit < len(_BYTE_UNITS) - 1:
        amount /= 1024
        unit += 1
    return f"{amount:,.1f} {_BYTE_UNITS[unit]}" if unit else f"{amount:,.0f} B"


def format_seconds(seconds: float | None) -> str:
    """Write a time; ``None`` is one that never ends.

    >>> [format_seconds(s) for s in (0, 12.5, 75, 3600, 90061, None)]
    ['0 s', '12.5 s', '1 min 15 s', '1 h', '1 d 1 h', 'never']
    """
    if seconds is None:
        return "never"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for place, (unit, length) in enumerate(_TIME_UNITS):
        if whole >= length:
            smaller, size = _TIME_UNITS[place + 1] if place + 1 < len(_TIME_UNITS) else ("s", 1)
            count, rest = divmod(whole, length)
            return f"{count} {unit}" + (f" {rest // size} {smaller}" if rest // size else "")
    return f"{whole} s"


def format_ratio(ratio: float | None) -> str:
    """Write a ratio in percent; ``None`` is one that has no value.

    >>> [format_ratio(r) for r in (0.0, 0.0212, None)]
    ['0.0 %', '2.1 %', '—']
    """
    return "—" if ratio is None else f"{ratio:.1%}".replace("%", " %")
