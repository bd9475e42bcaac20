import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { voiceSockets } from '../gateway/core/voice.js';
import { createTransport, dispatch } from '../gateway/http/index.js';
import { setLogLevel } from '../runtime/base/log.js';
import { Chat } from '../runtime/chat/chat.js';
import { Projects } from '../runtime/projects/projects.js';
import { providerOf } from '../runtime/providers/index.js';
import { openRuntime } from '../runtime/runtime.js';
import { openStore } from '../runtime/store/store.js';
import { Voice } from '../runtime/voice/voice.js';
import { puppetPath } from '../test/support/models/cache.js';
import { LOUDNESS_EARS, ScriptedSpeech } from '../test/support/voice/scripted-speech.js';
import { FINISH, ScriptedProvider } from '../test/unit/runtime/chat/scripted-provider.js';

/** What a voice server under measurement is asked first: its speech takes no time, and its model none, or that of the puppet. */
export interface VoicePlan {
  readonly model: 'instant' | 'puppet';
}

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-bench-voice-'));
const folder = join(dataDir, 'projects', 'bench', 'voice');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'project.yaml'),
  // A project file is YAML, and JSON is YAML.
  JSON.stringify({
    version: 'v1',
    name: 'voice',
    namespace: 'bench',
    runtime: { models: [{ name: 'm', provider: 'universal', model: puppetPath(), extra_body: { n_slots: 10 } }] },
    voice: { llm_model: 'm' },
  }),
);
const projects = new Projects({ dataDir });
process.on('message', ({ model }: VoicePlan) => void serve(model).then((result) => process.send!({ result })));

async function serve(model: VoicePlan['model']): Promise<{ port: number }> {
  const chat = await (model === 'puppet' ? puppetChat() : instantChat());
  const speech = new ScriptedSpeech({ transcripts: ['hello'] });
  const voice = new Voice({ projects, chat, speech, transcription: speech, ears: LOUDNESS_EARS });
  const application = dispatch({
    endpoints: [],
    sockets: voiceSockets,
    // No client names a conversation.
    context: { projects, voice: async () => voice } as never,
    access: { bindHost: '127.0.0.1' },
  });
  const { port } = await createTransport().listen({ host: '127.0.0.1', port: 0, application });
  return { port };
}

async function instantChat(): Promise<Chat> {
  const provider = new ScriptedProvider();
  provider.say([{ type: 'text', text: 'Of course. What else would you like to know?' }, FINISH]);
  return new Chat({ projects, providers: { universal: provider } as never, providerOf, store: await openStore(dataDir) });
}

async function puppetChat(): Promise<Chat> {
  const startRunner = () => Promise.reject(new Error('no runner is needed'));
  const parts = { version: 'bench', dataDir, runtimeUrls: [], runtimePort: 0, datasetQuotaBytes: 0, startRunner };
  return (await openRuntime(parts)).chat;
}
