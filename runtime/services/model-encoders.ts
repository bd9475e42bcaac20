import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { EncoderService } from '../encoders/contract.js';
import { sigmoid } from '../encoders/scores.js';
import { settingsOfModel } from '../encoders/settings.js';
import { onlyBase } from '../net/ask/bases.js';
import type { Outbound } from '../net/outbound.js';
import { isOwnAddress } from '../net/own-address.js';
import { UNIVERSAL_PORT } from '../providers/index.js';
import { apiKeyOf, baseUrlOf } from '../providers/key.js';
import type { RuntimeEmbed } from '../rag/embedders/contract.js';
import type { ModelMeans } from '../rag/query/retrieval.js';

/** What the encoders of projects are made of. */
export interface ModelEncoderParts {
  /** Those that the core uses. */
  readonly encoders: EncoderService;
  readonly outbound: Outbound;
  /** The port of our own universal runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
}

/** Encoders as retrieval asks them, by the models of its projects. */
export interface ModelEncoders {
  readonly embed: RuntimeEmbed;
  readonly rerank: NonNullable<ModelMeans['rerank']>;
}

/** The encoders of projects: those of the core, unless a model names a runtime of its own. */
export function modelEncoders({ encoders, outbound, runtimePort }: ModelEncoderParts): ModelEncoders {
  const serviceOf = async (model: ModelConfig): Promise<EncoderService> => {
    const base = baseUrlOf(model);
    if (base === undefined || isOwnAddress(base, [UNIVERSAL_PORT, runtimePort])) return encoders;
    const [{ RemoteEncoders }, { runtimeBase }] = await Promise.all([import('../remote/encoders.js'), import('../net/ask/bases.js')]);
    return new RemoteEncoders(outbound, onlyBase(runtimeBase(base)), apiKeyOf(model));
  };
  return {
    embed: async (model, texts, signal, { urgency, settings }) =>
      (await encoders.embed({ model, settings, urgency, signal }, texts)).vectors,
    rerank: async (model, query, texts, { timeoutMs, normalise, signal }) => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
      const ask = { model: model.model, settings: settingsOfModel(model, 'reranking'), signal: limited };
      const service = await serviceOf(model);
      const { scores } = await service.rerank(ask, query, texts);
      return normalise ? scores.map(sigmoid) : scores;
    },
  };
}
