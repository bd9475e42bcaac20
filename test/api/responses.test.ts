import assert from 'node:assert/strict';
import { compatStage } from '../support/compat-stage.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;
type Rest = Omit<Scenario, 'name' | 'path' | 'body'>;

const PATH = '/v1/responses';
const COUNT = '/v1/responses/input_tokens';
/** Members that are functions are asked when the row's turn comes. */
const respond = (name: string, input: unknown, more: object | (() => object) = {}, rest: Rest = {}): Scenario => ({
  name,
  method: 'POST',
  path: PATH,
  body: () => ({ model: 'puppet', input, ...(typeof more === 'function' ? more() : more) }),
  ...rest,
});
const TOOL = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};
const HELLO = PUPPET_SCRIPTS.hello.answer;
const framesOf = (answer: { events: readonly string[] }): Answer[] => answer.events.map((event) => JSON.parse(event));
const textOf = (body: Answer): string =>
  body.output
    .flatMap((item: Answer) => item.content ?? [])
    .map((part: Answer) => part.text)
    .join('');
/** An answer that is streamed, and told again from where it is stored: whole, and behind each of two of its events. */
function toldAgain(name: string, input: string, more: object): Scenario[] {
  let frames: Answer[] = [];
  const again = (after?: () => number): Scenario => ({
    name: `tells ${name} again${after ? ' from where it broke' : ''}`,
    path: () => `${PATH}/${frames.at(-1).response.id}?stream=true${after ? `&starting_after=${after()}` : ''}`,
    json: (_body, answer) => assert.deepEqual(framesOf(answer), frames.slice(after ? after() + 1 : 0)),
  });
  const streamed: Rest = {
    json: (_body, answer) => {
      frames = framesOf(answer);
      assertEvents(frames, frames.at(-1).type);
    },
  };
  return [
    respond(`streams ${name}`, input, { ...more, stream: true }, streamed),
    again(),
    again(() => Math.floor(frames.length / 2)),
    again(() => frames.length - 2),
  ];
}

const STORY = 'Write a story about a mill.';
const STORIES = { model: 'quern-tiny', temperature: 0, max_output_tokens: 30 };
let story = '';
const firstWords = (): string => story.split(' ').slice(0, 6).join(' ');
let first: Answer;
let call: Answer;
let last: Answer;

/** Events are numbered, begin and end alike, and each item is told before its pieces. */
function assertEvents(frames: Answer[], end = 'response.completed'): void {
  assert.deepEqual(
    frames.map((frame) => frame.sequence_number),
    frames.map((_frame, index) => index),
  );
  assert.deepEqual(
    frames.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  );
  assert.equal(frames.at(-1).type, end);
  const known = new Set<string>();
  for (const { type, item, item_id: id } of frames) {
    if (type === 'response.output_item.added') known.add(item.id);
    else if (id !== undefined) assert.ok(known.has(id), `${type} of ${id}`);
  }
}

