import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { chooseNamed, graphFiles } from '../../formats/onnx-names.js';

const CONFIG_BYTES = 1024 * 1024;
/** Vocabularies of tokenizers are JSON too. */
const VOCABULARY_BYTES = 64 * 1024 * 1024;

/** The parts of a pipeline that have a graph; which of them it must have, `openSessions` says. */
const PARTS = ['text_encoder', 'text_encoder_2', 'unet', 'vae_decoder', 'vae_encoder'];
/** What the graph of each part is called, whatever its format. */
const GRAPH = 'model';

/** JSON of any shape. */
export type Json = Readonly<Record<string, unknown>>;

/** The folder of a pipeline in the layout of `diffusers`: `model_index.json`, and a folder per part. */
export class PipelineFolder {
  readonly #folder: string;
  readonly #graphs: ReadonlyMap<string, string>;

  /**
   * `quantisation` names the format of all graphs, else the best that they share is taken; `id` is for the message. Throws `not_found` where
   * one of them is not there in the named format.
   */
  constructor(folder: string, id: string, quantisation: string | null) {
    this.#folder = folder;
    const parts = PARTS.map((part) => ({ part, files: this.#graphFiles(part) })).filter(({ files }) => files.length > 0);
    const graphs = parts.map(({ files }) => files);
    const chosen = chooseNamed(id, graphs, quantisation);
    this.#graphs = new Map(parts.map(({ part }, index) => [part, this.path(chosen[index]!)]));
  }

  path(...names: string[]): string {
    return join(this.#folder, ...names);
  }

  has(...names: string[]): boolean {
    return existsSync(this.path(...names));
  }

  /** An object from a JSON file; undefined without the file. Throws `invalid` naming it where it is no object or too long. */
  json(...names: string[]): Json | undefined {
    const path = this.path(...names);
    if (!existsSync(path)) return undefined;
    const limit = names.at(-1)!.includes('vocab') || names.at(-1) === 'tokenizer.json' ? VOCABULARY_BYTES : CONFIG_BYTES;
    const name = names.join('/');
    if (statSync(path).size > limit) throw pipelineFault(name, `is longer than ${limit} bytes`);
    try {
      const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
      if (isObject(content)) return content;
    } catch (cause) {
      throw pipelineFault(name, 'is no JSON', cause);
    }
    throw pipelineFault(name, 'is no JSON object');
  }

  text(...names: string[]): string {
    const path = this.path(...names);
    if (!existsSync(path)) throw pipelineFault(names.join('/'), 'is missing');
    if (statSync(path).size > VOCABULARY_BYTES) throw pipelineFault(names.join('/'), `is longer than ${VOCABULARY_BYTES} bytes`);
    return readFileSync(path, 'utf8');
  }

  /** Whether a part has its graph. */
  hasGraph(part: string): boolean {
    return this.#graphs.has(part);
  }

  /** The graph of a part. Throws `invalid` where it is missing. */
  graph(part: string): string {
    const path = this.#graphs.get(part);
    if (path === undefined) throw pipelineFault(`${part}/${GRAPH}.onnx`, 'is missing');
    return path;
  }

  /** The graphs that are there, of all parts. */
  graphs(): string[] {
    return [...this.#graphs.values()];
  }

  #graphFiles(part: string): string[] {
    if (!statSync(this.path(part), { throwIfNoEntry: false })?.isDirectory()) return [];
    const files = readdirSync(this.path(part)).map((file) => `${part}/${file}`);
    return graphFiles(files.sort(), GRAPH);
  }
}

/** The 422 of a pipeline whose files cannot be right. */
export function pipelineFault(file: string, what: string, cause?: unknown): Failure {
  return new Failure('invalid', `The image model's ${file} ${what}. Get the model again from its source.`, {
    code: 'InvalidModelFile',
    cause,
  });
}

/** The 400 of a pipeline that is whole, but of a kind that nothing here runs. */
export function unsupported(why: string): Failure {
  const what = 'Stable Diffusion 1, 2 and XL, their turbo and latent consistency forms';
  return new Failure('bad_request', `This image model is not supported: ${why}. What is: ${what}, exported to ONNX.`, {
    code: 'UnsupportedModel',
  });
}

/** A value of a JSON file as messages tell it: lists and objects by their kind alone, however deep they are. */
export function jsonExcerpt(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return String(JSON.stringify(value)).slice(0, 80);
}

/** A whole number of a JSON object, within bounds; `otherwise` where it is absent. */
export function wholeNumber(file: string, object: Json, name: string, most: number, otherwise: number): number {
  const value = object[name] ?? otherwise;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw pipelineFault(file, `has ${name} ${jsonExcerpt(value)}; a whole number from 1 to ${most} is needed`);
}

/** Parts of pipelines of other kinds, as `model_index.json` names them. */
const STRANGE = ['transformer', 'transformer_2', 'prior', 'text_encoder_3', 'controlnet', 'motion_adapter', 'low_res_scheduler'];
const NEEDED = ['text_encoder', 'unet'];

const isThere = (entry: unknown): boolean => Array.isArray(entry) && entry.some((part) => typeof part === 'string');

/** Throws `bad_request` naming a pipeline that cannot be one of the kinds that run here, before a missing file is complained about. */
export function refuseUnknownParts(folder: PipelineFolder, index: Json): void {
  const name = typeof index._class_name === 'string' ? index._class_name.slice(0, 80) : 'pipeline of no known kind';
  const strange = STRANGE.find((part) => isThere(index[part]));
  if (strange !== undefined) throw unsupported(`it is a ${name} with a ${strange}`);
  if (!Object.values(index).some(isThere)) return;
  const missing = NEEDED.find((part) => !isThere(index[part]) && !folder.hasGraph(part));
  if (missing !== undefined) throw unsupported(`it is a ${name} without a ${missing}`);
}
