import { isObject } from '../../base/json.js';
import type { Metadata } from '../../documents/contract.js';
import type { Hit } from '../contract.js';
import type { RetrievalMeans, RetrievalQuery } from './contract.js';
import { defineRetriever, initialK, TOP_K } from './define-retriever.js';
import { bestHits, denseHits, hitsById, vectorOf, withScore } from './hits.js';

/** A value of metadata that chunks may share: what ties them together. */
interface Link {
  /** The path of the metadata, as filters write it. */
  readonly path: string;
  readonly value: string;
}

/** Where extractors and parsers write entities and headings. */
const FLAT_ENTITIES = /^entities_/;
const LONGEST_VALUE = 200;
const HEADING_KEYS = ['headings', 'heading', 'section'];

function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list
    .map((one) => (isObject(one) ? one.text : one))
    .filter((one): one is string => typeof one === 'string' && one.trim() !== '' && one.length <= LONGEST_VALUE);
}

const under = (path: string, value: unknown): Link[] => texts(value).map((text) => ({ path, value: text }));

/** The entities of a chunk: the flat lists `entities_*`, else those below `extractors.entities`. */
function entitiesOf(metadata: Metadata): Link[] {
  const flat = Object.keys(metadata).filter((key) => FLAT_ENTITIES.test(key));
  if (flat.length > 0) return flat.flatMap((key) => under(key, metadata[key]));
  const nested = isObject(metadata.extractors) ? metadata.extractors.entities : undefined;
  if (!isObject(nested)) return [];
  return Object.keys(nested).flatMap((type) => under(`extractors.entities.${type}.text`, nested[type]));
}

/** The headings that a chunk stands under. */
function headingsOf(metadata: Metadata): Link[] {
  return HEADING_KEYS.flatMap((key) => under(key, metadata[key]));
}

/** What ties a chunk to others, each once. */
export function linksOf(metadata: Metadata, wanted: { entities: boolean; headings: boolean }): Link[] {
  const links = [...(wanted.entities ? entitiesOf(metadata) : []), ...(wanted.headings ? headingsOf(metadata) : [])];
  return [...new Map(links.map((link) => [keyOf(link), link])).values()];
}

/** A link as a text, to compare. */
function keyOf({ path, value }: Link): string {
  return `${path}=${value}`;
}

const OPTIONS = {
  top_k: TOP_K,
  initial_k: initialK(5),
  max_hops: { type: 'integer', default: 1, minimum: 1, maximum: 3, description: 'Steps from the first hits to their neighbours.' },
  max_links: {
    type: 'integer',
    default: 20,
    minimum: 1,
    maximum: 200,
    description: 'Entities and headings followed in each step, the most shared first.',
  },
  neighbors_per_link: {
    type: 'integer',
    default: 10,
    minimum: 1,
    maximum: 100,
    description: 'Chunks looked at for each kind of entity or heading.',
  },
  neighbor_weight: {
    type: 'number',
    default: 0.3,
    minimum: 0,
    maximum: 1,
    description: 'Share of the score that a neighbour gets from its ties.',
  },
  follow_entities: { type: 'boolean', default: true, description: 'Follow shared entities.' },
  follow_headings: { type: 'boolean', default: true, description: 'Follow shared headings.' },
} as const;

type Wanted = Parameters<typeof linksOf>[1];

/** What each link is worth: the best score of the hits that have it, the most shared first. */
function weighed(hits: readonly Hit[], wanted: Wanted, count: number): Map<string, { link: Link; worth: number }> {
  const found = new Map<string, { link: Link; worth: number; times: number }>();
  for (const hit of hits) {
    for (const link of linksOf(hit.metadata, wanted)) {
      const known = found.get(keyOf(link));
      found.set(keyOf(link), { link, worth: Math.max(hit.score, known?.worth ?? 0), times: (known?.times ?? 0) + 1 });
    }
  }
  const sorted = [...found].sort(([a, x], [b, y]) => y.times - x.times || y.worth - x.worth || (a < b ? -1 : 1));
  return new Map(sorted.slice(0, count));
}

/** The values of the links by the path they stand under, so that each path is one search. */
function byPath(links: Iterable<Link>): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const { path, value } of links) paths.set(path, [...(paths.get(path) ?? []), value]);
  return paths;
}

/** The request's filter with a condition more; undefined where it says something of the same key already. */
function narrowed(query: RetrievalQuery, path: string, values: readonly string[]): RetrievalQuery | undefined {
  if (query.filter && Object.hasOwn(query.filter, path)) return undefined;
  const filter: Metadata = { ...query.filter, [path]: { $in: values } };
  return { ...query, filter };
}

/** The chunks nearest to the question, and those that share entities or headings with them. */
export const graph = defineRetriever('GraphRetriever', 'top_k', OPTIONS, async (query, options, means) => {
  const vector = await vectorOf(query.text, means);
  const wanted = { entities: options.follow_entities, headings: options.follow_headings };
  const dense = await denseHits(query, means, Math.max(options.initial_k, query.topK), vector);
  let edge = dense.slice(0, options.initial_k);
  const known = hitsById([edge]);
  for (let hop = 1; hop <= options.max_hops && edge.length > 0; hop += 1) {
    const links = weighed(edge, wanted, options.max_links);
    const near = hitsById([await neighboursOf(query, means, vector, links, options.neighbors_per_link), dense]);
    edge = [];
    for (const hit of near.values()) {
      const shared = linksOf(hit.metadata, wanted).filter((link) => links.has(keyOf(link)));
      if (known.has(hit.id) || shared.length === 0) continue;
      const worth = Math.max(...shared.map((link) => links.get(keyOf(link))!.worth));
      edge.push(tied(query, hit, worth, options.neighbor_weight, { hop, links: shared.map(keyOf) }));
    }
    for (const hit of edge) known.set(hit.id, hit);
    edge = bestHits(edge, options.initial_k);
  }
  return [...hitsById([[...known.values()], dense]).values()];
});

async function neighboursOf(
  query: RetrievalQuery,
  means: RetrievalMeans,
  vector: Float32Array,
  links: ReadonlyMap<string, { link: Link }>,
  each: number,
): Promise<Hit[]> {
  const paths = byPath([...links.values()].map((one) => one.link));
  const lists = await Promise.all(
    [...paths].map(async ([path, values]) => {
      const near = narrowed(query, path, values);
      return near ? denseHits(near, means, each, vector) : [];
    }),
  );
  return [...hitsById(lists).values()];
}

/** A neighbour's score: its own, and what it gets from the best hit that it is tied to. */
function tied(query: RetrievalQuery, hit: Hit, worth: number, weight: number, how: Metadata): Hit {
  const score = (1 - weight) * hit.score + weight * worth;
  return withScore(query, hit, score, { graph_score: score, ...how });
}
