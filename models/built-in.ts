import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../schemas/errors.js';

/** What `/health` and the model list say about the trained built-in model. */
export const TINY_CARD = {
  /** The name by which a project file asks for it. */
  name: 'quern-tiny',
  /** Its file in the folder of built-in models. */
  file: 'quern-tiny.gguf',
  description:
    'Built-in model of about nineteen million parameters, seven of them trained from scratch on generated dialogues: it answers from given texts, ' +
    'makes JSON, picks labels and calls tools, offline. It knows little about the world and makes mistakes.',
} as const;

/** What `/health` and the model list say about the built-in model. */
export const STANDIN_CARD = {
  /** The name by which a project file asks for it. */
  name: 'quern-standin',
  /** Its file in the folder of built-in models. */
  file: 'quern-standin.gguf',
  description:
    'Built-in stand-in: hand-set weights that recognise a few words and give prepared answers about Quern, offline. ' +
    'It is no trained language model; set `model` in project.yaml to a GGUF file path or org/repo for one.',
} as const;

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

/** What lists say of the built-in models. */
export const builtInModels = (): { name: string; description: string }[] =>
  BUILT_IN_MODELS.map(({ name, description }) => ({ name, description }));

/** Where Silero's detector of speech lies, among the built-in models. */
export const VOICE_ACTIVITY_GRAPH: string = join(import.meta.dirname, 'silero_vad_v6.onnx');

/** Throws `conflict` for the name of a model that comes with the program, which cannot be removed. */
export function requireRemovable(name: string): void {
  if (BUILT_IN_MODELS.some((one) => one.name === name.replace(/:[^:/]*$/, '').toLowerCase()))
    throw new Failure('conflict', `${name} comes with this program and cannot be deleted.`, { code: 'BuiltInModel' });
}
