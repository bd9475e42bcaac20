import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { inspectGraph } from '../../../formats/onnx/graph-file.js';
import { espeakData, type SherpaFolder, sherpaFolder, sherpaLanguage, sherpaSpeakers } from '../../../formats/sherpa-folder.js';
import { type Saying, type Sound, SPEECH_RATE, type VoiceEngine, type VoiceFiles } from '../../contracts/speaking.js';
import { loadSherpa } from '../../sherpa/sherpa.js';
import { pushAll } from '../samples.js';
import { planText, planWords } from '../text/plan.js';

/** What a folder of each kind is opened with, beside its graphs and symbols. */
function configOf(folder: string, files: readonly string[], model: SherpaFolder): object {
  const at = (file: string): string => join(folder, file);
  const dataDir = espeakData(folder, model);
  const { kind, main, graphs, tokens } = model;
  // A folder that has the words of both Englishes is opened with the American ones.
  const words = files.filter((file) => /^lexicon[^/]*\.txt$/.test(file));
  const lexicons = words.some((file) => /us-en/.test(file)) ? words.filter((file) => !/gb-en/.test(file)) : words;
  const lexicon = lexicons.length > 0 && { lexicon: lexicons.map(at).join(',') };
  const common = { tokens: at(tokens), ...(dataDir !== undefined && { dataDir }) };
  switch (kind) {
    case 'matcha':
      return { matcha: { acousticModel: at(main), vocoder: at(graphs.vocoder!), ...common, ...lexicon } };
    case 'kokoro':
      return {
        kokoro: { model: at(main), voices: at('voices.bin'), ...common, ...(lexicon || { lang: sherpaLanguage(model).toLowerCase() }) },
      };
    case 'kitten':
      return { kitten: { model: at(main), voices: at('voices.bin'), ...common } };
    default:
      return { vits: { model: at(main), ...common, ...lexicon } };
  }
}

/** Opens a folder with a model for sherpa-onnx that speaks. Throws `invalid` for one that is none, `unavailable` where sherpa-onnx is not installed. */
export async function openSherpa({ folder, threads }: VoiceFiles): Promise<VoiceEngine> {
  const files = (await readdir(folder!)).sort();
  const model = sherpaFolder(folder!, files);
  if (model?.purpose !== 'speaks')
    throw new Failure('invalid', 'The folder holds no model of sherpa-onnx that speaks.', { code: 'InvalidModelFile' });
  const { OfflineTts } = loadSherpa();
  for (const graph of model.weights) inspectGraph(join(folder!, graph), folder!);
  const voice = new OfflineTts({ model: { ...configOf(folder!, files, model), numThreads: threads, provider: 'cpu' }, maxNumSentences: 1 });
  const speakers = sherpaSpeakers(model);
  return {
    devices: { requested: 'cpu', available: ['cpu'], used: ['cpu'], why: null },
    speeds: [0.5, 2],
    plan: /^en\b/.test(sherpaLanguage(model)) ? planWords : planText,
    say: async ({ script, voice: name, speed }: Saying): Promise<Sound> => {
      const sid = speakers.indexOf(name);
      // One that it does not have it would replace by the first.
      if (sid < 0 || sid >= Math.max(1, voice.numSpeakers))
        throw new Failure('not_found', `There is no voice "${name}".`, { code: 'VoiceNotFound' });
      const { samples, sampleRate } = voice.generate({ text: script, sid, speed, enableExternalBuffer: false });
      if (samples.length === 0) throw new Failure('model_failed', `The voice "${name}" made no sound.`);
      return { samples: sampleRate === SPEECH_RATE ? samples : pushAll(loadCore().openResampler(sampleRate, SPEECH_RATE), samples) };
    },
    close: () => {},
  };
}