const ANSWERS: Scenario[] = [
  respond(
    'answers a text',
    'hello',
    { instructions: 'Be brief.', metadata: { a: 'b' } },
    {
      json: (body) => {
        first = body;
        assert.match(body.id, /^resp_[0-9a-f]{36}$/);
        assert.deepEqual(
          [body.object, body.status, body.model, body.error, body.incomplete_details],
          ['response', 'completed', 'puppet', null, null],
        );
        const [item] = body.output;
        assert.match(item.id, /^msg_/);
        assert.deepEqual([item.type, item.role, item.status], ['message', 'assistant', 'completed']);
        assert.deepEqual(item.content, [{ type: 'output_text', text: HELLO, annotations: [], logprobs: [] }]);
        assert.ok(body.usage.input_tokens > 0 && body.usage.output_tokens > 0 && body.usage.total_tokens > 0);
        assert.deepEqual([body.metadata, body.store, body.instructions], [{ a: 'b' }, true, 'Be brief.']);
      },
    },
  ),
  {
    name: 'counts what it was asked with',
    method: 'POST',
    path: COUNT,
    body: { model: 'puppet', input: 'hello', instructions: 'Be brief.' },
    json: (body) => assert.deepEqual(body, { object: 'response.input_tokens', input_tokens: first.usage.input_tokens }),
  },
  {
    name: 'counts the turns before with it',
    method: 'POST',
    path: COUNT,
    body: () => ({ model: 'puppet', input: 'hello', previous_response_id: first.id }),
    json: (body) => assert.ok(body.input_tokens > first.usage.input_tokens, JSON.stringify(body)),
  },
  {
    name: 'counts no conversation',
    method: 'POST',
    path: COUNT,
    body: { model: 'puppet', input: 'hello', conversation: 'conv_1' },
    status: 400,
    contains: ['conversations are not kept here'],
  },
  { name: 'keeps the answer', path: () => `${PATH}/${first.id}`, json: (body) => assert.deepEqual(body, first) },
  {
    name: 'and what it was asked',
    path: () => `${PATH}/${first.id}/input_items`,
    json: (body) => {
      assert.equal(body.has_more, false);
      assert.deepEqual(
        body.data.map((item: Answer) => [item.type, item.role, item.content[0].text]),
        [['message', 'user', 'hello']],
      );
      assert.equal(body.first_id, body.data[0].id);
    },
  },
  {
    name: 'but nothing behind an item that it was not asked',
    path: () => `${PATH}/${first.id}/input_items?after=bogus`,
    status: 400,
    contains: ['has no such item'],
  },
  respond(
    'keeps none whose body is too long to keep, also where no header told its length',
    'hello',
    { unknown: 'a'.repeat(5 * 2 ** 20) },
    { json: (body) => assert.equal(body.store, false) },
  ),
  respond('goes on from an answer', 'count', () => ({ previous_response_id: first.id, max_output_tokens: 3 }), {
    json: (body) => {
      assert.equal(body.previous_response_id, first.id);
      assert.deepEqual([body.status, body.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
      assert.ok(body.usage.input_tokens > first.usage.input_tokens + 10);
    },
  }),
  respond(
    'keeps none that is not to be kept',
    'hello',
    { store: false },
    {
      json: (body) => {
        last = body;
      },
    },
  ),
  { name: 'which is not there then', path: () => `${PATH}/${last.id}`, status: 404, contains: ['response_not_found'] },
  respond(
    'reads items of every kind',
    [
      { type: 'message', role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { type: 'reasoning', id: 'rs_x', summary: [] },
      {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'two' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { role: 'user', content: 'hello' },
    ],
    {},
    { contains: [HELLO] },
  ),
  respond(
    'streams',
    'hello',
    { stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertEvents(frames);
        assert.equal(frames.map((frame) => (frame.type === 'response.output_text.delta' ? frame.delta : '')).join(''), HELLO);
        for (const type of [
          'response.output_item.added',
          'response.content_part.added',
          'response.output_text.done',
          'response.content_part.done',
          'response.output_item.done',
        ])
          assert.equal(frames.filter((frame) => frame.type === type).length, 1, type);
        last = frames.at(-1).response;
        assert.equal(textOf(last), HELLO);
        assert.match(answer.text, /^event: response\.created\ndata: \{/);
      },
    },
  ),
  { name: 'keeps a streamed answer', path: () => `${PATH}/${last.id}`, json: (body) => assert.deepEqual(body, last) },
  respond(
    'goes on from items by their ids',
    'hello',
    () => ({
      input: [
        { type: 'item_reference', id: last.output[0].id },
        { role: 'user', content: 'hello' },
      ],
    }),
    { contains: [HELLO] },
  ),
  respond(
    'thinks in an item of its own',
    'ponder',
    { reasoning: { effort: 'medium' } },
    {
      json: (body) => {
        assert.deepEqual(
          body.output.map((item: Answer) => item.type),
          ['reasoning', 'message'],
        );
        assert.match(body.output[0].content[0].text, /Two and two make four/);
        assert.ok(body.usage.output_tokens_details.reasoning_tokens > 0);
      },
    },
  ),
  respond(
    'or as a summary',
    'ponder',
    { reasoning: { effort: 'low', summary: 'auto' }, stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertEvents(frames);
        assert.match(
          frames.map((frame) => (frame.type === 'response.reasoning_summary_text.delta' ? frame.delta : '')).join(''),
          /Two and two/,
        );
        assert.equal(frames.at(-1).response.output[1].content[0].text, PUPPET_SCRIPTS.think.answer);
      },
    },
  ),
  respond(
    'calls a tool',
    'weather',
    { tools: [TOOL] },
    {
      json: (body) => {
        call = body;
        const [item] = body.output;
        assert.deepEqual(
          [item.type, item.name, JSON.parse(item.arguments), item.status],
          ['function_call', 'get_weather', { city: 'Paris' }, 'completed'],
        );
        assert.match(item.call_id, /^call_/);
      },
    },
  ),
  respond(
    'streams a call with the text before it',
    'forecast',
    { tools: [TOOL], stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertEvents(frames);
        assert.deepEqual(
          frames.at(-1).response.output.map((item: Answer) => item.type),
          ['message', 'function_call'],
        );
        const text = frames.map((frame) => (frame.type === 'response.function_call_arguments.delta' ? frame.delta : '')).join('');
        assert.deepEqual(JSON.parse(text), { city: 'Oslo' });
      },
    },
  ),
  respond(
    'reads the output of a call that is stored',
    [],
    () => ({
      previous_response_id: call.id,
      tools: [TOOL],
      input: [{ type: 'function_call_output', call_id: call.output[0].call_id, output: '21 degrees' }],
    }),
    { contains: [PUPPET_TOOL_ANSWERS.get_weather.answer] },
  ),
  respond(
    'and of one that is sent',
    [],
    () => ({
      tools: [TOOL],
      input: [
        { role: 'user', content: 'weather' },
        ...call.output,
        { type: 'function_call_output', call_id: call.output[0].call_id, output: [{ type: 'input_text', text: '21' }] },
      ],
    }),
    { contains: [PUPPET_TOOL_ANSWERS.get_weather.answer] },
  ),
  respond(
    'calls the tool that it is told to call',
    'hello',
    { tools: [TOOL], tool_choice: { type: 'function', name: 'get_weather' } },
    {
      json: ({ output }) => assert.equal(output[0].name, 'get_weather'),
    },
  ),
  respond(
    'holds an answer to a schema',
    'hello',
    { text: { format: { type: 'json_schema', name: 'x', schema: { enum: ['yes', 'no'] }, strict: true } } },
    {
      json: (body) => assert.match(textOf(body), /^"(yes|no)"$/),
    },
  ),
  respond(
    'tells logprobs',
    'hello',
    { include: ['message.output_text.logprobs'], top_logprobs: 1, max_output_tokens: 2 },
    {
      json: ({ output }) => assert.equal(output[0].content[0].logprobs.length, 2),
    },
  ),
  respond(
    'tells a story',
    STORY,
    { ...STORIES, max_output_tokens: 60 },
    {
      json: (body) => {
        story = textOf(body);
      },
    },
  ),
  {
    ...respond('goes on in a last message of the assistant where that is asked for', '', STORIES, {
      json: (body) => assert.ok(textOf(body).length > 20 && story.startsWith(firstWords() + textOf(body)), textOf(body)),
    }),
    body: () => ({
      ...STORIES,
      input: [
        { role: 'user', content: STORY },
        { role: 'assistant', content: [{ type: 'output_text', text: firstWords() }] },
      ],
      extra_body: { continue_final_message: true },
    }),
  },
  ...toldAgain('a text with its logprobs', 'hello', { include: ['message.output_text.logprobs'], top_logprobs: 1 }),
  ...toldAgain('a thought', 'ponder', { reasoning: { effort: 'medium' } }),
  ...toldAgain('a summary of it', 'ponder', { reasoning: { effort: 'low', summary: 'auto' } }),
  ...toldAgain('a text and a call', 'forecast', { tools: [TOOL] }),
  ...toldAgain('an answer that was cut', 'count', { max_output_tokens: 3 }),
  {
    name: 'tells an answer as events that was not streamed',
    path: () => `${PATH}/${call.id}?stream=true`,
    json: (_body, answer) => {
      const frames = framesOf(answer);
      assertEvents(frames);
      assert.deepEqual(frames.at(-1).response, call);
    },
  },
  { name: 'tells no events of none', path: `${PATH}/resp_none?stream=true`, status: 404, contains: ['response_not_found'] },
  { name: 'tells none from before the first', path: () => `${PATH}/${call.id}?stream=true&starting_after=-1`, status: 422 },
  {
    name: 'removes an answer',
    method: 'DELETE',
    path: () => `${PATH}/${first.id}`,
    json: (body) => assert.deepEqual(body, { id: first.id, object: 'response', deleted: true }),
  },
  respond('from which nobody goes on then', 'hello', () => ({ previous_response_id: first.id }), {
    status: 404,
    contains: ['response_not_found', first?.id ?? 'resp_'],
  }),
  {
    name: 'has nothing to cancel in a whole answer',
    method: 'POST',
    path: () => `${PATH}/${last.id}/cancel`,
    status: 400,
    contains: ['is complete'],
  },
  { name: 'nor in none', method: 'POST', path: `${PATH}/resp_none/cancel`, status: 404 },
  { name: 'asks nothing of none', path: '/v1/responses/resp_none/input_items', status: 404 },
];

const refused = (name: string, more: object, text: string, status = 422): Scenario => ({
  ...respond(name, 'hello', more),
  status,
  contains: [text],
  json: ({ error }) => assert.deepEqual([typeof error.message, typeof error.type], ['string', 'string']),
});

const REFUSED: Scenario[] = [
  refused('an unknown model in its words', { model: 'gpt-none' }, 'The model `gpt-none` does not exist', 404),
  refused('no input', { input: undefined }, 'input is missing', 400),
  refused('an empty input', { input: [] }, 'input is empty', 400),
  refused('a role that is none', { input: [{ role: 'robot', content: 'a' }] }, 'role'),
  refused('a message without a role', { input: [{ type: 'message', content: 'a' }] }, 'input.0.role'),
  refused('a call without an id', { input: [{ type: 'function_call', name: 'a' }] }, 'input.0.call_id'),
  refused(
    'a result without a call',
    { input: [{ type: 'function_call_output', call_id: 'c1', output: 'a' }] },
    'input.0: no function_call with call_id \\"c1\\" stands before this output',
  ),
  refused('a part of an unknown type', { input: [{ role: 'user', content: [{ type: 'video' }] }] }, 'type'),
  refused("a tool of OpenAI's", { tools: [{ type: 'web_search' }] }, "runs on OpenAI's servers"),
  refused('an answer in the background', { background: true }, 'background is true', 400),
  refused('a conversation', { conversation: 'conv_1' }, 'conversation is given', 400),
  refused('a conversation by its object', { conversation: { id: 'conv_1' } }, 'conversation is given', 400),
  refused('an adapter', { extra_body: { lora: [{ path: 'none.gguf' }] } }, 'LoRA adapter \\"none.gguf\\" not found', 404),
  refused('an item that nobody has', { input: [{ type: 'item_reference', id: 'msg_none' }] }, 'item_not_found', 404),
  refused(
    'a picture that the model cannot see',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBO' }] }] },
    'image_url',
    400,
  ),
  refused(
    'a file that the model cannot read',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'data:text/plain;base64,YQ==', filename: 'a.txt' }] }] },
    'file',
    400,
  ),
  refused('a schema that is not there', { text: { format: { type: 'json_schema', name: 'a' } } }, 'text.format.schema'),
  refused('a wrong type', { max_output_tokens: 'many' }, 'max_output_tokens'),
  refused('a prompt that is too long', { input: 'word '.repeat(20_000) }, 'context', 400),
  refused('17 MB', { input: 'a'.repeat(17 * 2 ** 20) }, 'bytes', 413),
];

scenarios("OpenAI's responses", compatStage(), [...ANSWERS, ...REFUSED]);
