import assert from 'node:assert/strict';
import { coreEndpoints } from '../../gateway/core/index.js';
import type { Message } from '../../schemas/generated/core/conversations.js';
import { openedRuntime } from '../support/compat-stage.js';
import { conversationData } from '../support/conversation-stage.js';
import { formOf, writeProject } from '../support/dataset-stage.js';
import { docx, drawn, pdf, wordParagraph } from '../support/documents.js';
import { lockedPdf } from '../support/locked-pdf.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Body = any;

const LIST = '/v1/projects/ns/p/conversations';
const HELLO = PUPPET_SCRIPTS.hello.answer;
let id = '';
let question: Message;
let answer: Message;
let file: { name: string; url: string };
/** A row that calls an endpoint by its id; `ids` are those of its path behind the conversation. */
function row(
  endpoint: string,
  name: string,
  rest: Partial<Scenario> & { ids?: () => Record<string, string>; query?: string } = {},
): Scenario {
  const { method, path } = coreEndpoints.find((one) => one.id === endpoint)!;
  const { ids = () => ({}), query = '', ...more } = rest;
  const named = (): Record<string, string> => ({ namespace: 'ns', project: 'p', conversation_id: id, ...ids() });
  return { name, method, path: () => path.replaceAll(/\{(\w+)\}/g, (_, part: string) => named()[part]!) + query, ...more };
}
const turn = (name: string, body: object | (() => object), rest: Partial<Scenario> = {}): Scenario =>
  row('conversation_turn', name, { body: typeof body === 'function' ? body : () => body, ...rest });
/** What the events of a turn say: its beginning, its chunks and its message. */
function told(events: readonly string[]): { begun: Body; chunks: Body[]; message: Message } {
  assert.equal(events.at(-1), '[DONE]');
  const [begun, ...rest] = events.slice(0, -1).map((event) => JSON.parse(event) as Body);
  return { begun, chunks: rest.slice(0, -1), message: rest.at(-1) };
}

