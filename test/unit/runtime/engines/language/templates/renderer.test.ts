import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Script } from 'node:vm';
import { KNOWN_TEMPLATES } from '../../../../../../runtime/engines/language/templates/known-templates.js';
import { Renderer, type RendererFacts } from '../../../../../../runtime/engines/language/templates/renderer.js';
import type { Message } from '../../../../../../schemas/generated/common.js';

const CHATML_TEXTS = ['<|im_start|>', '<|im_end|>'];

/** A renderer whose tokens are the characters of the prompt. */
function opened(
  template: string,
  facts: Partial<RendererFacts> = {},
): { text(messages: Message[], chatTemplate?: string): Promise<string>; notes: readonly string[] } {
  const tokenize = (text: string): Int32Array => Int32Array.from(text, (letter) => letter.codePointAt(0)!);
  const renderer = new Renderer(tokenize, {
    template,
    controlTexts: [],
    bosText: '<s>',
    eosText: '</s>',
    vocabularySize: 0x11_0000,
    ...facts,
  });
  return {
    text: async (messages, chatTemplate) => {
      const asked = chatTemplate === undefined ? {} : { chatTemplate };
      const { tokens } = await renderer.render({ messages, addGenerationPrompt: true, ...asked }, AbortSignal.any([]));
      return String.fromCodePoint(...tokens);
    },
    notes: renderer.notes,
  };
}

const message = (role: Message['role'], content: string, rest: Partial<Message> = {}): Message => ({ role, content, ...rest });
const CALL = { id: 'c1', type: 'function' as const, function: { name: 'weather', arguments: '{"city": "Paris"}' } };

const TURN = "{{ '[' + m.role + ']' + m.content }}";
const STRICT =
  "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate user/assistant') }}{% endif %}";
const KNOWN_ROLES = "{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('Only user and assistant are supported') }}{% endif %}";
const turns = (body: string): string => `{% for m in messages %}${body}{% endfor %}`;
const TEMPLATES: Record<string, string> = {
  'refuses a system message': `{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}${turns(TURN)}`,
  'wants strict alternation and no other roles': turns(STRICT + KNOWN_ROLES + TURN),
  'takes a system message at the start only': `{% set rest = messages %}{% if messages[0].role == 'system' %}[system]{{ messages[0].content }}{% set rest = messages[1:] %}{% endif %}{% for m in rest %}${STRICT}${KNOWN_ROLES}${TURN}{% endfor %}`,
  'leaves out what it does not know': turns(
    "{% if m.role == 'user' %}[user]{{ m.content }}{% elif m.role == 'assistant' %}[assistant]{{ m.content }}{% endif %}",
  ),
  'fails for a system message': turns("{% if m.role == 'system' %}{{ m.content | unheard_of }}{% else %}[user]{{ m.content }}{% endif %}"),
  'wants the user to have the last word': `{% if messages[-1].role == 'assistant' %}{{ raise_exception('Expected last role to be user') }}{% endif %}${turns(TURN)}`,
};
const CONVERSATIONS: Record<string, Message[]> = {
  'one message': [message('user', 'apple')],
  'a system message': [message('system', 'apple'), message('user', 'berry')],
  'a developer message': [message('developer', 'apple'), message('user', 'berry')],
  'two user messages in a row': [message('user', 'apple'), message('user', 'berry')],
  'two answers in a row': [
    message('user', 'apple'),
    message('assistant', 'berry'),
    message('assistant', 'cherry'),
    message('user', 'date'),
  ],
  'a system message in the middle': [
    message('user', 'apple'),
    message('assistant', 'berry'),
    message('system', 'cherry'),
    message('user', 'date'),
  ],
  'system messages everywhere': [
    message('system', 'apple'),
    message('system', 'berry'),
    message('user', 'cherry'),
    message('system', 'date'),
  ],
  'only a system message': [message('system', 'apple')],
  'a call and its results': [
    message('user', 'apple'),
    message('assistant', 'berry', { tool_calls: [CALL] }),
    message('tool', 'cherry', { tool_call_id: 'c1' }),
    message('tool', 'date', { tool_call_id: 'c1' }),
    message('user', 'elder'),
  ],
  'an answer first': [message('assistant', 'apple'), message('user', 'berry')],
  'an answer last': [message('user', 'apple'), message('assistant', 'berry')],
};

