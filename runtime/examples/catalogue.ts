import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Example, ExampleDataset, Manifest, ManifestDataset } from '../../schemas/generated/core/examples.js';
import { check } from '../../schemas/validate.js';
import { humanSize } from '../base/files.js';
import { isObject, type JsonObject } from '../base/json.js';
import { log } from '../base/log.js';
import { findProjectFile, parseProjectFile, readProjectText } from '../config/project-file.js';
import { validateConfig } from '../config/validate.js';
import { parseLargeProjectFile } from '../config/yaml-worker.js';
import { filesOf, type NameBudget, nameBudget, pathOf } from './globs.js';
import type { PlainFile } from './plain-file.js';

const MANIFEST = 'manifest.yaml';
/** The examples that come with this program. */
export const BUILT_IN_EXAMPLES: string = join(import.meta.dirname, '../../../examples');
/** Bytes of a manifest, and of the project file of an example. */
const MAX_MANIFEST_BYTES = 64 * 1024;
const MAX_CONFIG_BYTES = 1024 * 1024;
/** Folders of an example that an imported project gets as they are: schemas of answers, and the programs of tool servers. */
const PROJECT_FOLDERS = ['schemas', 'tools'] as const;
const MAX_PROJECT_BYTES = 16 * 1024 * 1024;
/** Examples of one folder; more are left out. */
const MAX_EXAMPLES = 500;
/** What a dataset's patterns ask for, by the extensions in them. */
const KINDS: readonly [kind: NonNullable<ExampleDataset['kind']>, extensions: RegExp][] = [
  ['pdf', /\.pdf\b/i],
  ['csv', /\.(?:csv|tsv)\b/i],
  ['markdown', /\.(?:md|markdown)\b/i],
  ['images', /\.(?:png|jpe?g|gif|webp|bmp|tiff?)\b/i],
  ['json', /\.jsonl?\b/i],
];

/** An example as it lies on disk. */
export interface FoundExample {
  readonly id: string;
  readonly title: string;
  /** The folder that holds all examples beside it. */
  readonly root: string;
  readonly folder: string;
  /** Null where it has none. */
  readonly manifest: Manifest | null;
}

/** A dataset of a manifest that says all that an import needs. */
export interface CompleteDataset {
  readonly name: string;
  readonly strategy: string;
  readonly database: string;
  readonly ingest: readonly string[];
}

/** The examples of some folders; of two with one id the later folder's counts. Damaged manifests are passed over, which the log says. */
export class Catalogue {
  readonly #roots: readonly string[];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** All examples by their ids. */
  async all(): Promise<FoundExample[]> {
    const found = new Map<string, FoundExample>();
    for (const root of this.#roots) {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).slice(0, MAX_EXAMPLES);
      for (const { name } of folders) {
        const example = await exampleIn(root, name);
        if (example) found.set(example.id, example);
      }
    }
    return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** An example with a manifest, by its id. Throws `not_found`. */
  async get(id: string): Promise<FoundExample & { readonly manifest: Manifest }> {
    const found = (await this.all()).find((one) => one.id === id);
    if (found?.manifest) return { ...found, manifest: found.manifest };
    throw new Failure('not_found', `Example '${id.slice(0, 200)}' not found`, { code: 'ExampleNotFound' });
  }
}

async function exampleIn(root: string, name: string): Promise<FoundExample | undefined> {
  const folder = join(root, name);
  const text = await textOf(join(folder, MANIFEST), MAX_MANIFEST_BYTES).catch((cause: unknown) => warnSkipped(folder, cause));
  if (text === null) return undefined;
  if (text === undefined) {
    const isExample = (await isFolder(join(folder, 'files'))) || findProjectFile(folder) !== null;
    return isExample ? { id: name, title: titleOf(name), root, folder, manifest: null } : undefined;
  }
  try {
    const manifest = check<Manifest>('core/examples#Manifest', parseProjectFile(MANIFEST, text, `Example ${name}`).value, 'file');
    return { id: manifest.id ?? name, title: manifest.title ?? titleOf(name), root, folder, manifest };
  } catch (cause) {
    warnSkipped(folder, cause);
    return undefined;
  }
}

function warnSkipped(folder: string, cause: unknown): null {
  log('warn', 'an example is left out: its manifest cannot be read', { folder, cause });
  return null;
}

/** The text of a file that is no link; undefined where there is none. */
async function textOf(path: string, mostBytes: number): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return undefined;
  if (!stats.isFile() || stats.size > mostBytes) throw new Error(`${path} is no file of at most ${mostBytes} bytes`);
  return readFile(path, 'utf8');
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true;
}

