import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WORD_S } from '../../../support/voice/scripted-speech.js';
import { VoiceStage } from '../../../support/voice/stage.js';

const LONG = 'The garden has roses, and tulips grow beside the wall. In spring the birds come back. They sing all day long in the trees.';

/** A session whose answer has been heard for so many seconds. */
async function speaking(heardS: number, script: ConstructorParameters<typeof VoiceStage>[0] = {}): Promise<VoiceStage> {
  const stage = new VoiceStage({
    answers: [[LONG], ['Of course.']],
    transcripts: ['Tell me about the garden.', 'What about winter?'],
    ...script,
  });
  await stage.speak(1);
  await stage.silence(0.6);
  await stage.until('speaking');
  while (stage.audioS === 0) await stage.clock.advance(10);
  await stage.clock.advance(heardS * 1000);
  return stage;
}

describe('a turn', () => {
  test('goes through its states and says everything in order', async () => {
    const stage = new VoiceStage();
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    assert.deepEqual(stage.states, ['idle', 'listening', 'processing', 'speaking', 'idle']);
    const order = stage.received.map(({ message, audio }) => (audio ? 'audio' : message!.type));
    assert.deepEqual(order.filter((one, index) => one !== order[index - 1] || one !== 'audio').slice(0, 7), [
      'session_info',
      'status',
      'status',
      'transcription',
      'status',
      'transcription',
      'status',
    ]);
    assert.deepEqual(
      stage.messages('llm_text').map(({ text, is_final }) => [text, is_final]),
      [
        ['Very well.', false],
        ['I can do that for you.', true],
      ],
    );
    assert.deepEqual(
      stage.messages('tts_start').map((one) => one.phrase_index),
      [0, 1],
    );
    assert.deepEqual(
      stage.messages('tts_done').map((one) => one.duration),
      [2 * WORD_S, 6 * WORD_S],
    );
    assert.equal(stage.audioS, 8 * WORD_S);
    assert.deepEqual(
      stage.kept.map(({ answer }) => answer),
      [{ role: 'assistant', content: 'Very well. I can do that for you.' }],
    );
  });

  test('speaks its first phrase before the model has ended', async () => {
    const stage = new VoiceStage({ answers: [[LONG]], tokenMs: 200 });
    await stage.speak(1);
    await stage.silence(0.6);
    await stage.until('speaking');
    await stage.clock.advance(1500);
    assert.equal(stage.open, 1);
    assert.ok(stage.audioS > 0);
    assert.equal(stage.speech.spoken[0]!.text, 'The garden has roses,');
  });

  test('gives its models back where the language model cannot rehearse, or the client leaves meanwhile', async () => {
    const failing = new VoiceStage({ rehearsal: [new Error('no memory')] });
    await failing.clock.advance(100);
    assert.equal(failing.messages('error').length, 1);
    failing.session.end();
    const slow = new VoiceStage({ rehearsal: ['one two three'], tokenMs: 1000 });
    await slow.clock.advance(1500);
    slow.session.end();
    await slow.clock.advance(5000);
    assert.deepEqual([failing.held, slow.held], [0, 0]);
  });

  test('tells its timings in tenths of a millisecond', async () => {
    const stage = new VoiceStage({ settings: { timings: true }, transcribeMs: 100 / 3 });
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    const { type: _type, ...timings } = stage.messages('timings')[0]!;
    assert.deepEqual(
      Object.values(timings).filter((value) => Math.abs(value * 10 - Math.round(value * 10)) > 1e-6),
      [],
    );
  });

  test('loads its models at connect and holds them until it ends', async () => {
    const stage = new VoiceStage();
    await stage.clock.advance(10);
    assert.deepEqual(stage.speech.kept, ['kokoro by default', 'base']);
    assert.equal(stage.held, 3);
    stage.session.end();
    assert.equal(stage.held, 0);
    assert.ok(stage.hearing.closed);
  });

  test('tells where its time went when asked', async () => {
    const stage = new VoiceStage();
    stage.say({ type: 'config', timings: true });
    await stage.speak(2.5);
    await stage.silence(0.6);
    await stage.until('idle');
    const [timings] = stage.messages('timings');
    assert.ok(timings);
    assert.ok(Math.abs(timings.endpoint_ms! - 400) <= 40, `endpoint ${timings.endpoint_ms}`);
    assert.ok(timings.stt_ms! >= timings.endpoint_ms! && timings.first_token_ms! >= timings.stt_ms!);
    assert.ok(timings.first_phrase_ms! >= timings.first_token_ms! && timings.first_audio_ms! >= timings.first_phrase_ms! + 30);
  });

  test('has its words when the pause is long enough: they are asked for at its beginning', async () => {
    const stage = new VoiceStage({ settings: { timings: true }, transcribeMs: 350, transcripts: ['What is this?'] });
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    const { endpoint_ms, stt_ms } = stage.messages('timings')[0]!;
    // Short speech ends after 1.5 times 0.4 s.
    assert.ok(endpoint_ms! <= 640 && stt_ms! - endpoint_ms! <= 10, `the end after ${endpoint_ms} ms, its words after ${stt_ms}`);
  });

  test('asks for words again where somebody goes on after a short pause, and answers once', async () => {
    const stage = new VoiceStage({ transcribeMs: 100, transcripts: ['I would like', 'I would like tea.'] });
    await stage.speak(1);
    await stage.silence(0.3);
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    const said = stage.messages('transcription');
    assert.deepEqual(
      said.map(({ text, is_final }) => [text, is_final]),
      [
        ['I would like', false],
        ['I would like tea.', false],
        ['I would like tea.', true],
      ],
    );
    assert.equal(stage.asked.length, 1);
  });

  test('can be typed', async () => {
    const stage = new VoiceStage();
    stage.say({ type: 'text', text: ' Hello there ' });
    await stage.until('speaking');
    await stage.until('idle');
    assert.deepEqual(stage.states, ['idle', 'processing', 'speaking', 'idle']);
    assert.deepEqual(stage.asked[0]!.request.messages, [{ role: 'user', content: 'Hello there' }]);
    assert.equal(stage.messages('transcription').length, 0);
  });
});

