import { setMaxListeners } from 'node:events';
import { Gate } from '../../base/gate.js';
import type { CompletionPart } from '../../completions/contract.js';
import type { ServerTool, Toolbox, ToolResult } from '../../mcp/contract.js';
import { type CallAbout, type CallRecord, fenceResult, type MadeCall, type ModelCall } from './tool-call.js';
import type { TurnTools } from './turn-tools.js';
import type { Consent, Decision } from './waiting.js';

/** What the calls of one answer are made with. */
export interface CallParts {
  readonly toolbox: Toolbox;
  readonly tools: TurnTools;
  readonly signal: AbortSignal;
  readonly sessionId: string | undefined;
  /** Characters that a model has room for in one result. */
  readonly maxCharacters: number;
  /** Who is asked before a call that a person must allow. */
  readonly consent: Consent;
  /** What was decided of calls already, by their ids. */
  readonly decided: Readonly<Record<string, Decision>>;
  readonly record: CallRecord | undefined;
  /** Told of each call that has its result. */
  made(call: MadeCall): void;
}

/** Calls of one answer that are made; a model that writes more is told so. */
const MOST_CALLS = 32;
/** Calls that are under way at the same time. */
const AT_ONCE = 8;
/** A client hears of a call that is under way at least this often, in milliseconds, so that no proxy takes the stream for dead. */
const HEARTBEAT_MS = 10_000;

/** Why a call that a person must allow is not made, for the model. */
const NOT_MADE: Record<Exclude<Decision, 'allow'>, string> = {
  deny: 'Error: the user did not allow this call.',
  late: 'Error: nobody allowed this call in time.',
};

/** Makes the calls of one answer: those that change nothing side by side, the others in their order. Yields events. */
export function makeCalls(calls: readonly ModelCall[], parts: CallParts): AsyncGenerator<CompletionPart, void, undefined> {
  return new CallRun(calls, parts).events();
}

class CallRun {
  readonly #calls: readonly ModelCall[];
  readonly #parts: CallParts;
  readonly #startMs = new Map<string, number>();
  readonly #made = new Set<ModelCall>();
  readonly #events: CompletionPart[] = [];
  #wake: () => void = () => undefined;

  constructor(calls: readonly ModelCall[], parts: CallParts) {
    this.#calls = calls;
    this.#parts = parts;
  }

