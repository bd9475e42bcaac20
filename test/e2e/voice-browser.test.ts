import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { PUPPET_SCRIPTS } from '../../models/puppet/puppet-scripts.js';
import { VOICE_PAGE } from '../support/voice/page.js';
import { TALK_KIT, TalkStage } from '../support/voice/talk-stage.js';
import { joined, silence, wavOf } from '../support/voice/utterances.js';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
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
const HELLO = 'Hello. Who are you?';
const COUNT = 'Please count for me now.';
/** Seconds of silence before, between and behind what is said: the second answer lasts for minutes, and the third utterance falls into it. */
const BEFORE_S = 6;
const ANSWER_S = 14;
const INTO_ANSWER_S = 12;
const AFTER_S = 20;
const PATIENCE_MS = 180_000;

/** What the page saw. */
type Seen = { atMs: number; type: string; state?: string; text?: string; is_final?: boolean; samples?: number; message?: string }[];

describe('voice chat in a browser', { skip: CHROMIUM ? TALK_KIT.missing : 'no Chromium is installed' }, () => {
  const stage = new TalkStage();
  const folder = mkdtempSync(join(tmpdir(), 'quern-voice-browser-'));
  let server: Server;
  let browser: ChildProcess | undefined;
  let reported: (seen: Seen) => void;

  before(async () => {
    await stage.open([HELLO, COUNT]);
    const [hello, count] = [stage.said(HELLO), stage.said(COUNT)];
    const heard = [silence(BEFORE_S), hello, silence(ANSWER_S), count, silence(INTO_ANSWER_S), hello, silence(AFTER_S)];
    writeFileSync(join(folder, 'microphone.wav'), wavOf(joined(heard)));
    server = createServer((request, response) => {
      if (request.method !== 'POST') {
        response.writeHead(200, { 'content-type': 'text/html' }).end(VOICE_PAGE);
        return;
      }
      void text(request).then((body) => {
        response.end();
        reported(JSON.parse(body) as Seen);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // The models are loaded before the microphone begins.
    const first = await stage.connect();
    await first.until(() => ['tiny.en', 'flite'].every((name) => stage.daemon.output().includes(`loaded ${name}`)), 'the models', 60_000);
  });
  after(async () => {
    browser?.kill('SIGKILL');
    server?.close();
    await stage.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Opens the page until so many utterances have been answered, and gives what it saw. */
  const talk = async (form: 'pcm' | 'webm', until: number): Promise<Seen> => {
    const socket = `${stage.daemon.core.replace('http', 'ws')}${stage.path()}`;
    const { port } = server.address() as { port: number };
    const page = `http://127.0.0.1:${port}/?form=${form}&until=${until}&socket=${encodeURIComponent(socket)}`;
    const microphone = `--use-file-for-fake-audio-capture=${join(folder, 'microphone.wav')}%noloop`;
    const report = new Promise<Seen>((resolve) => (reported = resolve));
    browser = spawn(CHROMIUM!, [...OPTIONS, microphone, `--user-data-dir=${join(folder, form)}`, page], { stdio: 'ignore' });
    const late = setTimeout(() => reported([{ atMs: 0, type: 'failed', message: 'the page did not report' }]), PATIENCE_MS);
    const seen = await report;
    clearTimeout(late);
    browser.kill('SIGKILL');
    assert.deepEqual(
      seen.filter(({ type }) => type === 'failed' || type === 'error' || type === 'close'),
      [],
    );
    return seen;
  };
  const transcriptsOf = (seen: Seen): string[] =>
    seen.filter((one) => one.type === 'transcription' && one.is_final).map((one) => one.text ?? '');

  it('holds a conversation of three turns, and is interrupted', async () => {
    const seen = await talk('pcm', 3);
    const transcripts = transcriptsOf(seen);
    assert.equal(transcripts.length, 3);
    assert.match(transcripts[0]!, /hello/i);
    assert.match(transcripts[1]!, /count/i);
    assert.match(transcripts[2]!, /who are you/i);
    const states = seen.flatMap(({ state }) => (state === undefined ? [] : [state]));
    assert.ok(states.join().includes('speaking,interrupted,listening,processing,speaking,idle'), states.join());
    const said = seen.filter(({ type }) => type === 'llm_text').map((one) => one.text);
    // The puppet knows "hello" where Whisper did.
    assert.ok(
      [PUPPET_SCRIPTS.hello.answer, PUPPET_SCRIPTS.default.answer].includes(said.slice(-2).join(' ') as never),
      said.slice(-2).join(' '),
    );
    const interrupted = seen.find(({ state }) => state === 'interrupted')!;
    const goesOn = seen.find(({ state, atMs }) => state === 'speaking' && atMs > interrupted.atMs)!;
    assert.ok(goesOn.samples! - interrupted.samples! <= 2400, 'no more than 100 ms of sound comes after the interruption');
  });

  it('hears what the recorder of the browser makes', async () => {
    const seen = await talk('webm', 1);
    assert.match(transcriptsOf(seen)[0]!, /hello/i);
  });
});
