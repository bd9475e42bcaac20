import type { Accounts } from '../../../accounts/accounts.js';

/** What came back: the status, the headers and the body as JSON (or its text). */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  readonly body: any;
  readonly text: string;
}

/** A browser or a program that asks the accounts of a server: it keeps cookies, and says its origin as browsers do. */
export class Visitor {
  readonly #accounts: Accounts;
  readonly #jar = new Map<string, string>();
  /** From where it comes. */
  ip: string;
  /** Sent with every request; a browser's origin by default. */
  headers: Record<string, string> = { origin: 'http://localhost:3000' };

  constructor(accounts: Accounts, ip = '203.0.113.7') {
    this.#accounts = accounts;
    this.ip = ip;
  }

  get cookie(): string {
    return [...this.#jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  setCookie(name: string, value: string): void {
    this.#jar.set(name, value);
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const sent = {
      ...(this.#jar.size > 0 ? { cookie: this.cookie } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.headers,
      ...headers,
    };
    const request = new Request(`http://localhost:3000${path}`, {
      method,
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const response = await this.#accounts.handle(request, { ip: this.ip });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(line)) this.#jar.delete(pair.slice(0, at));
      else this.#jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const text = await response.text();
    let parsed: unknown = text;
    try {
      parsed = JSON.parse(text);
    } catch {}
    return { status: response.status, headers: response.headers, body: parsed, text };
  }

  get(path: string, headers?: Record<string, string>): Promise<Reply> {
    return this.ask('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers?: Record<string, string>): Promise<Reply> {
    return this.ask('POST', path, body, headers);
  }

  signUp(email: string, password = PASSWORD): Promise<Reply> {
    return this.post('/api/auth/sign-up/email', { email, password, name: email.split('@')[0] });
  }

  signIn(email: string, password = PASSWORD): Promise<Reply> {
    return this.post('/api/auth/sign-in/email', { email, password });
  }
}

/** A password that nobody else has. */
export const PASSWORD = 'correct horse 7 battery';

/** A visitor who has signed up and in. */
export async function member(accounts: Accounts, email: string, ip?: string): Promise<Visitor> {
  const visitor = new Visitor(accounts, ip);
  await visitor.signUp(email);
  const { status, text } = await visitor.signIn(email);
  if (status !== 200) throw new Error(`sign-in answered ${status}: ${text}`);
  return visitor;
}
