import { Failure } from '../../schemas/errors.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { VoiceConfig } from '../../schemas/generated/config/voice.js';
import { check } from '../../schemas/validate.js';
import type { JsonObject } from '../base/json.js';
import { normalise } from './normalise.js';
import type { Path, Problem } from './problems.js';
import { resolveReferences } from './references.js';

/** A project configuration after conversion and checks. */
export interface Validated {
  /** Stored form: older forms converted, references inlined, no nulls, no defaults added. */
  readonly stored: JsonObject;
  /** The stored form with the schema's defaults, for use; `null` when `errors` is not empty. */
  readonly config: ProjectConfig | null;
  /** What makes it unusable. */
  readonly errors: readonly Problem[];
  /** Names that point at nothing: refused when saving, tolerated when reading. */
  readonly warnings: readonly Problem[];
}

/** Converts and checks a raw configuration for the project at `namespace/name`; never throws on its content. */
export function validateConfig(raw: JsonObject, namespace: string, name: string): Validated {
  const stored = normalise(raw, namespace, name);
  const unresolved = resolveReferences(stored);
  const candidate = structuredClone(stored);
  const violations = schemaViolations(candidate).filter((violation) => !isShadowed(violation, unresolved));
  if (violations.length > 0) return { stored, config: null, errors: [...unresolved, ...violations], warnings: [] };
  const config = candidate as unknown as ProjectConfig;
  const errors = [...unresolved, ...brokenRules(config)];
  return { stored, config: errors.length === 0 ? config : null, errors, warnings: danglingNames(config) };
}

function schemaViolations(candidate: JsonObject): Problem[] {
  try {
    check<ProjectConfig>('config/project#ProjectConfig', candidate, 'file');
    return [];
  } catch (failure) {
    if (!(failure instanceof Failure) || !failure.errors) throw failure;
    // `if` only says that the `then` beside it failed, and that is reported too.
    return failure.errors
      .filter((item) => item.type !== 'if')
      .map(({ type, loc, msg, input }) => wordAsApi({ path: loc.slice(1), reason: msg, type, input }));
  }
}

/** A model without a provider is reported in the words that the API promises. */
function wordAsApi(problem: Problem): Problem {
  const [section, list, , field] = problem.path;
  if (problem.type !== 'missing' || section !== 'runtime' || list !== 'models' || field !== 'provider') return problem;
  return { ...problem, reason: 'runtime provider is required (one of compat_api, local_runner, local_accel, universal)' };
}

/** An unresolved reference stays in place as text, and the schema then complains about the type of that text. */
function isShadowed(violation: Problem, unresolved: readonly Problem[]): boolean {
  return unresolved.some(
    (problem) => problem.path.length === violation.path.length && problem.path.every((part, index) => part === violation.path[index]),
  );
}

/** The processing strategy that exists without being configured. */
export const BUILT_IN_STRATEGY = 'universal_rag';

/** Rules within a file that make it unusable when broken: unique names, prompt sets that exist, the form of `schema`. */
function brokenRules(config: ProjectConfig): Problem[] {
  return [...duplicates(config), ...unknownPromptSets(config), ...schemaReference(config)];
}

