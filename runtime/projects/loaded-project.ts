import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { basename } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { McpServer, ModelConfig, ProjectConfig, RuntimeConfig } from '../../schemas/generated/config/project.js';
import type { ModelItem, ModelList, Project } from '../../schemas/generated/core/projects.js';
import type { JsonObject } from '../base/json.js';
import { deepFreeze } from '../base/json.js';
import { log } from '../base/log.js';
import { turn } from '../base/loop.js';
import { invalidConfig, summary } from '../config/problems.js';
import { parseProjectFile } from '../config/project-file.js';
import { withoutSecrets } from '../config/secrets.js';
import { settingNotes, validateConfig } from '../config/validate.js';
import { parseLargeProjectFile } from '../config/yaml-worker.js';

/** The model used when a request names none: `default_model` where it names one, else the first marked `default`, else the first. */
export function defaultModel(runtime: RuntimeConfig): ModelConfig | undefined {
  const { models, default_model } = runtime;
  return models.find((model) => model.name === default_model) ?? models.find((model) => model.default === true) ?? models[0];
}

const ABSENT = { description: null, base_url: null, api_key: null, instructor_mode: null, prompt_format: null };

/** The encoder that finds names: the first model of the universal runtime with `ner` as the task of its `encoder_config`. */
export function namingModel({ models }: RuntimeConfig): ModelConfig | undefined {
  return models.find(({ provider = 'universal', encoder_config: encoder }) => provider === 'universal' && encoder?.task === 'ner');
}

/** The configured models with all their fields and their default marked. Secrets come as `***`; a reference to an environment variable holds none and is shown. `data` has their names in the form in which the official clients list models. */
export function listModels(config: ProjectConfig): ModelList {
  const chosen = defaultModel(config.runtime);
  const models = config.runtime.models.map(
    (model) => ({ ...ABSENT, ...withoutSecrets(model), default: model === chosen }) as unknown as ModelItem,
  );
  const created = Math.floor(Date.now() / 1000);
  const data = config.runtime.models.map(
    ({ name, provider }) => ({ id: name, object: 'model', created, owned_by: provider ?? 'universal' }) as const,
  );
  return { object: 'list', data, total: models.length, models };
}

/** A project ready for use. Frozen in depth: it is shared by everybody until the file changes. */
export interface LoadedProject {
  readonly namespace: string;
  readonly name: string;
  /** Absolute path of the project's directory. */
  readonly directory: string;
  /** Validated, with references inlined, defaults filled in, and `runtime.models` always an array. `${env:NAME}` is still text: see `expandEnv`. */
  readonly config: ProjectConfig;
  /** Changes whenever the content of the file changes: 16 hex characters of its SHA-256. */
  readonly stamp: string;
  /** ISO 8601, UTC. */
  readonly lastModified: string;
  /** Names in the file that point at nothing, in one line; the project works without them. */
  readonly validationError: string | null;
}

/** Which project, and where it lies. */
interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly directory: string;
}

/** What one state of a project file on disk amounts to. */
export interface Snapshot {
  readonly stamp: string;
  /** For use; `null` when the file is invalid, and `failure` then says why. */
  readonly loaded: LoadedProject | null;
  /** For showing, without secrets; `null` when the file does not even parse. */
  readonly shown: Project | null;
  /** What `shown.config` shows, with the secrets. */
  readonly stored: JsonObject | null;
  readonly failure: Failure | null;
}

/**
 * Makes the snapshot of a file's text; never throws on its content. `stats` are those of the file that was read; `known` is what the text
 * says, where that is known already.
 */
export function takeSnapshot(place: Place, fileName: string, text: string, stats: Stats, known?: JsonObject): Snapshot {
  const { namespace, name } = place;
  const subject = `Project ${namespace}/${name}`;
  const stamp = stampOf(text);
  const lastModified = new Date(stats.mtimeMs).toISOString();
  try {
    const raw = known ?? parseProjectFile(fileName, text, subject).value;
    const { stored, config, errors, warnings } = validateConfig(raw, namespace, name);
    const problems = [...errors, ...warnings];
    const validationError = summary(problems);
    const notes = config ? settingNotes(config) : [];
    for (const note of notes) log('warn', `${subject}: ${note}`);
    const shownConfig = withoutSecrets(config ? stored : raw);
    const shown = { namespace, name, config: shownConfig, validation_error: validationError, notes, last_modified: lastModified };
    const loaded = config ? deepFreeze({ ...place, config, stamp, lastModified, validationError }) : null;
    return {
      stamp,
      loaded,
      shown: deepFreeze(shown),
      stored: deepFreeze(stored),
      failure: config ? null : invalidConfig(subject, problems),
    };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { stamp, loaded: null, shown: null, stored: null, failure };
  }
}

/** The content stamp of a project file's text. */
export function stampOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * The tool servers that a project file is about to have: as they were given, and as they will be read from its text, since whichever is used
 * must be known as written by a request.
 */
export async function writtenServers(path: string, text: string, given: JsonObject, namespace: string, name: string): Promise<McpServer[]> {
  if (given.mcp === undefined) return [];
  const read = await parseLargeProjectFile(basename(path), text, `Project ${namespace}/${name}`);
  const servers: McpServer[] = [];
  for (const { version, mcp } of [given, read]) {
    await turn();
    // The rest of the file is not needed for them.
    const { config } = validateConfig({ version, runtime: { models: [] }, mcp } as JsonObject, namespace, name);
    servers.push(...(config?.mcp?.servers ?? []));
  }
  return servers;
}
