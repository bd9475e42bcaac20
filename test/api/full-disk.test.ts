import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chatEndpoints } from '../../gateway/core/chat.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { Chat } from '../../runtime/chat/chat.js';
import type { LoadedProject } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import type { Message } from '../../schemas/generated/common.js';
import type { Answer } from '../support/exchange.js';
import { send } from '../support/scenario.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';
import { FINISH, ScriptedProvider, type Step } from '../unit/runtime/chat/scripted-provider.js';

const CHAT = '/v1/projects/ns/p/chat';
/** What each session begins with. */
const EXAMPLE = 'An example.';
const PROJECT = {
  namespace: 'ns',
  name: 'p',
  config: {
    version: 'v1',
    name: 'p',
    namespace: 'ns',
    runtime: { models: [{ name: 'm', provider: 'universal', model: 'm.gguf' }] },
    prompts: [{ name: 'few', messages: [{ role: 'user', content: EXAMPLE }] }],
  },
} as unknown as LoadedProject;

const disk = SmallDisk.mount(8);

describe('chat on a full disk', { skip: skipWithout(disk) }, () => {
  const provider = new ScriptedProvider();
  let store: Store;
  let chat: Chat;
  let application: Application;

  const fill = (): void => disk!.fill();
  const free = (): void => disk!.free();
  const open = async (): Promise<void> => {
    store = await openStore(disk!.folder);
    chat = new Chat({ projects: { load: () => PROJECT }, providers: { universal: provider } as never, providerOf, store });
    application = dispatch({
      endpoints: chatEndpoints,
      context: { chat } as unknown as Runtime,
      access: { bindHost: '127.0.0.1' },
    });
  };
  const close = async (): Promise<void> => {
    await chat.close();
    await store.close();
  };
  const ask = (session: string, content: string, more: object = {}): Promise<Answer> =>
    send(application, {
      method: 'POST',
      path: `${CHAT}/completions`,
      headers: session === '' ? { 'x-no-session': '' } : { 'x-session-id': session },
      body: { messages: [{ role: 'user', content }], ...more },
    });
  const history = async (session: string): Promise<unknown[]> => {
    const answer = await send(application, { method: 'GET', path: `${CHAT}/sessions/${session}/history`, headers: {}, body: undefined });
    return (JSON.parse(answer.text).messages as Message[]).map(({ content }) => content);
  };
  /** The history, of which memory and disk must think alike. */
  const kept = async (session: string): Promise<unknown[]> => {
    const before = await history(session);
    await close();
    await open();
    assert.deepEqual(await history(session), before);
    return before;
  };
  const text = (value: string): Step => ({ type: 'text', text: value });
  const echo = (): void => provider.say((request) => [text(`echo: ${request.messages.at(-1)?.content}`), FINISH]);
  /** Answers, and fills the disk before the answer's end. */
  const fillMeanwhile = (): void => provider.say(() => [text('half'), Promise.resolve().then(fill), text(' whole'), FINISH]);
  /** Answers, when `end` is called, to requests of which `count` have come. */
  const held = (): { asked(count: number): Promise<void>; end(): void } => {
    let end = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      end = resolve;
    });
    provider.asked.length = 0;
    provider.say(() => [gate, text('late'), FINISH]);
    const asked = async (count: number): Promise<void> => {
      while (provider.asked.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    return { asked, end };
  };
  const refused = (answer: Answer): void => {
    assert.equal(answer.status, 507, answer.text);
    const { message } = JSON.parse(answer.text);
    assert.match(message, /full.*Free some space.*X-No-Session/);
  };

  before(open);
  after(async () => {
    await close();
    disk!.unmount();
  });

  it('refuses a turn of a session before the model is asked, whole or streamed, and goes on when there is room', async () => {
    echo();
    assert.equal((await ask('a', 'one')).status, 200);
    fill();
    provider.asked.length = 0;
    refused(await ask('a', 'two'));
    refused(await ask('a', 'two', { stream: true }));
    refused(await ask('new', 'two'));
    assert.equal(provider.asked.length, 0);
    assert.equal(store.health().status, 'unhealthy');
    free();
    assert.equal((await ask('a', 'three')).status, 200);
    assert.equal(store.health().status, 'healthy');
    assert.deepEqual(await kept('a'), [EXAMPLE, 'one', 'echo: one', 'three', 'echo: three']);
    assert.deepEqual(await kept('new'), []);
  });

  it('goes on chatting without a session', async () => {
    echo();
    fill();
    const whole = await ask('', 'hello');
    assert.equal(whole.status, 200);
    assert.match(whole.text, /echo: hello/);
    const streamed = await ask('', 'hello', { stream: true });
    assert.equal(streamed.events.at(-1), '[DONE]');
    assert.ok(!streamed.text.includes('"error"'), streamed.text);
    free();
  });

  it('fails a whole answer that can no longer be kept', async () => {
    fillMeanwhile();
    refused(await ask('whole', 'lost'));
    assert.deepEqual(await history('whole'), []);
    free();
    echo();
    assert.equal((await ask('whole', 'again')).status, 200);
    assert.deepEqual(await kept('whole'), [EXAMPLE, 'again', 'echo: again']);
  });

  it('ends a stream that can no longer be kept with an error', async () => {
    echo();
    await ask('stream', 'one');
    fillMeanwhile();
    const { status, events } = await ask('stream', 'lost', { stream: true });
    assert.equal(status, 200);
    const frames = events.slice(0, -1).map((event) => JSON.parse(event));
    assert.deepEqual(
      frames.map((frame) => frame.choices?.[0].delta.content ?? frame.error.code),
      ['', 'half', ' whole', 'disk_full'],
    );
    assert.ok(frames.every((frame) => !frame.choices?.[0].finish_reason));
    assert.match(frames.at(-1).error.message, /X-No-Session/);
    assert.equal(events.at(-1), '[DONE]');
    free();
    echo();
    await ask('stream', 'two');
    assert.deepEqual(await kept('stream'), [EXAMPLE, 'one', 'echo: one', 'two', 'echo: two']);
  });

  it('lets the next turn be the first when two first ones are refused at once', async () => {
    const turns = held();
    const answers = [ask('both', 'x'), ask('both', 'y')];
    await turns.asked(2);
    fill();
    turns.end();
    for (const answer of answers) refused(await answer);
    free();
    echo();
    await ask('both', 'z');
    assert.deepEqual(await kept('both'), [EXAMPLE, 'z', 'echo: z']);
  });

  it('keeps a session that cannot be deleted as it was, with a turn that ends meanwhile', async () => {
    echo();
    await ask('stays', 'one');
    fill();
    const remove = (path: string): Promise<Answer> => send(application, { method: 'DELETE', path, headers: {}, body: undefined });
    const deletion = await remove(`${CHAT}/sessions/stays`);
    assert.equal(deletion.status, 507);
    assert.match(deletion.text, /Free some space/);
    assert.equal((await remove(`${CHAT}/sessions`)).status, 507);
    free();
    assert.deepEqual(await kept('stays'), [EXAMPLE, 'one', 'echo: one']);
    const turns = held();
    const turn = ask('stays', 'two');
    await turns.asked(1);
    fill();
    assert.equal((await remove(`${CHAT}/sessions/stays`)).status, 507);
    free();
    turns.end();
    assert.equal((await turn).status, 200);
    assert.deepEqual(await kept('stays'), [EXAMPLE, 'one', 'echo: one', 'two', 'late']);
    assert.equal((await remove(`${CHAT}/sessions/stays`)).status, 200);
    assert.deepEqual(await kept('stays'), []);
  });
});
