import { Browser, CHROMIUM } from '../test/support/browser.js';
import { freePort } from '../test/support/ports.js';
import { delta, frames, type Scene, ScriptedOpenAI, say, usage } from '../test/support/scripted-openai.js';
import { ENTRY_BYTES, loadedAssets, sumOf, VIEW_BYTES, VIEWS } from '../test/support/web/assets.js';
import { MARKDOWN } from '../test/support/web/chat-host.js';
import { Lacking, unlessLacking } from './lacking.js';
import { answers, ended, median, quern, type Row, table } from './measure.js';
import { QUICK, sizeOf } from './size.js';

const ROUNDS = sizeOf('BENCH_ROUNDS', 15, 3);
const TOKENS = sizeOf('BENCH_TOKENS', 10_000, 1_000);
const MESSAGES = sizeOf('BENCH_MESSAGES', 5_000, 200);
const LONG_TASK_MS = 50;
/** The long answer comes at about 1,000 tokens a second. */
const SETTLED_MS = 1_000;
const STEP_TOKENS = 20;
const STEP_MS = 20;
const CHARACTERS_PER_TOKEN = 4;

const row = (what: string, ours: string, goal = ''): Row => ({ what, ours, peer: '', ratio: '', goal });
const ms = (value: number): string => `${value.toFixed(0)} ms`;

/** An answer of so many tokens, Markdown of every kind, at the pace of a fast model. */
function longAnswer(): Scene {
  const text = MARKDOWN.repeat(Math.ceil((TOKENS * CHARACTERS_PER_TOKEN) / MARKDOWN.length)).slice(0, TOKENS * CHARACTERS_PER_TOKEN);
  const pieces = Array.from({ length: TOKENS }, (_, at) => text.slice(at * CHARACTERS_PER_TOKEN, (at + 1) * CHARACTERS_PER_TOKEN));
  const groups = Array.from({ length: Math.ceil(TOKENS / STEP_TOKENS) }, (_, at) => pieces.slice(at * STEP_TOKENS, (at + 1) * STEP_TOKENS));
  return {
    steps: [
      ...groups.flatMap((group) => [...frames(...group.map((content) => delta({ content }))), { waitMs: STEP_MS }]),
      ...frames(delta({}, 'stop'), usage(7, TOKENS), '[DONE]'),
    ],
  };
}

/** A page of a daemon whose model is a host that answers at once. */
class Stage {
  readonly #place: string;

  constructor(
    readonly base: string,
    readonly browser: Browser,
    readonly host: ScriptedOpenAI,
  ) {
    this.#place = `${base}/v1/projects/default/quickstart`;
  }

  async send<T>(method: string, path: string, body: unknown): Promise<T> {
    const answer = await fetch(this.#place + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
    return (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
  }

  /** Takes a conversation in; gives its id. */
  async imported(file: object): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob([JSON.stringify(file)]), 'long.json');
    const answer = await fetch(`${this.#place}/conversations/import`, { method: 'POST', body: form });
    if (!answer.ok) throw new Error(await answer.text());
    const { conversations } = await this.send<{ conversations: { id: string; title: string }[] }>(
      'GET',
      '/conversations?search=long',
      undefined,
    );
    return conversations.find(({ title }) => title === 'A long conversation')!.id;
  }

  async open(place: string): Promise<void> {
    await this.browser.open('about:blank#');
    await this.browser.open(`${this.base}/#/${place}`);
    await this.browser.until(`document.querySelector('main')?.children.length > 0`);
  }

  /** What the browser counts of the page: seconds, bytes and times. */
  async metrics(): Promise<Record<'ScriptDuration' | 'LayoutDuration' | 'RecalcStyleDuration' | 'LayoutCount' | 'JSHeapUsedSize', number>> {
    const { metrics } = (await this.browser.command('Performance.getMetrics')) as { metrics: { name: string; value: number }[] };
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value])) as Awaited<ReturnType<Stage['metrics']>>;
  }

  /** Memory of the page's own objects, in MB, without what nobody uses. */
  async heapMb(): Promise<number> {
    await this.browser.command('HeapProfiler.collectGarbage');
    return (await this.metrics()).JSHeapUsedSize / 1e6;
  }

  /** Begins to note long tasks. */
  watch(): Promise<unknown> {
    return this.browser.value(
      `(window.longTasks = [], new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' }), 0)`,
    );
  }

  longTasks(): Promise<number[]> {
    return this.browser.value<number[]>('window.longTasks');
  }
}

