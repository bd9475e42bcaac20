import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallFilter } from '../../../../runtime/voice/call-filter.js';

test('JSON that looks like a call is not spoken, however it is cut', () => {
  const rows: [text: string, expected: string][] = [
    ['Let me see. {"name": "weather", "arguments": {"city": "Köln {"}} Done.', 'Let me see.  Done.'],
    ['[{"name":"a","parameters":{}},{"name":"b","arguments":{}}]', ''],
    ['<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>', '\n\n'],
    ['{"type":"function","function":{"name":"x","arguments":"{}"},"id":"1"}', ''],
    ['The point {"x": 1} lies here.', 'The point {"x": 1} lies here.'],
    ['Sets like {1, 2} and [a, b] stay.', 'Sets like {1, 2} and [a, b] stay.'],
    ['{"name": "Anna", "age": 7}', '{"name": "Anna", "age": 7}'],
    ['An empty {} and [] too', 'An empty {} and [] too'],
    ['{"name": "weather", "argum', ''],
    ['an open { brace', 'an open { brace'],
    [`{"x": "${'y'.repeat(100)}`, `{"x": "${'y'.repeat(100)}`],
  ];
  for (const [text, expected] of rows) {
    for (const size of [1, 3, text.length]) {
      const filter = new CallFilter();
      let out = '';
      for (let at = 0; at < text.length; at += size) out += filter.push(text.slice(at, at + size));
      out += filter.end();
      if (size === text.length || !text.startsWith('<')) assert.equal(out, expected, `${text} by ${size}`);
    }
  }
});
