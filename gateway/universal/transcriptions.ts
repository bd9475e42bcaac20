import type { LongTranscribeRequest, SpeechIn, Transcribing, TranscriptSegment } from '../../runtime/speech/contract.js';
import { decodedAudio } from '../../runtime/speech/decode/decode.js';
import { separatorOf, srtOf, textOf, vttOf } from '../../runtime/speech/transcription/text.js';
import { type Endpoint, endpoint, type FormBody, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Transcription, TranscriptionForm } from '../../schemas/generated/universal/transcriptions.js';
import { shapeFor } from '../http/call.js';

/** What the endpoints of transcriptions work on. */
export interface TranscriptionsContext {
  readonly transcription: SpeechIn;
}

const MEBIBYTE = 1024 * 1024;
/** An hour of stereo as it comes from a CD. */
const FILE_LIMIT_BYTES = 640 * MEBIBYTE;
const FORMATS = 'wav, mp3, m4a, mp4, webm, flac, ogg or opus';
const GRANULARITIES = ['word', 'segment'];
const PLAIN = 'text/plain; charset=utf-8';
/** Formats of subtitles, whose times are those of their words: what the model itself says of a segment is rough. */
const SUBTITLES: ReadonlySet<unknown> = new Set(['srt', 'vtt']);

const form = (shape: string): FormBody<unknown> => ({
  form: `universal/transcriptions#${shape}`,
  maxFiles: 1,
  fileLimitBytes: FILE_LIMIT_BYTES,
});

/** The language of a request as engines take it; undefined where it is to be detected. */
export function languageOf(given = ''): string | undefined {
  const [code] = given.trim().toLowerCase().split(/[-_]/);
  return code === '' || code === 'auto' ? undefined : code;
}

/** Whether the times of words are asked for. Throws `bad_request` for what is no granularity. */
function wantsWords(given: readonly string[] = []): boolean {
  const names = given.flatMap((text) => text.split(',').map((name) => name.trim())).filter((name) => name !== '');
  const unknown = names.find((name) => !GRANULARITIES.includes(name));
  if (unknown === undefined) return names.includes('word');
  const message = `timestamp_granularities holds ${JSON.stringify(unknown)}; give ${GRANULARITIES.join(' or ')}.`;
  throw new Failure('bad_request', message, { code: 'UnknownGranularity' });
}

/** The audio of a form. Throws `bad_request` where there is none. */
function audioOf({ files: [file] }: Request): { path: string; name: string } {
  if (!file) throw new Failure('bad_request', `Audio file is required: send it as "file" (${FORMATS}).`, { code: 'AudioMissing' });
  if (file.sizeBytes === 0) throw new Failure('bad_request', `Empty audio file: ${file.name} has no bytes.`, { code: 'AudioEmpty' });
  return file;
}

/** A request to an engine, and what of its answer is shown. */
interface TranscriptionOptions {
  readonly asked: LongTranscribeRequest;
  readonly format: TranscriptionForm['response_format'];
  /** Whether the client wants the times of words. */
  readonly words: boolean;
}

