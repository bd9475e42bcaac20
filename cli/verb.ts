import { parseArgs } from 'node:util';
import { type DaemonOptions, OPTIONS, readOptions, SWITCHES } from '../gateway/daemon/options.js';
import { Failure } from '../schemas/errors.js';
import { nearest } from './nearest.js';
import type { Output } from './output.js';

/** One flag of a verb. */
export interface Flag {
  readonly meaning: string;
  /** Names what stands after the flag, such as `FILE`; a flag without it is a switch. */
  readonly value?: string;
  /** A letter that means the same. */
  readonly short?: string;
  /** The flag may be given several times. */
  readonly many?: boolean;
  /** What stands after it is a number. */
  readonly isNumber?: boolean;
}

/** What a verb is called with. */
export interface Call {
  /** The words behind the verb that belong to no flag. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** The project that the verb is about. */
  readonly project: ProjectName;
  /** Where the daemon is, and how one is started. */
  readonly daemon: DaemonOptions;
  /** The arguments that `daemon` was read from, for a daemon that is started. */
  readonly daemonArgs: readonly string[];
  readonly out: Output;
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** All verbs, for those that tell of the others. */
  readonly verbs: readonly (Verb | RawVerb)[];
  /** The command that runs this program, for a daemon that is started; null where it cannot be. */
  readonly program: readonly string[] | null;
}

/** What a verb found out: a value for programs, and how people see it. */
export interface Outcome {
  readonly result: unknown;
  /** Prints the result for people; without it a verb has printed everything already. */
  show?(): void;
  /** The verb worked and what it found is not right; the exit code is 1 then. */
  readonly isBad?: boolean;
}

/** What runs a verb; nothing where it printed everything itself. */
export type Run = (call: Call) => Promise<Outcome | undefined>;

/** One verb of the command line. */
export interface Verb {
  /** One word, or two, such as `datasets add`. */
  readonly name: string;
  /** Other names that mean the same. */
  readonly aliases?: readonly string[];
  /** The words behind it: `[X]` may be absent, `X ...` may come several times. */
  readonly words?: string;
  readonly summary: string;
  readonly flags?: Readonly<Record<string, Flag>>;
  /** The options of the daemon that act on it; those that say where the daemon is unless given. */
  readonly options?: readonly (keyof typeof OPTIONS)[];
  /** Loads what runs it, so that no verb pays for another. */
  load(): Promise<Run>;
}

/** A verb that reads its arguments itself. */
export interface RawVerb extends Omit<Verb, 'words' | 'flags' | 'load'> {
  readonly words: string;
  readonly isRaw: true;
  load(): Promise<(args: string[]) => Promise<void> | void>;
}

const DEFAULT_PROJECT = 'default/quickstart';

/** Flags of every verb. */
const COMMON_FLAGS = {
  json: { meaning: 'print JSON for programs' },
  'no-start': { meaning: 'fail where no daemon runs, instead of starting one' },
} satisfies Record<string, Flag>;

/** Options that say where the daemon is, and how it is asked. */
const WHERE = ['host', 'port', 'runtime-host', 'runtime-port', 'data-dir', 'api-key', 'ca'] as const;

/** The options of the daemon that act on a verb, as its flags. */
const optionFlags = ({ options = WHERE }: Pick<Verb, 'options'>): Record<string, Flag> =>
  Object.fromEntries(
    options.map((name) => {
      const [variable, meaning] = OPTIONS[name];
      return [
        name,
        { meaning: `${meaning}; ${variable}`, ...(SWITCHES.has(name) ? {} : { value: name.split('-').at(-1)!.toUpperCase() }) },
      ];
    }),
  );

/** All flags that act on a verb; none for one that reads its arguments itself. */
export const flagsOf = (verb: Verb | RawVerb): Record<string, Flag> =>
  'isRaw' in verb ? {} : { ...verb.flags, ...COMMON_FLAGS, ...optionFlags(verb) };

/** All options of the daemon. */
export const ALL_OPTIONS = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[];

/** The flag of verbs that work on a project. */
export const PROJECT_FLAG = {
  project: { value: 'NAMESPACE/NAME', short: 'p', meaning: `the project (QUERN_PROJECT, else ${DEFAULT_PROJECT})` },
} satisfies Record<string, Flag>;

