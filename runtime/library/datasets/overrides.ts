import { Failure } from '../../../schemas/errors.js';
import { type JsonSchema, schemaFile } from '../../../schemas/files.js';
import type { DataProcessingStrategy } from '../../../schemas/generated/config/rag.js';
import { isObject, type JsonObject } from '../../base/json.js';
import { MAX_CHUNK_SIZE, OVERRIDES_BYTES, type ParserOverrides } from './contract.js';

/** Names that mean every parser. */
const EVERY = ['*', '__all__'];

/** Reads `parser_overrides` from the text of a form's field. Throws `bad_request`. */
export function parseOverrides(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  if (Buffer.byteLength(text) > OVERRIDES_BYTES) throw tooLong();
  try {
    return JSON.parse(text) as JsonObject;
  } catch (cause) {
    throw new Failure('bad_request', `parser_overrides is not JSON: ${(cause as Error).message}.`, { cause });
  }
}

/**
 * Checks overrides alone and together with the parsers of the strategy they will meet; those for every parser come back under `*`.
 * Throws `bad_request` that names the parser and the value.
 */
export function checkOverrides(given: unknown, strategy: DataProcessingStrategy | undefined): ParserOverrides {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) throw invalidOverride('must be an object: parser type to settings, such as {"*": {"chunk_size": 500}}');
  if (Buffer.byteLength(JSON.stringify(given)) > OVERRIDES_BYTES) throw tooLong();
  const checked: Record<string, JsonObject> = {};
  for (const [type, settings] of Object.entries(given)) {
    if (!EVERY.includes(type) && !parserTypes().includes(type)) {
      throw invalidOverride(`names the unknown parser ${JSON.stringify(type.slice(0, 80))}; known: *, ${parserTypes().join(', ')}`);
    }
    if (!isObject(settings)) throw invalidOverride(`has settings for ${type} that are no object`);
    checkChunks(settings, type);
    const key = EVERY.includes(type) ? '*' : type;
    checked[key] = { ...checked[key], ...settings };
  }
  for (const { type, config } of strategy?.parsers ?? [])
    checkChunks({ ...config, ...checked['*'], ...checked[type] }, `${type} of the strategy`);
  return checked;
}

function checkChunks(settings: JsonObject, where: string): void {
  const { chunk_size: size, chunk_overlap: overlap } = settings;
  if (size !== undefined && !isWhole(size, 1, MAX_CHUNK_SIZE)) {
    throw invalidOverride(`asks for chunk_size ${JSON.stringify(size)} (${where}); allowed are whole numbers from 1 to ${MAX_CHUNK_SIZE}`);
  }
  if (overlap !== undefined && !isWhole(overlap, 0, Number.MAX_SAFE_INTEGER)) {
    throw invalidOverride(`asks for chunk_overlap ${JSON.stringify(overlap)} (${where}); allowed are whole numbers from 0`);
  }
  if (typeof size === 'number' && typeof overlap === 'number' && overlap >= size) {
    throw invalidOverride(`leads to chunk_overlap ${overlap} with chunk_size ${size} (${where}); the overlap must be smaller`);
  }
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function parserTypes(): string[] {
  const { ParserType } = schemaFile('config/rag').$defs as Record<string, JsonSchema>;
  return ParserType!.enum as string[];
}

function invalidOverride(what: string): Failure {
  return new Failure('bad_request', `parser_overrides ${what}.`, { code: 'ParserOverrides' });
}

function tooLong(): Failure {
  return invalidOverride(`may have ${OVERRIDES_BYTES} bytes and has more`);
}
