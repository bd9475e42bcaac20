/** Most rows of one request. */
export const MAX_ROWS = 1_000_000;
/** Most numbers of one request after encoding: 64 MiB in memory. */
export const MAX_NUMBERS = 2 ** 23;
/** Most columns of a row after encoding. */
export const MAX_COLUMNS = 4096;
/** Numbers beyond this overflow when they are squared and summed. */
export const MAX_MAGNITUDE = 1e100;
/** Most numbers of one explanation: each has its name in the answer. */
export const MAX_EXPLAINED = 1_000_000;
/** Fits that run at the same time; each has threads of its own. */
export const FITS_AT_ONCE = 2;
/** Fits that wait for their turn, with their rows in memory. */
export const WAITING_FITS = 6;
/** Requests that score at the same time. */
export const SCORES_AT_ONCE = 8;
/** Requests that wait for that. */
export const WAITING_SCORES = 64;
/** Models in memory; the one that was not used for longest gives way and is read again when it is wanted. */
export const MODELS_IN_MEMORY = 64;
/** Bytes of their files together. */
export const MEMORY_BYTES = 1024 * 1024 * 1024;
