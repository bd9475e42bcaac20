import { readlink, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { type RemoteFile, RepositoryLayout } from '../cache/layout.js';
import { repositoryFolder, snapshotFiles, snapshots } from '../find/hub-cache.js';
import { aliasOf, parseName, repositoriesOf, wholeId } from '../find/names.js';
import { type RepositoryPart, repositoryPart } from '../find/parts.js';
import type { HubClient } from './client.js';
import { type QuantisationOption, quantisationOptions, type Selection, selectFiles } from './selection.js';

const REVISION = 'main';

const SHOWN_FILES = 5;

/** What a download will fetch, known before it begins. */
export interface DownloadPlan {
  /** As the caller named it, quantisation included. */
  readonly name: string;
  /** Without it. */
  readonly id: string;
  /** Where the files come from: `id`, or the repository that the alias table names for it. */
  readonly repository: string;
  readonly revision: string;
  readonly commit: string;
  readonly format: Selection['format'];
  readonly main: string;
  readonly quantisation: string | null;
  readonly files: readonly RemoteFile[];
  /** Fetched only where a graph names them, which shows when it is here. */
  readonly beside: readonly RemoteFile[];
  readonly totalBytes: number;
  /** Of the files that are not in the cache. */
  readonly missingBytes: number;
  readonly layout: RepositoryLayout;
  /** Of the weights, where it is known. */
  readonly licence: string | null;
  readonly notes: readonly string[];
  /** Whether the files are fetched without the operator's token. */
  readonly isPublic?: boolean;
}

/**
 * Looks up what downloading a model means: the repository itself where it has weights that run here, else those that the alias table names
 * for it, in turn; what is whole in the cache where the hub is offline or does not answer. Throws `not_found`, `forbidden`, `invalid` (code
 * `NoUsableWeights`) or `unavailable`, each with the remedy.
 */
export async function planDownload(client: HubClient, name: string, signal: AbortSignal): Promise<DownloadPlan> {
  const part = repositoryPart(name);
  if (part) return planPart(client, part, signal);
  const { id, quantisation } = repositoryName(name);
  let failure: unknown;
  for (const repository of repositoriesOf(id)) {
    try {
      const { commit, files } = await listFiles(client, repository, signal).catch((error: unknown) => {
        throw repository.includes('/') ? error : withShortNameHint(error, repository, client.settings.endpoint);
      });
      const selection = selectFiles(repository, files, quantisation);
      if (selection) return await planOf(client, { name, id, repository, commit, selection });
      failure ??= noUsableWeights(id, files);
    } catch (error) {
      // What holds for the model itself is said, not what is wrong with a stand-in for it.
      failure ??= error;
      const present = isHubSilent(error) ? await presentPlan(client, name, error) : undefined;
      if (present) return present;
      if (!(error instanceof Failure) || error.kind !== 'not_found') throw failure;
    }
  }
  throw failure;
}

/**
 * What a download of a model could be asked for: the forms of its own repository where that has weights that run here, else of the one that
 * stands in for it. Throws what listing the files throws.
 */
export async function optionsOf(client: HubClient, name: string, signal: AbortSignal): Promise<QuantisationOption[]> {
  const { id } = repositoryName(name);
  let failure: unknown;
  for (const repository of repositoriesOf(id)) {
    try {
      const options = quantisationOptions((await listFiles(client, repository, signal)).files);
      if (options.length > 0) return options;
    } catch (error) {
      // What holds for the model itself is said, not what is wrong with a stand-in for it.
      if (repository === id) failure = error;
      if (!(error instanceof Failure) || error.kind !== 'not_found') throw failure ?? error;
    }
  }
  if (failure !== undefined) throw failure;
  return [];
}

/** The repository of a model by its name. Throws `bad_request` for what names none. */
export function repositoryName(name: string): { id: string; quantisation: string | null } {
  const { id, quantisation, isPath } = parseName(name);
  if (!isPath) return { id: wholeId(id), quantisation: quantisation ?? aliasOf(id)?.facts.format ?? null };
  throw new Failure('bad_request', `"${name}" is a file; give the model's repository as org/repo or org/repo:QUANT.`, {
    code: 'InvalidModelName',
  });
}

/** What a name without an organisation lacks: almost all models of the hub have one. */
function withShortNameHint(error: unknown, id: string, endpoint: string): unknown {
  if (!(error instanceof Failure) || error.kind !== 'not_found') return error;
  const { kind, message, code, fields } = error;
  const where = `${endpoint}/models?library=gguf&search=${encodeURIComponent(id)}`;
  const hint = `${id} is no short name that is known here: name a repository as org/repo or org/repo:QUANT; ${where} lists some.`;
  return new Failure(kind, `${message} ${hint}`, { code, fields: { ...fields } });
}

/** The files of a repository at its newest commit. */
async function listFiles(client: HubClient, repository: string, signal: AbortSignal): Promise<{ commit: string; files: RemoteFile[] }> {
  const commit = await client.commit(repository, REVISION, signal);
  return { commit, files: await client.files(repository, commit, signal) };
}

function noUsableWeights(id: string, files: readonly RemoteFile[]): Failure {
  const shown = files.map(({ path }) => path).filter((path) => /\.(?:onnx|safetensors|bin|pt|pth|ckpt|h5|msgpack|tflite)$/i.test(path));
  const what = shown.length > 0 ? `only ${shown.slice(0, SHOWN_FILES).join(', ')}` : 'no weights';
  const made = files.some(({ path }) => path.endsWith('.onnx')) ? ', made for ONNX Runtime GenAI, whose folders are not run here' : '';
  return new Failure(
    'invalid',
    `${id} holds ${what}${made}; models run here from GGUF or ONNX files. Name a repository with an export of it.`,
    {
      code: 'NoUsableWeights',
      fields: { model: id },
    },
  );
}

/** A hub that is not asked, or does not answer, says nothing about what is already here. */
function isHubSilent(error: unknown): error is Failure {
  return error instanceof Failure && (error.kind === 'unavailable' || error.kind === 'timed_out');
}

/** The plan of a model that is whole in the cache: nothing of it is missing. Undefined where it is not. */
async function presentPlan(client: HubClient, name: string, why: Failure): Promise<DownloadPlan | undefined> {
  const { id, quantisation } = repositoryName(name);
  for (const repository of repositoriesOf(id)) {
    const present = await cachedSelection(client.settings.cache, repository, quantisation);
    if (present) return planAsCached(await planOf(client, { name, id, repository, ...present }), why);
  }
  return undefined;
}

/** A plan of what is in the cache; what a branch stands for is the hub's to say. */
function planAsCached(plan: DownloadPlan, why: Failure): DownloadPlan {
  const reason = why.code === 'HubOffline' ? 'HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set' : 'the hub does not answer';
  return { ...plan, revision: plan.commit, notes: [`${plan.name} is in the cache and taken as it is, because ${reason}.`] };
}

/** The plan of a model that is some files of a repository, by the repository's newest commit, else what of it is whole in the cache. */
async function planPart(client: HubClient, part: RepositoryPart, signal: AbortSignal): Promise<DownloadPlan> {
  const { name, repository, files: wanted, format, licence } = part;
  const planned = (commit: string, files: readonly RemoteFile[]): Promise<DownloadPlan> => {
    const selection: Selection = { files, beside: [], format, main: wanted[0], quantisation: null, note: null };
    return planOf(client, { name, id: repository, repository, commit, selection }).then((plan) => ({ ...plan, licence }));
  };
  try {
    const { commit, files } = await listFiles(client, repository, signal);
    const found = wanted.map((path) => {
      const file = files.find((one) => one.path === path);
      if (file) return file;
      throw new Failure('not_found', `${repository}, where ${name} lies, has no ${path} any more.`, { code: 'ModelNotFound' });
    });
    return await planned(commit, found);
  } catch (error) {
    const present = isHubSilent(error) ? await cachedFiles(client.settings.cache, repository, wanted) : undefined;
    if (!present) throw error;
    return planAsCached(await planned(present.commit, present.files), error as Failure);
  }
}

async function planOf(
  client: HubClient,
  found: { name: string; id: string; repository: string; commit: string; selection: Selection },
): Promise<DownloadPlan> {
  const { selection, ...rest } = found;
  const layout = new RepositoryLayout(client.settings.cache, found.repository);
  const sizes = await Promise.all(
    selection.files.map(async (file) => ({ bytes: file.sizeBytes, isThere: await layout.has(file, found.commit) })),
  );
  const isOther = found.repository !== found.id;
  const alias = isOther ? [`${found.id} has no weights that run here; those of ${found.repository}, exported from it, are fetched.`] : [];
  return {
    ...rest,
    revision: REVISION,
    format: selection.format,
    main: selection.main,
    quantisation: selection.quantisation,
    files: selection.files,
    beside: selection.beside,
    totalBytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    missingBytes: sizes.reduce((sum, { bytes, isThere }) => sum + (isThere ? 0 : bytes), 0),
    layout,
    licence: aliasOf(found.id)?.facts.licence ?? null,
    notes: [...alias, ...(selection.note === null ? [] : [selection.note])],
  };
}

/** A model that is whole in the cache. */
interface CachedSelection {
  readonly commit: string;
  readonly selection: Selection;
}

/**
 * What of a repository in the cache can be run without asking the hub: from the newest snapshot that has all of it, in just the
 * quantisation that is wanted. Undefined where nothing is.
 */
async function cachedSelection(cache: string, repository: string, quantisation: string | null): Promise<CachedSelection | undefined> {
  const folder = repositoryFolder(cache, repository);
  for (const snapshot of await snapshots(folder)) {
    const files = await Promise.all((await snapshotFiles(snapshot, folder)).map((path) => listedFile(snapshot, path)));
    const selection = selectCached(repository, files, quantisation);
    if (selection && selection.note === null && (await isWhole(snapshot, files, selection)))
      return { commit: basename(snapshot), selection };
  }
  return undefined;
}

/** Files of a repository in the cache, from the newest snapshot that has all of them; undefined where none has. */
async function cachedFiles(
  cache: string,
  repository: string,
  paths: readonly string[],
): Promise<{ readonly commit: string; readonly files: readonly RemoteFile[] } | undefined> {
  const folder = repositoryFolder(cache, repository);
  for (const snapshot of await snapshots(folder)) {
    const there = new Set(await snapshotFiles(snapshot, folder));
    if (!paths.every((path) => there.has(path))) continue;
    return { commit: basename(snapshot), files: await Promise.all(paths.map((path) => listedFile(snapshot, path))) };
  }
  return undefined;
}

/** What would be fetched of these files; nothing where they lack a part. */
function selectCached(repository: string, files: readonly RemoteFile[], quantisation: string | null): Selection | null {
  try {
    return selectFiles(repository, files, quantisation);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** A file of a snapshot as the hub would list it; its blob is what the link leads to. */
async function listedFile(snapshot: string, path: string): Promise<RemoteFile> {
  const file = join(snapshot, ...path.split('/'));
  const [{ size }, target] = await Promise.all([stat(file), readlink(file).catch(() => path)]);
  return { path, sizeBytes: size, etag: basename(target) };
}

/** Graphs name the files that their weights lie in, and modules.json the dense layers that follow them; a snapshot that others made may lack them. */
async function isWhole(snapshot: string, there: readonly RemoteFile[], { files, format }: Selection): Promise<boolean> {
  if (format !== 'onnx') return true;
  const [{ inspectGraph }, { missingDenseWeights }] = await Promise.all([
    import('../../formats/onnx/graph-file.js'),
    import('../../engines/encoders/onnx/sentence-modules.js'),
  ]);
  const graphs = files.flatMap(({ path }) => (/\.onnx$/i.test(path) ? [join(snapshot, ...path.split('/'))] : []));
  const paths = new Set(there.map(({ path }) => path));
  try {
    for (const graph of graphs) inspectGraph(graph);
    return missingDenseWeights(snapshot, paths, graphs).length === 0;
  } catch (error) {
    if (error instanceof Failure || error instanceof RangeError) return false;
    throw error;
  }
}
