import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { speechEndpoints as coreSpeechEndpoints } from '../../gateway/core/speech.js';
import { speechEndpoints } from '../../gateway/universal/speech.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Projects } from '../../runtime/projects/projects.js';
import { LocalSpeech } from '../../runtime/speech/speak.js';
import { Transcription } from '../../runtime/speech/transcription/transcription.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { emptyDataDir } from '../support/daemon.js';
import type { Answer } from '../support/exchange.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { tone, wavOf } from '../support/speech/sounds.js';
import { binaryForm } from '../support/vision/stage.js';

setLogLevel('error');
const dataDir = emptyDataDir();
mkdirSync(join(dataDir, 'projects/default/quickstart'), { recursive: true });
writeFileSync(
  join(dataDir, 'projects/default/quickstart/project.yaml'),
  'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: x}\n',
);
writePuppetWhisper(join(dataDir, 'models', 'Systran', 'faster-whisper-tiny.en'), { words: [' Hello', ' there.'], seconds: 1.2 });

interface Stage {
  readonly models: Models;
  readonly projects: Projects;
  readonly speech: LocalSpeech;
  readonly core: { readonly speech: LocalSpeech; readonly transcription: Transcription };
}

const RUNTIME = { speech: '/v1/audio/speech', voices: '/v1/audio/voices' };
const CORE = { speech: '/v1/default/quickstart/audio/speech', voices: '/v1/default/quickstart/audio/voices' };
const HELLO = 'Hello there.';
const speak = (body: Record<string, unknown>, rest: Partial<Scenario> & { base?: typeof RUNTIME } = {}): Scenario => {
  const { base = RUNTIME, ...others } = rest;
  return { name: JSON.stringify(body).slice(0, 60), method: 'POST', path: base.speech, body, ...others };
};
const refused = (status: number, body: Record<string, unknown>, ...contains: string[]): Scenario[] =>
  [RUNTIME, CORE].map((base) =>
    speak(body, { base, name: `${base.speech}: ${JSON.stringify(body).slice(0, 60)} is ${status}`, status, contains }),
  );

/** The format of an answer's bytes, by their beginning. */
function formatOf({ bytes }: Answer): string {
  const head = bytes!.subarray(0, 4).toString('latin1');
  if (head === 'RIFF' || head === 'OggS' || head === 'fLaC') return head;
  if (bytes![0] === 0xff && (bytes![1]! & 0xf6) === 0xf0) return 'ADTS';
  return bytes![0] === 0xff && (bytes![1]! & 0xe0) === 0xe0 ? 'MPEG' : 'PCM';
}
const bytes = (type: string, format: string, name: string): Pick<Scenario, 'answerHeaders' | 'json'> => ({
  answerHeaders: {
    'content-type': type,
    'content-disposition': `attachment; filename="speech.${name}"`,
    'x-speech-engine': 'flite',
    'x-speech-voice': 'slt',
  },
  json: (_body, answer) => assert.equal(formatOf(answer), format),
});

const FORMATS = {
  mp3: ['audio/mpeg', 'MPEG'],
  opus: ['audio/opus', 'OggS'],
  aac: ['audio/aac', 'ADTS'],
  flac: ['audio/flac', 'fLaC'],
  wav: ['audio/wav', 'RIFF'],
  pcm: ['audio/pcm', 'PCM'],
} as const;