async function sizes(stage: Stage): Promise<Row[]> {
  const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;
  await stage.open('nowhere');
  const entry = await loadedAssets(stage.browser);
  const rows = [row('entry, compressed', kb(sumOf(entry)), `<= ${kb(ENTRY_BYTES)}`)];
  for (const view of VIEWS) {
    await stage.open(view);
    rows.push(row(`view ${view}, beside the entry`, kb(sumOf(await loadedAssets(stage.browser), entry)), `<= ${kb(VIEW_BYTES)}`));
  }
  return rows;
}

async function firstPaint(stage: Stage): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await stage.open('chat');
    await stage.browser.until(`performance.getEntriesByName('first-contentful-paint').length > 0`);
    times.push(await stage.browser.value<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
  }
  return row('first paint of the chat, median', ms(median(times)));
}

/** From Enter to the first text of the answer that is painted, and what the same turn takes when it is asked without the interface. */
async function firstToken(stage: Stage): Promise<Row> {
  const [shown, bare]: [number[], number[]] = [[], []];
  stage.host.always(say('Yes.'));
  for (let round = 0; round < ROUNDS; round += 1) {
    const { conversation } = await stage.send<{ conversation: { id: string } }>('POST', '/conversations', {});
    await stage.open(`chat/${conversation.id}`);
    await stage.browser.until(`document.querySelector('textarea[aria-label=Message]') && document.querySelector('[role=log]')`);
    await stage.browser.fill('textarea[aria-label=Message]', 'Is it?');
    // What opening a page asks of the daemon is over by then.
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    const seen = stage.browser.value<number>(`new Promise((resolve) => {
      let began = 0;
      addEventListener('keydown', () => { began = performance.now(); }, { capture: true, once: true });
      new MutationObserver((_, observer) => {
        if (!document.querySelector('.markdown')?.textContent) return;
        observer.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - began));
      }).observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
    })`);
    await stage.browser.press('Enter');
    shown.push(await seen);
    await stage.browser.until(`document.querySelector('[role=log]').getAttribute('aria-busy') === 'false'`);
    // Each turn has a conversation of its own, because a first turn also makes a title.
    const other = await stage.send<{ conversation: { id: string } }>('POST', '/conversations', {});
    bare.push(
      await stage.browser.value<number>(`(async () => {
        const began = performance.now();
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch('/v1/projects/default/quickstart/conversations/${other.conversation.id}/turns', { method: 'POST', headers, body: '{"message":{"content":"Is it?"}}' });
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let text = ''; ; ) {
          text += (await reader.read()).value ?? '';
          if (text.includes('"content":"Yes')) return performance.now() - began;
        }
      })()`),
    );
  }
  const over = median(shown) - median(bare);
  return row('from Enter to the first visible token, median', `${ms(median(shown))}; ${ms(over)} over the API's own ${ms(median(bare))}`);
}