const LIFE: Scenario[] = [
  { name: 'begins with none', path: LIST, json: (body) => assert.deepEqual(body, { conversations: [], next: null, total: 0 }) },
  {
    name: 'creates one',
    method: 'POST',
    path: LIST,
    body: { settings: { temperature: 0, max_tokens: 200 } },
    status: 201,
    json: ({ conversation }) => {
      id = conversation.id;
      assert.match(id, /^conv_[\w-]{22}$/);
      assert.deepEqual(
        [conversation.title, conversation.messages, conversation.current, conversation.settings],
        ['', 0, null, { temperature: 0, max_tokens: 200 }],
      );
    },
  },
  turn(
    'asks in it',
    { message: { content: 'hello there' } },
    {
      answerHeaders: { 'content-type': /^text\/event-stream/ },
      json: (_body, { events, text }) => {
        assert.match(text, /^event: turn\ndata: /);
        assert.match(text, /\n\nevent: message\ndata: [^\n]+\n\ndata: \[DONE\]\n\n$/);
        const { begun, chunks, message } = told(events);
        question = begun.user;
        answer = message;
        assert.equal(begun.conversation.title, 'hello there');
        assert.deepEqual([question.role, question.content, question.parent], ['user', 'hello there', null]);
        assert.deepEqual(begun.assistant, { id: answer.id, parent: question.id });
        assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), HELLO);
        assert.ok(chunks.every((chunk) => chunk.object === 'chat.completion.chunk'));
        assert.equal(answer.content, HELLO);
        assert.deepEqual([answer.status, answer.finish_reason, answer.model], ['done', 'stop', 'm']);
        const { usage } = answer;
        assert.ok(usage!.prompt_tokens > 0 && usage!.completion_tokens > 0 && usage!.first_token_ms! > 0 && usage!.context_size! > 0);
        assert.equal(usage!.context_tokens, usage!.prompt_tokens + usage!.completion_tokens);
        assert.match(answer.event_id!, /^evt_/);
      },
    },
  ),
  row('conversation_read', 'reads the tree', {
    json: (body) => {
      assert.deepEqual(body.messages, [question, answer]);
      assert.deepEqual([body.conversation.current, body.conversation.messages, body.next], [answer.id, 2, null]);
    },
  }),
  row('conversation_read', 'and in pages', {
    query: '?limit=1&from=1',
    json: (body) => assert.deepEqual([body.messages, body.next], [[answer], null]),
  }),
  turn('answers again beside the answer', () => ({ parent: question.id, regenerate: true }), {
    json: (_body, { events }) => {
      const { begun, message } = told(events);
      assert.equal(begun.user, undefined);
      assert.deepEqual([message.parent, message.content], [question.id, HELLO]);
      assert.notEqual(message.id, answer.id);
    },
  }),
  turn(
    'takes an edited question beside the first',
    { parent: null, message: { content: 'count' }, settings: { max_tokens: 5 } },
    {
      json: (_body, { events }) => {
        const { begun, message } = told(events);
        assert.equal(begun.user.parent, null);
        assert.deepEqual([message.status, message.finish_reason], ['done', 'length']);
        answer = message;
      },
    },
  ),
  turn('writes an answer on', () => ({ continue: answer.id }), {
    json: (_body, { events }) => {
      const { message } = told(events);
      assert.equal(message.id, answer.id);
      // In the middle of what it says the puppet has no more to say; "answers that go on" has a model that goes on anywhere.
      assert.deepEqual([message.content, message.finish_reason], [answer.content, 'stop']);
    },
  }),
  row('conversation_turn', 'keeps what was thought', {
    body: { message: { content: 'ponder this' }, settings: { think: true } },
    json: (_body, { events }) => {
      const { message } = told(events);
      assert.equal(message.content, PUPPET_SCRIPTS.think.answer);
      assert.match(message.thinking ?? '', /Two and two make four/);
    },
  }),
  turn(
    'takes files beside a question',
    {
      message: {
        content: 'hello',
        attachments: [{ name: '../a".txt', media_type: 'text/html', url: 'data:text/html;base64,PGI+aGk8L2I+' }],
      },
    },
    {
      json: (_body, { events }) => {
        const { begun, message } = told(events);
        file = begun.user.attachments[0];
        assert.deepEqual([file.name, message.content], ['../a".txt', HELLO]);
      },
    },
  ),
  row('conversation_file', 'and gives them back so that no browser runs them', {
    ids: () => ({ attachment_id: file.url.slice(file.url.lastIndexOf('/') + 1) }),
    answerHeaders: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename=".._a_.txt"; filename*=UTF-8''..%2Fa%22.txt`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    },
    contains: ['<b>hi</b>'],
  }),
  row('conversation_change', 'renames, pins and sets up', {
    body: () => ({ title: 'Greetings', pinned: true, settings: { temperature: null, seed: 3 }, current: question.id }),
    json: ({ conversation }) => {
      assert.deepEqual([conversation.title, conversation.pinned, conversation.current], ['Greetings', true, question.id]);
      assert.deepEqual(conversation.settings, { max_tokens: 200, seed: 3 });
    },
  }),
  row('conversation_message_edit', 'edits an answer in place', {
    ids: () => ({ message_id: answer.id }),
    body: { content: 'Something else.' },
    json: ({ message }) => assert.deepEqual([message.content, message.edited], ['Something else.', true]),
  }),
  row('conversation_message_edit', 'edits no question in place', {
    ids: () => ({ message_id: question.id }),
    body: { content: 'x' },
    status: 400,
    contains: ['is no answer'],
  }),
  row('conversation_message_delete', 'deletes a message and what hangs below it', {
    ids: () => ({ message_id: question.id }),
    json: ({ conversation }) => assert.equal(conversation.current, null),
  }),
  row('conversation_read', 'which leaves the other branch', {
    json: ({ messages, conversation }) => {
      assert.deepEqual(
        messages.map((one: Message) => one.content),
        ['count', 'Something else.', 'ponder this', PUPPET_SCRIPTS.think.answer, 'hello', HELLO],
      );
      assert.equal(conversation.messages, 6);
    },
  }),
  row('conversation_stop', 'stops nothing where nothing runs', {
    json: (body) => assert.deepEqual(body, { stopped: false }),
  }),
  { name: 'lists it', path: LIST, json: ({ conversations, total }) => assert.deepEqual([conversations[0].id, total], [id, 1]) },
  row('conversation_delete', 'deletes it', { contains: ['deleted'] }),
  row('conversation_read', 'after which it is gone', { status: 404, contains: ['There is no conversation'] }),
];

const LINES = drawn([[12, 0, 'The valve EV-220 opens at nine.']]);
/** A row that has a document read for a message. */
const document = (name: string, content: Uint8Array | string, rest: Partial<Scenario>): Scenario =>
  row('conversation_document_read', `reads ${name}`, { ...formOf([['file', name, content]]), ...rest });

const DOCUMENTS: Scenario[] = [
  document('notes.docx', docx(wordParagraph('The mill grinds at dawn.')), {
    json: (body) =>
      assert.deepEqual(body, {
        name: 'notes.docx',
        media_type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        text: 'The mill grinds at dawn.',
        warnings: [],
      }),
  }),
  document('plan.pdf', pdf([LINES, '0 0 10 10 re f']), {
    json: ({ text, media_type, warnings }) => {
      assert.deepEqual([media_type, text.trim()], ['application/pdf', 'The valve EV-220 opens at nine.']);
      assert.match(warnings.join(), /no text layer/);
    },
  }),
  document('scan.pdf', pdf(['0 0 10 10 re f']), { status: 422, contains: ['scan.pdf holds no text', 'has no text layer'] }),
  document('locked.pdf', lockedPdf(LINES, 'secret'), { status: 422, contains: ['locked.pdf is protected with a password'] }),
  document('torn.docx', docx('').slice(0, 200), { status: 422, contains: ['torn.docx'] }),
  document('long.txt', 'many words '.repeat(100_000), { status: 413, contains: ['more than 1000000 characters', 'Add it to a dataset'] }),
  document('huge.pdf', Buffer.alloc(12 * 1024 * 1024 + 1), { status: 413, contains: ['huge.pdf'] }),
  row('conversation_document_read', 'reads none without a file', { ...formOf([]), status: 422 }),
  row('conversation_document_read', 'reads none for a project that is not there', {
    ...formOf([['file', 'a.txt', 'x']]),
    ids: () => ({ project: 'nowhere' }),
    status: 404,
  }),
];

scenarios(
  'documents of messages',
  { endpoints: coreEndpoints, context: () => openedRuntime(conversationData()), close: (runtime) => runtime.close() },
  DOCUMENTS,
);

/** A project with a model that goes on with any text. */
function wordsData(): string {
  const dataDir = conversationData();
  writeProject(dataDir, 'ns', 'p', 'version: v1\nruntime: {models: [{name: m, provider: universal, model: quern-tiny}]}\n');
  return dataDir;
}
const ASKED = { content: 'Write a story about a mill.' };
let whole = '';

scenarios(
  'answers that go on',
  { endpoints: coreEndpoints, context: () => openedRuntime(wordsData()), close: (runtime) => runtime.close() },
  [
    {
      name: 'begin in a conversation',
      method: 'POST',
      path: LIST,
      body: { settings: { temperature: 0, max_tokens: 60 } },
      status: 201,
      json: ({ conversation }) => {
        id = conversation.id;
      },
    },
    turn(
      'are whole',
      { message: ASKED },
      {
        json: (_body, { events }) => {
          whole = told(events).message.content;
        },
      },
    ),
    turn(
      'are cut',
      { parent: null, message: ASKED, settings: { max_tokens: 8 } },
      {
        json: (_body, { events }) => {
          answer = told(events).message;
          assert.equal(answer.finish_reason, 'length');
          assert.ok(whole.startsWith(answer.content) && whole.length > answer.content.length);
        },
      },
    ),
    turn('and go on from their last letter', () => ({ continue: answer.id }), {
      json: (_body, { events }) => assert.equal(told(events).message.content, whole),
    }),
  ],
);

scenarios(
  'conversations',
  { endpoints: coreEndpoints, context: () => openedRuntime(conversationData()), close: (runtime) => runtime.close() },
  LIFE,
);
