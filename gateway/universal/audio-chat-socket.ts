import { NumberQueue } from '../../runtime/base/number-queue.js';
import type { CompletionSource, UniversalRequest } from '../../runtime/completions/request.js';
import { wavHead } from '../../runtime/speech/codecs/wav.js';
import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { AudioChatAudio, AudioChatConfig } from '../../schemas/generated/universal/transcriptions.js';
import { check } from '../../schemas/validate.js';
import type { SocketRoute } from '../http/dispatch.js';
import { failureOf, logFailure } from '../http/errors.js';
import type { SocketListener, SocketPeer } from '../http/transport.js';

const PATH = '/v1/audio/chat';
/** Of the audio of one turn. */
const AUDIO_BYTES = 10 * 1024 * 1024;
/** Of the audio of earlier turns, which the model is told again with each turn: the oldest turns are forgotten beyond it. */
const KEPT_BYTES = 4 * AUDIO_BYTES;
const KEPT_TURNS = 100;
const SAMPLE_BYTES = 2;

/** What the socket of spoken questions works on. */
export interface AudioChatContext {
  readonly completions: Pick<CompletionSource, 'open'>;
}

/** What was asked and answered. */
interface Turn {
  readonly messages: readonly Message[];
  /** Of its audio. */
  readonly bytes: number;
}

/** A conversation: what `config` said, and the turns since. */
interface Conversation extends Pick<UniversalRequest, 'model' | 'max_tokens' | 'temperature' | 'messages'> {
  readonly turns: Turn[];
}

/** Forgets the oldest turns that are too much. */
function forgetOld(turns: Turn[]): void {
  let bytes = turns.reduce((sum, turn) => sum + turn.bytes, 0);
  while (bytes > KEPT_BYTES || turns.length > KEPT_TURNS) bytes -= turns.shift()!.bytes;
}

/** Answers questions that are spoken, in text: `config` first, then audio, then `audio_complete`; a failure is an `error`, and the socket lives on. */
class AudioChatSocket implements SocketListener {
  readonly #completions: Pick<CompletionSource, 'open'>;
  readonly #gone = new AbortController();
  #peer!: SocketPeer;
  #config: Conversation | undefined;
  #format: Required<Omit<AudioChatAudio, 'type'>> = { format: 'pcm', sample_rate: 16_000, channels: 1, sample_width: 2 };
  readonly #audio = new NumberQueue((length) => new Uint8Array(length));
  #isAnswering = false;

  constructor(completions: Pick<CompletionSource, 'open'>) {
    this.#completions = completions;
  }

  open(peer: SocketPeer): void {
    this.#peer = peer;
  }

  closed(): void {
    this.#gone.abort(new DOMException('The client closed the socket.', 'AbortError'));
  }

  message(content: string | Uint8Array): void {
    try {
      if (typeof content === 'string') this.#text(content);
      else this.#binary(content);
    } catch (error) {
      this.#error(error);
    }
  }

  #text(content: string): void {
    let message: { type?: unknown };
    try {
      message = JSON.parse(content) as { type?: unknown };
    } catch {
      throw new Failure('bad_request', 'Send JSON, such as {"type": "config", "model": "..."}.', { code: 'BadMessage' });
    }
    if (message?.type === 'config') this.#configure(check<AudioChatConfig>('universal/transcriptions#AudioChatConfig', message));
    else if (message?.type === 'audio') {
      const { type: _type, ...format } = check<AudioChatAudio>('universal/transcriptions#AudioChatAudio', message);
      this.#format = { ...this.#format, ...format };
    } else if (message?.type === 'audio_complete') void this.#answer();
    else
      throw new Failure('bad_request', 'The type of a message is config, audio or audio_complete; audio itself is binary.', {
        code: 'BadMessage',
      });
  }

  #binary(content: Uint8Array): void {
    if (!this.#config) throw new Failure('bad_request', 'Send a config message with a model before any audio.', { code: 'ConfigMissing' });
    if (this.#audio.length + content.length > AUDIO_BYTES) {
      this.#audio.drop(this.#audio.length);
      throw new Failure('too_large', `The audio of a turn may have ${AUDIO_BYTES} bytes; it has more and was dropped.`, {
        code: 'AudioTooLarge',
      });
    }
    this.#audio.add(content);
  }

  #configure({ model, system_prompt, messages, max_tokens, temperature }: AudioChatConfig): void {
    const system: Message[] = system_prompt ? [{ role: 'system', content: system_prompt }] : [];
    this.#config = {
      model,
      max_tokens: max_tokens ?? 512,
      temperature: temperature ?? 0.7,
      messages: [...system, ...(messages ?? [])],
      turns: [],
    };
  }

  /** The audio so far, which is forgotten. */
  #take(): Buffer {
    const audio = Buffer.from(this.#audio.peek(this.#audio.length).buffer);
    this.#audio.drop(audio.length);
    return audio;
  }

  /** Never rejects. */
  async #answer(): Promise<void> {
    try {
      if (!this.#config)
        throw new Failure('bad_request', 'Send a config message with a model before any audio.', { code: 'ConfigMissing' });
      if (this.#isAnswering) throw new Failure('busy', 'An answer is being made; wait for its done.', { code: 'TurnRunning' });
      const audio = this.#take();
      if (audio.length === 0) throw new Failure('bad_request', 'No audio came before audio_complete.', { code: 'AudioMissing' });
      this.#isAnswering = true;
      await this.#complete(this.#config, audio);
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#error(error);
    } finally {
      this.#isAnswering = false;
    }
  }

  async #complete({ turns, messages, ...config }: Conversation, audio: Buffer): Promise<void> {
    const { format, sample_rate: rate, channels } = this.#format;
    const wav = format === 'wav' ? audio : Buffer.concat([wavHead(audio.length, { rate, channels, sampleBytes: SAMPLE_BYTES }), audio]);
    const question: Message = {
      role: 'user',
      content: [{ type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } }],
    };
    let said: string | undefined;
    const request: UniversalRequest = {
      ...config,
      messages: [...messages, ...turns.flatMap((turn) => turn.messages), question],
      options: {},
      autoTruncate: true,
      stream: true,
      heard: (heard) => {
        said = heard;
        this.#send({ type: 'transcription', text: said, is_final: false });
      },
    };
    const completion = await this.#completions.open(request, this.#gone.signal);
    if (said !== undefined) this.#send({ type: 'transcription', text: said, is_final: true });
    let [text, tokens] = ['', null as number | null];
    for await (const part of completion.parts) {
      if (part.type === 'text') {
        text += part.text;
        this.#send({ type: 'text', content: part.text, is_final: false });
      } else if (part.type === 'finish') tokens = part.usage?.total_tokens ?? null;
    }
    turns.push({ messages: [question, { role: 'assistant', content: text }], bytes: audio.length });
    forgetOld(turns);
    this.#send({ type: 'text', content: '', is_final: true });
    this.#send({ type: 'done', total_tokens: tokens });
  }

  #send(message: object): void {
    if (!this.#gone.signal.aborted) this.#peer.send(JSON.stringify(message));
  }

  #error(error: unknown): void {
    const failure = failureOf(error);
    logFailure(failure, { id: '', method: 'GET', path: PATH });
    this.#send({ type: 'error', message: failure.message, code: failure.code });
  }
}

/** Questions that are spoken, answered in text, over a WebSocket. */
export const audioChatSockets: SocketRoute<AudioChatContext>[] = [
  { path: PATH, access: 'users', open: ({ completions }) => new AudioChatSocket(completions) },
];