async function longTasks(stage: Stage): Promise<Row[]> {
  stage.host.always(longAnswer());
  await stage.open('chat');
  await stage.browser.until(`document.querySelector('textarea[aria-label=Message]')`);
  await stage.watch();
  const before = await stage.metrics();
  await stage.browser.fill('textarea[aria-label=Message]', 'Write a book');
  await stage.browser.press('Enter');
  await stage.browser.until(`document.querySelector('[role=log]')?.getAttribute('aria-busy') === 'true'`);
  const isOver = `document.querySelector('[role=log]').getAttribute('aria-busy') === 'false'`;
  while (!(await stage.browser.value<boolean>(isOver))) await new Promise((resolve) => setTimeout(resolve, 500));
  const after = await stage.metrics();
  const took = (name: keyof typeof after): number => after[name] - before[name];
  const seconds = took('ScriptDuration') + took('LayoutDuration') + took('RecalcStyleDuration');
  const tasks = await stage.longTasks();
  const longest = Math.max(0, ...tasks);
  return [
    row(
      `tasks over ${LONG_TASK_MS} ms during an answer of ${TOKENS} tokens`,
      `${tasks.length}${tasks.length > 0 ? `, the longest ${ms(longest)}` : ''}`,
      '0',
    ),
    row('scripts and layout for it', `${seconds.toFixed(1)} s, ${((1_000 * seconds) / took('LayoutCount')).toFixed(1)} ms a step`),
    row('memory behind it', `${(await stage.heapMb()).toFixed(1)} MB`),
  ];
}

/** A conversation as a file, of so many messages that each answer the one before. */
function longConversation(): object {
  const created_at = new Date().toISOString();
  const messages = Array.from({ length: MESSAGES }, (_, at) => ({
    id: `msg_${String(at).padStart(22, '0')}`,
    parent: at === 0 ? null : `msg_${String(at - 1).padStart(22, '0')}`,
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: at % 2 === 0 ? `Question ${at} of a long conversation` : 'An answer with **bold** words, `code` and a list:\n\n- one\n- two\n',
    status: 'done',
    created_at,
  }));
  const conversation = { title: 'A long conversation', created_at, updated_at: created_at, current: messages.at(-1)!.id };
  return { format: 'quern-conversation', version: 1, conversation, messages };
}

async function longHistory(stage: Stage): Promise<Row[]> {
  const id = await stage.imported(longConversation());
  await stage.open('nowhere');
  await stage.watch();
  const opened = await stage.browser.value<number>(`new Promise((resolve) => {
    const began = performance.now();
    location.hash = '#/chat/${id}';
    const look = () => document.querySelectorAll('article').length > 0 ? resolve(performance.now() - began) : requestAnimationFrame(look);
    look();
  })`);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const tasks = await stage.longTasks();
  const heap = await stage.heapMb();
  // The page is scrolled up screen by screen, as by a reader who looks for the beginning.
  for (let screens = 0; screens < (QUICK ? 5 : 40); screens += 1)
    await stage.browser.value(
      `new Promise((resolve) => { const log = document.querySelector('[role=log]'); log.scrollTop = 0; setTimeout(resolve, 100); })`,
    );
  const shown = await stage.browser.value<number>(`document.querySelectorAll('article').length`);
  return [
    row(
      `a conversation of ${MESSAGES} messages opens in`,
      `${ms(opened)}; ${tasks.length} tasks over ${LONG_TASK_MS} ms${tasks.length > 0 ? `, the longest ${ms(Math.max(...tasks))}` : ''}`,
    ),
    row('memory behind it', `${heap.toFixed(1)} MB; ${(await stage.heapMb()).toFixed(1)} MB with ${shown} messages on the page`),
  ];
}

/** Measures the web interface in a real browser, and prints the table. */
export async function benchWeb(): Promise<void> {
  await unlessLacking('web', async () => {
    if (!CHROMIUM) throw new Lacking('Chromium', 'apt-get install chromium');
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const daemon = quern('start', port);
    await answers(`${base}/health`);
    const [host, browser] = await Promise.all([ScriptedOpenAI.start(), Browser.start()]);
    try {
      await browser.command('Performance.enable');
      const stage = new Stage(base, browser, host);
      const models = [{ name: 'instant', provider: 'compat_api', model: 'instant', base_url: host.base }];
      await stage.send('PUT', '', { config: { version: 'v1', name: 'quickstart', namespace: 'default', runtime: { models } } });
      const rows = [
        ...(await sizes(stage)),
        await firstPaint(stage),
        await firstToken(stage),
        ...(await longTasks(stage)),
        ...(await longHistory(stage)),
      ];
      table('Web interface', rows);
    } finally {
      await Promise.all([browser.close(), host.close(), ended(daemon)]);
    }
  });
}
