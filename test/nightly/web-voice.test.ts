import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Browser } from '../support/browser.js';
import { puppetPath } from '../support/models/cache.js';
import { TALK_KIT, TalkStage } from '../support/voice/talk-stage.js';
import { joined, silence, wavOf } from '../support/voice/utterances.js';
import { NO_BROWSER } from '../support/web/stage.js';

const SAID = ['Hello there.', 'Please count for me.', 'Wait, please be quiet now.'] as const;

describe('talking in the web interface', { skip: TALK_KIT.missing || NO_BROWSER }, () => {
  const stage = new TalkStage();
  const folder = mkdtempSync(join(tmpdir(), 'quern-web-voice-'));
  let browser: Browser;
  before(async () => {
    await stage.open(SAID);
    const puppet = { name: 'puppet', provider: 'universal', model: puppetPath(), model_api_parameters: { temperature: 0 } };
    const voice = { llm_model: 'puppet', stt: { language: 'en' }, tts: { model: 'flite', voice: 'slt' } };
    const config = { version: 'v1', name: 'quickstart', namespace: 'default', runtime: { models: [puppet] }, voice };
    const sent = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ config }),
    });
    assert.equal(sent.status, 200, await sent.text());
    await stage.warm();
    const microphone = join(folder, 'microphone.wav');
    const [hello, count, quiet] = SAID.map((text) => stage.said(text));
    writeFileSync(microphone, wavOf(joined([silence(8), hello!, silence(9), count!, silence(5), quiet!, silence(30)])));
    browser = await Browser.start([
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}%noloop`,
    ]);
  });
  after(async () => {
    await browser?.close();
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('hears, answers with captions, and is interrupted', async () => {
    await browser.open(`${stage.daemon.core}/#/chat`);
    // The small model of this test is none that a project may name.
    await browser.value(`(window.WebSocket = class extends WebSocket {
      constructor(address, protocols) {
        const url = new URL(address);
        url.searchParams.set('stt_model', 'tiny.en');
        super(url, protocols);
      }
    }, 0)`);
    await browser.click('Talk');
    const voice = `document.querySelector('.voice')`;
    await browser.until(`${voice}?.innerText.includes('Say something')`);
    await browser.until(`${voice}.querySelector('.you')?.innerText.toLowerCase().includes('hello')`);
    await browser.until(`${voice}.querySelector('.quern')?.innerText.includes('I am the puppet')`);
    await browser.until(`${voice}.innerText.includes('number 1')`);
    await browser.until(`[...${voice}.querySelectorAll('.you')].length >= 3 || ${voice}.innerText.includes('You interrupted')`);
    await browser.click('End', '.voice');
    await browser.until(`!${voice}`);
    assert.deepEqual(browser.complaints, []);
  });
});
