import { closeSync, fstatSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, sep } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { fileName } from '../model-files.js';
import { linkedFolders } from './outside-weights.js';
import { type ProtoField, ProtoFile } from './protobuf.js';

/** Graphs inside graphs, such as the branches of an `If`. */
const DEPTH_LIMIT = 16;
const NAME_LIMIT = 4096;
const RANK_LIMIT = 64;
/** Entries of metadata, and the bytes of one; a list of a thousand speakers has 20 kB. */
const METADATA_LIMIT = 1000;
const METADATA_TEXT = 1024 * 1024;
/** Elements of one tensor at most; far above any weight, far below what overflows. */
const ELEMENT_LIMIT = 2 ** 40;
/** Tensors that say where outside the graph they lie. */
const EXTERNAL_LIMIT = 100_000;
const SHOWN = 300;

/** Fields of the messages of onnx.proto that lead to tensors. */
const MODEL = { graph: 7, metadata: 14, training: 20, functions: 25 };
const TRAINING = { initialization: 1, algorithm: 2 };
const FUNCTION = { node: 7 };
const GRAPH = { node: 1, initializer: 5, sparse: 15 };
const SPARSE = { values: 1, indices: 2 };
const NODE = { attribute: 5 };
const ATTRIBUTE = { tensor: 5, graph: 6, tensors: 10, graphs: 11, sparse: 22, sparses: 23 };
const TENSOR = { dims: 1, type: 2, name: 8, raw: 9, external: 13, location: 14 };
const ENTRY = { key: 1, value: 2 };
const EXTERNAL = 1;

/** Bytes of one element by the number of its type; others are not checked. */
const ELEMENT_BYTES: Readonly<Record<number, number>> = {
  1: 4,
  2: 1,
  3: 1,
  4: 2,
  5: 2,
  6: 4,
  7: 8,
  9: 1,
  10: 2,
  11: 8,
  12: 4,
  13: 8,
  16: 2,
};

/** What the header of a graph's file says, once it is known to be sound. */
export interface GraphFile {
  /** Of the graph and the files with its weights. */
  readonly sizeBytes: number;
  /** Names of the files beside the graph that hold weights. */
  readonly external: readonly string[];
}

/** The 422 of a graph that cannot be right; names the file (as `fileName` does), what is wrong and what to do. */
export function graphFault(file: string, what: string, cause?: unknown): Failure {
  const msg = what.slice(0, SHOWN);
  return new Failure('invalid', `${file} is not a usable ONNX file: ${msg}. Get the file again from its source.`, {
    code: 'InvalidModelFile',
    errors: [{ type: 'onnx', loc: ['file', file], msg }],
    cause,
  });
}

/**
 * Reads the structure of an ONNX file, weights left out, before the runtime sees it: lengths that fit, shapes that fit their bytes, and
 * weights outside the graph only in files of its own folder. Throws `not_found` for no file, `invalid` for one that is refused, which name it by its place
 * below `folder`.
 */
export function inspectGraph(path: string, folder?: string): GraphFile {
  return walked(path, fileName(path, folder), true);
}

/** Texts that an export wrote about itself into its graph's file, by their keys. Throws as `inspectGraph` does. */
export function graphMetadata(path: string): ReadonlyMap<string, string> {
  return withGraphFile(path, fileName(path), (file) => {
    const entries = new Map<string, string>();
    for (const field of file.fields()) {
      if (field.number !== MODEL.metadata || field.wire !== 2) continue;
      if (entries.size >= METADATA_LIMIT) throw graphFault(fileName(path), `it tells more than ${METADATA_LIMIT} things about itself`);
      entries.set(...readEntry(file, field, METADATA_TEXT));
    }
    return entries;
  });
}

/** A key with its value, as tensors name the files of their weights; of several values the last counts, as protobuf has it. */
export function readEntry(file: ProtoFile, entry: ProtoField, limit = NAME_LIMIT): [key: string, value: string] {
  let [key, value] = ['', ''];
  for (const part of file.fields(entry.start, entry.end)) {
    if (part.number === ENTRY.key) key = file.text(part, NAME_LIMIT);
    else if (part.number === ENTRY.value) value = file.text(part, limit);
  }
  return [key, value];
}

