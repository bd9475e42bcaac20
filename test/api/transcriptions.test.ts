import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TranscriptionsContext, transcriptionEndpoints } from '../../gateway/universal/transcriptions.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Transcription } from '../../runtime/speech/transcription/transcription.js';
import { emptyDataDir } from '../support/daemon.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { noise, silence, tone, wavOf } from '../support/speech/sounds.js';
import { binaryForm } from '../support/vision/stage.js';

setLogLevel('error');
const dataDir = emptyDataDir();
const hub = join(dataDir, 'hub');
const install = (name: string, puppet: Parameters<typeof writePuppetWhisper>[1]): void =>
  writePuppetWhisper(join(dataDir, 'models', 'Systran', `faster-whisper-${name}`), puppet);
install('tiny.en', { words: [' Hello', ' from', ' the', ' puppet.'], seconds: 1.2 });
install('base', { words: [' Guten', ' Tag.'], language: 'de' });

type Fields = Readonly<Record<string, string>>;
const asked =
  (path: string) =>
  (name: string, sound: Uint8Array | null, fields: Fields, rest: Partial<Scenario> = {}): Scenario => ({
    name,
    method: 'POST',
    path,
    ...binaryForm(sound === null ? [] : [['file', 'speech.wav', sound]], fields),
    ...rest,
  });
const transcribed = asked('/v1/audio/transcriptions');
const translated = asked('/v1/audio/translations');
const spoken = wavOf(tone(2));
const SAID = 'Hello from the puppet.';
const OPENAI = { 'user-agent': 'OpenAI/JS 6.30.1' };

const FORMS: Scenario[] = [
  transcribed('json is the text alone', spoken, { model: 'tiny.en' }, { json: (body) => assert.deepEqual(body, { text: SAID }) }),
  transcribed('whisper- before the name', spoken, { model: 'whisper-tiny.en' }, { contains: [SAID] }),
  transcribed('the repository as the name', spoken, { model: 'Systran/faster-whisper-tiny.en' }, { contains: [SAID] }),
  ...['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'].map((model) =>
    transcribed(`${model} is the largest that is here`, spoken, { model }, { contains: ['Guten Tag.'] }),
  ),
  transcribed(
    'text is plain text',
    spoken,
    { model: 'tiny.en', response_format: 'text' },
    {
      answerHeaders: { 'content-type': /^text\/plain/ },
      contains: [`${SAID}\n`],
      lacks: ['"text"'],
    },
  ),
  transcribed(
    'srt has times with a comma',
    spoken,
    { model: 'tiny.en', response_format: 'srt' },
    { answerHeaders: { 'content-type': /^text\/plain/ }, contains: [`1\n00:00:00,000 --> 00:00:01,980\n${SAID}\n\n`] },
  ),
  transcribed(
    'vtt has times with a point',
    spoken,
    { model: 'tiny.en', response_format: 'vtt' },
    {
      answerHeaders: { 'content-type': /^text\/plain/ },
      contains: [`WEBVTT\n\n00:00:00.000 --> 00:00:01.980\n${SAID}\n\n`],
    },
  ),
  transcribed(
    'verbose_json tells language, duration and segments',
    spoken,
    { model: 'base', response_format: 'verbose_json' },
    {
      json: (body) => {
        const { segments, ...rest } = body;
        assert.deepEqual(rest, { task: 'transcribe', language: 'de', duration: 2, text: 'Guten Tag.' });
        const [{ avg_logprob, no_speech_prob, ...segment }] = segments;
        assert.deepEqual(segment, { id: 0, start: 0, end: 1, text: 'Guten Tag.', words: null });
        assert.ok(avg_logprob > -0.1 && no_speech_prob < 0.1);
      },
    },
  ),
  ...([{ timestamp_granularities: 'segment,word' }, { 'timestamp_granularities[]': 'word' }] as Fields[]).map((granularities) =>
    transcribed(
      `words by ${Object.keys(granularities)[0]}`,
      spoken,
      { model: 'tiny.en', response_format: 'verbose_json', ...granularities },
      {
        json: ({ words, segments }) => {
          assert.deepEqual(
            words.map(({ word }: { word: string }) => word),
            SAID.split(' '),
          );
          assert.equal(segments[0].words[0].word, 'Hello');
          assert.ok(segments[0].words[0].probability > 0.9);
          for (const [at, { start, end }] of words.entries())
            assert.ok(start <= end && start >= (words[at - 1]?.end ?? 0) && end <= 2, JSON.stringify(words));
        },
      },
    ),
  ),
  transcribed(
    'our stream',
    spoken,
    { model: 'tiny.en', stream: 'true' },
    { events: [{ id: 0, start: 0, end: 1.2, text: SAID }, '[DONE]'], lacks: ['"words"'] },
  ),
  transcribed(
    'words in our stream',
    spoken,
    { model: 'tiny.en', stream: 'true', timestamp_granularities: 'word' },
    { contains: ['"words":[{"word":"Hello"'] },
  ),
  {
    ...transcribed('the stream of OpenAI', spoken, { model: 'tiny.en', stream: 'true' }),
    headers: { ...binaryForm([]).headers, ...OPENAI },
    events: [
      { type: 'transcript.text.delta', delta: SAID },
      { type: 'transcript.text.done', text: SAID, usage: { type: 'duration', seconds: 2 } },
    ],
  },
  translated('a translation', spoken, { model: 'base' }, { json: (body) => assert.deepEqual(body, { text: 'Guten Tag.' }) }),
  translated('a translation as text', spoken, { model: 'base', response_format: 'text' }, { contains: ['Guten Tag.\n'] }),
];

