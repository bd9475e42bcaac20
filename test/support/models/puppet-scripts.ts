import type { ScriptTable, ToolAnswerTable } from '../../../models/puppet/script.js';

const call = (name: string, args: unknown): string => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

/** What the test puppet says, by script name; tests import the expected texts from here. */
export const PUPPET_SCRIPTS = {
  default: { triggers: [], answer: 'I am the puppet. No trigger word was in your message.' },
  hello: { triggers: ['hello', 'hi'], answer: 'Hello! I am the puppet, made of hand-set weights.' },
  json: { triggers: ['json'], answer: '{"name": "Ada", "age": 36, "tags": ["math", "engines"], "active": true}' },
  think: {
    triggers: ['ponder', 'think'],
    thinking: '\nThe user wants me to reflect.\nTwo and two make four.\n',
    answer: 'After some thought: four.',
  },
  weather: { triggers: ['weather'], answer: call('get_weather', { city: 'Paris', unit: 'celsius' }) },
  sum: { triggers: ['sum'], answer: `${call('add_numbers', { a: 2, b: 3 })}\n${call('add_numbers', { a: 40, b: 2 })}` },
  mixed: { triggers: ['forecast'], answer: `Let me look that up.\n${call('get_weather', { city: 'Oslo' })}` },
  plan: { triggers: ['plan'], thinking: '\nA tool can tell the hour.\n', answer: call('get_time', {}) },
  broken: { triggers: ['broken'], answer: '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par' },
  emoji: { triggers: ['emoji'], bytesPerToken: 3, answer: 'Smile 😀, wave 👋🏽, family 👨‍👩‍👧, flag 🇫🇷, done ✅.' },
  languages: { triggers: ['languages'], bytesPerToken: 5, answer: 'Grüße aus Köln; 你好，世界; Привет, мир; مرحبا بالعالم; नमस्ते.' },
  lines: { triggers: ['lines'], answer: 'first line\nsecond line\n\n  indented fourth line\n\ttabbed "quoted" \\ back\\slash\n' },
  code: { triggers: ['code'], answer: 'Here it is:\n\n```js\nconst add = (a, b) => a + b;\n```\n\nIt adds.' },
  stops: { triggers: ['stops'], answer: 'alpha beta STOPPED gamma delta END epsilon' },
  silence: { triggers: ['silence'], answer: '' },
  coin: {
    triggers: ['coin'],
    answer: 'Tosses:',
    choices: Array.from({ length: 12 }, (_, toss) => [` ${toss + 1} heads,`, ` ${toss + 1} tails,`]),
  },
  long: { triggers: ['count'], answer: Array.from({ length: 400 }, (_, index) => `number ${index + 1};`).join(' ') },
  endless: { triggers: ['endless'], endless: true, answer: Array.from({ length: 48 }, (_, index) => `round step ${index + 1}. `).join('') },
} as const satisfies ScriptTable;

/** Name of one of the puppet's scripts. */
export type PuppetScriptName = keyof typeof PUPPET_SCRIPTS;

/** What the test puppet says after a tool's result, by the name of the tool that was called last. */
export const PUPPET_TOOL_ANSWERS = {
  default: { word: '', answer: 'The tool has answered; that is all I know.' },
  get_weather: { word: '_weather', answer: 'It is sunny in Paris today, 21 degrees.' },
  add_numbers: { word: '_numbers', answer: 'Together the sums are 5 and 42.' },
  get_time: { word: '_time', answer: 'The clock says noon.' },
} as const satisfies ToolAnswerTable;

/** Tokens of context that the puppet declares. */
export const PUPPET_CONTEXT = 8192;
