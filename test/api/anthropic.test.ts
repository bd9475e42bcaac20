import assert from 'node:assert/strict';
import { compatStage } from '../support/compat-stage.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;
type Rest = Omit<Scenario, 'name' | 'path' | 'body'>;

const PATH = '/v1/messages';
const user = (content: unknown) => [{ role: 'user', content }];
const message = (name: string, content: unknown, more: object, rest: Rest = {}): Scenario => ({
  name,
  method: 'POST',
  path: PATH,
  body: { model: 'puppet', max_tokens: 200, messages: user(content), ...more },
  ...rest,
});
const TOOL = { name: 'get_weather', description: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } };
const HELLO = PUPPET_SCRIPTS.hello.answer;
const framesOf = (answer: { events: readonly string[] }): Answer[] => answer.events.map((event) => JSON.parse(event));

/** The order in which Anthropic's clients read events: a start, blocks one after the other, the end. */
function assertOrder(frames: Answer[]): void {
  const kinds = frames.map(({ type }) => type).filter((type) => type !== 'ping');
  assert.equal(kinds[0], 'message_start');
  assert.deepEqual(kinds.slice(-2), ['message_delta', 'message_stop']);
  let open: number | undefined;
  let next = 0;
  for (const { type, index } of frames) {
    if (type === 'content_block_start') {
      assert.deepEqual([open, index], [undefined, next]);
      open = index;
      next += 1;
    } else if (type === 'content_block_delta') assert.equal(index, open);
    else if (type === 'content_block_stop') {
      assert.equal(index, open);
      open = undefined;
    }
  }
  assert.equal(open, undefined);
}

const ANSWERS: Scenario[] = [
  message(
    'answers',
    'hello',
    {},
    {
      answerHeaders: { 'request-id': /./ },
      json: (body) => {
        assert.match(body.id, /^msg_[0-9a-f]{24}$/);
        assert.deepEqual(
          [body.type, body.role, body.model, body.stop_reason, body.stop_sequence],
          ['message', 'assistant', 'puppet', 'end_turn', null],
        );
        assert.deepEqual(body.content, [{ type: 'text', text: HELLO }]);
        assert.ok(body.usage.input_tokens > 0 && body.usage.output_tokens > 0);
      },
    },
  ),
  message(
    'reads blocks, and a system prompt in parts',
    [{ type: 'text', text: 'hello', cache_control: { type: 'ephemeral' } }],
    {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      metadata: { user_id: 'a' },
    },
    { contains: [HELLO] },
  ),
  message(
    'streams',
    'hello',
    { stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertOrder(frames);
        assert.equal(frames.map((frame) => frame.delta?.text ?? '').join(''), HELLO);
        const [{ message: begin }] = frames;
        assert.ok(begin.usage.input_tokens > 0);
        assert.deepEqual(frames.at(-2).delta, { stop_reason: 'end_turn', stop_sequence: null });
        assert.ok(frames.at(-2).usage.output_tokens > 0);
        assert.match(answer.text, /^event: message_start\ndata: \{/);
      },
    },
  ),
  message(
    'ends at a stop sequence, which it names',
    'stops',
    { stop_sequences: ['NEVER', 'STOPPED'] },
    {
      json: (body) =>
        assert.deepEqual([body.content[0].text, body.stop_reason, body.stop_sequence], ['alpha beta ', 'stop_sequence', 'STOPPED']),
    },
  ),
  message(
    'in a stream too',
    'stops',
    { stop_sequences: ['STOPPED'], stream: true },
    {
      contains: ['"delta":{"stop_reason":"stop_sequence","stop_sequence":"STOPPED"}'],
    },
  ),
  message(
    'ends at max_tokens',
    'count',
    { max_tokens: 4 },
    {
      json: (body) => assert.deepEqual([body.stop_reason, body.usage.output_tokens], ['max_tokens', 4]),
    },
  ),
  message(
    'thinks in blocks of their own',
    'ponder',
    { thinking: { type: 'enabled', budget_tokens: 100 } },
    {
      json: ({ content }) => {
        assert.deepEqual(
          content.map((block: Answer) => block.type),
          ['thinking', 'text'],
        );
        assert.match(content[0].thinking, /Two and two make four/);
        assert.equal(content[0].signature, '');
        assert.equal(content[1].text, PUPPET_SCRIPTS.think.answer);
      },
    },
  ),
  message(
    'which stream before the answer',
    'ponder',
    { thinking: { type: 'enabled', budget_tokens: 100 }, stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertOrder(frames);
        assert.deepEqual(
          frames.flatMap((frame) => frame.content_block?.type ?? []),
          ['thinking', 'text'],
        );
        assert.match(frames.map((frame) => frame.delta?.thinking ?? '').join(''), /Two and two make four/);
        assert.ok(frames.some((frame) => frame.delta?.type === 'signature_delta'));
      },
    },
  ),
  message(
    'calls a tool',
    'weather',
    { tools: [TOOL] },
    {
      json: (body) => {
        const [call] = body.content;
        assert.match(call.id, /^toolu_[0-9a-f]{32}$/);
        assert.deepEqual([call.type, call.name, call.input, body.stop_reason], ['tool_use', 'get_weather', { city: 'Paris' }, 'tool_use']);
      },
    },
  ),
  message(
    'streams a call with the text before it',
    'forecast',
    { tools: [TOOL], stream: true },
    {
      json: (_body, answer) => {
        const frames = framesOf(answer);
        assertOrder(frames);
        assert.deepEqual(
          frames.flatMap((frame) => frame.content_block?.type ?? []),
          ['text', 'tool_use'],
        );
        assert.deepEqual(JSON.parse(frames.map((frame) => frame.delta?.partial_json ?? '').join('')), { city: 'Oslo' });
        assert.equal(frames.at(-2).delta.stop_reason, 'tool_use');
      },
    },
  ),
  message(
    'calls a tool that it is told to call',
    'hello',
    { tools: [TOOL], tool_choice: { type: 'tool', name: 'get_weather' } },
    {
      json: ({ content }) => assert.equal(content[0].name, 'get_weather'),
    },
  ),
  message(
    'calls any tool',
    'hello',
    { tools: [TOOL], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    {
      json: ({ content }) =>
        assert.deepEqual(
          content.map((block: Answer) => block.type),
          ['tool_use'],
        ),
    },
  ),
  message(
    'calls none',
    'weather',
    { tools: [TOOL], tool_choice: { type: 'none' } },
    { json: ({ stop_reason: reason }) => assert.equal(reason, 'end_turn') },
  ),
  message(
    'reads the result of a tool',
    'weather',
    {
      tools: [TOOL],
      messages: [
        ...user('weather'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'a', signature: 'b' },
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
          ],
        },
        ...user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '21 degrees' }] }]),
      ],
    },
    { contains: [PUPPET_TOOL_ANSWERS.get_weather.answer.slice(0, 10)] },
  ),
  message(
    'holds an answer to a schema',
    'hello',
    { output_config: { format: { type: 'json_schema', schema: { enum: ['yes', 'no'] } } } },
    {
      json: ({ content }) => assert.match(content[0].text, /^"(yes|no)"$/),
    },
  ),
  {
    name: 'counts the tokens of a prompt, tools among them',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    body: { model: 'puppet', messages: user('hello'), tools: [TOOL] },
    json: async (body) => assert.ok(body.input_tokens > 50, JSON.stringify(body)),
  },
];

