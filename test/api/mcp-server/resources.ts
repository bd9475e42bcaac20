import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formOf, stage } from '../../support/mcp/server-stage.js';
import type { McpClient } from '../../support/mcp-clients.js';
import { send } from '../../support/scenario.js';

/** A client that reads projects, documents and prompts. */
export function readsResources(client: () => McpClient): void {
  it('finds projects, their documents and their texts', async () => {
    const { hash } = await uploaded('mcp', 'volcano größe.txt', 'Etna erupts.');
    const uris: string[] = [];
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const answer = await client().listResources(cursor === undefined ? {} : { cursor });
      uris.push(...answer.resources.map(({ uri }) => uri));
      cursor = answer.nextCursor;
    }
    const document = `quern://projects/mcp/p/docs/${hash}`;
    for (const uri of ['quern://projects/mcp/p', document, 'quern://projects/web/p'])
      assert.ok(uris.includes(uri), `${uri} in ${uris.join(' ')}`);
    assert.ok(!uris.some((uri) => uri.includes('broken')));
    for (const uri of [document, `quern://projects/mcp/p/docs/${encodeURIComponent('volcano größe.txt')}`])
      assert.deepEqual((await client().readResource({ uri })).contents, [{ uri, mimeType: 'text/plain', text: 'Etna erupts.' }]);
    const [project] = (await client().readResource({ uri: 'quern://projects/mcp/p' })).contents;
    assert.equal(JSON.parse(project!.text!).name, 'p');
    assert.equal((await client().listResourceTemplates()).resourceTemplates.length, 2);
  });

  it('completes the parts of an address', async () => {
    const ref = { type: 'ref/resource', uri: 'quern://projects/{namespace}/{project}/{dataset}/{document}' };
    const values = async (name: string, value: string, args: Record<string, string> = {}): Promise<string[]> =>
      (await client().complete({ ref, argument: { name, value }, context: { arguments: args } })).completion.values;
    assert.deepEqual(await values('namespace', 'M'), ['mcp']);
    assert.deepEqual(await values('project', '', { namespace: 'mcp' }), ['broken', 'p', 'talk', 'wide']);
    assert.deepEqual(await values('dataset', 'd', { namespace: 'mcp', project: 'p' }), ['docs']);
    assert.deepEqual(await values('document', 'vol', { namespace: 'mcp', project: 'p', dataset: 'docs' }), ['volcano größe.txt']);
    assert.deepEqual(await values('document', '', { namespace: '..', project: 'p', dataset: 'docs' }), []);
    assert.deepEqual(await values('dance', ''), []);
  });

  it('is told what is no address', async () => {
    for (const uri of [
      'quern://projects/mcp/p/docs/none.txt',
      'quern://projects/mcp',
      'quern://projects/mcp/..',
      'file:///etc/passwd',
      'quern://projects/mcp/%zz',
    ])
      await assert.rejects(client().readResource({ uri }), /none.txt|Nothing stands at/, uri);
    await assert.rejects(client().listResources({ cursor: 'bm9uZQ' }), /cursor/);
  });

  it('finds prompts and fills in their variables', async () => {
    const { prompts } = await client().listPrompts();
    const greet = prompts.find(({ name }) => name === 'mcp/talk/greet');
    assert.deepEqual(
      greet?.arguments?.map(({ name, required }) => [name, required]),
      [
        ['role', true],
        ['name', true],
      ],
    );
    const { messages } = await client().getPrompt({ name: 'mcp/talk/greet', arguments: { name: 'Ada', role: 'a poet' } });
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content.text]),
      [
        ['user', 'You are a poet.'],
        ['assistant', 'Hello Ada!'],
        ['user', 'Ada, a poet'],
      ],
    );
    await assert.rejects(client().getPrompt({ name: 'mcp/talk/greet', arguments: {} }), /\{\{name\}\} has no value/);
    await assert.rejects(client().getPrompt({ name: 'mcp/talk/none' }), /no prompt "none"; it has: greet, base/);
    await assert.rejects(client().getPrompt({ name: 'none' }), /namespace\/project\/prompt/);
  });
}

/** Uploads a text into the dataset of the project, and returns its hash. */
async function uploaded(namespace: string, name: string, content: string): Promise<{ hash: string }> {
  const path = `/v1/projects/${namespace}/p/datasets/docs/data`;
  const answer = await send(stage.application, { method: 'POST', path, ...(await formOf(name, content, 'text/plain')) });
  return JSON.parse(answer.text);
}
