import assert from 'node:assert/strict';
import { createWriteStream, openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, describe, it, type TestContext } from 'node:test';
import { descendants, residentBytes } from '../../bench/processes.js';
import type { AudioFormatName } from '../../runtime/speech/codecs/contract.js';
import { encodeAudio } from '../../runtime/speech/codecs/encode.js';
import { SPEECH_RATE } from '../../runtime/speech/contract.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { type Lecture, lecture } from '../support/speech/lecture.js';
import { noise, silence } from '../support/speech/sounds.js';
import { wordErrors } from '../support/speech/word-errors.js';
import { edgeErrors, type TimedWord } from '../support/speech/word-times.js';
import { TALK_KIT } from '../support/voice/talk-stage.js';

/** How long the sound is; `LONG_AUDIO_S=300` tries the test itself. */
const SECONDS = Number(process.env.LONG_AUDIO_S ?? 3600);
const MIB = 2 ** 20;
/** Growth that is none: garbage that waits to be collected. */
const SWING_MIB = 64;
const LOOK_MS = 500;
const DATA = 'data: ';

interface Segment extends TimedWord {
  readonly text: string;
  readonly words: readonly TimedWord[];
}

/** An answer and what it took. */
interface Heard {
  readonly segments: readonly Segment[];
  readonly seconds: number;
  /** Resident memory of the daemon and of the model's process as the answer came, in MiB. */
  readonly daemonMib: readonly number[];
  readonly hostMib: readonly number[];
}

