import type { CollectedCompletion, CollectedToolCall, CompletionPart } from './contract.js';

/** Puts the tool calls of a stream together from their parts, and says when each is whole: a model writes one after the other. */
export class ToolCallGatherer {
  /** By their indexes; a place that the model left out is empty. */
  readonly calls: CollectedToolCall[] = [];
  #whole = 0;

  /** Takes a part; returns the calls before it that were not returned yet, which are whole now. */
  add({ index, id, name, arguments: more }: CompletionPart & { type: 'tool_call' }): CollectedToolCall[] {
    this.calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
    const call = this.calls[index];
    if (id) call.id = id;
    if (name) call.function.name = name;
    if (more) call.function.arguments += more;
    return this.#wholeUpTo(index);
  }

  /** No more comes; returns the calls that were not returned yet. */
  end(): CollectedToolCall[] {
    return this.#wholeUpTo(this.calls.length);
  }

  #wholeUpTo(end: number): CollectedToolCall[] {
    const whole = this.calls.slice(this.#whole, end);
    this.#whole = Math.max(this.#whole, end);
    return whole.filter((call) => call !== undefined);
  }
}

/** Gathers the parts of a completion into one piece. */
export class Collector {
  readonly #toolCalls = new ToolCallGatherer();
  readonly collected: CollectedCompletion = {
    text: '',
    reasoning: '',
    toolCalls: this.#toolCalls.calls,
    logprobs: [],
    finishReason: 'stop',
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };

  add(part: CompletionPart): void {
    const out = this.collected;
    if (part.type === 'text') {
      out.text += part.text;
      if (part.logprobs) out.logprobs.push(...part.logprobs);
    } else if (part.type === 'reasoning') {
      out.reasoning += part.text;
    } else if (part.type === 'tool_call') {
      this.#toolCalls.add(part);
    } else if (part.type === 'finish') {
      out.finishReason = part.reason;
      out.usage = part.usage;
      if (part.thinkingTokens !== undefined) out.thinkingTokens = part.thinkingTokens;
      if (part.stopText !== undefined) out.stopText = part.stopText;
      if (part.schemaNotes) out.schemaNotes = part.schemaNotes;
      if (part.beside) out.beside = part.beside;
    }
  }
}

/** Reads a completion of one choice to its end. */
export async function collect(parts: AsyncIterable<CompletionPart>): Promise<CollectedCompletion> {
  const [one = new Collector().collected] = await collectChoices(parts);
  return one;
}

/** Reads a completion to its end: its choices in their order. */
export async function collectChoices(parts: AsyncIterable<CompletionPart>): Promise<CollectedCompletion[]> {
  const collectors: Collector[] = [];
  for await (const part of parts) {
    const choice = part.choice ?? 0;
    collectors[choice] ??= new Collector();
    collectors[choice].add(part);
  }
  return collectors.map(({ collected }) => collected);
}
