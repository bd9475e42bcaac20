import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Capabilities } from '../../schemas/generated/universal/models.js';
import { addedTexts, chatTemplate } from '../engines/language/onnx/export-files.js';
import { fallbackFor, fallbackNote } from '../engines/language/templates/known-templates.js';
import { otherArchitecture } from '../formats/architecture.js';
import { chooseFile } from '../formats/gguf-names.js';
import type { FoundRepository } from '../models/find/contract.js';
import { findLanguage } from '../models/find/language.js';
import { aliasOf } from '../models/find/names.js';
import { findRepository, settingsFolder } from '../models/find/repository.js';
import type { Models } from '../models/residency/models.js';

type Known = Capabilities['capabilities'];

/** What no model here can do: sound and images become text or a note. */
const NONE: Known = {
  native_audio: false,
  vision: false,
  tools: false,
  thinking: false,
  embeddings: false,
  chat_template: null,
  notes: [],
};
const THINKS = /enable_thinking|<think>/;
/** Heads that leave no vector of the text. */
const OTHER_HEAD = /For(?!MaskedLM)|Vision|Speech/;

/** Tools work on every language model: where its template takes none, they stand in the prompt. `texts` are those of its control tokens. */
const ofLanguage = (template: string, texts: readonly string[]): Known => {
  const able = { ...NONE, tools: true, thinking: THINKS.test(template) };
  if (template !== '') return { ...able, chat_template: 'own' };
  const instead = fallbackFor(texts);
  return { ...able, chat_template: instead, notes: [fallbackNote('The model has no chat template', instead)] };
};

async function ofGguf(path: string): Promise<Known> {
  const { ggufHeader } = await import('../formats/gguf/header.js');
  const { onlyEmbeds, ranking, template, vocabulary } = await ggufHeader(path, 'embedding');
  if (ranking) return NONE;
  return { ...(onlyEmbeds ? NONE : ofLanguage(template, vocabulary.controlTexts)), embeddings: true };
}

/** What a repository can do whose alias or configuration tells another kind of model; undefined where neither does. */
async function ofOther(folder: string, id: string): Promise<Known | undefined> {
  const head = aliasOf(id)?.facts.head;
  if (head !== undefined) return { ...NONE, embeddings: head === 'embedding' };
  const other = await otherArchitecture(folder, true);
  return other === undefined ? undefined : { ...NONE, embeddings: !OTHER_HEAD.test(other) };
}

/** What a repository can do that chat refuses. Throws the refusal where that is no model of another kind. */
async function capabilitiesOfRefused(found: FoundRepository, refusal: Failure): Promise<Known> {
  const { id, folder, files, quantisation } = found;
  const gguf = chooseFile(
    files.filter((file) => /\.gguf$/i.test(file)),
    quantisation,
  );
  const settings = settingsFolder(found);
  const able = gguf ? await ofGguf(join(folder, gguf.file)) : settings === undefined ? undefined : await ofOther(settings, id);
  if (able === undefined || able.tools) throw refusal;
  return able;
}

/** What loading found, where the model is in memory: only then a template is read. */
function withNotes(able: Known, name: string, models: Pick<Models, 'loaded'>): Known {
  const loaded = models.loaded().find((one) => one.type === 'language' && one.name === name);
  return loaded ? { ...able, notes: [...loaded.status.notes] } : able;
}

/**
 * What a model on this machine can do, by its kind and header: nothing is loaded. What chat refuses is refused as it does, unless it is a
 * model of another kind. Throws `invalid` for a file that cannot work.
 */
export async function capabilitiesOf(name: string, models: Pick<Models, 'loaded' | 'places'>): Promise<Known> {
  const { places } = models;
  try {
    const found = await findLanguage(name, {}, places);
    if (found.format === 'gguf') return withNotes(await ofGguf(found.weights[0]), name, models);
    const other = await ofOther(found.folder, found.id);
    return other ?? withNotes(ofLanguage(chatTemplate(found.folder), addedTexts(found.folder)), name, models);
  } catch (refusal) {
    if (!(refusal instanceof Failure)) throw refusal;
    const found = await findRepository(name, places).catch(() => {
      throw refusal;
    });
    return capabilitiesOfRefused(found, refusal);
  }
}
