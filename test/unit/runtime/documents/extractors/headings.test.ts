import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

interface Found {
  readonly headings: readonly { text: string; level: number; type: string; line_number: number }[];
  readonly hierarchy: unknown;
  readonly table_of_contents: unknown;
  readonly sections: readonly Record<string, unknown>[];
  readonly statistics: unknown;
}
const find = (text: string, options = {}): Found => extractorOf('HeadingExtractor').extract(text, options).output.headings as Found;
const brief = (text: string, options = {}): string[] =>
  find(text, options).headings.map((one) => `${one.line_number} ${one.type} ${one.level} ${one.text}`);

describe('headings', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['# One\ntext\n### Three ###\n#no\n####### no', ['1 markdown 1 One', '3 markdown 3 Three']],
    ['Title\n=====\nText\n\nSub\n---\n', ['1 underlined 1 Title', '5 underlined 2 Sub']],
    ['paragraph\nlast line\n-----', []],
    ['1.2 Scope\nText\n\n1 Intro\n\n1. Item\n2. Item', ['1 numbered 2 1.2 Scope', '4 numbered 1 1 Intro']],
    ['1.2 Ends like a sentence.\n\n1.5 times more', []],
    ['ANNUAL REPORT 2024\nText\n\nA\n\nNASA', ['1 caps 1 ANNUAL REPORT 2024', '6 caps 1 NASA']],
    ['```\n# no\n```\nYes\n===', ['4 underlined 1 Yes']],
    [`# ${'x'.repeat(300)}`, []],
  ];
  for (const [text, expected] of cases) it(JSON.stringify(text.slice(0, 60)), () => assert.deepEqual(brief(text), expected));

  it('builds the tree, the contents and the sections', () => {
    const found = find('# A\nintro words\n## B\nmore\n# C\n', { min_heading_length: 1 });
    const b = { text: 'B', level: 2, line_number: 3, children: [] };
    assert.deepEqual(found.hierarchy, [
      { text: 'A', level: 1, line_number: 1, children: [b] },
      { text: 'C', level: 1, line_number: 5, children: [] },
    ]);
    assert.deepEqual(found.table_of_contents, [
      { title: 'A', level: 1, line_number: 1 },
      { title: 'B', level: 2, line_number: 3 },
      { title: 'C', level: 1, line_number: 5 },
    ]);
    assert.deepEqual(found.sections, [
      { title: 'A', level: 1, start_line: 1, end_line: 2, content_preview: 'intro words', word_count: 2 },
      { title: 'B', level: 2, start_line: 3, end_line: 4, content_preview: 'more', word_count: 1 },
      { title: 'C', level: 1, start_line: 5, end_line: 5, content_preview: '', word_count: 0 },
    ]);
    assert.deepEqual(found.statistics, { by_level: { 1: 2, 2: 1 }, by_type: { markdown: 3 }, max_depth: 2, avg_heading_length: 1 });
  });

  it('cuts previews', () => {
    assert.equal((find(`# Head\n${'word '.repeat(100)}`).sections[0]!.content_preview as string).length, 200);
  });
});
