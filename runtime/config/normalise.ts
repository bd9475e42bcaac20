import { isObject, type JsonObject } from '../base/json.js';

/** Name of the model that a flat `runtime` section becomes, and of the prompt set that a flat message list becomes. */
const LEGACY_NAME = 'default';

/** Model fields that the flat form of `runtime` carries directly. */
const FLAT_FIELDS = [
  'provider',
  'model',
  'description',
  'base_url',
  'api_key',
  'instructor_mode',
  'prompt_format',
  'model_api_parameters',
  'extra_body',
  'encoder_config',
  'tool_call_strategy',
  'tools',
  'mcp_servers',
  'rag_enabled',
  'memory',
  'target_database',
  'accel',
  'lemonade',
  'transformers',
  'diffusion',
] as const;

/**
 * Copies a project file into its stored form: null members dropped, `name` and `namespace` set to where the file lies, `runtime.models` an
 * array, `prompts` a list of sets. Values of a wrong type are left for the schema to report.
 */
export function normalise(raw: JsonObject, namespace: string, name: string): JsonObject {
  const config = withoutNulls(raw) as JsonObject;
  config.name = name;
  config.namespace = namespace;
  if (isObject(config.runtime)) config.runtime = runtimeSection(config.runtime);
  if (Array.isArray(config.prompts)) config.prompts = promptSets(config.prompts);
  if (Array.isArray(config.datasets)) config.datasets = config.datasets.map(convertDataset);
  return config;
}

function runtimeSection(runtime: JsonObject): JsonObject {
  if (Array.isArray(runtime.models)) return runtime;
  if (isObject(runtime.models)) {
    const models = Object.entries(runtime.models).map(([key, model]) => (isObject(model) ? { ...model, name: model.name ?? key } : model));
    return { ...runtime, models };
  }
  if (runtime.models !== undefined) return runtime;
  const model: JsonObject = { name: LEGACY_NAME };
  const rest: JsonObject = { ...runtime };
  for (const field of FLAT_FIELDS) {
    if (rest[field] !== undefined) model[field] = rest[field];
    delete rest[field];
  }
  return { ...rest, models: [model] };
}

/** Gathers loose messages into one set, and turns sets of the oldest form (`raw_text`, `sections`) into one system message. */
function promptSets(prompts: unknown[]): unknown[] {
  const sets: unknown[] = [];
  const loose: unknown[] = [];
  for (const entry of prompts) {
    if (isObject(entry) && entry.role !== undefined && entry.messages === undefined) {
      if (loose.length === 0) sets.push({ name: LEGACY_NAME, messages: loose });
      loose.push(entry);
    } else {
      sets.push(convertOldestPrompts(entry));
    }
  }
  return sets;
}

function convertOldestPrompts(entry: unknown): unknown {
  if (!isObject(entry) || entry.messages !== undefined) return entry;
  const { raw_text, sections, ...rest } = entry;
  if (typeof raw_text === 'string') return { ...rest, messages: [{ role: 'system', content: raw_text }] };
  if (!Array.isArray(sections)) return entry;
  const parts = sections.filter(isObject).map((section) => {
    const lines = Array.isArray(section.content) ? section.content : [section.content];
    return [section.title, ...lines].filter((line) => typeof line === 'string').join('\n');
  });
  return { ...rest, messages: [{ role: 'system', content: parts.join('\n\n') }] };
}

/** Older datasets name their processing strategy `rag_strategy`. */
function convertDataset(entry: unknown): unknown {
  if (!isObject(entry) || entry.data_processing_strategy !== undefined || typeof entry.rag_strategy !== 'string') return entry;
  const { rag_strategy, ...rest } = entry;
  return { ...rest, data_processing_strategy: rag_strategy };
}

/** Below this key lies a JSON Schema of tool arguments, where `null` is a value and not an absent field. */
const KEEPS_NULLS = 'parameters';

/** Copies a value without the object members that are null: in a project file, null and absent mean the same. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    out[key] = key === KEEPS_NULLS ? structuredClone(member) : withoutNulls(member);
  }
  return out;
}
