import {
  createRequestStateCodec,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** A picture of one pixel and a sound without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const PAUSE_MS = 50;

const text = (value: string) => ({ type: 'text' as const, text: value });
const said = (value: string) => ({ content: [text(value)] });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
const codec = createRequestStateCodec({ key: 'a key of a test, which is as long as a key has to be' });

/** A question to the user for one text. */
function question(message: string, member: string, type = 'string') {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [member]: { type } }, required: [member] } as never,
  });
}

interface Call {
  readonly given: Record<string, unknown>;
  readonly context: ServerContext;
  /** What the client answered to the questions of the round before, by their names. */
  readonly answers: Record<string, Record<string, unknown>>;
}

/** Asks for what is missing of `questions`, and answers by `answer` when all of it is there. */
const asking =
  (questions: Record<string, object>, answer: (call: Call) => object) =>
  async (call: Call): Promise<object> => {
    const hasAll = Object.keys(questions).every((name) => isAnswer(call.answers[name]));
    return hasAll ? answer(call) : inputRequired({ inputRequests: questions as never });
  };

function isAnswer(value: unknown): boolean {
  return value !== null && typeof value === 'object' && Object.keys(value).length > 0;
}

/** The same with a signed state, which the client must bring back. */
const askingWithState =
  (questions: Record<string, object>, answer: (call: Call) => object) =>
  async (call: Call): Promise<object> => {
    const state = call.context.mcpReq.requestState();
    if (state !== undefined && Object.keys(questions).every((name) => isAnswer(call.answers[name]))) return answer(call);
    return inputRequired({ inputRequests: questions as never, requestState: await codec.mint({ round: 1 }) });
  };

async function twoRounds({ answers, context }: Call): Promise<object> {
  const state = context.mcpReq.requestState() as { round?: number } | undefined;
  if (state?.round === 2 && isAnswer(answers.step2)) return said('Both steps are done.');
  if (state?.round === 1 && isAnswer(answers.step1))
    return inputRequired({
      inputRequests: { step2: question('Step 2: What is your favorite color?', 'color') } as never,
      requestState: await codec.mint({ round: 2 }),
    });
  return inputRequired({
    inputRequests: { step1: question('Step 1: What is your name?', 'name') } as never,
    requestState: await codec.mint({ round: 1 }),
  });
}

const sampling = (prompt: string, maxTokens: number): object =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens });

/** Tools whose behaviour the suite prescribes, by name. */
const TOOLS: Readonly<Record<string, (call: Call) => object | Promise<object>>> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  }),
  test_error_handling: () => ({ ...said('This tool intentionally returns an error for testing'), isError: true }),
  test_tool_with_progress: async ({ context: { mcpReq } }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return said('done');
  },
  test_tool_with_logging: async ({ context: { mcpReq } }) => {
    for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', step);
      await pause();
    }
    return said('done');
  },
  test_logging_tool: async ({ context: { mcpReq } }) => {
    await mcpReq.log('info', 'a line');
    return said('done');
  },
  test_streaming_elicitation: async (call) => {
    await call.context.mcpReq.log('info', 'a line before the question');
    return asking({ user_name: question('What is your name?', 'name') }, () => said('done'))(call);
  },
  test_missing_capability: () => inputRequired({ inputRequests: { prompt: sampling('Hello', 10) } as never }),
  test_input_required_result_elicitation: asking({ user_name: question('What is your name?', 'name') }, ({ answers }) =>
    said(`Hello, ${(answers.user_name as { content?: { name?: string } }).content?.name}!`),
  ),
  test_input_required_result_sampling: asking({ capital_question: sampling('What is the capital of France?', 100) }, ({ answers }) =>
    said(JSON.stringify(answers.capital_question)),
  ),
  test_input_required_result_list_roots: asking({ client_roots: inputRequired.listRoots() }, ({ answers }) =>
    said(JSON.stringify(answers.client_roots)),
  ),
  test_input_required_result_request_state: askingWithState({ confirm: question('Please confirm', 'ok', 'boolean') }, () =>
    said('state-ok'),
  ),
  test_input_required_result_tampered_state: askingWithState({ confirm: question('Please confirm', 'ok', 'boolean') }, () =>
    said('state-ok'),
  ),
  test_input_required_result_capabilities: asking({ prompt: sampling('Hello', 10) }, () => said('done')),
  test_input_required_result_multiple_inputs: askingWithState(
    {
      user_name: question('What is your name?', 'name'),
      greeting: sampling('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    },
    () => said('All three are there.'),
  ),
  test_input_required_result_multi_round: twoRounds,
};

const resources: Readonly<Record<string, object>> = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PNG },
  'test://watched-resource': { mimeType: 'text/plain', text: 'It never changes.' },
};

function read(uri: string): object {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  const found =
    id === undefined
      ? resources[uri]
      : { mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
  if (!found) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, ...found }] };
}

const user = (content: object): object => ({ role: 'user', content });

/** Prompts whose texts the suite prescribes, by name. */
const PROMPTS: Readonly<Record<string, (call: Call) => object | Promise<object>>> = {
  test_simple_prompt: () => ({ messages: [user(text('This is a simple prompt for testing.'))] }),
  test_prompt_with_arguments: ({ given }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${given.arg1}', arg2='${given.arg2}'`))],
  }),
  test_prompt_with_embedded_resource: ({ given }) => ({
    messages: [
      user({
        type: 'resource',
        resource: { uri: given.resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  }),
  test_prompt_with_image: () => ({ messages: [user(image), user(text('Please analyze the image above.'))] }),
  test_input_required_result_prompt: asking({ user_context: question('What context should the prompt use?', 'context') }, () => ({
    messages: [user(text('With the context.'))],
  })),
};

/** The server that the official conformance suite wants to find: it has what Quern's own server never needs, so that the carrying is tested with all of it. */
export function fixtureServer(): Server {
  const server = new Server(
    { name: 'fixture', version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  );
  const call = (
    table: Readonly<Record<string, (call: Call) => object | Promise<object>>>,
    name: string,
    given: unknown,
    context: ServerContext,
  ): never => {
    const found = table[name];
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${name}.`);
    const answers = (context.mcpReq as unknown as { inputResponses?: Call['answers'] }).inputResponses ?? {};
    return found({ given: (given ?? {}) as Record<string, unknown>, context, answers }) as never;
  };
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) => call(TOOLS, params.name, params.arguments, context));
  server.setRequestHandler('resources/list', () => ({ resources: Object.keys(resources).map((uri) => ({ uri, name: uri })) }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template' }],
  }));
  server.setRequestHandler('resources/read', ({ params }) => read(params.uri) as never);
  server.setRequestHandler('prompts/list', () => ({ prompts: Object.keys(PROMPTS).map((name) => ({ name, description: name })) }));
  server.setRequestHandler('prompts/get', ({ params }, context) => call(PROMPTS, params.name, params.arguments, context));
  server.setRequestHandler('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}
