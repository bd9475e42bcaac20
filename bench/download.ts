import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hub } from '../runtime/models/fetch/hub.js';
import { hubSettings } from '../runtime/models/fetch/settings.js';
import { Digest } from '../runtime/models/fetch/unfinished-file.js';
import { Outbound } from '../runtime/net/outbound.js';
import type { HubPlan } from './hub-peer.js';
import { Lacking } from './lacking.js';
import { ask, median, part, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** Size of the file; `BENCH_DOWNLOAD_MB=2048` is the full run. */
const SIZE_BYTES = sizeOf('BENCH_DOWNLOAD_MB', 256, 32) * 2 ** 20;
const ROUNDS = 3;
const REPOSITORY = 'bench/download';
/** The bytes a second of a line of 1 Gbit/s. */
const LINE_BYTES_PER_S = 125_000_000;

const seconds = async (act: () => unknown): Promise<number> => {
  const started = performance.now();
  await act();
  return (performance.now() - started) / 1000;
};

function program(command: string, ...parameters: string[]): void {
  const { status, stderr, error } = spawnSync(command, parameters);
  if (error) throw new Lacking(command, `Debian: apt install ${command === 'sha256sum' ? 'coreutils' : command}`);
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${String(stderr)}`);
}

/** One download into an empty cache, from the listing to the checked and renamed file. */
async function ours(url: string, folder: string): Promise<void> {
  const outbound = new Outbound();
  const hub = new Hub(outbound, hubSettings({ HF_ENDPOINT: url, HF_HUB_CACHE: folder, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }));
  const { signal } = new AbortController();
  for await (const event of hub.download(await hub.plan(REPOSITORY, signal), signal)) {
    if (event.event === 'error') throw new Error(event.message);
  }
  await outbound.close();
}

/** The digest alone, of a file that the system has in memory: no download that checks can be faster. */
async function hashed(file: string): Promise<void> {
  const digest = new Digest({ path: file, kind: 'sha256', sizeBytes: SIZE_BYTES });
  digest.readable(SIZE_BYTES);
  await digest.hex();
  await digest.close();
}

/** Seconds of each way to the file, one per round. */
type Times = Record<'own' | 'served' | 'curl' | 'checked' | 'hash', number[]>;

/** Every way in turn, `ROUNDS` times, from a server of its own. */
async function timed(plan: HubPlan): Promise<Times> {
  const server = part('hub-peer');
  const { url, commit } = await ask<{ url: string; commit: string }>(server, plan);
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-download-'));
  const file = join(folder, 'file');
  const fetched = (to: string): void => program('curl', '-sfL', '-o', to, `${url}/${REPOSITORY}/resolve/${commit}/model.gguf`);
  const times: Times = { own: [], served: [], curl: [], checked: [], hash: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const cache = join(folder, `cache-${round}`);
    times.served.push(await seconds(() => fetched('/dev/null')));
    times.curl.push(await seconds(() => fetched(file)));
    times.checked.push(times.curl.at(-1)! + (await seconds(() => program('sha256sum', file))));
    times.hash.push(await seconds(() => hashed(file)));
    rmSync(file);
    // The system writes what the others have left, so that our download does not pay for it.
    program('sync');
    times.own.push(await seconds(() => ours(url, cache)));
    rmSync(cache, { recursive: true });
    program('sync');
  }
  server.kill();
  rmSync(folder, { recursive: true });
  return times;
}

/**
 * Compares downloading a model with curl, which checks nothing, and with curl and sha256sum after it, turn by turn; and tells how fast the
 * server alone (curl to nowhere) and the digest alone are. Once from memory, once over a line of the speed that a hub is reached with.
 */
export async function benchDownload(): Promise<void> {
  const plan: HubPlan = { sizeBytes: SIZE_BYTES, repository: REPOSITORY };
  const [times, line] = [await timed(plan), await timed({ ...plan, bytesPerS: LINE_BYTES_PER_S })];
  const rate = (of: number[]): number => SIZE_BYTES / 2 ** 20 / median(of);
  const row = (peer: string, from: Times, of: number[], goal = ''): Row => ({
    what: `${SIZE_BYTES / 2 ** 20} MB model, checked, against ${peer}, MB/s`,
    ours: rate(from.own).toFixed(0),
    peer: rate(of).toFixed(0),
    ratio: (rate(from.own) / rate(of)).toFixed(2),
    goal,
  });
  table('Download', [
    row('the server alone (curl to nowhere)', times, times.served),
    row('curl, unchecked', times, times.curl, '>= 0.8'),
    row('the digest alone', times, times.hash),
    row('curl and sha256sum', times, times.checked),
    row('curl, unchecked, both over a line of 1 Gbit/s', line, line.curl, '>= 0.8'),
  ]);
}
