import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDataDir } from '../test/support/daemon.js';
import { writeProject } from '../test/support/dataset-stage.js';
import { writeTinyEncoders } from '../test/support/models/tiny-encoders.js';
import { freePort } from '../test/support/ports.js';
import { RETRIEVAL_PROJECT, RetrievalClient } from '../test/support/retrieval-client.js';
import { proseOf, randomOf } from '../test/support/retrieval-corpus.js';
import { takeIn } from './library.js';
import { answers, ask, ended, type LoopDelay, median, part, quern, type Row, table } from './measure.js';
import { sampleTree, slopeOf, type TreeSample } from './process-tree.js';
import { sizeOf } from './size.js';
import { type Kind, type Sender, soakKinds } from './soak-requests.js';

/** Length of the run; `BENCH_SOAK_MIN=30` is the full one. */
const MINUTES = sizeOf('BENCH_SOAK_MIN', 1, 0.25);
const CLIENTS = Number(process.env.BENCH_SOAK_CLIENTS ?? 6);
/** The kinds of requests that are sent, by name, with commas between; all when it is missing. */
const ONLY = process.env.BENCH_SOAK_KINDS?.split(',');
const SAMPLE_MS = 5000;
/** One of so many clients leaves before its answer is there. */
const VANISHING = 7;
/** Longest time, in milliseconds, after which such a client leaves. */
const VANISH_MS = 300;
/** The model that is downloaded over and over, and its size. */
const REMOTE_MODEL = 'bench/soak';
const REMOTE_BYTES = 48 * 2 ** 20;
/** Share of the run that is not counted, while engines are loaded and caches fill. */
const WARM_UP_SHARE = 1 / 3;

/** What clients saw. */
class Seen {
  readonly sent = new Map<string, number>();
  readonly failures = new Map<string, number>();
  vanished = 0;
  example = '';

  count(map: Map<string, number>, name: string): void {
    map.set(name, (map.get(name) ?? 0) + 1);
  }
}

/** Sends the requests of one act; a vanishing client leaves in the middle of whichever runs then. */
function senderOf(kind: Kind, seen: Seen, signal: AbortSignal): Sender {
  const failed = (what: string, said: string): void => {
    seen.count(seen.failures, `${kind.name} ${what}`);
    seen.example ||= `${kind.name} ${what}: ${said.slice(0, 300)}`;
  };
  return {
    failed: (said) => failed('in its events', said.slice(-300)),
    async send(url, init = {}) {
      seen.count(seen.sent, kind.name);
      try {
        const response = await fetch(url, { ...init, signal });
        const text = await response.text();
        if (!response.ok) failed(String(response.status), text);
        return response.ok ? text : undefined;
      } catch (error) {
        if (signal.aborted) seen.vanished += 1;
        else seen.count(seen.failures, `${kind.name} ${(error as { cause?: { code?: string } }).cause?.code ?? String(error)}`);
        return undefined;
      }
    },
  };
}

async function client(kinds: readonly Kind[], index: number, until: number, seen: Seen): Promise<void> {
  const random = randomOf(index + 1);
  const deck = kinds.flatMap((kind) => Array.from({ length: kind.share }, () => kind));
  for (let number = index; performance.now() < until; number += CLIENTS) {
    const kind = deck[Math.floor(random() * deck.length)]!;
    const control = new AbortController();
    const timer = random() * VANISHING < 1 ? setTimeout(() => control.abort(), random() * VANISH_MS) : undefined;
    await kind.act(senderOf(kind, seen, control.signal), number);
    clearTimeout(timer);
  }
}

async function sampled(pid: number, until: number): Promise<{ at: number; tree: TreeSample }[]> {
  const samples: { at: number; tree: TreeSample }[] = [];
  while (performance.now() < until) {
    samples.push({ at: performance.now() / 60_000, tree: sampleTree(pid) });
    await sleep(SAMPLE_MS);
  }
  return samples;
}

