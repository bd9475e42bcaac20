import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../../schemas/generated/common.js';
import { log } from '../../base/log.js';
import type { CompletionPart } from '../contract.js';
import { type Ending, endsInTag, partialTagLength, withoutPartialTag } from '../thinking.js';
import { CallScanner, readCall } from './call-scanner.js';
import { INJECTED_FORMAT, type ToolFormat } from './formats.js';

/** What the parser makes of text. */
type ToolPart = Extract<CompletionPart, { type: 'text' | 'tool_call' }>;

/** How calls are reported. */
interface ToolParserOptions {
  /** True = a call is reported when it is complete, never in part; for answers that are collected. */
  whole?: boolean;
  /** Everything after this many calls is ignored. */
  maxCalls?: number;
}

type State = 'text' | 'call' | 'close' | 'between';

/**
 * Finds tool calls in the output text of a model as it streams in. Text around calls flows; text that may begin a call is held back; the
 * name comes first, then the arguments as they grow. A call that is no valid call comes out as text; of one that the output breaks off, comes what
 * there is of its name and arguments, never its tags. Apart from where the pieces are cut, the result does not depend on how the input was cut.
 */
export class ToolCallParser {
  /** Complete calls so far. */
  calls = 0;
  /** The output ended inside a call. */
  incomplete = false;
  readonly #format: ToolFormat;
  readonly #whole: boolean;
  readonly #maxCalls: number;
  #state: State = 'text';
  #input = '';
  #textSeen = false;
  #scanner = new CallScanner();
  /** Text of the call so far, opening tag included. */
  #raw = '';
  /** How much of the closing tag was matched. */
  #closing = '';
  #listOpened = false;
  #announced = false;
  #sentArguments = 0;

  constructor(format: ToolFormat = INJECTED_FORMAT, options: ToolParserOptions = {}) {
    this.#format = format;
    this.#whole = options.whole ?? false;
    this.#maxCalls = options.maxCalls ?? Number.POSITIVE_INFINITY;
  }

  /** True when no further input can change anything. */
  get finished(): boolean {
    return this.calls >= this.#maxCalls;
  }

