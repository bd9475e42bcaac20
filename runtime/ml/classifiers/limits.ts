/** Most labels of a classifier. */
export const MAX_LABELS = 1000;
/** Most examples times labels of a fit, and texts times labels of a prediction. */
export const MAX_CELLS = 1_000_000;
/** Texts that are embedded in one go; a native call takes 2^18 numbers. */
export const TEXTS_AT_ONCE = 64;
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
