import { realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { holdsModel, isImportanceMatrix, quantisationOf } from '../../formats/gguf-names.js';
import { formatName } from '../../formats/onnx-names.js';
import type { ModelPlaces } from '../find/contract.js';
import { cachedRepositories, filesBelow, snapshotFiles, snapshots } from '../find/hub-cache.js';
import { partOfFile } from '../find/parts.js';
import { ownModels, topFiles } from '../find/places.js';
import { RepositoryLayout } from './layout.js';

/** A model on this machine, as listings show it. */
export interface CachedModel {
  readonly id: string;
  /** `hub`: in the cache that other programs share; `folder`: put into `{data_dir}/models` by hand. */
  readonly source: 'hub' | 'folder';
  readonly format: 'gguf' | 'onnx' | 'ggml' | 'ctranslate2' | 'other';
  /** Upper case, sorted. */
  readonly quantisations: readonly string[];
  /** Each file once, in however many snapshots it is shown. */
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /** Commits, newest first; none for folders. */
  readonly revisions: readonly string[];
  readonly path: string;
}

/** A Whisper model, of which one repository has many. */
const GGML = /(?:^|\/)ggml-[^/]+\.bin$/i;

function formatOf(files: readonly string[]): CachedModel['format'] {
  if (files.some((file) => /\.gguf$/i.test(file) && !isImportanceMatrix(file))) return 'gguf';
  if (files.some((file) => /\.onnx$/i.test(file))) return 'onnx';
  if (files.some((file) => GGML.test(file))) return 'ggml';
  const names = files.map((file) => basename(file));
  return names.includes('model.bin') && names.some((name) => /^vocabulary\.(?:txt|json)$/.test(name)) ? 'ctranslate2' : 'other';
}

function quantisationsOf(files: readonly string[]): string[] {
  const models = files.filter(holdsModel);
  const named = models.map((file) => (/\.gguf$/i.test(file) ? quantisationOf(file) : /\.onnx$/i.test(file) ? formatName(file) : null));
  return [...new Set(named.filter((name) => name !== null))].sort();
}

/** Sizes and times of files, each counted once however many names it has. */
export async function measureFiles(paths: readonly string[]): Promise<{ sizeBytes: number; modifiedAt: Date }> {
  const real = new Set(await Promise.all(paths.map((path) => realpath(path).catch(() => path))));
  let [sizeBytes, newest] = [0, 0];
  for (const path of real) {
    const facts = await stat(path).catch(() => null);
    sizeBytes += facts?.size ?? 0;
    newest = Math.max(newest, facts?.mtimeMs ?? 0);
  }
  return { sizeBytes, modifiedAt: new Date(newest) };
}

/** The models of a repository: one, or each of several that have names of their own. */
async function modelsInRepository(cache: string, id: string): Promise<CachedModel[]> {
  const whole = await repositoryAsModel(cache, id);
  if (!whole) return [];
  const { model, files } = whole;
  if (!files.some((file) => partOfFile(id, file) !== undefined)) return [model];
  const named = new Map<string, string[]>();
  for (const file of files) {
    const name = partOfFile(id, file) ?? id;
    named.set(name, [...(named.get(name) ?? []), file]);
  }
  return Promise.all([...named].map(async ([name, own]) => ({ ...model, id: name, ...(await measureFiles(own)) })));
}

async function repositoryAsModel(cache: string, id: string): Promise<{ model: CachedModel; files: readonly string[] } | null> {
  const { folder } = new RepositoryLayout(cache, id);
  const shown = await Promise.all((await snapshots(folder)).map(async (path) => ({ path, files: await snapshotFiles(path, folder) })));
  const full = shown.filter(({ files }) => files.length > 0);
  const files = full.flatMap(({ path, files }) => files.map((file) => join(path, file)));
  if (files.length === 0) return null;
  const revisions = full.map(({ path }) => basename(path));
  const model: CachedModel = {
    id,
    source: 'hub',
    format: formatOf(files),
    quantisations: quantisationsOf(files),
    revisions,
    path: folder,
    ...(await measureFiles(files)),
  };
  return { model, files };
}

async function modelOfFolder(places: ModelPlaces, id: string): Promise<CachedModel> {
  const path = isAbsolute(id) ? id : join(places.folder, ...id.split('/'));
  const files = (await filesBelow(path, places.folder)).map((file) => join(path, file));
  return {
    id,
    source: 'folder',
    format: formatOf(files),
    quantisations: quantisationsOf(files),
    revisions: [],
    path,
    ...(await measureFiles(files)),
  };
}

async function modelOfFile(places: ModelPlaces, name: string): Promise<CachedModel> {
  const path = join(places.folder, ...name.split('/'));
  return {
    id: name,
    source: 'folder',
    format: formatOf([name]),
    quantisations: quantisationsOf([name]),
    revisions: [],
    path,
    ...(await measureFiles([path])),
  };
}

/** The models on this machine, by whatever program they came: the hub cache, then folders and GGUF files of `{data_dir}/models`. */
export async function cachedModels(places: ModelPlaces): Promise<CachedModel[]> {
  const cached = await Promise.all((await cachedRepositories(places.hub)).sort().map((id) => modelsInRepository(places.hub, id)));
  const { repositories, files } = await ownModels(places.folder);
  const own = await Promise.all(repositories.map((id) => modelOfFolder(places, id)));
  const loose = (await filesBelow(places.folder, places.folder)).filter((file) => !file.includes('/') && GGML.test(file));
  const single = await Promise.all([...files, ...(await topFiles(places.folder)), ...loose].map((name) => modelOfFile(places, name)));
  return [...cached.flat(), ...own, ...single];
}