  async *events(): AsyncGenerator<CompletionPart, void, undefined> {
    const heartbeat = setInterval(() => this.#heartbeat(), HEARTBEAT_MS);
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#parts.signal, stop.signal]);
    setMaxListeners(0, signal);
    try {
      let isOver = false;
      const over = (): void => {
        isOver = true;
        this.#wake();
      };
      const work = this.#run(signal);
      work.then(over, over);
      while (!isOver || this.#events.length > 0) {
        const event = this.#events.shift();
        if (event) yield event;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      await work;
    } finally {
      clearInterval(heartbeat);
      // A reader that leaves ends the calls that are under way.
      stop.abort();
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { tools, consent, decided } = this.#parts;
    const asked = new Map<ModelCall, Promise<Decision>>();
    for (const call of this.#calls) {
      const tool = tools.ofServers.get(call.function.name);
      this.#startMs.set(call.id, performance.now());
      const about = aboutOf(call, tool);
      this.#tell('tool_call', { ...about });
      this.#parts.record?.toolCalled(about);
      if (!tool?.ask || decided[call.id] !== undefined) continue;
      const { waiting, decision } = consent.ask(about, signal);
      asked.set(call, decision);
      this.#tell('tool_waiting', { ...waiting });
    }
    const gate = new Gate('calls of tools', AT_ONCE, Number.POSITIVE_INFINITY);
    for (const group of this.#groups())
      await Promise.all(group.map((call) => gate.run(signal, () => this.#make(call, asked.get(call), signal))));
  }

  /** Calls that may run side by side, in their order. */
  #groups(): ModelCall[][] {
    const groups: ModelCall[][] = [];
    let isShared = false;
    for (const call of this.#calls) {
      const tool = this.#parts.tools.ofServers.get(call.function.name);
      const mayShare = !tool || (tool.readOnly && !tool.ask);
      if (mayShare && isShared) groups.at(-1)!.push(call);
      else groups.push([call]);
      isShared = mayShare;
    }
    return groups;
  }

  async #make(call: ModelCall, asked: Promise<Decision> | undefined, signal: AbortSignal): Promise<void> {
    const { tools, decided, maxCharacters, record } = this.#parts;
    const tool = tools.ofServers.get(call.function.name);
    const decision = decided[call.id] ?? (await asked) ?? 'allow';
    const { text, failed } = decision === 'allow' ? await this.#result(call, tool, signal) : { text: NOT_MADE[decision], failed: true };
    signal.throwIfAborted();
    const made: MadeCall = {
      ...aboutOf(call, tool),
      failed,
      result: fenceResult(text, maxCharacters),
      duration_ms: Math.round(this.#elapsedMs(call) * 100) / 100,
    };
    this.#made.add(call);
    this.#parts.made(made);
    record?.toolAnswered(made);
    const { tool_call_id, result, duration_ms } = made;
    this.#tell('tool_result', { tool_call_id, failed, result, duration_ms });
  }

  async #result(call: ModelCall, tool: ServerTool | undefined, signal: AbortSignal): Promise<ToolResult> {
    const { toolbox, tools, sessionId } = this.#parts;
    const { name, arguments: written } = call.function;
    if (!tool) return failedResult(`there is no tool ${JSON.stringify(name.slice(0, 200))}. The tools are: ${tools.names.join(', ')}.`);
    if (this.#calls.indexOf(call) >= MOST_CALLS) return failedResult(`one answer makes at most ${MOST_CALLS} calls. Make this one later.`);
    let args: unknown;
    try {
      args = written.trim() === '' ? {} : JSON.parse(written);
    } catch (error) {
      return failedResult(`the arguments are no JSON (${(error as Error).message}). Call the tool again with a JSON object.`);
    }
    const onProgress = (progress: { progress: number; total?: number; message?: string }): void => this.#progress(call, progress);
    return toolbox.call(name, args, { signal, onProgress, sessionId });
  }

  /** A slow reader is told of the newest progress of a call only. */
  #progress(call: ModelCall, { progress, total, message }: { progress: number; total?: number; message?: string }): void {
    const data = {
      tool_call_id: call.id,
      elapsed_ms: Math.round(this.#elapsedMs(call)),
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    const waiting = this.#events.findIndex(
      (one) => one.type === 'event' && one.name === 'tool_progress' && one.data.tool_call_id === call.id,
    );
    if (waiting < 0) this.#tell('tool_progress', data);
    else this.#events[waiting] = { type: 'event', name: 'tool_progress', data };
  }

  #heartbeat(): void {
    if (this.#events.length > 0) return;
    for (const call of this.#calls)
      if (!this.#made.has(call)) this.#tell('tool_progress', { tool_call_id: call.id, elapsed_ms: Math.round(this.#elapsedMs(call)) });
  }

  #elapsedMs({ id }: ModelCall): number {
    return performance.now() - this.#startMs.get(id)!;
  }

  #tell(name: string, data: Readonly<Record<string, unknown>>): void {
    this.#events.push({ type: 'event', name, data });
    this.#wake();
  }
}

function failedResult(why: string): ToolResult {
  return { text: `Error: ${why}`, failed: true };
}

/** What is known of a call before it is made. */
export function aboutOf(call: ModelCall, tool: ServerTool | undefined): CallAbout {
  return {
    tool_call_id: call.id,
    name: call.function.name,
    server: tool?.server ?? null,
    tool: tool?.tool ?? null,
    arguments: call.function.arguments,
  };
}