const rows: Scenario[] = [
  ...Object.entries(FORMATS).map(([name, [type, head]]) => speak({ input: HELLO, response_format: name }, bytes(type, head, name))),
  speak({ input: HELLO }, { ...bytes('audio/mpeg', 'MPEG', 'mp3'), base: CORE, name: 'mp3 for a project, by default' }),
  ...[
    ['audio/wav', 'audio/wav', 'RIFF', 'wav'],
    ['audio/x-wav;q=0.5, audio/flac', 'audio/flac', 'fLaC', 'flac'],
    ['audio/mp3', 'audio/mpeg', 'MPEG', 'mp3'],
    ['audio/L16', 'audio/pcm', 'PCM', 'pcm'],
    ['*/*', 'audio/pcm', 'PCM', 'pcm'],
    ['audio/*', 'audio/pcm', 'PCM', 'pcm'],
    ['application/json', 'audio/pcm', 'PCM', 'pcm'],
    ['audio/flac;q=0', 'audio/pcm', 'PCM', 'pcm'],
  ].map(([accept, type, head, name]) =>
    speak(
      { input: HELLO, response_format: 'pcm' },
      { ...bytes(type!, head!, name!), base: CORE, headers: { accept: accept! }, name: `Accept: ${accept}` },
    ),
  ),
  speak(
    { input: HELLO, voice: 'bm_george', response_format: 'pcm' },
    {
      name: 'a voice of kokoro that flite stands in for',
      answerHeaders: { 'x-speech-engine': 'flite', 'x-speech-voice': 'awb' },
      json: () => {},
    },
  ),
  speak(
    { input: HELLO, model: 'flite', voice: 'rms', response_format: 'pcm' },
    { name: 'a voice of flite', answerHeaders: { 'x-speech-voice': 'rms' }, json: () => {} },
  ),
  ...[RUNTIME, CORE].flatMap((base) =>
    [
      [{ model: 'flite' }, 'slt'],
      [{ model: 'tts-1' }, 'slt'],
      [{ model: 'tts-1-hd', voice: 'onyx' }, 'rms'],
      [{ model: 'gpt-4o-mini-tts', voice: 'fable', instructions: 'Speak softly.' }, 'awb'],
      [{ model: 'kokoro', voice: 'verse' }, 'kal16'],
      [{ model: 'flite', voice: 'alloy' }, 'slt'],
    ].map(([wanted, voice]) =>
      speak(
        { input: HELLO, response_format: 'pcm', ...(wanted as object) },
        {
          base,
          name: `${base.speech}: ${JSON.stringify(wanted)} is ${voice}`,
          answerHeaders: { 'x-speech-engine': 'flite', 'x-speech-voice': voice as string },
          json: () => {},
        },
      ),
    ),
  ),
  speak(
    { input: HELLO, stream: true, response_format: 'mp3' },
    {
      name: 'events are PCM whatever the format',
      answerHeaders: { 'content-type': /^text\/event-stream/, 'x-speech-engine': 'flite' },
      events: [
        { type: 'audio', format: 'pcm', sample_rate: 24000 },
        ANY_EVENTS,
        { type: 'done', x_speech: { engine: 'flite', voice: 'slt' } },
      ],
      json: (_body, { events }) => {
        const parsed = events.map((event) => JSON.parse(event) as { data?: string; duration?: number; words?: { word: string }[] });
        const samples = parsed.reduce((sum, { data = '' }) => sum + Buffer.from(data, 'base64').length / 2, 0);
        assert.ok(Math.abs(samples / 24000 - parsed.at(-1)!.duration!) < 0.001);
        assert.deepEqual(
          parsed.flatMap(({ words = [] }) => words.map(({ word }) => word)),
          ['Hello', 'there.'],
        );
      },
    },
  ),
  speak(
    { input: HELLO, stream_format: 'sse', response_format: 'wav' },
    { name: 'events of OpenAI', events: [{ type: 'speech.audio.delta' }, ANY_EVENTS, { type: 'speech.audio.done' }] },
  ),
  ...refused(400, { input: '' }, 'Input text cannot be empty'),
  ...refused(400, { input: ' \n\t ' }, 'Input text cannot be empty'),
  ...refused(400, { input: '!!! 你好' }, 'nothing that this voice can say'),
  ...refused(422, {}, 'input'),
  ...refused(422, { input: 5 }, 'input'),
  ...refused(422, { input: 'a'.repeat(4097) }, '4096'),
  ...refused(422, { input: HELLO, speed: 0 }, 'speed', '0.25'),
  ...refused(422, { input: HELLO, speed: 5 }, 'speed', '4'),
  ...refused(422, { input: HELLO, speed: 'fast' }, 'speed'),
  ...refused(422, { input: HELLO, response_format: 'mp4' }, 'response_format', 'mp3'),
  ...refused(422, { input: HELLO, voice: '' }, 'voice'),
  ...refused(404, { input: HELLO, voice: 'zz_nobody' }, 'zz_nobody', 'af_heart', 'quern pull kokoro'),
  ...refused(404, { input: HELLO, voice: '../../../etc/passwd' }, 'VoiceNotFound'),
  ...refused(404, { input: HELLO, voice: 'constructor' }, 'VoiceNotFound'),
  ...refused(404, { input: HELLO, model: 'flite', voice: 'af_heart' }, 'af_heart', 'slt'),
  ...refused(404, { input: HELLO, model: 'piper' }, 'no voice of it is on this machine', 'quern pull en_US-ljspeech-high'),
  ...refused(404, { input: HELLO, model: 'de_DE-thorsten-medium' }, 'quern pull de_DE-thorsten-medium'),
  ...refused(404, { input: HELLO, model: '/nowhere/at/all.onnx' }, 'Check the path'),
  ...refused(404, { input: HELLO, model: 'flite', voice: 'Alloy' }, 'Alloy', 'slt'),
  ...refused(404, { input: HELLO, model: 'pocket-tts' }, 'pocket-tts', 'quern pull kokoro'),
  ...refused(404, { input: HELLO, model: 'someone/kokoro-other' }, 'someone/kokoro-other', 'quern pull'),
  ...refused(404, { input: HELLO, model: 'kokoro:F16', voice: 'nobody' }, 'nobody'),
  ...refused(400, { input: HELLO, model: '../kokoro' }, 'is not a model name'),
  {
    name: 'a project that is not there',
    method: 'POST',
    path: '/v1/default/nothing/audio/speech',
    body: { input: HELLO },
    status: 404,
    contains: ['nothing'],
  },
  { name: 'its voices', path: '/v1/default/nothing/audio/voices', status: 404, contains: ['nothing'] },
  ...[RUNTIME, CORE].flatMap((base): Scenario[] => [
    {
      name: `${base.voices}: the voices`,
      path: base.voices,
      json: ({ object, data, voices }) => {
        assert.equal(object, 'list');
        assert.deepEqual(voices[0], { id: 'af_heart', name: 'Heart (American Female)' });
        assert.equal(voices.length, data.length);
        assert.deepEqual(data[0], {
          id: 'af_heart',
          name: 'Heart (American Female)',
          language: 'en-US',
          model: 'kokoro',
          preview_url: null,
        });
        const ids = data.filter((voice: { model: string }) => voice.model === 'kokoro').map((voice: { id: string }) => voice.id);
        assert.deepEqual(
          ids,
          'af_heart af_bella af_nicole af_sarah af_sky am_adam am_michael bf_emma bf_isabella bm_george bm_lewis'.split(' '),
        );
        assert.equal(data.find((voice: { id: string }) => voice.id === 'bm_lewis').name, 'Lewis (British Male)');
      },
    },
    {
      name: `${base.voices}: the voices of one model`,
      path: `${base.voices}?model=flite`,
      json: ({ data }) =>
        assert.deepEqual(
          data.map((voice: { id: string }) => voice.id),
          ['slt', 'rms', 'awb', 'kal16'],
        ),
    },
    ...['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'].map(
      (model): Scenario => ({
        name: `${base.voices}: OpenAI's voices of ${model}`,
        path: `${base.voices}?model=${model}`,
        json: ({ data }) => {
          const ids = data.map((voice: { id: string }) => voice.id);
          assert.deepEqual(ids, 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' '));
          const fable = { id: 'fable', name: 'Fable (British Male)', language: 'en-GB', model, preview_url: null };
          assert.deepEqual(data[5], fable);
        },
      }),
    ),
    {
      name: `${base.voices}: the voices of an unknown model`,
      path: `${base.voices}?model=nothing`,
      status: 404,
      contains: ['quern pull kokoro'],
    },
  ]),
];

const HEARD = '/v1/default/quickstart/audio/transcriptions';
const [sound, fields] = [wavOf(tone(2)), { model: 'tiny.en', response_format: 'verbose_json' }];
rows.push(
  {
    name: 'a project has its recordings written down by the core',
    method: 'POST',
    path: HEARD,
    ...binaryForm([['file', 'speech.wav', sound]], fields),
    json: ({ text, segments }) => assert.deepEqual([text, segments.length], ['Hello there.', 1]),
  },
  {
    name: 'a project that is not there hears nothing',
    method: 'POST',
    path: '/v1/default/absent/audio/transcriptions',
    ...binaryForm([['file', 'speech.wav', sound]], fields),
    status: 404,
    contains: ['absent'],
  },
);

scenarios<Stage>(
  'text to speech without any download',
  {
    endpoints: [...speechEndpoints, ...coreSpeechEndpoints] as unknown as Endpoint<Stage>[],
    context: () => {
      const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
      const speech = new LocalSpeech(models);
      return { models, projects: new Projects({ dataDir }), speech, core: { speech, transcription: new Transcription(models, dataDir) } };
    },
    close: ({ models }) => models.close(),
  },
  rows,
);
