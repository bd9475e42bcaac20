import { Failure } from '../schemas/errors.js';
import { allow, calls, deny } from './mcp-calls.js';
import { serve } from './mcp-serve.js';
import { approve, list, restart, revoke } from './mcp-servers.js';

/** What stands after `quern mcp`; gets the arguments after its own name. */
const VERBS = { list, restart, approve, revoke, calls, allow, deny, serve } satisfies Record<string, (args: string[]) => Promise<void>>;

/** The Model Context Protocol on the command line; lists the tool servers where nothing is said. Throws `bad_request` for an unknown verb. */
export async function mcp(given: string[]): Promise<void> {
  const [verb = 'list', ...args] = given[0]?.startsWith('-') ? ['list', ...given] : given;
  if (Object.hasOwn(VERBS, verb)) return VERBS[verb as keyof typeof VERBS](args);
  const known = Object.keys(VERBS).join(', ');
  throw new Failure('bad_request', `unknown command "mcp ${verb}": use ${known}.`);
}