/** How many words a form such as `MODEL [TEXT ...]` asks for, and how many it takes. */
function wordsOf(form: string): { least: number; most: number } {
  const parts = form.match(/\[(?:[^[\]]|\[[^\]]*\])*\]|\S+/g) ?? [];
  const named = parts.filter((part) => part !== '...');
  return {
    least: named.filter((part) => !part.startsWith('[')).length,
    most: form.includes('...') ? Number.POSITIVE_INFINITY : named.length,
  };
}

/** How a verb is written. */
export const usageOf = ({ name, words = '' }: Pick<Verb, 'name' | 'words'>): string => `quern ${name}${words === '' ? '' : ` ${words}`}`;

/** What `parseArgs` did not like, in our words. */
function complaintOf({ message }: Error, flags: readonly string[]): string {
  const flag = /--?[\w-]+(?= |'|$)/.exec(message.replace(/-\w, /, ''))?.[0] ?? '';
  if (message.startsWith('Unknown option')) {
    const meant = nearest(flag.replace(/^-+/, ''), flags);
    return `there is no flag "${flag}"${meant === undefined ? '.' : `; did you mean --${meant}?`}`;
  }
  return message.includes('does not take') ? `${flag} takes no value.` : `${flag} needs a value.`;
}

/** Reads the arguments behind a verb. Throws `bad_request` for a flag that it does not have, and for too few or too many words. */
export function parseCall(
  verb: Verb,
  args: readonly string[],
  around: Pick<Call, 'input' | 'env' | 'verbs' | 'program'> & { open(json: boolean): Output },
): Call {
  const known: Record<string, Flag> = { ...COMMON_FLAGS, ...verb.flags };
  const isDaemons = (name: string): boolean => name in OPTIONS && !(name in known);
  const own = Object.entries(known).map(([name, { value, short, many }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(short ? { short } : {}), ...(many ? { multiple: true } : {}) } as const,
  ]);
  const daemons = Object.keys(OPTIONS).flatMap((name) =>
    isDaemons(name) ? [[name, { type: SWITCHES.has(name) ? 'boolean' : 'string' } as const]] : [],
  );
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options: Object.fromEntries([...own, ...daemons]), allowPositionals: true });
  } catch (error) {
    throw new Failure(
      'bad_request',
      `${complaintOf(error as Error, Object.keys(flagsOf(verb)))} Run "quern ${verb.name} --help" for the list.`,
    );
  }
  const { values, positionals } = parsed;
  const { least, most } = wordsOf(verb.words ?? '');
  if (positionals.length < least || positionals.length > most)
    throw new Failure(
      'bad_request',
      `${positionals.length < least ? 'something is missing' : `"${positionals[most]}" is too much`}: use ${usageOf(verb)}.`,
    );
  const daemonArgs = Object.entries(values).flatMap(([name, value]) =>
    isDaemons(name) ? [value === true ? `--${name}` : `--${name}=${String(value)}`] : [],
  );
  const flags = values as Call['flags'];
  for (const [name, { isNumber }] of Object.entries(known))
    if (isNumber === true && flags[name] !== undefined && !(String(flags[name]).trim() !== '' && Number.isFinite(Number(flags[name]))))
      throw new Failure('bad_request', `--${name} must be a number, not "${String(flags[name])}".`);
  return {
    words: positionals,
    flags,
    project: readProject('project' in known ? String(flags.project ?? (around.env.QUERN_PROJECT || DEFAULT_PROJECT)) : DEFAULT_PROJECT),
    daemon: readOptions(daemonArgs, around.env),
    daemonArgs,
    out: around.open(values.json === true),
    input: around.input,
    env: around.env,
    verbs: around.verbs,
    program: around.program,
  };
}

/** The text of a flag; undefined where it was not given. */
export function textOf({ flags }: Call, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** The number of a flag that `isNumber`; undefined where it was not given. */
export function numberOf(call: Call, name: string): number | undefined {
  const text = textOf(call, name);
  return text === undefined ? undefined : Number(text);
}

/** A project by namespace and name. */
export interface ProjectName {
  readonly namespace: string;
  readonly project: string;
}

/** Reads `NAMESPACE/NAME`, or `NAME` in the namespace `default`. Throws `bad_request` for other forms. */
export function readProject(text: string): ProjectName {
  const parts = text.split('/');
  const [namespace, project] = parts.length === 1 ? ['default', text] : parts;
  if (!namespace || !project || parts.length > 2)
    throw new Failure('bad_request', `"${text}" names no project: write NAMESPACE/NAME, such as default/quickstart.`);
  return { namespace, project };
}
