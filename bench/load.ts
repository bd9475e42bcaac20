// Puts the load of the chat benchmark on a server, from a process of its own, so that it shares no event loop with what it measures.
import http from 'node:http';

/** What one load run is told. */
export interface LoadPlan {
  /** Base address whose `/v1/chat/completions` is called. */
  url: string;
  model: string;
  streams: number;
  maxTokens: number;
  /** Words in each prompt; every prompt is different, so that no server profits from another stream's prefix. */
  promptWords: number;
  seed: number;
  /** Words of a system prompt that all streams of a run share; 0 = none. */
  systemWords: number;
  /** Streams of `promptWords` words that run already when the others come, and until those have their first token; none when absent. */
  running?: number;
  /** Further members of the body, such as `extra_body`. */
  extra: Record<string, unknown>;
}

/** What a load run saw. */
export interface LoadResult {
  tokens: number;
  seconds: number;
  /** Milliseconds to the first content of each stream, sorted. */
  firstTokenMs: number[];
  /** Milliseconds between two texts of a running stream while the others wait for their first token, sorted. */
  gapMs: number[];
}

const WORDS =
  'time year people way day man thing woman life child world school state family student group country problem hand part place case week company system program question work'.split(
    ' ',
  );

function words(seed: number, count: number): string {
  let state = seed >>> 0;
  const out: string[] = [];
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    out.push(WORDS[(state >>> 8) % WORDS.length]!);
  }
  return out.join(' ');
}

// A fresh connection per stream: llama-server closes kept ones under load, and a reused one may be closing.
const agent = new http.Agent({ keepAlive: false, maxSockets: 256 });

/** One streamed completion; `onText` is told of each piece of its text, `signal` ends it early. */
function stream(
  plan: LoadPlan,
  index: number,
  maxTokens: number,
  onText: () => void = () => {},
  signal?: AbortSignal,
): Promise<{ tokens: number; firstMs: number }> {
  const body = JSON.stringify({
    model: plan.model,
    messages: [
      ...(plan.systemWords > 0 ? [{ role: 'system', content: words(plan.seed, plan.systemWords) }] : []),
      { role: 'user', content: words(plan.seed * 7919 + (index + 1) * 104729, plan.promptWords) },
    ],
    max_tokens: maxTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...plan.extra,
  });
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request(
      new URL('/v1/chat/completions', plan.url),
      { method: 'POST', agent, headers, ...(signal ? { signal } : {}) },
      (response) => {
        let firstMs = 0;
        let tail = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          // Only the first content and the last frames matter: parsing each frame would measure the client.
          if (/"content":\s*"[^"]/.test(text)) {
            firstMs ||= performance.now() - started;
            onText();
          }
          tail = (tail + text).slice(-4096);
        });
        response.on('end', () => {
          const tokens = Number(/"completion_tokens":\s*(\d+)/.exec(tail)?.[1] ?? Number.NaN);
          if (response.statusCode !== 200 || !Number.isFinite(tokens))
            reject(new Error(`status ${response.statusCode}: ${tail.slice(-600)}`));
          else resolve({ tokens, firstMs });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Tokens that a running stream asks for; it is ended long before it has them. */
const ENDLESS = 100_000;

/** Starts the streams that run already; resolves when each has its first text. `gapMs` is filled from `watch()` on, until `end()`. */
async function startRunning(plan: LoadPlan): Promise<{ gapMs: number[]; watch(): void; end(): void }> {
  const leave = new AbortController();
  const gapMs: number[] = [];
  let since = Number.POSITIVE_INFINITY;
  const begun = Array.from({ length: plan.running ?? 0 }, (_, index) => {
    let last = 0;
    return new Promise<void>((resolve, reject) => {
      const onText = (): void => {
        const now = performance.now();
        if (now > since) gapMs.push(now - Math.max(last, since));
        last = now;
        resolve();
      };
      // The end of this stream is no failure, and nobody waits for it any more.
      stream(plan, 1000 + index, ENDLESS, onText, leave.signal).then(() => reject(new Error('a running stream ended by itself')), reject);
    });
  });
  await Promise.all(begun);
  return { gapMs, watch: () => (since = performance.now()), end: () => leave.abort() };
}

async function load(plan: LoadPlan): Promise<LoadResult> {
  const running = await startRunning(plan);
  const started = performance.now();
  running.watch();
  let waiting = plan.streams;
  const firstText = (): (() => void) => {
    let isFirst = true;
    return () => {
      if (isFirst && --waiting === 0) running.end();
      isFirst = false;
    };
  };
  const streams = await Promise.all(Array.from({ length: plan.streams }, (_, index) => stream(plan, index, plan.maxTokens, firstText())));
  return {
    tokens: streams.reduce((sum, one) => sum + one.tokens, 0),
    seconds: (performance.now() - started) / 1000,
    firstTokenMs: streams.map((one) => one.firstMs).sort((a, b) => a - b),
    gapMs: running.gapMs.sort((a, b) => a - b),
  };
}

process.on('message', (plan: LoadPlan) => {
  load(plan).then(
    (result) => process.send!({ result }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