/** Names that point at nothing. A file with them still works as far as they are not used, so reading tolerates what saving refuses. */
function danglingNames(config: ProjectConfig): Problem[] {
  const problems: Problem[] = [];
  const { runtime, rag, datasets = [], voice, memory, mcp } = config;
  const models = namesOf(runtime.models);
  const databases = namesOf(rag?.databases);
  const strategies = [BUILT_IN_STRATEGY, ...namesOf(rag?.data_processing_strategies)];
  const stores = namesOf(memory?.stores);
  const expect = (value: string | undefined, known: string[], path: Path, what: string): void => {
    if (value === undefined || known.includes(value)) return;
    problems.push({ path, reason: `no ${what} '${value}' (${listNames(known)})`, type: 'reference', input: value });
  };
  expect(runtime.default_model, models, ['runtime', 'default_model'], 'model');
  expect(voice?.llm_model, models, ['voice', 'llm_model'], 'model');
  expect(rag?.default_database, databases, ['rag', 'default_database'], 'database');
  expect(memory?.default_store, stores, ['memory', 'default_store'], 'memory store');
  runtime.models.forEach((model, index) => {
    expect(model.target_database, databases, ['runtime', 'models', index, 'target_database'], 'database');
    const own = typeof model.memory === 'object' ? model.memory.store : undefined;
    expect(own, stores, ['runtime', 'models', index, 'memory', 'store'], 'memory store');
    model.mcp_servers?.forEach((server, place) => {
      expect(server, namesOf(mcp?.servers), ['runtime', 'models', index, 'mcp_servers', place], 'tool server');
    });
  });
  datasets.forEach((dataset, index) => {
    expect(dataset.database, databases, ['datasets', index, 'database'], 'database');
    expect(dataset.data_processing_strategy, strategies, ['datasets', index, 'data_processing_strategy'], 'data processing strategy');
    expect(dataset.memory, stores, ['datasets', index, 'memory'], 'memory store');
  });
  rag?.databases?.forEach((database, index) => {
    const path = ['rag', 'databases', index];
    expect(
      database.default_embedding_strategy,
      namesOf(database.embedding_strategies),
      [...path, 'default_embedding_strategy'],
      'embedding strategy',
    );
    expect(
      database.default_retrieval_strategy,
      namesOf(database.retrieval_strategies),
      [...path, 'default_retrieval_strategy'],
      'retrieval strategy',
    );
    database.retrieval_strategies?.forEach((strategy, place) => {
      const model =
        strategy.type === 'CrossEncoderRerankedStrategy' || strategy.type === 'MultiTurnRAGStrategy'
          ? strategy.config?.model_name
          : undefined;
      // Either the name of a configured model or the identifier of one.
      const known = [...models, ...runtime.models.map((entry) => entry.model)];
      if (typeof model === 'string') expect(model, known, [...path, 'retrieval_strategies', place, 'config', 'model_name'], 'model');
    });
  });
  return problems;
}

function duplicates(config: ProjectConfig): Problem[] {
  const problems: Problem[] = [];
  const unique = (entries: readonly { name?: string }[] | undefined, path: Path, what: string): void => {
    const seen = new Set<string>();
    entries?.forEach(({ name }, index) => {
      if (name === undefined) return;
      if (seen.has(name))
        problems.push({ path: [...path, index, 'name'], reason: `duplicate ${what} name '${name}'`, type: 'duplicate', input: name });
      seen.add(name);
    });
  };
  unique(config.runtime.models, ['runtime', 'models'], 'model');
  unique(config.prompts, ['prompts'], 'prompt set');
  unique(config.datasets, ['datasets'], 'dataset');
  unique(config.memory?.stores, ['memory', 'stores'], 'memory store');
  unique(config.mcp?.servers, ['mcp', 'servers'], 'tool server');
  unique(config.rag?.databases, ['rag', 'databases'], 'database');
  unique(config.rag?.data_processing_strategies, ['rag', 'data_processing_strategies'], 'data processing strategy');
  config.rag?.databases?.forEach((database, index) => {
    const path = ['rag', 'databases', index];
    unique(database.embedding_strategies, [...path, 'embedding_strategies'], 'embedding strategy');
    unique(database.retrieval_strategies, [...path, 'retrieval_strategies'], 'retrieval strategy');
  });
  return problems;
}

function unknownPromptSets(config: ProjectConfig): Problem[] {
  const known = namesOf(config.prompts);
  return config.runtime.models.flatMap((model, index) =>
    (model.prompts ?? []).flatMap((name, place): Problem[] => {
      if (known.includes(name)) return [];
      const reason = `no prompt set '${name}' (${listNames(known)})`;
      return [{ path: ['runtime', 'models', index, 'prompts', place], reason, type: 'reference', input: name }];
    }),
  );
}

