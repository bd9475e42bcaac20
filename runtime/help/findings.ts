import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { Database } from '../../schemas/generated/config/rag.js';
import type { DatasetItem } from '../../schemas/generated/core/datasets.js';
import { quote } from '../base/names.js';
import { languageSettings } from '../completions/settings.js';
import { expandEnv } from '../config/variables.js';
import type { Events } from '../events/events.js';
import { howToFetch } from '../formats/model-files.js';
import type { Datasets } from '../library/datasets/datasets.js';
import type { ModelPlaces } from '../models/find/contract.js';
import { findEncoder } from '../models/find/encoder.js';
import { findLanguage } from '../models/find/language.js';
import { defaultModel } from '../projects/loaded-project.js';
import type { LoadedProject, Projects } from '../projects/projects.js';
import { providerOf } from '../providers/index.js';
import type { EmbedderKind } from '../rag/embedders/contract.js';
import { EMBEDDERS } from '../rag/embedders/index.js';

/** Things that are said of a project, and characters of each. */
const MAX_FINDINGS = 8;
const MAX_CHARS = 300;
/** Characters of a model's name. */
const MAX_NAME_CHARS = 100;
/** Models and embedders that are looked for; each costs some looks at the disk. */
const MAX_LOOKED_FOR = 32;
/** Names that one sentence lists. */
const MAX_NAMES = 6;
/** Failures of the last day that are told, and how far back they are looked for. */
const FAILURES = 2;
const DAY_MS = 86_400_000;

/** A tool server of a project, as far as it can be in the way. */
interface ToolServerState {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly approved: boolean;
}

/** Where the state of a project is looked up. */
export interface FindingsParts {
  readonly projects: Projects;
  readonly datasets: Datasets;
  readonly events: Events;
  /** Where models are looked for; absent where other runtimes have them. */
  readonly places: ModelPlaces | undefined;
  /** Absent where no tool server is started. */
  readonly toolServers?: { list(namespace: string, project: string): Promise<readonly ToolServerState[]> } | undefined;
}

/** What is to be said of a project. Holds no secret. */
export interface Findings {
  /** What is wrong with it, in sentences that say what to do. */
  readonly problems: readonly string[];
  /** What it has, in sentences. */
  readonly facts: readonly string[];
}

/** Looks at the configuration and the state of a project by rules that need no model. Never throws: what cannot be read is a problem. */
export async function findingsOf(parts: FindingsParts, namespace: string, name: string): Promise<Findings> {
  let project: LoadedProject;
  try {
    await parts.projects.parsing(namespace, name);
    project = parts.projects.load(namespace, name);
  } catch (failure) {
    return { problems: [failureMessage(failure)], facts: [] };
  }
  const datasets = (await parts.datasets.list(namespace, name, { details: true }).catch(() => undefined))?.datasets ?? [];
  const rules = [
    nameProblems(project),
    ...(await Promise.all([
      modelProblems(project, parts.places),
      embedderProblems(project, parts.places),
      datasetProblems(datasets),
      toolServerProblems(project, parts.toolServers),
      failuresOf(project, parts.events),
    ])),
  ];
  const problems = [...new Set(rules.flat().map((text) => cutText(text)))];
  return { problems: problems.slice(0, MAX_FINDINGS), facts: factsOf(project, datasets) };
}

/** Names in the file that point at nothing, and settings without effect. */
function nameProblems(project: LoadedProject): string[] {
  const { validationError } = project;
  return validationError === null ? [] : [`The project file is not in order: ${validationError}`];
}

async function modelProblems({ config }: LoadedProject, places: ModelPlaces | undefined): Promise<string[]> {
  const { models } = config.runtime;
  if (models.length === 0) return ['No model is configured: add one under runtime.models of the project file.'];
  const problems: string[] = [];
  for (const model of models.slice(0, MAX_LOOKED_FOR)) {
    const failure = await modelFailure(model, places);
    if (failure !== undefined) problems.push(`Model ${quote(model.name)}: ${whyUnusable(model.model, failure)}`);
  }
  return problems;
}

/** Why a model cannot be asked; undefined where nothing is known against it. Hosts are not called. */
async function modelFailure(model: ModelConfig, places: ModelPlaces | undefined): Promise<unknown> {
  try {
    expandEnv({ api_key: model.api_key ?? '', base_url: model.base_url ?? '' });
    // Models for other uses than chat are looked up where they are used.
    const isChat = (model.transformers?.model_type ?? 'text') === 'text';
    if (places && isChat && providerOf(model) === 'universal' && !model.base_url)
      await findLanguage(model.model, languageSettings(model.model, model.transformers) ?? {}, places);
    return undefined;
  } catch (failure) {
    return failure;
  }
}

async function embedderProblems({ config }: LoadedProject, places: ModelPlaces | undefined): Promise<string[]> {
  const problems: string[] = [];
  for (const { database, type, settings } of embeddersOf(config.rag?.databases ?? []).slice(0, MAX_LOOKED_FOR)) {
    const model = settings.model ?? settings.model_name;
    if (!places || !runsModelHere(type) || settings.base_url || typeof model !== 'string') continue;
    // Such a name is looked up among the models of the project first.
    if (config.runtime.models.some(({ name }) => name === model)) continue;
    await findEncoder(model, 'embedding', null, places).catch((failure: unknown) => {
      problems.push(`Database ${quote(database)} cannot embed texts: ${whyUnusable(model, failure)}`);
    });
  }
  return problems;
}

