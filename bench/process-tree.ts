import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { anonymousBytes, descendants, residentBytes } from './processes.js';

/** A process that ends while it is looked at makes a look fail; so many in a row do not. */
const LOOKS = 10;
const MIB = 2 ** 20;

/** What a process and all its children take at one moment. */
export interface TreeSample {
  /** Sum of the resident memory; pages that are shared count once for each process. */
  readonly rssMb: number;
  /** Of the first process alone. */
  readonly ownMb: number;
  /** Of `ownMb` what belongs to no file. */
  readonly ownAnonymousMb: number;
  readonly processes: number;
  /** Open files and sockets of the first process. */
  readonly handles: number;
  /** Of each of its children what belongs to no file, in MB. */
  readonly children: ReadonlyMap<string, number>;
}

/** A process by the folder of what it runs, which hosts name last, and its number. */
function nameOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  return `${basename(dirname(words.at(-1) ?? ''))} ${pid}`;
}

/** Looks at a process tree; Linux only. Throws where the process is not there. */
export function sampleTree(pid: number): TreeSample {
  for (let look = 1; ; look++) {
    try {
      const family = [pid, ...descendants(pid)];
      const bytes = family.reduce((sum, one) => sum + residentBytes(one), 0);
      const [rssMb, ownMb, ownAnonymousMb] = [bytes / MIB, residentBytes(pid) / MIB, anonymousBytes(pid) / MIB];
      const children = new Map(family.slice(1).map((one) => [nameOf(one), anonymousBytes(one) / MIB]));
      return { rssMb, ownMb, ownAnonymousMb, processes: family.length, handles: readdirSync(`/proc/${pid}/fd`).length, children };
    } catch (error) {
      if (look === LOOKS) throw error;
    }
  }
}

/** Change per unit of `at` by least squares. */
export function slopeOf(points: readonly { at: number; value: number }[]): number {
  const count = points.length;
  const mean = (of: (point: { at: number; value: number }) => number): number => points.reduce((sum, one) => sum + of(one), 0) / count;
  const [atMean, valueMean] = [mean(({ at }) => at), mean(({ value }) => value)];
  const spread = points.reduce((sum, { at }) => sum + (at - atMean) ** 2, 0);
  return points.reduce((sum, { at, value }) => sum + (at - atMean) * (value - valueMean), 0) / spread;
}
