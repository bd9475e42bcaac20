import { Failure, type FailureKind } from '../schemas/errors.js';
import { Interrupted } from './interrupt.js';
import { nearest } from './nearest.js';
import { Output, type Streams } from './output.js';
import { parseCall, type RawVerb, type Verb } from './verb.js';
import { VERBS } from './verbs.js';

/** What a command line is run with. */
export interface Surroundings extends Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** The command that runs this program; without it no daemon is started. */
  readonly program?: readonly string[];
}

/** A name that is taken was used rightly, whatever status the API has for it. */
const TAKEN = /Exists$/;
/** Exit codes by what went wrong; 1 for everything else. */
const EXIT_CODES: Partial<Record<FailureKind, number>> = {
  bad_request: 2,
  invalid: 2,
  not_found: 3,
  unauthorized: 4,
  forbidden: 4,
  unavailable: 5,
  busy: 5,
  timed_out: 5,
  disk_full: 5,
};
/** As shells tell of a program that Ctrl+C ended. */
export const INTERRUPTED = 130;
const HELP_FLAGS = ['--help', '-h'];

/** The verb that the first words name, and the arguments behind it. Throws `bad_request` for none. */
function findVerb(given: readonly string[]): { verb: Verb | RawVerb; args: string[] } {
  const args = given[0] === '--version' ? ['version'] : given.length === 0 || given[0]!.startsWith('-') ? ['start', ...given] : given;
  for (const count of [2, 1]) {
    const said = args.slice(0, count).join(' ');
    const verb = VERBS.find(({ name, aliases = [] }) => [name, ...aliases].includes(said));
    // A family's own name stands for one of its verbs, but not before a word that is none of them and that this one does not take.
    const isFamily = count === 1 && verb !== undefined && VERBS.some(({ name }) => name.startsWith(`${said} `));
    const isForFamily = isFamily && (verb.name.includes(' ') || !verb.words) && args[1] !== undefined && !args[1].startsWith('-');
    if (verb && !isForFamily) return { verb, args: args.slice(count) };
  }
  throw new Failure('bad_request', complaintOf(args));
}

/** Says that the first words are no command, and which may be meant. */
function complaintOf([first = '', second]: readonly string[]): string {
  const family = VERBS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name.split(' ')[1]!);
  if (family.length > 0) {
    const meant = nearest(second ?? '', family);
    const word = second === undefined ? first : `${first} ${second}`;
    return `unknown command "${word}": ${meant === undefined ? `use ${family.join(', ')}.` : `did you mean "${first} ${meant}"?`}`;
  }
  const known = [...new Set(VERBS.map(({ name }) => name.split(' ')[0]!))];
  const meant = nearest(first, [...known, ...VERBS.flatMap(({ aliases = [] }) => aliases)]);
  return `unknown command "${first}": ${meant === undefined ? `use ${known.join(', ')}.` : `did you mean "${meant}"? "quern help" lists all.`}`;
}

/** Runs one command line and resolves to its exit code; what a verb throws is printed, as JSON where `--json` was given. */
export async function runProgram(given: readonly string[], around: Surroundings): Promise<number> {
  const { env, stdin: input, program = null } = around;
  const open = (isJson: boolean): Output => new Output(around, { isJson, env });
  try {
    const isHelp = given.some((arg) => HELP_FLAGS.includes(arg));
    if (isHelp && given[0]!.startsWith('-')) return await runProgram(['help'], around);
    const words = given.filter((arg) => !HELP_FLAGS.includes(arg));
    if (isHelp && words.length === 1 && VERBS.some(({ name }) => name.startsWith(`${words[0]} `)))
      return await runProgram(['help', ...words], around);
    const { verb, args } = findVerb(given);
    if (isHelp && verb.name !== 'help') return await runProgram(['help', ...verb.name.split(' ')], around);
    if ('isRaw' in verb) {
      await (await verb.load())(args);
      return Number(process.exitCode ?? 0);
    }
    const call = parseCall(verb, args, { env, input, verbs: VERBS, program, open });
    const outcome = await (await verb.load())(call);
    if (outcome === undefined) return 0;
    call.out.result(outcome.result);
    outcome.show?.();
    return outcome.isBad === true ? 1 : 0;
  } catch (error) {
    if (error instanceof Interrupted) {
      // Behind the progress, or the piece of an answer, that stands in the line.
      if (around.stderr.isTTY === true) around.stderr.write('\n');
      return INTERRUPTED;
    }
    if (!(error instanceof Failure)) throw error;
    const { code, kind, message } = error;
    if (given.includes('--json')) around.stderr.write(`${JSON.stringify({ error: { kind, code, message } })}\n`);
    else open(false).note(message);
    return TAKEN.test(code) ? 1 : (EXIT_CODES[kind] ?? 1);
  }
}
