import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from '../../schemas/errors.js';
import { type Accounts, createAccounts } from '../accounts.js';
import type { Environment } from '../config/environment.js';

/** What a command has to say: lines for people, and the same as a value for programs. */
export interface Outcome {
  readonly lines: readonly string[];
  readonly result: unknown;
  /** What to do next, one sentence each. */
  readonly next?: readonly string[];
  /** Whether the command found something that must be mended; the program's status is 1 then. */
  readonly isBad?: boolean;
}

/** What every command can be told. */
export interface CommandOptions {
  /** The module file. */
  readonly config: string;
  /** Where a SQLite database lies that the module file does not name: in the data directory of a daemon, where one is told. */
  readonly databaseFolder?: string;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  /** Values by name, as `process.env` has them. */
  readonly environment: Environment;
  /** The words after the command's name that are no options. */
  readonly words: readonly string[];
}

/** One command. */
export interface Command {
  /** What stands after `quern accounts`, such as `plans push`. */
  readonly name: string;
  readonly summary: string;
  /** Further options by name. */
  readonly options?: Readonly<Record<string, { type: 'string' | 'boolean' }>>;
  run(options: CommandOptions): Promise<Outcome>;
}

/**
 * Runs the command that the arguments name, and prints what it says: as text, or with `--json` as one envelope
 * `{status, result | error {code, message, fix}, next_steps}`. Resolves to the status of the process.
 */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
  print: (text: string) => void,
  environment: Environment,
): Promise<number> {
  const isJson = args.includes('--json');
  try {
    const {
      lines,
      result,
      next = [],
      isBad = false,
    } = await runFound(
      commands,
      args.filter((arg) => arg !== '--json'),
      environment,
    );
    print(
      isJson
        ? JSON.stringify({ status: isBad ? 'error' : 'ok', result, next_steps: next }, null, 2)
        : [...lines, ...next.map((step) => `Next: ${step}`)].join('\n'),
    );
    return isBad ? 1 : 0;
  } catch (error) {
    const { code, message } = error instanceof Failure ? error : { code: 'failed', message: (error as Error).message };
    if (isJson)
      print(JSON.stringify({ status: 'error', error: { code, message, fix: message.split('; ').at(-1) }, next_steps: [] }, null, 2));
    else print(`quern accounts: ${message}`);
    return 1;
  }
}

async function runFound(commands: readonly Command[], args: readonly string[], environment: Environment): Promise<Outcome> {
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word));
  if (!command) {
    const help = commands.map(({ name, summary }) => `  quern accounts ${name.padEnd(16)} ${summary}`);
    if (args.length > 0 && args[0] !== 'help')
      throw new Failure(
        'bad_request',
        `there is no command "${args.slice(0, 2).join(' ')}"; the commands are ${commands.map(({ name }) => name).join(', ')}`,
      );
    return {
      lines: ['Commands (each takes --config FILE, --json, and --data-dir DIR for accounts in front of a daemon):', ...help],
      result: commands.map(({ name, summary }) => ({ name, summary })),
    };
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: args.slice(command.name.split(' ').length),
      options: { config: { type: 'string' }, 'data-dir': { type: 'string' }, ...command.options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new Failure(
      'bad_request',
      `${(error as Error).message.split('.')[0]}; options are --config, --data-dir, --json${Object.keys(command.options ?? {})
        .map((name) => `, --${name}`)
        .join('')}`,
    );
  }
  const values = parsed.values as Record<string, string | boolean | undefined>;
  const { 'data-dir': dataDir = environment.DATA_DIR ?? environment.LF_DATA_DIR } = values;
  return command.run({
    config: String(values.config ?? 'module.yaml'),
    ...(dataDir ? { databaseFolder: join(String(dataDir), 'accounts') } : {}),
    values,
    words: parsed.positionals,
    environment,
  });
}

/** Opens the accounts of a module file for one piece of work, and closes them. */
export async function withAccounts<T>(
  { config, databaseFolder, environment }: CommandOptions,
  work: (accounts: Accounts) => Promise<T>,
): Promise<T> {
  const accounts = await createAccounts({
    config,
    ...(databaseFolder === undefined ? {} : { databaseFolder }),
    environment,
    print: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    return await work(accounts);
  } finally {
    await accounts.close();
  }
}

/** The word at a place; `Failure('bad_request')` that shows the form of the command where it is missing. */
export function wordAt(words: readonly string[], index: number, form: string): string {
  const word = words[index];
  if (word === undefined || word === '') throw new Failure('bad_request', `use: quern accounts ${form}`);
  return word;
}
