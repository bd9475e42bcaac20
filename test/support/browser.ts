import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** Where Chromium is; undefined where it is not installed. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/** How long a page may take to become what a test waits for, in milliseconds; a busy machine loads a model in it. */
const PATIENCE_MS = 90_000;

/** For `until`: clicks the element of an expression, once it is there and can be clicked. */
export const clicked = (element: string): string => `((one) => one && !one.disabled && (one.click(), true))(${element})`;

/** For `until`: gives the element of an expression the focus, once it is there and takes it. */
export const focused = (element: string): string => `((one) => one && (one.focus(), one.getRootNode().activeElement === one))(${element})`;

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly entry?: { text?: string; level?: string; url?: string };
    readonly exceptionDetails?: { text: string; exception?: { description?: string } };
  };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** One page in a real browser, driven over the DevTools protocol on a pipe. */
export class Browser {
  /** What the page complained of: exceptions, and errors of the network and of its policy. */
  readonly complaints: string[] = [];
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (reply: Pick<Reply, 'result' | 'error'>) => void>();
  #session: string | undefined;
  #last = 0;

  private constructor(child: ChildProcess, profile: string) {
    this.#child = child;
    this.#profile = profile;
    let rest = '';
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop()!;
      for (const message of messages) this.#take(JSON.parse(message) as Reply);
    });
    child.once('exit', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'the browser has ended' } });
    });
  }

  /** Starts a browser of its own with an empty profile; `more` are further options of its command line. */
  static async start(more: readonly string[] = []): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'quern-browser-'));
    const options = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      // Shared memory is small in containers.
      '--disable-dev-shm-usage',
      // Its microphone beeps, and nobody is asked for it.
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      // What fades in has no colour that can be judged until it is there.
      '--force-prefers-reduced-motion',
      '--remote-debugging-pipe',
    ];
    const child = spawn(CHROMIUM!, [...options, ...more, `--user-data-dir=${profile}`, '--window-size=1200,900', 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const browser = new Browser(child, profile);
    const targetId = await browser.#firstPage();
    browser.#session = ((await browser.#send('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string }).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await browser.#send(`${domain}.enable`);
    // The page tells of what gets the focus only while its window has it; no other window takes that away.
    await browser.#send('Emulation.setFocusEmulationEnabled', { enabled: true });
    return browser;
  }

  /** Loads an address; what the expressions of later calls see is its page. */
  async open(url: string): Promise<void> {
    await this.value('(window.isLeft = true, 0)');
    const { loaderId, errorText } = await this.#send('Page.navigate', { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    // Another place of the open page is no new page.
    await this.until(`${loaderId === undefined ? '' : '!window.isLeft && '}document.readyState === 'complete'`);
  }

  /** The value of an expression in the page; promises are awaited. */
  async value<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as {
      result: { value: T };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    };
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Loads the page again; what the expressions of later calls see is the new page. */
  async reload(): Promise<void> {
    await this.value('(window.isLeft = true, location.reload(), 0)');
    await this.until(`!window.isLeft && document.readyState === 'complete'`);
  }

  /** Waits until an expression is true in the page. */
  async until(expression: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await this.value(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > deadline)
        throw new Error(`the page never had ${expression}; it shows: ${await this.value('document.body.innerText')}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Presses a key, such as `Enter` or `ArrowRight`. */
  async press(key: string): Promise<void> {
    const code = { Enter: 13, Tab: 9, Escape: 27, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, ArrowLeft: 37 }[key] ?? 0;
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' ? { text: '\r' } : {}) };
    await this.#send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** Clicks the first visible button, link, tab or summary whose name (text or label) is or begins with `name`, inside `within`. */
  async click(name: string, within = 'body'): Promise<void> {
    const found = `[...document.querySelector(${JSON.stringify(within)}).querySelectorAll('button, a, summary, [role=tab], [role=option], [role=menuitem], label')]
      .filter((one) => one.checkVisibility() && !one.disabled && !one.ariaDisabled)
      .map((one) => [one, (one.getAttribute('aria-label') ?? one.innerText ?? '').trim()])
      .filter(([, text]) => text.startsWith(${JSON.stringify(name)}))
      .sort(([, a], [, b]) => a.length - b.length)[0]?.[0]`;
    // Found and clicked in one step: the page may draw itself anew between two.
    await this.until(`((one) => {
      if (!one) return false;
      const [from, link] = [location.hash, one.closest('a[href^="#"]')];
      // Where a link leads to another place of the page, the page hears of that a moment after the address is another one.
      const told = new Promise((resolve) => addEventListener('hashchange', () => resolve(0), { once: true }));
      let isFollowed = false;
      const hear = (event) => (isFollowed = link !== null && !event.defaultPrevented && link.hash !== from);
      addEventListener('click', hear);
      one.click();
      removeEventListener('click', hear);
      window.arrival = isFollowed ? told : undefined;
      return true;
    })(${found})`);
    await this.value('window.arrival');
  }

  /** Chooses the option of this value in a select, once it is there; `at` says which, where several match. */
  async choose(selector: string, value: string, at = 0): Promise<void> {
    const [select, wanted] = [JSON.stringify(selector), JSON.stringify(value)];
    await this.until(`((one) => {
      if (!one?.checkVisibility() || one.disabled || ![...one.options].some((option) => option.value === ${wanted})) return false;
      one.value = ${wanted};
      for (const name of ['input', 'change']) one.dispatchEvent(new Event(name, { bubbles: true }));
      return true;
    })(document.querySelectorAll(${select})[${at}])`);
  }

  /** Empties the field of a selector, which is in sight, and writes text into it, as a person does. The field has the focus then. */
  async fill(selector: string, text: string): Promise<void> {
    const field = `document.querySelector(${JSON.stringify(selector)})`;
    const write = text === '' ? `execCommand('delete')` : `execCommand('insertText', false, ${JSON.stringify(text)})`;
    // All in one step: another element may take the focus between two.
    await this.until(`((one) => {
      if (!one?.checkVisibility() || one.disabled) return false;
      one.focus();
      if (document.activeElement !== one) return false;
      one.select();
      document.${write};
      return true;
    })(${field})`);
    await this.until(`${field}?.value === ${JSON.stringify(text)}`);
  }

  /** Gives a file field the files at some paths, as its dialog does. */
  async attach(selector: string, ...paths: string[]): Promise<void> {
    const field = `document.querySelector(${JSON.stringify(selector)})`;
    for (;;) {
      await this.until(field);
      const { result } = (await this.#send('Runtime.evaluate', { expression: field })) as { result: { objectId?: string } };
      if (result.objectId === undefined) continue;
      return void (await this.#send('DOM.setFileInputFiles', { objectId: result.objectId, files: paths }));
    }
  }

  /** Makes the window as large as this, in pixels; up to 500 wide it is a phone's, with touch. */
  async resize(width: number, height: number): Promise<void> {
    const mobile = width <= 500;
    await this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile });
    await this.#send('Emulation.setTouchEmulationEnabled', { enabled: mobile });
    // What watches its own size draws itself anew a frame later.
    await this.value(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(0))))`);
  }

  /** Sends a command of the DevTools protocol that has no method of its own here. */
  command(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#send(method, params);
  }

  /** The page as a PNG file. */
  async picture(path: string): Promise<void> {
    const { data } = (await this.#send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true })) as { data: string };
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  /** What a screen reader finds: role and name of each node that has both. */
  async accessible(): Promise<{ role: string; name: string }[]> {
    const { nodes } = (await this.#send('Accessibility.getFullAXTree')) as {
      nodes: { ignored: boolean; role?: { value: string }; name?: { value: string } }[];
    };
    return nodes.filter(({ ignored }) => !ignored).map(({ role, name }) => ({ role: role?.value ?? '', name: name?.value ?? '' }));
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      // Its helpers go on writing into the profile for a moment otherwise.
      process.kill(-this.#child.pid!, 'SIGKILL');
      await ended;
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  /** The id of the page that a browser begins with, which comes a moment after the browser. */
  async #firstPage(): Promise<string> {
    for (const deadline = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      const { targetInfos } = (await this.#send('Target.getTargets')) as { targetInfos: { targetId: string; type: string }[] };
      const page = targetInfos.find(({ type }) => type === 'page');
      if (page) return page.targetId;
      if (Date.now() > deadline) throw new Error('the browser shows no page');
    }
  }

  #send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    this.#last += 1;
    const id = this.#last;
    (this.#child.stdio[3] as Writable).write(
      `${JSON.stringify({ id, method, params, ...(this.#session ? { sessionId: this.#session } : {}) })}\0`,
    );
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result ?? {})));
    });
  }

  #take(reply: Reply): void {
    if (reply.id !== undefined) {
      this.#waiting.get(reply.id)?.(reply);
      this.#waiting.delete(reply.id);
    }
    if (reply.method === 'Runtime.exceptionThrown')
      this.complaints.push(reply.params?.exceptionDetails?.exception?.description ?? reply.params?.exceptionDetails?.text ?? 'exception');
    if (reply.method === 'Log.entryAdded' && reply.params?.entry?.level === 'error')
      this.complaints.push(`${reply.params.entry.text ?? 'error'}${reply.params.entry.url ? `: ${reply.params.entry.url}` : ''}`);
  }
}