const begunMessages = (content: unknown) => [...user('Write a story about a mill.'), { role: 'assistant', content }];
const STORY = { model: 'quern-tiny', temperature: 0, max_tokens: 60 };
const ASKED = user('Write a story about a mill.');
let whole = '';
/** A conversation that ends in the first words of that story, and what is behind them. */
const begunStory = (content: (text: string) => unknown = (text) => text) => [
  ...ASKED,
  { role: 'assistant', content: content(firstWords()) },
];
const firstWords = (): string => whole.split(' ').slice(0, 6).join(' ');
const restOf = (text: string): void => assert.ok(text.length > 20 && whole.startsWith(firstWords() + text), JSON.stringify([whole, text]));
const begun = (name: string, body: () => object, rest: Rest): Scenario => ({ name, method: 'POST', path: PATH, body, ...rest });
let counted = 0;

/** A last message of the assistant is the beginning of the answer; the puppet has nothing to say in the middle of its script. */
const BEGUN: Scenario[] = [
  begun('tells a story', () => ({ ...STORY, messages: ASKED }), {
    json: ({ content }) => {
      whole = content[0].text;
    },
  }),
  begun('goes on in what is begun of it, and tells what is new', () => ({ ...STORY, max_tokens: 30, messages: begunStory() }), {
    json: ({ content, stop_reason: reason }) => {
      assert.deepEqual([content.length, reason], [1, 'max_tokens']);
      restOf(content[0].text);
    },
  }),
  begun(
    'in blocks too, without thinking where that is left to the model, and with tools',
    () => ({
      ...STORY,
      max_tokens: 30,
      thinking: { type: 'adaptive' },
      tools: [TOOL],
      tool_choice: { type: 'none' },
      messages: begunStory((text) => [
        { type: 'thinking', thinking: 'so', signature: '' },
        { type: 'text', text: text.slice(0, 9) },
        { type: 'text', text: text.slice(9) },
      ]),
    }),
    { json: ({ content }) => restOf(content[0].text) },
  ),
  begun('in a stream', () => ({ ...STORY, max_tokens: 30, stream: true, messages: begunStory() }), {
    json: (_body, answer) => {
      const frames = framesOf(answer);
      assertOrder(frames);
      restOf(frames.map((frame) => frame.delta?.text ?? '').join(''));
    },
  }),
  begun('begins in an empty message', () => ({ ...STORY, messages: [...ASKED, { role: 'assistant', content: '' }] }), {
    json: ({ content }) => assert.equal(content[0].text, whole),
  }),
  begun(
    'calls a tool behind it',
    () => ({ model: 'puppet', max_tokens: 200, tools: [TOOL], tool_choice: { type: 'any' }, messages: begunMessages('Let me see.') }),
    { json: ({ content }) => assert.deepEqual([content.length, content[0].type, content[0].name], [1, 'tool_use', 'get_weather']) },
  ),
  ...[ASKED, begunMessages('Once upon a time')].map(
    (messages, at): Scenario => ({
      name: at === 0 ? 'counts a question' : 'and what is begun behind it',
      method: 'POST',
      path: '/v1/messages/count_tokens',
      body: { model: 'puppet', messages },
      json: ({ input_tokens: tokens }) => {
        // A message of its own would have marks around it.
        if (at > 0) assert.ok(tokens > counted && tokens <= counted + 'Once upon a time'.length, `${counted} ${tokens}`);
        counted = tokens;
      },
    }),
  ),
];

