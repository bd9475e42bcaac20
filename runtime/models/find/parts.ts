import { pullName, whisperModel } from './whisper.js';

/** A model that is some files of a repository, and has a name of its own. */
export interface RepositoryPart {
  /** As people call it, such as `whisper-tiny`. */
  readonly name: string;
  readonly repository: string;
  /** The file with the weights first. */
  readonly files: readonly [string, ...string[]];
  readonly format: 'ggml';
  /** Of the weights. */
  readonly licence: string;
}

/** The part of a repository that a name stands for; undefined for names of whole repositories. */
export function repositoryPart(name: string): RepositoryPart | undefined {
  const model = name.includes('/') ? undefined : whisperModel(name);
  if (!model) return undefined;
  const { repository, file } = model;
  return { name: pullName(model), repository, files: [file], format: 'ggml', licence: 'MIT' };
}
