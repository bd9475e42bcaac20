import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { puppetModel } from '../../models/puppet/puppet.js';
import { CHATML_TEMPLATE } from '../../models/writers/chat-template.js';
import { text } from '../../models/writers/gguf-values.js';
import { writeGguf } from '../../models/writers/gguf-writer.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { PUPPET_CONTEXT, PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { ANSWER, TRIGGERED_ANSWER, writeTinyCausal } from '../support/models/tiny-causal/tiny-causal.js';
import { type Scenario, scenarios } from '../support/scenario.js';

const dataDir = emptyDataDir();
const folder = join(dataDir, 'models');
mkdirSync(join(folder, 'odd'), { recursive: true });

/** Writes the puppet with another chat template, or without one. */
function writePuppet(name: string, template: string | undefined): void {
  const parts = { scripts: PUPPET_SCRIPTS, toolAnswers: PUPPET_TOOL_ANSWERS, contextLength: PUPPET_CONTEXT, reach: PUPPET_CONTEXT };
  const file = puppetModel({ name, description: name, ...parts });
  const rest = file.metadata.filter(([key]) => key !== 'tokenizer.chat_template');
  const metadata = template === undefined ? rest : [...rest, ['tokenizer.chat_template', text(template)] as const];
  writeGguf(join(folder, 'odd', `${name}.gguf`), { ...file, metadata });
}

const refusing = (condition: string, message: string): string =>
  `{% for m in messages %}{% if ${condition} %}{{ raise_exception('${message}') }}{% endif %}{% endfor %}${CHATML_TEMPLATE}`;
const DOUBLING = '{% set n = namespace(x="aa") %}{% for i in range(40) %}{% set n.x = n.x.replace("a", "aa") %}{% endfor %}{{ n.x }}';
writePuppet('no-system', refusing("m.role == 'system'", 'System role not supported'));
writePuppet(
  'strict',
  refusing("(m.role == 'user') != (loop.index0 % 2 == 0) or m.role not in ['user', 'assistant']", 'Conversation roles must alternate'),
);
writePuppet('bare', undefined);
writePuppet('broken', '{% if %}');
writePuppet('doubling', DOUBLING);
writeFileSync(join(folder, 'odd', 'shout.jinja'), `{% if messages %}${CHATML_TEMPLATE}{% endif %}`);
writeFileSync(join(dataDir, 'outside.jinja'), CHATML_TEMPLATE);

/** Changes a file of an ONNX export. */
function rewrite(name: string, file: string, change: (now: Record<string, unknown>) => object): void {
  const path = join(folder, 'tiny', name, file);
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
}
for (const name of ['no-system', 'bare', 'doubling', 'hostile']) writeTinyCausal(join(folder, 'tiny', name));
const withTemplate = (template: string | undefined) => (now: Record<string, unknown>) => ({ ...now, chat_template: template });
const OWN = String(
  (JSON.parse(readFileSync(join(folder, 'tiny/bare/tokenizer_config.json'), 'utf8')) as { chat_template: string }).chat_template,
);
rewrite(
  'no-system',
  'tokenizer_config.json',
  withTemplate(`{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}${OWN}`),
);
rewrite('bare', 'tokenizer_config.json', withTemplate(undefined));
rewrite('doubling', 'tokenizer_config.json', withTemplate(DOUBLING));
rewrite('hostile', 'tokenizer.json', (now) => ({ ...now, normalizer: { type: 'Replace', pattern: { Regex: '(a+)+$' }, content: '' } }));

type Messages = readonly { readonly role: string; readonly content: string }[];
const hello = { role: 'user', content: 'hello' };
const chat = (name: string, model: string, messages: Messages, rest: Partial<Scenario> & { more?: object } = {}): Scenario => {
  const { more, ...others } = rest;
  return { name, method: 'POST', path: '/v1/chat/completions', body: { model, temperature: 0, messages, ...more }, ...others };
};
const says = (expected: string): Pick<Scenario, 'json'> => ({
  json: (body) => assert.equal(body.choices[0].message.content, expected),
});
const greets = says(PUPPET_SCRIPTS.hello.answer);