const NOTHING: Scenario[] = [
  ...Object.entries({ 'an hour of silence': silence(3600), 'steady noise': noise(10, 0.2), 'a click': wavClick() }).map(([name, samples]) =>
    transcribed(`${name} is no text`, wavOf(samples), { model: 'tiny.en' }, { json: (body) => assert.deepEqual(body, { text: '' }) }),
  ),
  transcribed('silence as subtitles', wavOf(silence(2)), { model: 'tiny.en', response_format: 'vtt' }, { contains: ['WEBVTT\n\n'] }),
  transcribed('no samples at all', wavOf(silence(0)), { model: 'tiny.en' }, { json: (body) => assert.deepEqual(body, { text: '' }) }),
];

const REFUSED: Scenario[] = [
  transcribed('no file', null, { model: 'tiny.en' }, { status: 400, contains: ['Audio file is required'] }),
  transcribed('an empty file', new Uint8Array(0), { model: 'tiny.en' }, { status: 400, contains: ['Empty audio file: speech.wav'] }),
  transcribed('bytes that are no audio', Buffer.from('no audio at all'), { model: 'tiny.en' }, { status: 400, contains: ['speech.wav'] }),
  transcribed(
    'the default model, which is not here',
    spoken,
    {},
    {
      status: 404,
      contains: ['distil-large-v3', 'quern pull distil-large-v3', 'tiny.en, base'],
    },
  ),
  transcribed(
    'a model that is not here is not swapped',
    spoken,
    { model: 'small' },
    { status: 404, contains: ['quern pull whisper-small', 'tiny.en, base'] },
  ),
  transcribed('a repository that is not here', spoken, { model: 'someone/whisper' }, { status: 404, contains: ['someone/whisper'] }),
  transcribed('no name of a model', spoken, { model: '../etc' }, { status: 400, contains: ['../etc'] }),
  transcribed('a language that nobody speaks', spoken, { model: 'base', language: 'xx' }, { status: 400, contains: ['\\"xx\\"'] }),
  transcribed(
    'a language that the model does not hear',
    spoken,
    { model: 'tiny.en', language: 'de' },
    { status: 400, contains: ['English only'] },
  ),
  transcribed('an unknown format', spoken, { model: 'base', response_format: 'docx' }, { status: 422, contains: ['docx', 'verbose_json'] }),
  transcribed('a temperature of 2', spoken, { model: 'base', temperature: '2' }, { status: 422, contains: ['temperature'] }),
  transcribed(
    'an unknown granularity',
    spoken,
    { model: 'base', timestamp_granularities: 'letter' },
    { status: 400, contains: ['letter', 'word'] },
  ),
  translated('a translation of no file', null, {}, { status: 400, contains: ['Audio file is required'] }),
];

function wavClick(): Float32Array {
  const samples = silence(2);
  samples.fill(0.9, 16_000, 16_400);
  return samples;
}

scenarios<TranscriptionsContext & { models: Models }>(
  'transcriptions',
  {
    endpoints: transcriptionEndpoints,
    context: () => {
      const models = new Models({ dataDir, places: { hub } });
      return { models, transcription: new Transcription(models, dataDir) };
    },
    close: ({ models }) => models.close(),
  },
  [...FORMS, ...NOTHING, ...REFUSED],
);
