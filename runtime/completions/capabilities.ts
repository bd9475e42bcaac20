import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Capabilities } from '../../schemas/generated/universal/models.js';
import { otherArchitecture } from '../engines/causal/architecture.js';
import { chatTemplate } from '../engines/causal/facts.js';
import { aliasOf } from '../models/aliases.js';
import { findLanguage } from '../models/causal.js';
import { chooseFile } from '../models/quantisations.js';
import { findRepository, settingsFolder } from '../models/repositories.js';
import type { FoundRepository } from '../models/repository-contract.js';
import type { ModelPlaces } from '../models/resolve.js';

type Known = Capabilities['capabilities'];

/** What no model here can do: sound and images become text or a note. */
const NONE: Known = { native_audio: false, vision: false, tools: false, thinking: false, embeddings: false };
const THINKS = /enable_thinking|<think>/;
/** Heads that leave no vector of the text. */
const OTHER_HEAD = /For(?!MaskedLM)|Vision|Speech/;

/** Tools work on every language model: where its template takes none, they stand in the prompt. */
const ofLanguage = (template: string): Known => ({ ...NONE, tools: true, thinking: THINKS.test(template) });

async function ofGguf(path: string): Promise<Known> {
  const { ggufHeader } = await import('../engines/gguf/index.js');
  const { onlyEmbeds, ranking, template } = await ggufHeader(path, 'embedding');
  if (ranking) return NONE;
  return { ...(onlyEmbeds ? NONE : ofLanguage(template)), embeddings: true };
}

/** What a repository can do whose alias or configuration tells another kind of model; undefined where neither does. */
async function ofOther(folder: string, id: string): Promise<Known | undefined> {
  const head = aliasOf(id)?.facts.head;
  if (head !== undefined) return { ...NONE, embeddings: head === 'embedding' };
  const other = await otherArchitecture(folder, true);
  return other === undefined ? undefined : { ...NONE, embeddings: !OTHER_HEAD.test(other) };
}

/** What a repository can do that chat refuses. Throws the refusal where that is no model of another kind. */
async function ofRefused(found: FoundRepository, refusal: Failure): Promise<Known> {
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

/**
 * What a model on this machine can do, by its kind and header: nothing is loaded. What chat refuses is refused as it does, unless it is a
 * model of another kind. Throws `invalid` for a file that cannot work.
 */
export async function capabilitiesOf(name: string, places: ModelPlaces): Promise<Known> {
  try {
    const found = await findLanguage(name, {}, places);
    if (!('graph' in found)) return await ofGguf(found.path);
    return (await ofOther(found.folder, found.id)) ?? ofLanguage(chatTemplate(found.folder));
  } catch (refusal) {
    if (!(refusal instanceof Failure)) throw refusal;
    const found = await findRepository(name, places).catch(() => {
      throw refusal;
    });
    return ofRefused(found, refusal);
  }
}
