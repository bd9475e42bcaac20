import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { type RecommendedSampling, readRecommended } from '../recommended.js';
import { FileCursor, fileFault } from './cursor.js';
import { KEY_LIMIT, type Metadata, MetadataReader } from './metadata.js';
import { type RankingFacts, readRanking } from './ranking.js';
import { EMBEDDING_MODEL, type ModelShape, otherKind, readShape } from './shape.js';
import { SHARD_LIMIT, shardOf, shardPath } from './shards.js';
import { checkAlignment, readTensors, TENSOR_LIMIT, type TensorEntry, type TensorTable } from './tensors.js';
import { readVocabulary, type VocabularyFacts } from './vocabulary.js';

/** What `general.type` is in a file that changes a model. */
export const ADAPTER = 'adapter';
/** Longest chat template that is used, in characters. */
const TEMPLATE_LIMIT = 256 * 1024;
/** Headers kept in memory, by path. */
const CACHE_LIMIT = 64;

/** What a GGUF file says of itself; every length in it has been checked against the file. */
export interface GgufHeader extends ModelShape {
  /** First shard or the one file. */
  readonly path: string;
  readonly shards: readonly string[];
  /** Of all shards. */
  readonly sizeBytes: number;
  readonly name: string;
  readonly vocabulary: VocabularyFacts;
  /** Jinja text; empty without one. */
  readonly template: string;
  /** Of a file that ranks pairs of texts. */
  readonly ranking: RankingFacts | undefined;
  readonly sampling: RecommendedSampling;
  /** The tensor type that most bytes have, such as `Q4_K`. */
  readonly mainType: string;
  /** The tensors of all shards by name. */
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  /** Numbers of all tensors together. */
  readonly parameters: number;
  /** Positions are turned otherwise in contexts longer than that of its first training (LongRoPE, as in Phi 3 of 128k). */
  readonly isLongRope: boolean;
  readonly notes: readonly string[];
}

/**
 * Reads and checks the header of a GGUF file (all shards of a split one) without reading its weights; kept until the file changes.
 * Throws `Failure('invalid')` naming the field and value, or `not_found`; nothing else. Only for the purpose of embedding may it be a model
 * that completes no text.
 */
export async function ggufHeader(path: string, purpose: 'language' | 'embedding' = 'language'): Promise<GgufHeader> {
  const header = await cachedHeader(path);
  if (purpose === 'language' && header.onlyEmbeds) throw otherKind(basename(path), header.architecture, EMBEDDING_MODEL);
  return header;
}

interface Cached {
  readonly stamp: string;
  readonly header: Promise<GgufHeader>;
}

const cache = new Map<string, Cached>();

/** The shards after the first; all must be there. */
async function otherShards(path: string, first: FilePart): Promise<{ paths: string[]; parts: FilePart[] }> {
  const file = basename(path);
  const place = shardOf(path);
  const split = first.metadata.get('split.count');
  const count = typeof split === 'number' && split > 1 ? split : 1;
  if (count === 1) return { paths: [path], parts: [] };
  if (!Number.isInteger(count) || count > SHARD_LIMIT) throw fileFault(file, 'split.count', count, `at most ${SHARD_LIMIT} is allowed`);
  if (!place || place.count !== count || place.index !== 1 || first.metadata.get('split.no') !== 0) {
    throw fileFault(
      file,
      'split.no',
      first.metadata.get('split.no') as number,
      `give the first of ${count} files, named ...-00001-of-${String(count).padStart(5, '0')}.gguf`,
    );
  }
  const paths = Array.from({ length: count }, (_, index) => shardPath(path, index + 1));
  const parts: FilePart[] = [];
  const missing: string[] = [];
  for (const shard of paths.slice(1)) {
    try {
      parts.push(await readPart(shard));
    } catch (error) {
      if (!(error instanceof Failure && error.kind === 'not_found')) throw error;
      missing.push(basename(shard));
    }
  }
  if (missing.length > 0) {
    throw new Failure(
      'not_found',
      `${file} is the first of ${count} files, and ${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing beside it; get all of them.`,
      {
        code: 'ModelNotFound',
      },
    );
  }
  return { paths, parts };
}