function titleOf(name: string): string {
  const words = name.replaceAll(/[-_.]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The project file of an example. Throws `bad_request` where the manifest names none, or none that can be read. */
export async function configOf({
  root,
  folder,
  manifest,
}: FoundExample & { readonly manifest: Manifest }): Promise<{ text: string; value: JsonObject; fileName: string }> {
  const path = manifest.config?.yaml_path;
  if (!path) throw new Failure('bad_request', 'Manifest missing config.yaml_path', { code: 'BadManifest' });
  const fileName = path.split('/').at(-1)!;
  const [file] = await filesOf(root, folder, path);
  const text = file && (await textOf(pathOf(root, folder, path), MAX_CONFIG_BYTES).catch(() => undefined));
  if (text === undefined)
    throw new Failure('bad_request', `The manifest's config.yaml_path ${JSON.stringify(path)} names no file that can be read.`, {
      code: 'BadManifest',
    });
  const subject = `The project file ${path} of the example`;
  return { text, value: await parseLargeProjectFile(fileName, text, subject), fileName };
}

/** A dataset of a manifest, complete. Throws `bad_request`. */
export function completeDataset({ name, strategy, database, ingest }: ManifestDataset): CompleteDataset {
  if (name && strategy && database) return { name, strategy, database, ingest: ingest ?? [] };
  throw new Failure('bad_request', 'Dataset entry incomplete in manifest (name/strategy/database)', { code: 'BadManifest' });
}

/** The files of a dataset of an example, each once. Throws `bad_request` for a pattern that leads out of the examples. */
export async function datasetFiles(
  { root, folder }: FoundExample,
  ingest: readonly string[] | null | undefined,
  budget: NameBudget = nameBudget(),
): Promise<PlainFile[]> {
  const files = new Map<string, PlainFile>();
  for (const glob of ingest ?? []) for (const file of await filesOf(root, folder, glob, budget)) files.set(file.path, file);
  return [...files.values()];
}

/** A file that becomes a part of the project, and where: in parts, from the project's folder. */
export interface ProjectFile extends PlainFile {
  readonly place: readonly string[];
}

/** What the project file of an example names beside itself: the files below `schemas` and `tools`. Throws `bad_request` for too many bytes. */
export async function projectFilesOf({ id, root, folder }: FoundExample): Promise<ProjectFile[]> {
  const budget = nameBudget();
  const found: ProjectFile[] = [];
  for (const part of PROJECT_FOLDERS)
    for (const file of await filesOf(root, folder, `${part}/**`, budget))
      found.push({ ...file, place: relative(folder, file.path).split(sep) });
  if (found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) <= MAX_PROJECT_BYTES) return found;
  throw new Failure('bad_request', `The folders ${PROJECT_FOLDERS.join(' and ')} of example '${id}' may hold ${MAX_PROJECT_BYTES} bytes.`, {
    code: 'BadManifest',
  });
}

/** An example as the list shows it. */
export async function shownExample(example: FoundExample): Promise<Example> {
  const { id, title, root, folder, manifest } = example;
  const datasets = manifest?.datasets ?? [];
  const files = new Map<string, number>();
  const ingests = manifest ? datasets.map(({ ingest }) => ingest) : [['files/**']];
  const budget = nameBudget();
  for (const ingest of ingests)
    for (const { path, sizeBytes } of await datasetFiles(example, ingest, budget).catch(() => [])) files.set(path, sizeBytes);
  const dataBytes = [...files.values()].reduce((sum, size) => sum + size, 0);
  const config = manifest?.config?.yaml_path;
  const projectFiles = manifest
    ? [{ path: join(folder, MANIFEST) }, ...(config ? await filesOf(root, folder, config).catch(() => []) : [])]
    : [findProjectFile(folder)].filter((one) => one !== null);
  let projectBytes = 0;
  for (const { path } of projectFiles) projectBytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
  return {
    id,
    slug: manifest?.slug ?? null,
    title,
    description: manifest?.description ?? null,
    primaryModel: manifest ? (manifest.primaryModel ?? null) : firstModel(folder),
    tags: manifest?.tags ?? [],
    dataset_count: manifest ? datasets.length : null,
    data_size_bytes: dataBytes,
    data_size_human: sizeText(dataBytes),
    project_size_bytes: projectBytes,
    project_size_human: sizeText(projectBytes),
    updated_at: localTime((await lstat(folder)).mtime),
  };
}

/** The model of a project file without a manifest beside it. */
function firstModel(folder: string): string | null {
  const found = findProjectFile(folder);
  if (!found || found.stats.size > MAX_MANIFEST_BYTES) return null;
  try {
    const { text } = readProjectText(found.path, folder, 'An example');
    const { stored } = validateConfig(parseProjectFile(found.fileName, text, 'An example').value, 'examples', 'example');
    const [model] = isObject(stored.runtime) && Array.isArray(stored.runtime.models) ? stored.runtime.models : [];
    return isObject(model) && typeof model.model === 'string' ? model.model : null;
  } catch {
    return null;
  }
}

/** The datasets of an example as lists show them. */
export async function shownDatasets(example: FoundExample): Promise<ExampleDataset[]> {
  const shown: ExampleDataset[] = [];
  const budget = nameBudget();
  for (const { name, strategy, database, ingest } of example.manifest?.datasets ?? []) {
    const files = await datasetFiles(example, ingest, budget).catch(() => []);
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    shown.push({
      example_id: example.id,
      example_title: example.title,
      name: name ?? null,
      strategy: strategy ?? null,
      database: database ?? null,
      kind: KINDS.find(([, extensions]) => (ingest ?? []).some((glob) => extensions.test(glob)))?.[0] ?? null,
      ingest: ingest ?? [],
      size_bytes: sizeBytes === 0 ? null : sizeBytes,
      size_human: sizeText(sizeBytes),
    });
  }
  return shown;
}

function sizeText(bytes: number): string | null {
  return bytes === 0 ? null : humanSize(bytes);
}

/** ISO 8601 in local time, without a zone. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
