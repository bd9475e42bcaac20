import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { HubClient } from '../../../../../runtime/models/fetch/client.js';
import { planDownload } from '../../../../../runtime/models/fetch/plan.js';
import { hubSettings } from '../../../../../runtime/models/fetch/settings.js';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import { proxiesOf } from '../../../../../runtime/net/proxies.js';
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

  it('refuses a token that cannot be sent', async () => {
    for (const token of ['\u201chf_x\u201d', 'hf_a\nb', 'hf a'])
      await assert.rejects(stage.hub({ token }).plan('org/gated', never), { kind: 'invalid', code: 'InvalidToken', message: /HF_TOKEN/ });
  });

  it('explains what is not there', async () => {
    await assert.rejects(stage.hub().plan('org/absent', never), {
      kind: 'not_found',
      code: 'ModelNotFound',
      message: /org\/absent.*HF_TOKEN/,
    });
    stage.server.put('org/torch', { 'model.safetensors': bytesOf(2048) });
    await assert.rejects(stage.hub().plan('org/torch', never), { kind: 'invalid', code: 'NoUsableWeights', message: /model\.safetensors/ });
    stage.server.put('org/genai', { 'cpu/model.onnx': bytesOf(2048), 'cpu/genai_config.json': '{}' });
    await assert.rejects(stage.hub().plan('org/genai', never), {
      code: 'NoUsableWeights',
      message: /cpu\/model\.onnx, made for ONNX Runtime GenAI/,
    });
    assert.deepEqual(await stage.hub().quantisations('org/genai', never), []);
    await assert.rejects(stage.hub().plan('../etc', never), { kind: 'bad_request' });
  });

  it('explains what the hub has taken from everybody', async () => {
    stage.server.put('org/disabled', { 'model.gguf': bytesOf(2048) });
    const headers = { 'x-error-message': 'Access to this resource is disabled.' };
    stage.server.mischief('listing', { kind: 'status', status: 403, headers });
    await assert.rejects(stage.hub().plan('org/disabled', never), { kind: 'forbidden', code: 'ModelForbidden', message: /disabled/ });
  });

  it('waits as long as the hub says until it counts requests anew', async () => {
    stage.server.put('org/counted', { 'model.gguf': bytesOf(2048) });
    stage.server.mischief('listing', { kind: 'status', status: 429, headers: { ratelimit: '"api";r=0;t=1' } });
    const from = performance.now();
    await stage.hub().plan('org/counted', never);
    assert.ok(performance.now() - from >= 1900);
    // Some are left, so that it is not the counting that refuses; with it the listing would be given up.
    stage.server.mischief('listing', { kind: 'status', status: 429, headers: { ratelimit: '"api";r=7;t=300' } });
    await stage.hub().plan('org/counted', never);
  });

  it('gives a listing up when the hub asks for a longer pause than somebody would wait for', async () => {
    stage.server.put('org/counted', { 'model.gguf': bytesOf(2048) });
    stage.server.mischief('listing', { kind: 'status', status: 429, headers: { ratelimit: '"api";r=0;t=999999999' } });
    const before = stage.server.seen.length;
    await assert.rejects(stage.hub().quantisations('org/counted', never), { code: 'HubBusy', retryAfterS: 3600 });
    assert.equal(stage.server.seen.length, before + 1);
  });

  it('says what can be done where no way leads to the hub', async () => {
    const gone = stage.hub({ endpoint: 'http://127.0.0.1:9', pauseMs: 1 });
    await assert.rejects(gone.plan('org/absent', never), { code: 'ConnectFailed', message: /ECONNREFUSED.*HTTPS_PROXY.*HF_ENDPOINT/ });
  });

  it('goes by the proxy to the hub and to where that keeps its files', async () => {
    const asked: string[] = [];
    const proxy = createServer((incoming, response) => {
      const { origin, port, pathname, search } = new URL(incoming.url!);
      asked.push(origin);
      request({ port, path: pathname + search, headers: incoming.headers }, (reply) =>
        reply.pipe(response.writeHead(reply.statusCode!, reply.headers)),
      ).end();
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const [hub, store] = [stage.server.url, stage.server.storeUrl].map((url) => url.replace('127.0.0.1', 'hub.test')) as [string, string];
    stage.server.put('org/behind', { 'model.gguf': bytesOf(2048) });
    stage.server.storeUrl = store;
    const proxies = proxiesOf({ HTTP_PROXY: `127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    const events = await stage.pull('org/behind', stage.hub({ endpoint: hub, proxies }));
    stage.server.storeUrl = store.replace('hub.test', '127.0.0.1');
    proxy.closeAllConnections();
    proxy.close();
    assert.equal(events.at(-1)!.event, 'complete');
    assert.deepEqual(new Set(asked), new Set([hub, store]));
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

  it('asks a mirror for every page, wherever that says they are', async () => {
    stage.server.put('org/pages', { 'a.txt': 'a', 'b-Q8_0.gguf': bytesOf(2048), 'c-Q4_K_M.gguf': bytesOf(2048) });
    stage.server.pageSize = 1;
    stage.server.pagesUrl = 'https://hub.invalid';
    const plan = await stage.hub().plan('org/pages', never);
    stage.server.pageSize = 1000;
    stage.server.pagesUrl = '';
    assert.equal(plan.main, 'c-Q4_K_M.gguf');
  });

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
    assert.equal(hubSettings({ HF_HOME: '$ROOT/${WHERE}_x', ROOT: '/r', WHERE: 'w' }).cache, '/r/w_x/hub');
    assert.equal(hubSettings({ HF_HUB_CACHE: '/$UNSET/${UNSET}', HF_HOME: '/h' }).cache, '/$UNSET/${UNSET}');
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
