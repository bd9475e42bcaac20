import { createServer } from 'node:http';
import { freePort } from '../test/support/ports.js';
import { answers, ended, median, quern, type Row, table } from './measure.js';

const POINTS = [2, 200, 2000];
/** Turns around a point whose median counts. */
const WINDOW = 15;

/** A chat host that answers at once, so that only our own cost per turn is seen. */
async function instantHost(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\ndata: [DONE]\n\n',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`, close: () => server.close() };
}

/** Measures what one turn costs late in a long session, and prints the table. */
export async function benchTurns(): Promise<void> {
  const host = await instantHost();
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const daemon = quern('start', port);
  await answers(`${base}/health`);
  const json = (method: string, path: string, body: unknown) =>
    fetch(base + path, { method, headers: { 'content-type': 'application/json', 'x-session-id': 'bench' }, body: JSON.stringify(body) });
  await json('POST', '/v1/projects/bench', { name: 'turns', config_template: 'server' });
  const config = {
    version: 'v1',
    name: 'turns',
    namespace: 'bench',
    runtime: { models: [{ name: 'instant', provider: 'compat_api', model: 'instant', base_url: host.url }] },
  };
  const put = await json('PUT', '/v1/projects/bench/turns', { config });
  if (!put.ok) throw new Error(await put.text());
  const costMs: number[] = [];
  for (let turn = 1; turn <= Math.max(...POINTS) + WINDOW; turn++) {
    const started = performance.now();
    const reply = await json('POST', '/v1/projects/bench/turns/chat/completions', {
      messages: [{ role: 'user', content: `Question ${turn}: is this turn as cheap as the first?` }],
    });
    await reply.text();
    if (!reply.ok) throw new Error(`turn ${turn}: status ${reply.status}`);
    costMs[turn] = performance.now() - started;
  }
  await ended(daemon);
  host.close();
  const at = (turn: number): number => median(costMs.slice(turn, turn + WINDOW));
  table(
    'Cost of a turn in one session (the host answers at once; sending the whole history to it is part of the cost)',
    POINTS.map(
      (turn): Row => ({
        what: `turn ${turn}, ms`,
        ours: at(turn).toFixed(2),
        peer: '',
        ratio: `${(at(turn) / at(POINTS[0]!)).toFixed(2)}x of turn ${POINTS[0]}`,
        goal: '',
      }),
    ),
  );
}