/**
 * Names of the files with weights that an ONNX file means, relative to its folder, whether they are there or not. Throws as `inspectGraph`
 * does, also for names that lead out of the folder.
 */
export function externalFiles(path: string): readonly string[] {
  return walked(path, fileName(path), false).external;
}

function walked(path: string, name: string, looksOutside: boolean): GraphFile {
  return withGraphFile(path, name, (file) => {
    const walk = new Walk(path, name, file, looksOutside);
    walk.model();
    return { sizeBytes: file.sizeBytes + walk.externalBytes, external: [...walk.external.keys()] };
  });
}

/** What a reader makes of a graph's file, which is open meanwhile. */
function withGraphFile<T>(path: string, name: string, read: (file: ProtoFile) => T): T {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    throw new Failure('not_found', `The model file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code}.`, {
      cause: error,
    });
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw graphFault(name, 'it is no file');
    if (stat.size === 0) throw graphFault(name, 'it is empty');
    return read(new ProtoFile(descriptor, stat.size));
  } catch (error) {
    throw error instanceof RangeError ? graphFault(name, error.message, error) : error;
  } finally {
    closeSync(descriptor);
  }
}

class Walk {
  /** Size by name of each file with weights. */
  readonly external = new Map<string, number>();
  readonly #path: string;
  readonly #name: string;
  readonly #file: ProtoFile;
  readonly #looksOutside: boolean;
  #externals = 0;

  /** `name`: for messages; `looksOutside`: files beside the graph must be there and long enough. */
  constructor(path: string, name: string, file: ProtoFile, looksOutside: boolean) {
    this.#path = path;
    this.#name = name;
    this.#file = file;
    this.#looksOutside = looksOutside;
  }

  get externalBytes(): number {
    return [...this.external.values()].reduce((sum, size) => sum + size, 0);
  }

