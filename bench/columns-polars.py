"""Times what bench/columns.ts times, in Polars: python bench/columns-polars.py ROWS WINDOW APPENDS. Prints JSON, times in ms."""
import json
import math
import sys
import time

import polars as pl

ROWS, WINDOW, APPENDS = map(int, sys.argv[1:4])
WINDOWS, LAGS = [5, 10, 20], [1, 2, 3]


def with_features(frame):
    made = []
    for name in frame.columns:
        c = pl.col(name)
        for w in WINDOWS:
            made.append(c.rolling_mean(w, min_samples=1).fill_null(0).alias(f"{name}_rolling_mean_{w}"))
            made.append(c.rolling_std(w, min_samples=1).fill_null(0).alias(f"{name}_rolling_std_{w}"))
            made.append(c.rolling_min(w, min_samples=1).fill_null(0).alias(f"{name}_rolling_min_{w}"))
            made.append(c.rolling_max(w, min_samples=1).fill_null(0).alias(f"{name}_rolling_max_{w}"))
        made += [c.shift(k).fill_null(0).alias(f"{name}_lag_{k}") for k in LAGS]
    return frame.with_columns(made)


def row(index):
    return {"a": math.sin(index * 7.1), "b": math.cos(index * 3.3), "c": float(index % 97)}


def median(values):
    return sorted(values)[len(values) // 2]


def batch():
    frame = pl.DataFrame([row(index) for index in range(ROWS)]).select("a", "b")
    times = []
    for _ in range(5):
        start = time.perf_counter()
        with_features(frame)
        times.append((time.perf_counter() - start) * 1000)
    return median(times)


def appends(features):
    # A full buffer whose rows are appended one by one, as a service has to.
    frame = pl.DataFrame([row(index) for index in range(WINDOW)])
    reach = max(WINDOWS + LAGS) + 1
    start = time.perf_counter()
    for index in range(APPENDS):
        frame = pl.concat([frame, pl.DataFrame([row(WINDOW + index)])], how="diagonal_relaxed").tail(WINDOW)
        if features:
            # Only the rows that the last one's features look at.
            with_features(frame.tail(reach)).tail(1).to_dicts()
    return (time.perf_counter() - start) * 1000


print(json.dumps({"version": pl.__version__, "batchMs": batch(), "appendMs": appends(False), "featuresMs": appends(True)}))
