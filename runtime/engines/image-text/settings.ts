import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { SIDE_LIMIT } from '../onnx/image-input.js';

/** A JSON file's members, or those of an object in it. */
export type Members = Readonly<Record<string, unknown>>;

const JSON_BYTES = 64 * 1024 * 1024;
const DEFAULT_SIDE = 224;
const DEFAULT_LENGTH = 512;
/** A decoder that does not stop is stopped here. */
const LENGTH_LIMIT = 2048;

/** How an image is made ready for an encoder. */
export interface ImageSettings {
  readonly width: number;
  readonly height: number;
  /** Keeps its shape in the middle of a black ground; else it is stretched. */
  readonly fit: boolean;
  /** Turned by a quarter where its longer side is not that of the encoder's input. */
  readonly align: boolean;
  readonly mean: readonly [number, number, number];
  readonly deviation: readonly [number, number, number];
}

/** How a decoder writes. */
export interface DecoderSettings {
  readonly startId: number;
  readonly endId: number;
  readonly padId: number;
  /** Tokens in all, those that it is begun with included. */
  readonly maxLength: number;
}

/** Whether a value is a JSON object. */

const numberOf = (...values: unknown[]): number | undefined =>
  values.find((one): one is number => typeof one === 'number' && Number.isFinite(one));

/** A JSON object beside a model; undefined where there is none. Throws `invalid` that names a file that is none. */
export async function readMembers(folder: string, name: string): Promise<Members | undefined> {
  const text = await readFile(join(folder, name)).catch(() => undefined);
  if (text === undefined) return undefined;
  if (text.length > JSON_BYTES) throw new Failure('invalid', `${name} has ${text.length} bytes; at most ${JSON_BYTES} are read.`);
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new Failure('invalid', `${name} is no JSON object; get the model again.`, { code: 'InvalidModelFile' });
}

function triple(value: unknown, otherwise: number): readonly [number, number, number] {
  const [a = otherwise, b = otherwise, c = otherwise] = Array.isArray(value) ? (value as number[]) : [];
  return [a, b, c];
}

/** A length in pixels of `preprocessor_config.json`. Throws `invalid` that names it where it is no whole number or too large. */
function side(value: unknown, field: string): number {
  if (value === undefined || value === null) return DEFAULT_SIDE;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= SIDE_LIMIT) return value;
  throw new Failure(
    'invalid',
    `${field} in preprocessor_config.json is ${JSON.stringify(value).slice(0, 50)}; it must be a whole number from 1 to ${SIDE_LIMIT}.`,
    { code: 'InvalidModelFile' },
  );
}

function sideIn(size: unknown, name: 'width' | 'height'): number {
  if (Array.isArray(size)) return name === 'width' ? side(size[0], 'size[0]') : side(size[1], 'size[1]');
  if (!isObject(size)) return side(size, 'size');
  const own = size[name] ?? undefined;
  return own === undefined ? side(size.shortest_edge, 'size.shortest_edge') : side(own, `size.${name}`);
}

/** By `preprocessor_config.json`; `fixed` = what the graph itself demands. Throws `invalid` for a size that no image has. */
export function imageSettings(given: Members = {}, fixed: { width?: number | undefined; height?: number | undefined } = {}): ImageSettings {
  const kind = String(given.image_processor_type ?? given.feature_extractor_type ?? '');
  return {
    width: fixed.width ?? sideIn(given.size, 'width'),
    height: fixed.height ?? sideIn(given.size, 'height'),
    fit: given.do_thumbnail === true || given.do_pad === true || kind.startsWith('Donut'),
    align: given.do_align_long_axis === true,
    mean: given.do_normalize === false ? [0, 0, 0] : triple(given.image_mean, 0.5),
    deviation: given.do_normalize === false ? [1, 1, 1] : triple(given.image_std, 0.5),
  };
}

/** By `generation_config.json` and `config.json`, the first that says. */
export function decoderSettings(config: Members = {}, generation: Members = {}): DecoderSettings {
  const decoder = isObject(config.decoder) ? config.decoder : {};
  const from = (name: string): number | undefined => numberOf(generation[name], config[name], decoder[name]);
  const endId = numberOf([generation.eos_token_id].flat()[0], config.eos_token_id, decoder.eos_token_id) ?? 2;
  const positions = numberOf(decoder.max_position_embeddings, config.max_position_embeddings, generation.max_length, config.max_length);
  return {
    startId: from('decoder_start_token_id') ?? from('bos_token_id') ?? 0,
    endId,
    padId: from('pad_token_id') ?? 1,
    maxLength: Math.max(1, Math.min(positions ?? DEFAULT_LENGTH, LENGTH_LIMIT)),
  };
}

/** The labels of `id2label`, by index; their number where it names none. */
export function labelsOf(config: Members = {}, count: number): string[] {
  const named = isObject(config.id2label) ? config.id2label : {};
  return Array.from({ length: count }, (_, index) => String(named[String(index)] ?? index));
}
