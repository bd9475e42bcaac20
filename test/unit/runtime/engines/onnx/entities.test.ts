import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placesOf } from '../../../../../runtime/engines/onnx/alignment.js';
import { entitiesOf, labelOf, type PlacedToken } from '../../../../../runtime/engines/onnx/entities.js';

const LABELS = ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC', 'S-ORG', 'MISC'];

/** Tokens that cover the given pieces of a text in order, each with a label and the margin by which it wins. */
function tokensOf(text: string, pieces: readonly [piece: string, label: string, margin?: number][]): PlacedToken[] {
  let at = 0;
  return pieces.map(([piece, label, margin = 20]) => {
    const start = text.indexOf(piece, at);
    at = start + piece.length;
    return { place: { start, end: at }, ...labelOf(Float32Array.from(LABELS, (one) => (one === label ? margin : 0))) };
  });
}
const found = (text: string, pieces: readonly [string, string, number?][]): unknown[] =>
  entitiesOf(text, tokensOf(text, pieces), LABELS).map(({ text: part, label, start, end }) => [part, label, start, end]);

describe('entities', () => {
  it('joins words of one type and counts code points', () => {
    const text = '😀 Anna Smith in Oslo';
    const words: [string, string][] = [
      ['😀', 'O'],
      ['Anna', 'B-PER'],
      ['Smith', 'I-PER'],
      ['in', 'O'],
      ['Oslo', 'B-LOC'],
    ];
    assert.deepEqual(found(text, words), [
      ['Anna Smith', 'PER', 2, 12],
      ['Oslo', 'LOC', 16, 20],
    ]);
  });

  it('gives a word the label of its first token', () => {
    assert.deepEqual(
      found('Annabel met', [
        ['Anna', 'B-PER'],
        ['bel', 'B-LOC'],
        ['met', 'O'],
      ]),
      [['Annabel', 'PER', 0, 7]],
    );
    assert.deepEqual(
      found('Annabel met', [
        ['Anna', 'O'],
        ['bel', 'B-LOC'],
        ['met', 'O'],
      ]),
      [],
    );
  });

  it('opens at B, at another type, and after a gap', () => {
    assert.deepEqual(
      found('Anna Peter', [
        ['Anna', 'B-PER'],
        ['Peter', 'B-PER'],
      ]),
      [
        ['Anna', 'PER', 0, 4],
        ['Peter', 'PER', 5, 10],
      ],
    );
    assert.deepEqual(
      found('Anna Oslo', [
        ['Anna', 'B-PER'],
        ['Oslo', 'I-LOC'],
      ]),
      [
        ['Anna', 'PER', 0, 4],
        ['Oslo', 'LOC', 5, 9],
      ],
    );
    assert.deepEqual(
      found('Anna, Smith', [
        ['Anna', 'B-PER'],
        [',', 'O'],
        ['Smith', 'I-PER'],
      ]),
      [
        ['Anna', 'PER', 0, 4],
        ['Smith', 'PER', 6, 11],
      ],
    );
    assert.deepEqual(
      found('Acme Corp', [
        ['Acme', 'S-ORG'],
        ['Corp', 'S-ORG'],
      ]),
      [
        ['Acme', 'ORG', 0, 4],
        ['Corp', 'ORG', 5, 9],
      ],
    );
    assert.deepEqual(
      found('World Cup', [
        ['World', 'MISC'],
        ['Cup', 'MISC'],
      ]),
      [['World Cup', 'MISC', 0, 9]],
    );
  });

  it('scores an entity by the mean of its words', () => {
    const text = 'Anna Smith Berg';
    const [entity] = entitiesOf(
      text,
      tokensOf(text, [
        ['Anna', 'B-PER', 1],
        ['Smith', 'I-PER', 2],
        ['Berg', 'I-PER', 3],
      ]),
      LABELS,
    );
    const probability = (margin: number): number => Math.exp(margin) / (Math.exp(margin) + LABELS.length - 1);
    assert.ok(Math.abs(entity!.score - (probability(1) + probability(2) + probability(3)) / 3) < 1e-6);
  });

  it('leaves out what was cut off', () => {
    assert.deepEqual(
      found('Anna Smith Berg', [
        ['Anna', 'B-PER'],
        ['Smith', 'I-PER'],
      ]),
      [['Anna Smith', 'PER', 0, 10]],
    );
    assert.deepEqual(entitiesOf('', [], LABELS), []);
  });
});

describe('places of tokens', () => {
  const lower = {
    spelling: 'wordpiece' as const,
    unknown: '[UNK]',
    normalised: (text: string) =>
      text
        .normalize('NFD')
        .replace(/\p{Mn}/gu, '')
        .toLowerCase(),
  };
  const parts = (text: string, tokens: string[], speller: Parameters<typeof placesOf>[2]): (string | undefined)[] =>
    placesOf(text, tokens, speller).map((place) => place && text.slice(place.start, place.end));

  it('follows lower case, lost accents and continuations', () => {
    assert.deepEqual(parts('Café  ZÜRICH!', ['cafe', 'zur', '##ich', '!'], lower), ['Café', 'ZÜR', 'ICH', '!']);
  });
  it('gives an unknown token its whole word', () => {
    assert.deepEqual(parts('a ☃☃x snow', ['a', '[UNK]', 'snow'], lower).at(-1), 'snow');
    assert.deepEqual(parts('Xyz met Anna', ['[UNK]', 'met', 'anna'], lower), ['Xyz', 'met', 'Anna']);
  });
  it('follows bytes over characters that are cut', () => {
    const bytes = { spelling: 'bytes' as const, unknown: undefined, normalised: (text: string) => text };
    assert.deepEqual(parts('hi 😀 Anna', ['hi', 'Ġ', 'ð', 'Ł', 'ĺ', 'Ģ', 'ĠAnna'], bytes), [
      'hi',
      undefined,
      '😀',
      '😀',
      '😀',
      '😀',
      'Anna',
    ]);
  });
  it('follows pieces, and an unknown one to the next that is found', () => {
    const pieces = { spelling: 'pieces' as const, unknown: '<unk>', normalised: (text: string) => text.normalize('NFKC') };
    assert.deepEqual(parts('Ａnna ☃ Oslo', ['▁Anna', '▁', '<unk>', '▁Os', 'lo'], pieces), ['Ａnna', undefined, '☃', 'Os', 'lo']);
  });
});
