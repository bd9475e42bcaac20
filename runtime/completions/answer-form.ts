import { Failure } from '../../schemas/errors.js';
import { checkedGbnf } from './grammar/gbnf.js';

/** The members of a request that say what form its answer has; at most one of them may. */
export interface FormFields {
  response_format?: Record<string, unknown> | null | undefined;
  /** GBNF, as llama.cpp's server takes it; `guided_grammar` is vLLM's name. */
  grammar?: string | null | undefined;
  guided_grammar?: string | null | undefined;
  /** A JSON Schema, or one as text; `json_schema` is llama.cpp's name, `guided_json` vLLM's. */
  json_schema?: Record<string, unknown> | string | null | undefined;
  guided_json?: Record<string, unknown> | string | null | undefined;
  /** A regular expression of the whole answer. */
  guided_regex?: string | null | undefined;
  /** The texts of which the answer is one. */
  guided_choice?: readonly string[] | null | undefined;
}

/** The form of an answer. */
export type AnswerForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly schema: unknown; readonly strict: boolean }
  | { readonly kind: 'grammar'; readonly grammar: string }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly texts: readonly string[] };

/** Names of the fields that stand beside `response_format`, in the request or its `extra_body`. */
export const FORM_FIELDS = ['grammar', 'guided_grammar', 'json_schema', 'guided_json', 'guided_regex', 'guided_choice'] as const;

const TEXT: AnswerForm = { kind: 'text' };

/** The form that a request asks for. Throws `Failure('invalid')` for one that cannot be read, and where two are asked for. */
export function answerForm(fields: FormFields): AnswerForm {
  const format = responseForm(fields.response_format);
  const named = FORM_FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== null);
  const given = [...(format.kind === 'text' ? [] : ['response_format']), ...named];
  if (given.length > 1) throw new Failure('invalid', `${given.join(' and ')} each say what form the answer has; send one of them.`);
  const [name] = named;
  return name === undefined ? format : fieldForm(name, fields);
}

function fieldForm(name: (typeof FORM_FIELDS)[number], fields: FormFields): AnswerForm {
  switch (name) {
    case 'grammar':
    case 'guided_grammar':
      return { kind: 'grammar', grammar: checkedGbnf(fields[name]!, name) };
    case 'json_schema':
    case 'guided_json':
      return { kind: 'schema', schema: schemaIn(fields[name]!, name), strict: false };
    case 'guided_regex':
      return { kind: 'regex', pattern: fields.guided_regex! };
    case 'guided_choice':
      return { kind: 'choice', texts: fields.guided_choice! };
  }
}

function schemaIn(given: Record<string, unknown> | string, name: string): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new Failure('invalid', `${name} is a text that is no JSON (${(error as Error).message}); send a JSON Schema.`);
  }
}

function responseForm(format: Record<string, unknown> | null | undefined): AnswerForm {
  // Some clients send an empty object where they have nothing to say.
  if (format === undefined || format === null || Object.keys(format).length === 0) return TEXT;
  const { type } = format;
  if (type === 'text') return TEXT;
  const wrapped = type === 'json_schema' ? (format.json_schema as { schema?: unknown; strict?: unknown } | null | undefined) : undefined;
  // llama.cpp's clients put the schema beside the type.
  const schema = wrapped?.schema ?? format.schema;
  if ((type === 'json_schema' || type === 'json_object') && schema !== undefined && schema !== null)
    return { kind: 'schema', schema, strict: (wrapped?.strict ?? format.strict) === true };
  if (type === 'json_object') return { kind: 'object' };
  throw new Failure(
    'invalid',
    `response_format must be {"type": "text"}, {"type": "json_object"} or {"type": "json_schema", "json_schema": {"schema": …}}; its type is ${JSON.stringify(type)}.`,
  );
}
