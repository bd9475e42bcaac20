"""Writes golden/<backend>.json: what scikit-learn and PyOD answer to the data sets of datasets.ts, which this file repeats.

    python golden.py [backend ...]

Needs numpy, scikit-learn and pyod; autoencoder needs numpy and torch alone. The numbers have 10 significant digits.
"""

import json
import os
import sys
import warnings

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
SEEDS = range(10)
CONTAMINATION = 0.1
warnings.filterwarnings('ignore')


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
QUERIES = 24


def make(index):
    """Rows to fit with their labels, and rows to score: half of them fitted ones."""
    _, row, count, share = DATASETS[index]
    draws = Draws(index + 1)
    labels = [draws.uniform() < share for _ in range(count)]
    fitted = [row(draws, odd) for odd in labels]
    queries = fitted[: QUERIES // 2] + [row(draws, i % 3 == 0) for i in range(QUERIES // 2)]
    return np.array(fitted), np.array(labels), np.array(queries)


def ecod(fitted, queries):
    from pyod.models.ecod import ECOD

    model = ECOD(contamination=CONTAMINATION).fit(fitted)
    return [model.decision_function(row.reshape(1, -1))[0] for row in queries]


def copod(fitted, queries):
    from pyod.models.copod import COPOD

    model = COPOD(contamination=CONTAMINATION).fit(fitted)
    return [model.decision_function(row.reshape(1, -1))[0] for row in queries]


def hbos(fitted, queries):
    from pyod.models.hbos import HBOS

    return HBOS(n_bins=10, alpha=0.1, tol=0.5, contamination=CONTAMINATION).fit(fitted).decision_function(queries)


def knn(fitted, queries):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=min(5, len(fitted)), algorithm='brute').fit(fitted)
    # scikit-learn's brute force loses digits far from zero: the distances are taken again.
    found = model.kneighbors(queries, return_distance=False)
    return [np.sort(np.linalg.norm(fitted[found[i]] - row, axis=1))[-1] for i, row in enumerate(queries)]


