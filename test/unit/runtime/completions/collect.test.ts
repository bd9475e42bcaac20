import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ToolCallGatherer } from '../../../../runtime/completions/collect.js';

const part = (index: number, more: { id?: string; name?: string; arguments?: string }) => ({ type: 'tool_call', index, ...more }) as const;
const call = (id: string, name: string, text: string) => ({ id, type: 'function', function: { name, arguments: text } });

it('tool calls are put together from their parts, and given out once each when the next begins or nothing more comes', () => {
  const gatherer = new ToolCallGatherer();
  assert.deepEqual(gatherer.add(part(0, { id: 'a', name: 'one', arguments: '{"x":' })), []);
  assert.deepEqual(gatherer.add(part(0, { arguments: '1}' })), []);
  assert.deepEqual(gatherer.add(part(1, { id: 'b', name: 'two' })), [call('a', 'one', '{"x":1}')]);
  // A place that the model left out is no call.
  assert.deepEqual(gatherer.add(part(3, { id: 'd', name: 'four', arguments: '{}' })), [call('b', 'two', '')]);
  assert.deepEqual(gatherer.end(), [call('d', 'four', '{}')]);
  assert.deepEqual(gatherer.end(), []);
  assert.deepEqual(Object.keys(gatherer.calls), ['0', '1', '3']);
});
