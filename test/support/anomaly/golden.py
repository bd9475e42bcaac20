"""Writes golden/<backend>.json: what scikit-learn and PyOD answer to the data sets of datasets.ts, which rows.py repeats.

    python golden.py [backend ...]

Needs numpy, scikit-learn and pyod, for mcd scikit-learn 1.2.1, for the autoencoder torch and tqdm too (and more than an hour of two cores), for suod the
package suod. Scores have 10 digits, areas 6.
"""

import json
import os
import sys
import warnings
from importlib.metadata import version

import numpy as np
from rows import CLUSTERED, DATASETS, make

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
# Of those that draw at random: the fewest seeds. ROUND more are drawn each time until the mean area has a standard error of at most ERROR.
SEEDS = {'loda': 100, 'cblof': 100, 'isolation_forest': 40, 'suod': 40, 'autoencoder': 100, 'mcd': 100}
ROUND = 20
ERROR = 0.004
CONTAMINATION = 0.1
# By module.
PACKAGES = {'numpy': 'numpy', 'sklearn': 'scikit-learn', 'pyod': 'pyod', 'scipy': 'scipy', 'torch': 'torch', 'suod': 'suod'}
warnings.filterwarnings('ignore')


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


def lof_searches(fitted, queries):
    """By each of scikit-learn's searches: where several rows are as near as the k-th neighbour, they choose differently."""
    from sklearn.neighbors import LocalOutlierFactor

    neighbours = min(len(fitted) - 1, max(2, min(20, len(fitted) // 2)))
    # Its brute force loses digits far from zero; a whole number keeps ties what they are.
    centre = np.round(fitted.mean(0))
    for search in ('kd_tree', 'ball_tree', 'brute'):
        model = LocalOutlierFactor(n_neighbors=neighbours, novelty=True, algorithm=search).fit(fitted - centre)
        yield -model.score_samples(queries - centre)


def local_outlier_factor(fitted, queries):
    return next(lof_searches(fitted, queries))


def one_class_svm(fitted, queries):
    from sklearn.svm import OneClassSVM

    return -OneClassSVM(kernel='rbf', gamma='auto', nu=CONTAMINATION, tol=1e-3).fit(fitted).decision_function(queries)


def in_units(rows, fitted):
    """Tiny numbers a million times larger: scikit-learn takes their variances for 0, and the distances have no unit."""
    return rows * 1e6 if np.abs(fitted).max() < 1e-3 else rows


def estimates(rows, seeds):
    import sklearn
    from pyod.models.mcd import MCD

    if not sklearn.__version__.startswith('1.2.'):
        raise SystemExit('mcd needs scikit-learn 1.2.1, with which PyOD 1.1.3 works: later ones make the estimate consistent by another factor')
    return [MCD(random_state=seed).fit(rows) for seed in seeds]


def mcd(fitted, queries):
    """By the least determinant of ten seeds."""
    if fitted.shape[1] >= len(fitted):
        return None
    fitted, queries = in_units(fitted, fitted), in_units(queries, fitted)
    try:
        best = min(estimates(fitted, range(10)), key=lambda model: np.linalg.slogdet(model.detector_.raw_covariance_)[1])
    except ValueError:
        return None
    regular = np.linalg.matrix_rank(best.detector_.raw_covariance_, hermitian=True) == fitted.shape[1]
    return best.decision_function(queries) if regular else None


def cblof(fitted, queries):
    """By the k-means of the least inertia, with its large centres, which ours must have found too to be comparable."""
    from pyod.models.cblof import CBLOF
    from sklearn.cluster import KMeans

    if len(fitted) < 8 or len(np.unique(fitted, axis=0)) < 8:
        return None
    means = KMeans(n_clusters=8, n_init=50, tol=0, random_state=42)
    model = CBLOF(clustering_estimator=means, check_estimator=False)
    try:
        model.fit(fitted)
    except ValueError:
        # No clusters are clearly large. Ours takes all of them for large then.
        centres = means.fit(fitted).cluster_centers_
        return np.linalg.norm(queries[:, None] - centres, axis=2).min(1), centres.ravel()
    centres = model.cluster_centers_[model.large_cluster_labels_]
    return model.decision_function(queries), centres.ravel()


def isolation_forests(fitted, seeds):
    from sklearn.ensemble import IsolationForest

    return [-IsolationForest(random_state=seed).fit(fitted).score_samples(fitted) for seed in seeds]


def cblofs(fitted, seeds):
    from pyod.models.cblof import CBLOF

    return [CBLOF(random_state=seed).fit(fitted).decision_scores_ for seed in seeds]


def mcds(fitted, seeds):
    if fitted.shape[1] >= len(fitted):
        raise ValueError('fewer rows than columns')
    return [model.decision_scores_ for model in estimates(in_units(fitted, fitted), seeds)]


def lodas(fitted, seeds):
    from pyod.models.loda import LODA

    scores = []
    for seed in seeds:
        np.random.seed(seed)
        scores.append(LODA(n_bins=10, n_random_cuts=100).fit(fitted).decision_function(fitted))
    return scores


def suods(fitted, seeds):
    """With its own projections and approximations switched on, neither of which it applies to these three detectors."""
    from pyod.models.copod import COPOD
    from pyod.models.hbos import HBOS
    from pyod.models.iforest import IForest
    from pyod.models.suod import SUOD

    scores = []
    for seed in seeds:
        parts = [IForest(random_state=seed), HBOS(n_bins=10, alpha=0.1, tol=0.5), COPOD()]
        model = SUOD(base_estimators=parts, contamination=CONTAMINATION, combination='average', n_jobs=1, bps_flag=False)
        scores.append(model.fit(fitted).decision_scores_)
    return scores


def autoencoders(fitted, seeds):
    import torch
    from pyod.models.auto_encoder import AutoEncoder

    scores = []
    for seed in seeds:
        model = AutoEncoder(epoch_num=100, batch_size=32, random_state=seed, verbose=0, device=torch.device('cpu'))
        scores.append(model.fit(fitted).decision_scores_)
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


def area(labels, scores):
    """The area under the ROC curve: the chance that an anomaly scores higher, a tie counting half."""
    odd, usual = scores[labels], scores[~labels]
    return float(np.mean((odd[:, None] > usual) + 0.5 * (odd[:, None] == usual)))


def mean_area(backend, fitted, labels):
    """Of as many seeds as it takes."""
    areas, error, count = [], np.inf, SEEDS[backend]
    while error > ERROR:
        areas += [area(labels, scores) for scores in RANDOM[backend](fitted, range(len(areas), len(areas) + count))]
        error, count = np.std(areas, ddof=1) / len(areas) ** 0.5, ROUND
    mean, error = short([np.mean(areas), error], 6)
    return {'mean': mean, 'error': error, 'seeds': len(areas)}


def short(values, digits=10):
    return [float(f'{value:.{digits}g}') for value in values]


def versions():
    found = {'python': sys.version.split()[0]}
    for name, package in PACKAGES.items():
        if name in sys.modules:
            found[package] = version(package)
    return found


def write(backend):
    entries = {}
    for index, (name, *_) in enumerate(DATASETS + (CLUSTERED if backend == 'cblof' else [])):
        fitted, labels, queries = make(index)
        entry = entries[name] = {'sum': short([fitted.sum()])[0]}
        if backend in EXACT:
            answer = EXACT[backend](fitted, queries)
            if isinstance(answer, tuple):
                answer, entry['centres'] = answer[0], short(answer[1])
            if answer is not None:
                entry['scores'] = short(answer)
            if backend == 'local_outlier_factor':
                spread = np.ptp(list(lof_searches(fitted, queries)), axis=0)
                if spread.max() > 1e-6:
                    entry['spread'] = short(spread)
        if labels.any() and index < len(DATASETS):
            if backend == 'local_outlier_factor':
                entry['searches'] = short([area(labels, scores) for scores in lof_searches(fitted, fitted)], 6)
            elif backend in RANDOM:
                try:
                    entry['area'] = mean_area(backend, fitted, labels)
                except ValueError as error:
                    entry['refused'] = str(error)[:100]
        print(backend, name, entry.get('area', ''), flush=True)
    with open(os.path.join(FOLDER, backend + '.json'), 'w') as file:
        json.dump({'versions': versions(), 'datasets': entries}, file, indent=None, separators=(',', ':'))
        file.write('\n')


if __name__ == '__main__':
    os.makedirs(FOLDER, exist_ok=True)
    for backend in sys.argv[1:] or {**EXACT, **RANDOM}:
        write(backend)
