/** What our pickle files hold: data without behaviour. A number without a fraction is an `int` in Python, unless it is -0 or beyond 2^53. */
export type Plain = null | boolean | number | bigint | string | Uint8Array | readonly Plain[] | { readonly [key: string]: Plain };

/** Most values of one file, counted where they are used: one that is shared counts each time. */
export const MAX_VALUES = 1_000_000;
/** Deepest nesting of lists and dicts. */
export const MAX_DEPTH = 32;
/** Longest integer, in bytes; one of 78 decimal digits. */
export const MAX_INTEGER_BYTES = 32;
/** Largest file, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024 * 1024;

/** Half of a character that needs two units of UTF-16: UTF-8 cannot write it. */
export const HALF_CHARACTER: RegExp = /\p{Surrogate}/u;