describe('conversations that a template refuses', () => {
  for (const [name, template] of Object.entries(TEMPLATES)) {
    const renderer = opened(template);
    for (const [kind, messages] of Object.entries(CONVERSATIONS)) {
      it(`are adapted where one ${name}: ${kind}`, async () => {
        const out = await renderer.text(messages);
        for (const { content, tool_calls: calls } of messages) {
          assert.ok(out.includes(content as string), `${content} of ${out}`);
          if (calls) assert.match(out, /weather.*Paris/);
        }
        const order = messages.map(({ content }) => out.indexOf(content as string));
        assert.deepEqual(
          order,
          [...order].sort((one, other) => one - other),
          out,
        );
      });
    }
    it(`are told of where one ${name}`, async () => assert.match(renderer.notes.join('\n'), /adapted/));
  }

  const exact: [string, string, Message[], string][] = [
    ['a folded system message', TEMPLATES['refuses a system message']!, CONVERSATIONS['a system message']!, '[user]apple\n\nberry'],
    [
      'merged turns',
      TEMPLATES['wants strict alternation and no other roles']!,
      CONVERSATIONS['two user messages in a row']!,
      '[user]apple\n\nberry',
    ],
    [
      'a later system message',
      TEMPLATES['takes a system message at the start only']!,
      CONVERSATIONS['a system message in the middle']!,
      '[user]apple[assistant]berry[user]cherry\n\ndate',
    ],
    [
      'a first one, which it takes',
      TEMPLATES['takes a system message at the start only']!,
      CONVERSATIONS['a system message']!,
      '[system]apple[user]berry',
    ],
    [
      'an answer first',
      TEMPLATES['wants strict alternation and no other roles']!,
      CONVERSATIONS['an answer first']!,
      '[user]Begin.[assistant]apple[user]berry',
    ],
    [
      'tools',
      TEMPLATES['wants strict alternation and no other roles']!,
      CONVERSATIONS['a call and its results']!,
      '[user]apple[assistant]berry\n<tool_call>{"name":"weather","arguments":{"city":"Paris"}}</tool_call>[user]<tool_response>\ncherry\n</tool_response>\n<tool_response>\ndate\n</tool_response>\n\nelder',
    ],
  ];
  for (const [name, template, messages, wanted] of exact)
    it(`become ${name}`, async () => assert.equal(await opened(template).text(messages), wanted));

  it('stay as they are where a template takes them', async () => {
    const renderer = opened(
      `${turns(TURN)}{% for m in messages if m.tool_calls %}{% for c in m.tool_calls %}{{ c.function | tojson }}{% endfor %}{% endfor %}`,
    );
    assert.deepEqual(renderer.notes, []);
    assert.equal(await renderer.text(CONVERSATIONS['system messages everywhere']!), '[system]apple[system]berry[user]cherry[system]date');
  });

  it('are refused in the words of a template that takes nothing of it', async () => {
    const renderer = opened("{{ raise_exception('Only in Latin') }}");
    await assert.rejects(renderer.text(CONVERSATIONS['a system message']!), { code: 'template_refused', message: /Only in Latin/ });
  });
});

