import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** How a command-line program reaches the accounts of its server. */
export interface ClientOptions {
  /** The program's name: of its credentials file, and of its environment variable `<APP>_TOKEN`. */
  readonly app: string;
  /** The server's address. */
  readonly url: string;
  /** Named to the server; the program's name where absent. */
  readonly clientId?: string;
  /** Where credentials are kept; `~/.config/<app>/credentials.json` where absent. */
  readonly file?: string;
  /** Shows where to confirm a sign-in and the code; prints both and opens a browser where absent. */
  readonly show?: (url: string, userCode: string) => void;
  /** Waits some milliseconds. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** What is kept between two runs of a program. */
interface Credentials {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970; absent for a key. */
  readonly expires?: number;
}

/** An answer of the server that is no success: its status, its name for the reason, and its sentence. */
export class AccountsError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** How often a plan that is being paid is looked for. */
const UPGRADE_EVERY_MS = 3000;

type Json = Record<string, unknown>;

/** Signs a command-line program in, keeps it signed in, and asks for plans and usage. */
export class AccountsClient {
  readonly #options: ClientOptions;
  readonly #file: string;
  #refreshing: Promise<Credentials | undefined> | undefined;

  constructor(options: ClientOptions) {
    if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(options.app)) throw new Error(`"${options.app}" cannot be the name of a program's credentials`);
    this.#options = options;
    this.#file = options.file ?? join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), options.app, 'credentials.json');
  }

