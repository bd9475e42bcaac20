import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { VOICE_PAGE } from './page.js';
import type { TalkStage } from './talk-stage.js';
import { joined, silence, wavOf } from './utterances.js';

/** The browser of this machine; undefined where none is installed. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const OPTIONS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--autoplay-policy=no-user-gesture-required',
  '--use-fake-ui-for-media-stream',
  '--use-fake-device-for-media-stream',
];
/** Seconds of silence before the first utterance, and behind the last one. */
const BEFORE_S = 4;
const AFTER_S = 20;
/** A page has so long to report when all was said. */
const PATIENCE_MS = 90_000;

/** What the page saw. */
export type Seen = { atMs: number; type: string; state?: string; text?: string; is_final?: boolean; samples?: number; message?: string }[];

/** What was heard of each utterance that a page saw. */
export const transcriptsOf = (seen: Seen): string[] =>
  seen.filter((one) => one.type === 'transcription' && one.is_final).map((one) => one.text ?? '');

/** A browser whose microphone hears a file, on a page that talks with a stage. */
export class BrowserTalk {
  readonly #stage: TalkStage;
  readonly #folder = mkdtempSync(join(tmpdir(), 'quern-voice-browser-'));
  readonly #server: Server;
  #browser: ChildProcess | undefined;
  #talks = 0;
  #reported: (seen: Seen) => void = () => undefined;

  constructor(stage: TalkStage) {
    this.#stage = stage;
    this.#server = createServer((request, response) => {
      if (request.method !== 'POST') {
        response.writeHead(200, { 'content-type': 'text/html' }).end(VOICE_PAGE);
        return;
      }
      void text(request).then((body) => {
        response.end();
        this.#reported(JSON.parse(body) as Seen);
      });
    });
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#end();
    this.#server.close();
    // Processes of the browser may write for a moment yet.
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  /** Says these texts, each so many seconds behind the one before, until so many have been answered; gives what the page saw. */
  async talk(form: 'pcm' | 'webm', said: readonly (readonly [afterS: number, text: string])[], until: number): Promise<Seen> {
    const heard = said.flatMap(([afterS, one]) => [silence(afterS), this.#stage.said(one)]);
    const microphone = join(this.#folder, 'microphone.wav');
    const sound = joined([silence(BEFORE_S), ...heard, silence(AFTER_S)]);
    writeFileSync(microphone, wavOf(sound));
    const socket = `${this.#stage.daemon.core.replace('http', 'ws')}${this.#stage.path()}`;
    const { port } = this.#server.address() as { port: number };
    const page = `http://127.0.0.1:${port}/?form=${form}&until=${until}&socket=${encodeURIComponent(socket)}`;
    const report = new Promise<Seen>((resolve) => (this.#reported = resolve));
    this.#talks += 1;
    const own = [
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
      `--user-data-dir=${join(this.#folder, `profile-${this.#talks}`)}`,
    ];
    this.#browser = spawn(CHROMIUM!, [...OPTIONS, ...own, page], { stdio: 'ignore' });
    const late = setTimeout(
      () => this.#reported([{ atMs: 0, type: 'failed', message: 'the page did not report' }]),
      PATIENCE_MS + sound.length / 16,
    );
    const seen = await report;
    clearTimeout(late);
    this.#end();
    return seen;
  }

  #end(): void {
    this.#browser?.kill('SIGKILL');
    this.#browser = undefined;
  }
}
