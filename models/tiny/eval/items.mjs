// The hand-written items as requests, each with how its answer is scored.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contextText } from '../../../build/runtime/chat/passages.js';
import { best, exact, f1, jsonOf, sameValue, valueShare } from './score.mjs';

const REFUSAL = /does not say|not (?:in|mentioned)|do(?:es)? not know|no information|cannot/i;
const SYSTEM = 'You are a helpful assistant.';

const lines = (name, folder = import.meta.dirname) => {
  const path = join(folder, name);
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
    : [];
};
const parsed = (name, folder) => lines(`${name}.jsonl`, folder).map((line) => JSON.parse(line));
const user = (content) => ({ role: 'user', content });
const system = (content) => ({ role: 'system', content });

function question(kind, accepted, messages) {
  return {
    kind,
    messages,
    wanted: accepted,
    score: ({ content }) =>
      accepted === null
        ? { refused: REFUSAL.test(content) }
        : { f1: best(f1, content, accepted), exact: best(exact, content, accepted), answered: !REFUSAL.test(content) },
  };
}

function reading(records) {
  return records('reading').flatMap(({ text, asks }) =>
    asks.map(([ask, accepted]) => question('passage', accepted, [system(SYSTEM), user(`${text}\n\n${ask}`)])),
  );
}

/** With the passages in the words in which chat itself puts them before the model. */
function retrieval(records) {
  return records('retrieval').flatMap(({ passages, asks }) => {
    const hits = passages.map(([source, text], index) => ({ text, score: 0.9 - 0.1 * index, metadata: { source } }));
    const [context] = contextText(hits);
    return asks.map(([ask, accepted]) => question('retrieval', accepted, [system(`${SYSTEM}\n\n${context}`), user(ask)]));
  });
}

function labels(records) {
  return records('labels').map(({ text, labels: offered, answer }) => ({
    kind: 'labels',
    messages: [user(`Classify the text as one of: ${offered.join(', ')}.\n\n${text}`)],
    wanted: answer,
    score: ({ content }) => ({ right: exact(content, answer), offered: offered.some((one) => exact(content, one)) }),
  }));
}

function definition([name, description, parameters]) {
  const properties = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, { type }]));
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: Object.keys(parameters) } },
  };
}

function tools(records) {
  return records('tools').map(({ tools: offered, ask, call }) => ({
    kind: 'tools',
    messages: [system(SYSTEM), user(ask)],
    tools: offered.map(definition),
    wanted: call,
    score: ({ content, calls }) => {
      if (call === null) return { left: calls.length === 0 };
      const [one] = calls;
      const valid = calls.length === 1 && !/<tool_call>/.test(content);
      return { valid, named: valid && one.name === call[0], right: valid && one.name === call[0] && sameValue(one.arguments, call[1]) };
    },
  }));
}

function toolResults(records) {
  return records('tool-results').map(({ tool, ask, arguments: args, result, contains }) => {
    const id = 'call_1';
    const made = { id, type: 'function', function: { name: tool[0], arguments: JSON.stringify(args) } };
    return {
      kind: 'tool results',
      messages: [user(ask), { role: 'assistant', content: null, tool_calls: [made] }, { role: 'tool', tool_call_id: id, content: result }],
      tools: [definition(tool)],
      score: ({ content }) => ({ right: content.includes(contains) }),
    };
  });
}

function extract(records) {
  return records('extract').map(({ system: told, ask, json }) => ({
    kind: 'json',
    messages: [...(told ? [system(told)] : []), user(ask)],
    wanted: json,
    score: ({ content }) => {
      const value = jsonOf(content);
      return { valid: value !== undefined, right: sameValue(value, json), members: value === undefined ? 0 : valueShare(value, json) };
    },
  }));
}

function sums(records) {
  return records('sums').map(({ ask, answer, think }) => ({
    kind: think ? 'sums, thinking' : 'sums',
    messages: [user(ask)],
    think: think ?? false,
    score: ({ content }) => ({ right: (content.match(/-?\d+/g) ?? []).at(-1) === answer }),
  }));
}

const CHECKS = {
  contains: (text, wanted) => text.toLowerCase().includes(wanted.toLowerCase()),
  starts: (text, wanted) => text.startsWith(wanted),
  ends: (text, wanted) => text.replace(/[.!"]+$/, '').endsWith(wanted),
  equals: (text, wanted) => exact(text, wanted),
  upper: (text) => text === text.toUpperCase() && /[A-Z]/.test(text),
  lower: (text) => text === text.toLowerCase() && /[a-z]/.test(text),
  sentences: (text, wanted) => text.split(/[.!?]\s/).length <= wanted,
  any: (text, wanted) => wanted.some((one) => text.includes(one)),
};

function checked(kind, record, messages) {
  const [name, wanted] = Object.entries(record).find(([key]) => key in CHECKS);
  return { kind, messages, score: ({ content }) => ({ right: CHECKS[name](content, wanted) }) };
}

function turns(records) {
  return records('turns').map((record) => ({ ...checked('turns', record, []), turns: record.turns }));
}

function summaries(records) {
  return records('summary').map(({ text, ask, answer }) => ({
    kind: 'summary',
    messages: [user(`${ask}\n\n${text}`)],
    score: ({ content }) => ({ f1: f1(content, answer) }),
  }));
}

/** Every hand-written item of a folder: `{kind, messages | turns, tools?, think?, wanted?, score(answer)}`. */
export function items(folder) {
  const records = (name) => parsed(name, folder);
  return [
    ...reading(records),
    ...retrieval(records),
    ...labels(records),
    ...tools(records),
    ...toolResults(records),
    ...extract(records),
    ...sums(records),
    ...records('obeying').map((record) => checked('obeying', record, [system(record.system), user(record.ask)])),
    ...turns(records),
    ...records('about').map((record) => checked('talk', record, [system(SYSTEM), user(record.ask)])),
    ...summaries(records),
  ];
}

/** Prompts of a folder that have no right answer; they show whether the model ends, and whether it repeats itself. */
export function freePrompts(folder) {
  return lines('free.txt', folder);
}
