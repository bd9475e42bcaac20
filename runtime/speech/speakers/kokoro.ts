import { isAbsolute, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { howToFetch, modelMissing } from '../../formats/model-files.js';
import { graphBytes } from '../../formats/onnx/graph-bytes.js';
import { chooseNamed, formatName, onnxFiles } from '../../formats/onnx-names.js';
import type { FoundRepository } from '../../models/find/contract.js';
import { parseName, wholeId } from '../../models/find/names.js';
import { findRepositoryHere } from '../../models/find/repository.js';
import type { Voice } from '../contract.js';
import type { FoundVoice, Speaker } from './contract.js';
import { fliteVoice } from './flite.js';

const MODEL = 'kokoro';
const DEFAULT_VOICE = 'af_heart';
/** The repository that the short name stands for, in lower case. */
const KOKORO = 'hexgrad/kokoro-82m';

/** The voices that are offered whether the model is here or not, with the voice of flite that is nearest. */
const OFFERED: Readonly<Record<string, string>> = {
  af_heart: 'slt',
  af_bella: 'slt',
  af_nicole: 'slt',
  af_sarah: 'slt',
  af_sky: 'slt',
  am_adam: 'rms',
  am_michael: 'kal16',
  bf_emma: 'slt',
  bf_isabella: 'slt',
  bm_george: 'awb',
  bm_lewis: 'awb',
};
/** The format that is opened unless another is named, by its names: the one that is fetched. */
const USUAL = ['INT8', 'QUANTIZED', 'Q8'];
const NAMED = /kokoro/i;
const VOICE_FILE = /^voices\/([ab][fm]_[a-z0-9]{1,30})\.bin$/;

/** What the first two letters of a voice's id say: where it comes from and whether it is a woman's. */
function voiceOf(id: string): Voice {
  const [country, sex] = [id.startsWith('b') ? 'British' : 'American', id[1] === 'm' ? 'Male' : 'Female'];
  const name = id.slice(3);
  return {
    id,
    name: `${name.charAt(0).toUpperCase()}${name.slice(1)} (${country} ${sex})`,
    language: id.startsWith('b') ? 'en-GB' : 'en-US',
    model: MODEL,
  };
}

const isShortName = (model: string): boolean => !isAbsolute(model) && wholeId(parseName(model).id).toLowerCase() === KOKORO;

const voicesIn = ({ files }: FoundRepository): string[] => files.flatMap((file) => VOICE_FILE.exec(file)?.[1] ?? []);

const defaultFirst = (one: string, other: string): number => Number(other === DEFAULT_VOICE) - Number(one === DEFAULT_VOICE);

function unknownVoice(voice: string, known: readonly string[]): Failure {
  const message = `Model "${MODEL}" has no voice "${voice}"; it has ${known.join(', ')}. Run "quern pull ${MODEL}" for all of them.`;
  return new Failure('not_found', message, { code: 'VoiceNotFound', fields: { voice } });
}

async function foundVoice(model: string, voice: string, repository: FoundRepository): Promise<FoundVoice> {
  const { id, quantisation, folder, files } = repository;
  const known = voicesIn(repository);
  if (!known.includes(voice)) {
    if (!Object.hasOwn(OFFERED, voice)) throw unknownVoice(voice, known);
    throw modelMissing(model, { why: `${folder} has no voices/${voice}.bin`, remedies: [howToFetch(MODEL)], code: 'VoiceNotFound' });
  }
  const graphs = onnxFiles(files);
  const usual = graphs.some((file) => USUAL.includes(formatName(file) ?? '')) ? USUAL[0]! : null;
  const [graph] = chooseNamed(id, [graphs], quantisation ?? usual);
  return {
    engine: 'kokoro',
    voice,
    key: `tts:${isShortName(model) ? MODEL : id}:${DEFAULT_VOICE}${quantisation === null ? '' : `:quant${quantisation}`}`,
    name: model,
    files: { folder, graph: graph! },
    sizeBytes: await graphBytes([join(folder, graph!)]),
    notes: [],
  };
}

/** Kokoro, by its short name, its repository, or a folder that holds a graph and `voices/`. Under the short name flite speaks where it is not here. */
export const kokoro: Speaker = {
  model: MODEL,
  answers: (model, files) => isShortName(model) || files.some((file) => VOICE_FILE.test(file)) || (files.length === 0 && NAMED.test(model)),
  voices: async (model, places) => {
    const repository = await findRepositoryHere(model, places);
    if (repository && !isShortName(model)) return [...voicesIn(repository)].sort(defaultFirst).map(voiceOf);
    const others = (repository ? voicesIn(repository) : []).filter((id) => !Object.hasOwn(OFFERED, id));
    return [...Object.keys(OFFERED), ...others].map(voiceOf);
  },
  find: async (model, voice, places) => {
    const repository = await findRepositoryHere(model, places);
    if (repository) return foundVoice(model, voice, repository);
    if (!isShortName(model))
      throw modelMissing(model, { why: 'it is not on this machine', remedies: [isAbsolute(model) ? 'check the path' : howToFetch(model)] });
    if (!Object.hasOwn(OFFERED, voice)) throw unknownVoice(voice, Object.keys(OFFERED));
    return fliteVoice(OFFERED[voice]!, [
      `${MODEL} is not on this machine, so flite speaks in its place; for its voices, ${howToFetch(MODEL)}.`,
    ]);
  },
};