  /** Signs in by a browser: shows a code, and waits until its user has confirmed it there. */
  async login(): Promise<void> {
    const { clientId = this.#options.app, sleep = pause, show = showInBrowser } = this.#options;
    const begun = await this.#post('/api/module/device/authorize', { clientId });
    show(String(begun.verificationUrlComplete), String(begun.userCode));
    let interval = Number(begun.interval);
    while (true) {
      await sleep(interval * 1000);
      try {
        return await this.#keep(await this.#post('/api/module/device/token', { deviceCode: begun.deviceCode }));
      } catch (error) {
        if (!(error instanceof AccountsError) || !['authorization_pending', 'slow_down'].includes(error.code)) throw error;
        if (error.code === 'slow_down') interval += 5;
      }
    }
  }

  /** Signs in by an API key, once the server has taken it. */
  async loginWithKey(key: string): Promise<void> {
    await this.#request('GET', '/api/module/subscription/status', undefined, key);
    await this.#write({ accessToken: key });
  }

  /** Forgets the credentials. */
  async logout(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  /** Whether the server takes what is kept, or what the environment names. */
  async isAuthenticated(): Promise<boolean> {
    try {
      await this.getSubscription();
      return true;
    } catch (error) {
      if (error instanceof AccountsError && error.status === 401) return false;
      throw error;
    }
  }

  /** Who is signed in, with roles and plan. */
  getUser(): Promise<Json> {
    return this.#ask('GET', '/api/module/me');
  }

  /**
   * Sends the user to the page of prices, and waits until it has the plan. Throws an `AccountsError` with the code `not_upgraded` after
   * `withinMs`.
   */
  async upgrade(planId: string, withinMs = 15 * 60_000): Promise<void> {
    const { sleep = pause, show = showInBrowser } = this.#options;
    const { app } = await this.#request('GET', '/api/module/config');
    show(new URL(`/pricing?plan=${encodeURIComponent(planId)}`, (app as { domain: string }).domain).href, planId);
    for (let waited = 0; waited < withinMs; waited += UPGRADE_EVERY_MS) {
      await sleep(UPGRADE_EVERY_MS);
      if (await this.checkPlan(planId)) return;
    }
    throw new AccountsError(402, 'not_upgraded', `the plan ${planId} has not begun; pay for it in the browser, and try again`, {});
  }

  /** The plan and role of the user. */
  async getSubscription(): Promise<{ plan: string; role: string }> {
    return (await this.#ask('GET', '/api/module/subscription/status')) as { plan: string; role: string };
  }

  /** Whether the user has one of these plans. */
  async checkPlan(...plans: readonly string[]): Promise<boolean> {
    return plans.includes((await this.getSubscription()).plan);
  }

  /** Passes for one of these plans; throws an `AccountsError` with the code `wrong_plan` otherwise. */
  async requirePlan(...plans: readonly string[]): Promise<void> {
    const { plan } = await this.getSubscription();
    if (!plans.includes(plan))
      throw new AccountsError(403, 'wrong_plan', `this needs the plan ${plans.join(' or ')}; you have ${plan}`, { plan });
  }

  /** Counts a use. Throws an `AccountsError` with the code `meter_exceeded` beyond the limit. */
  track(meterId: string, count = 1, idempotencyKey?: string): Promise<Json> {
    return this.#ask('POST', '/api/module/usage/track', { meterId, count, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  }

  /** What is left of a meter. */
  getUsage(meterId: string): Promise<Json> {
    return this.#ask('GET', `/api/module/usage/${encodeURIComponent(meterId)}`);
  }

  /** Whether `count` more would be let through. */
  async checkUsage(meterId: string, count = 1): Promise<boolean> {
    const { remaining } = await this.getUsage(meterId);
    return remaining === null || Number(remaining) >= count;
  }

  /** Asks as the user, with tokens made new where their hour is over. */
  async #ask(method: string, path: string, body?: Json): Promise<Json> {
    const token = process.env[`${this.#options.app.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_TOKEN`];
    const credentials = token ? { accessToken: token } : await this.#read();
    if (!credentials) throw new AccountsError(401, 'not_signed_in', 'you are not signed in; sign in first', {});
    const isOld = credentials.expires !== undefined && credentials.expires < Date.now() + 30_000;
    const fresh = isOld ? await this.#refreshed(credentials) : credentials;
    if (!fresh) throw new AccountsError(401, 'not_signed_in', 'your sign-in has ended; sign in again', {});
    return this.#request(method, path, body, fresh.accessToken);
  }

  /** One refresh for all that ask at once. A program beside this one may have been first: then its tokens are taken. */
  #refreshed(old: Credentials): Promise<Credentials | undefined> {
    this.#refreshing ??= (async () => {
      try {
        await this.#keep(await this.#post('/api/module/device/refresh', { refreshToken: old.refreshToken }));
      } catch (error) {
        if (!(error instanceof AccountsError)) throw error;
      }
      const now = await this.#read();
      return now && now.accessToken !== old.accessToken ? now : undefined;
    })().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  #post(path: string, body: Json): Promise<Json> {
    return this.#request('POST', path, body);
  }

  async #request(method: string, path: string, body?: Json, token?: string): Promise<Json> {
    const response = await fetch(new URL(path, this.#options.url), {
      method,
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: 'error',
      signal: AbortSignal.timeout(30_000),
    });
    const value = (await response.json().catch(() => ({}))) as Json;
    if (response.ok) return value;
    throw new AccountsError(
      response.status,
      String(value.error ?? 'failed'),
      String(value.message ?? `the server answered ${response.status}`),
      value,
    );
  }

  #keep({ accessToken, refreshToken, expiresAt }: Json): Promise<void> {
    return this.#write({ accessToken: String(accessToken), refreshToken: String(refreshToken), expires: Date.parse(String(expiresAt)) });
  }

  async #read(): Promise<Credentials | undefined> {
    try {
      return JSON.parse(await readFile(this.#file, 'utf8')) as Credentials;
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all, and readable by its owner alone from the first byte on. */
  async #write(credentials: Credentials): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.${process.pid}`;
    await writeFile(draft, JSON.stringify(credentials), { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, this.#file);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function showInBrowser(url: string, userCode: string): void {
  process.stderr.write(`Open ${url}\nand compare the code: ${userCode}\n`);
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  execFile(opener, [url], () => {});
}
