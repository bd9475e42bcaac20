import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { EncoderTask } from '../engines/contracts/encoder.js';
import type { EncoderSettings } from './contract.js';

/**
 * What `encoder_config`, `transformers` and `keep_loaded` of a project's model say. Throws `bad_request` where the model is there for
 * another task; `embedding` is what a model is for when nobody says.
 */
export function settingsOfModel(model: ModelConfig, task: EncoderTask): EncoderSettings {
  const { encoder_config: encoder, transformers } = model;
  const type = transformers?.model_type ?? 'embedding';
  const [setting, meant] = type === 'embedding' ? ['encoder_config.task', encoder?.task ?? type] : ['transformers.model_type', type];
  if (meant !== task && meant !== 'embedding')
    throw new Failure('bad_request', `Model '${model.name}' has ${setting} ${meant}, and ${task} is asked of it; name another model.`, {
      code: 'TaskNotSupported',
    });
  return {
    ...(encoder?.max_length === undefined ? {} : { maxLength: encoder.max_length }),
    ...(encoder?.use_flash_attention === undefined ? {} : { flashAttention: encoder.use_flash_attention }),
    ...(transformers?.device === undefined ? {} : { device: transformers.device }),
    ...(transformers?.dtype === undefined ? {} : { dtype: transformers.dtype }),
    ...(transformers?.batch_size === undefined ? {} : { batchSize: transformers.batch_size }),
    ...(model.keep_loaded ? { keepLoaded: true } : {}),
  };
}
