import { join } from 'node:path';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import { graphBytes } from '../../formats/onnx/graph-bytes.js';
import { looksLikeSherpa, type SherpaFolder, sherpaFolder, sherpaLanguage, sherpaSpeakers } from '../../formats/sherpa-folder.js';
import type { FoundRepository, ModelPlaces } from '../../models/find/contract.js';
import { findRepositoryHere } from '../../models/find/repository.js';
import type { Speaker } from './contract.js';

const MODEL = 'sherpa';

/** A model's repository with what sherpa-onnx sees in it. */
async function findSherpa(model: string, places: ModelPlaces): Promise<{ repository: FoundRepository; sherpa: SherpaFolder } | undefined> {
  if (model === MODEL) return undefined;
  const repository = await findRepositoryHere(model, places);
  const sherpa = repository && sherpaFolder(repository.folder, repository.files);
  return sherpa?.purpose === 'speaks' ? { repository: repository!, sherpa } : undefined;
}

/** Models of the user's that only sherpa-onnx runs, by their repository or folder; its voices are the model's speakers. */
export const sherpa: Speaker = {
  model: MODEL,
  answers: (_model, files) => looksLikeSherpa(files),
  voices: async (model, places) => {
    const here = await findSherpa(model, places);
    if (!here) return [];
    const language = sherpaLanguage(here.sherpa);
    return sherpaSpeakers(here.sherpa).map((id) => ({ id, name: `Speaker ${id}`, language, model }));
  },
  find: async (model, voice, places) => {
    const here = await findSherpa(model, places);
    if (!here) {
      const why = model === MODEL ? 'sherpa-onnx speaks with models of yours' : 'its folder holds no model that speaks';
      throw modelMissing(model, { why, remedies: ['name the repository or the folder of one'] });
    }
    const { repository, sherpa: folder } = here;
    const known = sherpaSpeakers(folder);
    if (!known.includes(voice))
      throw modelMissing(model, {
        why: `it has no voice "${voice}"; it has ${known.slice(0, 20).join(', ')}`,
        remedies: ['name one of them', `${howToFetch('kokoro')} for others`],
        code: 'VoiceNotFound',
      });
    return {
      engine: 'sherpa',
      voice,
      key: `tts:${repository.id}:${known[0]}`,
      name: model,
      files: { folder: repository.folder, graph: folder.main },
      sizeBytes: await graphBytes(folder.weights.map((graph) => join(repository.folder, graph)) as [string, ...string[]]),
      notes: [],
    };
  },
};
