import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { EncoderService } from '../encoders/contract.js';
import { sigmoid } from '../encoders/scores.js';
import { settingsOfModel } from '../encoders/settings.js';
import type { Models } from '../models/residency/models.js';
import { onlyBase } from '../net/ask/bases.js';
import type { Outbound } from '../net/outbound.js';
import { isOwnAddress } from '../net/own-address.js';
import { UNIVERSAL_PORT } from '../providers/index.js';
import { apiKeyOf, baseUrlOf } from '../providers/key.js';
import type { RuntimeEmbed } from '../rag/embedders/contract.js';
import type { ModelMeans } from '../rag/query/retrieval.js';

/** What the encoders are opened with. */
export interface EncoderParts {
  readonly models: Models;
  readonly outbound: Outbound;
  /** Remote universal runtimes that projects use instead of the one in this process. */
  readonly runtimeUrls: readonly string[];
  /** The port of our own universal runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
}

/** Encoders as the gateway and retrieval use them. */
export interface OpenEncoders {
  /** Those of this machine. */
  readonly encoders: EncoderService;
  /** Those that the core and its projects use: the same, or the ones of the remote runtimes. */
  readonly coreEncoders: EncoderService;
  readonly embed: RuntimeEmbed;
  readonly rerank: NonNullable<ModelMeans['rerank']>;
}

/** Makes encoders whose code is loaded at the first request, so that a start does not wait for it. */
export function openEncoders({ models, outbound, runtimeUrls, runtimePort }: EncoderParts): OpenEncoders {
  const encoders = lazily(async () => {
    const [{ Encoders }, { lexicalEmbeddings }] = await Promise.all([
      import('../encoders/encoders.js'),
      import('../rag/embedders/lexical.js'),
    ]);
    const lexical = { embed: lexicalEmbeddings };
    return new Encoders({ models, builtIn: { lexical, 'quern-lexical': lexical } });
  });
  const remote = async (urls: readonly string[] | string, apiKey?: string): Promise<EncoderService> => {
    const [{ RemoteEncoders }, { RoundRobin, runtimeBase }] = await Promise.all([
      import('../remote/encoders.js'),
      import('../net/ask/runtimes.js'),
    ]);
    const bases = typeof urls === 'string' ? onlyBase(runtimeBase(urls)) : new RoundRobin(urls.map(runtimeBase));
    return new RemoteEncoders(outbound, bases, apiKey);
  };
  const coreEncoders = runtimeUrls.length > 0 ? lazily(() => remote(runtimeUrls)) : encoders;
  const serviceOf = async (model: ModelConfig): Promise<EncoderService> => {
    const base = baseUrlOf(model);
    return base === undefined || isOwnAddress(base, [UNIVERSAL_PORT, runtimePort]) ? coreEncoders : remote(base, apiKeyOf(model));
  };
  return {
    encoders,
    coreEncoders,
    embed: async (model, texts, signal, { urgency, settings }) =>
      (await coreEncoders.embed({ model, settings, urgency, signal }, texts)).vectors,
    rerank: async (model, query, texts, { timeoutMs, normalise, signal }) => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
      const ask = { model: model.model, settings: settingsOfModel(model, 'reranking'), signal: limited };
      const { scores } = await (await serviceOf(model)).rerank(ask, query, texts);
      return normalise ? scores.map(sigmoid) : scores;
    },
  };
}

function lazily(load: () => Promise<EncoderService>): EncoderService {
  let loading: Promise<EncoderService> | undefined;
  const service = (): Promise<EncoderService> => {
    loading ??= load();
    return loading;
  };
  return {
    embed: async (...given) => (await service()).embed(...given),
    rerank: async (...given) => (await service()).rerank(...given),
    classify: async (...given) => (await service()).classify(...given),
    entities: async (...given) => (await service()).entities(...given),
  };
}
