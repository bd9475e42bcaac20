/** Most labels of a classifier. */
export const MAX_LABELS = 1000;
/** Most examples times labels of a fit, and texts times labels of a prediction. */
export const MAX_CELLS = 1_000_000;
/** Texts that are embedded in one go; a native call takes 2^18 numbers. */
export const TEXTS_AT_ONCE = 64;
/** Features of a classifier on TF-IDF vectors: as many as its fit has room for, within these bounds. */
export const [LEAST_FEATURES, MOST_FEATURES] = [1023, 4095];
/** Numbers of the TF-IDF vectors of a fit that it has room for: 128 MiB. */
export const TFIDF_NUMBERS = 2 ** 25;
/** The same for features times labels; a fit keeps several such tables. */
export const TFIDF_CELLS = 2 ** 19;
/** Fits that run at the same time; each has threads of its own. */
export const FITS_AT_ONCE = 2;
/** Fits that wait for their turn, with their examples in memory. */
export const WAITING_FITS = 4;
/** Requests that predict at the same time. */
export const PREDICTIONS_AT_ONCE = 8;
/** Requests that wait for that. */
export const WAITING_PREDICTIONS = 64;
/** Classifiers in memory; the one that was not used for longest gives way and is read again when it is wanted. */
export const CLASSIFIERS_IN_MEMORY = 64;
/** Numbers of their heads together: 256 MiB. */
export const NUMBERS_IN_MEMORY = 2 ** 26;