describe('the end of an utterance', () => {
  test('a pause of 0.8 s in mid-sentence does not end it, and the longest silence always does', async () => {
    const stage = new VoiceStage({ transcripts: ['I would like to,'] });
    await stage.speak(1);
    await stage.silence(0.8);
    await stage.speak(1);
    assert.deepEqual(stage.states, ['idle', 'listening']);
    stage.say({ type: 'config', thinking_silence_duration: 5 });
    await stage.silence(2.4);
    assert.deepEqual(stage.states, ['idle', 'listening']);
    await stage.silence(0.2);
    assert.deepEqual(stage.states.slice(0, 3), ['idle', 'listening', 'processing']);
    const { request } = stage.speech.transcribed.at(-1)!;
    assert.ok(request.samples.length > 2.8 * 16_000, 'both halves are transcribed');
  });

  test('a recogniser that is slow does not end it early', async () => {
    const stage = new VoiceStage({ transcripts: ['I would like to,'], transcribeMs: 500 });
    await stage.speak(1);
    await stage.silence(1);
    await stage.speak(0.5);
    assert.equal(stage.state, 'listening');
    assert.ok(stage.speech.transcribed[0]!.aborted);
  });

  test('only the client ends it where turn detection is off', async () => {
    const stage = new VoiceStage({ settings: { turnDetection: false } });
    await stage.speak(1);
    await stage.silence(20);
    assert.equal(stage.state, 'listening');
    stage.say({ type: 'end' });
    await stage.until('speaking');
  });

  test('a client that stops sending has ended it', async () => {
    const stage = new VoiceStage();
    await stage.speak(1);
    await stage.clock.advance(2600);
    assert.equal(stage.messages('transcription').filter((one) => one.is_final).length, 1);
  });

  test('after 90 s it is over', async () => {
    const stage = new VoiceStage();
    await stage.speak(89, 10);
    assert.equal(stage.state, 'listening');
    await stage.speak(1.5, 10);
    assert.notEqual(stage.speech.transcribed.length, 0);
    assert.ok(stage.speech.transcribed[0]!.request.samples.length <= 90.5 * 16_000);
  });

  test('speech that goes on while the model is asked is one utterance with what was before', async () => {
    const stage = new VoiceStage({ transcribeMs: 2000, settings: { maxSilence: 0.5 } });
    await stage.speak(1);
    await stage.silence(0.6);
    assert.equal(stage.state, 'processing');
    await stage.speak(1);
    assert.equal(stage.state, 'listening');
    await stage.silence(0.6);
    await stage.clock.advance(2500);
    assert.equal(stage.messages('transcription').filter((one) => one.is_final).length, 1);
    assert.ok(stage.speech.transcribed.at(-1)!.request.samples.length > 2 * 16_000);
    assert.deepEqual(stage.messages('error'), []);
  });
});

