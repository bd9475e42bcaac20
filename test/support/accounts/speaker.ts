import type { SocketListener } from '../../../gateway/http/transport.js';
import { Voice } from '../../../runtime/voice/voice.js';
import { until } from '../until.js';
import { LOUDNESS_EARS, ScriptedSpeech } from '../voice/scripted-speech.js';
import type { FrontStage, Person } from './front-stage.js';

/** Gives a stage voice chat without models of speech; it is closed by who asks for it. */
export function withVoice({ runtime }: FrontStage): Voice {
  const speech = new ScriptedSpeech();
  const { projects, chat } = runtime;
  const voice = new Voice({ projects, chat, speech, transcription: speech, ears: LOUDNESS_EARS });
  Object.assign(runtime, { voice: async () => voice });
  return voice;
}

/** Somebody's end of a WebSocket of voice chat. */
export class Speaker {
  readonly messages: { readonly type: string; readonly state?: string; readonly message?: string }[] = [];
  readonly #listener: SocketListener;

  private constructor(listener: SocketListener) {
    this.#listener = listener;
    const send = (content: string | Uint8Array): boolean => {
      if (typeof content === 'string') this.messages.push(JSON.parse(content));
      return true;
    };
    listener.open({ send, bufferedBytes: 0, close: () => undefined });
  }

  /** Connects to a project, as `<namespace>/<project>`. */
  static async of({ stage, token }: Person, project: string): Promise<Speaker> {
    const headers: Record<string, string> = { host: 'localhost', authorization: `Bearer ${token}` };
    const path = `/v1/${project}/voice/chat`;
    const listener = await stage.core.upgrade({ path, query: '', remoteAddress: '127.0.0.1', header: (name) => headers[name] ?? '' });
    if (!('open' in listener)) throw new Error(JSON.stringify(listener));
    return new Speaker(listener);
  }

  /** Says something, and waits for the end of the answer. */
  async say(text: string): Promise<void> {
    const before = this.messages.length;
    this.#listener.message(JSON.stringify({ type: 'text', text }));
    const states = (): (string | undefined)[] =>
      this.messages.slice(before).flatMap(({ type, state }) => (type === 'status' ? [state] : []));
    await until(() => states().includes('processing') && states().at(-1) === 'idle', 'the answer has ended');
  }

  close(): void {
    this.#listener.closed(1000);
  }
}
