#!/usr/bin/env node
import { Failure } from '../schemas/errors.js';
import { accounts } from './accounts.js';
import { help } from './help.js';
import { mcp } from './mcp.js';
import { models } from './models.js';
import { pull } from './pull.js';
import { rm } from './rm.js';
import { runtime } from './runtime.js';
import { start } from './start.js';
import { version } from './version.js';

/** One command of the `quern` program; gets the arguments after its name. */
type Verb = (args: string[]) => Promise<void> | void;

const HELP = ['--help', '-h'];
const VERBS = { start, runtime, pull, models, rm, mcp, accounts, version, help } satisfies Record<string, Verb>;

const args = process.argv.slice(2);
const [first = 'start', ...rest] = args;
const isFlag = first.startsWith('-');
const name = first === '--version' ? 'version' : isFlag ? 'start' : first;
try {
  if (!Object.hasOwn(VERBS, name)) throw new Failure('bad_request', `unknown command "${name}": use ${Object.keys(VERBS).join(', ')}.`);
  if (args.some((arg) => HELP.includes(arg))) help();
  else await VERBS[name as keyof typeof VERBS](isFlag ? args : rest);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`quern: ${error.message}\n`);
  process.exitCode = 1;
}
