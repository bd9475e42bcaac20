import { spawn, spawnSync } from 'node:child_process';
import { freePort } from '../test/support/ports.js';
import type { HttpPeerPlan } from './http-peer.js';
import { Lacking } from './lacking.js';
import { answers, ask, ended, median, part, quern, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
const SECONDS = 3;
const CONNECTIONS = 64;
const PATH = '/v1/projects/default';

interface Sample {
  rate: number[];
  p99Ms: number[];
}

/** One wrk run: requests per second and the 99th percentile in milliseconds. */
function wrk(port: number): Promise<{ rate: number; p99Ms: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '--latency', `http://127.0.0.1:${port}${PATH}`]);
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('error', reject);
    child.on('close', () => {
      const [, amount = 'NaN', unit = 'ms'] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
      if (/Non-2xx/.test(text)) return reject(new Error(`wrk saw failures: ${text}`));
      resolve({
        rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]),
        p99Ms: Number(amount) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'],
      });
    });
  });
}

/** Measures the project list against Fastify and raw uWebSockets.js serving the same bytes, and prints the table. */
export async function benchHttp(): Promise<void> {
  if (spawnSync('wrk', ['-v']).error) throw new Lacking('wrk', 'Debian: apt install wrk');
  const port = await freePort();
  const daemon = quern('start', port);
  await answers(`http://127.0.0.1:${port}${PATH}`);
  const body = await (await fetch(`http://127.0.0.1:${port}${PATH}`)).text();
  const servers: { name: string; port: number; sample: Sample }[] = [{ name: 'quern', port, sample: { rate: [], p99Ms: [] } }];
  const peers = [];
  for (const kind of ['fastify', 'uws'] as const) {
    const peerPort = await freePort();
    const child = part('http-peer');
    await ask<true>(child, { kind, port: peerPort, path: PATH, body } satisfies HttpPeerPlan);
    peers.push(child);
    servers.push({ name: kind, port: peerPort, sample: { rate: [], p99Ms: [] } });
  }
  for (let round = -1; round < ROUNDS; round++)
    for (const server of servers) {
      const { rate, p99Ms } = await wrk(server.port);
      if (round < 0) continue;
      server.sample.rate.push(rate);
      server.sample.p99Ms.push(p99Ms);
    }
  for (const peer of peers) peer.kill();
  await ended(daemon);
  const [ours, ...others] = servers;
  const rows: Row[] = others.flatMap(({ name, sample }) => [
    {
      what: `requests/s against ${name}`,
      ours: median(ours!.sample.rate).toFixed(0),
      peer: median(sample.rate).toFixed(0),
      ratio: `${(median(ours!.sample.rate) / median(sample.rate)).toFixed(2)}x`,
      goal: name === 'uws' ? '>= 0.7x' : '>= 4x',
    },
    {
      what: `p99 against ${name}, ms`,
      ours: median(ours!.sample.p99Ms).toFixed(2),
      peer: median(sample.p99Ms).toFixed(2),
      ratio: `${(median(ours!.sample.p99Ms) / median(sample.p99Ms)).toFixed(2)}x`,
      goal: '',
    },
  ]);
  table(
    `HTTP: GET ${PATH} (${Buffer.byteLength(body)} bytes), ${CONNECTIONS} connections, wrk -t1, medians of ${ROUNDS} interleaved ${SECONDS} s runs`,
    rows,
  );
}
