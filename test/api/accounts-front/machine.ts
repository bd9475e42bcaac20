import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { ADMIN, type Person } from '../../support/accounts/front-stage.js';
import { ann, bob, json, nobody, root, stage } from '../../support/accounts/people.js';
import type { Answer } from '../../support/exchange.js';
/** What only those who run the machine see, name and change. */
export function guardsTheMachine(): void {
  it('give and take the roles that the module file names', async () => {
    const { directory } = stage.front.accounts;
    const id = await directory.idOf('bob@example.com');
    assert.equal((await root.ask('core', 'POST', '/v1/projects/library', { name: 'shelf' })).status, 200);
    const set = async (role: string): Promise<number> => (await root.ask('core', 'POST', `/admin/data/users/${id}/role`, { role })).status;
    const makes = async (name: string): Promise<number> => (await bob.ask('core', 'POST', '/v1/projects/library', { name })).status;
    assert.equal(await makes('one'), 403);
    assert.equal(await set('editor'), 200);
    assert.equal(await makes('one'), 200);
    assert.equal(await set('editor,admin'), 200);
    assert.equal((await bob.ask('core', 'GET', '/v1/system/disk')).status, 200);
    assert.equal(await set('user'), 200);
    assert.deepEqual([await makes('two'), (await bob.ask('core', 'GET', '/v1/system/disk')).status], [403, 403]);
    for (const role of ['edditor', '', ',', 'editor,boss']) assert.equal(await set(role), 400, role);
    const rootId = await directory.idOf(ADMIN.email);
    await assert.rejects(directory.setRole(rootId, 'editor'), { kind: 'conflict' });
    for (const name of ['shelf', 'one']) await root.ask('core', 'DELETE', `/v1/projects/library/${name}`);
  });

  it('name no file of the machine to others than those who run it', async () => {
    const own = join(stage.runtime.dataDir, 'models', 'own.gguf');
    await mkdir(join(stage.runtime.dataDir, 'models'), { recursive: true });
    await writeFile(own, 'no model');
    const outside = join(stage.runtime.dataDir, 'outside.gguf');
    await writeFile(outside, 'no model');
    const messages = [{ role: 'user', content: 'x' }];
    const asked = (person: Person, body: object): Promise<Answer> =>
      person.ask('universal', 'POST', '/v1/chat/completions', { model: 'quern-tiny', messages, max_tokens: 1, ...body });
    const refused = /outside the models folder and the model cache/;
    for (const path of [outside, join(stage.runtime.dataDir, 'models', '..', 'outside.gguf'), '/nowhere/at/all.gguf', '~/nowhere.gguf'])
      for (const body of [{ model: path }, { lora: [{ path }] }]) {
        const { status, text } = await asked(ann, body);
        assert.deepEqual([status, refused.test(text)], [403, true], `${JSON.stringify(body)} ${text}`);
      }
    assert.match((await asked(ann, { chat_template: '/etc/nowhere.jinja' })).text, refused);
    assert.match((await ann.ask('universal', 'POST', '/v1/embeddings', { model: '/nowhere/at', input: 'x' })).text, refused);
    assert.doesNotMatch((await asked(ann, { model: own })).text, refused);
    assert.doesNotMatch((await asked(root, { model: outside })).text, refused);
  });

  it('show no details of the machine to others than those who run it', async () => {
    for (const api of ['core', 'universal'] as const) {
      for (const person of [nobody, ann]) {
        const { status, text } = await person.ask(api, 'GET', '/health');
        assert.equal(status, 200);
        assert.match(text, /"accounts":true/);
        assert.doesNotMatch(text, /quern-front-|node_version/);
      }
      assert.match((await root.ask(api, 'GET', '/health')).text, /quern-front-|node_version/);
    }
    assert.equal((await ann.ask('core', 'GET', '/v1/system/disk')).status, 403);
    assert.equal(json(await ann.ask('core', 'GET', '/info')).data_directory, '');
    assert.equal(json(await root.ask('core', 'GET', '/info')).data_directory, stage.runtime.dataDir);
  });

  it('keep the projects of users away from this machine and its private networks', async () => {
    const { config } = json(await ann.ask('core', 'GET', '/v1/projects/anns/diary')).project;
    const asked = async (base_url: string): Promise<string> => {
      config.runtime.models = [{ name: 'away', provider: 'openai', model: 'x', base_url }];
      config.runtime.default_model = 'away';
      assert.equal((await ann.ask('core', 'PUT', '/v1/projects/anns/diary', { config })).status, 200);
      return (await ann.ask('core', 'POST', '/v1/projects/anns/diary/chat/completions', { messages: [{ role: 'user', content: 'x' }] }))
        .text;
    };
    assert.match(await asked('http://127.0.0.1:9/v1'), /quern\.hosts.*AddressRefused|AddressRefused.*quern\.hosts/);
    assert.match(await asked('http://10.1.2.3/v1'), /AddressRefused/);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) assert.doesNotMatch(await asked(`http://${host}:19/v1`), /AddressRefused/);
    assert.match(await asked('http://localhost:20/v1'), /AddressRefused/);
  });
}