def local_outlier_factor(fitted, queries):
    from sklearn.neighbors import LocalOutlierFactor

    neighbours = min(len(fitted) - 1, max(2, min(20, len(fitted) // 2)))
    model = LocalOutlierFactor(n_neighbors=neighbours, novelty=True, algorithm='kd_tree').fit(fitted)
    return -model.score_samples(queries)


def one_class_svm(fitted, queries):
    from sklearn.svm import OneClassSVM

    return -OneClassSVM(kernel='rbf', gamma='auto', nu=CONTAMINATION, tol=1e-3).fit(fitted).decision_function(queries)


def mcd(fitted, queries):
    """The raw estimate of the least determinant of all seeds, corrected and reweighted as in scikit-learn 1.2.1."""
    from scipy.stats import chi2
    from sklearn.covariance import MinCovDet

    best = None
    if fitted.shape[1] >= len(fitted):
        return None
    for seed in SEEDS:
        try:
            model = MinCovDet(random_state=seed).fit(fitted)
        except ValueError:
            return None
        size = np.linalg.slogdet(model.raw_covariance_)[1]
        if best is None or size < best[0]:
            best = (size, model.raw_location_, model.raw_covariance_)
    _, location, covariance = best
    columns = fitted.shape[1]
    if np.linalg.matrix_rank(covariance, hermitian=True) < columns:
        return None

    def squares(rows, centre, table):
        return np.einsum('ij,ij->i', (rows - centre) @ np.linalg.inv(table), rows - centre)

    distances = squares(fitted, location, covariance)
    distances /= np.median(distances) / chi2(columns).isf(0.5)
    inside = fitted[distances < chi2(columns).isf(0.025)]
    return squares(queries, inside.mean(0), np.cov(inside.T, bias=True).reshape(columns, columns))


def cblof(fitted, queries):
    """By the k-means of the least inertia, with its large centres, which ours must have found too to be comparable."""
    from pyod.models.cblof import CBLOF
    from sklearn.cluster import KMeans

    if len(fitted) < 8 or len(np.unique(fitted, axis=0)) < 8:
        return None
    model = CBLOF(clustering_estimator=KMeans(n_clusters=8, n_init=50, tol=0, random_state=42), check_estimator=False)
    try:
        model.fit(fitted)
    except ValueError:
        return None
    centres = model.cluster_centers_[model.large_cluster_labels_]
    return model.decision_function(queries), centres.ravel()


def random_state(make_model):
    return lambda fitted: [make_model(seed).fit(fitted).decision_function(fitted) for seed in SEEDS]


def isolation_forests(fitted):
    from sklearn.ensemble import IsolationForest

    return [-IsolationForest(random_state=seed).fit(fitted).score_samples(fitted) for seed in SEEDS]


def cblofs(fitted):
    from pyod.models.cblof import CBLOF

    return [CBLOF(random_state=seed).fit(fitted).decision_scores_ for seed in SEEDS]


def mcds(fitted):
    from pyod.models.mcd import MCD

    if fitted.shape[1] >= len(fitted):
        raise ValueError('fewer rows than columns')
    return [MCD(random_state=seed).fit(fitted).decision_scores_ for seed in SEEDS]


def lodas(fitted):
    from pyod.models.loda import LODA

    scores = []
    for seed in SEEDS:
        np.random.seed(seed)
        scores.append(LODA(n_bins=10, n_random_cuts=100).fit(fitted).decision_function(fitted))
    return scores


def suods(fitted):
    """The average that SUOD makes of its three base detectors, without its projections and approximations."""
    scores = []
    for forest in isolation_forests(fitted):
        parts = [forest, hbos(fitted, fitted), copod_pooled(fitted)]
        scores.append(sum((part - part.mean()) / (part.std() or 1) for part in map(np.array, parts)) / 3)
    return scores


def copod_pooled(fitted):
    from pyod.models.copod import COPOD

    return COPOD(contamination=CONTAMINATION).fit(fitted).decision_scores_


def autoencoders(fitted):
    """PyOD's AutoEncoder: linear, batch normalisation, relu, dropout 0.2 by 64, 32 and 64 units, in PyTorch."""
    import torch
    from torch import nn

    scores = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        rows = torch.tensor((fitted - fitted.mean(0)) / (fitted.std(0) + 1e-8), dtype=torch.float32)
        layers, width = [], rows.shape[1]
        for units in (64, 32, 64):
            linear = nn.Linear(width, units)
            nn.init.kaiming_uniform_(linear.weight)
            layers += [linear, nn.BatchNorm1d(units), nn.ReLU(), nn.Dropout(0.2)]
            width = units
        model = nn.Sequential(*layers, nn.Linear(width, rows.shape[1]))
        adam = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
        batch = min(32, len(rows))
        for _ in range(100):
            order = torch.randperm(len(rows))
            for first in range(0, len(rows) - batch + 1, batch):
                some = rows[order[first : first + batch]]
                adam.zero_grad()
                nn.functional.mse_loss(model(some), some).backward()
                adam.step()
        model.eval()
        with torch.no_grad():
            scores.append(torch.linalg.norm(rows - model(rows), dim=1).numpy())
    return scores


EXACT = {f.__name__: f for f in (ecod, copod, hbos, knn, local_outlier_factor, one_class_svm, mcd, cblof)}
RANDOM = {
    'isolation_forest': isolation_forests,
    'loda': lodas,
    'suod': suods,
    'cblof': cblofs,
    'mcd': mcds,
    'autoencoder': autoencoders,
}
# Sets of the slow ones.
AREAS = ('blobs in 10 columns', 'unequal density', 'correlated', 'heavy tails', 'constant columns', 'line', 'cube', 'skewed', 'uneven clusters')
FEW = {'autoencoder': ('constant columns', 'correlated', 'unequal density', 'line')}


def area(labels, scores):
    """The area under the ROC curve: the chance that an anomaly scores higher, a tie counting half."""
    odd, usual = scores[labels], scores[~labels]
    return float(np.mean((odd[:, None] > usual) + 0.5 * (odd[:, None] == usual)))


def short(values):
    return [float(f'{value:.10g}') for value in values]


def versions():
    found = {'python': sys.version.split()[0], 'numpy': np.__version__}
    for name in ('sklearn', 'pyod', 'scipy', 'torch'):
        module = sys.modules.get(name)
        if module:
            found[name] = module.__version__
    return found


def write(backend):
    entries = {}
    for index, (name, *_) in enumerate(DATASETS):
        if name not in FEW.get(backend, (name,)):
            continue
        fitted, labels, queries = make(index)
        entry = entries[name] = {'sum': short([fitted.sum()])[0]}
        if backend in EXACT:
            answer = EXACT[backend](fitted, queries)
            if isinstance(answer, tuple):
                answer, entry['centres'] = answer[0], short(answer[1])
            if answer is not None:
                entry['scores'] = short(answer)
        if backend in RANDOM and labels.any() and (name in AREAS or backend in ('isolation_forest', 'loda', 'cblof')):
            areas = []
            try:
                areas = [area(labels, np.asarray(scores)) for scores in RANDOM[backend](fitted)]
            except ValueError as error:
                entry['refused'] = str(error)[:100]
            if areas:
                entry['areas'] = short(areas)
        print(backend, name, {key: value for key, value in entry.items() if key == 'areas'}, flush=True)
    with open(os.path.join(FOLDER, backend + '.json'), 'w') as file:
        json.dump({'versions': versions(), 'datasets': entries}, file, indent=None, separators=(',', ':'))
        file.write('\n')


if __name__ == '__main__':
    os.makedirs(FOLDER, exist_ok=True)
    for backend in sys.argv[1:] or [name for name in {**EXACT, **RANDOM} if name != 'autoencoder']:
        write(backend)
