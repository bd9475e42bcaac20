import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Direction, MemoryStore, NewMemory } from '../../../../runtime/memory/contract.js';
import { ALL_KINDS, type MemoryStage, openMemoryStage } from '../../../support/memory/store-stage.js';
import { randomOf } from '../../../support/retrieval-corpus.js';

const NODES = 14;
const EDGES = 45;
const QUESTIONS = 60;
const MOST_DEPTH = 5;
const YEAR_MS = 365 * 86_400_000;

interface Edge {
  from: string;
  to: string;
  relation: string;
  weight: number;
  fromMs: number;
  toMs: number | undefined;
}

describe('the graph, against a list and a loop', () => {
  const random = randomOf(43);
  const pick = (below: number): number => Math.floor(random() * below);
  let stage: MemoryStage;
  let store: MemoryStore;
  const edges: Edge[] = [];
  const node = (): string => `n${pick(NODES)}`;

  before(async () => {
    stage = await openMemoryStage([{ ...ALL_KINDS, graph: { ...ALL_KINDS.graph, max_path_depth: MOST_DEPTH } }]);
    store = await stage.main();
    for (let i = 0; i < EDGES; i += 1) {
      const fromMs = stage.nowMs - pick(10) * YEAR_MS;
      const toMs = pick(3) === 0 ? fromMs + pick(6) * YEAR_MS : undefined;
      edges.push({ from: node(), to: node(), relation: `r${pick(2)}`, weight: pick(9), fromMs, toMs });
    }
    const add = edges.map(
      ({ fromMs, toMs, ...edge }): NewMemory => ({
        type: 'edge',
        data: null,
        edge,
        valid: toMs === undefined ? { fromMs } : { fromMs, toMs },
      }),
    );
    await store.write({ add });
  });
  after(() => stage.close());

  interface Walk {
    asOfMs?: number;
    direction: Direction;
    relation?: string;
  }
  const walk = (): Walk => ({
    ...(pick(2) ? { asOfMs: stage.nowMs - pick(10) * YEAR_MS } : {}),
    ...(pick(3) === 0 ? { relation: 'r1' } : {}),
    direction: (['out', 'in', 'both'] as const)[pick(3)]!,
  });
  const steps = (from: string, { asOfMs = stage.nowMs, direction, relation }: Walk): { to: string; edge: Edge }[] =>
    edges
      .filter(
        (edge) => edge.fromMs <= asOfMs && (edge.toMs === undefined || edge.toMs > asOfMs) && (relation ?? edge.relation) === edge.relation,
      )
      .flatMap((edge) => [
        ...(direction !== 'in' && edge.from === from ? [{ to: edge.to, edge }] : []),
        ...(direction !== 'out' && edge.to === from && !(direction === 'both' && edge.from === from) ? [{ to: edge.from, edge }] : []),
      ]);
  /** Every way without a node twice. */
  const ways = (from: string, to: string, how: Walk, depth: number, seen: string[] = [from]): { nodes: string[]; weight: number }[] => {
    if (from === to) return [{ nodes: [to], weight: 0 }];
    if (depth === 0) return [];
    return steps(from, how)
      .filter((step) => !seen.includes(step.to))
      .flatMap((step) =>
        ways(step.to, to, how, depth - 1, [...seen, step.to]).map(({ nodes, weight }) => ({
          nodes: [from, ...nodes],
          weight: weight + step.edge.weight,
        })),
      );
  };
  const shown = (paths: readonly { nodes: readonly string[]; weight: number }[]): string[] =>
    paths.map(({ nodes, weight }) => `${nodes.join('-')} ${weight}`).sort();

  it('finds all ways between two nodes, the shortest first', async () => {
    for (let i = 0; i < QUESTIONS; i += 1) {
      const [from, to, how, depth] = [node(), node(), walk(), 1 + pick(3)];
      const { paths, truncated } = await store.graph!.paths(from, to, { ...how, depth, limit: 1_000 });
      if (truncated) continue;
      assert.deepEqual(shown(paths), shown(ways(from, to, how, depth)), JSON.stringify({ from, to, how, depth }));
      assert.ok(paths.every(({ edges: one }, at) => at === 0 || paths[at - 1]!.edges.length <= one.length));
      assert.ok(paths.every(({ nodes, edges: one }) => nodes.length === one.length + 1));
    }
  });

  it('finds the way with the fewest edges and that with the least weight', async () => {
    for (let i = 0; i < QUESTIONS; i += 1) {
      const [from, to, how] = [node(), node(), walk()];
      const all = ways(from, to, how, MOST_DEPTH);
      const byHops = await store.graph!.shortestPath(from, to, 'hops', how);
      const byWeight = await store.graph!.shortestPath(from, to, 'weight', how);
      const context = JSON.stringify({ from, to, how });
      assert.equal(byHops?.nodes.length, all.length ? Math.min(...all.map(({ nodes }) => nodes.length)) : undefined, context);
      assert.equal(byWeight?.weight, all.length ? Math.min(...all.map(({ weight }) => weight)) : undefined, context);
    }
  });

  it('finds what is near a node', async () => {
    for (let i = 0; i < QUESTIONS; i += 1) {
      const [start, how, depth] = [node(), walk(), pick(4)];
      const found = await store.graph!.neighbourhood(start, depth, { ...how, limit: 1_000 });
      const depths = new Map([[start, 0]]);
      for (const [name, at] of depths) if (at < depth) for (const { to } of steps(name, how)) if (!depths.has(to)) depths.set(to, at + 1);
      const byName = (a: readonly [string, number], b: readonly [string, number]): number => (a[0] < b[0] ? -1 : 1);
      assert.deepEqual(
        found.nodes.map(({ name, depth: at }) => [name, at] as const).sort(byName),
        [...depths].sort(byName),
        JSON.stringify({ start, how, depth }),
      );
      assert.equal(found.truncated, false);
    }
  });

  it('ends a fact without forgetting it', async () => {
    const add: NewMemory[] = [
      { type: 'fact', data: 'Ann lives in Bern', edge: { from: 'Ann', to: 'Bern', relation: 'lives_in', weight: 1 } },
    ];
    const [old] = await store.write({ add });
    const next: NewMemory[] = [
      { type: 'fact', data: 'Ann lives in Rome', edge: { from: 'Ann', to: 'Rome', relation: 'lives_in', weight: 1 } },
    ];
    stage.nowMs += YEAR_MS;
    const [rome] = await store.write({ add: next });
    await store.write({ end: [{ id: old!.id, toMs: stage.nowMs, supersededBy: rome!.id }] });
    const homes = async (asOfMs?: number): Promise<unknown[]> =>
      (await store.graph!.edges('Ann', asOfMs === undefined ? {} : { asOfMs })).map(({ data }) => data);
    assert.deepEqual(await homes(), ['Ann lives in Rome']);
    assert.deepEqual(await homes(stage.nowMs - 1), ['Ann lives in Bern']);
    assert.equal(store.get(old!.id)!.supersededBy, rome!.id);
  });

  it('bounds a node with very many edges, by name', async () => {
    const add = Array.from(
      { length: 1_000 },
      (_none, i): NewMemory => ({
        type: 'edge',
        data: null,
        edge: { from: 'hub', to: `spoke${i}`, relation: 'has', weight: 1 },
      }),
    );
    for (let i = 0; i < 8; i += 1) await store.write({ add });
    const near = await store.graph!.neighbourhood('hub', 2, { limit: 1_000 });
    assert.deepEqual(
      [near.truncated, near.nodes.length, near.edges.length],
      [true, 1_000, 5_000].map((most, at) => (at === 2 ? near.edges.length : most)),
    );
    assert.ok(near.edges.length <= 5_000);
    assert.equal((await store.graph!.paths('spoke1', 'spoke2', { limit: 3 })).paths.length, 3);
    assert.equal((await store.graph!.shortestPath('spoke1', 'spoke999', 'weight', {}))!.edges.length, 2);
    const loop = await store.graph!.paths('spoke1', 'nowhere', { depth: 5 });
    assert.deepEqual(loop, { paths: [], truncated: true });
  });
});
