/** A spoken conversation: the microphone goes to the daemon, its voice comes back, and both are written down as captions. */
import { socket } from '../../lib/api';
import { key } from '../../lib/key.svelte';

/** The messages that the daemon sends beside sound; docs/voice.md describes them. */
type Told =
  | { type: 'session_info'; session_id: string }
  | { type: 'status'; state: TalkState }
  | { type: 'transcription'; text: string; is_final: boolean }
  | { type: 'llm_text'; text: string; is_final: boolean }
  | { type: 'server_tool'; state: string; tool?: string; name?: string }
  | { type: 'turn_kept'; conversation_id: string }
  | { type: 'error'; message: string }
  | { type: 'tts_start' | 'tts_done' | 'tool_call' | 'timings' | 'closed' };

export type TalkState = 'connecting' | 'idle' | 'listening' | 'processing' | 'speaking' | 'interrupted' | 'over';

export interface Caption {
  readonly who: 'you' | 'quern';
  text: string;
  /** Whether the caption is complete. */
  isWhole: boolean;
}

const EAR_RATE = 16_000;
const MOUTH_RATE = 24_000;
/** The most bytes that may wait in the socket: 3 s of sound. */
const MOST_WAITING = 96_000;

export class Talk {
  state = $state<TalkState>('connecting');
  captions = $state<Caption[]>([]);
  problem = $state('');
  isMuted = $state(false);
  readonly #path: string;
  readonly #onkept: () => void;
  #socket: WebSocket | undefined;
  #microphone: MediaStream | undefined;
  #ear: AudioContext | undefined;
  #mouth: AudioContext | undefined;
  #playing: AudioBufferSourceNode[] = [];
  /** When the sound that is planned ends, in the mouth's time. */
  #freeAt = 0;

  /** `model` is the name of a model of the project; empty for its own choice. Turns are kept in `conversation`, and `onkept` is called for each. */
  constructor(namespace: string, project: string, model: string, conversation: string, onkept: () => void) {
    const query = new URLSearchParams({ conversation_id: conversation, ...(model === '' ? {} : { llm_model: model }) });
    this.#path = `/v1/${encodeURIComponent(namespace)}/${encodeURIComponent(project)}/voice/chat?${query}`;
    this.#onkept = onkept;
  }

  /** Opens microphone and connection; what goes wrong is in `problem`. */
  async start(): Promise<void> {
    try {
      if (!navigator.mediaDevices)
        throw new Error('Browsers give the microphone to pages over https and on this machine (localhost) only.');
      this.#microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } });
      // The talk may have been ended while the browser asked for the microphone, or opened it.
      if (this.#isOver) return this.end();
      await this.#openEar(this.#microphone);
      if (this.#isOver) return this.end();
      this.#mouth = new AudioContext({ sampleRate: MOUTH_RATE });
      this.#connect();
    } catch (error) {
      if (this.#isOver) return this.end();
      this.problem = isRefusal(error)
        ? 'The browser does not let this page use the microphone. Allow it beside the address, and try again.'
        : String((error as Error).message);
      this.end();
    }
  }

  get #isOver(): boolean {
    return this.state === 'over';
  }

  /** Makes the voice silent; the conversation goes on. */
  interrupt(): void {
    this.#send({ type: 'interrupt' });
  }

  /** Says something in writing. */
  say(text: string): void {
    this.#send({ type: 'text', text });
    this.#caption('you', text, true);
  }

  mute(isMuted: boolean): void {
    this.isMuted = isMuted;
    for (const track of this.#microphone?.getAudioTracks() ?? []) track.enabled = !isMuted;
  }

  end(): void {
    this.state = 'over';
    this.#silence();
    this.#socket?.close();
    for (const track of this.#microphone?.getTracks() ?? []) track.stop();
    for (const context of [this.#ear, this.#mouth]) if (context && context.state !== 'closed') void context.close();
  }

  async #openEar(microphone: MediaStream): Promise<void> {
    this.#ear = new AudioContext({ sampleRate: EAR_RATE });
    await this.#ear.audioWorklet.addModule('/assets/ear.js');
    const node = new AudioWorkletNode(this.#ear, 'ear');
    node.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => {
      if (this.#socket?.readyState === WebSocket.OPEN && this.#socket.bufferedAmount < MOST_WAITING) this.#socket.send(data);
    };
    this.#ear.createMediaStreamSource(microphone).connect(node);
  }

  #connect(): void {
    const opened = socket(this.#path);
    opened.binaryType = 'arraybuffer';
    opened.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
      typeof data === 'string' ? this.#take(JSON.parse(data) as Told) : this.#play(data);
    opened.onclose = () => {
      if (this.state === 'connecting' && this.problem === '')
        this.problem = key.isKnown ? 'The daemon refused the conversation; its key may have changed.' : 'The daemon could not be reached.';
      if (!this.#isOver) this.end();
    };
    this.#socket = opened;
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #take(told: Told): void {
    if (told.type === 'status') {
      this.state = told.state;
      if (told.state === 'interrupted') this.#silence();
    } else if (told.type === 'transcription') this.#caption('you', told.text, told.is_final, true);
    else if (told.type === 'llm_text') this.#caption('quern', told.text, told.is_final);
    else if (told.type === 'turn_kept') this.#onkept();
    else if (told.type === 'error') this.problem = told.message;
  }

  /** Adds to the caption under way, or puts a text in its place. */
  #caption(who: Caption['who'], text: string, isWhole: boolean, isWholeText = false): void {
    const last = this.captions.at(-1);
    if (last?.who === who && !last.isWhole) {
      last.text = isWholeText ? text : `${last.text}${last.text !== '' && text !== '' && !/^\s/.test(text) ? ' ' : ''}${text}`;
      last.isWhole = isWhole;
    } else if (text !== '') this.captions.push({ who, text, isWhole });
  }

  #play(data: ArrayBuffer): void {
    const mouth = this.#mouth!;
    const pcm = new Int16Array(data);
    if (pcm.length === 0) return;
    const buffer = mouth.createBuffer(1, pcm.length, MOUTH_RATE);
    buffer.copyToChannel(
      Float32Array.from(pcm, (sample) => sample / 32_768),
      0,
    );
    const source = mouth.createBufferSource();
    source.buffer = buffer;
    source.connect(mouth.destination);
    this.#freeAt = Math.max(this.#freeAt, mouth.currentTime);
    source.start(this.#freeAt);
    this.#freeAt += buffer.duration;
    source.onended = () => (this.#playing = this.#playing.filter((one) => one !== source));
    this.#playing.push(source);
  }

  /** Throws away what is not played. */
  #silence(): void {
    for (const source of this.#playing) source.stop();
    [this.#playing, this.#freeAt] = [[], 0];
  }
}

const isRefusal = (error: unknown): boolean => error instanceof DOMException && error.name === 'NotAllowedError';
