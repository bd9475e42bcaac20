import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Capabilities } from '../../schemas/generated/universal/models.js';
import { otherArchitecture } from '../engines/causal/architecture.js';
import { chatTemplate } from '../engines/causal/facts.js';
import { chooseFile } from '../models/quantisations.js';
import { findRepository } from '../models/repositories.js';
import type { FoundRepository } from '../models/repository-contract.js';
import { findModel, type ModelPlaces } from '../models/resolve.js';

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

async function ofRepository({ folder, files, quantisation, facts }: FoundRepository): Promise<Known> {
  const gguf = chooseFile(
    files.filter((file) => /\.gguf$/i.test(file)),
    quantisation,
  );
  if (gguf) return ofGguf(join(folder, gguf.file));
  // Without these files it reads no text.
  if (!files.includes('config.json') || !files.includes('tokenizer.json')) return NONE;
  const other = await otherArchitecture(folder, true);
  if (facts.head !== undefined) return { ...NONE, embeddings: facts.head === 'embedding' };
  if (other !== undefined) return { ...NONE, embeddings: !OTHER_HEAD.test(other) };
  return ofLanguage(chatTemplate(folder));
}

/**
 * What a model on this machine can do, by its kind and header: nothing is loaded. Throws as `findModel` does, and `invalid` for a file that
 * cannot work.
 */
export async function capabilitiesOf(name: string, places: ModelPlaces): Promise<Known> {
  try {
    return await ofGguf((await findModel(name, places)).path);
  } catch (absent) {
    if (!(absent instanceof Failure) || absent.kind !== 'not_found') throw absent;
    const found = await findRepository(name, places).catch(() => {
      throw absent;
    });
    return ofRepository(found);
  }
}
