import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { HubClient } from '../../../../runtime/hub/client.js';
import { planDownload } from '../../../../runtime/hub/plan.js';
import { hubSettings } from '../../../../runtime/hub/settings.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { bytesOf, type HubStage, hubStage } from './stage.js';

const never = new AbortController().signal;

describe('asking the hub', () => {
  let stage: HubStage;
  before(async () => {
    stage = await hubStage();
  });
  after(() => stage.close());
  afterEach(() => stage.server.calm());

  it('sends the token to the endpoint and not to where it redirects', async () => {
    stage.server.put('org/gated', { 'model.gguf': bytesOf(2048), 'config.json': '{}' }, { token: 'hf_canary' });
    await stage.pull('org/gated', stage.hub({ token: 'hf_canary' }));
    const at = (server: string): (string | undefined)[] =>
      stage.server.seen.filter((one) => one.server === server).map(({ authorization }) => authorization);
    assert.ok(at('hub').length >= 3 && at('hub').every((one) => one === 'Bearer hf_canary'));
    assert.deepEqual(at('store'), [undefined]);
  });

  const refused: [string, string | null, string, string, RegExp][] = [
    ['a gated repository without a token', null, 'forbidden', 'ModelGated', /\/org\/gated.*HF_TOKEN/],
    ['a gated repository with another token', 'hf_other', 'forbidden', 'ModelGated', /account/],
  ];
  for (const [what, token, kind, code, message] of refused) {
    it(`explains ${what}`, () => assert.rejects(stage.hub({ token }).plan('org/gated', never), { kind, code, message }));
  }

  it('explains what is not there', async () => {
    await assert.rejects(stage.hub().plan('org/absent', never), {
      kind: 'not_found',
      code: 'ModelNotFound',
      message: /org\/absent.*HF_TOKEN/,
    });
    stage.server.put('org/torch', { 'model.safetensors': bytesOf(2048) });
    await assert.rejects(stage.hub().plan('org/torch', never), { kind: 'invalid', code: 'NoUsableWeights', message: /model\.safetensors/ });
    await assert.rejects(stage.hub().plan('../etc', never), { kind: 'bad_request' });
  });

  it('asks nothing while offline', async () => {
    const before = stage.server.seen.length;
    await assert.rejects(stage.hub({ offline: true }).plan('org/absent', never), { code: 'HubOffline', message: /HF_HUB_OFFLINE/ });
    assert.equal(stage.server.seen.length, before);
  });

  for (const path of ['../../evil.gguf', '/etc/evil.gguf', 'a//b.gguf', 'a\\..\\b.gguf']) {
    it(`refuses a listing with ${path}`, async () => {
      stage.server.put('org/evil', { [path]: bytesOf(2048) });
      await assert.rejects(stage.hub().plan('org/evil', never), { kind: 'invalid', code: 'UnsafeListing' });
    });
  }

  it('does not follow a public hub to a private address', async () => {
    stage.server.put('org/away', { 'model.gguf': bytesOf(2048) });
    stage.server.storeUrl = 'http://169.254.169.254/latest';
    const events = await stage.pull('org/away');
    const event = events.at(-1)!;
    assert.ok(event.event === 'error' && event.error === 'AddressRefused', JSON.stringify(event));
    // To this client the hub has a public name, which its resolver leads to the test's server.
    const port = new URL(stage.server.url).port;
    const outbound = new Outbound({ resolve: async () => ['127.0.0.1'] });
    const client = new HubClient(outbound, { ...hubSettings({}), endpoint: `http://8.8.8.8.nip.invalid:${port}`, pauseMs: 1 });
    stage.server.storeUrl = stage.server.url.replace('127.0.0.1', '127.0.0.2');
    const plan = await planDownload(client, 'org/away', never);
    await assert.rejects(client.open('org/away', plan.commit, plan.files[0]!, null, never), { code: 'AddressRefused' });
    await outbound.close();
  });

  it('takes a cache folder that is given relative to the home or working folder', async () => {
    const hub = stage.hub({ cache: hubSettings({ HF_HUB_CACHE: relative('.', join(stage.cache, 'near')) }).cache });
    stage.server.put('org/near', { 'model.gguf': bytesOf(2048) });
    const plan = await hub.plan('org/near', never);
    const fit = await hub.fit(plan);
    assert.deepEqual([plan.layout.folder, fit.requiredBytes], [join(stage.cache, 'near', 'models--org--near'), 2048]);
  });

  it('reads its settings from the variables of other clients', () => {
    const all = hubSettings({
      HF_ENDPOINT: 'http://mirror:8080/',
      HF_TOKEN: ' t ',
      TRANSFORMERS_OFFLINE: '1',
      HF_HOME: '/h',
      HF_HUB_DOWNLOAD_TIMEOUT: '7',
    });
    assert.deepEqual([all.endpoint, all.token, all.offline, all.cache, all.stallMs], ['http://mirror:8080', 't', true, '/h/hub', 7000]);
    assert.equal(hubSettings({ HF_HOME: '/nowhere' }).token, null);
    const home = mkdtempSync(join(tmpdir(), 'quern-hub-home-'));
    writeFileSync(join(home, 'token'), 'hf_kept\n');
    const nearby = relative('.', home);
    for (const env of [{ HF_TOKEN: '' }, { HF_TOKEN: ' ', HUGGING_FACE_HUB_TOKEN: '' }])
      assert.equal(hubSettings({ HF_HOME: nearby, ...env }).token, 'hf_kept');
    assert.equal(hubSettings({ HF_HOME: home, HF_TOKEN: '', HUGGING_FACE_HUB_TOKEN: 'hf_old' }).token, 'hf_old');
    assert.equal(hubSettings({ HF_HOME: home, HF_TOKEN: '', HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }).token, null);
    rmSync(home, { recursive: true });
    for (const endpoint of ['nonsense', 'file:///etc', 'http://x/?q=1'])
      assert.throws(() => hubSettings({ HF_ENDPOINT: endpoint }), { kind: 'invalid' });
  });
});
