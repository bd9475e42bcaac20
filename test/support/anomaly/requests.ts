// What the tables of test/api/anomaly share: rows to learn from, the stage, and requests to one port.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Outbound } from '../../../runtime/net/outbound.js';
import type { Runtime } from '../../../runtime/runtime.js';
import { type Expected, expectations, type Scenario, type Stage } from '../scenario.js';
import { openSomeServices } from '../services.js';

interface Staged extends Runtime {
  readonly folder: string;
}

let folder = '';

/** A runtime with nothing but anomaly detection, on an own data directory. */
export function stage(endpoints: Stage<Staged>['endpoints']): Stage<Staged> {
  return {
    endpoints,
    context: () => {
      folder = mkdtempSync(join(tmpdir(), 'quern-anomaly-'));
      const outbound = new Outbound();
      const opened = openSomeServices({ dataDir: folder, outbound });
      const models = { loaded: () => [] };
      const close = async (): Promise<void> => {
        await opened.close();
        await outbound.close();
      };
      return { version: '0.0.0', folder, models, ...opened, close } as unknown as Staged;
    },
    close: async (runtime) => {
      await runtime.close();
      rmSync(runtime.folder, { recursive: true, force: true });
    },
  };
}

export const shelf = (...path: string[]): string => join(folder, 'models', 'anomaly', ...path);
export const files = (): string[] => (existsSync(shelf()) ? readdirSync(shelf()).sort() : []);

/** Twelve sines together are about normal, and the same at every run. */
const bell = (seed: number): number =>
  Array.from({ length: 12 }, (_none, k) => Math.sin((seed + 1) * (k + 1) * 12.9898)).reduce((a, b) => a + b) / 2.5;
/** A cloud of 120 rows about (0, 10). */
export const ROWS = Array.from({ length: 120 }, (_none, i) => [bell(i), 10 + bell(i + 0.5) / 2]);
export const ODD = [50, -40];
/** 100 rows about (0, 0) with a deviation of about 1. */
export const NORMAL = Array.from({ length: 100 }, (_none, i) => [bell(i + 0.25), bell(i + 0.75)]);
export const LOGINS = Array.from({ length: 60 }, (_none, i) => ({
  bytes: 100 + (i % 7),
  agent: i % 3 === 0 ? 'curl' : 'firefox',
  ip: `10.0.0.${i % 5}`,
  vip: i % 2 === 0,
}));
export const SCHEMA = { bytes: 'numeric', agent: 'onehot', ip: 'hash', vip: 'binary' };
export const VERSION = /^logins_\d{8}_\d{6}$/;

export const requests = (base: string) => {
  const row = (name: string, verb: string, body: unknown, expected: Expected = {}): Scenario => ({
    name,
    method: 'POST',
    path: `${base}/${verb}`,
    body,
    ...expectations(expected),
  });
  const post = (verb: string, body: unknown, expected: Expected = {}): Scenario => {
    const { status = 200 } = expectations(expected);
    return row(`${verb} ${status} ${JSON.stringify(typeof body === 'function' ? 'later' : body).slice(0, 90)}`, verb, body, expected);
  };
  const refused = (verb: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario => {
    const expected = { status, contains, lacks: [tmpdir()] };
    return name === undefined ? post(verb, body, expected) : row(name, verb, body, expected);
  };
  const fit = (more: object): object => ({ model: 'x', backend: 'hbos', data: ROWS, ...more });

  return { row, post, refused, fit };
};