  /** Takes the next text and returns what is decided. */
  push(text: string): ToolPart[] {
    const parts: ToolPart[] = [];
    this.#input += text;
    while (this.#input !== '' && !this.finished && this.#step(parts));
    if (!this.#whole && (this.#state === 'call' || this.#state === 'close')) this.#progress(parts);
    return parts;
  }

  /** Returns what was still held back at the end of the output. */
  end(ending: Ending = {}): ToolPart[] {
    const parts: ToolPart[] = [];
    if (this.finished) return parts;
    if (this.#state === 'call' || this.#state === 'close') this.#breakOff(parts, ending);
    const held = this.#withoutBeginning(this.#input, ending);
    if (ending.stopText !== undefined && held !== this.#input) this.incomplete = true;
    const rest = this.#state === 'between' ? '' : held;
    this.#text(parts, this.calls > 0 ? rest.trimEnd() : rest);
    this.#input = '';
    return parts;
  }

  /** A call whose JSON has ended lacks only its tag, and is whole unless a stop text breaks it off there. */
  #breakOff(parts: ToolPart[], { stopText }: Ending): void {
    const isStopped = stopText !== undefined && endsInTag(this.#closing.length, this.#format.close, { stopText: stopText.trimStart() });
    if (this.#scanner.done && !isStopped && readCall(this.#scanner.raw)) {
      this.#complete(parts);
      return;
    }
    this.incomplete = true;
    this.#progress(parts);
  }

  /** What is held of an output, without the beginning of a call inside which it ended. */
  #withoutBeginning(held: string, ending: Ending): string {
    const { open, bareStart } = this.#format;
    const mayBegin = bareStart !== '' && !this.#textSeen && this.calls === 0;
    // All that it may begin with is held, so it is the beginning of nothing else.
    return mayBegin && withoutPartialTag(held.replaceAll(/\s/g, ''), bareStart, ending) === '' ? '' : withoutPartialTag(held, open, ending);
  }

  /** Returns false when more input is needed. */
  #step(parts: ToolPart[]): boolean {
    if (this.#state === 'text') return this.#inText(parts);
    const char = this.#input.charAt(0);
    this.#input = this.#input.slice(1);
    if (this.#state === 'call') this.#inCall(parts, char);
    else if (this.#state === 'close') this.#inClose(parts, char);
    else this.#between(char);
    return true;
  }

  #inText(parts: ToolPart[]): boolean {
    const { open, bareStart } = this.#format;
    if (bareStart !== '' && !this.#textSeen && this.calls === 0) {
      const compact = this.#input.slice(0, 256).replaceAll(/\s/g, '');
      if (compact.startsWith(bareStart)) {
        this.#openCall('');
        return true;
      }
      if (bareStart.startsWith(compact)) return false;
    }
    const at = this.#input.indexOf(open);
    if (at >= 0) {
      this.#text(parts, this.#input.slice(0, at).trimEnd());
      this.#input = this.#input.slice(at + open.length);
      this.#openCall(open);
      return true;
    }
    const decided = this.#input.length - partialTagLength(this.#input, open);
    const text = this.#input.slice(0, decided).trimEnd();
    this.#input = this.#input.slice(text.length);
    this.#text(parts, text);
    return false;
  }

  #openCall(open: string): void {
    this.#state = 'call';
    this.#scanner = new CallScanner();
    this.#raw = open;
    this.#closing = '';
    this.#announced = false;
    this.#sentArguments = 0;
    this.#listOpened = false;
  }

  #inCall(parts: ToolPart[], char: string): void {
    if (this.#format.list && !this.#listOpened && this.#scanner.raw.trim() === '' && char === '[') {
      this.#raw += char;
      this.#listOpened = true;
      return;
    }
    this.#scanner.take(char);
    if (this.#scanner.failed) this.#fail(parts, char);
    else {
      this.#raw += char;
      if (!this.#scanner.done) return;
      if (this.#format.close === '') this.#complete(parts);
      else this.#state = 'close';
    }
  }

  #inClose(parts: ToolPart[], char: string): void {
    if (this.#closing === '' && char.trim() === '') {
      this.#raw += char;
      return;
    }
    if (!this.#format.close.startsWith(this.#closing + char)) {
      const again = this.#closing + char;
      this.#closing = '';
      this.#fail(parts, again);
      return;
    }
    this.#closing += char;
    if (this.#closing === this.#format.close) this.#complete(parts);
  }

  /** Between two calls of one answer that no tags separate. */
  #between(char: string): void {
    if (char.trim() === '' || char === this.#format.separator) return;
    if (char === '{') {
      const listOpened = this.#listOpened;
      this.#openCall('');
      this.#listOpened = listOpened;
      this.#input = char + this.#input;
      return;
    }
    this.#state = 'text';
    if (!(this.#format.list && char === ']')) this.#input = char + this.#input;
  }

  /** Gives up on a call: its text goes out as it came, and `again` is looked at as text. */
  #fail(parts: ToolPart[], again: string): void {
    log('warn', 'the model wrote a tool call that cannot be read; it is passed on as text');
    this.#state = 'text';
    this.#textSeen = true;
    this.#text(parts, this.#raw);
    this.#input = again + this.#input;
  }

  #complete(parts: ToolPart[]): void {
    const call = readCall(this.#scanner.raw);
    if (!call) {
      const again = this.#closing;
      this.#closing = '';
      this.#fail(parts, again);
      return;
    }
    if (!this.#announced) this.#announce(parts, call.name);
    const all = this.#scanner.arguments || call.arguments;
    this.#argumentsPart(parts, all.slice(this.#sentArguments));
    this.calls += 1;
    this.#state = this.#format.close === '' ? 'between' : 'text';
  }

  /** Reports how far the call in progress has come. */
  #progress(parts: ToolPart[]): void {
    const { name, arguments: grown, failed } = this.#scanner;
    if (failed || name === undefined) return;
    if (!this.#announced) this.#announce(parts, name);
    this.#argumentsPart(parts, grown.slice(this.#sentArguments));
  }

  #announce(parts: ToolPart[], name: string): void {
    this.#announced = true;
    parts.push({ type: 'tool_call', index: this.calls, id: `call_${randomUUID()}`, name, arguments: '' });
  }

  #argumentsPart(parts: ToolPart[], text: string): void {
    if (text === '') return;
    this.#sentArguments += text.length;
    parts.push({ type: 'tool_call', index: this.calls, arguments: text });
  }

  #text(parts: ToolPart[], text: string): void {
    if (text === '') return;
    this.#textSeen = true;
    parts.push({ type: 'text', text });
  }
}

/** A whole answer, taken apart. */
interface ParsedAnswer {
  /** The text around the calls. */
  text: string;
  calls: (ToolCall & { id: string; type: 'function'; function: { name: string; arguments: string } })[];
}

/** Takes the tool calls out of a whole answer; what is no valid call stays in the text. */
export function parseToolCalls(answer: string, format: ToolFormat = INJECTED_FORMAT): ParsedAnswer {
  const parser = new ToolCallParser(format, { whole: true });
  const parsed: ParsedAnswer = { text: '', calls: [] };
  for (const part of [...parser.push(answer), ...parser.end()]) {
    if (part.type === 'text') parsed.text += part.text;
    else if (part.name !== undefined)
      parsed.calls[part.index] = { id: part.id ?? '', type: 'function', function: { name: part.name, arguments: '' } };
    else parsed.calls[part.index]!.function.arguments += part.arguments ?? '';
  }
  return parsed;
}

/** Takes the calls out of an answer's text. */
export async function* parsedCalls(
  parts: AsyncIterable<CompletionPart>,
  newParser: () => ToolCallParser,
): AsyncGenerator<CompletionPart, void, undefined> {
  const parsers: ToolCallParser[] = [];
  for await (const part of parts) {
    const { choice = 0 } = part;
    parsers[choice] ??= newParser();
    const parser = parsers[choice];
    const chosen = (found: CompletionPart[]) => (choice === 0 ? found : found.map((one) => ({ ...one, choice })));
    if (part.type === 'text') yield* chosen(parser.push(part.text));
    else if (part.type !== 'finish') yield part;
    else {
      yield* chosen(parser.end());
      yield parser.calls > 0 && part.reason === 'stop' ? { ...part, reason: 'tool_calls' } : part;
    }
  }
}
