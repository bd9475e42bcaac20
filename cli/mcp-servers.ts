import { readOptions } from '../gateway/daemon/options.js';
import { Outbound } from '../runtime/net/outbound.js';
import { Failure } from '../schemas/errors.js';
import type { ProjectList } from '../schemas/generated/core/projects.js';
import type { Server, ServerList } from '../schemas/generated/core/tool-servers.js';
import { baseOf, keyHeaders } from './daemon-address.js';
import { printTable } from './table.js';

const DEFAULT_NAMESPACE = 'default';
const FINGERPRINT_SHOWN = 12;

/** Asks the running daemon for JSON. Throws `Failure` in the daemon's words, and `unavailable` where none answers. */
type Ask = <T>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

/** Prints the tool servers of a project, or of all projects of a namespace (`default` unless given), with their states. */
export function list(args: string[]): Promise<void> {
  return withDaemon(args, async (ask, [place = DEFAULT_NAMESPACE]) => {
    const [namespace = '', project] = place.split('/');
    const at = `/v1/projects/${encodeURIComponent(namespace)}`;
    const names = project === undefined ? (await ask<ProjectList>('GET', at)).projects.map(({ name }) => name) : [project];
    const rows: string[][] = [];
    for (const name of names) {
      const { servers } = await ask<ServerList>('GET', `${at}/${encodeURIComponent(name)}/mcp/servers`);
      for (const one of servers) {
        const state = one.approved ? one.state : 'waits for approval';
        const about = one.approved && one.reason !== null ? one.reason : `${one.tools.length} tools`;
        rows.push([`${namespace}/${name}/${one.name}`, state, about, one.fingerprint.slice(0, FINGERPRINT_SHOWN), one.target]);
      }
    }
    if (rows.length === 0) process.stdout.write(`no project of ${place} has tool servers\n`);
    else printTable([['SERVER', 'STATE', '', 'SETTINGS', 'WHAT IT RUNS OR CALLS'], ...rows]);
  });
}

/** Starts a tool server anew. */
export const restart = (args: string[]): Promise<void> => change(args, 'restart');

/** Shows what a tool server is and lets that run. */
export const approve = (args: string[]): Promise<void> => change(args, 'approve');

/** Ends a tool server and lets it run no more. */
export const revoke = (args: string[]): Promise<void> => change(args, 'revoke');

function change(args: string[], what: 'restart' | 'approve' | 'revoke'): Promise<void> {
  return withDaemon(args, async (ask, [place = '']) => {
    const [namespace, project, server, ...rest] = place.split('/');
    if (!namespace || !project || !server || rest.length > 0)
      throw new Failure('bad_request', `say which server: quern mcp ${what} NAMESPACE/PROJECT/SERVER.`);
    const at = `/v1/projects/${encodeURIComponent(namespace)}/${encodeURIComponent(project)}/mcp/servers`;
    const { servers } = await ask<ServerList>('GET', at);
    const found = servers.find(({ name }) => name === server);
    // What is approved is what is shown here, also where the settings change meanwhile.
    const query = what === 'approve' && found ? `?fingerprint=${found.fingerprint}` : '';
    if (found && what === 'approve') process.stdout.write(`${place} runs or calls: ${found.target}\n`);
    const { state, reason, tools } = await ask<Server>('POST', `${at}/${encodeURIComponent(server)}/${what}${query}`);
    process.stdout.write(`${place} is ${state}${reason === null ? `, with ${tools.length} tools` : `: ${reason}`}\n`);
  });
}

/** Works on the running daemon that the flags behind at most one name mean. */
export async function withDaemon(args: string[], work: (ask: Ask, names: readonly string[]) => Promise<void>): Promise<void> {
  // What comes before the first flag are names.
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'));
  const names = firstFlag < 0 ? args : args.slice(0, firstFlag);
  if (names.length > 1) throw new Failure('bad_request', `one name is enough, not "${names.join(' ')}".`);
  const options = readOptions(args.slice(names.length), process.env);
  const base = baseOf(options.host, options.port);
  const outbound = new Outbound();
  const ask: Ask = async (method, path, body) => {
    const headers = { accept: 'application/json', ...keyHeaders(options), ...(body ? { 'content-type': 'application/json' } : {}) };
    const sent = body ? { body: JSON.stringify(body) } : {};
    const reply = await outbound
      .request({ url: `${base}${path}`, policy: 'operator', method, headers, ...sent })
      .catch((cause: unknown) => {
        throw new Failure('unavailable', `no daemon answers at ${base}: run "quern start" first, or name its --host and --port.`, {
          cause,
        });
      });
    const answer = JSON.parse(await reply.text()) as { detail?: unknown };
    if (reply.status >= 300) throw new Failure('unavailable', String(answer.detail));
    return answer as never;
  };
  try {
    await work(ask, names);
  } finally {
    await outbound.close();
  }
}
