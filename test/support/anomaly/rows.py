"""The data sets of datasets.ts, made again to the bit."""

import numpy as np


class Draws:
    """mulberry32; everything from it is made with +, -, * and / alone, so that every language gets the same bits."""

    def __init__(self, seed):
        self.state = seed & 0xFFFFFFFF

    def uniform(self):
        self.state = (self.state + 0x6D2B79F5) & 0xFFFFFFFF
        t = self.state
        t = ((t ^ (t >> 15)) * (t | 1)) & 0xFFFFFFFF
        t ^= (t + ((t ^ (t >> 7)) * (t | 61))) & 0xFFFFFFFF
        return ((t ^ (t >> 14)) & 0xFFFFFFFF) / 4294967296

    def normal(self):
        total = -6.0
        for _ in range(12):
            total += self.uniform()
        return total


def blobs(columns, centres, spread, deviations=(1.0,)):
    """Row makers are functions of (draws, odd); `odd` rows are the anomalies."""
    places = Draws(columns * 1000 + centres)
    middles = [[(places.uniform() * 2 - 1) * spread for _ in range(columns)] for _ in range(centres)]

    def row(draws, odd):
        if odd:
            return [(draws.uniform() * 2 - 1) * spread * 1.5 for _ in range(columns)]
        which = int(draws.uniform() * centres)
        deviation = deviations[which % len(deviations)]
        return [middles[which][k] + draws.normal() * deviation for k in range(columns)]

    return row


def correlated(columns):
    def row(draws, odd):
        common = draws.normal()
        return [draws.normal() * 2 if odd else common * (k + 1) * 0.5 + draws.normal() * 0.2 for k in range(columns)]

    return row


def heavy(columns):
    def one(draws):
        u = draws.uniform() * 2 - 1
        return u / (1 - u * u + 1e-3)

    return lambda draws, odd: [one(draws) * (8 if odd else 1) for _ in range(columns)]


def categorical(draws, odd):
    first, second = int(draws.uniform() * 4), int(draws.uniform() * draws.uniform() * 3)
    numbers = [draws.normal() + first + (4 if odd else 0) for _ in range(3)]
    return numbers + [1.0 if k == first else 0.0 for k in range(4)] + [1.0 if k == second else 0.0 for k in range(3)]


def constant(draws, odd):
    return [draws.normal() * (4 if odd else 1), 0.1, draws.normal(), 5.0, draws.uniform()]


def one_column(draws, odd):
    return [6 + draws.normal() * 3 if odd else draws.normal()]


def wide(draws, odd):
    common = draws.normal()
    return [draws.normal() * (2.5 if odd else 1) + common * 0.5 for _ in range(300)]


def duplicates(draws, odd):
    return [float(int(draws.uniform() * 4)) + (5 if odd else 0) for _ in range(2)]


def ring(draws, odd):
    while True:
        x, y = draws.uniform() * 2 - 1, draws.uniform() * 2 - 1
        square = x * x + y * y
        if (square < 0.3) if odd else (0.6 < square < 1):
            return [x, y]


def line(draws, odd):
    x = draws.normal()
    return [x, 2 * x, 3 * x + (4 if odd else 0) + draws.normal()]


def cube(draws, odd):
    return [draws.uniform() + (0.8 if odd and k < 2 else 0) for k in range(6)]


def skewed(draws, odd):
    return [(lambda u: u / (1.01 - u) * (3 if odd else 1))(draws.uniform()) for _ in range(4)]


def scaled(factor, offset):
    return lambda draws, odd: [offset + factor * draws.normal() * (5 if odd else 1) for _ in range(3)]


def counts(draws, odd):
    return [float(int(draws.uniform() * draws.uniform() * (60 if odd else 20))) for _ in range(5)]


def shell(draws, odd):
    while True:
        x, y, z = (draws.uniform() * 2 - 1 for _ in range(3))
        square = x * x + y * y + z * z
        if (square < 0.2) if odd else (0.8 < square < 1):
            return [x, y, z]


def uneven(draws, odd):
    if odd:
        return [8 + draws.normal() * 0.3, 8 + draws.normal() * 0.3, draws.normal()]
    which = int(draws.uniform() * draws.uniform() * 7)
    return [which * 6 + draws.normal() * 0.5, (which % 3) * 5 + draws.normal() * 0.5, draws.normal()]


def far_apart(columns):
    """Eight clusters of unequal size so far apart that every good k-means finds them."""
    places = Draws(columns)
    middles = [[(places.uniform() * 2 - 1) * 1000 for _ in range(columns)] for _ in range(8)]

    def row(draws, odd):
        which = int(draws.uniform() * draws.uniform() * 8)
        return [middles[which][k] + draws.normal() * (6 if odd else 1) for k in range(columns)]

    return row


# name, row maker, rows to fit, share of anomalies.
DATASETS = [
    ('blobs in 2 columns', blobs(2, 3, 10), 300, 0.05),
    ('blobs in 10 columns', blobs(10, 8, 12), 400, 0.05),
    ('unequal density', blobs(2, 2, 6, (0.1, 1.5)), 300, 0.05),
    ('correlated', correlated(5), 300, 0.08),
    ('heavy tails', heavy(4), 500, 0.05),
    ('categorical mix', categorical, 300, 0.06),
    ('constant columns', constant, 200, 0.05),
    ('one column', one_column, 250, 0.05),
    ('300 columns', wide, 120, 0.05),
    ('duplicates', duplicates, 200, 0.05),
    ('two rows', blobs(2, 1, 3), 2, 0),
    ('three rows', blobs(3, 1, 3), 3, 0),
    ('ring', ring, 400, 0.05),
    ('line', line, 200, 0.05),
    ('cube', cube, 300, 0.05),
    ('skewed', skewed, 300, 0.05),
    ('far from zero', scaled(1.0, 1e6), 200, 0.05),
    ('tiny numbers', scaled(1e-6, 0.0), 200, 0.05),
    ('counts', counts, 300, 0.05),
    ('blobs in 20 columns', blobs(20, 4, 8), 400, 0.05),
    ('twenty rows', blobs(3, 2, 5), 20, 0),
    ('shell', shell, 300, 0.05),
    ('uneven clusters', uneven, 400, 0.04),
    ('1200 rows', blobs(6, 1, 7), 1200, 0.08),
]
# For cblof, whose scores can be compared where k-means agrees.
CLUSTERED = [(f'far apart in {columns} columns', far_apart(columns), 250 + columns, 0.05) for columns in (2, 3, 4, 5, 6, 8, 11, 15, 21, 30, 44, 60)]
QUERIES = 24


def make(index):
    """Rows to fit with their labels, and rows to score: half of them fitted ones."""
    _, row, count, share = (DATASETS + CLUSTERED)[index]
    draws = Draws(index + 1)
    labels = [draws.uniform() < share for _ in range(count)]
    fitted = [row(draws, odd) for odd in labels]
    queries = fitted[: QUERIES // 2] + [row(draws, i % 3 == 0) for i in range(QUERIES // 2)]
    return np.array(fitted), np.array(labels), np.array(queries)
