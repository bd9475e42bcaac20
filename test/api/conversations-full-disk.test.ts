import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Chat } from '../../runtime/chat/chat.js';
import { openConversations } from '../../runtime/conversations/conversations.js';
import type { LoadedProject } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { ConversationStage } from '../support/conversation-stage.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';
import { FINISH, ScriptedProvider } from '../unit/runtime/chat/scripted-provider.js';

const PROJECT = {
  namespace: 'ns',
  name: 'p',
  config: { version: 'v1', name: 'p', namespace: 'ns', runtime: { models: [{ name: 'm', provider: 'universal', model: 'm.gguf' }] } },
} as unknown as LoadedProject;
const disk = SmallDisk.mount(8);

describe('conversations on a full disk', { skip: skipWithout(disk) }, () => {
  const provider = new ScriptedProvider();
  let store: Store;
  let stage: ConversationStage;
  let id: string;
  before(async () => {
    store = await openStore(disk!.folder);
    const projects = { load: () => PROJECT, parsing: () => undefined };
    const chat = new Chat({ projects, providers: { universal: provider } as never, providerOf, store });
    const conversations = openConversations(store, projects);
    const close = async (): Promise<void> => {
      await conversations.close();
      await chat.close();
      await store.close();
    };
    stage = new ConversationStage({ chat, conversations, projects, close } as unknown as Runtime);
    id = await stage.create();
  });
  after(async () => {
    await stage.close();
    disk!.unmount();
  });
  const ask = (content: string) => stage.ask('conversation_turn', { ids: { conversation_id: id }, body: { message: { content } } });

  it('refuses a question before the model is asked, and goes on when there is room', async () => {
    assert.equal((await ask('one')).status, 200);
    disk!.fill();
    provider.asked.length = 0;
    for (const { status, text } of [await ask('two'), await stage.ask('conversation_create', { body: {} })])
      assert.match(`${status} ${text}`, /^507 .*full/);
    assert.equal(provider.asked.length, 0);
    disk!.free();
    assert.equal((await ask('three')).status, 200);
    const texts = (await stage.messages(id)).map(({ content }) => content);
    assert.deepEqual(texts, ['one', 'echo: one', 'three', 'echo: three']);
  });

  it('tells of an answer that could not be kept, whose question stays', async () => {
    const long = 'half '.repeat(400_000);
    provider.say(() => [
      { type: 'text', text: long },
      Promise.resolve().then(() => disk!.fill()),
      { type: 'text', text: ' whole' },
      FINISH,
    ]);
    const { text } = await ask('four');
    assert.match(text.slice(-1_000), /full.*\n\ndata: \[DONE\]\n\n$/);
    assert.doesNotMatch(text, /event: message/);
    disk!.free();
    const [question, answer] = (await stage.messages(id)).slice(-2);
    assert.deepEqual([question!.content, answer!.status], ['four', 'cut']);
    provider.say([{ type: 'text', text: 'fine' }, FINISH]);
    const again = { parent: question!.id, regenerate: true };
    assert.equal((await stage.turn(id, again)).content, 'fine');
  });
});