const CONVERSATIONS: Record<string, Messages> = {
  'a system message': [{ role: 'system', content: 'Be brief.' }, hello],
  'a developer message': [{ role: 'developer', content: 'Be brief.' }, hello],
  'two user messages in a row': [{ role: 'user', content: 'well' }, hello],
  'a system message in the middle': [
    { role: 'user', content: 'well' },
    { role: 'assistant', content: 'yes' },
    { role: 'system', content: 'Be brief.' },
    hello,
  ],
};
const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

const table: Scenario[] = [
  ...['no-system', 'strict'].flatMap((name) => [
    ...Object.entries(CONVERSATIONS).map(([kind, messages]) =>
      chat(`${kind} for a template that is ${name}`, `odd/${name}.gguf`, messages, greets),
    ),
    chat(`tools for a template that is ${name}`, `odd/${name}.gguf`, [{ role: 'user', content: 'weather' }], {
      more: { tools: [TOOL] },
      json: (body) => assert.equal(body.choices[0].message.tool_calls[0].function.name, 'get_weather'),
    }),
    {
      name: `what ${name} refuses is told`,
      path: `/v1/models/${encodeURIComponent(`odd/${name}.gguf`)}/capabilities`,
      json: ({ capabilities }: { capabilities: { chat_template: string; notes: string[] } }) => {
        assert.equal(capabilities.chat_template, 'own');
        assert.match(capabilities.notes.join('\n'), /adapted/);
      },
    },
  ]),
  chat(
    'a system message for an ONNX template that refuses it',
    'tiny/no-system',
    [
      { role: 'system', content: 'z' },
      { role: 'user', content: 'hi' },
    ],
    says(TRIGGERED_ANSWER),
  ),
  ...['bare', 'broken'].flatMap((name): Scenario[] => [
    chat(`ChatML for a model whose template is ${name}`, `odd/${name}.gguf`, CONVERSATIONS['a system message']!, greets),
    {
      name: `${name} is told`,
      path: `/v1/models/odd%2F${name}.gguf/capabilities`,
      json: ({ capabilities }) => assert.match(capabilities.notes.join('\n'), /ChatML.*chat_template/),
    },
  ]),
  chat('an ONNX export without a template', 'tiny/bare', [{ role: 'user', content: 'hi' }], says(ANSWER)),
  {
    name: 'is told before it is loaded',
    path: '/v1/models/odd%2Fbare.gguf/capabilities',
    json: ({ capabilities }) => assert.equal(capabilities.chat_template, 'chatml'),
  },
  ...[CHATML_TEMPLATE, 'chatml', 'odd/shout.jinja', join(dataDir, 'outside.jinja')].flatMap((setting) => [
    chat(`a template of the request (${setting.slice(0, 12)})`, 'odd/doubling.gguf', [hello], {
      ...greets,
      more: { extra_body: { chat_template: setting } },
    }),
    chat('as a member of its own', 'odd/doubling.gguf', [hello], { ...greets, more: { chat_template: setting } }),
  ]),
  ...['vicunja', 'odd/none.jinja', '../outside.jinja', '/etc/passwd', '{% if %}'].map((setting) =>
    chat(`a template that is none: ${setting}`, 'odd/bare.gguf', [hello], {
      status: 422,
      contains: ['template'],
      lacks: ['root:'],
      more: { chat_template: setting },
    }),
  ),
  ...['odd/doubling.gguf', 'tiny/doubling'].map((model) =>
    chat(`a template that doubles a text (${model})`, model, [hello], { status: 422, contains: ['chat template', 'more than'] }),
  ),
  chat('a tokenizer whose pattern takes forever', 'tiny/hostile', [{ role: 'user', content: `${'a'.repeat(40)}!` }], {
    status: 422,
    contains: ['tokenizer.json'],
  }),
];

scenarios<Runtime>(
  'chat by templates of any kind',
  {
    endpoints: universalEndpoints,
    context: () => {
      const models = new Models({ dataDir });
      // The endpoints under test use no other part of the runtime.
      return { version: '0.0.0', models, completions: new Completions({ models }) } as unknown as Runtime;
    },
    close: async ({ models }) => {
      await models.close();
      rmSync(dataDir, { recursive: true });
    },
  },
  table,
);
