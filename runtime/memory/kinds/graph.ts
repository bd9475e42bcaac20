import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';
import type { Direction, GraphPath, GraphReads, MemoryRecord, ReadFilter, Subgraph } from '../contract.js';
import { firstOf, holdsAt, limitOf, passesFilter } from '../filter.js';
import { Heap } from '../heap.js';
import type { KindSpace, MemoryKind } from '../kind.js';
import type { FoundLine, Line, Lines } from '../lines.js';

/** What is linked with what: nodes, edges and facts, until they are removed. */
export const graph: MemoryKind<GraphReads> = {
  name: 'graph',
  index: 'graph',
  isOn: ({ graph: settings }) => settings !== undefined && settings.enabled !== false,
  takes: ({ type }) => type === 'node' || type === 'edge' || type === 'fact',
  lines({ node, edge, valid }) {
    const lines: Line[] = [{ index: 'graph', key: [] }];
    if (node) lines.push({ index: 'nodes', key: [node.name] });
    if (!edge) return lines;
    const holds = [edge.relation, edge.weight, valid!.fromMs, valid!.toMs ?? null] as const;
    lines.push({ index: 'out', key: [edge.from], value: [edge.to, ...holds] satisfies EdgeValue });
    lines.push({ index: 'in', key: [edge.to], value: [edge.from, ...holds] satisfies EdgeValue });
    return lines;
  },
  open: (space) => new OpenGraph(space),
};

class OpenGraph implements GraphReads {
  readonly #space: KindSpace;

  constructor(space: KindSpace) {
    this.#space = space;
  }

