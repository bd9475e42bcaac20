"""Writes golden/features.json: what Polars makes of small tables, for every feature of native/columns. Needs `pip install polars`.

python test/support/columns/golden.py
"""
import json
import math
import random
from pathlib import Path

import polars as pl

WINDOWS = [1, 2, 3, 5, 10, 50]
LAGS = [1, 2, 7, 60]
SPANS = [1, 3, 10]
random.seed(7)


def noisy(offset, scale, n, nulls=0.0):
    return [None if random.random() < nulls else offset + scale * random.gauss(0, 1) for _ in range(n)]


TABLES = {
    "counting": {"x": [float(i) for i in range(1, 11)]},
    "two": {"x": [100.0, 150.0]},
    "one": {"x": [3.5]},
    "constant": {"x": [0.1] * 12},
    "zeros": {"x": [0.0, 0.0, 1.0, 0.0, 0.0]},
    "nulls": {"x": [None, None, 1.0, None, 3.0, None, None, None, 2.0, None]},
    "only_nulls_first": {"x": [None] * 6 + [4.0, 5.0]},
    "negative": {"x": [-3.0, 2.0, -1.0, 0.5, -0.5, 8.0, -8.0]},
    "offset": {"x": noisy(1e9, 1.0, 40)},
    "sparse": {"x": noisy(5, 2, 60, nulls=0.3)},
    "ties": {"x": [float(random.randint(0, 3)) for _ in range(40)]},
    "two_columns": {"a": noisy(0, 1, 25), "b": noisy(1e-6, 1e-7, 25, nulls=0.1)},
}


def features(column):
    """Windows take the rows that there are; what cannot be computed is 0."""
    c = pl.col(column)
    out = {}
    for w in WINDOWS:
        mean = c.rolling_mean(w, min_samples=1)
        std = c.rolling_std(w, min_samples=1, ddof=1)
        low = c.rolling_min(w, min_samples=1)
        high = c.rolling_max(w, min_samples=1)
        out[f"{column}_rolling_mean_{w}"] = mean
        out[f"{column}_rolling_std_{w}"] = std
        out[f"{column}_rolling_min_{w}"] = low
        out[f"{column}_rolling_max_{w}"] = high
        out[f"{column}_rolling_sum_{w}"] = c.rolling_sum(w, min_samples=1)
        out[f"{column}_rolling_median_{w}"] = c.rolling_median(w, min_samples=1)
        # Where there is no deviation, Polars' max_horizontal would take the bound instead of the null.
        out[f"{column}_zscore_{w}"] = pl.when(std.is_not_null()).then((c - mean) / pl.max_horizontal(std, pl.lit(1e-10)))
        out[f"{column}_deviation_{w}"] = (c - mean).abs()
        out[f"{column}_minmax_scaled_{w}"] = (c - low) / pl.max_horizontal(high - low, pl.lit(1e-10))
    for k in LAGS:
        out[f"{column}_lag_{k}"] = c.shift(k)
    for k in LAGS:
        then = c.shift(k)
        out[f"{column}_roc_{k}"] = pl.when(then.is_not_null()).then((c - then) / pl.max_horizontal(then.abs(), pl.lit(1e-10)))
    for s in SPANS:
        out[f"{column}_ewm_mean_{s}"] = c.ewm_mean(span=s, adjust=True, ignore_nulls=False, min_samples=1)
    return out


def written(value):
    return 0 if value is None or math.isnan(value) else float(f"{value:.13g}")


tables = {}
for name, columns in TABLES.items():
    frame = pl.DataFrame({key: pl.Series(values, dtype=pl.Float64) for key, values in columns.items()})
    made = frame.select([expr.alias(key) for column in columns for key, expr in features(column).items()])
    expected = {key: [written(v) for v in made[key].to_list()] for key in made.columns}
    tables[name] = {"columns": columns, "expected": expected}

golden = {"polars": pl.__version__, "windows": WINDOWS, "lags": LAGS, "spans": SPANS, "tables": tables}
path = Path(__file__).parent / "golden" / "features.json"
path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes, Polars", pl.__version__)
