import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { VoiceConfig } from '../../schemas/generated/config/voice.js';

/** How a provider can be asked for an answer by a schema. */
const INSTRUCTOR_MODES: ReadonlySet<string> = new Set(['json', 'md_json', 'tools']);

/** A setting of a model that has no effect here, and why; absent where it has one or is not given. */
const MODEL_SETTINGS: Readonly<Record<string, (model: ModelConfig) => string | undefined>> = {
  'transformers.trust_remote_code': ({ transformers }) =>
    transformers?.trust_remote_code ? 'no code of a repository is ever run' : undefined,
  instructor_mode: ({ instructor_mode: mode, provider }) => {
    if (!mode) return undefined;
    if (provider === 'universal') return 'answers by a schema are held to it while they are written, in every mode';
    return INSTRUCTOR_MODES.has(mode) ? undefined : `${JSON.stringify(mode.slice(0, 64))} is none of ${[...INSTRUCTOR_MODES].join(', ')}`;
  },
  accel: ({ accel, lemonade, provider }) =>
    (accel ?? lemonade) && !['local_accel', 'lemonade'].includes(provider) ? `provider ${provider} does not read it` : undefined,
};

/** The settings of speech that imitates a recording, and what each is where nobody sets it. */
const IMITATION = { temperature: 0.8, top_k: 1000, top_p: 0.95, repetition_penalty: 1.2 } as const;

/** The same of the voice section. */
function voiceNotes({ tts, emotion }: VoiceConfig): string[] {
  const imitated = Object.entries(IMITATION).filter(([setting, usual]) => (tts?.[setting as keyof typeof IMITATION] ?? usual) !== usual);
  const unread = imitated.map(([setting]) => setting);
  if (Object.keys(tts?.voice_profiles ?? {}).length > 0) unread.push('voice_profiles');
  const ofSpeech = unread.map((setting) => `voice.tts.${setting} has no effect: no voice is made from a recording here.`);
  return emotion?.enabled ? [...ofSpeech, 'voice.emotion has no effect: emotions are not detected here.'] : ofSpeech;
}

/** What a configuration asks for that has no effect, in sentences for the log and for whoever reads the project. */
export function settingNotes(config: ProjectConfig): string[] {
  const ofModels = config.runtime.models.flatMap((model) =>
    Object.entries(MODEL_SETTINGS).flatMap(([setting, why]) => {
      const reason = why(model);
      return reason ? [`${setting} of model '${model.name}' has no effect: ${reason}.`] : [];
    }),
  );
  return [...ofModels, ...(config.voice ? voiceNotes(config.voice) : [])];
}