function mainType(tables: TensorTable[]): string {
  const bytes = new Map<string, number>();
  for (const table of tables) for (const { type, sizeBytes } of table.values()) bytes.set(type, (bytes.get(type) ?? 0) + sizeBytes);
  return [...bytes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'none';
}

async function readHeader(path: string): Promise<GgufHeader> {
  const file = basename(path);
  const place = shardOf(path);
  if (place && place.index !== 1) return readHeader(shardPath(path, 1));
  const first = await readPart(path);
  refuseAdapter(file, first);
  const shape = readShape(file, first.metadata);
  const vocabulary = await readVocabulary(file, first.metadata);
  const { paths, parts } = await otherShards(path, first);
  const tables = [first, ...parts].map((part) => part.tensors);
  checkTensors(file, tables, shape, vocabulary);
  const given = first.metadata.get('tokenizer.chat_template');
  const template = typeof given === 'string' ? given : '';
  const name = first.metadata.get('general.name');
  const tooLong = template.length > TEMPLATE_LIMIT;
  const recommended = readRecommended(first.metadata);
  return {
    ...shape,
    path,
    shards: paths,
    sizeBytes: [first, ...parts].reduce((sum, part) => sum + part.size, 0),
    name: typeof name === 'string' && name !== '' ? name.slice(0, 256) : file,
    vocabulary,
    template: tooLong ? '' : template,
    ranking: readRanking(file, first.metadata, tables),
    sampling: recommended.sampling,
    mainType: mainType(tables),
    tensors: new Map(tables.flatMap((table) => [...table])),
    parameters: tables.flatMap((table) => [...table.values()]).reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
    isLongRope: tables.some((table) => [...table.keys()].some((name) => name.includes('rope_factors_long'))),
    notes: tooLong
      ? [
          `The chat template has ${template.length} characters, more than the ${TEMPLATE_LIMIT} that are used; it is ignored.`,
          ...recommended.notes,
        ]
      : recommended.notes,
  };
}

function checkTensors(file: string, tables: TensorTable[], shape: ModelShape, vocabulary: VocabularyFacts): void {
  const embedding = tables.map((table) => table.get('token_embd.weight')).find((entry) => entry !== undefined);
  if (!embedding) throw fileFault(file, 'tensor token_embd.weight', 'missing', 'a language model has one');
  const [width, rows] = embedding.shape;
  if (width !== shape.width || (rows ?? 1) !== vocabulary.size) {
    throw fileFault(
      file,
      'shape of tensor token_embd.weight',
      embedding.shape.join(' x '),
      `the metadata say ${shape.width} x ${vocabulary.size}`,
    );
  }
  const positions = tables.map((table) => table.get('position_embd.weight')).find((entry) => entry !== undefined)?.shape[1];
  // The engine reads the row of each position without looking whether there is one.
  if (positions !== undefined && positions < shape.contextLength) {
    throw fileFault(
      file,
      `${shape.architecture}.context_length`,
      shape.contextLength,
      `tensor position_embd.weight has ${positions} positions`,
    );
  }
  const queries = tables.map((table) => table.get('blk.0.attn_q.weight')).find((entry) => entry !== undefined)?.shape[1];
  if (queries !== undefined && shape.heads > 0 && queries % shape.heads !== 0) {
    throw fileFault(
      file,
      `${shape.architecture}.attention.head_count`,
      shape.heads,
      `tensor blk.0.attn_q.weight has ${queries} rows, which they must divide`,
    );
  }
  const lastBlock = tables.flatMap((table) => [...table.keys()]).some((name) => `.${name}`.includes(`.blk.${shape.layers - 1}.`));
  if (!lastBlock) {
    throw fileFault(file, `${shape.architecture}.block_count`, shape.layers, `the file has no tensor of block ${shape.layers - 1}`);
  }
}

/** Throws `invalid` for a GGUF file that is an adapter and no model; what else is wrong with a file is left to its loading. */
export async function requireNoAdapter(path: string): Promise<void> {
  const part = await readPart(path).catch(() => undefined);
  if (part) refuseAdapter(basename(path), part);
}

function refuseAdapter(file: string, { metadata }: FilePart): void {
  if (metadata.get('general.type') === ADAPTER)
    throw fileFault(file, 'general.type', ADAPTER, 'that is no whole model', 'Name the model that it adapts, and this file in "lora".');
}

async function cachedHeader(path: string): Promise<GgufHeader> {
  const { mtimeMs, size, ino } = await nameFileOnFailure(path, () => stat(path));
  const stamp = `${mtimeMs}:${size}:${ino}`;
  const known = cache.get(path);
  if (known?.stamp === stamp) return known.header;
  const header = readHeader(path);
  cache.delete(path);
  cache.set(path, { stamp, header });
  if (cache.size > CACHE_LIMIT) cache.delete(cache.keys().next().value!);
  // What failed is read again: a missing shard may have come.
  header.catch(() => {
    if (cache.get(path)?.header === header) cache.delete(path);
  });
  return header;
}

const MAGIC = 'GGUF';

/** What stands in the head of one file. */
export interface FilePart {
  readonly metadata: Metadata;
  /** The types of single values, such as `f32`, by key. */
  readonly types: ReadonlyMap<string, string>;
  readonly tensors: TensorTable;
  readonly size: number;
}

/** Reads and checks the head of one file: every length in it lies inside the file. Throws as `ggufHeader` does. */
export async function readPart(path: string): Promise<FilePart> {
  const file = basename(path);
  // Without O_NONBLOCK the opening of a named pipe would wait for its writer.
  const handle = await nameFileOnFailure(path, () => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw fileFault(file, 'file', 'not a regular file', 'a GGUF file is needed');
    if (facts.size === 0) throw fileFault(file, 'file', 'empty', 'a GGUF file is needed');
    const cursor = new FileCursor(handle, facts.size, file);
    await cursor.need(24, 'header');
    const magic = cursor.bytes(4).toString('latin1');
    if (magic !== MAGIC) throw fileFault(file, 'magic', magic, 'a GGUF file begins with GGUF');
    const version = cursor.u32();
    if (version !== 2 && version !== 3) {
      const endian = (version & 0xffff) === 0 ? ' (a big-endian file does not fit this machine)' : '';
      throw fileFault(file, 'version', version, `2 and 3 are supported${endian}`);
    }
    const tensorCount = await cursor.count('tensor count', TENSOR_LIMIT);
    const keyCount = await cursor.count('metadata count', KEY_LIMIT);
    const reader = new MetadataReader(cursor, file);
    const metadata = await reader.read(keyCount);
    const alignment = checkAlignment(file, metadata.get('general.alignment'));
    const tensors = await readTensors(file, cursor, reader, tensorCount, alignment);
    return { metadata, types: reader.types, tensors, size: facts.size };
  } finally {
    await handle.close();
  }
}

/** Runs a file operation and names the file when it fails. */
async function nameFileOnFailure<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EACCES' ? 'may not be read by this user' : `cannot be opened (${code})`;
    throw new Failure(code === 'ENOENT' ? 'not_found' : 'invalid', `The model file ${path} ${why}.`, {
      code: 'ModelNotFound',
      cause: error,
    });
  }
}
