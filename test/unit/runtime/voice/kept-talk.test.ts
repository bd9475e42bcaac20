import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndedTurn } from '../../../../runtime/voice/chat-turn.js';
import type { SpokenTurn } from '../../../../runtime/voice/contract.js';
import { KeptTalk } from '../../../../runtime/voice/kept-talk.js';
import { Failure } from '../../../../schemas/errors.js';

/** So many utterances without an answer are kept at the latest. */
const BOUND = 16;
const said = (asked: string, heard = ''): EndedTurn => ({
  asked,
  heard,
  isCut: heard === '',
  timings: {},
  sinceAskedMs: 0,
  inferenceEvent: undefined,
});
const lines = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`).join('\n');

/** A talk, and the turns of it that were kept; each save fails while `fails` says so. */
function talkOf({ fails = () => false }: { fails?: () => boolean } = {}): { talk: KeptTalk; turns: SpokenTurn[]; told: number[] } {
  const turns: SpokenTurn[] = [];
  const told: number[] = [];
  const record = {
    id: 'conv_1',
    earlier: async () => [],
    add: async (turn: SpokenTurn) => {
      if (fails()) throw new Error('The disk is full.');
      turns.push(turn);
    },
  };
  return { talk: new KeptTalk(record, () => told.push(turns.length)), turns, told };
}

describe('what is said without an answer', () => {
  it('goes before the question that is answered next', async () => {
    const { talk, turns } = talkOf();
    for (const one of ['Well', 'I mean']) talk.take(said(one), 'm');
    talk.take(said('What is it?', 'A mill.'), 'm');
    await talk.close();
    assert.deepEqual(turns, [{ asked: 'Well\nI mean\nWhat is it?', heard: 'A mill.', isCut: false, model: 'm' }]);
  });

  it(`is kept when it is ${BOUND} utterances, and what follows begins anew`, async () => {
    const { talk, turns, told } = talkOf();
    for (let n = 1; n < BOUND; n += 1) talk.take(said(`line ${n}`), 'm');
    await talk.earlier();
    assert.deepEqual(turns, []);
    talk.take(said(`line ${BOUND}`), 'm');
    await talk.earlier();
    assert.deepEqual(turns, [{ asked: lines(1, BOUND), heard: '', isCut: true, model: undefined }]);
    assert.deepEqual(told, [1]);
    for (let n = BOUND + 1; n <= 2 * BOUND + 1; n += 1) talk.take(said(`line ${n}`), 'm');
    await talk.close();
    assert.deepEqual(
      turns.map(({ asked }) => asked),
      [lines(1, BOUND), lines(BOUND + 1, 2 * BOUND), `line ${2 * BOUND + 1}`],
    );
  });

  it('is not counted where nothing was understood, and keeps nothing when there is nothing', async () => {
    const { talk, turns } = talkOf();
    for (let n = 0; n < 2 * BOUND; n += 1) talk.take(said(''), 'm');
    await talk.close();
    assert.deepEqual(turns, []);
  });

  it('is kept with the error of the answer that failed', async () => {
    const { talk, turns } = talkOf();
    talk.take(said('Well'), 'm');
    talk.take(said('What is it?'), 'm', new Failure('model_failed', 'The model failed.'));
    await talk.close();
    assert.equal(turns.length, 1);
    assert.equal(turns[0]!.asked, 'Well\nWhat is it?');
    assert.equal(turns[0]!.error, 'The model failed.');
  });

  it('does not stop what is kept after it where the disk refuses it', async () => {
    let isFull = true;
    const { talk, turns, told } = talkOf({ fails: () => isFull });
    for (let n = 1; n <= BOUND; n += 1) talk.take(said(`line ${n}`), 'm');
    await talk.earlier();
    isFull = false;
    talk.take(said('Now', 'Yes.'), 'm');
    await talk.close();
    assert.deepEqual([turns.map(({ asked }) => asked), told], [['Now'], [1]]);
  });
});
