import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../schemas/errors.js';
import { STANDIN_CARD } from './standin/card.js';
import { TINY_CARD } from './tiny/card.js';

/** What is said of a built-in model. */
export interface ModelCard {
  readonly name: string;
  /** In the folder of built-in models, `build/models`. */
  readonly file: string;
  readonly description: string;
}

const trained = existsSync(join(import.meta.dirname, TINY_CARD.file));

/** The model that new projects chat with: the trained one, or the stand-in in a tree that was built without its file. */
export const FIRST_MODEL: ModelCard = trained ? TINY_CARD : STANDIN_CARD;

/** What answers in a project without models: the trained model, where it is there. The stand-in is no answer to anybody. */
export const UNCONFIGURED_MODEL: { readonly name: string; readonly provider: 'universal'; readonly model: string } | undefined = trained
  ? { name: TINY_CARD.name, provider: 'universal', model: TINY_CARD.name }
  : undefined;

/** Every built-in model, the first one in front. */
export const BUILT_IN_MODELS: readonly ModelCard[] = trained ? [TINY_CARD, STANDIN_CARD] : [STANDIN_CARD];

/** Where Silero's detector of speech lies, among the built-in models. */
export const VOICE_ACTIVITY_GRAPH: string = join(import.meta.dirname, 'silero_vad_v6.onnx');

/** Throws `conflict` for the name of a model that comes with the program, which cannot be removed. */
export function requireRemovable(name: string): void {
  if (BUILT_IN_MODELS.some((one) => one.name === name.replace(/:[^:/]*$/, '').toLowerCase()))
    throw new Failure('conflict', `${name} comes with this program and cannot be deleted.`, { code: 'BuiltInModel' });
}