/** The five checks on `schema`: has a class, relative, no `..`, under `schemas/`, a `.py` file; a `.json` file needs no `::`. */
function schemaReference(config: ProjectConfig): Problem[] {
  const { schema } = config;
  if (schema === undefined) return [];
  const problem = (reason: string): Problem[] => [{ path: ['schema'], reason, type: 'schema_reference', input: schema }];
  const [file = '', definition, ...rest] = schema.split('::');
  const isJson = file.endsWith('.json');
  if (rest.length > 0 || definition === '' || (definition === undefined && !isJson)) {
    return problem("must be '<file>::<name>', such as 'schemas/answer.py::Answer' (a .json file may stand alone)");
  }
  if (/^(?:[/\\]|[A-Za-z]:)/.test(file)) return problem('the path must be relative to the project directory');
  if (file.split(/[/\\]/).includes('..')) return problem("the path must not contain '..'");
  if (!file.startsWith('schemas/')) return problem("the path must lie under 'schemas/'");
  if (!isJson && !file.endsWith('.py')) return problem('the file must end in .py or .json');
  return [];
}

function namesOf(entries: readonly { name: string }[] | undefined): string[] {
  return (entries ?? []).map((entry) => entry.name);
}

function listNames(known: string[]): string {
  return known.length === 0 ? 'there are none' : `available: ${known.join(', ')}`;
}

/** How a provider can be asked for an answer by a schema. */
const INSTRUCTOR_MODES: ReadonlySet<string> = new Set(['json', 'md_json', 'tools']);

/** A setting of a model that has no effect here, and why; absent where it has one or is not given. */
const MODEL_SETTINGS: Readonly<Record<string, (model: ModelConfig) => string | undefined>> = {
  'transformers.trust_remote_code': ({ transformers }) =>
    transformers?.trust_remote_code ? 'no code of a repository is ever run' : undefined,
  instructor_mode: ({ instructor_mode: mode, provider }) => {
    if (!mode) return undefined;
    if (provider === 'universal') return 'answers by a schema are held to it while they are written, in every mode';
    return INSTRUCTOR_MODES.has(mode)
      ? undefined
      : `${JSON.stringify(mode.slice(0, 64))} is not one of ${[...INSTRUCTOR_MODES].join(', ')}`;
  },
  accel: ({ accel, lemonade, provider }) =>
    (accel ?? lemonade) && !['local_accel', 'lemonade'].includes(provider) ? `provider ${provider} does not read it` : undefined,
};

/** The settings of speech that imitates a recording, and what each is where nobody sets it. */
const IMITATION = { temperature: 0.8, top_k: 1000, top_p: 0.95, repetition_penalty: 1.2 } as const;

/** The same of the voice section. */
function voiceNotes({ tts, emotion }: VoiceConfig): string[] {
  const imitated = Object.entries(IMITATION).filter(([setting, usual]) => (tts?.[setting as keyof typeof IMITATION] ?? usual) !== usual);
  const unread = imitated.map(([setting]) => setting);
  if (Object.keys(tts?.voice_profiles ?? {}).length > 0) unread.push('voice_profiles');
  const ofSpeech = unread.map((setting) => `voice.tts.${setting} has no effect: no voice is made from a recording here.`);
  return emotion?.enabled ? [...ofSpeech, 'voice.emotion has no effect: emotions are not detected here.'] : ofSpeech;
}

/** What a configuration asks for that has no effect, in sentences for the log and for whoever reads the project. */
export function settingNotes(config: ProjectConfig): string[] {
  const ofModels = config.runtime.models.flatMap((model) =>
    Object.entries(MODEL_SETTINGS).flatMap(([setting, why]) => {
      const reason = why(model);
      return reason ? [`${setting} of model '${model.name}' has no effect: ${reason}.`] : [];
    }),
  );
  return [...ofModels, ...(config.voice ? voiceNotes(config.voice) : [])];
}
