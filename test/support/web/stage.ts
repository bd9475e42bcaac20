import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
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
  readonly #forgiven = new Set<number>();

  /** `browser` are options of the browser's command line. */
  constructor(options: Parameters<typeof startDaemon>[0] = {}, browser: readonly string[] = []) {
    before(async () => {
      [this.daemon, this.browser] = await Promise.all([startDaemon(options), Browser.start(browser)]);
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

  /** From now on no complaint of the browser counts that is of a request refused with one of these statuses: the tests ask for such refusals. */
  forgive(...statuses: number[]): void {
    for (const status of statuses) this.#forgiven.add(status);
  }

  /** Looks at the open page at three widths and in both colours: no violation that axe knows, nothing wider than the window, nothing in the console. */
  async inspect(name: string): Promise<void> {
    for (const [device, width, height] of WIDTHS) {
      await this.browser.resize(width, height);
      for (const colours of device === 'wide' ? ['light', 'dark'] : ['light']) {
        await this.browser.value(`(document.documentElement.dataset.theme = '${colours}', 0)`);
        await this.#picture(`${name}-${device}-${colours}`, width, height);
        for (const part of ['document.documentElement', `document.querySelector('main')`]) {
          const wide = await this.browser.value<number>(`${part}.scrollWidth - ${part}.clientWidth`);
          assert.ok(wide <= 0, `${part} of ${name} is ${wide} pixels wider than the window of a ${device}`);
        }
        const high = await this.browser.value<number>('document.documentElement.scrollHeight - document.documentElement.clientHeight');
        assert.ok(high <= 0, `${name} scrolls ${high} pixels into emptiness on a ${device}`);
        assert.deepEqual(await this.#violations(), [], `${name}, ${device}, ${colours}`);
      }
    }
    const isForgiven = (one: string): boolean => this.#forgiven.has(Number(/status of (\d+) /.exec(one)?.[1]));
    assert.deepEqual(
      this.browser.complaints.filter((one) => !isForgiven(one)),
      [],
    );
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
