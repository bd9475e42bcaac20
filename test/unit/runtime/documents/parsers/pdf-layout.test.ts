import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, pdf, pdfFile } from '../../../../support/documents.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

const blocksOf = async (file: Uint8Array, config = {}): Promise<string[]> => blockTexts(await parseWith('PDFParser', file, config));

/** A heading, two lines of a paragraph and a table, in type of `unit` to be scaled by 12 / `unit`. */
const WRITTEN = (unit: number): string => {
  const by = (points: number): string => String((points * unit) / 12);
  return [
    `/F1 ${by(18)} Tf (Refunds) Tj /F1 ${by(12)} Tf 0 ${by(-40)} Td (The refund policy allows returns) Tj`,
    `0 ${by(-15)} Td (within thirty days of buying.) Tj`,
    `0 ${by(-40)} Td (Name) Tj ${by(100)} 0 Td (Age) Tj ${by(100)} 0 Td (City) Tj`,
    `${by(-200)} ${by(-15)} Td (Ada) Tj ${by(100)} 0 Td (36) Tj ${by(100)} 0 Td (London) Tj`,
  ].join(' ');
};
const READ = [
  'heading2 Refunds',
  'paragraph The refund policy allows returns\nwithin thirty days of buying.',
  'table Name | Age | City\nAda | 36 | London',
];

/** The same page, each time as another program would draw it. */
const DRAWN: Record<string, string> = {
  'type of 12 points': `BT 20 360 Td ${WRITTEN(12)} ET`,
  'type of 1 under a scaled text matrix': `BT 12 0 0 12 20 360 Tm ${WRITTEN(1)} ET`,
  'type of 100 under a small text matrix': `BT .12 0 0 .12 20 360 Tm ${WRITTEN(100)} ET`,
  'type of 1 on a scaled page': `q 12 0 0 12 20 360 cm BT ${WRITTEN(1)} ET Q`,
  'a page upside down, whose letters are turned back': `q 12 0 0 -12 20 40 cm BT 1 0 0 -1 0 0 Tm ${WRITTEN(1)} ET Q`,
  'wide and flat type': `BT 12 0 0 12 20 360 Tm 120 Tz ${WRITTEN(1)} ET`,
  'type of size -1 under a matrix that turns it back': `BT -12 0 0 -12 20 360 Tm ${WRITTEN(-1)} ET`,
};

/** A page that is turned by degrees with the clock when it is shown, and drawn against that. */
function turnedPage(degrees: number, draw: string, entry: string): Uint8Array {
  const matrix = { 0: '1 0 0 1 0 0', 90: '0 1 -1 0 400 0', 180: '-1 0 0 -1 400 400', 270: '0 -1 1 0 0 400' }[degrees];
  const content = `q ${matrix} cm ${draw} Q`;
  return pdfFile([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]${entry}/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R>>`,
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]);
}

describe('words, columns and headings of a PDF are what the eye sees', () => {
  for (const [name, draw] of Object.entries(DRAWN))
    it(name, async () => {
      assert.deepEqual(await blocksOf(pdf([draw])), READ);
    });

  it('in a form that is scaled where it is placed', async () => {
    const text = `BT /F1 1 Tf ${WRITTEN(1)} ET`;
    const file = pdfFile([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Resources<</XObject<</X 6 0 R>>>>/Contents 4 0 R>>',
      '<</Length 28>>stream\nq 6 0 0 6 20 360 cm /X Do Q \nendstream',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<</Type/XObject/Subtype/Form/BBox[-100 -100 100 100]/Matrix[2 0 0 2 0 0]/Resources<</Font<</F1 5 0 R>>>>/Length ${text.length}>>stream\n${text}\nendstream`,
    ]);
    assert.deepEqual(await blocksOf(file), READ);
  });

  for (const degrees of [90, 180, 270]) {
    it(`on a page turned by ${degrees} degrees`, async () => {
      assert.deepEqual(await blocksOf(turnedPage(degrees, DRAWN['type of 12 points']!, `/Rotate ${degrees}`)), READ);
    });

    it(`in text that runs at ${degrees} degrees on a page that is not turned`, async () => {
      assert.deepEqual(await blocksOf(turnedPage(degrees, DRAWN['type of 12 points']!, '')), READ);
    });
  }

  it('and a label along the edge of the page stands after its text', async () => {
    const file = pdf([
      `BT 0 1 -1 0 15 100 Tm /F1 8 Tf (Draft of May) Tj ET ${drawn([
        [12, 0, 'The first line.'],
        [12, 15, 'The second line.'],
      ])}`,
    ]);
    assert.deepEqual((await blocksOf(file)).join('\n').split('\n'), [
      'paragraph The first line.',
      'The second line.',
      'paragraph Draft of May',
    ]);
  });
});

