import type { KvEntry } from '../../runtime/kv-cache/entry.js';
import type { KvCache } from '../../runtime/kv-cache/kv-cache.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Entry, Prepared, PrepareRequest, Stats, ValidateRequest, Validation } from '../../schemas/generated/universal/cache.js';

const segmentsOf = (entry: KvEntry) => entry.segments.map(({ type, hash }) => ({ type, hash }));

async function prepare(runtime: Runtime, request: Request): Promise<Prepared> {
  const { model, messages, tools, pinned, ttl, warm } = request.body as PrepareRequest;
  const [cache, { prepareConversation }] = await Promise.all([runtime.kvCache(), import('../../runtime/kv-cache/prepare.js')]);
  const wanted = { model, messages, tools: tools ?? undefined, pinned: pinned ?? false, ttlS: ttl ?? null, warm: warm ?? true };
  const entry = await prepareConversation(cache, runtime.completions, wanted, request.signal);
  return { cache_key: entry.key, model, token_count: entry.tokens, size_bytes: entry.bytes, segments: segmentsOf(entry) };
}

async function validate(runtime: Runtime, request: Request): Promise<Validation> {
  const { cache_key, model, messages, tools } = request.body as ValidateRequest;
  const cache = await runtime.kvCache();
  const { status, reusableTokens, invalidatedAt, reason } = await cache.validate(cache_key, { model, messages, tools: tools ?? undefined });
  return { status, cache_key, reusable_tokens: reusableTokens, invalidated_at: invalidatedAt as Validation['invalidated_at'], reason };
}

const renderEntry = (cache: KvCache, entry: KvEntry): Entry => ({
  cache_key: entry.key,
  model_id: entry.model,
  segments: segmentsOf(entry),
  content_hash: entry.contentHash,
  token_count: entry.tokens,
  tier: cache.tierOf(entry),
  size_bytes: entry.bytes,
  hit_count: entry.hits,
  pinned: entry.pinned,
  last_used: entry.lastUsedMs / 1000,
  created_at: entry.createdMs / 1000,
  is_expired: cache.isExpired(entry),
});

async function stats(cache: KvCache): Promise<Stats> {
  const entries = await cache.entries();
  const inMemory = entries.filter((entry) => cache.tierOf(entry) === 'ram');
  const bytes = (some: readonly KvEntry[]): number => some.reduce((sum, entry) => sum + entry.bytes, 0);
  const { hits, partialHits, misses } = cache.counts;
  const requests = hits + partialHits + misses;
  return {
    total_entries: entries.length,
    by_tier: { ram: inMemory.length, disk: entries.length - inMemory.length },
    ram_bytes: bytes(inMemory),
    disk_bytes: bytes(entries),
    total_hits: hits,
    total_partial_hits: partialHits,
    total_misses: misses,
    hit_rate: requests === 0 ? 0 : hits / requests,
    pinned_entries: entries.filter(({ pinned }) => pinned).length,
  };
}

async function evict(cache: KvCache, key: string): Promise<{ status: 'evicted'; cache_key: string }> {
  if (await cache.remove(key)) return { status: 'evicted', cache_key: key };
  throw new Failure('not_found', `Cache entry ${JSON.stringify(key)} not found; GET /v1/cache lists those that exist.`);
}

/** The KV cache: conversations whose prompts need not be decoded again. */
export const cacheEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/cache/prepare',
    id: 'prepare_cache',
    access: 'users',
    summary: 'Decode a prompt and keep its KV state',
    tag: 'cache',
    body: 'universal/cache#PrepareRequest',
    response: 'universal/cache#Prepared',
    handler: async (runtime, request) => ({ json: await prepare(runtime, request) }),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/cache/validate',
    id: 'validate_cache',
    access: 'users',
    summary: 'How much of a conversation a cache entry covers',
    tag: 'cache',
    body: 'universal/cache#ValidateRequest',
    response: 'universal/cache#Validation',
    handler: async (runtime, request) => ({ json: await validate(runtime, request) }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/cache',
    id: 'list_cache',
    access: 'users',
    summary: 'Cache entries, least recently used first',
    tag: 'cache',
    response: 'universal/cache#EntryList',
    handler: async (runtime) => {
      const cache = await runtime.kvCache();
      const entries = (await cache.entries()).map((entry) => renderEntry(cache, entry));
      return { json: { entries, count: entries.length } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/cache/stats',
    id: 'cache_stats',
    access: 'users',
    summary: 'Counts and sizes of the cache',
    tag: 'cache',
    response: 'universal/cache#Stats',
    handler: async (runtime) => ({ json: await stats(await runtime.kvCache()) }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/cache/{cache_key}',
    id: 'delete_cache',
    access: 'users',
    summary: 'Remove a cache entry and its state',
    tag: 'cache',
    response: 'universal/cache#Evicted',
    handler: async (runtime, request) => ({ json: await evict(await runtime.kvCache(), request.params.cache_key!) }),
  }),
  endpoint({
    method: 'POST',
    path: '/v1/cache/gc',
    id: 'collect_cache',
    access: 'users',
    summary: 'Remove expired cache entries',
    tag: 'cache',
    response: 'universal/cache#Collected',
    handler: async (runtime) => ({ json: { status: 'ok', removed: await (await runtime.kvCache()).collect() } }),
  }),
];
