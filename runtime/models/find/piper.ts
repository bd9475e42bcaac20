import { basename, dirname, isAbsolute, join } from 'node:path';
import { piperSettingsFile } from '../../formats/piper-settings.js';
import type { ModelPlaces } from './contract.js';
import { filesBelow, repositoryFolder, snapshotFiles, snapshots } from './hub-cache.js';
import { requireOwnPlace } from './places.js';
import { findRepositoryHere } from './repository.js';

/** The repository of all published voices, which is never fetched as a whole. */
export const PIPER_VOICES = 'rhasspy/piper-voices';
/** The voice that is fetched where only Piper is named. */
export const USUAL_PIPER = 'en_US-ljspeech-high';
/** Such as `en_US-lessac-medium`: language, country, who recorded it, quality. */
const NAME = /^([a-z]{2,3})_([A-Z0-9]{2,3})-([\p{L}\p{N}_]{1,40})-(x_low|low|medium|high)$/u;
/** A graph and its settings. */
const GRAPH = /\.onnx$/;

/** A voice of Piper on this machine. */
export interface PiperVoice {
  /** Of the file, such as `en_US-lessac-medium`. */
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** Below it. */
  readonly graph: string;
}

/** Whether a name is that of a published voice. */
export const isPiperName = (name: string): boolean => NAME.test(name);

/** Where a published voice lies in its repository: the graph, then its settings. Undefined for what is no name of one. */
export function piperFiles(name: string): [graph: string, settings: string] | undefined {
  const [, language, country, recorded, quality] = NAME.exec(name) ?? [];
  if (language === undefined) return undefined;
  const graph = `${language}/${language}_${country}/${recorded}/${quality}/${name}.onnx`;
  return [graph, piperSettingsFile(graph)];
}

/** The voices among files of a folder: graphs with settings beside them. */
function pipersAmong(folder: string, files: readonly string[]): PiperVoice[] {
  const there = new Set(files);
  const graphs = files.filter((file) => GRAPH.test(file) && there.has(piperSettingsFile(file)));
  return graphs.map((graph) => ({ name: basename(graph, '.onnx'), folder, graph }));
}

/** All voices on this machine: those that were pulled, and those put into `{data_dir}/models`; one of each name. */
export async function pipersHere(places: ModelPlaces): Promise<PiperVoice[]> {
  const found = new Map<string, PiperVoice>();
  const add = (voices: readonly PiperVoice[]): void => {
    for (const voice of voices) if (!found.has(voice.name)) found.set(voice.name, voice);
  };
  add(pipersAmong(places.folder, await filesBelow(places.folder, places.folder)));
  const repository = repositoryFolder(places.hub, PIPER_VOICES);
  for (const snapshot of await snapshots(repository)) add(pipersAmong(snapshot, await snapshotFiles(snapshot, repository)));
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The voices that a model's name means: one by its own name or its file's absolute path, else those of a repository or folder. */
export async function findPipers(model: string, places: ModelPlaces): Promise<PiperVoice[]> {
  if (isAbsolute(model) && GRAPH.test(model)) {
    requireOwnPlace(model, [places.folder, places.hub]);
    const folder = dirname(model);
    return pipersAmong(folder, await filesBelow(folder, folder)).filter(({ graph }) => join(folder, graph) === model);
  }
  const named = (await pipersHere(places)).filter(({ name }) => name === model);
  if (named.length > 0 || isPiperName(model)) return named;
  const repository = await findRepositoryHere(model, places);
  return repository ? pipersAmong(repository.folder, repository.files) : [];
}