describe(`sound of ${SECONDS} s`, { skip: TALK_KIT.missing }, () => {
  const folder = emptyDataDir();
  let daemon: DaemonUnderTest;
  let spoken: Lecture;

  before(async () => {
    daemon = await startDaemon({ env: { HF_HUB_CACHE: TALK_KIT.folder, HF_HUB_OFFLINE: '1' } });
    const say = async (input: string): Promise<Float32Array> => {
      const reply = await fetch(`${daemon.runtime}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input, model: 'flite', voice: 'slt', response_format: 'pcm' }),
      });
      assert.equal(reply.status, 200);
      return Float32Array.from(new Int16Array(await reply.arrayBuffer()), (sample) => sample / 32_768);
    };
    spoken = await lecture(say, SECONDS);
  });
  after(() => daemon.end('SIGKILL'));

  const write = async (name: string, format: AudioFormatName, sound: AsyncIterable<Float32Array>): Promise<string> => {
    const path = join(folder, name);
    await pipeline(Readable.from(encodeAudio(format, sound)), createWriteStream(path));
    return path;
  };

  const hear = async (path: string): Promise<Heard> => {
    const form = new FormData();
    form.append('file', await openAsBlob(path), 'sound');
    for (const [name, value] of Object.entries({ model: 'tiny.en', stream: 'true', timestamp_granularities: 'word' }))
      form.append(name, value);
    const [daemonMib, hostMib]: [number[], number[]] = [[], []];
    const look = setInterval(() => {
      daemonMib.push(residentBytes(daemon.child.pid!) / MIB);
      hostMib.push(Math.max(0, ...descendants(daemon.child.pid!).map(residentBytes)) / MIB);
    }, LOOK_MS);
    const began = performance.now();
    try {
      const reply = await fetch(`${daemon.runtime}/v1/audio/transcriptions`, { method: 'POST', body: form });
      assert.equal(reply.status, 200, reply.ok ? '' : await reply.text());
      const events = (await reply.text()).split('\n\n').filter((event) => event.startsWith(DATA));
      assert.equal(events.pop(), `${DATA}[DONE]`);
      const segments = events.map((event) => JSON.parse(event.slice(DATA.length)) as Segment);
      return { segments, seconds: (performance.now() - began) / 1000, daemonMib, hostMib };
    } finally {
      clearInterval(look);
    }
  };

  const assertLevel = (t: TestContext, whose: string, mib: readonly number[]): void => {
    const most = (from: number, to: number): number => Math.max(...mib.slice(Math.floor(from * mib.length), Math.ceil(to * mib.length)));
    const [early, late] = [most(0.1, 0.4), most(0.7, 1)];
    t.diagnostic(`${whose}: at most ${early.toFixed(0)} MiB in the first part, ${late.toFixed(0)} in the last`);
    assert.ok(late < early + SWING_MIB, `${whose} grew from ${early} to ${late} MiB`);
  };

  for (const format of ['wav', 'opus'] as const)
    it(`of speech in ${format} is written down to its end, with its times, in level memory`, async (t) => {
      const { segments, seconds, ...memory } = await hear(await write(`speech.${format}`, format, spoken.sound()));
      t.diagnostic(`${SECONDS} s in ${seconds.toFixed(0)} s, ${(SECONDS / seconds).toFixed(1)} times real time`);
      assertLevel(t, 'the daemon', memory.daemonMib);
      assertLevel(t, 'the host of the model', memory.hostMib);
      const said = (from: number, to: number): string =>
        spoken.sentences
          .filter(({ start, end }) => start >= from && end <= to)
          .map(({ words }) => words.join(' '))
          .join(' ');
      const whole = wordErrors(said(0, SECONDS), segments.map(({ text }) => text).join(' '));
      t.diagnostic(`${whole.wrong} of ${whole.words} words are wrong`);
      assert.ok(whole.wrong / whole.words <= 0.08, `${whole.wrong} of ${whole.words} words`);
      const words = segments.flatMap((segment) => segment.words);
      for (const [at, word] of words.entries())
        assert.ok(word.start <= word.end && word.start >= (words[at - 1]?.start ?? 0), `${JSON.stringify(word)} is before ${at} others`);
      // Each minute alone, so that times which drift are seen.
      const minutes = Math.floor(SECONDS / 60);
      for (const minute of new Set([0, minutes >> 1, minutes - 1])) {
        const inMinute = spoken.sentences.filter(({ start }) => start >= 60 * minute && start < 60 * (minute + 1));
        const [from, to] = [inMinute[0]!.start - 0.5, inMinute.at(-1)!.end + 0.5];
        const heard = words.filter(({ start }) => start >= from && start < to);
        const errors = edgeErrors({ pieces: inMinute }, heard).sort((one, other) => one - other);
        const [middle, most] = [errors[errors.length >> 1]!, errors[Math.floor(errors.length * 0.9)]!];
        t.diagnostic(`minute ${minute}: ${errors.length} edges, off by ${middle.toFixed(3)} s (middle), ${most.toFixed(3)} (90 %)`);
        assert.ok(errors.length >= inMinute.length && middle <= 0.05 && most <= 0.3, `minute ${minute}: ${errors.join(' ')}`);
        const { wrong, words: all } = wordErrors(said(from, to), heard.map(({ word }) => word).join(' '));
        assert.ok(wrong / all <= 0.15, `minute ${minute}: ${wrong} of ${all} words`);
      }
    });

  // 1.5 s at 16 kHz are as many samples as a second at 24 kHz.
  const repeated = async function* (second: Float32Array): AsyncGenerator<Float32Array, void, undefined> {
    for (let at = 0; at < SECONDS; at += 1) yield second;
  };
  const swelling = noise(1.5, 0.2).map((sample, at) => sample * (0.5 + 0.5 * Math.sin((2 * Math.PI * at) / SPEECH_RATE)));
  for (const [name, second] of Object.entries({ silence: silence(1.5), 'steady noise': noise(1.5, 0.2), 'noise that swells': swelling }))
    it(`of ${name} is answered soon, with nothing`, async (t) => {
      assert.equal(second.length, SPEECH_RATE);
      const { segments, seconds, daemonMib } = await hear(await write('nothing.opus', 'opus', repeated(second)));
      t.diagnostic(`${SECONDS} s in ${seconds.toFixed(1)} s; the daemon took at most ${Math.max(...daemonMib).toFixed(0)} MiB`);
      assert.deepEqual(segments, []);
      assert.ok(seconds < SECONDS / 20, `${seconds} s`);
    });
});
