import type { ModelConfig, RuntimeConfig } from '../../schemas/generated/config/project.js';

/** The model used when a request names none: `default_model` where it names one, else the first marked `default`, else the first. */
export function defaultModel(runtime: RuntimeConfig): ModelConfig | undefined {
  const { models, default_model } = runtime;
  return models.find((model) => model.name === default_model) ?? models.find((model) => model.default === true) ?? models[0];
}