describe('what is no speech', () => {
  test('an hour of silence costs two messages', async () => {
    const stage = new VoiceStage();
    for (let minute = 0; minute < 3; minute += 1) await stage.silence(60, 100);
    assert.deepEqual(stage.states, ['idle', 'listening', 'idle']);
    assert.equal(stage.speech.transcribed.length, 0);
    await stage.speak(1);
    assert.equal(stage.state, 'listening');
  });

  test('silence and `end` lead back to idle', async () => {
    const stage = new VoiceStage();
    await stage.silence(0.5);
    stage.say({ type: 'end' });
    await stage.clock.advance(10);
    assert.deepEqual(stage.states, ['idle', 'listening', 'idle']);
    stage.say({ type: 'end' });
    await stage.clock.advance(10);
    assert.deepEqual(stage.states, ['idle', 'listening', 'idle']);
  });

  test('a short noise is no utterance', async () => {
    const stage = new VoiceStage();
    await stage.speak(0.1);
    await stage.silence(3);
    assert.deepEqual(stage.states, ['idle', 'listening', 'idle']);
    assert.equal(stage.speech.transcribed.length, 0);
  });

  test('what has no words is not answered', async () => {
    const stage = new VoiceStage({ transcripts: ['[BLANK_AUDIO]'] });
    await stage.speak(1);
    await stage.silence(3);
    assert.deepEqual(stage.states, ['idle', 'listening', 'processing', 'idle']);
    assert.equal(stage.asked.length, 0);
    assert.equal(stage.messages('transcription').length, 0);
  });
});

