import { Failure } from '../schemas/errors.js';
import { serve } from './mcp-serve.js';

/** What stands after `quern mcp`; gets the arguments after its own name. */
const VERBS = { serve } satisfies Record<string, (args: string[]) => Promise<void>>;

/** The Model Context Protocol on the command line. Throws `bad_request` for an unknown verb. */
export async function mcp([verb = '', ...args]: string[]): Promise<void> {
  if (Object.hasOwn(VERBS, verb)) return VERBS[verb as keyof typeof VERBS](args);
  const known = Object.keys(VERBS).join(', ');
  throw new Failure('bad_request', `${verb === '' ? 'say what to do' : `unknown command "mcp ${verb}"`}: quern mcp ${known}.`);
}
