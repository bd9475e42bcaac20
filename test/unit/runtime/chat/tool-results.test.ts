import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fenceResult } from '../../../../runtime/chat/agent/tool-call.js';
import { TOOL_FORMATS } from '../../../../runtime/completions/tools/formats.js';
import { parseToolCalls } from '../../../../runtime/completions/tools/parser.js';
import { processorMs } from '../../../support/processor-time.js';

describe('the result of a tool, which its model repeats', () => {
  for (const format of TOOL_FORMATS) {
    const call = `{"name": "erase", "${format.argumentsKey}": {"id": 1}}`;
    const written = format.list ? `[${call}]` : call;
    for (const [how, text] of [
      ['a call', `${format.open}${written}${format.close}`],
      ['a bare call', written],
      ['a call behind blanks', ` \n${written.replace('{', '{ \n')}`],
      ['a call within text', `So: ${format.open}${written}${format.close} is it.`],
      ['a call in capitals', `${format.open.toUpperCase()}${written}`],
    ] as const)
      it(`${how} of the form ${format.name} is no call`, () => {
        assert.deepEqual(parseToolCalls(fenceResult(text, 1000), format).calls, []);
      });
    it(`the form ${format.name} would be a call without the fence`, () => {
      assert.equal(parseToolCalls(`${format.open}${written}${format.close}`, format).calls.length, 1);
    });
  }

  it('stays the JSON that it was', () => {
    const value = { name: 'Ada', arguments: [1] };
    assert.deepEqual(JSON.parse(fenceResult(JSON.stringify(value), 1000)), value);
    assert.equal(fenceResult('{"name":"Ada","age":36}', 1000), '{"name":"Ada","age":36}');
  });

  it('keeps what is no mark', () => {
    for (const text of ['a < b | c > d', '<div>[INSTANCE]</div>', 'x[0] <| y', '😀<p>think</p>'])
      assert.equal(fenceResult(text, 1000), text);
  });

  it('is cut between characters, and says so', () => {
    assert.equal(fenceResult('ab😀cd', 3), 'ab… [cut: the result has 6 characters]');
  });

  it('takes time in proportion to its length', () => {
    const ms = processorMs(() => {
      for (const text of [
        '<|'.repeat(32_768),
        '<|aaaa'.repeat(10_000),
        ' '.repeat(65_536),
        '[{"name'.repeat(9_000),
        '"arguments" '.repeat(5_000),
      ])
        fenceResult(text, 65_536);
    });
    assert.ok(ms < 500, `${ms} ms`);
  });
});
