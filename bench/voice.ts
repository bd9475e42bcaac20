import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { VoiceClient } from '../test/support/voice/client.js';
import { TALK_KIT, TalkStage } from '../test/support/voice/talk-stage.js';
import { joined, silence } from '../test/support/voice/utterances.js';
import { Lacking, unlessLacking } from './lacking.js';
import { ask, ended, median, part, quantile, type Row, table } from './measure.js';
import { anonymousBytes } from './processes.js';
import { sizeOf } from './size.js';
import type { VoicePlan } from './voice-server.js';

const TURNS = sizeOf('BENCH_VOICE_TURNS', 200, 30);
const SOCKETS = 100;
const SESSIONS = 10;
const SPEECH_S = 0.5;
const PACE = 20;
/** One shorter than two seconds, whose pause must be longer, and one that is not. */
const QUESTIONS = ['Hello. Who are you?', 'Please tell me what you can do for me today.'];
const STAGE_TURNS = sizeOf('BENCH_VOICE_STAGES', 20, 5);
/** An answer that has not begun after so long counts as lost. */
const TURN_MS = 30_000;

async function serve(model: VoicePlan['model']): Promise<{ child: ChildProcess; base: string }> {
  const child = part('voice-server');
  const { port } = await ask<{ port: number }>(child, { model } satisfies VoicePlan);
  return { child, base: `http://127.0.0.1:${port}` };
}

async function connect(base: string): Promise<VoiceClient> {
  const client = new VoiceClient(base, '/v1/bench/voice/voice/chat');
  await client.state('idle');
  return client;
}

/** Says something, and gives the milliseconds from its end to the first audio of the answer. */
async function firstAudioMs(client: VoiceClient): Promise<number> {
  const before = client.received.length;
  const states = client.states.length;
  await client.sound(SPEECH_S, 0.2, PACE);
  const ended = performance.now();
  client.say({ type: 'end' });
  const audio = () => client.received.slice(before).find((one) => one.audio);
  await client.until(() => audio() !== undefined, 'the first audio');
  const { atMs } = audio()!;
  client.say({ type: 'interrupt' });
  await client.state('idle', states + 4);
  client.received.splice(0, before);
  return atMs - ended;
}

/** Measures what a spoken turn costs beyond its models, and what an idle connection does, and prints the table. */
export async function benchVoice(): Promise<void> {
  const { child, base } = await serve('instant');
  const client = await connect(base);
  const turns: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) turns.push(await firstAudioMs(client));
  await client.end();
  const before = anonymousBytes(child.pid!);
  const idle = await Promise.all(Array.from({ length: SOCKETS }, () => connect(base)));
  await sleep(500);
  const perSocket = (anonymousBytes(child.pid!) - before) / SOCKETS / 1024;
  await Promise.all(idle.map((one) => one.end()));
  await ended(child);
  const row = (what: string, ours: number, goal: string): Row => ({ what, ours: ours.toFixed(1), peer: '', ratio: '', goal });
  table('Voice: the end of speech to the first audio, with models that take no time', [
    row('p50, ms', median(turns), '<= 15'),
    row('p99, ms', quantile(turns, 0.99), '<= 40'),
    row(`memory of an idle connection, KB (${SOCKETS} of them)`, perSocket, ''),
  ]);
  await benchSessions();
  await unlessLacking('the stages of a turn', benchStages);
}

/** Measures where the time of a turn with real engines goes: the puppet answers, which takes no time to speak of. */
export async function benchStages(): Promise<void> {
  if (TALK_KIT.missing !== false) throw new Lacking('real weights of speech', 'node scripts/speech-kit.mjs');
  const stage = new TalkStage();
  await stage.open(QUESTIONS);
  const rows: Row[] = [];
  for (const [name, voice] of Object.entries({ flite: 'tts_model=flite&tts_voice=slt', Kokoro: 'tts_model=kokoro&tts_voice=af_heart' })) {
    for (const question of QUESTIONS) rows.push(await stagesOf(stage, voice, question, `Whisper tiny.en, ${name}, "${question}"`));
  }
  await stage.close();
  table('Voice: from the end of speech to each stage, with real engines', rows);
}

const STAGES = ['endpoint_ms', 'stt_ms', 'first_token_ms', 'first_phrase_ms', 'first_audio_ms'] as const;

/** Asks a question again and again; each answer is cut at its first sound, so that a turn takes no longer than what is measured. */
async function stagesOf(stage: TalkStage, voice: string, question: string, what: string): Promise<Row> {
  const client = await stage.connect(undefined, voice);
  const said = joined([stage.said(question), silence(1.2)]);
  let lost = 0;
  // The first turn may wait for the models.
  for (let turn = 0; turn <= STAGE_TURNS; turn += 1) {
    const before = client.audioS;
    await client.send(said);
    const isHeard = await client
      .until(() => client.audioS > before, 'the answer', TURN_MS)
      .then(
        () => true,
        () => false,
      );
    if (!isHeard) lost += 1;
    client.say({ type: 'interrupt' });
    await client.state('idle');
  }
  await client.end();
  const turns = client
    .messages('timings')
    .slice(1)
    .filter((times) => times.first_audio_ms !== undefined);
  const middle = STAGES.map((one) => `${one.replace('_ms', '').replace('_', ' ')} ${median(turns.map((times) => times[one]!)).toFixed(0)}`);
  const without = lost === 0 ? '' : `, ${lost} without an answer in ${TURN_MS / 1000} s`;
  return {
    what: `${what}: p50 of ${turns.length} turns, ms`,
    ours: middle.join(', ') + without,
    peer: '',
    ratio: '',
    goal: 'first audio < 1000',
  };
}

async function benchSessions(): Promise<void> {
  const { child, base } = await serve('puppet');
  const clients = await Promise.all(Array.from({ length: SESSIONS }, () => connect(base)));
  await firstAudioMs(clients[0]!);
  const alone: number[] = [];
  for (let turn = 0; turn < SESSIONS; turn += 1) alone.push(await firstAudioMs(clients[0]!));
  const together: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) together.push(...(await Promise.all(clients.map(firstAudioMs))));
  await Promise.all(clients.map((one) => one.end()));
  await ended(child);
  const row = (what: string, values: number[]): Row[] => [
    { what: `${what}, p50 ms`, ours: median(values).toFixed(1), peer: '', ratio: '', goal: '' },
    { what: `${what}, p99 ms`, ours: quantile(values, 0.99).toFixed(1), peer: '', ratio: '', goal: '' },
  ];
  table('Voice: the end of speech to the first audio, with the puppet model and speech that takes no time', [
    ...row('one session', alone),
    ...row(`${SESSIONS} sessions at once`, together),
  ]);
}
