import { Outbound } from '../../runtime/net/outbound.js';
import { Failure } from '../../schemas/errors.js';
import { baseOf, keyHeaders, trustOf } from '../daemon/address.js';
import { startBehind } from '../daemon/background.js';
import { DaemonClient } from '../daemon/client.js';
import { type Call, type Run, textOf } from '../verb.js';
import { StdioBridge } from './bridge.js';

/**
 * Serves MCP on standard input and output for clients that start their servers as commands: each message goes to `/mcp` of the running daemon.
 * `--start` starts a daemon where none runs; `--project namespace/name`, `--tools a,b` and `--read-only` say what the client is offered. Standard
 * output carries the protocol only. Throws `unavailable` without a daemon.
 */
export const serve: Run = async (call) => {
  await requireDaemon(call);
  const { daemon } = call;
  const outbound = new Outbound(trustOf(daemon));
  const url = `${baseOf(daemon, 'core')}/mcp${scopeOf(call)}`;
  try {
    await new StdioBridge({ outbound, url, headers: keyHeaders(daemon), output: process.stdout }).run(process.stdin);
  } finally {
    await outbound.close();
  }
  return undefined;
};

/** Says at the start what every message would be answered with. */
async function requireDaemon(call: Call): Promise<void> {
  const daemon = new DaemonClient(call.daemon);
  const base = daemon.baseOf('core');
  try {
    if (!(await daemon.isThere())) {
      if (call.flags.start !== true)
        throw new Failure('unavailable', `no daemon answers at ${base}: run "quern start" first, or add --start to this command.`);
      await startBehind(call, daemon);
    }
    const facts = await (await daemon.reply('/info')).text();
    if (!facts.includes('"data_directory"'))
      throw new Failure('unavailable', `what answers at ${base} is no Quern daemon; name its --host and --port.`);
  } finally {
    await daemon.close();
  }
}

/** What the flags say of a scope, as a query. */
function scopeOf(call: Call): string {
  const query = new URLSearchParams();
  for (const name of ['project', 'tools']) {
    const value = textOf(call, name);
    if (value !== undefined) query.set(name, value);
  }
  if (call.flags['read-only'] === true) query.set('read_only', 'true');
  return query.size > 0 ? `?${query}` : '';
}
