"""Timestamps: aware datetimes in UTC inside, ISO 8601 text with offset outside."""

from datetime import UTC, datetime, timedelta
from typing import TypeAlias

__all__ = ["Timestamp", "as_utc", "from_microseconds", "to_microseconds", "to_text", "utc_now"]

Timestamp: TypeAlias = datetime | str
"""What limbic accepts as a point in time: a datetime, or ISO 8601 text; naive means UTC."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


def as_utc(value: Timestamp, name: str = "timestamp") -> datetime:
    """Return a point in time as an aware datetime in UTC.

    Parameters
    ----------
    value : datetime or str
        A datetime, or ISO 8601 text such as ``2026-08-26T12:00:00+02:00``. Without an offset it is
        read as UTC.
    name : str, optional
        Name of the argument, for the message.

    Returns
    -------
    datetime
        Aware, in UTC, to the microsecond.

    Raises
    ------
    TypeError
        If `value` is neither a datetime nor a string.
    ValueError
        If the text is not ISO 8601, or the time leaves the years 1 to 9999 in UTC.

    Examples
    --------
    >>> as_utc("2026-08-26T12:00:00+02:00")
    datetime.datetime(2026, 8, 26, 10, 0, tzinfo=datetime.timezone.utc)
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise ValueError(
                f"{name} must be ISO 8601 text such as '2026-08-26T12:00:00+00:00', got {value!r}"
            ) from error
    elif isinstance(value, datetime):
        moment = value
    else:
        raise TypeError(
            f"{name} must be a datetime or ISO 8601 text, got {type(value).__name__}: {value!r}"
        )
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{name} leaves the years 1 to 9999 in UTC, got {value!r}") from error


def to_text(moment: datetime) -> str:
    """Return an aware datetime as ISO 8601 text in UTC, always with microseconds.

    The fixed width makes the order of the texts the order of the times.

    Examples
    --------
    >>> to_text(as_utc("2026-08-26T12:00:00"))
    '2026-08-26T12:00:00.000000+00:00'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_microseconds(moment: datetime) -> int:
    """Return whole microseconds since 1970-01-01 UTC; exact, and it fits int64."""
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Return the aware UTC datetime that `to_microseconds` came from."""
    return _EPOCH + microseconds * _MICROSECOND
