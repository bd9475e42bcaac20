import assert from 'node:assert/strict';
import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import type { Runtime } from '../../runtime/runtime.js';
import { compatStage, openedRuntime } from '../support/compat-stage.js';
import { RecordedExchange } from '../support/exchange.js';
import { until } from '../support/until.js';

const user = [{ role: 'user', content: 'endless' }];
/** A stream without an end in each dialect, and what tells its reader that it broke. Each has a model of its own: one that crashes often is held back. */
const STREAMS: Record<string, { path: string; body: { model: string; [member: string]: unknown }; broken: RegExp }> = {
  Ollama: { path: '/api/chat', body: { model: 'puppet-1', messages: user }, broken: /\n\{"error":"[^"]+"\}\n$/ },
  Anthropic: {
    path: '/v1/messages',
    body: { model: 'puppet-2', max_tokens: 100_000, messages: user, stream: true },
    broken:
      /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"(?:api|overloaded)_error","message":"[^"]+"\},"request_id":"[^"]+"\}\n\n$/,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'puppet-3', input: 'endless', stream: true },
    broken: /event: error\ndata: \{"type":"error",.*\n\nevent: response\.failed\ndata: \{.*"status":"failed".*\}\n\n$/,
  },
  completions: {
    path: '/v1/completions',
    body: { model: 'puppet-4', prompt: '<|im_start|>user\nendless<|im_end|>\n<|im_start|>assistant\n', max_tokens: 8000, stream: true },
    broken: /"error":\{"message":"[^"]+","type":"server_error".*\n\ndata: \[DONE\]\n\n$/,
  },
};

describe('streams of other programs\u2019 APIs', () => {
  const stage = compatStage();
  let runtime: Runtime;
  let application: Application;
  const loaded = (model: string) => runtime.models.loaded().find(({ name }) => name === model);
  before(async () => {
    const models = join(stage.dataDir, 'models');
    for (const { body } of Object.values(STREAMS)) linkSync(join(models, 'puppet.gguf'), join(models, `${body.model}.gguf`));
    runtime = await stage.context();
    application = dispatch({ endpoints: stage.endpoints, context: runtime });
  });
  after(() => runtime.close());

  const begun = async ({ path, body }: { path: string; body: object }): Promise<RecordedExchange> => {
    const exchange = new RecordedExchange({ method: 'POST', path, body });
    application.request(exchange);
    await until(() => exchange.written.length > 600);
    return exchange;
  };

  for (const [dialect, stream] of Object.entries(STREAMS)) {
    it(`end with an error in the shape of ${dialect} when the engine is killed`, async () => {
      const exchange = await begun(stream);
      process.kill(loaded(stream.body.model)!.pid!, 'SIGKILL');
      const { status, text } = await exchange.done;
      assert.equal(status, 200);
      assert.match(text, stream.broken);
    });

    it(`free the model when the client of ${dialect} vanishes`, async () => {
      const exchange = await begun(stream);
      assert.equal(loaded(stream.body.model)!.uses, 1);
      exchange.leave();
      await until(() => loaded(stream.body.model)!.uses === 0);
    });
  }

  it('are ended by a cancel of their response, which is not kept', async () => {
    const exchange = await begun(STREAMS.responses!);
    const id = /"id":"(resp_[0-9a-f]{36})"/.exec(exchange.written)![1]!;
    const cancel = new RecordedExchange({ method: 'POST', path: `/v1/responses/${id}/cancel` });
    application.request(cancel);
    assert.equal(JSON.parse((await cancel.done).text).status, 'cancelled');
    const { text } = await exchange.done;
    assert.match(text, /"code":"response_cancelled"/);
    assert.throws(() => runtime.responses.get(id), { kind: 'not_found' });
  });

  it('keep models that were made, and answers, over a restart', async () => {
    await runtime.named.create('kept', { from: 'puppet', system: 'Be brief.' });
    const asked = new RecordedExchange({ method: 'POST', path: '/v1/responses', body: { model: 'kept', input: 'hello' } });
    application.request(asked);
    const { id } = JSON.parse((await asked.done).text);
    await runtime.close();
    runtime = await openedRuntime(stage.dataDir);
    assert.equal(runtime.named.find('kept:latest')?.system, 'Be brief.');
    assert.equal(runtime.responses.get(id).response.id, id);
  });
});
