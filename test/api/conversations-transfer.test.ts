import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Message } from '../../schemas/generated/core/conversations.js';
import { ConversationStage } from '../support/conversation-stage.js';
import { formOf } from '../support/dataset-stage.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';

const HELLO = PUPPET_SCRIPTS.hello.answer;

describe('conversations on their way', () => {
  let stage: ConversationStage;
  let first: string;
  before(async () => {
    stage = await ConversationStage.open();
    first = await stage.create({ settings: { temperature: 0 } });
    const attachments = [{ name: 'a.txt', media_type: 'text/plain', url: 'data:text/plain;base64,YXBwbGVz' }];
    await stage.turn(first, { message: { content: 'hello Äpfel und Birnen', attachments } });
    await stage.turn(first, { message: { content: 'hello again' } });
  });
  after(() => stage?.close());

  const found = async (search: string): Promise<{ message: string | null; excerpt: string }[]> => {
    const { conversations } = await stage.json('conversations_list', { query: `?search=${encodeURIComponent(search)}` });
    return conversations.map((one: { found: unknown }) => one.found);
  };
  const take = async (content: string, name = 'conversations.json') =>
    stage.json('conversations_import', formOf([['file', name, content]]));
  /** Deletes all that is there. */
  const clear = async (): Promise<void> => {
    for (;;) {
      const { conversations } = await stage.json('conversations_list');
      if (conversations.length === 0) return;
      for (const { id } of conversations) await stage.json('conversation_delete', { ids: { conversation_id: id } });
    }
  };

  it('are found by beginnings of their words, whatever their marks and case', async () => {
    const [question] = await stage.messages(first);
    for (const search of ['apfel', 'ÄPF', 'birn apf', 'Und "Äpfel"']) {
      const [one] = await found(search);
      assert.equal(one?.message, one === undefined ? '' : one.message === null ? null : question!.id, search);
      assert.match(one!.excerpt, /Äpfel/, search);
    }
    for (const search of ['pfel', 'apfel melone', '!!!', 'irnen']) assert.deepEqual(await found(search), [], search);
    assert.deepEqual(await found('puppet weights'), [{ message: (await stage.messages(first))[1]!.id, excerpt: HELLO }]);
  });

  it('branch into new ones, with their files', async () => {
    const [question, answer] = await stage.messages(first);
    const { conversation } = await stage.json('conversation_branch', { ids: { conversation_id: first }, body: { message: answer!.id } });
    const messages = await stage.messages(conversation.id);
    assert.deepEqual(
      messages.map(({ content }) => content),
      [question!.content, answer!.content],
    );
    assert.notEqual(messages[0]!.id, question!.id);
    assert.equal(messages[1]!.parent, messages[0]!.id);
    assert.equal(conversation.current, messages[1]!.id);
    const [file] = messages[0]!.attachments!;
    assert.ok(file!.url.includes(conversation.id));
    await stage.json('conversation_delete', { ids: { conversation_id: first } }).then(() => undefined);
    const ids = { conversation_id: conversation.id, attachment_id: file!.id! };
    assert.equal((await stage.ask('conversation_file', { ids })).text, 'apples');
    first = conversation.id;
  });

  it('leave as files and come back as they were', async () => {
    await stage.turn(first, { parent: null, message: { content: 'hello from another branch' } });
    await stage.json('conversation_change', { ids: { conversation_id: first }, body: { title: 'Fruit / "talk"', pinned: true } });
    const json = await stage.ask('conversation_export', { ids: { conversation_id: first } });
    assert.match(json.headers['content-disposition']!, /^attachment; filename="Fruit-talk\.json"/);
    const markdown = await stage.ask('conversation_export', { ids: { conversation_id: first }, query: '?format=markdown' });
    assert.equal(markdown.text, `# Fruit / "talk"\n\n## User\n\nhello from another branch\n\n## Assistant (m)\n\n${HELLO}\n`);
    const lines = await stage.ask('conversations_export');
    assert.equal(lines.text.trimEnd().split('\n').length, 1);
    const before = await stage.messages(first);
    await clear();
    for (const file of [json.text, lines.text]) {
      assert.deepEqual(await take(file), { imported: 1, skipped: [] });
      const { conversations } = await stage.json('conversations_list');
      const [{ id, title, pinned, current, preview }] = conversations;
      assert.deepEqual([title, pinned, preview], ['Fruit / "talk"', true, 'hello from another branch']);
      const messages = await stage.messages(id);
      const told = (all: readonly Message[]) =>
        all.map(({ id: _id, parent: _parent, attachments, ...rest }) => ({ ...rest, files: attachments?.length }));
      assert.deepEqual(told(messages), told(before));
      assert.deepEqual(
        messages.map((one) => messages.findIndex((other) => other.id === one.parent)),
        before.map((one) => before.findIndex((other) => other.id === one.parent)),
      );
      assert.equal(current, messages.at(-1)!.id);
      const ids = { conversation_id: id, attachment_id: messages[0]!.attachments![0]!.id! };
      assert.equal((await stage.ask('conversation_file', { ids })).text, 'apples');
      await clear();
    }
  });

  it('come from ChatGPT and Open WebUI', async () => {
    const node = (id: string, parent: string | null, role: string, parts: unknown[], more = {}) => ({
      id,
      parent,
      children: [],
      message: { author: { role }, content: { content_type: 'text', parts }, create_time: 1_700_000_000.5, ...more },
    });
    const chatGpt = {
      title: 'From afar',
      create_time: 1_700_000_000,
      update_time: 1_700_000_100,
      current_node: 'd',
      mapping: {
        root: { id: 'root', parent: null, message: null, children: ['s'] },
        s: node('s', 'root', 'system', ['hidden']),
        q: node('q', 's', 'user', ['What is it?', { content_type: 'image_asset_pointer' }]),
        t: node('t', 'q', 'tool', ['searched']),
        d: node('d', 't', 'assistant', ['It is this.'], { metadata: { model_slug: 'gpt-4' } }),
      },
    };
    const openWebUi = [
      {
        id: 'x',
        title: 'From near',
        archived: false,
        pinned: true,
        created_at: 1_700_000_000,
        updated_at: 1_700_000_200,
        chat: {
          history: {
            currentId: 'b2',
            messages: {
              a: { id: 'a', parentId: null, role: 'user', content: 'Two answers?', timestamp: 1_700_000_000 },
              b1: { id: 'b1', parentId: 'a', role: 'assistant', content: 'One.', model: 'llama3', timestamp: 1_700_000_001 },
              b2: { id: 'b2', parentId: 'a', role: 'assistant', content: 'Two.', model: 'llama3', timestamp: 1_700_000_002 },
            },
          },
        },
      },
    ];
    assert.deepEqual(await take(JSON.stringify([chatGpt])), { imported: 1, skipped: [] });
    assert.deepEqual(await take(JSON.stringify(openWebUi)), { imported: 1, skipped: [] });
    const { conversations } = await stage.json('conversations_list');
    const [near, far] = conversations;
    assert.deepEqual([near.title, near.pinned, far.title, far.created_at], ['From near', true, 'From afar', '2023-11-14T22:13:20.000Z']);
    const told = async (id: string) => (await stage.messages(id)).map(({ role, content, model }) => [role, content, model]);
    assert.deepEqual(await told(far.id), [
      ['user', 'What is it?', undefined],
      ['assistant', 'It is this.', 'gpt-4'],
    ]);
    assert.deepEqual(await told(near.id), [
      ['user', 'Two answers?', undefined],
      ['assistant', 'One.', 'llama3'],
      ['assistant', 'Two.', 'llama3'],
    ]);
    const [question, one, two] = await stage.messages(near.id);
    assert.deepEqual([one!.parent, two!.parent, near.current], [question!.id, question!.id, two!.id]);
    await clear();
  });

  it('are refused one by one where they are odd, and the others come', async () => {
    const good = (content: string, more: object = {}) => ({
      format: 'quern-conversation',
      version: 1,
      conversation: { title: 'T', created_at: 'never', updated_at: '2024-01-01T00:00:00Z' },
      messages: [{ id: 'a', parent: null, role: 'user', content }],
      ...more,
    });
    const odd: [value: string, reason: RegExp][] = [
      ['42', /no conversation/],
      ['"text"', /no conversation/],
      ['{"a":', /JSON|json/],
      ['{"mapping":{"a":{"parent":"a","message":{"author":{"role":"user"},"content":{"parts":["x"]}}}}}', /no message/],
      ['{"mapping":{"a":null,"b":[],"c":{"message":{"author":1,"content":2}}}}', /no message/],
      [JSON.stringify(good('x', { messages: [{ id: 'a', parent: null, role: 'king', content: 'x' }] })), /role/],
      [JSON.stringify(good('x', { version: 7 })), /version/],
      [
        JSON.stringify(
          good('x', {
            messages: [
              {
                id: 'a',
                parent: null,
                role: 'user',
                content: 'x',
                attachments: [{ name: 'a', media_type: 'b', url: 'file:///etc/passwd' }],
              },
            ],
          }),
        ),
        /address/,
      ],
      [`${'['.repeat(1_000)}${']'.repeat(1_000)}`, /deep|nest|no conversation/],
    ];
    for (const [value, reason] of odd) {
      const { imported, skipped } = await take(`${JSON.stringify(good('fine'))}\n${value}`);
      assert.equal(imported, 1, value.slice(0, 80));
      assert.equal(skipped.length, 1, value.slice(0, 80));
      assert.equal(skipped[0].place, 2);
      assert.match(skipped[0].reason, reason);
    }
    for (const nothing of ['', ' \n', '[]', '[,,]']) assert.deepEqual(await take(nothing), { imported: 0, skipped: [] }, nothing);
    assert.deepEqual(await take('\ufeff[]'), { imported: 0, skipped: [] });
    const circle = good('x', { messages: ['a', 'b'].map((id) => ({ id, parent: id === 'a' ? 'b' : 'a', role: 'user', content: 'x' })) });
    assert.match((await take(JSON.stringify(circle))).skipped[0].reason, /no message/);
    await clear();
  });
});
