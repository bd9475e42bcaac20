import type { ModelConfig, ProjectConfig, RuntimeConfig } from '../../schemas/generated/config/project.js';
import type { ModelItem, ModelList } from '../../schemas/generated/core/projects.js';
import { withoutSecrets } from '../config/secrets.js';

/** The model used when a request names none: `default_model` where it names one, else the first marked `default`, else the first. */
export function defaultModel(runtime: RuntimeConfig): ModelConfig | undefined {
  const { models, default_model } = runtime;
  return models.find((model) => model.name === default_model) ?? models.find((model) => model.default === true) ?? models[0];
}

const ABSENT = { description: null, base_url: null, api_key: null, instructor_mode: null, prompt_format: null };

/** The encoder that finds names: the first model of the universal runtime with `ner` as the task of its `encoder_config`. */
export function namingModel({ models }: RuntimeConfig): ModelConfig | undefined {
  return models.find(({ provider = 'universal', encoder_config: encoder }) => provider === 'universal' && encoder?.task === 'ner');
}

/** The configured models with all their fields and their default marked. Secrets come as `***`; a reference to an environment variable holds none and is shown. `data` has their names in the form in which the official clients list models. */
export function listModels(config: ProjectConfig): ModelList {
  const chosen = defaultModel(config.runtime);
  const models = config.runtime.models.map(
    (model) => ({ ...ABSENT, ...withoutSecrets(model), default: model === chosen }) as unknown as ModelItem,
  );
  const created = Math.floor(Date.now() / 1000);
  const data = config.runtime.models.map(
    ({ name, provider }) => ({ id: name, object: 'model', created, owned_by: provider ?? 'universal' }) as const,
  );
  return { object: 'list', data, total: models.length, models };
}
