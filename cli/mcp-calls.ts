import { Failure } from '../schemas/errors.js';
import type { DecisionReply, WaitingReply } from '../schemas/generated/core/chat.js';
import { withDaemon } from './mcp-servers.js';
import { printTable } from './table.js';

/** Prints the calls of tools that wait for a person in a project. */
export function calls(args: string[]): Promise<void> {
  return withDaemon(args, async (ask, [place = '']) => {
    const { at } = placeOf(place, 2, 'quern mcp calls NAMESPACE/PROJECT');
    const waiting = (await ask<WaitingReply>('GET', `${at}/mcp/calls`)).calls;
    if (waiting.length === 0) process.stdout.write(`no call waits in ${place}\n`);
    else
      printTable([
        ['CALL', 'UNTIL', 'TOOL', 'ARGUMENTS'],
        ...waiting.map((call) => [`${place}/${call.id}`, call.expires_at, `${call.server}/${call.tool}`, call.arguments]),
      ]);
  });
}

/** Lets a call that waits be made. */
export const allow = (args: string[]): Promise<void> => decide(args, 'allow');

/** Refuses a call that waits. */
export const deny = (args: string[]): Promise<void> => decide(args, 'deny');

function decide(args: string[], decision: 'allow' | 'deny'): Promise<void> {
  return withDaemon(args, async (ask, [place = '']) => {
    const { at, id } = placeOf(place, 3, `quern mcp ${decision} NAMESPACE/PROJECT/CALL`);
    const { waiting, completion } = await ask<DecisionReply>('POST', `${at}/mcp/calls/${encodeURIComponent(id)}`, { decision });
    const { choices = [] } = (completion ?? {}) as { choices?: { message: { content: string | null } }[] };
    const more = waiting.length > 0 ? `, and ${waiting.length} more wait in the same answer` : '';
    process.stdout.write(`${decision === 'allow' ? 'allowed' : 'denied'}${more}\n`);
    for (const { message } of choices) process.stdout.write(`\n${(message.content ?? '').replaceAll(/[^\P{Cc}\n\t]/gu, '')}\n`);
  });
}

function placeOf(place: string, parts: 2 | 3, usage: string): { at: string; id: string } {
  const [namespace = '', project = '', id = '', ...rest] = place.split('/');
  const given = [namespace, project, ...(parts === 3 ? [id] : [])];
  if (given.some((part) => part === '') || rest.length > 0 || (parts === 2 && id !== ''))
    throw new Failure('bad_request', `say which: ${usage}.`);
  return { at: `/v1/projects/${encodeURIComponent(namespace)}/${encodeURIComponent(project)}`, id };
}