describe('models without a template that works', () => {
  const conversation = CONVERSATIONS['a system message']!;
  const CHATML = '<|im_start|>system\napple<|im_end|>\n<|im_start|>user\nberry<|im_end|>\n<|im_start|>assistant\n';
  const LINES = 'System: apple\nUser: berry\nAssistant:';
  const broken: [string, string][] = [
    ['none', ''],
    ['one that does not parse', '{% if %}'],
    ['one with an unknown filter', '{{ messages | unheard_of }}'],
    ['one that is not closed', '{% for m in messages %}'],
    ['one that calls what is not there', '{{ nothing.at.all() }}'],
  ];
  for (const [name, template] of broken) {
    it(`write ChatML where the vocabulary has its tokens: ${name}`, async () => {
      const { text, notes } = opened(template, { controlTexts: CHATML_TEXTS });
      assert.equal(await text(conversation), CHATML);
      assert.match(notes.join('\n'), /ChatML.*chat_template/);
    });
    it(`write lines where it has not: ${name}`, async () => {
      const { text, notes } = opened(template);
      assert.equal(await text(conversation), LINES);
      assert.match(notes.join('\n'), /plain lines.*chat_template/);
    });
  }

  it('answer for a template that is stopped at a limit with what it did', async () => {
    const { text, notes } = opened('{% set n = namespace(x="aa") %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}');
    assert.match(notes.join('\n'), /more than/);
    await assert.rejects(text(conversation), { kind: 'invalid', code: 'template_failed' });
    assert.equal(await text(conversation, 'plain'), LINES);
  });

  it('render no template of a request again that was stopped at a limit', async (context) => {
    const { mock } = context.mock.method(Script.prototype, 'runInContext');
    const { text } = opened('');
    const doubling = '{% set n = namespace(x="aa") %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}';
    await assert.rejects(text(conversation, doubling), { kind: 'invalid', code: 'template_failed' });
    const count = mock.callCount();
    await assert.rejects(text(conversation, doubling), { kind: 'invalid', code: 'template_failed' });
    assert.ok(count > 0);
    assert.equal(mock.callCount(), count);
  });

  it('write by the template of a request', async () => {
    const { text } = opened('', { controlTexts: CHATML_TEXTS });
    assert.equal(await text(conversation, '{{ messages[1].content | upper }}'), 'BERRY');
    assert.equal(await text(conversation, 'chatml'), CHATML);
    assert.equal(await text(conversation), CHATML);
    await assert.rejects(text(conversation, '{% if %}'), { kind: 'invalid', code: 'template_failed' });
    for (let at = 0; at < 20; at += 1) assert.equal(await text(conversation, `${at}{{ messages[1].content }}`), `${at}berry`);
  });

  it('know templates that render every conversation', async () => {
    for (const name of Object.keys(KNOWN_TEMPLATES)) {
      const { text } = opened('');
      for (const messages of Object.values(CONVERSATIONS)) {
        const out = await text(messages, name);
        for (const { content } of messages) assert.ok(out.includes(content as string), `${name}: ${content} of ${out}`);
      }
    }
  });
});

describe('an answer that goes on', () => {
  const tokenize = (text: string): Int32Array => Int32Array.from(text, (letter) => letter.codePointAt(0)!);
  const prompt = async (template: string, begunAnswer: string): Promise<string> => {
    const facts = { controlTexts: CHATML_TEXTS, bosText: '', eosText: '', vocabularySize: 0x11_0000 };
    const request = { messages: [message('user', 'apple')], addGenerationPrompt: true, begunAnswer };
    const { text, endsInThinking } = await new Renderer(tokenize, { template, ...facts }).render(request, AbortSignal.any([]));
    assert.equal(endsInThinking, false);
    return text;
  };

  it('stands open at the end of the prompt, and writes no marks of its own', async () => {
    const { template } = KNOWN_TEMPLATES.chatml!;
    assert.match(await prompt(template, 'The core '), /apple<\|im_end\|>\n<\|im_start\|>assistant\nThe core $/);
    assert.ok((await prompt(template, 'so <|im_end|>')).endsWith('so <|im_end|>'));
  });
  it('comes behind thinking that the template opens', async () => {
    assert.equal(await prompt(`${turns(TURN)}[assistant]<think>\n`, 'core'), '[user]apple[assistant]<think>\n\n</think>\n\ncore');
    assert.equal(await prompt(`${turns(TURN)}[assistant]`, '<think>'), '[user]apple[assistant]<think>');
  });
});

describe('what goes to a model without a template', () => {
  const tokenize = (text: string): Int32Array => Int32Array.from(text, (letter) => letter.codePointAt(0)!);
  const facts = { template: '', bosText: '', eosText: '', vocabularySize: 128 };
  const marks = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'];
  const raw = async (content: string | Int32Array, more: object = {}, controlTexts: string[] = []) =>
    new Renderer(tokenize, { ...facts, controlTexts }).render(
      { messages: [], addGenerationPrompt: false, raw: { content, ...more } },
      AbortSignal.any([]),
    );

  it('is the text itself', async () => assert.equal((await raw('<|im_end|>', {}, CHATML_TEXTS)).text, '<|im_end|>'));
  it('has marks around a gap, where the model knows some', async () => {
    const { text } = await raw('a(', { suffix: ')' }, marks);
    assert.equal(text, '<|fim_prefix|>a(<|fim_suffix|>)<|fim_middle|>');
    await assert.rejects(raw('a(', { suffix: ')' }), { code: 'InsertUnsupported' });
  });
  it('is the tokens themselves, which the model must have', async () => {
    assert.deepEqual([...(await raw(Int32Array.of(5, 127))).tokens], [5, 127]);
    await assert.rejects(raw(Int32Array.of(128)), { code: 'UnknownToken', kind: 'invalid' });
    await assert.rejects(raw(Int32Array.of(-1)), { code: 'UnknownToken' });
  });
});
