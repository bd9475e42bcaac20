import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonOptions, readOptions } from '../gateway/daemon/options.js';
import { Outbound } from '../runtime/net/outbound.js';
import { Failure } from '../schemas/errors.js';
import { baseOf, keyHeaders } from './daemon-address.js';
import { StdioBridge } from './mcp-bridge.js';

const START_FLAG = '--start';
/** Flags of this command by what they are called in the query of `/mcp`; those that are true take a value. */
const SCOPE_FLAGS: Readonly<Record<string, { readonly query: string; readonly takesValue: boolean }>> = {
  '--project': { query: 'project', takesValue: true },
  '--tools': { query: 'tools', takesValue: true },
  '--read-only': { query: 'read_only', takesValue: false },
};
/** A daemon that runs answers this soon. */
const ANSWER_MS = 5_000;
/** A daemon that was just started answers this soon. */
const START_MS = 60_000;
const ASK_AGAIN_MS = 200;

/**
 * Serves MCP on standard input and output for clients that start their servers as commands: each message goes to `/mcp` of the running daemon.
 * `--start` starts a daemon where none runs; `--project namespace/name`, `--tools a,b` and `--read-only` say what the client is offered. Standard output carries the protocol only. Throws `unavailable` without a daemon.
 */
export async function serve(args: string[]): Promise<void> {
  const starts = args.includes(START_FLAG);
  const { query, given } = scopeIn(args.filter((arg) => arg !== START_FLAG));
  const options = readOptions(given, process.env);
  const base = baseOf(options.host, options.port);
  const outbound = new Outbound();
  try {
    if (!(await answers(outbound, base))) {
      if (!starts)
        throw new Failure('unavailable', `no daemon answers at ${base}: run "quern start" first, or add ${START_FLAG} to this command.`);
      await startDaemon(outbound, base, given);
    }
    await checkKey(outbound, base, options);
    const bridge = new StdioBridge({ outbound, url: `${base}/mcp${query}`, headers: keyHeaders(options), output: process.stdout });
    await bridge.run(process.stdin);
  } finally {
    await outbound.close();
  }
}

/** What the flags say of a scope, as a query; the other arguments are the daemon's. Throws `bad_request` for a flag without its value. */
function scopeIn(args: readonly string[]): { query: string; given: string[] } {
  const query = new URLSearchParams();
  const given: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const [flag = '', inline] = args[at]!.split(/=(.*)/s);
    const own = SCOPE_FLAGS[flag];
    if (!own) given.push(args[at]!);
    else if (!own.takesValue) query.set(own.query, 'true');
    else {
      if (inline === undefined) at += 1;
      const value = inline ?? args[at];
      if (value === undefined) throw new Failure('bad_request', `${flag} needs a value. Run "quern help" for the list.`);
      query.set(own.query, value);
    }
  }
  return { query: query.size > 0 ? `?${query}` : '', given };
}

async function answers(outbound: Outbound, base: string): Promise<boolean> {
  const limits = { headersMs: ANSWER_MS, totalMs: ANSWER_MS };
  try {
    const reply = await outbound.request({ url: `${base}/health/liveness`, policy: 'operator', limits });
    reply.discard();
    return reply.status === 200;
  } catch {
    return false;
  }
}

/** Says at the start what every message would be answered with. */
async function checkKey(outbound: Outbound, base: string, options: DaemonOptions): Promise<void> {
  const limits = { headersMs: ANSWER_MS, totalMs: ANSWER_MS };
  const reply = await outbound.request({ url: `${base}/info`, policy: 'operator', headers: keyHeaders(options), limits });
  const text = await reply.text();
  if (reply.status === 401 || reply.status === 403)
    throw new Failure('unauthorized', `the daemon at ${base} wants a key: give --api-key or QUERN_API_KEY.`);
  if (!text.includes('"data_directory"'))
    throw new Failure('unavailable', `what answers at ${base} is no Quern daemon; name its --host and --port.`);
}

/** Starts a daemon that outlives this process, and waits until it answers. */
async function startDaemon(outbound: Outbound, base: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'start', ...args], { detached: true, stdio: 'ignore' });
  child.unref();
  let code: number | null | undefined;
  child.once('error', () => (code = null));
  child.once('exit', (status) => (code = status));
  for (const until = Date.now() + START_MS; Date.now() < until; await sleep(ASK_AGAIN_MS)) {
    if (await answers(outbound, base)) return;
    if (code !== undefined) break;
  }
  throw new Failure('unavailable', `the daemon did not start at ${base}: run "quern start" to see why.`);
}
