/** An answer while it is written: what the chunks of its stream say so far. */
import type { CallAbout, MadeToolCall, WaitingCall } from '$schemas/core/chat';
import type { Citation } from '$schemas/core/conversations';
import type { ServerEvent } from '../../lib/api';

/** A call of a tool, as far as it is known. */
export type Call = CallAbout & Partial<Pick<MadeToolCall, 'result' | 'failed' | 'duration_ms'>> & { waiting?: WaitingCall; note?: string };

interface Chunk {
  choices?: { delta?: { content?: string | null; reasoning_content?: string } }[];
  sources?: {
    id: string;
    source: string | null;
    content: string;
    score: number;
    document_id?: string;
    metadata: Record<string, unknown>;
  }[];
  tool_call?: CallAbout;
  tool_progress?: { tool_call_id: string; elapsed_ms: number; message?: string };
  tool_waiting?: WaitingCall;
  tool_result?: { tool_call_id: string; result: string; failed: boolean; duration_ms: number };
  error?: { message: string };
}

export class GrowingAnswer {
  /** The id of its message; empty before the daemon has taken the turn. */
  id = $state('');
  text = $state('');
  thinking = $state('');
  calls = $state<readonly Call[]>([]);
  citations = $state.raw<readonly Citation[]>([]);
  /** What is being waited for, while nothing of the answer is there. */
  wait = $state('Sending the question ...');
  error = $state('');
  /** Milliseconds from the question to the first token. */
  firstTokenMs = $state<number>();
  readonly #beganMs = performance.now();

  /** The message that it stands behind: that of the question's until the question has an id. */
  parent: string | null;

  /** `written` is there already where an answer is written on. */
  constructor(parent: string | null, written = '') {
    [this.parent, this.text] = [parent, written];
  }

  /** Whether anything of the answer is there. */
  get isBegun(): boolean {
    return this.firstTokenMs !== undefined || this.calls.length > 0;
  }

  /** Takes one event of the stream. */
  take({ event, data }: ServerEvent): void {
    if (event === 'comment') {
      const [, read, of] = /^prompt (\d+)\/(\d+)$/.exec(data) ?? [];
      if (read !== undefined) this.wait = `Reading the prompt: ${read} of ${of} tokens ...`;
      return;
    }
    const chunk = JSON.parse(data) as Chunk;
    const delta = chunk.choices?.[0]?.delta;
    if (delta?.reasoning_content) this.#token(() => (this.thinking += delta.reasoning_content));
    if (delta?.content) this.#token(() => (this.text += delta.content));
    if (chunk.sources) this.citations = chunk.sources.map(citationOf);
    if (chunk.error) this.error = chunk.error.message;
    this.#takeCall(chunk);
  }

  #token(add: () => void): void {
    this.firstTokenMs ??= performance.now() - this.#beganMs;
    add();
  }

  #takeCall({ tool_call: call, tool_progress: progress, tool_waiting: waiting, tool_result: result }: Chunk): void {
    if (call) this.calls = [...this.calls, call];
    if (waiting) this.#change(waiting.tool_call_id, { ...waiting, waiting });
    if (progress)
      this.#change(progress.tool_call_id, { note: progress.message ?? `running for ${Math.round(progress.elapsed_ms / 1_000)} s` });
    if (result) this.#change(result.tool_call_id, result);
  }

  #change(id: string, part: Partial<Call>): void {
    if (!this.calls.some((call) => call.tool_call_id === id)) this.calls = [...this.calls, part as Call];
    this.calls = this.calls.map((call) => (call.tool_call_id === id ? { ...call, ...part } : call));
  }
}

function citationOf(source: NonNullable<Chunk['sources']>[number], at: number): Citation {
  const { metadata } = source;
  const text = (name: string): string | null => (typeof metadata[name] === 'string' ? metadata[name] : null);
  return {
    n: at + 1,
    id: source.id,
    text: source.content,
    document: source.source,
    file_hash: source.document_id ?? text('file_hash'),
    dataset: text('dataset'),
    page: typeof metadata.page === 'number' ? metadata.page : null,
    score: source.score,
    metadata,
  };
}
