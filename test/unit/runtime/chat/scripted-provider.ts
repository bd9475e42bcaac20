import type { Completion, CompletionPart, CompletionRequest, ContextUsage } from '../../../../runtime/completions/contract.js';
import type { Provider } from '../../../../runtime/providers/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';

/** A step of an answer: a part, a failure to throw, something to wait for, or something to do (and to wait for) once it is reached. */
export type Step = CompletionPart | Error | Promise<unknown> | ((signal: AbortSignal) => unknown);

export const FINISH: CompletionPart = {
  type: 'finish',
  reason: 'stop',
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
};

/** A provider that answers from a script and keeps what it was asked. */
export class ScriptedProvider implements Provider {
  readonly asked: { model: ModelConfig; request: CompletionRequest }[] = [];
  /** How often an answer was left before its end. */
  left = 0;
  /** Known once an answer has been read, as from another runtime. */
  lateUsage: ContextUsage | undefined;
  #script: (request: CompletionRequest) => Step[] = (request) => [{ type: 'text', text: `echo: ${lastText(request)}` }, FINISH];

  /** Answers like this from now on; a `Failure` as only step refuses to open. */
  say(script: Step[] | ((request: CompletionRequest) => Step[])): void {
    this.#script = typeof script === 'function' ? script : () => script;
  }

  async open(model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion> {
    this.asked.push({ model, request });
    const steps = this.#script(request);
    if (steps.length === 1 && steps[0] instanceof Failure) throw steps[0];
    let usage: ContextUsage | undefined;
    const done = () => {
      usage = this.lateUsage;
    };
    return {
      model: model.model,
      get contextUsage() {
        return usage as ContextUsage;
      },
      parts: this.#play(steps, signal, done),
    };
  }

  async *#play(steps: Step[], signal: AbortSignal, done: () => void): AsyncGenerator<CompletionPart, void, undefined> {
    let ended = false;
    try {
      for (const step of steps) {
        signal.throwIfAborted();
        if (step instanceof Promise) await step;
        else if (typeof step === 'function') await step(signal);
        else if (step instanceof Error) throw step;
        else {
          if (step.type === 'finish') done();
          yield step;
        }
      }
      ended = true;
    } finally {
      if (!ended) this.left += 1;
    }
  }
}

function lastText(request: CompletionRequest): string {
  const content = request.messages.at(-1)?.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}
