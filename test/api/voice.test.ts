import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { voiceSockets } from '../../gateway/core/voice.js';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Chat } from '../../runtime/chat/chat.js';
import { type Conversations, openConversations } from '../../runtime/conversations/conversations.js';
import { Events } from '../../runtime/events/events.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { Voice } from '../../runtime/voice/voice.js';
import { Failure } from '../../schemas/errors.js';
import { ScriptedTools } from '../support/scripted-tools.js';
import { VoiceClient } from '../support/voice/client.js';
import { LOUDNESS_EARS, ScriptedSpeech } from '../support/voice/scripted-speech.js';
import { FINISH, ScriptedProvider } from '../unit/runtime/chat/scripted-provider.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-voice-'));
/** So long a busy machine may take to notice that a client has gone; a ping that nobody answers takes longer. */
const SOON_MS = 25_000;
const TOOL = { type: 'function', name: 'lookup', description: 'Looks something up', parameters: { type: 'object' } };
const MODELS = [
  { name: 'm', provider: 'universal', model: 'file.gguf', model_api_parameters: { top_p: 0.5 }, tools: [TOOL] },
  { name: 'warm', provider: 'universal', model: 'file.gguf', model_api_parameters: { temperature: 0.1, max_tokens: 77 } },
];

function project(name: string, config: object): void {
  const folder = join(dataDir, 'projects', 'ns', name);
  mkdirSync(folder, { recursive: true });
  // JSON is YAML.
  writeFileSync(
    join(folder, 'project.yaml'),
    JSON.stringify({ version: 'v1', name, namespace: 'ns', runtime: { models: MODELS }, ...config }),
  );
}

project('p', {
  voice: { llm_model: 'm', tts: { voice: 'bf_emma', keep_loaded: true }, stt: { model: 'tiny', language: 'fr' } },
  prompts: [{ name: 'base', messages: [{ role: 'system', content: 'Be brief.' }] }],
});
project('silent', { voice: { llm_model: 'm', enabled: false } });
project('bare', {});
project('served', { voice: { llm_model: 'm' }, mcp: { servers: [{ name: 'desk', transport: 'stdio', command: 'desk' }] } });
const tools = new ScriptedTools();
tools.tools = { clock: { readOnly: true, call: () => 'noon' } };

