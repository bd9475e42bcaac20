import type { Services } from '../../runtime/services/services.js';
import { AUDIO_MEDIA_TYPES, type AudioFormatName } from '../../runtime/speech/codecs/contract.js';
import { SPEECH_RATE, type SpeechOut, type Spoken, type SpokenChunk } from '../../runtime/speech/contract.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { SpeechRequest, VoiceList } from '../../schemas/generated/universal/speech.js';
import { failureOf, logFailure } from '../http/errors.js';

/** What the sub-types of `Accept: audio/...` are called as formats. */
const ACCEPTED: Readonly<Record<string, AudioFormatName>> = {
  mpeg: 'mp3',
  mp3: 'mp3',
  opus: 'opus',
  ogg: 'opus',
  aac: 'aac',
  flac: 'flac',
  'x-flac': 'flac',
  wav: 'wav',
  wave: 'wav',
  'x-wav': 'wav',
  pcm: 'pcm',
  l16: 'pcm',
};
/** What an answer that is no event stream may be. */
export const SPEECH_MEDIA_TYPES = Object.values(AUDIO_MEDIA_TYPES);
/** Bytes of one event before base64: a second of PCM. */
const EVENT_BYTES = 2 * SPEECH_RATE;

/** The code of the formats is loaded at the first speech, so that a start does not wait for it. */
export const encoding = () => import('../../runtime/speech/codecs/encode.js');

/** The format that an `Accept` header asks for by name, the one with the highest quality; undefined where it names none, as wildcards do not. */
export function acceptedFormat(accept: string | undefined): AudioFormatName | undefined {
  let best: { format: AudioFormatName; quality: number } | undefined;
  for (const entry of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const name = type.startsWith('audio/') ? type.slice('audio/'.length) : '';
    if (!Object.hasOwn(ACCEPTED, name)) continue;
    const given = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    const quality = given >= 0 && given <= 1 ? given : 0;
    if (quality > (best?.quality ?? 0)) best = { format: ACCEPTED[name]!, quality };
  }
  return best?.format;
}

/** The voices, as `audio/voices` shows them. */
export async function voiceList(speech: SpeechOut, model: string | undefined): Promise<VoiceList> {
  const voices = await speech.voices(model);
  return {
    object: 'list',
    data: voices.map((voice) => ({ ...voice, preview_url: null })),
    voices: voices.map(({ id, name }) => ({ id, name })),
  };
}

/** Speaks a request's text: bytes of a format as they are made, or events. Throws `bad_request` for a text in which nothing can be said. */
export async function speechReply(speech: SpeechOut, request: Request): Promise<Reply> {
  const { input, model, voice, response_format, speed, stream, stream_format } = request.body as Required<Omit<SpeechRequest, 'voice'>> &
    Pick<SpeechRequest, 'voice'>;
  if (input.trim() === '') throw new Failure('bad_request', 'Input text cannot be empty.', { code: 'EmptyInput' });
  const spoken = await speech.speak({ text: input, model, voice, speed }, request.signal);
  const chunks = await firstChunkReady(spoken.chunks);
  const headers = { 'x-speech-engine': spoken.engine, 'x-speech-voice': spoken.voice };
  if (stream === true) return { headers, events: ourEvents(spoken, chunks, request) };
  const format = acceptedFormat(request.header('accept')) ?? response_format;
  const pieces = (await encoding()).encodeAudio(format, samplesOf(chunks));
  if (stream_format === 'sse') return { headers, events: openaiEvents(pieces, input) };
  return {
    headers: { ...headers, 'content-disposition': `attachment; filename="speech.${format}"` },
    contentType: AUDIO_MEDIA_TYPES[format],
    pieces,
  };
}

/** The same chunks when the first is there, so that what goes wrong before it has a status of its own. */
async function firstChunkReady(chunks: AsyncIterable<SpokenChunk>): Promise<AsyncGenerator<SpokenChunk, void, undefined>> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) throw new Failure('bad_request', 'The input holds nothing that this voice can say.', { code: 'NothingToSay' });
  return (async function* () {
    try {
      yield first.value;
      for (let step = await iterator.next(); !step.done; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
    }
  })();
}

async function* samplesOf(chunks: AsyncIterable<SpokenChunk>): AsyncGenerator<Float32Array, void, undefined> {
  for await (const { samples } of chunks) yield samples;
}

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

/** Bytes in base64, an event for each second at most. */
function* splitAudio(bytes: Uint8Array): Generator<string, void, undefined> {
  for (let at = 0; at < bytes.length; at += EVENT_BYTES) {
    const { buffer, byteOffset, length } = bytes.subarray(at, at + EVENT_BYTES);
    yield Buffer.from(buffer, byteOffset, length).toString('base64');
  }
}

async function* ourEvents(
  { engine, voice }: Spoken,
  chunks: AsyncIterable<SpokenChunk>,
  request: Request,
): AsyncGenerator<string, void, undefined> {
  const encoder = (await encoding()).openEncoder('pcm');
  let samples = 0;
  try {
    for await (const chunk of chunks) {
      let words = chunk.words;
      for (const data of splitAudio(await encoder.push(chunk.samples))) {
        yield frame({ type: 'audio', data, format: 'pcm', sample_rate: SPEECH_RATE, ...(words && { words }) });
        words = undefined;
      }
      samples += chunk.samples.length;
    }
    yield frame({ type: 'done', duration: samples / SPEECH_RATE, x_speech: { engine, voice } });
  } catch (error) {
    if (request.signal.aborted) throw error;
    logFailure(failureOf(error), { id: request.id, method: request.method, path: '/v1/audio/speech' });
    yield frame({ type: 'error', message: 'Speech synthesis failed', detail: failureOf(error).message });
  } finally {
    encoder.close();
  }
}

async function* openaiEvents(pieces: AsyncIterable<Uint8Array>, input: string): AsyncGenerator<string, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    for (const audio of splitAudio(piece)) yield frame({ type: 'speech.audio.delta', audio });
  }
  // These voices have no tokens; characters and bytes stand for them.
  yield frame({
    type: 'speech.audio.done',
    usage: { input_tokens: input.length, output_tokens: bytes, total_tokens: input.length + bytes },
  });
}

/** Text to speech. */
export const speechEndpoints: Endpoint<Services>[] = [
  endpoint<Services>({
    method: 'POST',
    path: '/v1/audio/speech',
    id: 'create_speech',
    access: 'users',
    summary: 'Speak a text',
    tag: 'audio',
    body: 'universal/speech#SpeechRequest',
    mediaTypes: SPEECH_MEDIA_TYPES,
    streams: true,
    errorShape: 'openai',
    handler: ({ speech }, request) => speechReply(speech, request),
  }),
  endpoint<Services>({
    method: 'GET',
    path: '/v1/audio/voices',
    id: 'list_voices',
    access: 'users',
    summary: 'List the voices',
    tag: 'audio',
    query: 'universal/speech#VoicesQuery',
    response: 'universal/speech#VoiceList',
    errorShape: 'openai',
    handler: async ({ speech }, { query }) => ({ json: await voiceList(speech, query.model as string | undefined) }),
  }),
];
