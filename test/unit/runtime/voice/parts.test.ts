import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateMachine } from '../../../../runtime/base/state-machine.js';
import { isBackChannel, isStop } from '../../../../runtime/voice/languages.js';
import { spokenWords } from '../../../../runtime/voice/listening.js';
import { SpokenText } from '../../../../runtime/voice/pace.js';
import { applyConfig, projectSettings, sessionQuery, withSettings } from '../../../../runtime/voice/settings.js';
import { TRANSITIONS, type VoiceEvent, type VoiceState } from '../../../../runtime/voice/states.js';

const STATES: VoiceState[] = ['idle', 'listening', 'processing', 'speaking', 'interrupted'];

/** A machine that was led to a state. */
function machineIn(state: VoiceState): StateMachine<VoiceState, VoiceEvent> {
  const machine = new StateMachine(TRANSITIONS, 'idle');
  const ways: Record<VoiceState, VoiceEvent[]> = {
    idle: [],
    listening: ['sound'],
    processing: ['utterance'],
    speaking: ['utterance', 'answer'],
    interrupted: ['utterance', 'interruption'],
  };
  for (const event of ways[state]) assert.ok(machine.on(event));
  assert.equal(machine.state, state);
  return machine;
}

test('each transition that is listed happens, and no other', () => {
  const events = [...new Set(TRANSITIONS.map(([, event]) => event))];
  for (const from of STATES) {
    for (const event of events) {
      const listed = TRANSITIONS.filter(([state, on]) => state === from && on === event);
      assert.ok(listed.length <= 1);
      const machine = machineIn(from);
      assert.equal(machine.on(event), listed.length === 1, `${from} ${event}`);
      assert.equal(machine.state, listed[0]?.[2] ?? from);
    }
  }
});

test('every state can be left for idle', () => {
  for (const state of STATES.slice(1))
    assert.ok(
      TRANSITIONS.some(([from, , to]) => from === state && to === 'idle'),
      state,
    );
});

test('what was heard follows the words or the share of the time', () => {
  const known = new SpokenText(1);
  known.begin('It costs $5 today.');
  const words = ['It', 'costs', 'five', 'dollars', 'today'].map((word, index) => ({ word, start: index, end: index + 1 }));
  known.add(5, words);
  known.complete();
  known.begin('Buy it.');
  assert.equal(known.until(0), '');
  assert.equal(known.until(1.6), 'It');
  assert.equal(known.until(4.97), 'It costs $5 today.');
  assert.equal(known.until(5), 'It costs $5 today.');
  known.add(1);
  assert.equal(known.until(5.9), 'It costs $5 today. Buy it.');
  assert.equal(known.text, 'It costs $5 today. Buy it.');
  const unknown = new SpokenText(1);
  unknown.begin('one two three four');
  unknown.add(1);
  assert.equal(unknown.until(0.8), 'one two');
  unknown.add(1);
  unknown.complete();
  assert.equal(unknown.until(1), 'one two');
});

test('words that end an answer, words that do not, and sounds that are none', () => {
  for (const text of ['Uh-huh.', 'yeah', 'Yeah, yeah.', 'Mm-hmm', 'OK, I see.', 'Right!']) assert.ok(isBackChannel(text, 'en'), text);
  for (const text of ['Stop.', 'okay stop', 'Yes, but why?', 'No', '', 'I see a tree']) assert.ok(!isBackChannel(text, 'en'), text);
  for (const text of ['Stop!', 'Please stop.', 'Stop, stop.', 'OK, stop', "That's enough", 'Be quiet']) assert.ok(isStop(text, 'en'), text);
  for (const text of ['Stop the music in the kitchen', 'Where does the bus stop?', '']) assert.ok(!isStop(text, 'en'), text);
  assert.equal(spokenWords(' [BLANK_AUDIO] (wind blowing) ♪ ... '), '');
  assert.equal(spokenWords('Hello  [laughs] there.'), 'Hello there.');
});

test('settings come from the project, then the address, then messages', () => {
  const project = projectSettings({
    llm_model: 'm',
    tts: { model: 'kokoro', voice: 'bf_emma', speed: 1.2 },
    turn_detection: { base_silence_duration: 0.7 },
  } as never);
  const query = sessionQuery({ speed: '0.5', sentence_boundary_only: 'false', llm_model: '', language: 'de' });
  const settings = withSettings(project, query);
  assert.deepEqual(
    [
      settings.llmModel,
      settings.ttsVoice,
      settings.speed,
      settings.sentencesOnly,
      settings.language,
      settings.baseSilence,
      settings.sttModel,
    ],
    ['m', 'bf_emma', 0.5, false, 'de', 0.7, 'base'],
  );
  assert.equal(withSettings(project, { tts_model: 'kokoro' } as never).ttsVoice, 'bf_emma');
  assert.equal(withSettings(project, { tts_model: 'flite' } as never).ttsVoice, undefined);
  assert.throws(() => sessionQuery({ speed: '9' }), /speed/);
  assert.throws(() => sessionQuery({ system_prompt: 'x'.repeat(10_001) }), /system_prompt/);
});

test('each field of a config acts or is named', () => {
  const settings = projectSettings(undefined);
  const fields = {
    stt_model: 'tiny',
    tts_model: 'flite',
    tts_voice: 'slt',
    llm_model: 'x',
    language: 'fr',
    speed: 2,
    sentence_boundary_only: true,
    barge_in_enabled: false,
    barge_in_noise_filter: false,
    barge_in_min_chunks: 5,
    turn_detection_enabled: false,
    base_silence_duration: 1,
    thinking_silence_duration: 2,
    max_silence_duration: 3,
    timings: true,
  };
  const changed = applyConfig(settings, { type: 'config', ...fields });
  assert.deepEqual(changed.refused, []);
  const values = Object.values(changed.settings);
  for (const value of Object.values(fields)) assert.ok(values.includes(value as never), String(value));
  assert.equal(applyConfig(settings, { silence_duration: 0.9 }).settings.baseSilence, 0.9);
  assert.deepEqual(applyConfig(settings, { speed: null, emotion_detection_enabled: false, emotion_model: 'x' }), { settings, refused: [] });
  for (const [name, value] of [
    ['speed', 0.4],
    ['speed', '1'],
    ['barge_in_min_chunks', 11],
    ['base_silence_duration', 2.1],
    ['emotion_detection_enabled', true],
    ['unknown', 1],
    ['__proto__x', 1],
  ] as const) {
    const { refused, settings: kept } = applyConfig(settings, { [name]: value });
    assert.equal(refused.length, 1);
    assert.match(refused[0]!, new RegExp(name));
    assert.deepEqual(kept, settings);
  }
});
