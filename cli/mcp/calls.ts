import { Failure } from '../../schemas/errors.js';
import type { DecisionReply, WaitingReply } from '../../schemas/generated/core/chat.js';
import { route, withDaemon } from '../daemon/client.js';
import { harmless } from '../output.js';
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
        for (const { message } of choices) call.out.line(`\n${harmless(message.content ?? '')}`);
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
