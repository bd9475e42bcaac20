import { randomUUID } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import type { CompletionPart } from '../contract.js';

/** Most tool calls of one answer. */
const MAX_TOOL_CALLS = 128;

type ToolPart = CompletionPart & { type: 'tool_call' };

interface Call {
  index: number;
  /** The host's id, to recognise further pieces; ours may differ when it sends none. */
  id: string | undefined;
  named: boolean;
  /** Pieces that came before the name. */
  waiting: string;
  hasArguments: boolean;
}

function record(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/**
 * Puts tool-call pieces in order. Hosts differ: pieces without an index or id, whole calls at once, arguments as an object, the same index
 * for each of several whole calls, the id repeated in every piece. Out of it come parts with our own ascending index.
 */
export class CallReader {
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();

  /** True when the answer calls a tool. */
  get any(): boolean {
    return this.#calls.some((call) => call.named);
  }

  /** Reads the `tool_calls` of one delta or message. */
  read(deltas: unknown): ToolPart[] {
    return Array.isArray(deltas) ? deltas.flatMap((delta) => this.#piece(record(delta))) : [];
  }

  /** Calls without arguments get `{}`, which is what a client's JSON parser needs. */
  end(): ToolPart[] {
    return this.#calls
      .filter((call) => call.named && !call.hasArguments)
      .map((call) => ({ type: 'tool_call', index: call.index, arguments: '{}' }));
  }

  #piece(delta: Record<string, unknown>): ToolPart[] {
    const fn = record(delta.function);
    const name = typeof fn.name === 'string' && fn.name !== '' ? fn.name : undefined;
    const id = typeof delta.id === 'string' && delta.id !== '' ? delta.id : undefined;
    const call = this.#callOf(typeof delta.index === 'number' ? delta.index : undefined, id, name);
    const piece = text(fn.arguments);
    if (piece !== '') call.hasArguments = true;
    if (call.named) return piece === '' ? [] : [{ type: 'tool_call', index: call.index, arguments: piece }];
    call.waiting += piece;
    if (name === undefined) return [];
    call.named = true;
    const first: ToolPart = { type: 'tool_call', index: call.index, id: call.id ?? `call_${randomUUID().replaceAll('-', '')}`, name };
    if (call.waiting !== '') first.arguments = call.waiting;
    return [first];
  }

  #callOf(index: number | undefined, id: string | undefined, name: string | undefined): Call {
    const last = this.#calls.at(-1);
    const known = index === undefined ? this.#calls.find((call) => id !== undefined && call.id === id) : this.#byIndex.get(index);
    const another = known?.named && name !== undefined && id !== undefined && known.id !== id;
    let call = known && !another ? known : undefined;
    // Neither index, id nor name: it continues what came last.
    if (!call && index === undefined && name === undefined) call = last;
    call ??= this.#add(id);
    call.id ??= id;
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #add(id: string | undefined): Call {
    if (this.#calls.length >= MAX_TOOL_CALLS)
      throw new Failure('model_failed', `The model called more than ${MAX_TOOL_CALLS} tools in one answer, which is the limit.`);
    const call: Call = { index: this.#calls.length, id, named: false, waiting: '', hasArguments: false };
    this.#calls.push(call);
    return call;
  }
}
