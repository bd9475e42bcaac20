import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { BrowserTalk, CHROMIUM, transcriptsOf } from '../support/voice/browser-talk.js';
import { TALK_KIT, TalkStage } from '../support/voice/talk-stage.js';

const HELLO = 'Hello. Who are you?';

describe('voice chat with the recorder of a browser', { skip: CHROMIUM ? TALK_KIT.missing : 'no Chromium is installed' }, () => {
  const stage = new TalkStage();
  const browser = new BrowserTalk(stage);
  before(async () => {
    await stage.open([HELLO]);
    await stage.warm();
    await browser.open();
  });
  after(async () => {
    await browser.close();
    await stage.close();
  });

  it('hears the WebM that it makes', async () => {
    const seen = await browser.talk('webm', [[2, HELLO]], 1);
    assert.deepEqual(
      seen.filter(({ type }) => type === 'failed' || type === 'error' || type === 'close'),
      [],
    );
    assert.match(transcriptsOf(seen)[0]!, /hello/i);
  });
});
