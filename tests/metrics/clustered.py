"""The interval of a single topic, as most tests need it."""

import numpy as np

from metrics import stratified_interval


def clustered_interval(scores, clusters, **options):
    return stratified_interval(scores, clusters, np.zeros(len(np.asarray(scores))), **options)
