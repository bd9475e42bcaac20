import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { Chat } from '../../runtime/chat/chat.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { emptyDataDir } from '../support/daemon.js';
import type { Loose } from '../support/loaded-engine.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { FINISH, ScriptedProvider, type Step } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');
const dataDir = emptyDataDir();
const FILE = `from typing import Literal, Optional
from pydantic import BaseModel, Field

class Ticket(BaseModel):
    """A request of a customer."""

    class Product(BaseModel):
        name: str = Field(min_length=2)
        parts: list[str] = Field(default_factory=list)

    product: Product
    urgency: Literal["low", "high"] = "low"
    score: int = Field(ge=1, le=5, description="How happy the customer is.")
    parent: Optional["Ticket"] = None
`;
const SCHEMA = 'schemas/ticket.py::Ticket';
const WHOLE = { product: { name: 'Drill' }, score: 4 };
const FILLED = { product: { name: 'Drill', parts: [] }, urgency: 'low', score: 4, parent: null };
const TOOL = { type: 'function', name: 'weather', description: 'Of a city.', parameters: { type: 'object' } };

const provider = new ScriptedProvider();
const project = (name: string, model: object, schema = SCHEMA): void => {
  const folder = join(dataDir, 'projects', 'ns', name);
  mkdirSync(join(folder, 'schemas'), { recursive: true });
  writeFileSync(join(folder, 'schemas', 'ticket.py'), FILE);
  writeFileSync(join(folder, 'schemas', 'list.json'), JSON.stringify({ type: 'array', items: { type: 'integer' } }));
  const models = [{ name: 'm', model: 'x', base_url: 'http://127.0.0.1:9', ...model }];
  writeFileSync(join(folder, 'project.yaml'), JSON.stringify({ version: 'v1', name, namespace: 'ns', schema, runtime: { models } }));
};
project('held', { provider: 'universal' });
project('plain', { provider: 'compat_api' });
for (const mode of ['json', 'md_json', 'tools']) project(mode, { provider: 'compat_api', instructor_mode: mode });
project('tools-beside', { provider: 'compat_api', instructor_mode: 'tools', tools: [TOOL] });
project('tools-list', { provider: 'compat_api', instructor_mode: 'tools' }, 'schemas/list.json');

const text = (value: unknown): Step => ({ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) });
const call = (name: string, args: unknown): Step[] => [
  { type: 'tool_call', index: 0, id: 'c', name, arguments: JSON.stringify(args) },
  { ...FINISH, reason: 'tool_calls' } as Step,
];
const asked = () => provider.asked.map(({ request }) => request);
const lastSystem = (): string => String(asked().at(-1)!.messages[0]!.content);

/** A chat whose provider gives these answers, one after the other. */
const answering = (name: string, place: string, answers: Step[][], more: Partial<Scenario>, request: object = {}): Scenario => ({
  name: `${place}: ${name}`,
  method: 'POST',
  path: `/v1/projects/ns/${place}/chat/completions`,
  headers: { 'X-No-Session': '1' },
  body: () => {
    provider.asked.length = 0;
    const left = [...answers];
    provider.say(() => left.shift() ?? [text('no more'), FINISH]);
    return { messages: [{ role: 'user', content: 'hi' }], ...request };
  },
  ...more,
});
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
const content = (body: any): unknown => JSON.parse(body.choices[0].message.content);