/** Whether embedders of a type need a model of this machine unless they name a host. */
function runsModelHere(type: string): boolean {
  const kinds: Readonly<Record<string, EmbedderKind>> = EMBEDDERS;
  return Object.hasOwn(kinds, type) && kinds[type]!.runsHere === true;
}

function embeddersOf(databases: readonly Database[]): { database: string; type: string; settings: Record<string, unknown> }[] {
  return databases.flatMap(({ name, embedding_strategies: strategies }) =>
    (strategies ?? []).map(({ type, config }) => ({ database: name, type: type ?? '', settings: config ?? {} })),
  );
}

function datasetProblems(datasets: readonly DatasetItem[]): string[] {
  const problems: string[] = [];
  for (const { name, details } of datasets) {
    const files = details?.files_metadata ?? [];
    const unread = files.filter(({ chunk_count: chunks }) => chunks === 0);
    if (files.length === 0) problems.push(`Dataset ${quote(name)} has no documents: upload some, then process it.`);
    else if (unread.length > 0) {
      const names = listNames(unread.map(({ original_file_name }) => original_file_name));
      problems.push(`Dataset ${quote(name)}: nothing of ${names} is in its database yet. Process the dataset.`);
    }
  }
  return problems;
}

async function toolServerProblems({ namespace, name }: LoadedProject, servers: FindingsParts['toolServers']): Promise<string[]> {
  const states = (await servers?.list(namespace, name).catch(() => [])) ?? [];
  return states.flatMap(({ name: server, state, reason, approved }) => {
    if (!approved) {
      const path = `POST /v1/projects/${namespace}/${name}/mcp/servers/${encodeURIComponent(server)}/approve`;
      return [`Tool server ${quote(server)} waits for approval and is not started: look at its command, then send ${path}.`];
    }
    return ['failed', 'restarting'].includes(state) ? [`Tool server ${quote(server)} does not run: ${reason ?? state}`] : [];
  });
}

/** What failed in the last day, from the project's event log. */
async function failuresOf({ namespace, name }: LoadedProject, events: Events): Promise<string[]> {
  const query = { status: 'failed', limit: FAILURES, start_time: new Date(Date.now() - DAY_MS).toISOString() } as const;
  const { events: failed } = await events.list(namespace, name, query).catch(() => ({ events: [] }));
  const problems: string[] = [];
  for (const { event_id: id, event_type: type, timestamp } of failed) {
    const record = await events.get(namespace, name, id).catch(() => undefined);
    const what = type.replaceAll('_', ' ');
    if (record)
      problems.push(`The last failed ${what} (${timestamp.slice(0, 16).replace('T', ' ')} UTC): ${record.error ?? 'no reason is kept'}`);
  }
  return problems;
}

function factsOf({ namespace, name, config }: LoadedProject, datasets: readonly DatasetItem[]): string[] {
  const { models } = config.runtime;
  const chosen = defaultModel(config.runtime);
  const facts = [`The project is ${namespace}/${name}.`];
  if (models.length > 0) {
    const texts = models.map((model) => `${model.name} (${model.provider}: ${model.model})`);
    facts.push(`Its models are ${listNames(texts)}; the default is ${chosen?.name ?? 'none'}.`);
  }
  const databases = config.rag?.databases ?? [];
  if (databases.length > 0) facts.push(`Its databases are ${listNames(databases.map((one) => `${one.name} (${one.type})`))}.`);
  const unused = databases.filter((one) => !datasets.some(({ database }) => database === one.name));
  if (unused.length > 0) facts.push(`No dataset goes into ${listNames(unused.map((one) => one.name))}.`);
  for (const { name: dataset, database, details } of datasets.slice(0, MAX_NAMES)) {
    const files = details?.files_metadata ?? [];
    const chunks = files.reduce((sum, { chunk_count: count = 0 }) => sum + count, 0);
    facts.push(`Dataset ${dataset} has ${files.length} documents and ${chunks} passages in database ${database}.`);
  }
  const servers = config.mcp?.servers ?? [];
  if (servers.length > 0) facts.push(`Its tool servers are ${listNames(servers.map((one) => one.name))}.`);
  return facts.map((text) => cutText(text));
}

function listNames(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function cutText(text: string, most: number = MAX_CHARS): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}

/** What keeps a model from being used; one that is not here in few words. */
function whyUnusable(model: string, failure: unknown): string {
  const isAbsent = failure instanceof Failure && failure.kind === 'not_found';
  return isAbsent
    ? `${cutText(model, MAX_NAME_CHARS)} is not on this machine: ${howToFetch(cutText(model, MAX_NAME_CHARS))}.`
    : failureMessage(failure);
}

function failureMessage(failure: unknown): string {
  return failure instanceof Failure ? failure.message : 'it cannot be read; the log of the daemon says why.';
}
