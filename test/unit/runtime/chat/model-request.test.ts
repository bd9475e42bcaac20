import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { offeredTools } from '../../../../runtime/chat/model-request.js';
import type { Tool } from '../../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';

const MODEL = {
  name: 'm',
  provider: 'universal',
  model: 'm',
  tools: [
    { type: 'function', name: 'weather', description: 'In {{city}}', parameters: { type: 'object' } },
    { type: 'function', name: 'clock', parameters: { type: 'object' } },
  ],
} as ModelConfig;
const tool = (name: string, description = ''): Tool => ({
  type: 'function',
  function: { name, description, parameters: { type: 'object' } },
});

describe('offered tools', () => {
  it('are the configured ones and those of the request, which win by name', () => {
    const offered = offeredTools(MODEL, [tool('clock', 'mine'), tool('other', '{{city}}')], { city: 'Oslo' });
    assert.deepEqual(
      offered.map((one) => [one.function.name, one.function.description]),
      [
        ['weather', 'In Oslo'],
        ['clock', 'mine'],
        ['other', 'Oslo'],
      ],
    );
  });

  const foreign = ['Use {{x}}', 'Say {{city}} and {{x}}', '{{ user.name }}', '{{x'];
  for (const description of foreign) {
    it(`keep braces of a request's tool that have no value: ${description}`, () => {
      const bare = { ...MODEL, tools: [] } as unknown as ModelConfig;
      const described = (variables: Record<string, unknown>): unknown =>
        offeredTools(bare, [tool('other', description)], variables)[0]!.function.description;
      assert.equal(described({}), description);
      assert.equal(described({ city: 'Oslo' }), description.replace('{{city}}', 'Oslo'));
    });
  }

  it('need values for the variables of configured ones', () => {
    assert.throws(() => offeredTools(MODEL, [], {}), { kind: 'bad_request', code: 'TemplateResolutionFailed' });
  });

  it('leave out those of other types, which some clients send beside functions', () => {
    const bare = { ...MODEL, tools: [] } as unknown as ModelConfig;
    const others = [{ type: 'web_search' }, { type: 'custom', custom: { name: 'sql' } }];
    assert.deepEqual(offeredTools(bare, [...others, tool('clock')], {}), [tool('clock')]);
  });

  it('must be whole', () => {
    for (const flawed of [{}, { type: 'function' }, { type: 'function', function: { name: 7 } }, tool('n'.repeat(129))])
      assert.throws(() => offeredTools(MODEL, [tool('clock'), flawed], { city: 'Oslo' }), { kind: 'invalid', message: /^tools\.1: / });
  });

  it('are 128 at most, configured ones included', () => {
    const asked = Array.from({ length: 127 }, (_, index) => tool(`t${index}`));
    assert.equal(offeredTools(MODEL, asked.slice(1), { city: 'Oslo' }).length, 128);
    assert.throws(() => offeredTools(MODEL, asked, { city: 'Oslo' }), {
      kind: 'bad_request',
      message: /129 tools .*\(2 by the project's model, 127 by the request\); at most 128/,
    });
  });
});
