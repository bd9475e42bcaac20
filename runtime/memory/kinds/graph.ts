import type { GraphReads, MemoryRecord, ReadFilter } from '../contract.js';
import { firstOf, limitOf } from '../filter.js';
import { cheapestPath, type EdgeValue, neighbourhoodOf, pathsBetween, subgraphOf, Walk, type WalkFilter } from '../graph.js';
import type { KindSpace, MemoryKind } from '../kind.js';
import type { Line } from '../lines.js';

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