for (const transport of ['uws', 'node'] as const) {
  describe(`voice chat over ${transport}`, () => {
    const provider = new ScriptedProvider();
    let speech: ScriptedSpeech;
    let store: Store;
    let chat: Chat;
    let events: Events;
    let voice: Voice;
    let conversations: Conversations;
    let listener: Listener;
    let base: string;
    const clients: VoiceClient[] = [];

    const open = async (): Promise<void> => {
      store = await openStore(dataDir);
      const projects = new Projects({ dataDir });
      events = new Events({ store, projects });
      chat = new Chat({ projects, providers: { universal: provider } as never, providerOf, store, events, tools });
      speech = new ScriptedSpeech({ transcripts: ['What is this?'] });
      voice = new Voice({ projects, chat, events, speech, transcription: speech, ears: LOUDNESS_EARS });
      conversations = openConversations(store, projects);
      const context = { projects, conversations, voice: async () => voice };
      const application = dispatch({ endpoints: [], sockets: voiceSockets, context, access: { bindHost: '127.0.0.1' } });
      listener = await createTransport(transport).listen({ host: '127.0.0.1', port: 0, application });
      base = `http://127.0.0.1:${listener.port}`;
    };
    const close = async (): Promise<void> => {
      await listener.drain(60_000);
      await voice.close();
      await conversations.close();
      await chat.close();
      await events.close();
      await store.close();
    };
    const connect = (query = '', name = 'p', headers = {}): VoiceClient => {
      const client = new VoiceClient(base, `/v1/ns/${name}/voice/chat${query}`, headers);
      clients.push(client);
      return client;
    };
    const answer = (text: string): void => provider.say([{ type: 'text', text }, FINISH]);
    const turn = async (client: VoiceClient, text: string): Promise<void> => {
      const before = client.states.length;
      client.say({ type: 'text', text });
      await client.until(() => client.states.slice(before).at(-1) === 'idle', `the answer to ${text}`);
    };

    before(async () => {
      setLogLevel('error');
      await open();
    });
    after(async () => {
      for (const client of clients) await client.end();
      await close();
    });

    it('accepts first and then says what is wrong, with 1008', async () => {
      const rows: [query: string, project: string, says: RegExp][] = [
        ['', 'bare', /^llm_model is required \(via query param or voice\.llm_model in config\)$/],
        ['', 'silent', /switched off in project ns\/silent/],
        ['?llm_model=gone', 'p', /no model "gone".*m, warm/],
        ['?llm_model=m', 'nowhere', /ns\/nowhere|nowhere/],
        ['?speed=9', 'p', /speed/],
        ['?speed=fast', 'p', /speed/],
        ['?session_id=a%20b', 'p', /session_id/],
        ['?conversation_id=mine', 'p', /conversation_id/],
        ['?conversation_id=conv_0123456789012345678901', 'p', /There is no conversation/],
        [`?system_prompt=${'x'.repeat(10_001)}`, 'p', /system_prompt/],
      ];
      for (const [query, name, says] of rows) {
        const client = connect(query, name);
        await client.until(() => client.closed !== undefined, `the refusal of ${query}`);
        assert.equal(client.closed?.code, 1008);
        assert.match(client.messages('error')[0]!.message, says);
        assert.equal(client.received.length, 1);
      }
      assert.equal(voice.count, 0);
    });

    it('refuses pages of other origins before the upgrade', async () => {
      const client = connect('', 'p', { origin: 'https://evil.example' });
      await client.until(() => client.closed !== undefined, 'the refusal');
      assert.equal(client.received.length, 0);
      const own = connect('', 'p', { origin: 'http://localhost:3000' });
      await own.until(() => own.messages('session_info').length === 1, 'the session');
      await own.end();
    });

    it('holds a conversation with the prompts, the tools and the history of the project', async () => {
      answer('It is a test, my friend. It has two sentences.');
      const client = connect('?system_prompt=Speak%20like%20a%20pirate.&tts_voice=af_sky&speed=2');
      await client.state('idle');
      assert.deepEqual(
        client.received.map(({ message }) => message!.type),
        ['session_info', 'status'],
      );
      await client.sound(1, 0.2, 5);
      await client.sound(1, 0, 5);
      await client.until(() => client.states.length > 2 && client.states.at(-1) === 'idle', 'the end of the turn');
      assert.deepEqual(client.states, ['idle', 'listening', 'processing', 'speaking', 'idle']);
      assert.deepEqual(client.transcripts, ['What is this?']);
      const { request } = provider.asked.at(-1)!;
      assert.deepEqual(request.messages, [
        { role: 'system', content: 'Be brief.\n\nSpeak like a pirate.' },
        { role: 'user', content: 'What is this?' },
      ]);
      assert.equal(request.tools?.[0]?.function.name, 'lookup');
      assert.deepEqual([request.temperature, request.max_tokens, request.top_p, request.think], [0.7, 500, 0.5, false]);
      assert.deepEqual(speech.transcribed.at(-1)!.request.language, 'fr');
      assert.deepEqual([speech.transcribed.at(-1)!.request.model, speech.spoken[0]!.voice, speech.spoken[0]!.speed], ['tiny', 'af_sky', 2]);
      await turn(client, 'And then?');
      assert.equal(provider.asked.at(-1)!.request.messages.length, 4);
      const id = client.messages('session_info')[0]!.session_id;
      assert.deepEqual(
        (await chat.history('ns', 'p', id)).map(({ role }) => role),
        ['user', 'assistant', 'user', 'assistant'],
      );
      await client.end();
    });

    it('keeps its turns in a conversation, and knows what was said there', async () => {
      const place = conversations.place('ns', 'p');
      const { id } = await conversations.create(place, {});
      answer('Nice to meet you.');
      const client = connect(`?conversation_id=${id}`);
      await client.state('idle');
      for (const [at, text] of ['My name is Ada.', 'What is my name?'].entries()) {
        await turn(client, text);
        await client.until(() => client.messages('turn_kept').length > at, 'the turn on disk');
      }
      assert.deepEqual(
        provider.asked.at(-1)!.request.messages.map(({ content }) => content),
        ['Be brief.', 'My name is Ada.', 'Nice to meet you.', 'What is my name?'],
      );
      const { conversation, messages } = await conversations.read(place, id, {});
      assert.deepEqual(
        messages.map(({ role, content, status, parent }) => [role, content, status, parent]),
        [
          ['user', 'My name is Ada.', 'done', null],
          ['assistant', 'Nice to meet you.', 'done', messages[0]!.id],
          ['user', 'What is my name?', 'done', messages[1]!.id],
          ['assistant', 'Nice to meet you.', 'done', messages[2]!.id],
        ],
      );
      assert.deepEqual([conversation.title, conversation.current, messages[1]!.model], ['My name is Ada.', messages[3]!.id, 'm']);
      assert.deepEqual(await chat.history('ns', 'p', client.messages('session_info')[0]!.session_id), []);
      await client.end();
    });

    it('lets the parameters of a model override its own', async () => {
      answer('Fine.');
      const client = connect('?llm_model=warm');
      await client.state('idle');
      await turn(client, 'Hello');
      const { request } = provider.asked.at(-1)!;
      assert.deepEqual([request.temperature, request.max_tokens], [0.1, 77]);
      await client.end();
    });

    it('resumes a session by its id, also after a restart', async () => {
      const id = `mine-${transport}`;
      answer('Nice to meet you.');
      const first = connect(`?session_id=${id}&system_prompt=Speak%20like%20a%20pirate.&speed=2`);
      await first.state('idle');
      assert.equal(first.messages('session_info')[0]!.session_id, id);
      await turn(first, 'My name is Ada.');
      const second = connect(`?session_id=${id}`);
      await second.state('idle');
      await first.until(() => first.closed !== undefined, 'the end of the first connection');
      assert.deepEqual([first.messages('closed').length, first.closed?.code], [1, 1001]);
      await close();
      await open();
      await second.until(() => second.closed !== undefined, 'the end of the second connection');
      assert.deepEqual([second.messages('closed').length, second.closed?.code], [1, 1001]);
      const third = connect(`?session_id=${id}`);
      await third.state('idle');
      await turn(third, 'What is my name?');
      assert.deepEqual(
        provider.asked.at(-1)!.request.messages.map(({ content }) => content),
        ['Be brief.\n\nSpeak like a pirate.', 'My name is Ada.', 'Nice to meet you.', 'What is my name?'],
      );
      assert.equal(speech.spoken.at(-1)!.speed, 2);
      await third.end();
      const other = connect(`?session_id=${id}-other`);
      await other.state('idle');
      await turn(other, 'Who are you?');
      assert.deepEqual(provider.asked.at(-1)!.request.messages[0]!.content, 'Be brief.');
      await other.end();
    });

    it('keeps an event of each turn with its timings, and none of the rehearsal', async () => {
      const newest = async () =>
        events.get('ns', 'p', (await events.list('ns', 'p', { limit: 1, offset: 0, type: 'voice_turn' })).events[0]!.event_id);
      answer('Very well.');
      const client = connect(`?session_id=timed-${transport}`);
      await client.state('idle');
      await client.sound(1, 0.2, 5);
      await client.sound(1, 0, 5);
      await client.until(() => client.states.length > 2 && client.states.at(-1) === 'idle', 'the end of the turn');
      const spoken = await newest();
      assert.deepEqual(
        [spoken.status, spoken.session_id, spoken.data.model, spoken.data.is_cut],
        ['completed', `timed-${transport}`, 'm', false],
      );
      assert.deepEqual([spoken.data.transcript, spoken.data.response], ['What is this?', 'Very well.']);
      const names = ['endpoint_ms', 'stt_ms', 'first_token_ms', 'first_phrase_ms', 'first_audio_ms', 'end_ms'];
      assert.deepEqual(Object.keys(spoken.data.timings as object), names);
      const inference = await events.get('ns', 'p', String(spoken.data.inference_event_id));
      assert.deepEqual([inference.type, inference.session_id], ['inference', `timed-${transport}`]);
      const chats = await events.list('ns', 'p', { limit: 10, offset: 0, type: 'inference', session_id: `timed-${transport}` });
      assert.equal(chats.total, 1);
      provider.say([new Failure('unavailable', 'The model is away.')]);
      const before = client.states.length;
      client.say({ type: 'text', text: 'And this?' });
      await client.until(() => client.states.slice(before).at(-1) === 'idle' || client.messages('error').length > 0, 'the failure');
      const failed = await newest();
      assert.deepEqual([failed.status, failed.error, failed.data.transcript], ['failed', 'The model is away.', 'And this?']);
      await client.end();
    });

    it('tells of tool calls, and says something meanwhile', async () => {
      provider.say([
        { type: 'tool_call', index: 0, id: 'call_1', name: 'lookup', arguments: '{"a":' },
        { type: 'tool_call', index: 0, arguments: '1}' },
        { type: 'tool_call', index: 1, id: 'call_2', name: 'lookup', arguments: '{}' },
        { ...FINISH, reason: 'tool_calls' } as never,
      ]);
      const client = connect('?language=en');
      await client.state('idle');
      const spoken = speech.spoken.length;
      await turn(client, 'Look it up');
      assert.deepEqual(client.messages('tool_call'), [
        { type: 'tool_call', tool_call_id: 'call_1', function_name: 'lookup', arguments: '{"a":1}' },
        { type: 'tool_call', tool_call_id: 'call_2', function_name: 'lookup', arguments: '{}' },
      ]);
      assert.deepEqual(
        speech.spoken.slice(spoken).map(({ text }) => text),
        ['One moment, please.'],
      );
      assert.deepEqual(client.messages('llm_text'), [{ type: 'llm_text', text: '', is_final: true }]);
      await client.end();
    });

    it('calls the tools of servers, and goes on speaking with what they give', async () => {
      provider.say((request) =>
        request.messages.at(-1)!.role === 'tool'
          ? [{ type: 'text', text: `It is ${request.messages.at(-1)!.content}.` }, FINISH]
          : [
              { type: 'text', text: request.messages.at(-1)!.content === 'Quietly' ? '' : 'Let me see' },
              { type: 'tool_call', index: 0, id: 'call_1', name: 'clock', arguments: '{}' },
              { ...FINISH, reason: 'tool_calls' } as never,
            ],
      );
      const client = connect('?language=en', 'served');
      await client.state('idle');
      const spoken = speech.spoken.length;
      await turn(client, 'What time is it?');
      assert.deepEqual(
        client.messages('server_tool').map(({ state, tool }) => [state, tool]),
        [
          ['running', 'clock'],
          ['done', undefined],
        ],
      );
      assert.deepEqual(client.messages('tool_call'), []);
      assert.deepEqual(
        client.messages('llm_text').map(({ text }) => text),
        ['Let me see', 'It is noon.'],
      );
      const id = client.messages('session_info')[0]!.session_id;
      assert.deepEqual(
        (await chat.history('ns', 'served', id)).map(({ role, content }) => [role, content]),
        [
          ['user', 'What time is it?'],
          ['assistant', null],
          ['tool', 'noon'],
          ['assistant', 'Let me see\n\nIt is noon.'],
        ],
      );
      await turn(client, 'Quietly');
      assert.deepEqual(
        speech.spoken.slice(spoken).map(({ text }) => text),
        ['Let me see', 'It is noon.', 'One moment, please.', 'It is noon.'],
      );
      await client.end();
    });

    it('neither says nor keeps what a model thinks', async () => {
      provider.say([{ type: 'reasoning', text: 'Hm, what could it be?' }, { type: 'text', text: 'A cat.' }, FINISH]);
      const client = connect();
      await client.state('idle');
      await turn(client, 'What is it?');
      assert.deepEqual(
        client.messages('llm_text').map(({ text }) => text),
        ['A cat.'],
      );
      await client.end();
    });

    it('gives a failed model as an error, and answers the next turn', async () => {
      provider.say([{ type: 'text', text: 'Well, ' }, new Error('boom')]);
      const client = connect();
      await client.state('idle');
      await turn(client, 'One');
      assert.equal(client.messages('error').length, 1);
      answer('Two it is.');
      await turn(client, 'Two');
      assert.equal(client.messages('llm_text').at(-1)!.text, 'Two it is.');
      await client.end();
    });

    it('frees everything at once when the client vanishes in mid-speech', async () => {
      provider.say([{ type: 'text', text: 'word '.repeat(200) }, new Promise(() => undefined), FINISH]);
      const before = voice.count;
      const client = connect();
      await client.state('idle');
      client.say({ type: 'text', text: 'Speak' });
      await client.until(() => client.audioS > 0.2, 'some audio');
      client.socket.terminate();
      await client.until(() => voice.count === before, 'the end of the session', SOON_MS);
    });

    it('serves fifty clients at once, each its own answer, and frees all of them when half vanish', async () => {
      const before = voice.count;
      provider.say([{ type: 'text', text: 'Very well.' }, FINISH]);
      const many = Array.from({ length: 50 }, () => connect());
      await Promise.all(many.map((client) => client.state('idle')));
      assert.equal(voice.count, before + 50);
      await Promise.all(many.map((client, index) => turn(client, `Hello from ${index}`)));
      for (const client of many) {
        assert.deepEqual(
          client.messages('llm_text').map(({ text, is_final }) => [text, is_final]),
          [['Very well.', true]],
        );
        assert.ok(client.audioS > 0 && client.messages('error').length === 0);
      }
      const asked = provider.asked.slice(-50).map(({ request }) => request.messages.at(-1)!.content);
      assert.equal(new Set(asked).size, 50);
      for (const [index, client] of many.entries()) {
        if (index % 2 === 0) client.socket.terminate();
        else void client.end();
      }

      await many[0]!.until(() => voice.count === before, 'the end of all', SOON_MS);
    });

    it('keeps models loaded where the project says so, and no longer than the connection where it does not', async () => {
      const client = connect();
      await client.state('idle');
      await client.until(() => speech.kept.length >= 2, 'the models');
      await client.end();
      await client.until(() => speech.held === 1, 'the release of all models but the voice of the project');
    });

    it('drops the oldest of more than 100 sessions', async () => {
      const many = [connect()];
      await many[0]!.state('idle');
      many.push(...Array.from({ length: 100 }, () => connect()));
      await many[0]!.until(() => many[0]!.closed !== undefined, 'the end of the oldest');
      assert.deepEqual([many[0]!.closed?.code, many[0]!.messages('closed').length], [1001, 1]);
      await Promise.all(many.map((client) => client.state('idle')));
      assert.equal(voice.count, 100);
      assert.equal(many.slice(1).filter((client) => client.closed).length, 0);
      await Promise.all(many.map((client) => client.end()));
    });

    it('takes an utterance of 90 s in one message, and no compression', async () => {
      const client = connect();
      await client.state('idle');
      assert.equal(client.socket.extensions, '');
      client.socket.send(new Uint8Array(90 * 32_000));
      client.say({ type: 'end' });
      await client.until(() => client.states.length >= 3, 'idle again');
      assert.deepEqual(client.states, ['idle', 'listening', 'idle']);
      await client.end();
    });
  });
}

after(() => rmSync(dataDir, { recursive: true, force: true }));
