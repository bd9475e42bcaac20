import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, pdfFile } from '../../../../support/documents.js';
import { lockedPdf } from '../../../../support/locked-pdf.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

const PAGE = drawn([[12, 0, 'What the page says.']]);

describe('an encrypted PDF', () => {
  it('that asks for a password is refused by its name', async () => {
    await assert.rejects(parseWith('PDFParser', lockedPdf(PAGE, 'sesame'), {}, 'secret.pdf'), {
      kind: 'invalid',
      code: 'password_protected',
      message: /secret\.pdf.*password/,
    });
  });

  it('that opens without one is read', async () => {
    assert.deepEqual(blockTexts(await parseWith('PDFParser', lockedPdf(PAGE, ''))), ['paragraph What the page says.']);
  });
});

describe('notes, links and form fields of a PDF', () => {
  const FILE = pdfFile([
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[7 0 R]>>>>',
    '<</Type/Pages/Kids[4 0 R]/Count 1>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R/Annots[6 0 R 7 0 R 8 0 R 9 0 R]>>',
    `<</Length ${PAGE.length}>>stream\n${PAGE}\nendstream`,
    '<</Type/Annot/Subtype/Text/Rect[10 10 30 30]/Contents(Check this figure.)>>',
    '<</Type/Annot/Subtype/Widget/FT/Tx/T(surname)/V(Lovelace)/Rect[50 50 90 70]>>',
    '<</Type/Annot/Subtype/Link/Rect[10 90 30 99]/A<</S/URI/URI(https://example.org/paper)>>>>',
    '<</Type/Annot/Subtype/Text/Rect[60 10 80 30]/Contents()>>',
  ]);
  const texts = async (options: object): Promise<string> => (await parseWith('PDFParser', FILE, { ...options })).text;

  it('are left out unless asked for, but what is filled in', async () => {
    assert.equal((await texts({})).trim(), 'What the page says.\n\nsurname: Lovelace');
    assert.equal((await texts({ extract_form_fields: false })).trim(), 'What the page says.');
  });

  it('come each with its option', async () => {
    const notes = await texts({ extract_annotations: true, extract_form_fields: false });
    assert.match(notes, /What the page says\.[\s\S]*Check this figure\./);
    assert.ok(!notes.includes('Lovelace'));
    const fields = await texts({ extract_form_fields: true });
    assert.match(fields, /surname: Lovelace/);
    assert.ok(!fields.includes('Check this'));
    const { blocks } = await parseWith('PDFParser', FILE, { extract_links: true });
    assert.ok(JSON.stringify(blocks.map(({ metadata }) => metadata)).includes('https://example.org/paper'));
  });
});

describe('the form of a PDF', () => {
  const widget = (entries: string): string => `<</Type/Annot/Subtype/Widget/Rect[50 50 90 70]${entries}>>`;
  const marks = '/AP<</N<</Yes 12 0 R/Off 12 0 R>>>>';
  const file = (fields: readonly string[], form = '', more: readonly string[] = []): Uint8Array => {
    const numbers = fields.map((_, index) => `${13 + index} 0 R`).join(' ');
    const appearance = '<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 1>>stream\n \nendstream';
    return pdfFile([
      `<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[${numbers}]/DR<<>>/DA(/F1 9 Tf)${form}>>>>`,
      '<</Type/Pages/Kids[4 0 R]/Count 1>>',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R/Annots[${numbers}]>>`,
      `<</Length ${PAGE.length}>>stream\n${PAGE}\nendstream`,
      ...Array<string>(6).fill('<<>>'),
      appearance,
      ...fields,
      ...more,
    ]);
  };
  const FIELDS: [string, string, string][] = [
    ['a text', widget('/FT/Tx/T(name)/V(Wilhelmina Quark)'), 'name: Wilhelmina Quark'],
    ['a text in Unicode, with a label', widget('/FT/Tx/T(f1)/TU(Full name)/V<FEFF0160006F0066006900650021>'), 'Full name (f1): Šofie!'],
    [
      'a choice, by the label that is seen',
      widget('/FT/Ch/Ff 131072/T(country)/Opt[[(de)(Germany)][(fr)(France)]]/V(fr)'),
      'country: France',
    ],
    ['a choice that was typed', widget('/FT/Ch/Ff 393216/T(country)/Opt[[(de)(Germany)]]/V(Utopia)'), 'country: Utopia'],
    [
      'several choices of a list',
      widget('/FT/Ch/Ff 2097152/T(days)/Opt[(Monday)(Tuesday)(Friday)]/V[(Monday)(Friday)]'),
      'days: Monday, Friday',
    ],
    ['a check box that is on', widget(`/FT/Btn/T(agree)/V/Yes/AS/Yes${marks}`), 'agree: Yes'],
    ['a button of several', widget(`/FT/Btn/Ff 49152/T(payment)/V/Yes/AS/Yes${marks}`), 'payment: Yes'],
    ['what is typed onto the page', '<</Type/Annot/Subtype/FreeText/Rect[50 50 90 70]/DA(/F1 9 Tf)/Contents(Paid in May)>>', 'Paid in May'],
  ];
  for (const [label, field, expected] of FIELDS)
    it(`gives ${label}`, async () => {
      const { text, warnings } = await parseWith('PDFParser', file([field]));
      assert.equal(text, `What the page says.\n\n${expected}`);
      assert.deepEqual(warnings, []);
    });

  it('names a field below others with all of them', async () => {
    const parent = '<</T(buyer)/Kids[14 0 R]>>';
    const kid = widget('/FT/Tx/T(city)/Parent 13 0 R/V(Oslo)');
    assert.match((await parseWith('PDFParser', file([parent, kid]))).text, /buyer\.city: Oslo/);
  });

  it('gives nothing of what is empty, off or secret', async () => {
    const fields = [
      widget('/FT/Tx/T(empty)/V()'),
      widget(`/FT/Btn/T(agree)/V/Off/AS/Off${marks}`),
      widget('/FT/Tx/Ff 8192/T(code)/V(sesame)'),
      widget('/FT/Btn/Ff 65536/T(print)/V(push)'),
    ];
    assert.equal((await parseWith('PDFParser', file(fields))).text, 'What the page says.');
  });

  it('gives the values of a form that is kept in XML', async () => {
    const data =
      '<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1><name>Ada &amp; co</name><empty/></form1></xfa:data></xfa:datasets>';
    const bytes = file([widget('/FT/Tx/T(x)')], '/XFA[(datasets) 14 0 R]', [`<</Length ${data.length}>>stream\n${data}\nendstream`]);
    assert.match((await parseWith('PDFParser', bytes)).text, /form1\.name: Ada & co$/);
  });

  it('is left out by the older engines, with a warning', async () => {
    const bytes = file([widget('/FT/Tx/T(name)/V(Quark)')]);
    const { text, warnings } = await parseWith('PDFParser_PyPDF2', bytes);
    assert.equal(text, 'What the page says.');
    assert.match(warnings.join(), /extract_form_fields/);
    assert.match((await parseWith('PDFParser_PyPDF2', bytes, { extract_form_fields: true })).text, /name: Quark/);
  });
});
