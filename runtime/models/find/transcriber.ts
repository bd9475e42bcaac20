import { stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { expandHome, resolvesInside } from '../../base/files.js';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import { looksLikeSherpa, sherpaFolder } from '../../formats/sherpa-folder.js';
import type { FoundModel, ModelPlaces } from './contract.js';
import { filesBelow, repositoryFolder, snapshotFiles, snapshots } from './hub-cache.js';
import { parseName } from './names.js';
import { requireOwnPlace } from './places.js';
import { findRepositoryHere, withGraphs } from './repository.js';

/**
 * Finds a model of speech to text: a Whisper model as `findWhisper` does, or by its repository or folder one for sherpa-onnx, whose format is `onnx`. Throws as
 * `findWhisper` does, and `invalid` for a graph that says nothing usable.
 */
export async function findTranscriber(name: string, places: ModelPlaces): Promise<FoundModel<'ggml' | 'ctranslate2' | 'onnx'>> {
  if (whisperModel(name)) return findWhisper(name, places);
  const repository = await findRepositoryHere(name, places);
  const sherpa = repository && looksLikeSherpa(repository.files) ? sherpaFolder(repository.folder, repository.files) : undefined;
  if (sherpa?.purpose !== 'hears') return findWhisper(name, places);
  return { ...(await withGraphs(repository!, sherpa.weights)), format: 'onnx' };
}

/** A Whisper model by its name: what is fetched of it, and where else its weights may lie. */
interface WhisperModel {
  /** Such as `tiny`, `base.en`, `large-v3`. */
  readonly name: string;
  readonly repository: string;
  /** The file that is fetched. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Repositories of CTranslate2 files with the same weights, as faster-whisper fetches them. */
  readonly others: readonly string[];
}

/** What people and other programs put before the name. */
const BEFORE = /^(?:openai\/|ggerganov\/|systran\/|guillaumekln\/)?(?:faster-)?(?:whisper-|ggml-)?(?=.)/i;

const OTHER_NAMES: Readonly<Record<string, string>> = {
  large: 'large-v3',
  turbo: 'large-v3-turbo',
  'distil-large-v3-turbo': 'distil-large-v3',
};

/** Where the ggml files of OpenAI's models lie. */
const GGML = 'ggerganov/whisper.cpp';
const MEGABYTE = 1e6;

const ggml = (name: string, form: string, megabytes: number, ...others: string[]): WhisperModel => ({
  name,
  repository: GGML,
  file: `ggml-${name}${form}.bin`,
  sizeBytes: megabytes * MEGABYTE,
  others: [`Systran/faster-whisper-${name}`, `guillaumekln/faster-whisper-${name}`, ...others],
});
const distilled = (name: string, repository: string, file: string, megabytes: number): WhisperModel => ({
  name,
  repository,
  file,
  sizeBytes: megabytes * MEGABYTE,
  others: [`Systran/faster-${name.replace('distil-', 'distil-whisper-')}`],
});

/** The smallest first. Sizes are those of the files that the hub lists. */
const WHISPERS: readonly WhisperModel[] = [
  ggml('tiny', '-q8_0', 43.5),
  ggml('tiny.en', '-q8_0', 43.6),
  ggml('base', '-q8_0', 81.8),
  ggml('base.en', '-q8_0', 81.8),
  ggml('small', '-q8_0', 264),
  ggml('small.en', '-q8_0', 264),
  distilled('distil-small.en', 'distil-whisper/distil-small.en', 'ggml-distil-small.en.bin', 336),
  distilled('distil-medium.en', 'distil-whisper/distil-medium.en', 'ggml-medium-32-2.en.bin', 794),
  ggml('medium', '-q8_0', 823),
  ggml('medium.en', '-q8_0', 823),
  ggml('large-v3-turbo', '-q8_0', 874, 'deepdml/faster-whisper-large-v3-turbo-ct2', 'mobiuslabsgmbh/faster-whisper-large-v3-turbo'),
  distilled('distil-large-v3', 'distil-whisper/distil-large-v3-ggml', 'ggml-distil-large-v3.bin', 1520),
  ggml('large-v3', '-q5_0', 1080),
  ggml('large-v2', '-q5_0', 1080),
  ggml('large-v1', '', 3090),
];

/** The model of a name, with or without `whisper-` before it; undefined where it names none of the list. */
export function whisperModel(name: string): WhisperModel | undefined {
  const bare = name.toLowerCase().replace(BEFORE, '');
  const wanted = OTHER_NAMES[bare] ?? bare.replace(/^distil-whisper-/, 'distil-');
  return WHISPERS.find((model) => model.name === wanted);
}

/** A Whisper model on disk: a ggml file, or `model.bin` of a folder with a CTranslate2 model. */
type FoundWhisper = FoundModel<'ggml' | 'ctranslate2'>;

/** What OpenAI calls its own: the largest that is here. */
const OPENAI_MODELS: ReadonlySet<string> = new Set(['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe']);

/**
 * Finds a Whisper model: a name such as `tiny` or `whisper-base.en`, a repository of the hub with a ggml file or a CTranslate2 model, or an absolute
 * path; those of OpenAI are the largest that is here. Never another model in its place. Throws `not_found` that names the pull and lists what is here, `bad_request` for what cannot be a name.
 */
async function findWhisper(name: string, places: ModelPlaces): Promise<FoundWhisper> {
  if (OPENAI_MODELS.has(name)) return findWhisper((await whispersHere(places)).at(-1) ?? pullName(whisperModel('base')!), places);
  const path = expandHome(name);
  if (isAbsolute(path)) {
    requireOwnPlace(path, [places.folder, places.hub]);
    const isFile = (await sizeOf(path)) > 0;
    const place = { folder: isFile ? dirname(path) : path, source: isFile ? ('file' as const) : ('folder' as const) };
    const found = await whisperInFiles(name, place, isFile ? [basename(path)] : await filesBelow(path, path));
    return found ?? throwMissing(name, pullName(WHISPERS[0]!), places);
  }
  const model = whisperModel(name);
  if (model) return (await whisperOnDisk(model, places)) ?? throwMissing(name, pullName(model), places);
  const { id } = parseName(name);
  return (await whisperInRepository(id, id, places)) ?? throwMissing(name, id, places);
}

/** Names of the Whisper models of the list that are on this machine, the smallest first. */
async function whispersHere(places: ModelPlaces): Promise<string[]> {
  const found = await Promise.all(WHISPERS.map((model) => whisperOnDisk(model, places)));
  return found.flatMap((one) => (one ? [one.id] : []));
}

async function whisperOnDisk(model: WhisperModel, places: ModelPlaces): Promise<FoundWhisper | undefined> {
  const { name, repository, file, others } = model;
  const top = (await filesBelow(places.folder, places.folder)).filter((one) => !one.includes('/'));
  const loose = ggmlAmong(top, name);
  if (loose !== undefined) return whisperInFiles(name, { folder: places.folder, source: 'file' }, [loose], name);
  // A repository of one model may call its file as it likes.
  const wanted = repository === GGML ? name : file.replace(/^ggml-|\.bin$/g, '');
  for (const [place, inside] of [[repository, wanted], [pullName(model), undefined], ...others.map((one) => [one, undefined])] as [
    string,
    string?,
  ][]) {
    const found = await whisperInRepository(name, place, places, inside);
    if (found) return found;
  }
  return undefined;
}

/** A ggml file of these, the smallest of several quantisations last: `q8_0` is as good as the whole one and faster. */
function ggmlAmong(files: readonly string[], name?: string): string | undefined {
  const all = files.filter((file) => {
    const base = basename(file).toLowerCase();
    if (!/^ggml-.*\.bin$/.test(base)) return false;
    return name === undefined || new RegExp(`^ggml-${name.replaceAll('.', '\\.')}(?:-q\\d_[01k])?\\.bin$`).test(base);
  });
  return all.find((file) => /-q8_0\.bin$/i.test(file)) ?? all.find((file) => !/-q\d/i.test(file)) ?? all[0];
}

/** The model among the files of a folder. */
async function whisperInFiles(
  id: string,
  { folder, source }: Pick<FoundWhisper, 'folder' | 'source'>,
  files: readonly string[],
  wanted?: string,
): Promise<FoundWhisper | undefined> {
  const ggml = ggmlAmong(files, wanted);
  const isConverted = files.includes('model.bin') && files.some((one) => /^vocabulary\.(?:txt|json)$/.test(one));
  if (ggml === undefined && !isConverted) return undefined;
  const path = join(folder, ...(ggml ?? 'model.bin').split('/'));
  const format = ggml === undefined ? 'ctranslate2' : 'ggml';
  return { id, quantisation: null, format, weights: [path], folder, sizeBytes: await sizeOf(path), source, facts: {}, notes: [] };
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (facts) => (facts.isFile() ? facts.size : 0),
    () => 0,
  );
}

