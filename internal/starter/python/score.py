"""The logic, and the place to put your own."""

RECENT = 5  # how many of the newest samples count


def score(metric: dict[str, str], past: list[tuple[float, float]]) -> float | None:
    """Turn the past of one series into a number from -100 to 100, more being better.

    ``past`` is (time in seconds since 1970, value), oldest first. None is
    where there is nothing to go by: no score is better than a wrong one.

    This one takes each series for how busy something is, from 0 to 1, and
    scores what is free, on the average of the newest samples.
    """
    newest = [value for _, value in past[-RECENT:]]
    if not newest:
        return None
    busy = sum(newest) / len(newest)
    return 100 * (1 - max(0.0, min(1.0, busy)))
