/** Numbers, sizes and times for people. */
const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export const count = (value: number): string => number.format(value);

/** Bytes in units of 1,000: `1.2 GB`. */
export function size(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${number.format(bytes / 1000 ** step)} ${UNITS[step]}`;
}

/** Milliseconds: `120 ms`, `1.4 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${number.format(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${number.format(ms / 60_000)} min`;
  return `${number.format(ms / 3_600_000)} h`;
}

/** A time of ISO 8601, or of seconds since 1970, as date and time of the reader; `medium` tells seconds too. */
export function time(value: string | number, style: 'short' | 'medium' = 'short'): string {
  const date = new Date(typeof value === 'number' ? value * 1_000 : value);
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: style });
}

export const percent = (part: number): string => `${Math.round(part * 100)} %`;
