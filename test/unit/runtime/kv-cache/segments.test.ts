import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { contentHash, matchSegments, segmentsOf } from '../../../../runtime/kv-cache/entry.js';
import type { Message, Tool } from '../../../../schemas/generated/common.js';

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const tool = (name: string, more: object = {}): Tool => ({ type: 'function', function: { name, parameters: {}, ...more } });

const BASE = [system('Be brief.'), user('one'), assistant('1'), user('two')];
const TOOLS = [tool('add'), tool('sub')];

describe('segments of a conversation', () => {
  const types: [name: string, messages: Message[], tools: Tool[] | undefined, expected: string[]][] = [
    ['system, tools and two turns', BASE, TOOLS, ['system', 'tools', 'turn', 'turn']],
    ['no tools', BASE, undefined, ['system', 'turn', 'turn']],
    ['an empty list of tools', BASE, [], ['system', 'turn', 'turn']],
    ['system texts anywhere are one segment', [system('a'), user('x'), system('b')], undefined, ['system', 'turn']],
    ['an answer before any question', [assistant('hello'), user('x')], undefined, ['turn', 'turn']],
    [
      'tool results belong to their turn',
      [user('x'), assistant(''), { role: 'tool', content: '3', tool_call_id: 'c' }],
      undefined,
      ['turn'],
    ],
    ['nothing', [], undefined, []],
  ];
  for (const [name, messages, tools, expected] of types) {
    it(name, () =>
      assert.deepEqual(
        segmentsOf(messages, tools).map((segment) => segment.type),
        expected,
      ),
    );
  }

  it('hashes the system texts joined by line breaks, 16 hex digits', () => {
    const [segment] = segmentsOf([system('a'), system('b')]);
    assert.equal(segment!.hash, createHash('sha256').update('a\nb').digest('hex').slice(0, 16));
  });

  it('hashes tools in any order and with members in any order alike', () => {
    const one = segmentsOf([], [tool('b', { description: 'x' }), tool('a')]);
    const other = segmentsOf([], [tool('a'), { function: { description: 'x', parameters: {}, name: 'b' }, type: 'function' }]);
    assert.deepEqual(one, other);
  });

  it('sees a trailing space', () => {
    assert.notDeepEqual(segmentsOf([user('one')]), segmentsOf([user('one ')]));
    assert.notEqual(contentHash(segmentsOf([system('a')])), contentHash(segmentsOf([system('a ')])));
  });

  it('has one hash for the whole, over the list of hashes', () => {
    const segments = segmentsOf(BASE, TOOLS);
    const text = JSON.stringify(segments.map(({ hash }) => hash));
    assert.equal(contentHash(segments), createHash('sha256').update(text).digest('hex').slice(0, 16));
  });
});

describe('comparison of segments', () => {
  const cached = segmentsOf(BASE, TOOLS);
  const cases: [name: string, messages: Message[], tools: Tool[], expected: [string, number, string, string | null]][] = [
    ['the same', BASE, TOOLS, ['hit', 4, 'full_match', null]],
    ['a turn more', [...BASE, assistant('2'), user('three')], TOOLS, ['partial_hit', 3, 'turn_changed', 'turn']],
    ['another system text', [system('Be long.'), ...BASE.slice(1)], TOOLS, ['miss', 0, 'no_match', 'system']],
    ['other tools', BASE, [tool('mul')], ['partial_hit', 1, 'tools_changed', 'tools']],
    ['no tools any more', BASE, [], ['partial_hit', 1, 'tools_changed', 'tools']],
    ['the last question changed', [...BASE.slice(0, 3), user('2')], TOOLS, ['partial_hit', 3, 'turn_changed', 'turn']],
    ['a conversation that ends before', BASE.slice(0, 3), TOOLS, ['partial_hit', 3, 'truncated', 'truncated']],
  ];
  for (const [name, messages, tools, [status, matched, reason, invalidatedAt]] of cases) {
    it(name, () => assert.deepEqual(matchSegments(cached, segmentsOf(messages, tools)), { status, matched, reason, invalidatedAt }));
  }

  it('an appended turn leaves a conversation with its answer whole', () => {
    const answered = segmentsOf([...BASE, assistant('2')], TOOLS);
    const next = segmentsOf([...BASE, assistant('2'), user('three')], TOOLS);
    assert.equal(matchSegments(answered, next).status, 'hit');
  });
});
