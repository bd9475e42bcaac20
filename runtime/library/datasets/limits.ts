/** Bytes of all files of one dataset, unless the runtime is opened with another quota. */
export const DATASET_BYTES = 100 * 2 ** 30;
/** Bytes of one uploaded file. */
export const FILE_BYTES = 10 * 2 ** 30;
/** Files of one bulk upload. */
export const MAX_BULK_FILES = 100;
/** `parser_overrides` as JSON text. */
export const OVERRIDES_BYTES = 10_000;
/** Largest `chunk_size` that an override may ask for. */
export const MAX_CHUNK_SIZE = 100_000;
/** Folders whose file lists are kept in memory; the least recently used go first. */
export const MAX_CACHED_FOLDERS = 500;
/** Small files that are read at the same time. */
export const READS_AT_ONCE = 32;
