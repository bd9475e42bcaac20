import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { Lazy } from '../base/once.js';
import { payFor, presentBudget } from '../base/spending.js';
import { withSpentTokens } from '../completions/budget.js';
import { apiKeyOf, baseUrlOf } from '../config/variables.js';
import { type EncoderService, settingsOfModel } from '../encoders/contract.js';
import { sigmoid } from '../encoders/scores.js';
import type { Entity } from '../engines/contracts/encoder.js';
import { type NeedModel, needNothing } from '../models/fetch/on-use.js';
import { isOwnAddress } from '../net/address.js';
import { onlyBase } from '../net/ask/bases.js';
import type { Outbound } from '../net/outbound.js';
import type { ChatClient, ChatSettings } from '../providers/compat/client.js';
import type { Provider } from '../providers/contract.js';
import { UNIVERSAL_PORT } from '../providers/index.js';
import type { RuntimeEmbed } from '../rag/embedders/contract.js';
import type { ModelMeans } from '../rag/retrieval.js';
import type { Services } from './services.js';

/** What the services of projects' models are made of. */
export interface ModelServiceParts {
  /** Those that the core uses. */
  readonly core: Pick<Services, 'completions' | 'encoders'>;
  readonly outbound: Outbound;
  /** The port of our own universal runtime: a `base_url` that names it stays in process; 11540 always does. */
  readonly runtimePort?: number;
  /** How chats are sent to runtimes. */
  readonly chats?: ChatSettings;
  /** Fetches models of this machine that are missing; without it none is fetched. */
  readonly need?: NeedModel | undefined;
}

/** Services as projects ask them, by their models. */
export interface ModelServices {
  readonly completions: Provider;
  readonly embed: RuntimeEmbed;
  readonly rerank: NonNullable<ModelMeans['rerank']>;
  /** The named things of each text, where nobody waits for them. Throws as `EncoderService.entities`, and `bad_request` for a model of another task. */
  entities(model: ModelConfig, texts: readonly string[], signal: AbortSignal): Promise<Entity[][]>;
  /** For what asks `embed` under time limits of its own. */
  readonly need: NeedModel;
}

/** A provider for work within other work, such as rewriting a question: what it completes is paid from the budget of that work. */
export const payingProvider = (provider: Provider): Pick<Provider, 'open'> => ({
  open: async (...asked) => {
    const budget = presentBudget();
    await budget?.admit();
    const completion = await provider.open(...asked);
    return budget ? withSpentTokens(completion, budget.spent) : completion;
  },
});

/** The services of projects' models: those of the core, unless a model names a runtime of its own in `base_url`. */
export function modelServices({ core, outbound, runtimePort, chats, need = needNothing }: ModelServiceParts): ModelServices {
  const elsewhere = (model: ModelConfig): string | undefined => {
    const base = baseUrlOf(model);
    return base === undefined || isOwnAddress(base, [UNIVERSAL_PORT, runtimePort]) ? undefined : base;
  };
  /** What is missing elsewhere is not fetched from here. */
  const needOf = (model: ModelConfig): NeedModel => (elsewhere(model) === undefined ? need : needNothing);
  const client = new Lazy<ChatClient>(async () => new (await import('../providers/compat/client.js')).ChatClient(outbound, chats));
  const completionsOf = async (model: ModelConfig): Promise<Provider> => {
    const base = elsewhere(model);
    if (base === undefined) return core.completions;
    const [{ RemoteCompletions }, { runtimeBase }] = await Promise.all([import('../remote/completions.js'), import('../net/ask/bases.js')]);
    return new RemoteCompletions(await client.get(), onlyBase(runtimeBase(base)));
  };
  const encodersOf = async (model: ModelConfig): Promise<EncoderService> => {
    const base = elsewhere(model);
    if (base === undefined) return core.encoders;
    const [{ RemoteEncoders }, { runtimeBase }] = await Promise.all([import('../remote/encoders.js'), import('../net/ask/bases.js')]);
    return new RemoteEncoders(outbound, onlyBase(runtimeBase(base)), apiKeyOf(model));
  };
  return {
    need,
    completions: {
      // A stream is kept open while a model comes.
      open: (model, request, signal) =>
        needOf(model)(model.model, { signal, waitMs: request.stream ? Number.POSITIVE_INFINITY : undefined }, async () =>
          (await completionsOf(model)).open(model, request, signal),
        ),
      hold: (model, signal) =>
        needOf(model)(model.model, { signal, waitMs: Number.POSITIVE_INFINITY }, async () =>
          (await completionsOf(model)).hold?.(model, signal),
        ),
    },
    embed: async (model, texts, signal, { urgency, settings }) =>
      (await payFor(() => core.encoders.embed({ model, settings, urgency, signal }, texts))).vectors,
    rerank: async (model, query, texts, { timeoutMs, normalise, isRequested = false, signal }) => {
      const service = await encodersOf(model);
      const { scores } = await (isRequested ? needNothing : needOf(model))(model.model, { signal }, () => {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]);
        const ask = { model: model.model, settings: settingsOfModel(model, 'reranking'), signal: limited };
        return payFor(() => service.rerank(ask, query, texts));
      });
      return normalise ? scores.map(sigmoid) : scores;
    },
    entities: async (model, texts, signal) => {
      const ask = { model: model.model, settings: settingsOfModel(model, 'ner'), urgency: 'bulk' as const, signal };
      const service = await encodersOf(model);
      return (await payFor(() => service.entities(ask, texts))).entities;
    },
  };
}
