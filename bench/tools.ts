import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startDaemon } from '../test/support/daemon.js';
import { quantile, type Row, table } from './measure.js';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const TURNS = process.argv.includes('--quick') ? 50 : 300;
const WARM_UP = 20;
const TEXT = 'Is a call as cheap as it can be?';

interface Asked {
  model: string;
  messages: { role: string }[];
  tools?: { function: { name: string } }[];
}

/** A chat host that answers at once: it calls a tool first, of the server or one that nobody has, and then says a word. */
async function callingHost(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const { model, messages, tools = [] } = JSON.parse(body) as Asked;
      const name = model === 'calls' ? tools.find((tool) => tool.function.name.includes('echo'))!.function.name : 'nothing';
      const call = { index: 0, id: 'call_1', function: { name, arguments: JSON.stringify({ message: TEXT }) } };
      const calls = model !== 'plain' && messages.at(-1)!.role !== 'tool';
      const choice = {
        index: 0,
        delta: calls ? { tool_calls: [call] } : { content: 'Yes.' },
        finish_reason: calls ? 'tool_calls' : 'stop',
      };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ choices: [choice], usage })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`, close: () => server.close() };
}

/** The server alone, asked by lines of JSON and nothing else: what a call takes at least. */
async function bareServer(): Promise<{ call(): Promise<void>; close(): void }> {
  const child = spawn(process.execPath, [EVERYTHING, 'stdio'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => waiting.get((JSON.parse(line) as { id?: number }).id ?? -1)?.());
  let id = 0;
  const ask = (method: string, params: object): Promise<void> => {
    id += 1;
    const answered = new Promise<void>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answered;
  };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '0' } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return { call: () => ask('tools/call', { name: 'echo', arguments: { message: TEXT } }), close: () => child.kill('SIGKILL') };
}

/** Measures what one call of a tool adds to a turn, over the time of its server, and prints the table. */
export async function benchTools(): Promise<void> {
  const host = await callingHost();
  const server = await bareServer();
  const daemon = await startDaemon();
  const folder = join(daemon.dataDir, 'projects', 'bench', 'tools');
  mkdirSync(folder, { recursive: true });
  const model = (name: string) => ({ name, provider: 'compat_api', model: name, base_url: host.url });
  const config = {
    version: 'v1',
    name: 'tools',
    namespace: 'bench',
    runtime: { models: ['plain', 'asks', 'calls'].map(model) },
    mcp: { servers: [{ name: 'everything', transport: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'] }] },
  };
  writeFileSync(join(folder, 'project.yaml'), JSON.stringify(config));
  const madeMs: number[] = [];
  const turn = async (name: string): Promise<void> => {
    const reply = await fetch(`${daemon.core}/v1/projects/bench/tools/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-no-session': '1' },
      body: JSON.stringify({ model: name, messages: [{ role: 'user', content: 'Go.' }] }),
    });
    const body = (await reply.json()) as { x_tool_calls?: { failed: boolean; duration_ms: number }[] };
    if (!reply.ok || body.x_tool_calls?.[0]?.failed === (name === 'calls'))
      throw new Error(`${name}: ${JSON.stringify(body).slice(0, 500)}`);
    if (name === 'calls') madeMs.push(body.x_tool_calls![0]!.duration_ms);
  };
  const ways: Record<string, () => Promise<unknown>> = {
    plain: () => turn('plain'),
    asks: () => turn('asks'),
    calls: () => turn('calls'),
    server: () => server.call(),
  };
  const costMs: Record<string, number[]> = { plain: [], asks: [], calls: [], server: [] };
  // Interleaved, so that what else the machine does falls on all of them.
  for (let round = 0; round < TURNS + WARM_UP; round += 1)
    for (const [way, run] of Object.entries(ways)) {
      const started = performance.now();
      await run();
      if (round >= WARM_UP) costMs[way]!.push(performance.now() - started);
    }
  await daemon.end();
  server.close();
  host.close();
  const at = (way: string, fraction: number): number => quantile(costMs[way]!, fraction);
  const row = (what: string, cost: (fraction: number) => number, more: Partial<Row> = {}): Row => ({
    what,
    ours: [0.1, 0.5].map((fraction) => cost(fraction).toFixed(2)).join(' / '),
    peer: '',
    ratio: '',
    goal: '',
    ...more,
  });
  const call = (fraction: number): number => quantile(madeMs.slice(WARM_UP), fraction);
  table(
    `A call of a tool in a turn, ms, p10 / median of ${TURNS} (server-everything over stdio; the host answers at once; peer: the server alone)`,
    [
      row('a turn of one model call', (fraction) => at('plain', fraction)),
      row('a turn of two model calls, whose tool nobody has', (fraction) => at('asks', fraction)),
      row('a turn of two model calls and a call of the server', (fraction) => at('calls', fraction)),
      row('of these the call, from the answer that makes it to its result', call, {
        peer: [0.1, 0.5].map((fraction) => at('server', fraction).toFixed(2)).join(' / '),
      }),
      row('over the time of the server', (fraction) => call(fraction) - at('server', fraction), { goal: '<= 2' }),
    ],
  );
}
