const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** A size for people: steps of 1024, one decimal, no space, such as `3.4GB`. */
export function humanSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)}${UNITS[step]}`;
}
