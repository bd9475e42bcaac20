import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readMarkup } from '../../../../../runtime/documents/parsers/markup.js';
import { docx, odt, pptx, wordParagraph } from '../../../../support/documents.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';
import { processorMs } from '../../../../support/processor-time.js';

const lineOf = (source: string): string => {
  let line = '';
  readMarkup(source, { equation: (text) => (line += text) }, true);
  return line;
};
const r = (text: string): string => `<m:r><m:rPr/><m:t>${text}</m:t></m:r>`;
const el = (name: string, ...parts: string[]): string => `<m:${name}>${parts.join('')}</m:${name}>`;
const pr = (name: string, key: string, value: string): string => `<m:${name}Pr><m:${key} m:val="${value}"/><m:ctrlPr/></m:${name}Pr>`;
const FRACTION = el('f', pr('f', 'type', 'bar'), el('num', r('a+b')), el('den', r('2')));

/** Equations of Office with their line. */
const OFFICE: readonly [string, string][] = [
  [r('e=mc'), 'e=mc'],
  [el('sSup', el('e', r('x')), el('sup', r('2'))), 'x^2'],
  [FRACTION, '(a+b)/2'],
  [el('rad', pr('rad', 'degHide', '1'), el('deg'), el('e', FRACTION)), '√((a+b)/2)'],
  [el('rad', el('deg', r('3')), el('e', r('x'))), '[3]√(x)'],
  [
    el('nary', pr('nary', 'chr', '∑'), el('sub', r('i=1')), el('sup', r('n')), el('e', el('sSub', el('e', r('x')), el('sub', r('i'))))),
    '∑_(i=1)^n x_i',
  ],
  [el('nary', el('sub'), el('sup'), el('e', r('f'))), '∫ f'],
  [el('d', pr('d', 'begChr', '['), el('e', r('0')), el('e', r('1'))), '[0, 1)'],
  [el('func', el('fName', r('sin')), el('e', r('x+y'))), 'sin (x+y)'],
  [el('m', el('mr', el('e', r('1')), el('e', r('0'))), el('mr', el('e', r('0')), el('e', r('1')))), '[1, 0; 0, 1]'],
  [el('acc', el('e', r('x'))), 'x\u0302'],
  [el('limLow', el('e', r('lim')), el('lim', r('n→∞'))), 'lim_(n→∞)'],
  [el('unknown', el('e', r('kept'))), 'kept'],
];

/** Equations of MathML with their line. */
const MATHML: readonly [string, string][] = [
  ['<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>', '(a + b)/2'],
  ['<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>', 'E = mc^2'],
  [
    '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub>',
    '∑_(i = 1)^n x_i',
  ],
  ['<semantics><mrow><msqrt><mi>x</mi></msqrt></mrow><annotation encoding="application/x-tex">\\sqrt x</annotation></semantics>', '√(x)'],
  ['<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>', '[1, 2]'],
  ['<mroot><mi>x</mi><mn>3</mn></mroot><mfenced><mi>a</mi><mi>b</mi></mfenced>', '[3]√(x)(a, b)'],
];

describe('equations', () => {
  for (const [source, line] of OFFICE) it(`of Office are a line: ${line}`, () => assert.equal(lineOf(el('oMath', source)), line));
  for (const [source, line] of MATHML) it(`of MathML are a line: ${line}`, () => assert.equal(lineOf(`<math>${source}</math>`), line));

  it('are read in linear time however deep they are', () => {
    for (const name of ['mover', 'msubsup', 'munderover', 'mroot']) {
      const deep = `${`<${name}><mi>a</mi>`.repeat(450)}<mi>x</mi>${`</${name}>`.repeat(450)}`;
      const ms = processorMs(() => assert.ok(lineOf(`<math>${deep}</math>`).includes('x')));
      assert.ok(ms < 1000, `${name}: ${ms} ms`);
    }
  });

  it('are read where they stand in documents of Word', async () => {
    const inline = `<w:p><w:r><w:t xml:space="preserve">Euler: </w:t></w:r>${el('oMath', r('e=mc &lt; 1'))}</w:p>`;
    const display = `<w:p>${el('oMathPara', el('oMathParaPr', el('jc')), el('oMath', FRACTION))}</w:p>`;
    const document = await parseWith('DocxParser', docx(`${inline}${display}${wordParagraph('After.')}`));
    assert.deepEqual(blockTexts(document), ['paragraph Euler: e=mc < 1', 'paragraph (a+b)/2', 'paragraph After.']);
    const open = await parseWith('DocxParser', docx(`${wordParagraph('Whole.')}<w:p><m:oMathPara/></w:p>`));
    assert.deepEqual(blockTexts(open), ['paragraph Whole.']);
  });

  it('are read in slides, OpenDocuments and pages', async () => {
    const slides = pptx([['T', `</a:t></a:r><a14:m>${el('oMath', FRACTION)}</a14:m><a:r><a:t> is half`]]);
    assert.ok((await parseWith('PowerPointParser', slides)).text.includes('(a+b)/2 is half'));
    const math = Buffer.from(`<math xmlns="x"><semantics>${MATHML[1]![0]}</semantics></math>`.replace(/<\/?semantics>/g, ''));
    const object = '<text:p>As <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> says.</text:p>';
    assert.equal(
      (await parseWith('ODTParser', odt(object, '', { 'Object 1/content.xml': new Uint8Array(math) }))).text,
      'As E = mc^2 says.',
    );
    const page = await parseWith('HTMLParser', `<p>As <math>${MATHML[0]![0]}</math> says.</p><p>Next.</p>`);
    assert.deepEqual(blockTexts(page), ['paragraph As (a + b)/2 says.', 'paragraph Next.']);
  });
});
