import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import type { SourceFile } from '../../../../../runtime/documents/parsers/contract.js';
import { Parsing } from '../../../../../runtime/documents/parsing/parsing.js';
import { Models } from '../../../../../runtime/models/residency/models.js';
import { AudioTexts } from '../../../../../runtime/speech/transcription/audio-texts.js';
import { Transcription } from '../../../../../runtime/speech/transcription/transcription.js';
import { Failure } from '../../../../../schemas/errors.js';
import type { DataProcessingStrategy } from '../../../../../schemas/generated/config/rag.js';
import { writePuppetWhisper } from '../../../../support/speech/puppet-whisper.js';
import { silence, tone, wavOf } from '../../../../support/speech/sounds.js';

setLogLevel('error');
const { signal } = new AbortController();
const strategy = { name: 'all', parsers: [{ type: 'auto' }] } as DataProcessingStrategy;
const folder = mkdtempSync(join(tmpdir(), 'quern-recordings-'));
const opened: Models[] = [];
const parsings: Parsing[] = [];

function stage(name: string, hasModel: boolean): Parsing {
  const dataDir = join(folder, name);
  if (hasModel)
    writePuppetWhisper(join(dataDir, 'models/Systran/faster-whisper-tiny.en'), {
      words: [' The', ' treasure', ' is', ' here.'],
      seconds: 1,
    });
  const models = new Models({ dataDir, places: { hub: join(dataDir, 'hub') } });
  const hearing = new AudioTexts(new Transcription(models, dataDir));
  const parsing = new Parsing({ hosts: 1 }, undefined, (...asked) => hearing.recording(...asked));
  opened.push(models);
  parsings.push(parsing);
  return parsing;
}

function file(name: string, bytes: Uint8Array, mimeType = ''): SourceFile {
  const path = join(folder, name.replace(/\W/g, '-'));
  writeFileSync(path, bytes);
  return { path, name, mimeType, sizeBytes: bytes.length };
}

const refusal = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure);
  assert.match(error.message, pattern);
  return true;
};

describe('recordings', () => {
  after(async () => {
    for (const one of [...parsings, ...opened]) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const parsing = stage('with', true);

  it('become text with the time at which it is said', async () => {
    // Silence, and a tone that passes for speech, 65 s later.
    const bytes = wavOf(Float32Array.from([...silence(65), ...tone(2)]));
    for (const [name, type] of [
      ['interview.wav', ''],
      ['interview', 'audio/wav'],
    ] as const) {
      const { parser, text, passages, metadata } = await parsing.parse({ file: file(name, bytes, type), strategy }, signal);
      assert.equal(parser, 'AudioParser');
      assert.match(text, /^\[1:0[45]\] The treasure is here\.$/);
      const { start_time, end_time } = passages[0]!.metadata as { start_time: number; end_time: number };
      assert.ok(start_time > 63 && start_time < 66 && end_time > start_time, `${start_time} to ${end_time}`);
      assert.deepEqual([metadata.spoken_language, metadata.duration_s], ['en', 67]);
    }
  });

  it('are named when nothing is said in them', async () => {
    await assert.rejects(
      parsing.parse({ file: file('quiet.wav', wavOf(silence(3))), strategy }, signal),
      refusal(/quiet\.wav.*nothing is said/),
    );
  });

  it('are refused with the reason when they are none', async () => {
    await assert.rejects(parsing.parse({ file: file('broken.wav', Buffer.from('RIFF')), strategy }, signal), refusal(/broken\.wav/));
  });

  it('need a model, which is named', async () => {
    const without = stage('without', false);
    await assert.rejects(
      without.parse({ file: file('talk.wav', wavOf(tone(1))), strategy }, signal),
      refusal(/talk\.wav could not be written down.*quern pull whisper-base/),
    );
    const { parser } = await without.parse({ file: file('note.txt', Buffer.from('A note.')), strategy }, signal);
    assert.equal(parser, 'TextParser');
  });
});
