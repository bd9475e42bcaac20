import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { Message } from '../../../schemas/generated/common.js';
import { base64In, bytesOfBase64 } from '../../base/base64.js';
import type { SpeechIn, Transcribing, TranscriptSegment } from '../contract.js';
import { decodedAudio } from '../decode/decode.js';
import { textOf } from './text.js';

/** The largest model that is here: nobody chose one. */
const ANY_MODEL = 'whisper-1';
/** Of one part, in bytes of what base64 stands for. */
const PART_BYTES = 50 * 1024 * 1024;
/** Of which a hash is made in one turn of the event loop. */
const HASHED_BYTES = 4 * 1024 * 1024;
/** Transcripts that are remembered, as a conversation brings its audio again with each turn. */
const REMEMBERED = 128;

/** What is said in a recording. */
export interface Recording {
  readonly seconds: number;
  readonly language: string;
  readonly segments: readonly { readonly start: number; readonly end: number; readonly text: string }[];
}

type Heard = (text: string) => void;
type Part = Exclude<Message['content'], string | null | undefined>[number];

/** What is said in audio: in the messages of a chat whose model cannot hear, and in files. What was heard is remembered. */
export class AudioTexts {
  readonly #speech: SpeechIn;
  /** By SHA-256, the last used last. */
  readonly #transcripts = new Map<string, string>();

  constructor(speech: SpeechIn) {
    this.#speech = speech;
  }

  /**
   * Messages with the text of each `input_audio` part in its place; the others stay as they are. Throws `bad_request` for what is no audio, and
   * `not_found` where no model of speech to text is here. `heard` is told what is said in the last message: all of it so far, with each stretch that is heard.
   */
  async messages(messages: readonly Message[], signal: AbortSignal, heard?: Heard): Promise<Message[]> {
    const read: Message[] = [];
    for (const [index, message] of messages.entries()) {
      const { content } = message;
      const hasAudio = Array.isArray(content) && content.some(({ type }) => type === 'input_audio');
      const told = index === messages.length - 1 ? heard : undefined;
      read.push(hasAudio ? { ...message, content: await this.#parts(content, `messages[${index}].content`, signal, told) } : message);
    }
    return read;
  }

  /** What is said in a file of audio; `heard` is told more of it with each stretch. */
  async text(bytes: Uint8Array, name: string, signal: AbortSignal, heard?: Heard): Promise<string> {
    const hash = createHash('sha256');
    for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
      hash.update(bytes.subarray(at, at + HASHED_BYTES));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const key = hash.digest('hex');
    const known = this.#transcripts.get(key);
    const text = known ?? (await this.#heard(bytes, name, signal, heard));
    if (known !== undefined && known !== '') heard?.(known);
    this.#transcripts.delete(key);
    this.#transcripts.set(key, text);
    if (this.#transcripts.size > REMEMBERED) this.#transcripts.delete(this.#transcripts.keys().next().value!);
    return text;
  }

  /** What is said in a file on disk, with times. */
  async recording({ path, name }: { readonly path: string; readonly name: string }, signal: AbortSignal): Promise<Recording> {
    const { heard, segments } = await this.#transcript(decodedAudio(path, name, signal), signal);
    return { seconds: heard.duration, language: heard.language, segments: segments.map(({ start, end, text }) => ({ start, end, text })) };
  }

  async #parts(parts: readonly Part[], place: string, signal: AbortSignal, heard?: Heard): Promise<Part[]> {
    const read: Part[] = [];
    let before = '';
    for (const [index, part] of parts.entries()) {
      if (part.type !== 'input_audio') read.push(part);
      else {
        const text = await this.#part(part, `${place}[${index}]`, signal, heard && ((more) => heard(before + more)));
        if (text !== '') before += `${text}\n`;
        read.push({ type: 'text', text });
      }
    }
    return read;
  }

  async #part({ input_audio: audio }: Part, place: string, signal: AbortSignal, heard?: Heard): Promise<string> {
    const code = base64In(audio?.data ?? '');
    if (code.length > PART_BYTES * (4 / 3) + 4)
      throw new Failure('bad_request', `${place}.input_audio is longer than audio may be (${PART_BYTES} bytes).`, { code: 'BadAudio' });
    const bytes = await bytesOfBase64(code);
    if (!bytes || bytes.length === 0)
      throw new Failure('bad_request', `${place}.input_audio.data is not base64; give the bytes of audio as base64 or as a data URI.`, {
        code: 'BadAudio',
      });
    return this.text(bytes, `${place}.input_audio.${audio?.format ?? 'wav'}`, signal, heard);
  }

  async #heard(bytes: Uint8Array, name: string, signal: AbortSignal, told?: Heard): Promise<string> {
    const { heard, segments } = await this.#transcript(decodedAudio(bytes, name, signal), signal, told);
    return textOf(segments, heard.language);
  }

  async #transcript(
    samples: AsyncIterable<Float32Array>,
    signal: AbortSignal,
    told?: Heard,
  ): Promise<{ heard: Transcribing; segments: TranscriptSegment[] }> {
    const heard = await this.#speech.transcribe({ samples, model: ANY_MODEL, task: 'transcribe' }, signal);
    const segments: TranscriptSegment[] = [];
    for await (const segment of heard.segments) {
      segments.push(segment);
      told?.(textOf(segments, heard.language));
    }
    return { heard, segments };
  }
}
