import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hub } from '../runtime/hub/hub.js';
import { hubSettings } from '../runtime/hub/settings.js';
import { Outbound } from '../runtime/net/outbound.js';
import { ask, median, part, table } from './measure.js';

/** Size of the file; `BENCH_DOWNLOAD_MB=2048` is the full run. */
const SIZE_BYTES = Number(process.env.BENCH_DOWNLOAD_MB ?? 256) * 2 ** 20;
const ROUNDS = 3;
const REPOSITORY = 'bench/download';

const seconds = async (act: () => unknown): Promise<number> => {
  const started = performance.now();
  await act();
  return (performance.now() - started) / 1000;
};

function program(command: string, ...parameters: string[]): void {
  const { status, stderr } = spawnSync(command, parameters);
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

/** Compares downloading a model with curl, which checks nothing, and with curl and sha256sum after it, turn by turn. */
export async function benchDownload(): Promise<void> {
  const server = part('hub-peer');
  const { url, commit } = await ask<{ url: string; commit: string }>(server, { sizeBytes: SIZE_BYTES, repository: REPOSITORY });
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-download-'));
  const [own, curl, checked]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const cache = join(folder, `cache-${round}`);
    const file = join(folder, 'file');
    curl.push(await seconds(() => program('curl', '-sfL', '-o', file, `${url}/${REPOSITORY}/resolve/${commit}/model.gguf`)));
    checked.push(curl.at(-1)! + (await seconds(() => program('sha256sum', file))));
    rmSync(file);
    own.push(await seconds(() => ours(url, cache)));
    rmSync(cache, { recursive: true });
  }
  server.kill();
  rmSync(folder, { recursive: true });
  const rate = (times: number[]): number => SIZE_BYTES / 2 ** 20 / median(times);
  const row = (peer: string, times: number[], goal: string): Parameters<typeof table>[1][number] => ({
    what: `${SIZE_BYTES / 2 ** 20} MB model, checked, against ${peer}, MB/s`,
    ours: rate(own).toFixed(0),
    peer: rate(times).toFixed(0),
    ratio: (rate(own) / rate(times)).toFixed(2),
    goal,
  });
  table('Download', [row('curl, unchecked', curl, '>= 0.8'), row('curl and sha256sum', checked, '')]);
}
