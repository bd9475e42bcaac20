import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entitiesOf, labelOf, type PlacedToken } from '../../../../../../runtime/engines/encoders/onnx/entities.js';
import { placesOf, wordPieceWordsOf, wordsOf } from '../../../../../../runtime/engines/encoders/onnx/token-places.js';

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
const found = (text: string, pieces: readonly [string, string, number?][]): [string, string, number, number][] =>
  entitiesOf(text, tokensOf(text, pieces), LABELS).map(({ text: part, label, start, end }) => [part, label, start, end]);
/** As `found`, for pieces written as `piece/LABEL piece/LABEL`, with entities written as `text LABEL start-end, text LABEL start-end`. */
const foundAsText = (text: string, pieces: string): string =>
  found(
    text,
    pieces.split(' ').map((piece) => piece.split('/') as [string, string]),
  )
    .map(([part, label, start, end]) => `${part} ${label} ${start}-${end}`)
    .join(', ');

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

  it('takes the label that names something of a bare word mark and its piece in a script without spaces', () => {
    const place = { start: 0, end: 2 };
    const token = (label: string, at = place): PlacedToken => ({ place: at, label: LABELS.indexOf(label), score: 1 });
    const rest = token('I-LOC', { start: 2, end: 4 });
    for (const [mark, piece] of [
      ['O', 'B-LOC'],
      ['B-LOC', 'O'],
    ])
      assert.deepEqual(
        entitiesOf('北京大学', [token(mark!), token(piece!), rest], LABELS).map(({ text }) => text),
        ['北京大学'],
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

  describe('in scripts that are written without spaces', () => {
    const cases: [what: string, text: string, pieces: string, entities: string][] = [
      [
        'are in the midst of a sentence',
        '我住在北京市和上海。',
        '我/O 住/O 在/O 北/B-LOC 京/I-LOC 市/O 和/O 上/B-LOC 海/I-LOC 。/O',
        '北京 LOC 3-5, 上海 LOC 7-9',
      ],
      ['stand side by side', '東京大阪', '東/B-LOC 京/I-LOC 大阪/B-LOC', '東京 LOC 0-2, 大阪 LOC 2-4'],
      ['follow a word of letters', 'Londonで会う', 'London/B-LOC で/O 会/O う/O', 'London LOC 0-6'],
      ['go on from a word of letters', 'iPhone手机', 'iPhone/MISC 手机/MISC', 'iPhone手机 MISC 0-8'],
      ['share a token with letters', '2024年に', '2024年/S-ORG に/O', '2024年 ORG 0-5'],
      ['have a long vowel and halfwidth letters', 'タワー ﾀﾜｰ', 'タワ/B-LOC ー/I-LOC ﾀﾜｰ/B-LOC', 'タワー LOC 0-3, ﾀﾜｰ LOC 4-7'],
      ['have marks, Thai', 'ที่เชียงใหม่มี', 'ที/O เชียง/B-LOC ใหม/I-LOC มี/O', 'เชียงใหม่ LOC 3-12'],
      ['have a gap that no token explains', '北☃京の海', '北/B-LOC 京/I-LOC 海/I-LOC', '北 LOC 0-1, 京 LOC 2-3, 海 LOC 4-5'],
      [
        'are Lao, Khmer, Myanmar',
        'ໃນລາວ នៅខ្មែរ နေမြန်မာ',
        'ໃນ/O ລາວ/B-LOC នៅ/O ខ្មែរ/B-LOC နေ/O မြန်မာ/B-LOC',
        'ລາວ LOC 2-5, ខ្មែរ LOC 8-13, မြန်မာ LOC 16-22',
      ],
      ['are no such script: Korean', '서울에서 산다', '서울/B-LOC 에서/O 산다/O', '서울에서 LOC 0-4'],
    ];
    for (const [name, text, pieces, entities] of cases)
      it(`finds entities that ${name}`, () => assert.deepEqual(foundAsText(text, pieces), entities));

    it('takes words of any length', () => {
      for (const unit of ['x', '\u0301', 'é\u00ad', 'ก\u0e34', '北', 'x\u2060\u2060'])
        assert.deepEqual(wordsOf(`${unit.repeat(10_000)}. a`).length, 3, unit);
      const long = `a${'\u0301'.repeat(8_000_000)}`;
      assert.deepEqual(wordsOf(long), [{ start: 0, end: long.length, isDense: false }]);
      assert.deepEqual(wordPieceWordsOf(`${long} .`).length, 2);
    });

    it('takes a character of several tokens once', () => {
      const label = labelOf(Float32Array.from(LABELS, (one) => (one === 'B-LOC' ? 9 : 0)));
      const tokens = [0, 0, 0, 1].map((start) => ({ place: { start, end: start + 1 }, ...label }));
      assert.deepEqual(
        entitiesOf('北京', tokens, LABELS).map(({ text }) => text),
        ['北', '京'],
      );
    });
  });

  describe('around characters that are not seen', () => {
    const cases: [what: string, text: string, pieces: string, entities: string][] = [
      ['a soft hyphen in a word', 'I live in Ber\u00adlin.', 'I/O live/O in/O Ber\u00adlin/B-LOC ./O', 'Ber\u00adlin LOC 10-17'],
      ['a zero-width space, which parts words', 'New\u200bYork', 'New/B-LOC York/I-LOC', 'New\u200bYork LOC 0-8'],
      [
        'a zero-width space behind a word of another kind',
        'in\u200bParis\ufeffand\u200bRome',
        'in/O Paris/B-LOC and/O Rome/I-LOC',
        'Paris LOC 3-8, Rome LOC 13-17',
      ],
      ['joiners in a word', 'a\u2060n\u200dn\u200ca', 'a/B-PER n/O n/O a/O', 'a\u2060n\u200dn\u200ca PER 0-7'],
      [
        'one between words',
        'Anna \u200bSmith\u00ad Berg\u2060.',
        'Anna/B-PER Smith/I-PER Berg/I-PER ./O',
        'Anna \u200bSmith\u00ad Berg PER 0-17',
      ],
      ['one with a token of its own', '\ufeffOslo\u200b Lima', '\ufeff/O Oslo/B-LOC \u200b/O Lima/B-LOC', 'Oslo LOC 1-5, Lima LOC 7-11'],
      ['one between pieces without spaces', '北\u200b京', '北/B-LOC 京/I-LOC', '北\u200b京 LOC 0-3'],
    ];
    for (const [name, text, pieces, entities] of cases)
      it(`finds entities: ${name}`, () => assert.deepEqual(foundAsText(text, pieces), entities));
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
  it('gives unknown tokens their words as WordPiece cuts them, ideographs one by one', () => {
    assert.deepEqual(parts('我住在北京', ['[UNK]', '[UNK]', '[UNK]', '北', '京'], lower), ['我', '住', '在', '北', '京']);
    assert.deepEqual(parts('Xで会う北', ['[UNK]', '会', '[UNK]', '北'], lower), ['Xで', '会', 'う', '北']);
    assert.deepEqual(parts('𠀀𠀁 ☃ 北', ['[UNK]', '[UNK]', '北'], lower), ['𠀀𠀁', '☃', '北']);
    assert.deepEqual(parts('in🎉the 🎊of Oslo', ['[UNK]', '[UNK]', 'oslo'], lower), ['in🎉the', '🎊of', 'Oslo']);
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
    assert.deepEqual(parts('Ａnna ☃ Oslo', ['▁Anna', '▁', '<unk>', '▁Os', 'lo'], pieces), ['Ａnna', '☃', '☃', 'Os', 'lo']);
  });
  it('gives a space that is a token the place of the piece behind it', () => {
    const pieces = { spelling: 'pieces' as const, unknown: '<unk>', normalised: (text: string) => text.normalize('NFKC') };
    assert.deepEqual(parts('Łódź is', ['▁', 'Ł', 'ód', 'ź', '▁is'], pieces), ['Ł', 'Ł', 'ód', 'ź', 'is']);
    assert.deepEqual(parts('a  北京 ', ['▁a', '▁', '▁', '北京', '▁'], pieces), ['a', undefined, '北京', '北京', undefined]);
    assert.deepEqual(parts('☃☃ Łx', ['▁', '<unk>', '▁', 'Ł', 'x'], pieces), ['☃☃', '☃☃', 'Ł', 'Ł', 'x']);
    assert.deepEqual(parts('', ['▁'], pieces), [undefined]);
  });
  it('follows letters that are composed', () => {
    const pieces = { spelling: 'pieces' as const, unknown: '<unk>', normalised: (text: string) => text.normalize('NFKC') };
    const cases: [string, string[]][] = [
      ['Bike\u0301yah fo\u0308r', ['▁Bikéyah', '▁för']],
      ['Ho\u0302\u0300 Chi\u0301', ['▁H', 'ồ', '▁Ch', 'í']],
      ['서울 시'.normalize('NFD'), ['▁서', '울', '▁시']],
      ['\uac00\u11a8', ['▁각']],
      ['ｶﾞｽ', ['▁ガ', 'ス']],
    ];
    for (const [text, tokens] of cases)
      assert.deepEqual(
        parts(text, tokens, pieces).map((part) => part?.normalize('NFKC')),
        tokens.map((token) => token.replace('▁', '')),
      );
    // What does not change together keeps its own places.
    assert.deepEqual(parts('กินข้าว', ['▁ก', 'ิน', 'ข้าว'], pieces), ['ก', 'ิน', 'ข้าว']);
  });
});
