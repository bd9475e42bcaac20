import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { languageOptions } from '../../runtime/completions/settings.js';
import type { LanguageClient } from '../../runtime/engines/language/client.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ExtraBody } from '../../schemas/generated/universal/chat.js';
import { emptyDataDir } from './daemon.js';
import { type Answer, RecordedExchange } from './exchange.js';

/** JSON of any shape. */
export type Loose = ReturnType<typeof JSON.parse>;

/** A universal runtime with one engine, which is loaded as the `extra_body` of every request says. */
export class LoadedEngine {
  readonly #models = new Models({ dataDir: emptyDataDir() });
  readonly #application: Application;

  constructor(
    readonly model: string,
    readonly extra: ExtraBody,
  ) {
    const context = { version: '0.0.0', models: this.#models, completions: new Completions({ models: this.#models }) };
    const access = { bindHost: '127.0.0.1' };
    this.#application = dispatch({ endpoints: universalEndpoints, context: context as unknown as Runtime, access });
  }

  /** Sends a chat of one message; greedy, and one token long unless `more` says otherwise. */
  open(content: string, more: object = {}): RecordedExchange {
    const messages = [{ role: 'user', content }];
    const body = { model: this.model, temperature: 0, max_tokens: 1, messages, ...more, extra_body: this.extra };
    return this.#send(new RecordedExchange({ method: 'POST', path: '/v1/chat/completions', body }));
  }

  /** The answer to such a chat. */
  async ask(content: string, more: object = {}): Promise<Loose> {
    const { status, text }: Answer = await this.open(content, more).done;
    assert.equal(status, 200, text);
    return JSON.parse(text);
  }

  /** The text of such an answer. */
  async text(content: string, more: object = {}): Promise<string> {
    return (await this.ask(content, more)).choices[0].message.content;
  }

  /** The engine in `/health`. */
  async shown(): Promise<Loose> {
    const { text } = await this.#send(new RecordedExchange({ path: '/health' })).done;
    return JSON.parse(text).engines[0];
  }

  /** The scheduler's counters. */
  async stats(): Promise<Record<string, number>> {
    const { model, release } = await this.#models.acquire(this.model, languageOptions({}, this.extra), new AbortController().signal);
    release();
    return (model as LanguageClient).stats();
  }

  /** What Linux says of the engine's process, such as `maps`. */
  proc(name: string): string {
    return readFileSync(`/proc/${this.#pid}/${name}`, 'utf8');
  }

  /** Threads of the engine's process. */
  threads(): number {
    return readdirSync(`/proc/${this.#pid}/task`).length;
  }

  close(): Promise<void> {
    return this.#models.close();
  }

  get #pid(): number {
    return this.#models.loaded()[0]!.pid!;
  }

  #send(exchange: RecordedExchange): RecordedExchange {
    this.#application.request(exchange);
    return exchange;
  }
}
