import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { Completion, CompletionRequest } from '../completions/contract.js';
import { openChoices } from '../completions/opened-completion.js';
import { baseUrlOf } from '../config/variables.js';
import { onlyBase } from '../net/ask/bases.js';
import { universalMembers } from './compat/body.js';
import type { ChatClient } from './compat/client.js';
import type { Provider } from './contract.js';
import { type Runner, Runners, type RunnerTimes, type RunnerWish, type StartRunner } from './runners.js';

/** The port of an accelerated runner unless `accel.port` says otherwise. */
const LOCAL_ACCEL_PORT = 11534;

/** Context size in tokens unless `accel.context_size` says otherwise. */
const LOCAL_ACCEL_CONTEXT = 32_768;

/** Where the runner of a model is looked for, and how ours would run it. */
function wishOf(model: ModelConfig): RunnerWish & { readonly backend: string } {
  const accel = model.accel ?? model.lemonade ?? {};
  return {
    name: model.name,
    base: baseUrlOf(model) ?? `http://127.0.0.1:${accel.port ?? LOCAL_ACCEL_PORT}/v1`,
    contextSize: accel.context_size ?? LOCAL_ACCEL_CONTEXT,
    backend: accel.backend ?? 'llamacpp',
  };
}

/**
 * Speaks to an OpenAI-shaped runner on its port (`base_url`, else `accel.port`): to one that answers there, else to our own engine, which
 * is started there with the `accel` settings.
 */
export function createLocalAccel(client: ChatClient, start: StartRunner | undefined, times?: RunnerTimes): Provider {
  const runners = new Runners(client.outbound, start, times);

  const speak = (runner: Runner, model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion> => {
    // Several models may share the port, so each request says the context size it was configured with.
    const { contextSize, backend } = wishOf(model);
    const ours = backend === 'llamacpp' ? model : { ...model, transformers: { ...model.transformers, model_type: 'text' as const } };
    const added = runner.ours ? { n_ctx: contextSize, ...universalMembers(ours, request) } : {};
    return client.open(model, request, { bases: onlyBase(runner.base), added, ours: runner.ours }, signal);
  };

  const open = async (model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion> => {
    const wish = wishOf(model);
    const runner = await runners.ensure(wish, signal);
    try {
      return await speak(runner, model, request, signal);
    } catch (error) {
      if (!(error instanceof Failure && error.cause instanceof Failure && error.cause.code === 'ConnectFailed')) throw error;
      // It was there a moment ago: look again, and start ours where it is gone.
      runners.forget(wish.base);
      return speak(await runners.ensure(wish, signal), model, request, signal);
    }
  };

  return {
    // A runner that is not ours may make one answer, whatever `n` says.
    open: (model, request, signal) => openChoices(request, signal, (one, each) => open(model, one, each)),
  };
}