const inShape = (type: string) => (body: Answer) => {
  assert.deepEqual(Object.keys(body).sort(), ['error', 'request_id', 'type']);
  assert.deepEqual([body.type, body.error.type, typeof body.error.message, typeof body.request_id], ['error', type, 'string', 'string']);
};
/** A text is the body as it is. */
const NOWHERE: Scenario[] = [
  { name: 'tells in its shape that nothing is there', path: `${PATH}/nothing`, status: 404 },
  { name: 'and that another method is', path: PATH, status: 405 },
].map((row) => ({ ...row, json: ({ type, error }: Answer) => assert.deepEqual([type, typeof error.type], ['error', 'string']) }));

const refused = (name: string, more: object | string, text: string, status = 400, type = 'invalid_request_error'): Scenario => ({
  name,
  method: 'POST',
  path: PATH,
  headers: { 'content-type': 'application/json' },
  body: typeof more === 'string' ? more : { model: 'puppet', max_tokens: 20, messages: user('hello'), ...more },
  status,
  contains: [text],
  json: inShape(type),
});

const CALLED = [...user('weather'), { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }] }];
const RESULT = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sun' };

const REFUSED: Scenario[] = [
  refused(
    'an unknown model in its words',
    { model: 'claude-nowhere' },
    'model: claude-nowhere not found: it is not on this machine',
    404,
    'not_found_error',
  ),
  refused(
    'tool servers',
    { mcp_servers: [{ type: 'url', name: 'a', url: 'https://a' }] },
    'mcp_servers: tool servers are called by projects',
  ),
  refused('a container', { container: 'container_1' }, 'container: code runs in containers on Anthropic'),
  ...[{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }].map((thread) =>
    refused(
      'a conversation that is kept, in a way by which the SDKs send all of it',
      { thread },
      '"error_code":"thread_unsupported_request"',
    ),
  ),
  refused('no messages', { messages: [] }, 'messages'),
  refused('a role that is none', { messages: [{ role: 'system', content: 'a' }] }, 'role'),
  refused('no max_tokens', { max_tokens: undefined }, 'max_tokens'),
  refused('a wrong type', { max_tokens: 'many' }, 'max_tokens'),
  refused('a block of an unknown type', { messages: user([{ type: 'video' }]) }, 'type'),
  refused('a result without a call', { messages: user([{ type: 'tool_result', content: 'a' }]) }, 'messages.0.content.0.tool_use_id'),
  refused('a result of no call', { messages: user([RESULT]) }, 'messages.0: tool_result \\"toolu_1\\" has no tool_use of this id'),
  refused('a second result of a call', { messages: [...CALLED, ...user([RESULT, RESULT])] }, 'or is its second result'),
  refused('a call without its result', { messages: [...CALLED, ...user('so?')] }, 'messages.1: tool_use \\"toolu_1\\" has no tool_result'),
  refused(
    'and one in the middle',
    { messages: [...CALLED, ...user('so?'), { role: 'assistant', content: 'a' }, ...user([RESULT])] },
    'messages.1: tool_use \\"toolu_1\\" has no tool_result',
  ),
  refused('a text without one', { messages: user([{ type: 'text' }]) }, 'messages.0.content.0.text: Field required'),
  refused('a message of nothing', { messages: user([]) }, 'messages.0.content: a message of the user has at least one block'),
  refused('a thought of the user', { messages: user([{ type: 'thinking', thinking: 'a' }]) }, 'only an assistant thinks'),
  refused(
    'a call of any tool of none',
    { tool_choice: { type: 'any' } },
    'tool_choice: type \\"any\\" has a tool called, and tools has none',
  ),
  refused('a call of a tool without a name', { tools: [TOOL], tool_choice: { type: 'tool' } }, 'tool_choice.name: Field required'),
  refused(
    'a result that is a picture',
    { messages: user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image' }] }]) },
    'not read here',
  ),
  refused("a tool of Anthropic's", { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, "runs on Anthropic's servers"),
  refused('a tool that is not there', { tools: [TOOL], tool_choice: { type: 'tool', name: 'other' } }, 'other'),
  refused('an adapter that is none', { lora: 'a.gguf' }, 'lora'),
  refused('an adapter in its extra_body', { extra_body: { lora_adapters: ['a.gguf'] } }, 'lora_adapters names'),
  refused('more thinking than tokens', { thinking: { type: 'enabled', budget_tokens: 20 } }, 'thinking.budget_tokens'),
  refused(
    'a picture that the model cannot see',
    { messages: user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }]) },
    'image_url',
  ),
  refused('a prompt that is too long', { messages: user('word '.repeat(20_000)) }, 'prompt is too long'),
  ...['Well ', [{ type: 'text', text: 'Well\n' }]].map((content) =>
    refused(
      'a beginning with white space behind it',
      { messages: begunMessages(content) },
      'final assistant content cannot end with trailing whitespace',
    ),
  ),
  refused(
    'a beginning that is a call',
    { messages: begunMessages([{ type: 'tool_use', id: 'toolu_1', name: 'a', input: {} }]) },
    'tool_use \\"toolu_1\\" has no tool_result',
  ),
  refused('a beginning of nothing', { messages: [{ role: 'assistant', content: 'Well' }] }, 'messages.0: there is nothing to answer'),
  refused(
    'a beginning that is to be thought about',
    { messages: begunMessages('Well'), max_tokens: 50, thinking: { type: 'enabled', budget_tokens: 20 } },
    'thinking: the answer goes on in messages.1',
  ),
  refused(
    'a beginning of an answer by a schema',
    { messages: begunMessages('Well'), output_config: { format: { type: 'json_schema', schema: {} } } },
    'output_config.format: the answer goes on in messages.1',
  ),
  refused('deep JSON', `{"model":"puppet","max_tokens":5,"messages":${'['.repeat(70)}${']'.repeat(70)}}`, 'deep'),
  refused('17 MB', { messages: user('a'.repeat(17 * 2 ** 20)) }, 'bytes', 413, 'request_too_large'),
];

