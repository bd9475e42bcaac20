import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Hit } from '../../../../../runtime/rag/contract.js';
import {
  denseShare,
  diversified,
  frequencies,
  maximum,
  mean,
  minMax,
  type Ranking,
  rankFusion,
  scoreFusion,
  weightedMean,
} from '../../../../../runtime/rag/retrievers/fusion.js';
import { bestHits, boundedScore } from '../../../../../runtime/rag/retrievers/hits.js';

const first: Ranking = [
  { id: 'a', score: 0.9 },
  { id: 'b', score: 0.6 },
  { id: 'c', score: 0.5 },
];
const second: Ranking = [
  { id: 'c', score: 0.8 },
  { id: 'a', score: 0.4 },
];

function near(found: Map<string, number>, wanted: Record<string, number>): void {
  assert.deepEqual([...found.keys()].sort(), Object.keys(wanted).sort());
  for (const [id, score] of Object.entries(wanted))
    assert.ok(Math.abs(found.get(id)! - score) < 1e-12, `${id}: ${found.get(id)} instead of ${score}`);
}

describe('the best hits', () => {
  it('are in the order of their ids where they are equal', () => {
    const hit = (id: string, score: number): Hit => ({ id, score, documentHash: '', text: '', metadata: {} });
    const found = bestHits([hit('c', 1), hit('a', 1), hit('d', 2), hit('b', 1)], 3);
    assert.deepEqual(
      found.map(({ id }) => id),
      ['d', 'a', 'b'],
    );
  });
});

describe('fusion', () => {
  it('spreads scores over 0 to 1', () => {
    assert.deepEqual(
      minMax([
        { id: 'x', score: 6 },
        { id: 'y', score: 3 },
        { id: 'z', score: 2 },
      ]),
      [
        { id: 'x', score: 1 },
        { id: 'y', score: 0.25 },
        { id: 'z', score: 0 },
      ],
    );
    assert.deepEqual(minMax([{ id: 'x', score: 0.2 }]), [{ id: 'x', score: 1 }]);
    assert.deepEqual(minMax([]), []);
  });

  // Ranks 1/61, 1/62, 1/63; the first of both would have 2/61.
  it('fuses ranks by 1 / (60 + rank), as a share of the most', () =>
    near(rankFusion([first, second], [1, 1]), { a: (1 / 61 + 1 / 62) / (2 / 61), b: 1 / 62 / (2 / 61), c: (1 / 63 + 1 / 61) / (2 / 61) }));

  it('weighs ranks', () => near(rankFusion([first, second], [3, 1], 1), { a: (3 / 2 + 1 / 3) / 2, b: 3 / 3 / 2, c: (3 / 4 + 1 / 2) / 2 }));

  it('takes the weighted mean, where a missing hit counts as 0', () =>
    near(weightedMean([first, second], [1, 0.5]), { a: (0.9 + 0.2) / 1.5, b: 0.6 / 1.5, c: (0.5 + 0.4) / 1.5 }));

  it('multiplies by the share of rankings that agree', () =>
    near(scoreFusion([first, second], [1, 1]), { a: 1.3 / 2, b: (0.6 / 2) * 0.5, c: 1.3 / 2 }));

  it('takes the best, and the mean of those there are', () => {
    near(maximum([first, second]), { a: 0.9, b: 0.6, c: 0.8 });
    near(mean([first, second]), { a: 0.65, b: 0.6, c: 0.65 });
    near(frequencies([first, second]), { a: 2, b: 1, c: 2 });
  });

  it('has no score without weights', () => near(weightedMean([first], [0]), { a: 0, b: 0, c: 0 }));

  it('counts the ranking more whose best hit stands out', () => {
    const ranking = (...scores: number[]) => scores.map((score, at) => ({ id: `${at}`, score }));
    const [clear, flat] = [ranking(10, 1, 1, 1, 1), ranking(1, 0.9, 0.8, 0.7, 0.6)];
    const trust = { share: 0.5, standing: 2 };
    assert.equal(denseShare(trust, clear, clear), 0.5);
    assert.ok(Math.abs(denseShare(trust, clear, flat) - 2 / 3) < 1e-12, 'deviations of 2 and of the square root of 2');
    assert.ok(Math.abs(denseShare(trust, flat, clear) - 1 / 3) < 1e-12);
    assert.equal(denseShare({ share: 0.3, standing: 0 }, flat, clear), 0.3);
    for (const other of [[], ranking(3), ranking(2, 2)]) assert.ok(Math.abs(denseShare(trust, other, flat) - 1 / 3) < 1e-12);
    assert.deepEqual([denseShare({ share: 1, standing: 3 }, flat, clear), denseShare({ share: 0, standing: 3 }, flat, clear)], [1, 0]);
  });

  it('bounds BM25 in the same order', () => {
    assert.equal(boundedScore(8), 0.5);
    assert.equal(boundedScore(24), 0.75);
    assert.equal(boundedScore(-1), 0);
  });

  it('prefers what is not like a better hit', () => {
    const hit = (id: string, text: string, score: number): Hit => ({ id, text, score, documentHash: '', metadata: {} });
    const hits = [hit('x', 'one two three four', 0.9), hit('y', 'one two three five', 0.8), hit('z', 'six seven', 0.7)];
    assert.deepEqual(
      diversified(hits, 0, 3).map((one) => one.id),
      ['x', 'y', 'z'],
    );
    // y shares 3 of 5 words with x: 0.8 * (1 - 0.5 * 0.6).
    const spread = diversified(hits, 0.5, 3);
    assert.deepEqual(
      spread.map((one) => one.id),
      ['x', 'z', 'y'],
    );
    assert.ok(Math.abs(spread[2]!.score - 0.56) < 1e-12);
  });
});