/** Lets clients of every kind come, and some of them go too soon, for `BENCH_SOAK_MIN` minutes; shows whether memory and handles stay flat. */
export async function benchSoak(): Promise<void> {
  const dataDir = emptyDataDir();
  writeTinyEncoders(join(dataDir, 'models'));
  writeProject(dataDir, 'ns', 'p', RETRIEVAL_PROJECT);
  const [port, runtimePort] = [await freePort(), await freePort()];
  const hub = part('hub-peer');
  const { url } = await ask<{ url: string }>(hub, { sizeBytes: REMOTE_BYTES, repository: REMOTE_MODEL });
  Object.assign(process.env, { HF_ENDPOINT: url, HF_HUB_CACHE: join(dataDir, 'hub') });
  const daemon = quern('start', port, dataDir, true, runtimePort);
  const addresses = { core: `http://127.0.0.1:${port}`, runtime: `http://127.0.0.1:${runtimePort}`, remoteModel: REMOTE_MODEL };
  for (const address of [addresses.core, addresses.runtime]) await answers(`${address}/health`);
  await takeIn(new RetrievalClient(addresses.core), [['base.txt', proseOf(randomOf(9), 100_000)]]);
  const kinds = (await soakKinds(addresses)).filter(({ name }) => !ONLY || ONLY.includes(name));
  const seen = new Seen();
  const until = performance.now() + MINUTES * 60_000;
  const sampling = sampled(daemon.pid!, until);
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(kinds, index, until, seen)));
  await sleep(MINUTES * 60_000 * WARM_UP_SHARE);
  const liveBefore = await ask<number>(daemon, { probe: 'live' });
  await ask(daemon, { probe: 'reset' });
  const samples = await sampling;
  await clients;
  const delay = await ask<LoopDelay>(daemon, { probe: 'read' });
  await sleep(1000);
  const live: Live = [liveBefore, await ask<number>(daemon, { probe: 'live' })];
  const after = sampleTree(daemon.pid!);
  await ended(daemon);
  hub.kill();
  report(samples.slice(Math.floor(samples.length * WARM_UP_SHARE)), after, live, delay, seen);
}

/** Of the processes that lived through all samples: what belongs to no file, its median and its slope. */
function children(samples: readonly { at: number; tree: TreeSample }[]): [name: string, values: string][] {
  const throughout = [...samples[0]!.tree.children.keys()].filter((name) => samples.every(({ tree }) => tree.children.has(name)));
  return throughout.map((name) => {
    const points = samples.map(({ at, tree }) => ({ at, value: tree.children.get(name)! }));
    return [name.split(' ')[0]!, `${median(points.map(({ value }) => value)).toFixed(0)}; ${slopeOf(points).toFixed(2)}`];
  });
}

/** What lives in the daemon's heap after warming up and after the last request, in MB. */
type Live = readonly [before: number, after: number];

function report(steady: readonly { at: number; tree: TreeSample }[], after: TreeSample, live: Live, delay: LoopDelay, seen: Seen): void {
  const row = (what: string, ours: string | number, goal = ''): Row => ({ what, ours: String(ours), peer: '', ratio: '', goal });
  const slope = (of: (tree: TreeSample) => number): string => slopeOf(steady.map(({ at, tree }) => ({ at, value: of(tree) }))).toFixed(2);
  const middle = (of: (tree: TreeSample) => number): string => median(steady.map(({ tree }) => of(tree))).toFixed(0);
  const listed = (map: Map<string, number>): string => [...map].map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
  table(`${MINUTES} minutes of mixed requests from ${CLIENTS} clients, one of ${VANISHING} vanishing; figures of the last two thirds`, [
    row('requests', listed(seen.sent)),
    row('left by their client', seen.vanished),
    row(`failures${seen.example ? ` (first: ${seen.example.replaceAll('|', '/')})` : ''}`, listed(seen.failures), 'none'),
    row(
      'memory of the process tree, median, MB',
      middle(({ rssMb }) => rssMb),
    ),
    row(
      'its slope, MB/min',
      slope(({ rssMb }) => rssMb),
      'near 0',
    ),
    row(
      'memory of the daemon alone, median, MB',
      middle(({ ownMb }) => ownMb),
    ),
    row(
      'slope of the daemon alone, MB/min',
      slope(({ ownMb }) => ownMb),
      'near 0',
    ),
    row(
      'of it what belongs to no file',
      slope(({ ownAnonymousMb }) => ownAnonymousMb),
      'near 0',
    ),
    ...children(steady).map(([name, values]) => row(`host ${name}, what belongs to no file, median, MB; slope, MB/min`, values, 'near 0')),
    row('what lives in the heap of the daemon after the first third / the last request, MB', live.map((mb) => mb.toFixed(1)).join(' / ')),
    row(
      'processes, median',
      middle(({ processes }) => processes),
    ),
    row('open files and sockets of the daemon, median / after the last request', `${middle(({ handles }) => handles)} / ${after.handles}`),
    row(
      'their slope, 1/min',
      slope(({ handles }) => handles),
      'near 0',
    ),
    row('p99 of the processor time between two turns of the event loop, ms', delay.ownP99Ms.toFixed(2), '<= 5'),
    row(
      'delay of the event loop p50 / p99 / max, ms',
      [delay.p50Ms, delay.p99Ms, delay.maxMs].map((ms) => ms.toFixed(2)).join(' / '),
      'p99 <= 5',
    ),
  ]);
}