const MODES: Scenario[] = [
  answering('a schema goes to the host by name', 'plain', [[text(WHOLE), FINISH]], {
    json: (body) => {
      assert.deepEqual(content(body), FILLED);
      const [request] = asked();
      assert.equal(request!.response_format!.type, 'json_schema');
      assert.equal(request!.messages.length, 1);
    },
  }),
  answering('the schema stands in the prompt', 'json', [[text(WHOLE), FINISH]], {
    json: (body) => {
      assert.deepEqual(content(body), FILLED);
      assert.deepEqual(asked()[0]!.response_format, { type: 'json_object' });
      assert.match(lastSystem(), /one JSON value and nothing else.*How happy.*A request of a customer/s);
    },
  }),
  answering(
    'a fenced block is asked for, and its inside is the answer',
    'md_json',
    [[text(`Here:\n\`\`\`json\n${JSON.stringify(WHOLE)}\n\`\`\``), FINISH]],
    {
      json: (body) => {
        assert.deepEqual(content(body), FILLED);
        assert.equal(asked()[0]!.response_format, undefined);
        assert.match(lastSystem(), /```json/);
      },
    },
  ),
  answering('the schema is a tool, and its call the answer', 'tools', [call('Ticket', WHOLE)], {
    json: (body) => {
      assert.deepEqual(content(body), FILLED);
      const [{ finish_reason: reason, message }] = body.choices;
      assert.deepEqual([reason, message.tool_calls], ['stop', undefined]);
      const [request] = asked();
      assert.deepEqual(request!.tool_choice, { type: 'function', function: { name: 'Ticket' } });
      const [{ function: tool }] = request!.tools as unknown as [Loose];
      assert.deepEqual([tool.parameters.type, tool.parameters.required], ['object', ['product', 'score']]);
      assert.match(tool.description, /^A request of a customer\./);
    },
  }),
  answering('a text instead of the call counts too', 'tools', [[text(WHOLE), FINISH]], {
    json: (body) => assert.deepEqual(content(body), FILLED),
  }),
  answering('other tools may be called first', 'tools-beside', [call('weather', { city: 'Oslo' })], {
    json: (body) => {
      assert.equal(asked()[0]!.tool_choice, 'required');
      assert.deepEqual(
        asked()[0]!.tools!.map((tool) => tool.function.name),
        ['weather', 'Ticket'],
      );
      assert.equal(body.choices[0].finish_reason, 'tool_calls');
      assert.equal(body.choices[0].message.tool_calls[0].function.name, 'weather');
    },
  }),
  answering('a schema that is no object is asked for in the prompt', 'tools-list', [[text([1, 2]), FINISH]], {
    json: (body) => {
      assert.deepEqual(content(body), [1, 2]);
      assert.equal(asked()[0]!.tools, undefined);
      assert.deepEqual(asked()[0]!.response_format, { type: 'json_object' });
    },
  }),
  answering('what is held to the schema is shown its descriptions', 'held', [[text(WHOLE), FINISH]], {
    json: (body) => {
      assert.deepEqual(content(body), FILLED);
      assert.equal(asked()[0]!.response_format!.type, 'json_schema');
      assert.match(lastSystem(), /How happy the customer is/);
    },
  }),
];

const RETRIES: Scenario[] = [
  ...['plain', 'json', 'md_json', 'tools', 'held'].map((place) =>
    answering(
      'asks again with what is wrong',
      place,
      [
        [text({ ...WHOLE, score: 9 }), FINISH],
        [text(WHOLE), FINISH],
      ],
      {
        json: (body) => {
          assert.deepEqual(content(body), FILLED);
          assert.equal(asked().length, 2);
          const [before, complaint] = asked()[1]!.messages.slice(-2);
          assert.deepEqual([before!.role, before!.content], ['assistant', JSON.stringify({ ...WHOLE, score: 9 })]);
          assert.match(
            String(complaint!.content),
            /^The answer does not fit its schema: \$\.score is 9, above the maximum 5\. Answer again/,
          );
          assert.deepEqual(body.usage, { prompt_tokens: 14, completion_tokens: 4, total_tokens: 18 });
          assert.match(body.x_schema_notes.join(), /asked for 2 times/);
        },
      },
    ),
  ),
  answering('three tries are the most', 'json', [], {
    status: 500,
    contains: ['schema_not_met', 'The answer is no JSON, after 3 tries'],
    json: () => assert.equal(asked().length, 3),
  }),
  answering('an empty answer', 'json', [[FINISH], [text(WHOLE), FINISH]], {
    json: () =>
      assert.deepEqual(
        asked()[1]!.messages.map(({ role }) => role),
        ['system', 'user', 'user'],
      ),
  }),
  answering('what is held and broken all the same is answered with a note', 'held', Array(3).fill([text({ ...WHOLE, score: 9 }), FINISH]), {
    json: (body) => {
      assert.equal(asked().length, 3);
      assert.equal((content(body) as { score: number }).score, 9);
    },
  }),
  answering(
    'an answer that ran out of tokens is not asked for again',
    'json',
    [[text('{"product"'), { ...FINISH, reason: 'length' } as Step]],
    {
      json: (body) => {
        assert.equal(asked().length, 1);
        assert.equal(body.choices[0].finish_reason, 'length');
      },
    },
  ),
  answering(
    'each of several choices is checked',
    'json',
    [
      [text(WHOLE), FINISH],
      [text('x'), FINISH],
      [text({ ...WHOLE, score: 2 }), FINISH],
    ],
    {
      json: (body) => {
        const scores = body.choices.map((choice: { message: { content: string } }) => JSON.parse(choice.message.content).score);
        assert.deepEqual(scores, [4, 2]);
      },
    },
    { n: 2 },
  ),
];

let store: Store;
scenarios<Runtime>(
  'answers by the schema of a project',
  {
    endpoints: coreEndpoints,
    context: async () => {
      store = await openStore(dataDir);
      const projects = new Projects({ dataDir });
      const providers = { universal: provider, compat_api: provider } as never;
      return { projects, chat: new Chat({ projects, providers, providerOf, store }) } as unknown as Runtime;
    },
    close: async ({ chat }) => {
      await chat.close();
      await store.close();
    },
  },
  [...MODES, ...RETRIES],
);
