/** A weighted undirected graph over nodes 0 to `size` - 1. */
export interface Graph {
  readonly size: number;
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly weights: readonly number[];
}

const DAMPING = 0.85;
const ITERATIONS = 50;
const SETTLED = 1e-6;

/**
 * Weighted PageRank of an undirected graph, by power iteration with damping 0.85 (Brin and Page 1998; weights after Mihalcea and Tarau
 * 2004). The ranks sum up to 1; a node without edges gets the smallest rank.
 */
export function pageRank(graph: Graph): Float64Array {
  const { size, from, to, weights } = graph;
  const degree = new Float64Array(size);
  for (let edge = 0; edge < weights.length; edge += 1) {
    degree[from[edge]!]! += weights[edge]!;
    degree[to[edge]!]! += weights[edge]!;
  }
  let rank = new Float64Array(size).fill(1 / Math.max(size, 1));
  for (let round = 0; round < ITERATIONS; round += 1) {
    const next = nextRanks(graph, degree, rank);
    const moved = next.reduce((sum, value, node) => sum + Math.abs(value - rank[node]!), 0);
    rank = next;
    if (moved < SETTLED) break;
  }
  return rank;
}

function nextRanks({ size, from, to, weights }: Graph, degree: Float64Array, rank: Float64Array): Float64Array<ArrayBuffer> {
  let loose = 0;
  for (let node = 0; node < size; node += 1) if (degree[node] === 0) loose += rank[node]!;
  const next = new Float64Array(size).fill((1 - DAMPING + DAMPING * loose) / size);
  for (let edge = 0; edge < weights.length; edge += 1) {
    const a = from[edge]!;
    const b = to[edge]!;
    next[b]! += (DAMPING * rank[a]! * weights[edge]!) / degree[a]!;
    next[a]! += (DAMPING * rank[b]! * weights[edge]!) / degree[b]!;
  }
  return next;
}
