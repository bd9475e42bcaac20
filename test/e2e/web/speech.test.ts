import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { emptyDataDir } from '../../support/daemon.js';
import { writePuppetWhisper } from '../../support/speech/puppet-whisper.js';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

describe('speech in the web interface', { skip: NO_BROWSER }, () => {
  const dataDir = emptyDataDir();
  const file = join(dataDir, 'spoken.wav');
  const stage = new WebStage({ dataDir, env: { HF_HUB_CACHE: join(dataDir, 'hub') } });
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);

  it('speaks a text with a chosen voice, plays it, and saves it', async () => {
    await stage.open('speech');
    await stage.browser.until(`document.querySelectorAll('main option').length > 20`);
    await stage.browser.choose('main select', 'flite rms', 1);
    await stage.browser.fill('main textarea', 'Hello there.');
    await stage.browser.click('Speak', 'main form');
    await shows('rms spoke it in');
    await stage.browser.until(`document.querySelector('audio').duration > 0.3`);
    assert.equal(await stage.browser.value(`document.querySelector('main a[download]').download`), 'speech.mp3');
    await shows('kokoro');
    await stage.inspect('speech');
  });

  it('says in words why a voice speaks in the place of another', async () => {
    await stage.browser.choose('main select', 'kokoro af_heart', 1);
    await stage.browser.click('Speak', 'main form');
    await shows('kokoro is not here, so flite spoke in its place');
  });

  it('says what is missing where no model listens', async () => {
    await stage.browser.resize(1440, 900);
    await stage.browser.click('Write down', 'main nav');
    await shows('None is here yet');
    const spoken = await fetch(`${stage.daemon.core}/v1/default/quickstart/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'Hello there, this is a recording.', response_format: 'wav' }),
    });
    writeFileSync(file, Buffer.from(await spoken.arrayBuffer()));
    await stage.browser.attach('main input[type=file]', file);
    await stage.browser.until(`/whisper/.test(document.querySelector('main [role=alert]')?.innerText)`);
    stage.forgive(404);
  });

  it('writes down a file with the times of its segments', async () => {
    writePuppetWhisper(join(dataDir, 'models', 'Systran', 'faster-whisper-tiny.en'), {
      words: [' Hello', ' from', ' the', ' puppet.'],
      seconds: 1.2,
    });
    const slowly = (uploadThroughput: number): Promise<unknown> =>
      stage.browser.command('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
    await stage.browser.command('Network.enable');
    await slowly(5_000);
    await stage.browser.attach('main input[type=file]', file);
    await shows('Sending spoken.wav');
    await stage.browser.until(`document.querySelector('main progress')?.value > 0`);
    await slowly(-1);
    await shows('Hello from the puppet.');
    await stage.browser.click('Play from 00:00');
    // A second file while the first is listened to: that one is given up.
    await stage.browser.click('Write it down again');
    await stage.browser.attach('main input[type=file]', file);
    await shows('Hello from the puppet.');
    await stage.browser.until(`!document.querySelector('main').innerText.includes('listening to')`);
    assert.equal(await stage.browser.value(`document.querySelectorAll('main ol li').length`), 1);
    await stage.inspect('speech-written');
  });

  it('records from the microphone and writes that down', async () => {
    // The browser's own microphone of tests beeps; here it hears somebody.
    await stage.browser.value(`(async () => {
      const context = new AudioContext();
      const answer = await fetch('/v1/default/quickstart/audio/speech', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ input: 'Hello there, this is a recording.' }) });
      const buffer = await context.decodeAudioData(await answer.arrayBuffer());
      const into = context.createMediaStreamDestination();
      navigator.mediaDevices.getUserMedia = async () => {
        const source = Object.assign(context.createBufferSource(), { buffer, loop: true });
        source.connect(into);
        source.start();
        return into.stream;
      };
    })()`);
    await stage.browser.click('Record', 'main');
    await stage.browser.until(`/Stop and write down \\(00:(?!00|01)/.test(document.querySelector('main').innerText)`);
    await stage.browser.click('Stop and write down');
    await shows('recording.webm');
    await shows('Hello from the puppet.');
    await stage.browser.until(`document.querySelector('main').innerText.includes('Save the recording')`);
    await stage.browser.click('Write it down again');
    await shows('Hello from the puppet.');
    assert.deepEqual(await stage.browser.value(`document.querySelectorAll('main [role=alert]').length`), 0);
  });
});
