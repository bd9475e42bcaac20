/**
 * An MCP server over standard streams that behaves as its first argument says, mostly badly. Beside its own tricks it has the tools `echo`
 * (says its `text`), `env` (says its environment), `pid` and `pids` (its process and those that it started).
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Call = { readonly name: string; readonly arguments?: Record<string, unknown>; readonly _meta?: { readonly progressToken?: unknown } };

const mode = process.argv[2] ?? 'good';
const say = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Tool ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });
const children: number[] = [];
let tools = ['echo', 'env', 'pid', 'pids', 'wait', 'die', 'big', 'bigger', 'flood', 'change', 'fail', 'cancelled'].map((name) =>
  tool(name),
);
let cancelled = 0;

if (mode === 'exits') {
  process.stderr.write('The licence has expired.\n');
  process.exit(3);
}
if (mode === 'garbage') process.stdout.write(`no JSON\n{"half":\n[1,2]\n\u0000\u0001\n${'x'.repeat(100_000)}\n`);
const flood = (line: string): void => void process.stdout.write(`${line}\n`.repeat(64), () => flood(line));
if (mode === 'floods') flood('y'.repeat(1_000));
if (mode === 'forks') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child.pid!);
  if (process.env.PIDS) writeFileSync(process.env.PIDS, JSON.stringify([process.pid, ...children]));
}

const CALLS: Readonly<Record<string, (call: Call, id: unknown) => object | undefined | Promise<object | undefined>>> = {
  echo: ({ arguments: args }) => text(String(args?.text ?? '')),
  env: () => text(JSON.stringify(process.env)),
  pid: () => text(String(process.pid)),
  pids: () => text(JSON.stringify([process.pid, ...children])),
  wait: async ({ arguments: args, _meta }) => {
    const steps = Number(args?.steps ?? 1);
    for (let step = 1; step <= steps; step += 1) {
      await new Promise((resolve) => setTimeout(resolve, Number(args?.stepMs ?? 50)));
      if (_meta?.progressToken !== undefined) {
        say({
          method: 'notifications/progress',
          params: { progressToken: _meta.progressToken, progress: step, total: steps, message: `step ${step}` },
        });
      }
    }
    return text('waited');
  },
  die: () => process.exit(9),
  big: () => text('z'.repeat(1_000_000)),
  bigger: () => text('z'.repeat(10_000_000)),
  flood: () => {
    flood(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'w'.repeat(10_000) } }));
    return new Promise<never>(() => {});
  },
  change: () => {
    tools = [tool('echo'), tool('born')];
    say({ method: 'notifications/tools/list_changed' });
    return text('changed');
  },
  fail: () => ({ ...text('It did not work.'), isError: true }),
  cancelled: () => text(String(cancelled)),
};

async function answer(method: string, params: Record<string, unknown> | undefined, id: unknown): Promise<void> {
  if (mode === 'hangs' || mode === 'floods') return;
  if (method === 'notifications/cancelled') cancelled += 1;
  if (id === undefined) return;
  if (method === 'initialize') {
    say({
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'scripted', version: '1' },
      },
    });
  } else if (method === 'tools/list') {
    say({ id, result: { tools } });
  } else if (method === 'tools/call') {
    const call = params as unknown as Call;
    const result = await CALLS[call.name]?.(call, id);
    if (result) say({ id, result });
    else say({ id, error: { code: -32_602, message: `Unknown tool ${call.name}` } });
  } else if (mode === 'old') {
    process.exit(1);
  } else {
    say({ id, error: { code: -32_601, message: 'Method not found' } });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { method, params, id } = JSON.parse(line) as { method?: string; params?: Record<string, unknown>; id?: unknown };
  if (method !== undefined) void answer(method, params, id);
});
// One that does not end when its input does.
if (mode === 'stays' || mode === 'forks') setInterval(() => {}, 1_000);
