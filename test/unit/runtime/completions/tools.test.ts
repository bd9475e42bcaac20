import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Ending } from '../../../../runtime/completions/thinking.js';
import { formatOf, TOOL_FORMATS, type ToolFormat } from '../../../../runtime/completions/tools/formats.js';
import { parseToolCalls, ToolCallParser } from '../../../../runtime/completions/tools/parser.js';
import { offerTools, usableTools } from '../../../../runtime/completions/tools/tool-choice.js';
import { injectTools, toolHistoryAsText } from '../../../../runtime/completions/tools/tool-prompt.js';
import { Failure } from '../../../../schemas/errors.js';
import type { Message, Tool } from '../../../../schemas/generated/common.js';

const weather: Tool = {
  type: 'function',
  function: { name: 'weather', description: 'Weather of a city', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const clock: Tool = { type: 'function', function: { name: 'clock' } };
const [hermes, mistral, llama3] = TOOL_FORMATS;

interface Read {
  text: string;
  calls: { name: string; arguments: string }[];
  incomplete: boolean;
}

function read(chunks: string[], format: ToolFormat, whole: boolean, ending: Ending = {}): Read {
  const parser = new ToolCallParser(format, { whole });
  const out: Read = { text: '', calls: [], incomplete: false };
  const parts = [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end(ending)];
  for (const part of parts) {
    if (part.type === 'text') out.text += part.text;
    else if (part.name !== undefined) {
      assert.equal(part.index, out.calls.length, 'calls come in order');
      assert.match(part.id ?? '', /^call_[0-9a-f-]{36}$/);
      assert.equal(part.arguments, '');
      out.calls.push({ name: part.name, arguments: '' });
    } else out.calls[part.index]!.arguments += part.arguments;
  }
  out.incomplete = parser.incomplete;
  return out;
}

const ONE = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>';
const CITY = { name: 'weather', arguments: '{"city":"Paris"}' };

/** name, format, output, text, calls */
const COMPLETE: [string, ToolFormat, string, string, { name: string; arguments: string }[]][] = [
  ['one call', hermes, ONE, '', [CITY]],
  [
    'two calls in order',
    hermes,
    `${ONE}\n<tool_call>\n{"name":"clock","arguments":{}}\n</tool_call>\n`,
    '',
    [CITY, { name: 'clock', arguments: '{}' }],
  ],
  ['text around a call', hermes, `Let me look.\n\n${ONE} Done.`, 'Let me look. Done.', [CITY]],
  ['no call', hermes, 'a < b, <tool> and <tool_cal', 'a < b, <tool> and <tool_cal', []],
  ['empty', hermes, '', '', []],
  ['blank space stays', hermes, '  a\n ', '  a\n ', []],
  ['absent arguments', hermes, '<tool_call>{"name":"clock"}</tool_call>', '', [{ name: 'clock', arguments: '{}' }]],
  [
    'arguments before the name',
    hermes,
    '<tool_call>{"arguments": {"a": [1, {"b": "}"}]}, "name": "x"}</tool_call>',
    '',
    [{ name: 'x', arguments: '{"a":[1,{"b":"}"}]}' }],
  ],
  [
    'arguments as text',
    hermes,
    '<tool_call>{"name":"x","arguments":"{\\"a\\": 1}"}</tool_call>',
    '',
    [{ name: 'x', arguments: '{"a":1}' }],
  ],
  [
    'braces and quotes in strings',
    hermes,
    '<tool_call>{"name":"x","arguments":{"s":"\\"}{</tool_call>"}}</tool_call>',
    '',
    [{ name: 'x', arguments: '{"s":"\\"}{</tool_call>"}' }],
  ],
  [
    'letters beyond ASCII',
    hermes,
    '<tool_call>{"name":"x","arguments":{"s":"é日😀"}}</tool_call>',
    '',
    [{ name: 'x', arguments: '{"s":"é日😀"}' }],
  ],
  ['no name', hermes, '<tool_call>{"arguments":{}}</tool_call>', '<tool_call>{"arguments":{}}</tool_call>', []],
  ['an empty name', hermes, '<tool_call>{"name":""}</tool_call>', '<tool_call>{"name":""}</tool_call>', []],
  ['no object', hermes, '<tool_call>weather</tool_call>', '<tool_call>weather</tool_call>', []],
  ['a bad call before a good one', hermes, `<tool_call>oops ${ONE}`, '<tool_call>oops', [CITY]],
  ['a tag opened twice', hermes, `<tool_call>${ONE}`, '<tool_call>', [CITY]],
  [
    'a list',
    mistral,
    '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Paris"}}, {"name": "clock", "arguments": {}}]',
    '',
    [CITY, { name: 'clock', arguments: '{}' }],
  ],
  ['a list without its token', mistral, ' [{"name": "weather", "arguments": {"city": "Paris"}, "id": "abc"}]', '', [CITY]],
  ['a list in plain text', mistral, 'see [1] and [{"a":1}]', 'see [1] and [{"a":1}]', []],
  ['a bare object', llama3, '{"name": "weather", "parameters": {"city": "Paris"}}', '', [CITY]],
  [
    'bare objects',
    llama3,
    '<|python_tag|>{"name": "weather", "parameters": {"city": "Paris"}}; {"name": "clock", "parameters": {}}',
    '',
    [CITY, { name: 'clock', arguments: '{}' }],
  ],
  ['an object that is an answer', llama3, '{"answer": 42}', '{"answer": 42}', []],
  ['an object later in the text', llama3, 'As JSON: {"name": "x"}', 'As JSON: {"name": "x"}', []],
];

describe('tool calls in text', () => {
  for (const [name, format, output, text, calls] of COMPLETE) {
    it(`${format.name}: ${name}, wherever the output is cut`, () => {
      const expected: Read = { text, calls, incomplete: false };
      assert.deepEqual(read([output], format, true), expected, 'whole');
      assert.deepEqual(read([...output], format, true), expected, 'whole, one character at a time');
      assert.deepEqual(read([...output], format, false), expected, 'one character at a time');
      for (let i = 0; i <= output.length; i += 1)
        assert.deepEqual(read([output.slice(0, i), output.slice(i)], format, false), expected, `cut at ${i}`);
      const parsed = parseToolCalls(output, format);
      assert.equal(parsed.text, text);
      assert.deepEqual(
        parsed.calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
        calls.map((call) => [call.name, JSON.parse(call.arguments)]),
      );
    });
  }

  it('reports the name when its quote closes, then the arguments as they grow, and the call only with its closing tag', () => {
    const parser = new ToolCallParser();
    assert.deepEqual(parser.push('Hm <tool_call>{"name": "get_wea'), [{ type: 'text', text: 'Hm' }]);
    const [named, ...more] = parser.push('ther"');
    assert.equal(named?.type === 'tool_call' && named.name, 'get_weather');
    assert.deepEqual(more, []);
    assert.deepEqual(parser.push(', "arguments"'), []);
    assert.deepEqual(parser.push(': {"city": "Pa'), [{ type: 'tool_call', index: 0, arguments: '{"city":"Pa' }]);
    assert.deepEqual(parser.push('ris"}}'), [{ type: 'tool_call', index: 0, arguments: 'ris"}' }]);
    assert.equal(parser.calls, 0);
    assert.deepEqual(parser.push('</tool_call>'), []);
    assert.equal(parser.calls, 1);
  });

  const cut: [string, ToolFormat, string, Read][] = [
    ['its tag alone', hermes, '<tool_call>', { text: '', calls: [], incomplete: true }],
    ['its tag and a line break', hermes, 'Hm. <tool_call>\n', { text: 'Hm.', calls: [], incomplete: true }],
    ['half of its name', hermes, '<tool_call>{"name": "weat', { text: '', calls: [], incomplete: true }],
    [
      'its name',
      hermes,
      '<tool_call>{"name": "weather", "argu',
      { text: '', calls: [{ name: 'weather', arguments: '' }], incomplete: true },
    ],
    [
      'half of its arguments',
      hermes,
      '<tool_call>{"name":"weather","arguments":{"city":"Pa',
      { text: '', calls: [{ name: 'weather', arguments: '{"city":"Pa' }], incomplete: true },
    ],
    [
      'all but its closing tag',
      hermes,
      '<tool_call>{"name":"weather","arguments":{"city":"Paris"}}',
      { text: '', calls: [CITY], incomplete: false },
    ],
    [
      'half of its closing tag',
      hermes,
      '<tool_call>{"name":"weather","arguments":{"city":"Paris"}}\n</tool_',
      { text: '', calls: [CITY], incomplete: false },
    ],
    ['half of its opening tag', hermes, 'I ask. <tool_c', { text: 'I ask. ', calls: [], incomplete: false }],
    [
      'half of the second call',
      hermes,
      `${ONE}<tool_call>{"name":"clock","ar`,
      { text: '', calls: [CITY, { name: 'clock', arguments: '' }], incomplete: true },
    ],
    [
      'a list',
      mistral,
      '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "P',
      { text: '', calls: [{ name: 'weather', arguments: '{"city":"P' }], incomplete: true },
    ],
    [
      'a bare object',
      llama3,
      '{"name": "weather", "parameters": {"ci',
      { text: '', calls: [{ name: 'weather', arguments: '{"ci' }], incomplete: true },
    ],
    ['the beginning of one', llama3, '{"na', { text: '', calls: [], incomplete: false }],
  ];
  for (const [name, format, output, expected] of cut) {
    it(`${format.name}: shows no markup of a call of which there is ${name}, whole or streamed`, () => {
      for (const whole of [true, false]) {
        assert.deepEqual(read([...output], format, whole, { isCut: true }), expected);
        assert.deepEqual(read([output], format, whole, { isCut: true }), expected);
      }
    });
  }

  const WHOLE_JSON = '<tool_call>{"name":"weather","arguments":{"city":"Paris"}}';
  const stopped: [string, ToolFormat, string, string, Read][] = [
    ['its closing tag', hermes, WHOLE_JSON, '</tool_call>', { text: '', calls: [CITY], incomplete: true }],
    ['a line break before its closing tag', hermes, WHOLE_JSON, '\n', { text: '', calls: [CITY], incomplete: true }],
    ['half of its closing tag', hermes, `${WHOLE_JSON}\n</tool`, '_call', { text: '', calls: [CITY], incomplete: true }],
    ['what follows a call without a closing tag', hermes, WHOLE_JSON, '\nUser:', { text: '', calls: [CITY], incomplete: false }],
    [
      'its arguments',
      hermes,
      '<tool_call>{"name":"weather","arguments":{"city":"',
      'Paris',
      { text: '', calls: [{ name: 'weather', arguments: '{"city":"' }], incomplete: true },
    ],
    ['half of its opening tag', hermes, 'I ask. <t', 'ool_c', { text: 'I ask. ', calls: [], incomplete: true }],
    ['its opening tag but for one letter', hermes, '<', 'tool_call>', { text: '', calls: [], incomplete: true }],
    ['the end of its opening tag and more', hermes, '<tool', '_call>\n{', { text: '', calls: [], incomplete: true }],
    ['text behind a sign', hermes, 'a <t', 'wo', { text: 'a <t', calls: [], incomplete: false }],
    ['the beginning of a bare object', llama3, '{"', 'name', { text: '', calls: [], incomplete: true }],
  ];
  for (const [name, format, output, stopText, expected] of stopped) {
    it(`${format.name}: breaks a call off where a stop text takes ${name}, whole or streamed`, () => {
      for (const whole of [true, false]) {
        assert.deepEqual(read([...output], format, whole, { stopText }), expected);
        assert.deepEqual(read([output], format, whole, { stopText }), expected);
      }
    });
  }

  it('leaves text that looks like the beginning of a tag', () => {
    for (const isCut of [true, false]) assert.equal(read(['2 <'], hermes, false, { isCut }).text, '2 <');
    assert.equal(read(['a <t'], hermes, false).text, 'a <t');
  });

  it('stops after the calls that are wanted', () => {
    const parser = new ToolCallParser(hermes, { maxCalls: 1 });
    const parts = [...parser.push(`${ONE}${ONE} more`), ...parser.end()];
    assert.equal(parser.calls, 1);
    assert.ok(parser.finished);
    assert.ok(parts.every((part) => part.type === 'tool_call' && part.index === 0));
  });

  it('stays quick on long output', () => {
    const parser = new ToolCallParser(hermes, { whole: true });
    const long = JSON.stringify({ name: 'x', arguments: { s: 'y'.repeat(300_000) } });
    parser.push(`<tool_call>${long}</tool_call>`);
    assert.equal(parser.calls, 1);
  });

  it('chooses the form that a template teaches', () => {
    assert.equal(formatOf('… <tool_call>{"name": … }</tool_call>'), hermes);
    assert.equal(formatOf("{{ '[TOOL_CALLS] [' }}"), mistral);
    for (const later of ['ARGS', 'CALL_ID']) assert.equal(formatOf(`{{ '[TOOL_CALLS]' }}{{ '[${later}]' }}`), null);
    assert.equal(formatOf('<|start_header_id|> {"name": function name, "parameters": …}'), llama3);
    assert.equal(formatOf('<tool_call>\n<function=x>'), null);
    assert.equal(formatOf('{{ tools }}'), null);
  });
});

describe('tool definitions', () => {
  it('skips what cannot be used', () => {
    const bad = [
      null,
      {},
      { type: 'retrieval' },
      { type: 'function' },
      { type: 'function', function: { name: ' ' } },
      { type: 'function', function: { name: 'x', parameters: [] } },
    ];
    assert.deepEqual(usableTools([...bad, weather, weather, clock]), [weather, clock]);
  });

  it('reads tool_choice', () => {
    assert.deepEqual(offerTools([weather], undefined), { tools: [weather], mode: 'auto' });
    assert.deepEqual(offerTools([weather], 'none'), { tools: [], mode: 'auto' });
    assert.deepEqual(offerTools([weather, clock], 'required'), { tools: [weather, clock], mode: 'required' });
    assert.deepEqual(offerTools([weather, clock], { type: 'function', function: { name: 'clock' } }), { tools: [clock], mode: 'named' });
    assert.deepEqual(offerTools([weather], 'maybe' as 'auto'), { tools: [weather], mode: 'auto' });
    assert.throws(
      () => offerTools([weather, clock], { type: 'function', function: { name: 'tea' } }),
      (error: Failure) => error.kind === 'bad_request' && /"tea".*weather, clock/.test(error.message),
    );
    assert.throws(() => offerTools([], 'required'), Failure);
  });

  it('offers the tools that allowed_tools names', () => {
    const allowed = (mode: string, ...names: string[]) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: names.map((name) => ({ type: 'function', function: { name } })) },
    });
    assert.deepEqual(offerTools([weather, clock], allowed('auto', 'clock')), { tools: [clock], mode: 'auto' });
    assert.deepEqual(offerTools([weather, clock], allowed('required', 'weather')), { tools: [weather], mode: 'required' });
    assert.deepEqual(offerTools([weather, clock], allowed('auto')), { tools: [], mode: 'auto' });
    const flat = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', name: 'clock' }] } };
    assert.deepEqual(offerTools([weather, clock], flat), { tools: [clock], mode: 'required' });
    assert.deepEqual(offerTools([weather], { type: 'allowed_tools' }), { tools: [weather], mode: 'auto' });
    assert.throws(() => offerTools([weather], allowed('required')), { kind: 'bad_request' });
    assert.throws(() => offerTools([weather], allowed('auto', 'tea')), { kind: 'bad_request', message: /"tea".*weather/ });
  });

  it('are written into the first system message, and the input stays as it is', () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi' },
    ];
    const before = structuredClone(messages);
    const injected = injectTools(messages, [weather, clock], 'auto');
    assert.deepEqual(messages, before);
    assert.equal(injected.length, 2);
    const text = String(injected[0]?.content);
    assert.ok(text.startsWith('Be kind.\n\n'));
    assert.ok(
      text.includes(`<tools>\n<tool>${JSON.stringify(weather.function)}</tool>\n<tool>${JSON.stringify(clock.function)}</tool>\n</tools>`),
    );
    assert.ok(text.includes('<tool_call>{"name":'));
    assert.deepEqual(injected[1], messages[1]);
    const parts = { role: 'system' as const, content: [{ type: 'text' as const, text: 'Be kind.' }] };
    assert.deepEqual(injectTools([parts], [weather])[1], parts, 'content in parts stays as it is');
    const made = injectTools([{ role: 'user', content: 'hi' }], [weather]);
    assert.deepEqual(
      made.map((message) => message.role),
      ['system', 'user'],
    );
    for (const [tools, choice] of [
      [[], 'auto'],
      [null, 'auto'],
      [[weather], 'none'],
    ] as const)
      assert.deepEqual(injectTools(messages, tools, choice), messages);
  });

  it('say may, must, or must call one', () => {
    const texts = (['auto', 'required', { type: 'function', function: { name: 'clock' } }] as const).map((choice) =>
      String(injectTools([], [weather, clock], choice)[0]?.content),
    );
    assert.equal(new Set(texts).size, 3);
    assert.ok(texts[2]?.includes('clock') && !texts[2].includes('weather'));
  });

  it('become text in a history for templates without tool roles', () => {
    const history: Message[] = [
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
      },
      { role: 'tool', tool_call_id: '1', content: 'sunny' },
      { role: 'tool', tool_call_id: '2', content: 'windy' },
      { role: 'user', content: 'thanks' },
    ];
    const before = structuredClone(history);
    assert.deepEqual(
      toolHistoryAsText(history).map((message) => [message.role, message.content]),
      [
        ['user', 'weather?'],
        ['assistant', '<tool_call>{"name":"weather","arguments":{"city":"Paris"}}</tool_call>'],
        ['user', '<tool_response>\nsunny\n</tool_response>\n<tool_response>\nwindy\n</tool_response>'],
        ['user', 'thanks'],
      ],
    );
    assert.deepEqual(history, before);
  });
});
