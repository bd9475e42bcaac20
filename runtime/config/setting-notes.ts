import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';

/** Sections of a project file that other systems act on and this release does not. */
const SECTIONS = {
  memory: 'nothing is remembered yet',
  voice: 'no voice chat is served yet',
  mcp: 'no tool server is started yet',
} as const;

/** A setting of a model that has no effect here, and why; absent where it has one or is not given. */
const MODEL_SETTINGS: Readonly<Record<string, (model: ModelConfig) => string | undefined>> = {
  'transformers.trust_remote_code': ({ transformers }) =>
    transformers?.trust_remote_code ? 'no code of a repository is ever run' : undefined,
  instructor_mode: ({ instructor_mode: mode }) => mode && 'answers by a schema are held to it while they are written, in every mode',
  accel: ({ accel, lemonade, provider }) =>
    (accel ?? lemonade) && !['local_accel', 'lemonade'].includes(provider) ? `provider ${provider} does not read it` : undefined,
};

/** What a configuration asks for that has no effect, in sentences for the log and for whoever reads the project. */
export function settingNotes(config: ProjectConfig): string[] {
  const ofSections = Object.entries(SECTIONS)
    .filter(([section]) => config[section as keyof typeof SECTIONS] !== undefined)
    .map(([section, why]) => `The section ${section} has no effect: ${why}.`);
  const ofModels = config.runtime.models.flatMap((model) =>
    Object.entries(MODEL_SETTINGS).flatMap(([setting, why]) => {
      const reason = why(model);
      return reason ? [`${setting} of model '${model.name}' has no effect: ${reason}.`] : [];
    }),
  );
  return [...ofSections, ...ofModels];
}
