import { Failure } from '../../../schemas/errors.js';
import type { StoreType } from '../../../schemas/generated/config/rag.js';
import { renderSetting } from '../../../schemas/secrets.js';
import { expandEnv } from '../../config/variables.js';
import type { Metadata } from '../../documents/contract.js';
import type { Metric } from './contract.js';

/** What a database's configuration comes to. */
export interface StoreOptions {
  readonly type: StoreType;
  /** Of the database, for messages. */
  readonly database: string;
  readonly metric: Metric;
  /** Of the vectors, where the configuration says so; else the first vector does. */
  readonly dimensions: number | undefined;
  /** Skip chunks whose ids are there; else they take the place of the former ones. */
  readonly deduplicate: boolean;
  /** Where the collection lies when a host is named. */
  readonly server?: ServerOptions;
}

/** A server that keeps a collection. */
export interface ServerOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly collection: string;
  readonly apiKey: string | undefined;
  readonly onDisk: boolean;
}

/** How one type of store reads its configuration. */
export interface StoreKind {
  /** Names of the metric, the first that is there counts; the default of the type. */
  readonly metricKeys: readonly string[];
  readonly metric: Metric;
  readonly dimensionKeys: readonly string[];
  readonly mostDimensions: number;
  /** For types that act on a server when `host` is named. */
  readonly server?: { readonly client: 'chroma' | 'qdrant'; readonly port: number };
}

const METRICS: Readonly<Record<string, Metric>> = {
  cosine: 'cosine',
  l2: 'l2',
  euclid: 'l2',
  euclidean: 'l2',
  ip: 'ip',
  dot: 'ip',
  dotproduct: 'ip',
  inner_product: 'ip',
};

/** Every type of store of the configuration. */
export const STORE_KINDS = {
  NativeStore: {
    metricKeys: ['distance_function', 'distance_metric', 'metric'],
    metric: 'cosine',
    dimensionKeys: ['dimension', 'embedding_dimension'],
    mostDimensions: 16_384,
  },
  ChromaStore: {
    metricKeys: ['distance_function', 'distance_metric'],
    metric: 'cosine',
    dimensionKeys: ['embedding_dimension'],
    mostDimensions: 4_096,
    server: { client: 'chroma', port: 8_000 },
  },
  QdrantStore: {
    metricKeys: ['distance'],
    metric: 'cosine',
    dimensionKeys: ['vector_size'],
    mostDimensions: 65_536,
    server: { client: 'qdrant', port: 6_333 },
  },
  FAISSStore: { metricKeys: ['metric'], metric: 'l2', dimensionKeys: ['dimension'], mostDimensions: 16_384 },
  PineconeStore: { metricKeys: ['metric'], metric: 'cosine', dimensionKeys: ['dimension'], mostDimensions: 16_384 },
} as const satisfies Record<StoreType, StoreKind>;

/** The collection of a database on a server that names none. */
export const DEFAULT_COLLECTION = 'documents';
const COLLECTION = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_PORT = 65_535;

function refuse(database: string, key: string, value: unknown, allowed: string): never {
  throw new Failure('invalid', `${key} of the database '${database}' is ${renderSetting(key, value)}; it must be ${allowed}.`);
}

/** The first of some keys that has a value. */
function firstSetting(config: Metadata, keys: readonly string[]): { key: string; value: unknown } | undefined {
  const key = keys.find((one) => config[one] !== undefined && config[one] !== null);
  return key === undefined ? undefined : { key, value: config[key] };
}

function integerSetting(database: string, config: Metadata, keys: readonly string[], most: number): number | undefined {
  const found = firstSetting(config, keys);
  if (found === undefined) return undefined;
  const { key, value } = found;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refuse(database, key, value, `an integer from 1 to ${most}`);
}

function metricOf(database: string, kind: StoreKind, config: Metadata): Metric {
  const found = firstSetting(config, kind.metricKeys);
  if (found === undefined) return kind.metric;
  const name = typeof found.value === 'string' ? found.value.toLowerCase() : '';
  return Object.hasOwn(METRICS, name)
    ? METRICS[name]!
    : refuse(database, found.key, found.value, `one of ${Object.keys(METRICS).join(', ')}`);
}

function serverOf(database: string, config: Metadata, port: number): ServerOptions | undefined {
  const { host, api_key: apiKey, collection_name: collection = DEFAULT_COLLECTION } = expandEnv(config);
  if (host === undefined || host === null || host === '') return undefined;
  if (typeof host !== 'string') return refuse(database, 'host', host, 'the name of a host or an URL');
  if (typeof collection !== 'string' || !COLLECTION.test(collection)) {
    return refuse(database, 'collection_name', collection, '1 to 128 letters, digits, "_" and "-"');
  }
  const given = integerSetting(database, config, ['port'], MAX_PORT);
  const address = host.includes('://') ? host : `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return refuse(database, 'host', host, 'the name of a host or an URL');
  }
  if (url.port === '' && (given !== undefined || !host.includes('://'))) url.port = String(given ?? port);
  const key = typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined;
  return { origin: url.origin, collection, apiKey: key, onDisk: config.on_disk === true };
}

/** Whether a database names a server, on which its chunks lie, however wrong its configuration is otherwise. */
export function isOnServer({ type, config }: { type: StoreType; config?: Metadata | undefined }): boolean {
  const kind: StoreKind = STORE_KINDS[type];
  return kind.server !== undefined && config?.host !== undefined && config.host !== null && config.host !== '';
}

/** Reads the configuration of a database. Throws `invalid` naming the option, and `bad_request` for a missing environment variable. */
export function storeOptions(database: { name: string; type: StoreType; config?: Metadata | undefined }): StoreOptions {
  const kind: StoreKind = STORE_KINDS[database.type];
  const config = database.config ?? {};
  const server = kind.server && serverOf(database.name, config, kind.server.port);
  return {
    type: database.type,
    database: database.name,
    metric: metricOf(database.name, kind, config),
    dimensions: integerSetting(database.name, config, kind.dimensionKeys, kind.mostDimensions),
    deduplicate: config.enable_deduplication !== false,
    ...(server && { server }),
  };
}
