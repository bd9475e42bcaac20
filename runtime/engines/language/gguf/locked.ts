import { readFileSync } from 'node:fs';

const MEBIBYTE = 1024 * 1024;

/** What Linux says of a process. */
export interface ProcessTexts {
  /** `/proc/self/status`. */
  readonly status: string;
  /** `/proc/self/limits`. */
  readonly limits: string;
}

/** What Linux says of this process; undefined elsewhere. */
export function processTexts(): ProcessTexts | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return { status: readFileSync('/proc/self/status', 'utf8'), limits: readFileSync('/proc/self/limits', 'utf8') };
  } catch {
    return undefined;
  }
}

/** Says that less than the whole weights is locked in memory, and by which limit; null where all is. The engine itself goes on silently. */
export function lockNote(texts: ProcessTexts, weightBytes: number): string | null {
  const lockedBytes = Number(/^VmLck:\s+(\d+) kB$/m.exec(texts.status)?.[1] ?? 0) * 1024;
  if (lockedBytes >= weightBytes) return null;
  const limit = /^Max locked memory\s+(\d+)/m.exec(texts.limits)?.[1];
  const [locked, all] = [lockedBytes, weightBytes].map((bytes) => (bytes / MEBIBYTE).toFixed(1));
  const reason = limit === undefined ? '' : ` The system lets a process lock ${Number(limit) / MEBIBYTE} MiB; raise that with "ulimit -l".`;
  return `use_mlock: ${locked} of ${all} MiB of weights are locked in memory.${reason}`;
}
