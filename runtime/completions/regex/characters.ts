import type { WorkLimit } from '../work-limit.js';

/** A set of code points: sorted ranges that do not touch, both ends included. */
export type Characters = readonly (readonly [from: number, to: number])[];

const LAST = 0x10ffff;

/** The code points of all the sets. */
export function union(...sets: readonly Characters[]): Characters {
  const sorted = sets.flat().sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = out.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

/** The code points that are not in the set. */
export function complement(set: Characters): Characters {
  const out: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) out.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) out.push([next, LAST]);
  return out;
}

/** The code points that are in `set` and not in `other`. */
export function without(set: Characters, other: Characters): Characters {
  const touched = other.some(([from, to]) => set.some(([a, b]) => a <= to && from <= b));
  return touched ? complement(union(complement(set), other)) : set;
}

/** Whether the set has the code point. */
export function includes(set: Characters, point: number): boolean {
  let [low, high] = [0, set.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = set[middle]!;
    if (point < from) high = middle - 1;
    else if (point > to) low = middle + 1;
    else return true;
  }
  return false;
}

/** The set of one code point. */
export function only(point: number): Characters {
  return [[point, point]];
}

/** The set with the other case of each ASCII letter in it. */
export function bothCases(set: Characters): Characters {
  const other: [number, number][] = [];
  for (const [first, last, shift] of [
    [0x41, 0x5a, 32],
    [0x61, 0x7a, -32],
  ] as const) {
    for (const [from, to] of set) {
      const [low, high] = [Math.max(from, first), Math.min(to, last)];
      if (low <= high) other.push([low + shift, high + shift]);
    }
  }
  return union(set, other);
}

const DIGITS: Characters = [[0x30, 0x39]];
const WORD: Characters = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACE: Characters = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: Characters = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Every code point. */
export const EVERY: Characters = [[0, LAST]];
/** What `.` stands for. */
export const NOT_LINE_END: Characters = complement(LINE_ENDS);
/** What `\w` stands for. */
export const WORD_CHARACTERS = WORD;

/** What the escapes of classes stand for, by their letter. */
export const SHORTHANDS: Readonly<Record<string, Characters>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};

/** Where each code point is tried against a Unicode property: the scripts of alphabets, and pictographs. */
const TRIED: Characters = [
  [0x0000, 0x33ff],
  [0x1f000, 0x1faff],
];
/** Blocks of ideographs and syllables, which are in a property as a whole or not at all. */
const BLOCKS: Characters = [
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0x20000, 0x2a6df],
];
const PROPERTY_NAME = /^[A-Za-z0-9_]{1,40}(=[A-Za-z0-9_]{1,40})?$/;

/** Units of work that a property takes whose name is new. */
const NEW_PROPERTY = 1_000;

const properties = new Map<string, Characters | null>();

/**
 * The code points of a Unicode property (`L`, `Script=Greek`), as far as living alphabets, ideographs and pictographs have them; null for a name that
 * ECMAScript does not know.
 */
export function property(name: string, work: WorkLimit): Characters | null {
  let found = properties.get(name);
  work.spend(found === undefined ? NEW_PROPERTY : 5 + (found?.length ?? 0) / 8);
  if (found === undefined) {
    found = readProperty(name);
    properties.set(name, found);
  }
  return found;
}

function readProperty(name: string): Characters | null {
  if (!PROPERTY_NAME.test(name)) return null;
  let test: RegExp;
  try {
    test = new RegExp(`^\\p{${name}}$`, 'u');
  } catch {
    return null;
  }
  const has = (point: number) => test.test(String.fromCodePoint(point));
  const out: [number, number][] = [];
  for (const [from, to] of TRIED) {
    let start = -1;
    for (let point = from; point <= to + 1; point += 1) {
      const inside = point <= to && has(point);
      if (inside && start < 0) start = point;
      if (!inside && start >= 0) {
        out.push([start, point - 1]);
        start = -1;
      }
    }
  }
  return union(
    out,
    BLOCKS.filter(([from]) => has(from)),
  );
}
