import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { Message, Tool } from '../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import { isObject } from '../../base/json.js';
import { liesInside } from '../../base/names.js';
import type { CompletionRequest } from '../../completions/contract.js';
import { pythonSchema } from './python-schema.js';
import type { Schema } from './python-types.js';

const MAX_FILE_BYTES = 256 * 1024;
/** Schemas kept by file, name and time of change; the oldest goes first. */
const MAX_KEPT = 64;

const schemasByFile = new Map<string, Schema>();

/**
 * The JSON Schema that a project's `schema` stands for: a JSON file below its directory, a definition of it, or a model class of a Python file, which
 * is read without being run. Throws `bad_request` that names the file, the line where there is one, and what is wrong.
 */
export async function answerSchema(directory: string, reference: string): Promise<Schema> {
  const { file, name } = partsOf(reference);
  const path = join(directory, file);
  const stats = await stat(path).catch(() => undefined);
  if (!stats?.isFile() || !liesInside(directory, path)) {
    throw unusableSchema(reference, `there is no file ${file} in the project's directory ${directory}`);
  }
  if (stats.size > MAX_FILE_BYTES) throw unusableSchema(reference, `${file} has ${stats.size} bytes; the limit is ${MAX_FILE_BYTES}`);
  const key = [path, name, stats.mtimeMs, stats.size, stats.ino].join('\0');
  const known = schemasByFile.get(key);
  if (known) return known;
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '');
  const schema = file.endsWith('.py') ? readPython(reference, text, name) : readJson(reference, text, name);
  schemasByFile.set(key, schema);
  if (schemasByFile.size > MAX_KEPT) schemasByFile.delete(schemasByFile.keys().next().value!);
  return schema;
}

/** What a schema is called towards a provider: the definition or class, else the file's own name. */
export function schemaName(reference: string): string {
  const { file, name } = partsOf(reference);
  const own = file.slice(file.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
  // Hosted APIs take no other characters.
  return (name === '' ? own : name).replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

function partsOf(reference: string): { file: string; name: string } {
  const [file = '', name = ''] = reference.split('::');
  return { file, name };
}

function readPython(reference: string, text: string, name: string): Schema {
  try {
    return pythonSchema(text, name);
  } catch (failure) {
    if (failure instanceof Failure) throw unusableSchema(reference, failure.message);
    throw failure;
  }
}

function readJson(reference: string, text: string, name: string): Schema {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch (cause) {
    throw unusableSchema(reference, `the file is no JSON: ${(cause as Error).message}`);
  }
  if (!isObject(whole)) throw unusableSchema(reference, 'the file must hold one JSON object, a JSON Schema');
  if (name === '') return whole;
  const place = ['$defs', 'definitions'].find((one) => isObject(whole[one]) && Object.hasOwn(whole[one], name));
  if (place !== undefined) return { $ref: `#/${place}/${name}`, $defs: whole.$defs, definitions: whole.definitions };
  const names = ['$defs', 'definitions'].flatMap((one) => Object.keys(isObject(whole[one]) ? whole[one] : {}));
  throw unusableSchema(reference, `the file defines no ${name}; it defines ${names.join(', ') || 'nothing'}`);
}

function unusableSchema(reference: string, reason: string): Failure {
  return new Failure('bad_request', `The schema ${reference} of the project cannot be used: ${reason}.`, { code: 'SchemaUnusable' });
}

/** The form that a project gives to its answers. */
export interface SchemaForm {
  /** As providers call it: at most 64 of `[A-Za-z0-9_-]`. */
  readonly name: string;
  readonly schema: Schema;
  /** True where the provider holds an answer to the schema while it is written. */
  readonly held: boolean;
}

/**
 * How an answer by a schema is asked for. `json_schema`: by the response format of that name. `json`: any JSON by the response format, the schema in the
 * prompt. `md_json`: a fenced block, by the prompt alone. `tools`: a call of a tool whose parameters are the schema.
 */
export type Mode = 'json_schema' | 'json' | 'md_json' | 'tools';

/** Characters of a schema that a model which is held to it is shown for the sake of its descriptions. */
const MAX_SHOWN = 8 * 1024;

/** The mode of a model: what its `instructor_mode` names where that can be done. */
export function modeOf(
  { instructor_mode: mode }: ModelConfig,
  { held, schema }: SchemaForm,
  { tool_choice: choice }: CompletionRequest,
): Mode {
  if (held) return 'json_schema';
  if (mode !== 'tools') return mode === 'json' || mode === 'md_json' ? mode : 'json_schema';
  // A tool takes an object, and a caller that names a tool wants that one called.
  return objectSchema(schema) === undefined || typeof choice === 'object' ? 'json' : 'tools';
}

/** The request, asking for an answer by the schema. */
export function askFor(mode: Mode, request: CompletionRequest, form: SchemaForm): CompletionRequest {
  const { response_format: _given, ...rest } = request;
  const { name, schema, held } = form;
  switch (mode) {
    case 'json_schema': {
      const asked = { ...rest, response_format: { type: 'json_schema', json_schema: { name, schema } } };
      return held && hasDescriptions(schema) ? withInstruction(asked, schema, 'one JSON value and nothing else') : asked;
    }
    case 'json':
      return withInstruction({ ...rest, response_format: { type: 'json_object' } }, schema, 'one JSON value and nothing else');
    case 'md_json':
      return withInstruction(rest, schema, 'one JSON value in a Markdown block that begins with ```json');
    case 'tools': {
      const tool = answerTool(form, request);
      const others = request.tool_choice === 'none' ? [] : (request.tools ?? []);
      const named = { type: 'function', function: { name: tool.function.name } } as const;
      return { ...rest, tools: [...others, tool], tool_choice: others.length > 0 ? 'required' : named };
    }
  }
}

/** The tool that takes an answer, by a name that no other tool of the request has. */
export function answerTool({ name, schema }: SchemaForm, { tools = [] }: CompletionRequest): Tool {
  const parameters = objectSchema(schema) ?? {};
  const taken = tools.some((tool) => tool.function.name === name);
  const own = typeof parameters.description === 'string' ? `${parameters.description}\n\n` : '';
  const description = `${own}Takes the answer. Call it once, with all that is known.`;
  return { type: 'function', function: { name: taken ? `${name.slice(0, 57)}_answer` : name, description, parameters } };
}

/** The schema with the object that its root refers to in place of the reference; undefined where it describes no object. */
function objectSchema(schema: Schema): Schema | undefined {
  const { $ref, ...rest } = schema;
  if ($ref === undefined) return schema.type === 'object' ? schema : undefined;
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? [];
  const target = place === undefined ? undefined : (schema[place] as Record<string, Schema>)[name!];
  return target?.type === 'object' ? { ...target, ...rest } : undefined;
}

/** Whether a schema says anything about its values in words. */
function hasDescriptions(schema: Schema): boolean {
  const text = JSON.stringify(schema);
  return text.length <= MAX_SHOWN && text.includes('"description":"');
}

function withInstruction(request: CompletionRequest, schema: Schema, answer: string): CompletionRequest {
  const instruction = `Answer with ${answer}. It must fit this JSON Schema:\n${JSON.stringify(schema)}`;
  const [first, ...rest] = request.messages;
  const opens = first?.role === 'system' && typeof first.content === 'string';
  const system: Message = { role: 'system', content: opens ? `${first.content}\n\n${instruction}` : instruction };
  return { ...request, messages: opens ? [system, ...rest] : [system, ...request.messages] };
}
