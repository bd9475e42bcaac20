import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';
import { Environment, Template } from '@huggingface/jinja';
import { Failure } from '../../../schemas/errors.js';
import { markWritten, PythonInterpreter, TEXT_LIMIT } from './interpreter.js';
import { type CallForm, PLAIN_FORM } from './messages.js';

const RENDER_LIMIT_MS = 1000;
/** For one that could not be rendered in time because this thread had no core. */
const PATIENT_LIMIT_MS = 10_000;
/** Of the limit, what a thread that is kept from running computes at most; endless loops take nearly all of it. */
const BUSY_SHARE = 0.5;
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

/** Runs what may loop: the time limit of `vm` ends any JavaScript below it, whatever module it comes from. */
const sandbox = createContext({ job: undefined as (() => unknown) | undefined });
const call = new Script('job()');

function withTimeout<T>(job: () => T, timeout: number): T {
  sandbox.job = job;
  try {
    return call.runInContext(sandbox, { timeout }) as T;
  } finally {
    sandbox.job = undefined;
  }
}

const isTimeout = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** What this thread has computed since it began, in milliseconds; other threads of a host compute meanwhile. Of the whole process where the system does not tell. */
function computedMs(): number {
  try {
    return Number.parseInt(readFileSync('/proc/thread-self/schedstat', 'latin1'), 10) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/** The limits count time by the clock: where the process was kept from running meanwhile, the job gets a second, longer chance. */
function limited<T>(job: () => T): T {
  const before = computedMs();
  const hasRun = (limitMs: number): boolean => computedMs() - before > limitMs;
  try {
    return withTimeout(job, RENDER_LIMIT_MS);
  } catch (error) {
    if (!isTimeout(error) || hasRun(RENDER_LIMIT_MS * BUSY_SHARE)) throw error;
  }
  try {
    return withTimeout(job, PATIENT_LIMIT_MS);
  } catch (error) {
    if (!isTimeout(error) || hasRun(RENDER_LIMIT_MS)) throw error;
    throw new Failure('busy', 'This machine is too busy to render the chat template; try again when it has less to do.', {
      retryAfterS: 5,
      cause: error,
    });
  }
}

/** A failure that says why a template did not render; its cause is not told apart by callers but by `code`. */
function templateFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Raised) {
    return new Failure('bad_request', `The model's chat template refuses the conversation: ${error.message.slice(0, RAISED_LIMIT)}`, {
      code: 'template_refused',
    });
  }
  const why = isTimeout(error)
    ? `it ran for more than ${RENDER_LIMIT_MS} ms`
    : String((error as Error)?.message ?? error).slice(0, RAISED_LIMIT);
  return new Failure('model_failed', `The model's chat template cannot be rendered: ${why}. Use a model with a working template.`, {
    code: 'template_failed',
    cause: error,
  });
}

/**
 * A GGUF's own chat template (threat T5). It can compute and nothing else: no file, no network, 1 s (10 s more where the thread
 * could not run), 16 MiB of output, ranges of 100,000. Both methods throw `Failure` with code `template_refused` (the template's `raise_exception`) or
 * `template_failed`, and of kind `busy` where the machine leaves the thread no time.
 */
export class ChatTemplate {
  readonly #parsed: Template['parsed'];
  /** How it takes calls. */
  readonly callForm: CallForm;

  constructor(text: string) {
    try {
      this.#parsed = limited(() => new Template(text).parsed);
      markWritten(this.#parsed);
    } catch (error) {
      throw templateFailure(error);
    }
    try {
      this.callForm = this.#callForm();
    } catch (error) {
      // What runs for too long is not tried again: it will fail when it is rendered.
      if (!isTimeout((error as Failure).cause) || (error as Failure).kind === 'busy') throw error;
      this.callForm = PLAIN_FORM;
    }
  }

  /** Renders with `variables`; missing ones are undefined, which is falsy. */
  render(variables: Readonly<Record<string, unknown>>): string {
    let out: unknown;
    try {
      out = limited(() => this.#run(variables));
    } catch (error) {
      throw templateFailure(error);
    }
    if (typeof out !== 'string' || out.length > TEXT_LIMIT) {
      throw templateFailure(new Error(`its output has more than ${TEXT_LIMIT} characters`));
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
    for (const [contentAsNull, argumentsAsText] of [[false, false], [false, true], [true, false], [true, true]] as const) {
      const form = { contentAsNull, argumentsAsText };
      if (this.#writesCall(form, SHORT_ID)) return { ...form, idsShort: !this.#writesCall(form, LONG_ID) };
    } // biome-ignore format: rows
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
      if (error instanceof Failure && (error.kind === 'busy' || isTimeout(error.cause))) throw error;
      return false;
    }
  }
}
