// The load of the chat benchmark, in a process of its own so that it shares no event loop with what it measures.
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
  /** Further members of the body, such as `extra_body`. */
  extra: Record<string, unknown>;
}

/** What it saw. */
export interface LoadResult {
  tokens: number;
  seconds: number;
  /** Milliseconds to the first content of each stream, sorted. */
  firstTokenMs: number[];
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

function stream(plan: LoadPlan, index: number): Promise<{ tokens: number; firstMs: number }> {
  const body = JSON.stringify({
    model: plan.model,
    messages: [
      ...(plan.systemWords > 0 ? [{ role: 'system', content: words(plan.seed, plan.systemWords) }] : []),
      { role: 'user', content: words(plan.seed * 7919 + (index + 1) * 104729, plan.promptWords) },
    ],
    max_tokens: plan.maxTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...plan.extra,
  });
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const request = http.request(
      new URL('/v1/chat/completions', plan.url),
      { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } },
      (response) => {
        let firstMs = 0;
        let tail = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          // Only the first content and the last frames matter: parsing each frame would measure the client.
          if (firstMs === 0 && /"content":\s*"[^"]/.test(text)) firstMs = performance.now() - started;
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

process.on('message', (plan: LoadPlan) => {
  const started = performance.now();
  Promise.all(Array.from({ length: plan.streams }, (_, index) => stream(plan, index))).then(
    (streams) => {
      const result: LoadResult = {
        tokens: streams.reduce((sum, one) => sum + one.tokens, 0),
        seconds: (performance.now() - started) / 1000,
        firstTokenMs: streams.map((one) => one.firstMs).sort((a, b) => a - b),
      };
      process.send!({ result });
    },
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
