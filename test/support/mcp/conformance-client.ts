import { Connection, type Tool } from '../../../runtime/mcp/connection.js';
import { Outbound } from '../../../runtime/net/outbound.js';

/** What a scenario of the suite tells its client. */
interface Scenario {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: Record<string, unknown> }[];
}

/** Arguments that fit a schema well enough for servers of a test. */
function argumentsFor({ inputSchema }: Tool): Record<string, unknown> {
  const samples: Readonly<Record<string, unknown>> = { string: 'text', number: 5, integer: 3, boolean: true, array: [], object: {} };
  const members = Object.entries((inputSchema.properties ?? {}) as Record<string, { type?: string }>);
  return Object.fromEntries(members.map(([name, { type = 'string' }]) => [name, samples[type]]));
}

// A program: does at the address that it is given what projects do with a server, by the code that they do it with.
const url = process.argv.at(-1)!;
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Scenario;
const outbound = new Outbound();
const { signal } = new AbortController();
const connection = await Connection.open(
  { name: 'suite', transport: 'http', base_url: url },
  process.cwd(),
  { outbound, version: '0.0.0' },
  { toolsChanged: () => undefined, lost: () => undefined },
  signal,
);
const tools = await connection.tools();
for (const { name, arguments: given } of toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) })))
  await connection.call(name, given ?? {}, { signal }).catch((error: unknown) => process.stderr.write(`${name}: ${error}\n`));
await connection.close();
await outbound.close();