/** What a caller of `quern pull` types. */
export const pullName = (model: WhisperModel): string => (model.name.startsWith('distil-') ? model.name : `whisper-${model.name}`);

async function whisperInRepository(
  name: string,
  repository: string,
  places: ModelPlaces,
  wanted?: string,
): Promise<FoundWhisper | undefined> {
  const own = join(places.folder, ...repository.split('/'));
  if (await resolvesInside(places.folder, own)) {
    const found = await whisperInFiles(name, { folder: own, source: 'folder' }, await filesBelow(own, places.folder), wanted);
    if (found) return found;
  }
  const cached = repositoryFolder(places.hub, repository);
  for (const snapshot of await snapshots(cached)) {
    const found = await whisperInFiles(name, { folder: snapshot, source: 'hub' }, await snapshotFiles(snapshot, cached), wanted);
    if (found) return found;
  }
  return undefined;
}

async function throwMissing(name: string, id: string, places: ModelPlaces): Promise<never> {
  const here = await whispersHere(places);
  const others = here.length === 0 ? 'no other model of speech to text is here either' : `these are here: ${here.join(', ')}`;
  throw modelMissing(name, { why: `it is not on this machine; ${others}`, remedies: [howToFetch(id)] });
}

/** Repositories that a loaded model of this name may have its weights from. */
export function whisperRepositories(name: string): string[] {
  const model = whisperModel(name);
  return model ? [model.repository, ...model.others] : [name];
}

/** What the model in a file of a repository is called here; undefined for one that is not of the list. */
export function nameOfFile(repository: string, file: string): string | undefined {
  const bare = file.toLowerCase().replace(/^ggml-|(?:-q\d_[01k])?\.bin$/g, '');
  const found = WHISPERS.find(
    (model) => model.repository === repository && (model.file === file || (repository === GGML && model.name === bare)),
  );
  return found && pullName(found);
}
