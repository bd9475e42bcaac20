import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Front } from '../../../gateway/accounts/front.js';
import { coreEndpoints, coreSockets } from '../../../gateway/core/index.js';
import { dispatch } from '../../../gateway/http/dispatch.js';
import type { Application } from '../../../gateway/http/transport.js';
import { universalEndpoints, universalSockets } from '../../../gateway/universal/index.js';
import { openRuntime, type Runtime } from '../../../runtime/runtime.js';
import type { Answer } from '../exchange.js';
import { begin, send } from '../scenario.js';
import { PASSWORD } from './visitor.js';

/** The first admin of the module file. */
export const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
/** The key of the daemon itself. */
export const OPERATOR_KEY = 'the key of the machine';

/** Both APIs of a daemon with accounts in front of it. */
export interface FrontStage {
  readonly runtime: Runtime;
  readonly front: Front;
  readonly core: Application;
  readonly universal: Application;
  close(): Promise<void>;
}

/** Opens a runtime of its own in a new folder, and accounts by a module file with these members. */
export async function openFrontStage(config: object = {}, more: { paymentApi?: URL; environment?: object } = {}): Promise<FrontStage> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quern-front-'));
  const runtime = await openRuntime({
    version: '0.0.0',
    dataDir,
    runtimeUrls: [],
    runtimePort: 0,
    datasetQuotaBytes: 1e9,
    pullsOnUse: true,
    isShared: true,
    startRunner: async () => undefined,
  });
  const leave = async (): Promise<void> => {
    await runtime.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  const environment = {
    NODE_ENV: 'development',
    AUTH_URL: 'http://localhost',
    AUTH_SECRET: 'a secret of a test, 40 characters long!!',
    ...more.environment,
  };
  const front = await Front.open({
    config: { app: { name: 'Demo', id: 'demo' }, seed: { admin: ADMIN }, ...config },
    environment,
    runtime,
    operatorKey: OPERATOR_KEY,
    passwordCost: { power: 10, r: 8, p: 1 },
    sendMail: async () => undefined,
    ...(more.paymentApi ? { paymentApi: more.paymentApi } : {}),
  }).catch(async (error: unknown) => {
    await leave();
    throw error;
  });
  const common = { context: runtime, guard: front, access: { bindHost: '127.0.0.1' }, uploadFolder: join(dataDir, 'uploads') };
  return {
    runtime,
    front,
    core: dispatch({ ...common, endpoints: coreEndpoints, sockets: coreSockets }),
    universal: dispatch({ ...common, endpoints: universalEndpoints, sockets: universalSockets }),
    close: async () => {
      await front.close();
      await leave();
    },
  };
}

/** Somebody who asks by a bearer token, or by nothing. */
export class Person {
  constructor(
    readonly stage: FrontStage,
    readonly token?: string,
  ) {}

  ask(api: 'core' | 'universal', method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return send(this.stage[api], { method, path, body, headers: { ...this.#own, ...headers } });
  }

  /** The beginning of a stream that may have no end. */
  async beginning(api: 'core' | 'universal', path: string, headers: Record<string, string>): Promise<Answer> {
    const exchange = begin(this.stage[api], { path, headers: { ...this.#own, ...headers } });
    const head = await exchange.begun;
    exchange.leave();
    return { ...(await exchange.done), ...head };
  }

  get #own(): Record<string, string> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }
}

/** Signs somebody up, unless they are, and in. */
export async function personOf(stage: FrontStage, email: string, password = PASSWORD): Promise<Person> {
  const stranger = new Person(stage);
  if (email !== ADMIN.email) await stranger.ask('core', 'POST', '/api/auth/sign-up/email', { email, password, name: email });
  const answer = await stranger.ask('core', 'POST', '/api/auth/sign-in/email', { email, password });
  if (answer.status !== 200) throw new Error(`sign-in answered ${answer.status}: ${answer.text}`);
  return new Person(stage, (JSON.parse(answer.text) as { token: string }).token);
}