  model(): void {
    let graphs = 0;
    for (const field of this.#file.fields()) {
      if (field.wire !== 2) continue;
      if (field.number === MODEL.graph) {
        graphs += 1;
        this.#graph(field, 0);
      } else if (field.number === MODEL.functions) {
        for (const part of this.#within(field)) if (part.number === FUNCTION.node) this.#node(part, 0);
      } else if (field.number === MODEL.training) {
        for (const part of this.#within(field))
          if (part.number === TRAINING.initialization || part.number === TRAINING.algorithm) this.#graph(part, 0);
      }
    }
    if (graphs !== 1) throw graphFault(this.#name, 'it holds no graph');
  }

  *#within(field: ProtoField): Generator<ProtoField> {
    for (const part of this.#file.fields(field.start, field.end)) if (part.wire === 2) yield part;
  }

  #graph(field: ProtoField, depth: number): void {
    if (depth > DEPTH_LIMIT) throw graphFault(this.#name, `its graphs are nested more than ${DEPTH_LIMIT} deep`);
    for (const part of this.#within(field)) {
      if (part.number === GRAPH.node) this.#node(part, depth);
      else if (part.number === GRAPH.initializer) this.#tensor(part);
      else if (part.number === GRAPH.sparse) this.#sparse(part);
    }
  }

  #node(field: ProtoField, depth: number): void {
    for (const attribute of this.#within(field)) {
      if (attribute.number !== NODE.attribute) continue;
      for (const part of this.#within(attribute)) {
        if (part.number === ATTRIBUTE.tensor || part.number === ATTRIBUTE.tensors) this.#tensor(part);
        else if (part.number === ATTRIBUTE.graph || part.number === ATTRIBUTE.graphs) this.#graph(part, depth + 1);
        else if (part.number === ATTRIBUTE.sparse || part.number === ATTRIBUTE.sparses) this.#sparse(part);
      }
    }
  }

  #sparse(field: ProtoField): void {
    for (const part of this.#within(field)) if (part.number === SPARSE.values || part.number === SPARSE.indices) this.#tensor(part);
  }

  #tensor(field: ProtoField): void {
    const dims: number[] = [];
    const entries = new Map<string, string>();
    let type = 0;
    let name = '';
    let rawBytes = -1;
    let isExternal = false;
    for (const part of this.#file.fields(field.start, field.end)) {
      if (part.number === TENSOR.dims) dims.push(...this.#file.integers(part, RANK_LIMIT));
      else if (part.number === TENSOR.type) type = part.value;
      else if (part.number === TENSOR.name) name = this.#file.text(part, NAME_LIMIT);
      else if (part.number === TENSOR.raw) rawBytes = part.end - part.start;
      else if (part.number === TENSOR.location) isExternal = part.value === EXTERNAL;
      else if (part.number === TENSOR.external) this.#entry(part, entries);
    }
    const count = this.#count(name, dims);
    const bytes = ELEMENT_BYTES[type];
    if (isExternal) this.#outside(name, entries, bytes === undefined ? undefined : count * bytes);
    else if (rawBytes >= 0 && bytes !== undefined && rawBytes !== count * bytes)
      throw graphFault(this.#name, `tensor "${name}" has the shape [${dims.join(', ')}], ${count * bytes} bytes, and holds ${rawBytes}`);
    // Numbers that are not raw take at least half a byte each.
    else if (count > 2 * (field.end - field.start))
      throw graphFault(
        this.#name,
        `tensor "${name}" has the shape [${dims.join(', ')}], which its ${field.end - field.start} bytes cannot hold`,
      );
  }

  #count(name: string, dims: readonly number[]): number {
    const count = dims.reduce((product, dim) => product * dim, 1);
    if (dims.length > RANK_LIMIT || count > ELEMENT_LIMIT || dims.some((dim) => dim > ELEMENT_LIMIT))
      throw graphFault(this.#name, `tensor "${name}" has the shape [${dims.slice(0, RANK_LIMIT).join(', ')}]`);
    return count;
  }

  #entry(field: ProtoField, entries: Map<string, string>): void {
    entries.set(...readEntry(this.#file, field));
  }

  /** Weights in another file: in the graph's folder, and within that file. */
  #outside(name: string, entries: ReadonlyMap<string, string>, expected: number | undefined): void {
    this.#externals += 1;
    if (this.#externals > EXTERNAL_LIMIT) throw graphFault(this.#name, `more than ${EXTERNAL_LIMIT} tensors lie in other files`);
    const location = entries.get('location') ?? '';
    const size = this.external.get(location) ?? this.#externalSize(name, location);
    this.external.set(location, size);
    const offset = Number(entries.get('offset') ?? 0);
    const length = Number(entries.get('length') ?? expected ?? 0);
    const fits = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0 && offset + length <= size;
    if (!fits || (expected !== undefined && length !== expected)) {
      const place = `bytes ${offset} to ${offset + length} of "${location}", which has ${size}`;
      throw graphFault(this.#name, `tensor "${name}" lies in ${place}${expected === undefined ? '' : `, and needs ${expected}`}`);
    }
  }

  #externalSize(name: string, location: string): number {
    const folder = dirname(this.#path);
    const refused = (why: string): Failure =>
      graphFault(
        this.#name,
        `tensor "${name}" lies in "${location.slice(0, SHOWN)}", ${why}; weights may lie only in the graph's own folder`,
      );
    const place = normalize(location);
    if (location === '' || location.includes('\0') || isAbsolute(location) || place === '..' || place.startsWith(`..${sep}`))
      throw refused('which is outside');
    if (!this.#looksOutside) return Number.POSITIVE_INFINITY;
    let real: string;
    try {
      real = realpathSync(join(folder, place));
    } catch {
      throw refused('which is not there');
    }
    // Hub caches link both files to one folder of blobs, or to a store of all repositories.
    const allowed = [realpathSync(folder), dirname(realpathSync(this.#path)), ...linkedFolders(this.#path)];
    if (!allowed.some((parent) => real.startsWith(parent + sep))) throw refused('a link to the outside');
    const stat = statSync(real);
    if (!stat.isFile()) throw refused('which is no file');
    return stat.size;
  }
}