const VERSION = { 'anthropic-version': '2023-06-01' };
const get = (name: string, path: string, rest: Rest): Scenario => ({ name, path, headers: VERSION, ...rest });

/** Paths that OpenAI's clients use too. */
const SHARED: Scenario[] = [
  get('lists the models that answer chats', '/v1/models', {
    json: (body) => {
      const ids = body.data.map(({ id }: Answer) => id);
      assert.ok(ids.includes('quern-tiny') && ids.includes('puppet') && !ids.includes('tiny/embedder'), ids.join());
      assert.deepEqual([body.has_more, body.first_id, body.last_id], [false, ids[0], ids.at(-1)]);
      for (const { type, id, display_name, created_at } of body.data)
        assert.deepEqual([type, display_name, new Date(created_at).toISOString()], ['model', id, created_at]);
    },
  }),
  get('tells of a model', '/v1/models/quern-tiny', { json: ({ type, id }) => assert.deepEqual([type, id], ['model', 'quern-tiny']) }),
  get('tells of none that answers no chats', '/v1/models/tiny/embedder', { status: 404, json: inShape('not_found_error') }),
  get('tells of none that is not there', '/v1/models/nowhere', { status: 404, json: inShape('not_found_error') }),
  get('names a path where nothing is', '/v1/messages/batches', { status: 404, json: inShape('not_found_error') }),
  get('names a path that nobody knows', '/v1/skills', { status: 404, json: inShape('not_found_error') }),
];

scenarios("Anthropic's API", compatStage(), [...ANSWERS, ...BEGUN, ...NOWHERE, ...REFUSED, ...SHARED]);
scenarios("Anthropic's API with a key", { ...compatStage(), access: { apiKey: 'secret-key' } }, [
  { ...refused('wants it', {}, 'API key', 401, 'authentication_error') },
  message('takes it as x-api-key', 'hello', {}, { headers: { 'x-api-key': 'secret-key', 'anthropic-version': '2023-06-01' } }),
]);
