import { looksLikeSherpa, sherpaFolder } from '../../formats/sherpa-folder.js';
import type { FoundModel, ModelPlaces } from './contract.js';
import { findRepositoryHere, withGraphs } from './repository.js';
import { findWhisper, whisperModel } from './whisper.js';

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
