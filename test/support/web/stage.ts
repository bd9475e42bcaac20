import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser, CHROMIUM } from '../browser.js';
import { type DaemonUnderTest, startDaemon } from '../daemon.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const AXE = join(ROOT, 'web/node_modules/axe-core/axe.min.js');
/** Where pictures of the pages go when the variable names a folder: for people who look at them. */
const PICTURES = process.env.QUERN_PICTURES;

/** A phone, a tablet and a wide screen. */
export const WIDTHS = [
  ['phone', 390, 844],
  ['tablet', 820, 1180],
  ['wide', 1440, 900],
] as const;

/** For `describe`: why tests of pages are skipped here. */
export const NO_BROWSER = CHROMIUM ? false : 'no Chromium is installed';

/** Writes down each short message at the edge of the page: good news goes by itself, and a busy machine may look too late. */
const NOTE_TOASTS = `(window.toasts = [], new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes)
      if (node instanceof Element) for (const one of [node, ...node.querySelectorAll('.toast')]) if (one.matches('.toast')) toasts.push(one.innerText);
}).observe(document, { childList: true, subtree: true }))`;

/** For `until`: whether a short message with this text came since the page was loaded; it is looked at once. */
export const toasted = (text: string): string =>
  `((at) => at >= 0 && toasts.splice(at, 1).length > 0)(toasts.findIndex((one) => one.includes(${JSON.stringify(text)})))`;

/** How often a page that is looked at is looked at again where something is wrong, and how long after: what moves at this moment is judged when it is still. */
const LOOKS = 6;
const LOOK_MS = 500;

/** From now on the page's requests of an address with this part are answered as this expression says, or, where it is undefined, as ever. */
export const answering = (part: string, answer: string): string =>
  `(window.ownFetch ??= window.fetch, window.fetch = (url, options) => (String(url).includes(${JSON.stringify(part)}) ? ${answer} : undefined) ?? ownFetch(url, options), 0)`;

/** The next request of an address that ends so, by this method, is sent at once, and its answer comes when `window.letGo()` is called; the request cannot be ended meanwhile. */
export const holding = (end: string, method = 'GET'): string =>
  `(window.letGo = undefined, ${answering(
    end,
    `(String(url).endsWith(${JSON.stringify(end)}) && (options?.method ?? 'GET') === '${method}' && !window.letGo
      ? (window.letGo = () => undefined, ownFetch(url, { ...options, signal: undefined })
          .then(async (told) => new Response(await told.arrayBuffer(), told))
          .then((told) => new Promise((go) => (window.letGo = () => go(told), window.isHeld = true))))
      : undefined)`,
  )}, window.isHeld = false, 0)`;

/** Lets the held answer go, and the page do with it what it does. */
export const LET_GO = `(window.letGo(), window.fetch = window.ownFetch, new Promise((resolve) => setTimeout(() => resolve(0), 100)))`;

/** One daemon and one browser for the tests of a file; both are there from `before` on. */
export class WebStage {
  daemon!: DaemonUnderTest;
  browser!: Browser;
  readonly #forgiven = new Set<number | string>();

  /** `browser` are options of the browser's command line. */
  constructor(options: Parameters<typeof startDaemon>[0] = {}, browser: readonly string[] = []) {
    before(async () => {
      const begun = await Promise.allSettled([startDaemon(options), Browser.start(browser)]);
      // Where one of them fails, the other is ended after the tests all the same.
      if (begun[0].status === 'fulfilled') this.daemon = begun[0].value;
      if (begun[1].status === 'fulfilled') this.browser = begun[1].value;
      for (const one of begun) if (one.status === 'rejected') throw one.reason;
      await this.browser.command('Page.addScriptToEvaluateOnNewDocument', { source: NOTE_TOASTS });
    });
    after(async () => {
      await this.browser?.close();
      await this.daemon?.end('SIGKILL');
    });
  }

  /** Opens a view, such as `data` or `chat/conv_1`, and waits until its code is there. */
  async open(place: string): Promise<void> {
    await this.browser.open('about:blank#');
    await this.browser.open(`${this.daemon.core}/#/${place}`);
    await this.browser.until(`document.querySelector('main')?.children.length > 0`);
  }

  /** From now on no complaint of the browser counts that is of a request refused with one of these statuses, or has one of these texts: the tests ask for such refusals. */
  forgive(...what: (number | string)[]): void {
    for (const one of what) this.#forgiven.add(one);
  }

  /** What the browser complained of, and nobody forgave. */
  get complaints(): string[] {
    const isForgiven = (one: string): boolean =>
      [...this.#forgiven].some((what) => (typeof what === 'string' ? one.includes(what) : one.includes(`status of ${what} `)));
    return this.browser.complaints.filter((one) => !isForgiven(one));
  }

  /** Looks at the open page at three widths and in both colours: no violation that axe knows, nothing wider than the window, nothing in the console. */
  async inspect(name: string): Promise<void> {
    for (const [device, width, height] of WIDTHS) {
      await this.browser.resize(width, height);
      for (const colours of device === 'wide' ? ['light', 'dark'] : ['light']) {
        await this.browser.value(`(document.documentElement.dataset.theme = '${colours}', 0)`);
        await this.#picture(`${name}-${device}-${colours}`, width, height);
        let wrong: string[] = [];
        for (let look = 0; look < LOOKS; look += 1) {
          if (look > 0) await sleep(LOOK_MS);
          wrong = [...(await this.#overflows()), ...(await this.#violations())];
          if (wrong.length === 0) break;
        }
        assert.deepEqual(wrong, [], `${name}, ${device}, ${colours}`);
      }
    }
    assert.deepEqual(this.complaints, []);
  }

  /** What is larger than the window that it is in, as a line for each. */
  #overflows(): Promise<string[]> {
    return this.browser.value(`(() => {
      const [root, main] = [document.documentElement, document.querySelector('main')];
      const found = [['the page', root], ['its main part', main]].map(([name, one]) => [name + ' is wider than the window', one.scrollWidth - one.clientWidth]);
      found.push(['the page scrolls into emptiness', root.scrollHeight - root.clientHeight]);
      return found.filter(([, pixels]) => pixels > 0).map(([what, pixels]) => what + ' by ' + pixels + ' pixels');
    })()`);
  }

  /** A picture of the whole view, which is higher than the window where it scrolls. */
  async #picture(name: string, width: number, height: number): Promise<void> {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    const needed = await this.browser.value<number>(`(document.querySelector('main')?.scrollHeight ?? 0) + 60`);
    await this.browser.resize(width, Math.min(3_000, Math.max(height, needed)));
    await this.browser.picture(join(PICTURES, `${name}.png`));
    await this.browser.resize(width, height);
  }

  /** What axe-core finds, as a line per rule with the elements. */
  async #violations(): Promise<string[]> {
    // The page's policy takes no script of others; the debugger's evaluation is not bound by it.
    if (!(await this.browser.value<boolean>(`'axe' in window`))) await this.browser.value(`${readFileSync(AXE, 'utf8')}; 0`);
    return this.browser.value<string[]>(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, help, nodes }) =>
        id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary.slice(0, 200)).join(' | ')))`,
    );
  }
}
