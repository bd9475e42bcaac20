import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { voiceSockets } from '../../gateway/core/voice.js';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import type { Application } from '../../gateway/http/transport.js';
import { transcriptionSockets } from '../../gateway/universal/transcription-socket.js';
import { transcriptionEndpoints } from '../../gateway/universal/transcriptions.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Chat } from '../../runtime/chat/chat.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import { Transcription } from '../../runtime/speech/transcription/transcription.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { Voice } from '../../runtime/voice/voice.js';
import { emptyDataDir } from '../support/daemon.js';
import type { Answer } from '../support/exchange.js';
import { send } from '../support/scenario.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';
import { TestPeer } from '../support/speech/peer.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { tone, wavOf } from '../support/speech/sounds.js';
import { binaryForm } from '../support/vision/stage.js';
import { VoiceClient } from '../support/voice/client.js';
import { LOUDNESS_EARS, ScriptedSpeech } from '../support/voice/scripted-speech.js';
import { FINISH, ScriptedProvider } from '../unit/runtime/chat/scripted-provider.js';

const MIB = 1024 * 1024;
const SAID = 'Hello there.';
/** More than a fifth of a mebibyte, less than what an upload must leave free. */
const SPEECH = wavOf(tone(2));
const MODELS = [{ name: 'm', provider: 'universal', model: 'file.gguf' }];
const PROJECT = { version: 'v1', name: 'p', namespace: 'ns', runtime: { models: MODELS }, voice: { llm_model: 'm' } };

setLogLevel('error');
const disk = SmallDisk.mount(64);

describe('audio on a full disk', { skip: skipWithout(disk) }, () => {
  const models = emptyDataDir();
  const dataDir = join(disk?.folder ?? '', 'data');
  const uploads = join(dataDir, 'uploads');
  const converted = join(dataDir, 'converted-models');
  let application: Application;
  let transcription: Transcription;
  let residency: Models;
  let provider: ScriptedProvider;
  let store: Store;
  let chat: Chat;
  let voice: Voice;
  let listener: Listener;

  before(async () => {
    writePuppetWhisper(join(models, 'models/Systran/faster-whisper-tiny.en'), { words: [' Hello', ' there.'], seconds: 1.2 });
    mkdirSync(join(dataDir, 'projects/ns/p'), { recursive: true });
    // JSON is YAML.
    writeFileSync(join(dataDir, 'projects/ns/p/project.yaml'), JSON.stringify(PROJECT));
    residency = new Models({ dataDir: models, places: { hub: join(models, 'hub') } });
    transcription = new Transcription(residency, dataDir);
    const projects = new Projects({ dataDir });
    provider = new ScriptedProvider();
    store = await openStore(dataDir);
    chat = new Chat({ projects, providers: { universal: provider } as never, providerOf, store });
    const speech = new ScriptedSpeech({ transcripts: [SAID] });
    voice = new Voice({ projects, chat, speech, transcription: speech, ears: LOUDNESS_EARS });
    application = dispatch({
      endpoints: transcriptionEndpoints as never,
      sockets: voiceSockets as never,
      context: { transcription, projects, voice: async () => voice } as never,
      access: { bindHost: '127.0.0.1' },
      uploadFolder: uploads,
    });
    listener = await createTransport().listen({ host: '127.0.0.1', port: 0, application });
  });
  after(async () => {
    await listener.drain(500);
    await voice.close();
    await chat.close();
    await store.close();
    await residency.close();
    disk!.unmount();
  });

  const base = (): string => `http://127.0.0.1:${listener.port}`;
  const left = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
  const transcribe = (sound: Uint8Array): Promise<Answer> =>
    send(application, {
      method: 'POST',
      path: '/v1/audio/transcriptions',
      ...binaryForm([['file', 'a.wav', sound]], { model: 'tiny.en' }),
    });
  const refused = (answer: Answer): void => {
    assert.equal(answer.status, 507, answer.text);
    assert.match(answer.text, /Free some space|free some space/);
    assert.deepEqual(left(uploads), []);
  };
  const listen = (): TestPeer => {
    const query = { model: 'tiny.en', chunk_interval: 1 };
    const peer = new TestPeer(transcriptionSockets[0]!.open({ here: { transcription } }, { params: {}, query }));
    peer.say(SPEECH.subarray(44));
    peer.say('END');
    return peer;
  };

  it('refuses an upload whose size it knows, and one that grows', async () => {
    disk!.fill();
    refused(await transcribe(SPEECH));
    disk!.free();
    disk!.fill(20 * MIB);
    const bytes = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'));
        for (let at = 0; at < 24; at += 1) stream.enqueue(Buffer.alloc(MIB, at));
        stream.enqueue(Buffer.from('\r\n--b--\r\n'));
        stream.close();
      },
    });
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await fetch(`${base()}/v1/audio/transcriptions`, { method: 'POST', headers, body: bytes, duplex: 'half' });
    refused({ status: answer.status, text: await answer.text() } as Answer);
    disk!.free();
  });

  it('cannot keep a model that is converted, again and again, and nothing of it is left', async () => {
    // Room for the upload, but not for the model.
    disk!.fill(MIB);
    for (let time = 0; time < 3; time += 1) {
      const { message } = await listen().next('error');
      assert.match(String(message), /model.*disk is full.*Free some space/);
      assert.deepEqual(left(converted), []);
    }
    disk!.free();
    const answer = await transcribe(SPEECH);
    assert.deepEqual([answer.status, JSON.parse(answer.text)], [200, { text: SAID }]);
    assert.equal(left(converted).length, 2);
    disk!.fill();
    // A model that is loaded needs no disk.
    assert.equal((await listen().next('segment')).text, SAID);
    disk!.free();
  });

  it('tells a spoken turn that cannot be kept, and goes on when there is room', async () => {
    provider.say((request) => [{ type: 'text', text: `You said ${request.messages.at(-1)?.content}` }, FINISH]);
    const client = new VoiceClient(base(), '/v1/ns/p/voice/chat');
    await client.state('idle');
    const turn = async (): Promise<void> => {
      const before = client.states.length;
      await client.sound(0.5, 0.2, 20);
      client.say({ type: 'end' });
      await client.until(() => client.states.length > before + 1 && client.states.at(-1) === 'idle', 'the end of the turn');
    };
    await turn();
    assert.deepEqual(client.messages('error'), []);
    disk!.fill();
    await turn();
    assert.match(client.messages('error').at(-1)!.message, /disk is full|Free some space/);
    const errors = client.messages('error').length;
    disk!.free();
    await turn();
    assert.equal(client.messages('error').length, errors);
    await client.end();
  });
});
