import type { ChildProcess } from 'node:child_process';
import type { Prepared } from '../schemas/generated/universal/cache.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { benchPath } from '../test/support/models/cache.js';
import { freePort } from '../test/support/ports.js';
import { answers, ended, median, quern, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 5, 2);
/** Words of each system prompt; a token of this model is a letter or two. */
const SYSTEM_WORDS = 160;
const WORDS = 'grain mill stone water wheel night flour river field bread rain harvest oven market road bridge'.split(' ');

type Message = { role: 'system' | 'user'; content: string };
type Answer = { firstMs: number; promptTokens: number; reusedTokens: number };

/** A text for a number; no other number gives the same words in this order. */
function words(seed: number, count: number): string {
  let state = seed >>> 0;
  const next = (): string => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return WORDS[(state >>> 8) % WORDS.length]!;
  };
  return Array.from({ length: count }, next).join(' ');
}
const conversation = (system: number, question: number): Message[] => [
  { role: 'system', content: words(system, SYSTEM_WORDS) },
  { role: 'user', content: words(question * 7919 + 13, 8) },
];

/** A daemon that can be started again on the same data, and chats with it. */
class Talks {
  readonly #dataDir = emptyDataDir();
  readonly #model = benchPath();
  #url = '';
  #child: ChildProcess | undefined;

  async start(): Promise<void> {
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}`;
    this.#child = quern('runtime', port, this.#dataDir);
    await answers(`${this.#url}/health`);
    // This chat loads the model.
    await this.chat(conversation(1, 1));
  }

  async end(): Promise<void> {
    if (this.#child) await ended(this.#child);
  }

  async #post(path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify({ model: this.#model, ...body }) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
    return response;
  }

  /** Milliseconds until the first token. */
  async chat(messages: Message[], cacheKey?: string): Promise<Answer> {
    const started = performance.now();
    const key = cacheKey === undefined ? {} : { cache_key: cacheKey };
    const body = { messages, stream: true, max_tokens: 2, temperature: 0, stream_options: { include_usage: true }, ...key };
    const response = await this.#post('/v1/chat/completions', body);
    let [text, firstMs] = ['', Number.NaN];
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (Number.isNaN(firstMs) && /"content":\s*"[^"]/.test(text)) firstMs = performance.now() - started;
    }
    const number = (name: string): number => Number(new RegExp(`"${name}":\\s*(\\d+)`).exec(text)?.[1] ?? 0);
    if (Number.isNaN(firstMs)) throw new Error(`no token came: ${text.slice(0, 500)}`);
    return { firstMs, promptTokens: number('prompt_tokens'), reusedTokens: number('reused_tokens') };
  }

  async prepare(messages: Message[]): Promise<Prepared> {
    return (await (await this.#post('/v1/cache/prepare', { messages, pinned: true })).json()) as Prepared;
  }
}

/** Time to the first token of a chat behind a long system prompt: decoded anew, still in a slot, and from a state of `/v1/cache`, also after a restart. */
export async function benchCache(): Promise<void> {
  const talks = new Talks();
  await talks.start();
  const seen: Record<'anew' | 'slot' | 'restarted' | 'without', Answer[]> = { anew: [], slot: [], restarted: [], without: [] };
  const prepared: Prepared[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const system = 1000 + round;
    seen.anew.push(await talks.chat(conversation(system, 1)));
    seen.slot.push(await talks.chat(conversation(system, 2)));
    // The state of a prompt that is in a slot is copied, not decoded.
    prepared.push(await talks.prepare(conversation(system, 1).slice(0, 1)));
  }
  await talks.end();
  await talks.start();
  for (let round = 0; round < ROUNDS; round++) {
    seen.restarted.push(await talks.chat(conversation(1000 + round, 3), prepared[round]!.cache_key));
    seen.without.push(await talks.chat(conversation(2000 + round, 3)));
  }
  await talks.end();
  const anew = median(seen.anew.map(({ firstMs }) => firstMs));
  const row = (what: string, kind: keyof typeof seen): Row => {
    const firstMs = median(seen[kind].map((one) => one.firstMs));
    const reused = median(seen[kind].map((one) => one.reusedTokens));
    return {
      what: `${what}${reused > 0 ? ` (${reused} tokens reused)` : ''}, ms`,
      ours: firstMs.toFixed(0),
      peer: '',
      ratio: `${(firstMs / anew).toFixed(2)}x of anew`,
      goal: '',
    };
  };
  const megabytes = (median(prepared.map((one) => one.size_bytes)) / 2 ** 20).toFixed(1);
  const tokens = median(seen.anew.map(({ promptTokens }) => promptTokens));
  table(`First token behind a prompt of ${tokens} tokens, medians of ${ROUNDS}`, [
    row('decoded anew', 'anew'),
    row('another question while the conversation is in a slot', 'slot'),
    row(`after a restart, with the key of a prepared state (${megabytes} MB on disk)`, 'restarted'),
    row('after a restart, another prompt without a key', 'without'),
  ]);
}
