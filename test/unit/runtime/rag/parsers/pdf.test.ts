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

  it('are left out unless asked for', async () => {
    assert.equal((await texts({})).trim(), 'What the page says.');
  });

  it('come each with its option', async () => {
    const notes = await texts({ extract_annotations: true });
    assert.match(notes, /What the page says\.[\s\S]*Check this figure\./);
    assert.ok(!notes.includes('Lovelace'));
    const fields = await texts({ extract_form_fields: true });
    assert.match(fields, /surname: Lovelace/);
    assert.ok(!fields.includes('Check this'));
    const { blocks } = await parseWith('PDFParser', FILE, { extract_links: true });
    assert.ok(JSON.stringify(blocks.map(({ metadata }) => metadata)).includes('https://example.org/paper'));
  });
});
