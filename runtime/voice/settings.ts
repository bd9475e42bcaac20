import { Failure } from '../../schemas/errors.js';
import type { VoiceConfig } from '../../schemas/generated/config/voice.js';
import type { Config, Query } from '../../schemas/generated/core/voice.js';
import { check, coerced } from '../../schemas/validate.js';

/** How a voice session listens, thinks and speaks. */
export interface VoiceSettings {
  readonly sttModel: string;
  readonly ttsModel: string;
  /** Absent = the default of the model. */
  readonly ttsVoice: string | undefined;
  /** Absent = nobody has named one. */
  readonly llmModel: string | undefined;
  readonly language: string;
  readonly speed: number;
  /** Absent = nobody has said it. */
  readonly sentencesOnly: boolean | undefined;
  readonly bargeIn: boolean;
  readonly noiseFilter: boolean;
  /** Tenths of a second of speech that interrupt. */
  readonly minChunks: number;
  readonly turnDetection: boolean;
  /** Seconds. */
  readonly baseSilence: number;
  readonly thinkingSilence: number;
  readonly maxSilence: number;
  readonly thinks: boolean;
  readonly timings: boolean;
}

/** The name of each setting on the wire. */
const NAMES = {
  stt_model: 'sttModel',
  tts_model: 'ttsModel',
  tts_voice: 'ttsVoice',
  llm_model: 'llmModel',
  language: 'language',
  speed: 'speed',
  sentence_boundary_only: 'sentencesOnly',
  barge_in_enabled: 'bargeIn',
  barge_in_noise_filter: 'noiseFilter',
  barge_in_min_chunks: 'minChunks',
  turn_detection_enabled: 'turnDetection',
  silence_duration: 'baseSilence',
  base_silence_duration: 'baseSilence',
  thinking_silence_duration: 'thinkingSilence',
  max_silence_duration: 'maxSilence',
  timings: 'timings',
} as const satisfies Record<string, keyof VoiceSettings>;

/** Fields of clients of the reference system that nothing here acts on. */
const EMOTION = new Set(['emotion_detection_enabled', 'emotion_model', 'emotion_confidence_threshold']);

/** The settings of a project, or those that hold where it says nothing. */
export function projectSettings(voice: VoiceConfig | undefined): VoiceSettings {
  const { tts, stt, turn_detection: turns } = voice ?? {};
  return {
    sttModel: stt?.model ?? 'base',
    ttsModel: tts?.model ?? 'kokoro',
    ttsVoice: tts?.voice,
    llmModel: voice?.llm_model,
    language: stt?.language ?? 'en',
    speed: tts?.speed ?? 1,
    sentencesOnly: undefined,
    bargeIn: true,
    noiseFilter: true,
    minChunks: 2,
    turnDetection: turns?.enabled ?? true,
    baseSilence: turns?.base_silence_duration ?? 0.4,
    thinkingSilence: turns?.thinking_silence_duration ?? 1.2,
    maxSilence: turns?.max_silence_duration ?? 2.5,
    thinks: voice?.enable_thinking ?? false,
    timings: false,
  };
}

/** What the address of a session says, checked; empty values count as absent. Throws `invalid`. */
export function sessionQuery(query: Readonly<Record<string, unknown>>): Query {
  return coerced<Query>('core/voice#Query', Object.fromEntries(Object.entries(query).filter(([, value]) => value !== '')));
}

/** Settings with those of a query or a message instead of their own. Another model that speaks does so in its default voice unless one is named too. */
export function withSettings(settings: VoiceSettings, given: Query | Config): VoiceSettings {
  const values: Record<string, unknown> = { ...given };
  const changes = Object.entries(NAMES).filter(([name]) => values[name] !== undefined);
  const isOther = values.tts_model !== undefined && values.tts_model !== settings.ttsModel;
  return { ...settings, ...(isOther && { ttsVoice: undefined }), ...Object.fromEntries(changes.map(([name, own]) => [own, values[name]])) };
}

/** What a `config` message changes, and a sentence about each of its fields that cannot act. */
export function applyConfig(settings: VoiceSettings, message: Record<string, unknown>): { settings: VoiceSettings; refused: string[] } {
  const { type: _type, ...fields } = message;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const refused: string[] = [];
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(NAMES, name)) continue;
    const isOff =
      name === 'emotion_detection_enabled' ? given[name] === false : EMOTION.has(name) && given.emotion_detection_enabled !== true;
    if (EMOTION.has(name) && !isOff) refused.push(`${name}: emotions are not detected here`);
    else if (!EMOTION.has(name)) refused.push(`${name.slice(0, 100)}: there is no such setting`);
    delete given[name];
  }
  for (const problem of problemsOf(given)) {
    refused.push(problem.text);
    delete given[problem.name];
  }
  return { settings: withSettings(settings, given), refused };
}

function problemsOf(given: Record<string, unknown>): { name: string; text: string }[] {
  try {
    check<Config>('core/voice#Config', given);
    return [];
  } catch (failure) {
    if (!(failure instanceof Failure) || !failure.errors) throw failure;
    return failure.errors.map(({ loc, msg }) => ({ name: String(loc[1]), text: `${String(loc[1])}: ${msg}` }));
  }
}
