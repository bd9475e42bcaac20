import { Failure } from '../../schemas/errors.js';
import type { DecisionReply, WaitingReply } from '../../schemas/generated/core/chat.js';
import type { ProjectList } from '../../schemas/generated/core/projects.js';
import type { Server, ServerList } from '../../schemas/generated/core/tool-servers.js';
import { type DaemonClient, route, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import type { Call, Outcome, Run } from '../verb.js';

/** Lists the calls of tools that wait for a person in a project. */
export const calls: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [place = ''] = call.words;
    const { at } = placeOf(place, 2, 'quern mcp calls NAMESPACE/PROJECT');
    const waiting = (await daemon.ask<WaitingReply>(`${at}/mcp/calls`)).calls;
    return {
      result: waiting,
      show: () => {
        if (waiting.length === 0) return call.out.line(`no call waits in ${place}`);
        const rows = waiting.map((one) => [`${place}/${one.id}`, one.expires_at, `${one.server}/${one.tool}`, one.arguments]);
        return call.out.table(['CALL', 'UNTIL', 'TOOL', 'ARGUMENTS'], rows);
      },
    };
  });

/** Lets a call that waits be made. */
export const allow: Run = (call) => decide(call, 'allow');

/** Refuses a call that waits. */
export const deny: Run = (call) => decide(call, 'deny');

function decide(call: Call, decision: 'allow' | 'deny'): Promise<Outcome> {
  return withDaemon(call, async (daemon) => {
    const { at, id } = placeOf(call.words[0] ?? '', 3, `quern mcp ${decision} NAMESPACE/PROJECT/CALL`);
    const reply = await daemon.ask<DecisionReply>(`${at}/mcp/calls${route`/${id}`}`, { json: { decision } });
    const { choices = [] } = (reply.completion ?? {}) as { choices?: { message: { content: string | null } }[] };
    return {
      result: reply,
      show: () => {
        const more = reply.waiting.length > 0 ? `, and ${reply.waiting.length} more wait in the same answer` : '';
        call.out.line(`${decision === 'allow' ? 'allowed' : 'denied'}${more}`);
        for (const { message } of choices) call.out.line(`\n${withoutControls(message.content ?? '')}`);
      },
    };
  });
}

function placeOf(place: string, parts: 2 | 3, usage: string): { at: string; id: string } {
  const [namespace = '', project = '', id = '', ...rest] = place.split('/');
  const given = [namespace, project, ...(parts === 3 ? [id] : [])];
  if (given.some((part) => part === '') || rest.length > 0 || (parts === 2 && id !== ''))
    throw new Failure('bad_request', `say which: ${usage}.`);
  return { at: route`/v1/projects/${namespace}/${project}`, id };
}

const DEFAULT_NAMESPACE = 'default';
const FINGERPRINT_SHOWN = 12;

/** Lists the tool servers of a project, or of all projects of a namespace (`default` unless given), with their states. */
export const list: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { out, words } = call;
    const [place = DEFAULT_NAMESPACE] = words;
    const [namespace = '', project] = place.split('/');
    const names =
      project === undefined
        ? (await daemon.ask<ProjectList>(route`/v1/projects/${namespace}`)).projects.map(({ name }) => name)
        : [project];
    const found: (Server & { project: string })[] = [];
    for (const name of names) {
      const { servers } = await daemon.ask<ServerList>(route`/v1/projects/${namespace}/${name}/mcp/servers`);
      found.push(...servers.map((server) => ({ project: `${namespace}/${name}`, ...server })));
    }
    const row = (one: Server & { project: string }): string[] => {
      const state = one.approved ? one.state : 'waits for approval';
      const about = one.approved && one.reason !== null ? one.reason : `${one.tools.length} tools`;
      return [`${one.project}/${one.name}`, state, about, one.fingerprint.slice(0, FINGERPRINT_SHOWN), one.target];
    };
    return {
      result: found,
      show: () => {
        if (found.length === 0) out.line(`no project of ${place} has tool servers`);
        else out.table(['SERVER', 'STATE', '', 'SETTINGS', 'WHAT IT RUNS OR CALLS'], found.map(row));
      },
    };
  });

/** Starts a tool server anew. */
export const restart: Run = (call) => change(call, 'restart');

/** Shows what a tool server is and lets that run. */
export const approve: Run = (call) => change(call, 'approve');

/** Ends a tool server and lets it run no more. */
export const revoke: Run = (call) => change(call, 'revoke');

function change(call: Call, what: 'restart' | 'approve' | 'revoke'): Promise<Outcome> {
  return withDaemon(call, async (daemon: DaemonClient) => {
    const { out, words } = call;
    const [place = ''] = words;
    const [namespace, project, name, ...rest] = place.split('/');
    if (!namespace || !project || !name || rest.length > 0)
      throw new Failure('bad_request', `say which server: quern mcp ${what} NAMESPACE/PROJECT/SERVER.`);
    const at = route`/v1/projects/${namespace}/${project}/mcp/servers`;
    const { servers } = await daemon.ask<ServerList>(at);
    const found = servers.find((server) => server.name === name);
    // What is approved is what is shown here, also where the settings change meanwhile.
    const query = what === 'approve' && found ? `?fingerprint=${found.fingerprint}` : '';
    if (found && what === 'approve') out.line(`${place} runs or calls: ${found.target}`);
    const server = await daemon.ask<Server>(`${at}${route`/${name}/${what}`}${query}`, { method: 'POST' });
    const { state, reason, tools } = server;
    return {
      result: server,
      show: () => out.line(`${place} is ${state}${reason === null ? `, with ${tools.length} tools` : `: ${reason}`}`),
    };
  });
}
