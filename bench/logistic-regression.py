"""Times scikit-learn's logistic regression on embeddings: a file of three int32 (rows, dimensions, classes), labels as int32, rows as float32."""

import json
import sys
import time

import numpy
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score


def timed(work):
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1000, result


with open(sys.argv[1], "rb") as file:
    count, dimensions, _ = numpy.fromfile(file, numpy.int32, 3)
    labels = numpy.fromfile(file, numpy.int32, count)
    rows = numpy.fromfile(file, numpy.float32).reshape(count, dimensions)

fit_ms, model = timed(lambda: LogisticRegression(max_iter=100).fit(rows, labels))
cross_ms, scores = timed(lambda: cross_val_score(LogisticRegression(max_iter=100), rows, labels, cv=5))
predict_ms, _ = timed(lambda: model.predict_proba(rows))
print(json.dumps({"version": sklearn.__version__, "fitMs": fit_ms, "crossMs": cross_ms, "accuracy": float(scores.mean()), "predictMs": predict_ms}))
