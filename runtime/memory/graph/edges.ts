import type { Direction, GraphPath, MemoryRecord, ReadFilter } from '../contract.js';
import { holdsAt, passes } from '../filter.js';
import type { FoundLine, Lines } from '../lines.js';

/** An edge as its node sees it: what it leads to, by the way it is followed. */
export interface Step {
  readonly seq: number;
  readonly to: string;
  readonly relation: string;
  readonly weight: number;
}

/** What edges are followed, and as of when. */
export interface WalkFilter extends ReadFilter {
  readonly direction?: Direction;
  readonly relation?: string;
  /** Edges of all times, whether or not they hold; `asOfMs` says nothing then. */
  readonly ofAllTimes?: boolean;
}

/** What an index keeps of an edge: its other end, relation, weight, and from when to when it holds. */
export type EdgeValue = readonly [other: string, relation: string, weight: number, fromMs: number, toMs: number | null];

/** Follows edges, which it counts, so that walks can be bounded. */
export class Walk {
  /** Edges looked at so far. */
  looked = 0;
  readonly #lines: Lines;
  readonly #filter: WalkFilter;
  /** Absent: of all times. */
  readonly #atMs: number | undefined;
  readonly #readsRecords: boolean;

  constructor(lines: Lines, filter: WalkFilter, nowMs: number) {
    this.#lines = lines;
    const { asOfMs = nowMs, ofAllTimes, ...rest } = filter;
    this.#atMs = ofAllTimes ? undefined : asOfMs;
    this.#filter = ofAllTimes ? rest : { ...rest, asOfMs };
    const { fromMs, toMs, types, user, session, tags } = filter;
    this.#readsRecords = [fromMs, toMs, types, user, session, tags].some((one) => one !== undefined);
  }

  /** The edges of a node that may be followed, the newest first, a page at a time. */
  async *from(name: string): AsyncGenerator<Step[]> {
    const { direction = 'both' } = this.#filter;
    if (direction !== 'in') yield* this.#along('out', name);
    if (direction !== 'out') yield* this.#along('in', name);
  }

  /** The record of an edge. */
  edge({ seq }: Step): MemoryRecord | undefined {
    return this.#lines.record(seq);
  }

  async *#along(index: 'out' | 'in', name: string): AsyncGenerator<Step[]> {
    const seesOut = index === 'in' && this.#filter.direction !== 'in';
    for await (const page of this.#lines.pages(index, { prefix: [name], newestFirst: true })) {
      this.looked += page.length;
      const steps = page.map((line) => this.#step(line)).filter((step) => step !== undefined);
      // An edge from a node to itself lies in both indexes.
      yield seesOut ? steps.filter(({ to }) => to !== name) : steps;
    }
  }

  #step({ seq, value }: FoundLine): Step | undefined {
    const [to, relation, weight, fromMs, toMs] = value as EdgeValue;
    if (this.#filter.relation !== undefined && relation !== this.#filter.relation) return undefined;
    if (this.#atMs !== undefined && !holdsAt(toMs === null ? { fromMs } : { fromMs, toMs }, this.#atMs)) return undefined;
    if (this.#readsRecords) {
      const record = this.#lines.record(seq);
      if (!record || !passes(record, this.#filter)) return undefined;
    }
    return { seq, to, relation, weight };
  }
}

/** The last step of a way, and the way in front of it. */
export interface Trail {
  readonly name: string;
  readonly hops: number;
  readonly weight: number;
  readonly step: Step | undefined;
  readonly before: Trail | undefined;
}

/** A way with the records of its edges; undefined when one of them is gone meanwhile. */
export function pathOf(walk: Walk, end: Trail): GraphPath | undefined {
  const nodes: string[] = [];
  const edges: MemoryRecord[] = [];
  for (let at: Trail | undefined = end; at; at = at.before) {
    nodes.unshift(at.name);
    if (!at.step) continue;
    const record = walk.edge(at.step);
    if (!record) return undefined;
    edges.unshift(record);
  }
  return { nodes, edges, weight: end.weight };
}