function transcriptionRequest(request: Request, task: LongTranscribeRequest['task']): TranscriptionOptions {
  const { path, name } = audioOf(request);
  const { model = 'distil-large-v3', language, prompt, temperature, response_format: format } = request.body as TranscriptionForm;
  const words = wantsWords((request.body as TranscriptionForm).timestamp_granularities);
  const code = languageOf(language);
  const asked: LongTranscribeRequest = {
    samples: decodedAudio(path, name, request.signal),
    model,
    ...(code === undefined ? {} : { language: code }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(temperature === undefined ? {} : { temperature }),
    words: words || SUBTITLES.has(format),
    task,
  };
  return { asked, format, words };
}

function verbose(
  transcribing: Transcribing,
  segments: TranscriptSegment[],
  { asked: { task }, words }: TranscriptionOptions,
): Transcription {
  const { language, duration } = transcribing;
  const all = segments.flatMap((segment) => segment.words ?? []).map(({ word, start, end }) => ({ word, start, end }));
  return {
    task,
    language,
    duration,
    text: textOf(segments, language),
    segments: segments.map((segment) => ({ ...segment, words: words && segment.words ? [...segment.words] : null })),
    ...(words ? { words: all } : {}),
  };
}

async function whole(transcribing: Transcribing, wants: TranscriptionOptions): Promise<Reply> {
  const { format } = wants;
  const segments: TranscriptSegment[] = [];
  for await (const segment of transcribing.segments) segments.push(segment);
  const text = textOf(segments, transcribing.language);
  if (format === 'verbose_json') return { json: verbose(transcribing, segments, wants) };
  if (format === 'text') return { bytes: `${text}\n`, contentType: PLAIN };
  if (format === 'srt') return { bytes: srtOf(segments), contentType: PLAIN };
  if (format === 'vtt') return { bytes: vttOf(segments), contentType: PLAIN };
  return { json: { text } satisfies Transcription };
}

const frame = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The segments as our clients know them. */
async function* segmentEvents(transcribing: Transcribing, wants: TranscriptionOptions): AsyncGenerator<string, void, undefined> {
  for await (const { id, start, end, text, words } of transcribing.segments)
    yield frame({ id, start, end, text, ...(wants.words && words ? { words } : {}) });
  yield frame('[DONE]');
}

/** The segments as OpenAI's clients know them. */
async function* deltaEvents(transcribing: Transcribing): AsyncGenerator<string, void, undefined> {
  let text = '';
  for await (const segment of transcribing.segments) {
    const delta = text === '' ? segment.text : separatorOf(transcribing.language) + segment.text;
    text += delta;
    yield frame({ type: 'transcript.text.delta', delta });
  }
  const usage = { type: 'duration', seconds: transcribing.duration };
  yield frame({ type: 'transcript.text.done', text, usage });
}

/** Whether a client is one of OpenAI's. */
const isOpenAi = ({ header }: Request): boolean =>
  shapeFor('by-client', { header: (name) => header(name) ?? '', hasHeader: (name) => header(name) !== undefined }) === 'openai';

async function transcribe({ transcription }: TranscriptionsContext, request: Request): Promise<Reply> {
  const { stream } = request.body as TranscriptionForm;
  const wants = transcriptionRequest(request, 'transcribe');
  const transcribing = await transcription.transcribe(wants.asked, request.signal);
  if (stream !== true) return whole(transcribing, wants);
  return { events: isOpenAi(request) ? deltaEvents(transcribing) : segmentEvents(transcribing, wants) };
}

async function translate({ transcription }: TranscriptionsContext, request: Request): Promise<Reply> {
  const wants = transcriptionRequest(request, 'translate');
  return whole(await transcription.transcribe(wants.asked, request.signal), wants);
}

/** Speech to text in its own language. The core has it too, for projects. */
export const TRANSCRIPTION = {
  method: 'POST',
  path: '/v1/audio/transcriptions',
  id: 'create_transcription',
  access: 'users',
  summary: 'Write down what is said',
  tag: 'audio',
  multipart: form('TranscriptionForm'),
  response: 'universal/transcriptions#Transcription',
  mediaTypes: ['text/plain'],
  streams: true,
  errorShape: 'openai',
  handler: transcribe,
} as const;

/** Speech to text. */
export const transcriptionEndpoints: Endpoint<TranscriptionsContext>[] = [
  endpoint<TranscriptionsContext>(TRANSCRIPTION),
  endpoint({
    method: 'POST',
    path: '/v1/audio/translations',
    id: 'create_translation',
    access: 'users',
    summary: 'Write down in English what is said in any language',
    tag: 'audio',
    multipart: form('TranslationForm'),
    response: 'universal/transcriptions#Transcription',
    mediaTypes: ['text/plain'],
    errorShape: 'openai',
    handler: translate,
  }),
];
