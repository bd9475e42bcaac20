import { closeSync, fstatSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Failure } from '../../../../schemas/errors.js';
import { fileName } from '../../../formats/model-files.js';
import { ProtoFile } from '../../../formats/onnx/protobuf.js';

const refused = (file: string, why: string): Failure =>
  new Failure('invalid', `${file} ${why}; give the characters, one a line or as a JSON list.`, { code: 'OcrModelInvalid' });

/** The characters in a text: one a line. An empty line at the end is no character. */
function lines(text: string): string[] {
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
  throw refused(file, 'lists no characters');
}

/** The characters that a recogniser tells apart, and the file that lists them as messages name it. */
export interface Labels {
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
    if (text === undefined) throw refused(file, 'has no list of its characters inside or beside it');
    return { characters: lines(text), file };
  }
  const text = await readFile(path, 'utf8');
  if (!/\.json$/i.test(path)) return { characters: lines(text), file };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused(file, 'is no JSON');
  }
  return { characters: listIn(file, value), file };
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
