"""The detectors of PyOD and scikit-learn for bench/anomaly.ts, with the options that Quern has.

Reads lines of JSON {backend, columns, rows, epochs} (`rows` is a file of doubles), and answers each with {fitMs, scoreMs} or {error}.
A fit includes the scores of the fitted rows, as ours does; scores are of the same rows again.
"""

import json
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings('ignore')


def make(backend, epochs):
    if backend == 'isolation_forest':
        from pyod.models.iforest import IForest

        return IForest(random_state=42)
    if backend == 'one_class_svm':
        from pyod.models.ocsvm import OCSVM

        return OCSVM(nu=0.1)
    if backend == 'local_outlier_factor':
        from pyod.models.lof import LOF

        return LOF(n_neighbors=20)
    if backend == 'autoencoder':
        from pyod.models.auto_encoder import AutoEncoder

        return AutoEncoder(epoch_num=epochs, random_state=42, verbose=0)
    if backend == 'ecod':
        from pyod.models.ecod import ECOD

        return ECOD()
    if backend == 'copod':
        from pyod.models.copod import COPOD

        return COPOD()
    if backend == 'hbos':
        from pyod.models.hbos import HBOS

        return HBOS()
    if backend == 'knn':
        from pyod.models.knn import KNN

        return KNN()
    if backend == 'mcd':
        from pyod.models.mcd import MCD

        return MCD(random_state=42)
    if backend == 'cblof':
        from pyod.models.cblof import CBLOF

        return CBLOF(random_state=42)
    if backend == 'loda':
        from pyod.models.loda import LODA

        return LODA()
    # SUOD itself is another package; its average of these three is what ours computes.
    return Average([make(name, epochs) for name in ('isolation_forest', 'hbos', 'copod')])


class Average:
    def __init__(self, models):
        self.models = models

    def fit(self, rows):
        for model in self.models:
            model.fit(rows)

    def decision_function(self, rows):
        return sum((m.decision_function(rows) - m.decision_scores_.mean()) / m.decision_scores_.std() for m in self.models) / 3


# What the libraries print is no answer.
answers, sys.stdout = sys.stdout, sys.stderr
warm = set()
for line in sys.stdin:
    asked = json.loads(line)
    try:
        rows = np.fromfile(asked['rows']).reshape(-1, asked['columns'])
        # What a library loads or compiles when it is first used is not measured.
        if asked['backend'] not in warm:
            make(asked['backend'], 1).fit(rows[:200])
            warm.add(asked['backend'])
        model = make(asked['backend'], asked['epochs'])
        began = time.perf_counter()
        model.fit(rows)
        fitted = time.perf_counter()
        model.decision_function(rows)
        answer = {'fitMs': (fitted - began) * 1e3, 'scoreMs': (time.perf_counter() - fitted) * 1e3}
    except (Exception, SystemExit) as error:
        answer = {'error': f'{type(error).__name__}: {error}'.splitlines()[0][:100]}
    print(json.dumps(answer), file=answers, flush=True)