describe('barge-in', () => {
  test('stops the audio within 100 ms of its detection, is kept from before its beginning, and is transcribed', async () => {
    const stage = await speaking(0.5);
    await stage.silence(0.5);
    const before = stage.received.length;
    await stage.speak(0.22);
    assert.deepEqual(stage.states.slice(-2), ['interrupted', 'listening']);
    const detectedMs = stage.received.slice(before).find(({ message }) => message?.type === 'status')!.atMs;
    await stage.speak(0.8);
    await stage.silence(1);
    const sent = stage.received.filter(({ atMs, audio }) => audio && atMs > detectedMs && atMs < detectedMs + 800);
    assert.equal(sent.length, 0);
    const { request } = stage.speech.transcribed.at(-1)!;
    assert.ok(request.samples instanceof Float32Array);
    const preRollS = request.samples.findIndex((sample) => sample !== 0) / 16_000;
    assert.ok(preRollS >= 0.26 && preRollS <= 0.34, `${preRollS} s of pre-roll`);
    assert.deepEqual(
      stage
        .messages('transcription')
        .filter((one) => one.is_final)
        .map(({ text }) => text),
      ['Tell me about the garden.', 'What about winter?'],
    );
  });

  test('leaves in the history what was heard, and no more', async () => {
    for (const knowsWords of [true, false]) {
      const stage = await speaking(1.9, { knowsWords });
      await stage.speak(1);
      await stage.silence(1);
      await stage.clock.advance(2000);
      const [first, second] = stage.kept;
      assert.ok(first);
      const words = String(first.answer.content).split(' ');
      assert.ok(LONG.startsWith(String(first.answer.content)), String(first.answer.content));
      // 1.9 s and 0.2 s until it is noticed, at 0.25 s a word.
      assert.ok(words.length >= 7 && words.length <= 8, `${words.length} words: ${first.answer.content}`);
      assert.equal(second?.answer.content, 'Of course.');
    }
  });

  test('what was not heard at all is asked again with what comes next', async () => {
    const stage = new VoiceStage({
      answers: [[LONG], ['Of course.']],
      transcripts: ['Tell me about the garden.', 'And the birds?'],
      speakMs: 2000,
    });
    await stage.speak(1);
    await stage.silence(0.6);
    await stage.until('speaking');
    await stage.speak(0.5);
    await stage.silence(1);
    await stage.until('idle');
    assert.deepEqual(
      stage.kept.map(({ call }) => call.request.messages[0]!.content),
      ['Tell me about the garden.\nAnd the birds?'],
    );
  });

  test('of what was not heard at all, the last 10 000 characters go before what comes next', async () => {
    const stage = new VoiceStage({ answers: [[LONG]], speakMs: 2000 });
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(6_000));
    for (const text of texts) {
      stage.say({ type: 'text', text });
      await stage.clock.advance(100);
    }
    await stage.until('idle');
    assert.deepEqual(
      stage.asked.map(({ request }) => request.messages.at(-1)!.content),
      [texts[0], `${texts[0]}\n${texts[1]}`, `${`${texts[0]}\n${texts[1]}`.slice(-10_000)}\n${texts[2]}`],
    );
  });

  test('a click or 100 ms of noise is none', async () => {
    const stage = await speaking(1);
    await stage.speak(0.1);
    await stage.silence(1);
    assert.deepEqual(stage.states.slice(-1), ['speaking']);
    assert.equal(stage.speech.transcribed.length, 1);
  });

  test('an echo of the answer is none, and a voice above it is one', async () => {
    const stage = await speaking(1);
    await stage.sound(2, 0.08);
    assert.equal(stage.state, 'speaking');
    await stage.sound(0.3, 0.2);
    assert.equal(stage.state, 'listening');
  });

  test('"uh-huh" and a noise without words do not end the answer: it goes on where it was cut', async () => {
    for (const said of ['Uh-huh.', '']) {
      const stage = await speaking(1, { transcripts: ['Tell me about the garden.', said] });
      await stage.speak(0.5);
      await stage.silence(1);
      await stage.until('speaking');
      await stage.until('idle');
      assert.equal(stage.asked.length, 1);
      assert.deepEqual(
        stage.kept.map(({ answer }) => answer.content),
        [LONG],
      );
      const words = LONG.split(' ').length;
      // What had been sent and was not heard was sent twice.
      assert.ok(stage.audioS >= words * WORD_S && stage.audioS < words * WORD_S + 0.6, `${stage.audioS} s`);
    }
  });

  test('"stop" ends it and is not answered', async () => {
    const stage = await speaking(1, { transcripts: ['Tell me about the garden.', 'Stop!'] });
    await stage.speak(0.5);
    await stage.silence(1);
    await stage.until('idle');
    await stage.clock.advance(3000);
    assert.equal(stage.asked.length, 1);
    assert.equal(stage.messages('transcription').at(-1)!.text, 'Stop!');
    assert.equal(stage.open, 0);
  });

  test('is off where the client says so, and the sound is not kept', async () => {
    const stage = await speaking(1);
    stage.say({ type: 'config', barge_in_enabled: false });
    await stage.speak(2);
    assert.equal(stage.state, 'speaking');
    await stage.until('idle');
    assert.equal(stage.speech.transcribed.length, 1);
  });

  test('takes as many chunks as the client says, and one without the filter', async () => {
    const patient = await speaking(1);
    patient.say({ type: 'config', barge_in_min_chunks: 8 });
    await patient.speak(0.7);
    assert.equal(patient.state, 'speaking');
    await patient.speak(0.2);
    assert.equal(patient.state, 'listening');
    const quick = await speaking(1);
    quick.say({ type: 'config', barge_in_noise_filter: false });
    await quick.speak(0.12);
    assert.equal(quick.state, 'listening');
  });

  test('nothing of the answer comes after it was cut', async () => {
    const stage = await speaking(0.5, { tokenMs: 60 });
    stage.say({ type: 'interrupt' });
    await stage.clock.advance(0);
    assert.deepEqual(stage.states.slice(-2), ['interrupted', 'idle']);
    const before = stage.received.length;
    await stage.clock.advance(10_000);
    assert.equal(stage.received.length, before);
    assert.equal(stage.open, 0);
    assert.ok(LONG.startsWith(String(stage.kept[0]!.answer.content)));
  });
});

