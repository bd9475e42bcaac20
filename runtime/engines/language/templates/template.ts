import { Environment, Template } from '@huggingface/jinja';
import { Failure } from '../../../../schemas/errors.js';
import { isTimeout, runWithTimeLimit } from '../../../hosts/time-limit.js';
import { markWritten, PythonInterpreter } from './interpreter.js';
import { type CallForm, PLAIN_FORM } from './messages.js';
import { TEXT_LIMIT, TooLarge } from './template-values.js';

const RENDER_LIMIT_MS = 1000;
/** Time for finding out how a template takes calls. */
const PROBING_LIMIT_MS = 1000;
const RANGE_LIMIT = 100_000;
const RAISED_LIMIT = 500;
/** Ids of calls: as Mistral's templates want them, and as most others are. */
const SHORT_ID = 'call00001';
const LONG_ID = 'call_0123456789';
/** Of a conversation as short as the probed one; what is longer is not searched. */
const PROBED_LIMIT = 100_000;
/** Arguments in whatever form a model knows, but for an object as Python prints it. */
const WRITTEN = /probed(?!': )[\s\S]{1,40}yes/i;
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What a template refused by `raise_exception`. */
class Raised extends Error {}

const two = (value: number): string => String(value).padStart(2, '0');

/** Python's `strftime` for the directives that templates use, in local time and English. */
function strftime(date: Date, format: string): string {
  const values: Readonly<Record<string, string>> = {
    Y: String(date.getFullYear()),
    y: two(date.getFullYear() % 100),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    e: String(date.getDate()).padStart(2),
    B: MONTHS[date.getMonth()]!,
    b: MONTHS[date.getMonth()]!.slice(0, 3),
    A: DAYS[date.getDay()]!,
    a: DAYS[date.getDay()]!.slice(0, 3),
    H: two(date.getHours()),
    I: two(date.getHours() % 12 || 12),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    p: date.getHours() < 12 ? 'AM' : 'PM',
    '%': '%',
  };
  return format.replace(/%-?([a-zA-Z%])/g, (whole, letter: string) => {
    const value = values[letter];
    return value === undefined ? whole : whole.startsWith('%-') ? value.replace(/^0(?=.)/, '') : value;
  });
}

function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const length = Math.ceil((stop - start) / step);
  if (!Number.isFinite(length) || length > RANGE_LIMIT) throw new Raised(`range() of ${length} items; at most ${RANGE_LIMIT} are allowed`);
  return Array.from({ length: Math.max(0, length) }, (_, index) => start + index * step);
}

/** Whether a template was stopped at a limit of time or size, and not by what it says. */
export const isStopped = (error: unknown): boolean => {
  const cause = error instanceof Failure ? error.cause : error;
  // Too deep a recursion and too long a text are range errors.
  return isTimeout(cause) || cause instanceof TooLarge || cause instanceof RangeError;
};

/** A failure that says why a template was not read or did not render; its cause is not told apart by callers but by `code` and `isStopped`. */
function templateFailure(error: unknown, act: 'read' | 'rendered' = 'rendered'): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Raised) {
    return new Failure('bad_request', `The model's chat template refuses the conversation: ${error.message.slice(0, RAISED_LIMIT)}`, {
      code: 'template_refused',
    });
  }
  const why = isTimeout(error)
    ? `it ran for more than ${RENDER_LIMIT_MS} ms`
    : // The parser looks at what is not there.
      act === 'read' && error instanceof TypeError
      ? 'it ends in the middle of an expression or a statement'
      : String((error as Error)?.message ?? error).slice(0, RAISED_LIMIT);
  return new Failure(
    'invalid',
    `The model's chat template cannot be ${act}: ${why}. Give another one as chat_template in extra_body, or use a model with a working template.`,
    { code: 'template_failed', cause: error },
  );
}

const limitedHere = <T>(job: () => T): T => runWithTimeLimit(job, RENDER_LIMIT_MS, 'render the chat template');

/**
 * A GGUF's own chat template (threat T5). It can compute and nothing else: no file, no network, 1 s (10 s more where the thread
 * could not run), 16 MiB of output and of each text on the way, lists of a million, ranges of 100,000. Both methods throw `Failure` with code `template_refused`
 * (the template's `raise_exception`) or `template_failed`, and of kind `busy` where the machine leaves the thread no time.
 */
export class ChatTemplate {
  readonly #parsed: Template['parsed'];
  /** How it takes calls. */
  readonly callForm: CallForm;

  constructor(text: string) {
    try {
      this.#parsed = limitedHere(() => new Template(text).parsed);
      markWritten(this.#parsed);
    } catch (error) {
      throw templateFailure(error, 'read');
    }
    try {
      this.callForm = this.#callForm();
    } catch (error) {
      // What is stopped at a limit is not tried again: it will fail when it is rendered.
      if (!isStopped(error)) throw error;
      this.callForm = PLAIN_FORM;
    }
  }

  /** Renders with `variables`; missing ones are undefined, which is falsy. */
  render(variables: Readonly<Record<string, unknown>>): string {
    let out: unknown;
    try {
      out = limitedHere(() => this.#run(variables));
    } catch (error) {
      throw templateFailure(error);
    }
    if (typeof out !== 'string' || out.length > TEXT_LIMIT) {
      throw templateFailure(new TooLarge(`its output has more than ${TEXT_LIMIT} characters`));
    }
    return out;
  }

  #run(variables: Readonly<Record<string, unknown>>): unknown {
    const environment = new Environment();
    const globals: Record<string, unknown> = {
      true: true,
      True: true,
      false: false,
      False: false,
      none: null,
      None: null,
      range,
      raise_exception: (message: unknown) => {
        throw new Raised(String(message));
      },
      strftime_now: (format: unknown) => strftime(new Date(), String(format)),
      ...variables,
    };
    for (const [name, value] of Object.entries(globals)) environment.set(name, value);
    return new PythonInterpreter(environment).run(this.#parsed).value;
  }

  /** Renders calls to see in which form they are written. */
  #callForm(): CallForm {
    const start = performance.now();
    for (const [contentAsNull, argumentsAsText] of [
      [false, false],
      [false, true],
      [true, false],
      [true, true],
    ] as const) {
      if (performance.now() - start > PROBING_LIMIT_MS) return PLAIN_FORM;
      const form = { contentAsNull, argumentsAsText };
      if (this.#writesCall(form, SHORT_ID)) return { ...form, idsShort: !this.#writesCall(form, LONG_ID) };
    }
    return PLAIN_FORM;
  }

  #writesCall({ contentAsNull, argumentsAsText }: Omit<CallForm, 'idsShort'>, id: string): boolean {
    const args = { probed: 'yes' };
    const call = { id, type: 'function', function: { name: 'probe', arguments: argumentsAsText ? '{"probed": "yes"}' : args } };
    const messages = [
      { role: 'user', content: 'probe' },
      { role: 'assistant', content: contentAsNull ? null : '', tool_calls: [call] },
    ];
    try {
      const out = this.render({ messages, tools: [], add_generation_prompt: false, bos_token: '', eos_token: '' });
      return out.length <= PROBED_LIMIT && WRITTEN.test(out);
    } catch (error) {
      if ((error as Failure).kind === 'busy' || isStopped(error)) throw error;
      return false;
    }
  }
}
