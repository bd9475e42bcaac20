// What the tables of test/api/tools share: a project, scripted tools of servers, and a provider whose rounds a row sets.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../../runtime/chat/chat.js';
import type { CompletionPart, CompletionRequest } from '../../runtime/completions/contract.js';
import { openConversations } from '../../runtime/conversations/conversations.js';
import { Events } from '../../runtime/events/events.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore } from '../../runtime/store/store.js';
import { FINISH, ScriptedProvider, type Step } from '../unit/runtime/chat/scripted-provider.js';
import { type ScriptedTool, ScriptedTools } from './scripted-tools.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-tools-'));
export const provider = new ScriptedProvider();
export const tools = new ScriptedTools();

const MODEL = { name: 'm', provider: 'universal', model: 'file.gguf' };
const folder = join(dataDir, 'projects', 'ns', 'p');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'project.yaml'),
  JSON.stringify({
    version: 'v1',
    name: 'p',
    namespace: 'ns',
    runtime: {
      default_model: 'm',
      models: [
        MODEL,
        { ...MODEL, name: 'short', max_model_calls: 3 },
        { ...MODEL, name: 'bare', mcp_servers: [] },
        { ...MODEL, name: 'some', mcp_servers: ['desk'] },
      ],
    },
    mcp: { servers: [{ name: 'desk', transport: 'stdio', command: 'desk' }] },
  }),
);

/** The clock of the runtime, which a test sets forward. */
export const clock = { aheadMs: 0, wallMs: (): number => Date.now() + clock.aheadMs, steadyMs: (): number => performance.now() };

export async function openRuntime() {
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir, purges: false });
  const events = new Events({ store, projects });
  const providers = { compat_api: provider, local_runner: provider, local_accel: provider, universal: provider };
  const chat = new Chat({ projects, providers, providerOf, store, clock, events, tools });
  const conversations = openConversations(store, projects);
  const close = async (): Promise<void> => {
    await conversations.close();
    await chat.close();
    await events.close();
    await store.close();
  };
  return { projects, chat, conversations, events, close } as unknown as Runtime;
}

export const text = (value: string): Step => ({ type: 'text', text: value });
export const call = (name: string, args = '{}', index = 0, id = `call_${index}`): Step[] => [
  { type: 'tool_call', index, id, name, arguments: '' },
  { type: 'tool_call', index, arguments: args },
];
export const CALLS: CompletionPart = { ...FINISH, reason: 'tool_calls' } as CompletionPart;
export const ADDER: ScriptedTool = {
  readOnly: true,
  call: ({ a, b }) => String(Number(a) + Number(b)),
};
export const asked = (at = -1): CompletionRequest => provider.asked.at(at)!.request;

/** Sets the tools, and what the model says at each of its calls; the last stays. */
export function stage(toolset: Record<string, ScriptedTool>, ...rounds: (Step[] | ((request: CompletionRequest) => Step[]))[]): void {
  tools.tools = toolset;
  tools.notes = [];
  tools.calls.length = 0;
  tools.most = 0;
  provider.asked.length = 0;
  let at = 0;
  provider.say((request) => {
    const round = rounds[Math.min(at, rounds.length - 1)]!;
    at += 1;
    return typeof round === 'function' ? round(request) : round;
  });
}

export const POST = { method: 'POST', path: '/v1/projects/ns/p/chat/completions' } as const;
export const user = (content: string, more: object = {}): object => ({ messages: [{ role: 'user', content }], ...more });
export const prepared =
  (body: object, ...stageArgs: Parameters<typeof stage>) =>
  (): object => {
    stage(...stageArgs);
    return body;
  };
export const CLIENT_TOOL = { type: 'function', function: { name: 'lamp', parameters: { type: 'object' } } };
export const delta = (members: object, finish: string | null = null): Record<string, unknown> => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
});

export const ADDING: Parameters<typeof stage> = [
  { add: ADDER },
  [text('Let me see.'), ...call('add', '{"a":2,"b":3}'), CALLS],
  [text('It is 5.'), FINISH],
];

process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
