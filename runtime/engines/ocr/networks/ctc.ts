import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Failure } from '../../../../schemas/errors.js';
import { fileName } from '../../../formats/model-files.js';
import { ProtoFile } from '../../../formats/onnx/protobuf.js';
import type { Tensor } from '../../onnx/contract.js';

/** How far a row of probabilities may be from 1. */
const ROUNDING = 0.02;

/** What a line says, and how sure that is: the mean probability of its characters. */
export interface Line {
  readonly text: string;
  readonly confidence: number;
}

/**
 * The characters by class, the blank at 0. A space that the list of characters leaves out is the last class. Throws `invalid` that names both files where the
 * list is not that of the recogniser; `graph` as `OnnxSession.file`.
 */
export function classesOf({ characters, file }: Labels, count: number, graph: string): readonly string[] {
  if (characters.length === count) return characters;
  if (characters.length === count - 1) return ['', ...characters];
  if (characters.length === count - 2) return ['', ...characters, ' '];
  const tells = `${file === graph ? '' : `${graph} `}tells ${count} classes apart`;
  throw new Failure(
    'invalid',
    `${file} lists ${characters.length} characters, and ${tells}: they do not belong together. Put in the list that came with the recogniser.`,
    { code: 'OcrModelInvalid' },
  );
}

/** The best class of a row and its probability. */
function bestClass(row: Float32Array): { index: number; probability: number } {
  let index = 0;
  let sum = 0;
  for (let at = 0; at < row.length; at += 1) {
    if (row[at]! > row[index]!) index = at;
    sum += row[at]!;
  }
  if (Math.abs(sum - 1) <= ROUNDING && row.every((value) => value >= 0)) return { index, probability: row[index]! };
  const highest = row[index]!;
  return { index, probability: 1 / row.reduce((total, value) => total + Math.exp(value - highest), 0) };
}

/**
 * Reads one line from `[1, steps, classes]` or `[steps, 1, classes]`: the best class of each step, repetitions once, blanks left out. `graph` as in `classesOf`.
 */
export function decodeLine({ dims, data }: Tensor, labels: Labels, graph: string): Line {
  const count = dims.at(-1) ?? 0;
  const values = data as Float32Array;
  if (dims.length !== 3 || (dims[0] !== 1 && dims[1] !== 1) || !(values instanceof Float32Array) || count < 2)
    throw new Failure(
      'invalid',
      `${graph} answers with the shape [${dims.join(', ')}]; only [1, steps, classes] can be read. Use a model that recognises lines of text.`,
      {
        code: 'OcrModelInvalid',
      },
    );
  const classes = classesOf(labels, count, graph);
  let text = '';
  let sum = 0;
  let kept = 0;
  let before = 0;
  for (let at = 0; at < values.length; at += count) {
    const { index, probability } = bestClass(values.subarray(at, at + count));
    if (index !== 0 && index !== before) {
      text += classes[index]!;
      sum += probability;
      kept += 1;
    }
    before = index;
  }
  return { text, confidence: kept === 0 ? 0 : sum / kept };
}

/** The characters that a recogniser tells apart, and the file that lists them as messages name it. */
interface Labels {
  readonly characters: readonly string[];
  readonly file: string;
}

/**
 * The characters of a recogniser: of a text or JSON file, else of the metadata that some exports keep in the graph. Throws `invalid` that names the file, by its
 * place below `folder`.
 */
export async function readLabels(path: string | null, graph: string, folder?: string): Promise<Labels> {
  const file = fileName(path ?? graph, folder);
  if (path === null) {
    const text = graphMetadata(graph, 'character');
    if (text === undefined) throw labelsRefusal(file, 'has no list of its characters inside or beside it');
    return { characters: linesOf(text), file };
  }
  const text = await readFile(path, 'utf8');
  if (!/\.json$/i.test(path)) return { characters: linesOf(text), file };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw labelsRefusal(file, 'is no JSON');
  }
  return { characters: listIn(file, value), file };
}

const labelsRefusal = (file: string, why: string): Failure =>
  new Failure('invalid', `${file} ${why}; give the characters, one a line or as a JSON list.`, { code: 'OcrModelInvalid' });

/** The characters in a text: one a line. An empty line at the end is no character. */
function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** The first list of texts in a JSON value, or the characters of its longest text. */
function listIn(file: string, value: unknown): string[] {
  const members = Array.isArray(value) ? [value] : Object.values((value ?? {}) as Record<string, unknown>);
  const lists = members.filter((one): one is string[] => Array.isArray(one) && one.every((text) => typeof text === 'string'));
  const longest = lists.sort((a, b) => b.length - a.length)[0];
  if (longest) return longest;
  const [text] = members.filter((one) => typeof one === 'string').sort((a, b) => b.length - a.length);
  if (text !== undefined && text !== '') return [...text];
  throw labelsRefusal(file, 'lists no characters');
}

/** Number of `ModelProto.metadata_props` in onnx.proto; key and value are 1 and 2 of an entry. */
const METADATA = 14;

const KEY_BYTES = 1024;

const VALUE_BYTES = 4 * 1024 * 1024;

/** A text that stands in a graph's metadata under a name; undefined where there is none. */
function graphMetadata(path: string, name: string): string | undefined {
  const descriptor = openSync(path, 'r');
  try {
    const file = new ProtoFile(descriptor, fstatSync(descriptor).size);
    for (const entry of file.fields()) {
      if (entry.number !== METADATA) continue;
      const [key, value] = [...file.fields(entry.start, entry.end)];
      if (key && value && file.text(key, KEY_BYTES) === name) return file.text(value, VALUE_BYTES);
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