const LEFT = [
  'The left column tells of engines and',
  'of the people who built them, for',
  'whom a wheel was never just a wheel',
  'but always part of a greater plan.',
  'They worked in sheds of brick.',
];
const RIGHT = [
  'In the right column we find looms,',
  'which weave a pattern as the engine',
  'weaves its algebra, card after card',
  'and thread by thread, until cloth',
  'falls from the frame at last.',
];
const at = (x: number, y: number, text: string): string => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;

describe('columns of a PDF that is drawn line by line', () => {
  const read = async (draw: readonly string[]): Promise<string> =>
    (await parseWith('PDFParser', pdf([draw.join(' ')]))).text.replace(/\s+/g, ' ');
  const apart = [...LEFT, ...RIGHT].join(' ');

  it('are read one after the other', async () => {
    const rows = LEFT.flatMap((text, row) => [at(10, 300 - row * 12, text), at(210, 300 - row * 12, RIGHT[row]!)]);
    assert.equal(await read(rows), apart);
  });

  it('are read one after the other where their lines do not stand at the same height', async () => {
    const rows = LEFT.flatMap((text, row) => [at(10, 300 - row * 12, text), at(210, 295 - row * 12, RIGHT[row]!)]);
    assert.equal(await read(rows), apart);
  });

  it('end where a line goes across', async () => {
    const title = at(10, 330, 'On engines and looms, and on what the two of them have in common with thought');
    const foot = at(10, 200, 'Both columns were written in one evening, by the light of the same single lamp');
    const rows = LEFT.flatMap((text, row) => [at(10, 300 - row * 12, text), at(210, 300 - row * 12, RIGHT[row]!)]);
    const text = await read([title, ...rows, foot]);
    assert.match(text, /^On engines.*thought The left/);
    assert.match(text, /brick\. In the right/);
    assert.match(text, /at last\. Both columns/);
  });

  it('may be three', async () => {
    const thirds = [
      'so the first one goes',
      'down its lines and ends',
      'where the page has room',
      'for not one word more,',
      'and stops',
    ].map((text, row) =>
      [text, text.replace('first', 'second'), text.replace('first', 'third')].map((one, column) =>
        at(10 + column * 130, 300 - row * 12, one),
      ),
    );
    assert.match(await read(thirds.flat()), /so the first .* and stops so the second .* and stops so the third .* and stops/);
  });

  it('are no table, and a table is no columns', async () => {
    const rows = [
      ['Name of the member', 'Place where the member lives', 'Since'],
      ['Ada Lovelace', 'Marylebone in London', '1833'],
      ['Charles Babbage', 'Walworth Road in London', '1820'],
      ['Mary Somerville', 'Jedburgh in Scotland', '1834'],
      ['Luigi Menabrea', 'Turin in Piedmont', '1842'],
    ];
    const file = pdf([rows.flatMap((cells, row) => cells.map((cell, column) => at(10 + column * 150, 300 - row * 12, cell))).join(' ')]);
    assert.deepEqual(await blocksOf(file), [`table ${rows.map((cells) => cells.join(' | ')).join('\n')}`]);
  });
});

describe('a word that a line end of a PDF splits', () => {
  const lines = (...texts: string[]): Uint8Array => pdf([drawn(texts.map((text, index) => [12, index === 0 ? 0 : 14, text] as const))]);

  it('is whole in the line where it begins', async () => {
    const file = lines('Our powerful capabili-', 'ties include the state-', 'ment export engine');
    assert.deepEqual(await blocksOf(file), ['paragraph Our powerful capabilities\ninclude the statement\nexport engine']);
    assert.deepEqual(await blocksOf(file, { preserve_layout: false }), [
      'paragraph Our powerful capabilities include the statement export engine',
    ]);
  });

  it('is whole in a heading, and at the end of a column', async () => {
    assert.match(
      (
        await blocksOf(
          pdf([
            drawn([
              [24, 0, 'Terms of re-'],
              [24, 26, 'payment'],
              [10, 40, 'A line of text that is as long as most of them are.'],
              [10, 12, 'And a second.'],
            ]),
          ]),
        )
      )[0]!,
      /Terms of repayment/,
    );
    const rows = LEFT.flatMap((text, row) => [
      at(10, 300 - row * 12, row === 4 ? 'They worked in ware-' : text),
      at(210, 300 - row * 12, row === 0 ? 'houses, with sixty looms, all of' : RIGHT[row]!),
    ]);
    assert.match((await parseWith('PDFParser', pdf([rows.join(' ')]))).text, /They worked in warehouses/);
  });

  it('keeps a hyphen that is its own', async () => {
    const file = lines('A well-known rule of the well-', 'known author: state-of-', 'the-art text, Anglo-', 'Saxon and of 1984-', '1986.');
    assert.deepEqual(await blocksOf(file), [
      'paragraph A well-known rule of the well-known\nauthor: state-of-the-art\ntext, Anglo-\nSaxon and of 1984-\n1986.',
    ]);
  });
});
