import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { breathe } from '../../base/loop.js';
import type { Outbound } from '../../net/outbound.js';
import type { StoredEvent } from '../../store/store.js';
import type { OtlpSettings } from './settings.js';
import { type OtlpAttribute, spanOf } from './span.js';

/** What all that waits may take, in characters of JSON. */
const MAX_WAITING = 16 * 1024 * 1024;
/** Of one request. */
const MAX_BATCH = 4 * 1024 * 1024;
const MAX_TRIES = 5;
/** The first pause before another try; each further one is twice as long. */
const PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** Waited for at the end of the daemon. */
const CLOSE_MS = 2_000;
/** Answers that may be others a moment later, by the OTLP specification. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** A receiver that does not take what comes is told of in the log this often at most. */
const TELL_EVERY_MS = 60_000;

/** Sends events as traces to an OTLP receiver, in batches, by HTTP and JSON. Nothing ever waits for it: what it cannot send or hold is lost, and the log says so. */
export class OtlpExporter {
  readonly #outbound: Outbound;
  readonly #settings: OtlpSettings;
  readonly #head: string;
  readonly #pauseMs: number;
  readonly #closing = new AbortController();
  #waiting: string[] = [];
  #characters = 0;
  #lost = 0;
  #toldMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  /** `pauseMs` is that before the second try. */
  constructor(outbound: Outbound, settings: OtlpSettings, pauseMs = PAUSE_MS) {
    this.#outbound = outbound;
    this.#settings = settings;
    this.#pauseMs = pauseMs;
    const attributes: OtlpAttribute[] = Object.entries(settings.resource).map(([key, value]) => ({ key, value: { stringValue: value } }));
    const scope = JSON.stringify({ name: 'quern', version: settings.resource['service.version'] });
    this.#head = `{"resourceSpans":[{"resource":${JSON.stringify({ attributes })},"scopeSpans":[{"scope":${scope},"spans":[`;
  }

  /** Takes an event that is on disk. */
  add(event: StoredEvent, bare: () => StoredEvent): void {
    if (this.#isClosed) return;
    const span = JSON.stringify(this.#settings.content ? spanOf(event, event, true) : spanOf(event, bare(), false));
    if (this.#waiting.length >= this.#settings.queueSize || this.#characters + span.length > MAX_WAITING) {
      this.#lose(1, 'too many wait for the receiver');
      return;
    }
    this.#waiting.push(span);
    this.#characters += span.length;
    if (this.#waiting.length >= this.#settings.batchSize) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), this.#settings.delayMs).unref();
  }

  /** Sends what waits, within two seconds, and ends. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    this.#begin();
    await this.#sending;
    clearTimeout(timer);
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      await this.#send(batch);
      await breathe();
    }
  }

  #take(): string[] {
    let count = 0;
    let characters = 0;
    for (const span of this.#waiting.slice(0, this.#settings.batchSize)) {
      if (count > 0 && characters + span.length > MAX_BATCH) break;
      count += 1;
      characters += span.length;
    }
    this.#characters -= characters;
    return this.#waiting.splice(0, count);
  }

  /** Sends one batch, again where that may help. Never throws. */
  async #send(spans: readonly string[]): Promise<void> {
    const body = `${this.#head}${spans.join(',')}]}]}]}`;
    let pauseMs = this.#pauseMs;
    for (let tries = 1; ; tries += 1) {
      const { why, afterMs } = await this.#post(body);
      if (why === undefined) return;
      const { signal } = this.#closing;
      if (afterMs === undefined || tries === MAX_TRIES || signal.aborted) return this.#lose(spans.length, why);
      // Several daemons do not come back at once.
      const waitMs = Math.min(MAX_PAUSE_MS, Math.max(afterMs, pauseMs * (0.5 + Math.random())));
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      pauseMs *= 2;
    }
  }

  /** `why` it was not taken; `afterMs` where another try may help. */
  async #post(body: string): Promise<{ why?: string; afterMs?: number }> {
    const { url, headers, timeoutMs } = this.#settings;
    try {
      const reply = await this.#outbound.request({
        url,
        policy: 'operator',
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        limits: { headersMs: timeoutMs, totalMs: timeoutMs },
        signal: this.#closing.signal,
      });
      const text = await reply.text(MAX_BATCH);
      if (reply.status >= 200 && reply.status < 300) {
        this.#tellPartial(text);
        return {};
      }
      const why = `the receiver answered ${reply.status}`;
      return PASSING.has(reply.status) ? { why, afterMs: Number(reply.header('retry-after') ?? 0) * 1_000 || 0 } : { why };
    } catch (error) {
      return { why: error instanceof Failure ? error.message.replace(/\.$/, '') : 'the request failed', afterMs: 0 };
    }
  }

  #tellPartial(text: string): void {
    if (!text.includes('"rejectedSpans"')) return;
    try {
      const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: string | number; errorMessage?: string } };
      const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
      if (rejected > 0) this.#lose(rejected, `the receiver refused them: ${String(partialSuccess?.errorMessage ?? '').slice(0, 200)}`);
    } catch {
      // What it took is taken, whatever it says.
    }
  }

  #lose(count: number, why: string): void {
    this.#lost += count;
    if (performance.now() - this.#toldMs < TELL_EVERY_MS) return;
    this.#toldMs = performance.now();
    log('warn', `${this.#lost} events were not exported as traces: ${why}`);
    this.#lost = 0;
  }
}
