// What the tables of test/api/encoders share: encoders, damaged ones too, and requests.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeEncoder, writeTinyEncoders } from './models/tiny-encoders.js';
import type { Scenario, Stage } from './scenario.js';
import { openSomeServices } from './services.js';

export const TEXTS_LIMIT = 10_000;

/** Whatever processor the tests run on, BERT's graphs go through the native pass. */
export const SETTING = 'QUERN_NATIVE_ENCODERS';
process.env[SETTING] = 'on';

export interface Staged extends Runtime {
  readonly folder: string;
}

/** A runtime with nothing but encoders, on tiny models in an own data directory. */
export function stage(endpoints: Stage<Staged>['endpoints']): Stage<Staged> {
  return {
    endpoints,
    context: () => {
      const folder = mkdtempSync(join(tmpdir(), 'quern-encoders-'));
      writeTinyEncoders(join(folder, 'models'));
      models = join(folder, 'models');
      damage();
      const loaded = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
      const outbound = new Outbound();
      const opened = openSomeServices({ models: loaded, outbound });
      const close = async (): Promise<void> => {
        await loaded.close();
        await outbound.close();
      };
      return { version: '0.0.0', folder, models: loaded, ...opened, close } as unknown as Staged;
    },
    close: async (runtime) => {
      await runtime.close();
      rmSync(runtime.folder, { recursive: true, force: true });
    },
  };
}

/** Where the models of the present stage lie. */
let models = '';

/** Gives `bad/tokens` its own tokens again. */
export function mended(path: string): string {
  writeEncoder(join(models, 'bad/tokens'), { head: 'vectors', pooling: 'mean' });
  return path;
}

/** Repositories that cannot work, each in its own way. */
function damage(): void {
  writeEncoder(join(models, 'bad/graph'), { head: 'vectors' });
  writeFileSync(join(models, 'bad/graph/onnx/model.onnx'), 'this is no graph');
  writeEncoder(join(models, 'bad/tokenizer'), { head: 'vectors' });
  rmSync(join(models, 'bad/tokenizer/tokenizer.json'));
  writeEncoder(join(models, 'bad/tokens'), { head: 'vectors', pooling: 'mean' });
  const tokenizer = join(models, 'bad/tokens/tokenizer.json');
  writeFileSync(tokenizer, readFileSync(tokenizer, 'utf8').replace(/"dog":\s*\d+/, '"dog": 99999'));
  mkdirSync(join(models, 'bad/parts/onnx'), { recursive: true });
  for (const name of ['encoder', 'decoder']) writeFileSync(join(models, `bad/parts/onnx/${name}.onnx`), 'x');
  mkdirSync(join(models, 'bad/empty'), { recursive: true });
  writeFileSync(join(models, 'bad/empty/config.json'), '{}');
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Body = any;
export const post = (path: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
  name: `${path} ${more.status ?? 200} ${JSON.stringify(body)?.slice(0, 100)}`,
  method: 'POST',
  path,
  body,
  ...more,
});
export const refused = (path: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario =>
  post(path, body, { status, contains, ...(name ? { name } : {}) });
export const lengthOf = (vector: readonly number[]): number => Math.hypot(...vector);
export const cosine = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0);
export const isUnit = (vector: readonly number[]): void => assert.ok(Math.abs(lengthOf(vector) - 1) < 1e-5, `length ${lengthOf(vector)}`);
export const vectorsOf = (body: Body): number[][] => body.data.map((row: Body) => row.embedding);

export const EMBEDDER = 'tiny/embedder';
export const seen: Record<string, number[][]> = {};
