import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { closed, few, heldOut, open, type Staged, TWO, train } from '../support/classifiers/requests.js';
import { type Scenario, type Stage, scenarios, send } from '../support/scenario.js';
import { openSomeServices } from '../support/services.js';
import { fits } from './classifiers/fits.js';
import { refusals } from './classifiers/refusals.js';

/** All rows of one port. */
const table = (root: string): Scenario[] => [...fits(root), ...refusals(root)];

const stage = (endpoints: Stage<Staged>['endpoints']): Stage<Staged> => ({ endpoints, context: open, close: closed });
scenarios('classifiers of the universal runtime', stage(universalEndpoints), table('/v1/classifier'));
scenarios('classifiers of the core', stage(coreEndpoints), table('/v1/ml/classifier'));

/** What both ports serve; the core's ids begin with `ml_`. */
const IDS = {
  universal: [
    'classifier_fit',
    'classifier_predict',
    'classifier_save',
    'classifier_load',
    'list_classifier_models',
    'delete_classifier_model',
  ],
  core: [
    'ml_classifier_fit',
    'ml_classifier_predict',
    'ml_classifier_save',
    'ml_classifier_load',
    'ml_list_classifier_models',
    'ml_delete_classifier_model',
  ],
};

it('the ports serve the endpoints of the tables, and no others', () => {
  const ids = (endpoints: readonly { id: string }[]): string[] => endpoints.map(({ id }) => id).filter((id) => /classifier/.test(id));
  assert.deepEqual({ universal: ids(universalEndpoints), core: ids(coreEndpoints) }, IDS);
});

describe('classifiers and what can happen to them', () => {
  let runtime: Staged;
  let application: Application;
  const start = (): void => {
    application = dispatch({ endpoints: universalEndpoints, context: runtime, access: { bindHost: '127.0.0.1' } });
  };
  before(() => {
    runtime = open();
    start();
  });
  after(() => closed(runtime));
  const post = (path: string, body: unknown): ReturnType<typeof send> =>
    send(application, { method: 'POST', path: `/v1/classifier/${path}`, headers: {}, body });
  const fit = (model: string, more: object = {}): ReturnType<typeof send> =>
    post('fit', { model, training_data: few, overwrite: true, ...more });
  const file = (name: string, part: string): string => join(runtime.folder, 'models/classifier', name, part);

  it('says that a classifier is being fitted, fits a few at a time, and refuses more', async () => {
    const fits = Array.from({ length: 8 }, (_none, at) => fit(`many${at}`));
    const early = await post('predict', { model: 'many0', texts: ['x'] });
    assert.deepEqual([early.status, /being fitted/.test(early.text)], [400, true], early.text);
    const answers = await Promise.all(fits);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 503, 503]);
    assert.match(answers.find(({ status }) => status === 503)!.text, /Too many classifier fits: 2 are running and 4 wait/);
  });

  it('refuses a classifier with a changed byte in any of its files', async () => {
    for (const part of ['head.bin', 'labels.txt', 'metadata.json']) {
      await fit('flipped');
      const bytes = readFileSync(file('flipped', part));
      for (const at of [10, Math.floor(bytes.length / 2)]) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 4;
        writeFileSync(file('flipped', part), changed);
        const answer = await post('load', { model: 'flipped' });
        assert.equal(answer.status, 500, `${part} at ${at}: ${answer.text}`);
        assert.match(answer.text, /DamagedModel.*flipped.*is damaged.*Fit it again/);
      }
      writeFileSync(file('flipped', part), bytes.subarray(0, 5));
      assert.equal((await post('load', { model: 'flipped' })).status, 500);
      rmSync(file('flipped', part));
      assert.ok([404, 500].includes((await post('load', { model: 'flipped' })).status));
      // What is in memory still answers, and can be saved again.
      assert.equal((await post('predict', { model: 'flipped', texts: ['x'] })).status, 200);
    }
  });

  it('notices other weights under the name of its embedder', async () => {
    await fit('moved', { base_model: 'tiny/embedder', training_data: TWO });
    const asked = { model: 'moved', texts: ['tea'] };
    assert.equal((await post('predict', asked)).status, 200);
    const card = JSON.parse(readFileSync(file('moved', 'metadata.json'), 'utf8'));
    assert.equal(Buffer.from(card.probe, 'base64').length, 4 * card.dimensions);
    const { checksum: _checksum, ...facts } = card;
    const other = Buffer.from(Float32Array.from({ length: card.dimensions }, (_none, at) => Math.sin(at)).buffer).toString('base64');
    const changed = { ...facts, probe: other };
    const checksum = createHash('sha256').update(JSON.stringify(changed)).digest('hex');
    writeFileSync(file('moved', 'metadata.json'), JSON.stringify({ ...changed, checksum }));
    assert.equal((await post('load', { model: 'moved' })).status, 200);
    const answer = await post('predict', asked);
    assert.deepEqual([answer.status, /EmbedderChanged.*tiny\/embedder.*"?moved/.test(answer.text)], [500, true], answer.text);
  });

  it('saves what is in memory again where its directory went', async () => {
    await fit('lost');
    rmSync(file('lost', ''), { recursive: true });
    assert.equal((await post('load', { model: 'lost' })).status, 404);
    assert.equal((await post('save', { model: 'lost' })).status, 200);
    assert.equal((await post('load', { model: 'lost' })).status, 200);
  });

  it('saves nothing when it is closed during a fit, and answers the rest from disk afterwards', async () => {
    const asked = { model: 'lost', texts: [heldOut[0]!.text, heldOut[99]!.text] };
    const first = await post('predict', asked);
    const large = Array.from({ length: 4000 }, (_none, at) => ({ text: `${train[at % 80]!.text} ${at}`, label: train[at % 80]!.label }));
    const running = post('fit', { model: 'interrupted', training_data: large, overwrite: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { folder } = runtime;
    await runtime.close();
    assert.equal((await running).status, 503);
    const rest = open();
    const { close: closeAgain, ...services } = openSomeServices({ dataDir: folder, models: rest.models, outbound: new Outbound() });
    runtime = {
      ...rest,
      ...services,
      folder,
      close: async () => Promise.all([closeAgain(), rest.close()]),
    } as unknown as Staged;
    start();
    assert.deepEqual(JSON.parse((await post('predict', asked)).text), JSON.parse(first.text));
    assert.equal((await post('load', { model: 'interrupted' })).status, 404);
  });
});
