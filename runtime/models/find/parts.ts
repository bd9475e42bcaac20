import { PIPER_VOICES, piperFiles, USUAL_PIPER } from './piper.js';
import { nameOfFile, pullName, whisperModel } from './transcriber.js';

/** A model that is some files of a repository, and has a name of its own. */
export interface RepositoryPart {
  /** As people call it, such as `whisper-tiny` or `en_US-lessac-medium`. */
  readonly name: string;
  readonly repository: string;
  /** The file with the weights first. */
  readonly files: readonly [string, ...string[]];
  readonly format: 'ggml' | 'onnx';
  /** Of the weights. */
  readonly licence: string;
  /** Whether the key of a loaded model is this one's. */
  isKey(key: string): boolean;
}

function whisperPart(name: string): RepositoryPart | undefined {
  const model = name.includes('/') ? undefined : whisperModel(name);
  if (!model) return undefined;
  const { repository, file } = model;
  const isKey = (key: string): boolean => key.startsWith('speech:') && whisperModel(key.split(':')[1]!)?.file === file;
  return { name: pullName(model), repository, files: [file], format: 'ggml', licence: 'MIT', isKey };
}

function piperPart(name: string): RepositoryPart | undefined {
  const files = piperFiles(name);
  if (!files) return undefined;
  const licence = `as ${files[0].slice(0, files[0].lastIndexOf('/'))}/MODEL_CARD of ${PIPER_VOICES} says`;
  return { name, repository: PIPER_VOICES, files, format: 'onnx', licence, isKey: (key) => key === `tts:piper:${name}` };
}

/** The part of a repository that a name stands for; undefined for names of whole repositories. */
export const repositoryPart = (name: string): RepositoryPart | undefined =>
  piperPart(name === 'piper' ? USUAL_PIPER : name) ?? whisperPart(name);

/** The name of the part that a repository's file belongs to; undefined where it belongs to none. */
export function partOfFile(repository: string, file: string): string | undefined {
  const base = file.slice(file.lastIndexOf('/') + 1);
  return repository === PIPER_VOICES ? piperPart(base.replace(/\.onnx(?:\.json)?$/, ''))?.name : nameOfFile(repository, base);
}