  get #mostDepth(): number {
    return this.#space.config.graph!.max_path_depth!;
  }

  async node(name: string, filter: ReadFilter = {}): Promise<MemoryRecord | undefined> {
    const { lines } = this.#space;
    const [record] = await firstOf(lines.pages('nodes', { prefix: [name], newestFirst: true }), lines, { ...this.#asOf(filter), limit: 1 });
    return record;
  }

  newest(filter: ReadFilter): Promise<MemoryRecord[]> {
    return firstOf(this.#space.lines.pages('graph', { newestFirst: true }), this.#space.lines, this.#asOf(filter));
  }

  edges(name: string, filter: WalkFilter): Promise<MemoryRecord[]> {
    const { asOfMs: _asOf, ...ofAllTimes } = filter;
    return firstOf(this.#walk(filter).from(name), this.#space.lines, filter.ofAllTimes ? ofAllTimes : this.#asOf(filter));
  }

  async neighbourhood(name: string, depth: number, filter: WalkFilter) {
    const found = await neighbourhoodOf(this.#walk(filter), name, Math.min(depth, this.#mostDepth), limitOf(filter));
    const records = new Map<string, MemoryRecord | undefined>();
    const { types: _edges, limit: _nodes, ...ofNodes } = filter;
    for (const known of found.depths.keys()) records.set(known, await this.node(known, ofNodes));
    return subgraphOf(found, (known) => records.get(known));
  }

  paths(from: string, to: string, { depth = this.#mostDepth, ...filter }: WalkFilter & { depth?: number }) {
    return pathsBetween(this.#walk(filter), from, to, Math.min(depth, this.#mostDepth), limitOf(filter));
  }

  shortestPath(from: string, to: string, by: 'hops' | 'weight', filter: WalkFilter) {
    return cheapestPath(this.#walk(filter), from, to, this.#mostDepth, by);
  }

  #walk(filter: WalkFilter): Walk {
    return new Walk(this.#space.lines, filter, this.#space.nowMs());
  }

  /** Reads that name no moment are answered as of now. */
  #asOf(filter: ReadFilter): ReadFilter {
    return { ...filter, asOfMs: filter.asOfMs ?? this.#space.nowMs() };
  }
}

/** Edges that one walk looks at; what lies behind is left out, and the answer says so. */
const MOST_WALKED = 100_000;

/** Edges that the search for a shortest way looks at; then it is given up with a failure, since a longer way would be a wrong answer. */
const MOST_SEARCHED = 1_000_000;

/** Edges of one neighbourhood. */
const MOST_EDGES = 5_000;

/** What is at most `depth` edges away from a node, at most `mostNodes`, with the edges that led there. */
async function neighbourhoodOf(
  walk: Walk,
  start: string,
  depth: number,
  mostNodes: number,
): Promise<{ depths: Map<string, number>; edges: MemoryRecord[]; truncated: boolean }> {
  const depths = new Map([[start, 0]]);
  const edges = new Map<number, MemoryRecord>();
  // Nodes are added behind the one that is looked at, so that the nearest come first.
  for (const [name, at] of depths) {
    if (at >= depth) break;
    for await (const steps of walk.from(name)) {
      for (const step of steps) {
        const isKnown = depths.has(step.to);
        if (walk.looked > MOST_WALKED || edges.size >= MOST_EDGES || (!isKnown && depths.size >= mostNodes))
          return { depths, edges: [...edges.values()], truncated: true };
        if (!isKnown) depths.set(step.to, at + 1);
        const record = edges.has(step.seq) ? undefined : walk.edge(step);
        if (record) edges.set(step.seq, record);
        await breathe();
      }
    }
  }
  return { depths, edges: [...edges.values()], truncated: false };
}

/** Ways of at most `depth` edges without a node twice, the shortest first. */
async function pathsBetween(
  walk: Walk,
  from: string,
  to: string,
  depth: number,
  most: number,
): Promise<{ paths: GraphPath[]; truncated: boolean }> {
  const paths: GraphPath[] = [];
  const trails: Trail[] = [startAt(from)];
  // The list grows while it is read.
  for (const trail of trails) {
    if (trail.name === to) {
      const path = pathOf(walk, trail);
      if (path) paths.push(path);
      if (paths.length >= most) return { paths, truncated: true };
      continue;
    }
    if (trail.hops >= depth) continue;
    for await (const steps of walk.from(trail.name)) {
      if (walk.looked > MOST_WALKED) return { paths, truncated: true };
      for (const step of steps) if (!isOn(trail, step.to)) trails.push(extendTrail(trail, step));
      await breathe();
    }
  }
  return { paths, truncated: false };
}

/** The way of at most `depth` edges that costs least: each edge 1, or its weight. Throws `too_large` when it would look at too many edges. */
async function cheapestPath(walk: Walk, from: string, to: string, depth: number, by: 'hops' | 'weight'): Promise<GraphPath | undefined> {
  const costOf = by === 'hops' ? ({ hops }: Trail) => hops : ({ weight }: Trail) => weight;
  const open = new Heap<Trail>(costOf, [startAt(from)]);
  /** The fewest edges by which a node was reached so far. Ways come out by their cost, so that one that costs more must have fewer edges. */
  const fewest = new Map<string, number>();
  while (open.size > 0) {
    const trail = open.pop()!;
    if (trail.name === to) return pathOf(walk, trail);
    if (trail.hops >= (fewest.get(trail.name) ?? Number.POSITIVE_INFINITY)) continue;
    fewest.set(trail.name, trail.hops);
    if (trail.hops >= depth) continue;
    for await (const steps of walk.from(trail.name)) {
      if (walk.looked > MOST_SEARCHED) throw searchTooLong(from, to);
      for (const step of steps) if (trail.hops + 1 < (fewest.get(step.to) ?? Number.POSITIVE_INFINITY)) open.push(extendTrail(trail, step));
      await breathe();
    }
  }
  return undefined;
}

/** The last step of a way, and the way in front of it. */
export interface Trail {
  readonly name: string;
  readonly hops: number;
  readonly weight: number;
  readonly step: Step | undefined;
  readonly before: Trail | undefined;
}

/** A start of ways. */
const startAt = (name: string): Trail => ({ name, hops: 0, weight: 0, step: undefined, before: undefined });

/** A way that goes on by one edge. */
function extendTrail(before: Trail, step: Step): Trail {
  return { name: step.to, hops: before.hops + 1, weight: before.weight + step.weight, step, before };
}

/** A way with the records of its edges; undefined when one of them is gone meanwhile. */
function pathOf(walk: Walk, end: Trail): GraphPath | undefined {
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

function isOn(trail: Trail, name: string): boolean {
  for (let at: Trail | undefined = trail; at; at = at.before) if (at.name === name) return true;
  return false;
}

function searchTooLong(from: string, to: string): Failure {
  const message = `The search for a way from ${quote(from)} to ${quote(to)} looked at ${MOST_SEARCHED} edges and did not end. Ask for one relation, or for less time.`;
  return new Failure('too_large', message, { code: 'SearchTooLong' });
}

/** A part of the graph as it is shown. */
function subgraphOf(
  { depths, edges, truncated }: Awaited<ReturnType<typeof neighbourhoodOf>>,
  recordOf: (name: string) => MemoryRecord | undefined,
): Subgraph {
  const nodes = [...depths].map(([name, depth]) => ({ name, depth, record: recordOf(name) ?? null }));
  return { nodes, edges, truncated };
}

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
class Walk {
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
      const steps: Step[] = [];
      for (const line of page) {
        const step = this.#step(line);
        // An edge from a node to itself lies in both indexes.
        if (step && !(seesOut && step.to === name)) steps.push(step);
        if (this.#readsRecords) await breathe();
      }
      yield steps;
    }
  }

  #step({ seq, value }: FoundLine): Step | undefined {
    const [to, relation, weight, fromMs, toMs] = value as EdgeValue;
    if (this.#filter.relation !== undefined && relation !== this.#filter.relation) return undefined;
    if (this.#atMs !== undefined && !holdsAt(toMs === null ? { fromMs } : { fromMs, toMs }, this.#atMs)) return undefined;
    if (this.#readsRecords) {
      const record = this.#lines.record(seq);
      if (!record || !passesFilter(record, this.#filter)) return undefined;
    }
    return { seq, to, relation, weight };
  }
}