describe('what goes wrong', () => {
  test('a voice that crashes in mid-speech is an error, and the next turn works', async () => {
    const stage = new VoiceStage({ answers: [[LONG], ['Of course.']], mute: 'In spring the birds come back.' });
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    assert.deepEqual(
      stage.messages('error').map(({ message }) => message),
      ['The voice crashed.'],
    );
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('idle');
    assert.equal(stage.kept.at(-1)!.answer.content, 'Of course.');
    assert.equal(stage.open, 0);
  });

  test('a model and a recogniser that fail are errors', async () => {
    const stage = new VoiceStage({ answers: [[new Error('boom')], ['Of course.']], transcripts: ['One.', new Error('bang'), 'Three.'] });
    for (const _turn of [1, 2, 3]) {
      await stage.speak(1);
      await stage.silence(1.2);
      await stage.until('idle');
    }
    assert.equal(stage.messages('error').length, 2);
    assert.deepEqual(
      stage.kept.map(({ answer }) => answer.content),
      ['Of course.'],
    );
  });

  test('garbage is an error, and the session lives', async () => {
    const stage = new VoiceStage();
    for (const text of ['{', '[]', '"x"', '{"type":"nonsense"}', '{}', '{"type":"text"}', '{"type":"text","text":7}'])
      stage.session.text(text);
    assert.equal(stage.messages('error').length, 7);
    assert.equal(stage.messages('error')[0]!.message, 'Invalid JSON message');
    stage.session.binary(new Uint8Array(3));
    await stage.clock.advance(10);
    assert.equal(stage.messages('error').length, 8);
    assert.equal(stage.state, 'idle');
    stage.session.binary(new Uint8Array(0));
    await stage.speak(1);
    await stage.silence(1);
    await stage.until('speaking');
  });

  test('fields of a config that cannot act are named, and the others act', async () => {
    const stage = new VoiceStage();
    stage.say({ type: 'config', speed: 1.5, language: 'de', barge_in_min_chunks: 99, emotion_detection_enabled: true, colour: 'red' });
    const [error] = stage.messages('error');
    for (const name of ['barge_in_min_chunks', 'emotion_detection_enabled', 'colour']) assert.match(error!.message, new RegExp(name));
    stage.say({ type: 'text', text: 'Hello' });
    await stage.until('speaking');
    await stage.clock.advance(500);
    assert.equal(stage.speech.spoken[0]!.speed, 1.5);
  });

  test('a client that takes nothing is closed', async () => {
    const stage = new VoiceStage({ answers: [[LONG]] });
    stage.say({ type: 'text', text: 'Hello' });
    await stage.clock.advance(800);
    stage.bufferedBytes = 60_000;
    const before = stage.audioS;
    await stage.clock.advance(9000);
    assert.ok(stage.audioS - before <= 0.1);
    await stage.clock.advance(2000);
    assert.equal(stage.closed?.code, 1013);
    assert.equal(stage.open + stage.held, 0);
  });

  test('output is paced at real time, whatever the model has ready', async () => {
    const stage = new VoiceStage({ answers: [[LONG]], tokenMs: 0, speakMs: 0 });
    stage.say({ type: 'text', text: 'Hello' });
    while (stage.audioS === 0) await stage.clock.advance(10);
    for (let second = 1; second <= 4; second += 1) {
      await stage.clock.advance(1000);
      assert.ok(stage.audioS > second + 0.2 && stage.audioS < second + 0.6, `${stage.audioS} s after ${second} s`);
    }
  });

  test('one who sends ten times as fast is heard', async () => {
    const stage = new VoiceStage();
    await stage.speak(3, 10);
    await stage.silence(3, 10);
    await stage.until('speaking');
    assert.equal(stage.messages('error').length, 0);
  });

  test('a flood is cut, with one complaint a second', async () => {
    const stage = new VoiceStage();
    const bytes = new Uint8Array(1024 * 1024);
    for (let count = 0; count < 30; count += 1) stage.session.binary(bytes);
    assert.equal(stage.messages('error').length, 1);
    for (let count = 0; count < 10_000; count += 1) stage.session.text('{"type":"end"}');
    assert.equal(stage.messages('error').length, 1);
    await stage.clock.advance(1100);
    stage.session.text('x'.repeat(100_000));
    assert.equal(stage.messages('error').length, 2);
  });
});
