import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sectionOf, withSection } from '../../../bench/report.js';

const CIRCUMSTANCES = {
  command: 'npm run bench -- http --quick',
  machine: '2 cores of a Processor, 24 GB, linux, Node 20.20.2',
  load: '1.5 on 2 cores',
  commit: 'abc1234',
  date: '2026-11-27',
};
const row = (what: string, ours: string) => ({ what, ours, peer: '2', ratio: '2.00x', goal: '>= 1x' });
const SECTION = sectionOf(CIRCUMSTANCES, [
  { title: 'Requests', rows: [row('requests/s', '4')] },
  { title: 'Delays', rows: [row('a | b', '1\n2')] },
]);
const PAGE = [
  '# Figures',
  'before',
  '<!-- bench: http -->',
  'an old table',
  '<!-- end of bench: http -->',
  'between',
  '<!-- bench: chat -->',
  'chat',
  '<!-- end of bench: chat -->',
  'after',
  '',
].join('\n');

describe('sections of docs/benchmarks.md', () => {
  it('say where and when in one line, and all tables of a part in one', () => {
    assert.deepEqual(SECTION.split('\n'), [
      '`npm run bench -- http --quick`, 2026-11-27, commit abc1234, load 1.5 on 2 cores; 2 cores of a Processor, 24 GB, linux, Node 20.20.2.',
      '',
      '| what is measured | Quern | peer | ratio | goal |',
      '|---|---|---|---|---|',
      '| **Requests** |  |  |  |  |',
      '| requests/s | 4 | 2 | 2.00x | >= 1x |',
      '| **Delays** |  |  |  |  |',
      '| a \\| b | 1 2 | 2 | 2.00x | >= 1x |',
    ]);
  });

  it('take the place of what stood between the markers, and of nothing else', () => {
    const page = withSection(PAGE, 'http', SECTION);
    assert.equal(page, PAGE.replace('an old table', SECTION));
    assert.equal(withSection(page, 'http', SECTION), page);
  });

  it('are put at the end where a part has none yet', () => {
    const page = withSection(PAGE, 'text', SECTION);
    assert.equal(page, `${PAGE}\n## text\n\n<!-- bench: text -->\n${SECTION}\n<!-- end of bench: text -->\n`);
    assert.equal(withSection(page, 'text', SECTION), page);
  });

  it('keep what looks like a pattern of a replacement', () => {
    assert.ok(withSection(PAGE, 'http', "costs $& and $'").includes("costs $& and $'\n"));
  });
});
