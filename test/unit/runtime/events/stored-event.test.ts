import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventRedactor } from '../../../../runtime/events/stored-event.js';
import { rememberSecret } from '../../../../schemas/secrets.js';

describe('what is written of an event', () => {
  it('hides secrets by their names, in running text and those in use', () => {
    rememberSecret('canary-in-use-1234');
    const shown = new EventRedactor('full').members(
      {
        api_key: 'canary-a',
        nested: [{ password: 'canary-b', env: { X: 'canary-c' } }],
        url: 'https://u:canary-d@host/?key=canary-e',
        prompt_tokens: 7,
      },
      { messages: [{ role: 'user', content: 'My password: canary-f. It says canary-in-use-1234. Bearer canary-g' }] },
    );
    assert.doesNotMatch(JSON.stringify(shown), /canary/);
    assert.equal(shown.prompt_tokens, 7);
    assert.match(JSON.stringify(shown), /My password: \*\*\*/);
  });

  it('hashes content, or leaves it out, and keeps the rest', () => {
    const content = { response: 'Hello', messages: [{ role: 'user', content: 'Hi' }] };
    const hashed = new EventRedactor('hash').members({ model: 'm' }, content);
    assert.equal(hashed.model, 'm');
    assert.equal(hashed.response, 'sha256:185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969');
    assert.match(String(hashed.messages), /^sha256:[0-9a-f]{64}$/);
    assert.deepEqual(new EventRedactor('off').members({ model: 'm' }, content), { model: 'm' });
    const long = new EventRedactor('hash');
    assert.deepEqual([long.members({}, { text: 'x'.repeat(2_000_000) }).text, long.isCut], [null, true]);
  });

  it('bounds texts, depth and members, and says that something was cut', () => {
    const long = new EventRedactor('full');
    const text = String(long.members({ text: 'x'.repeat(10_000_000) }).text);
    assert.ok(text.length < 66_000 && text.endsWith('(10000000 characters)') && long.isCut);
    const many = new EventRedactor('full');
    const all = JSON.stringify(many.members({ list: Array.from({ length: 100 }, () => 'y'.repeat(60_000)) }));
    assert.ok(all.length < 300_000 && many.isCut);
    let deep: unknown = 1;
    for (let at = 0; at < 1_000; at += 1) deep = [deep];
    const down = new EventRedactor('full');
    down.members({ deep });
    assert.ok(down.isCut);
    const wide = new EventRedactor('full');
    assert.ok(
      Object.keys(wide.members(Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])))).length <= 10_000 &&
        wide.isCut,
    );
    const short = new EventRedactor('full');
    short.members({ text: 'short' });
    assert.equal(short.isCut, false);
  });

  it('cuts no secret in half', () => {
    const secret = 'canary-long-secret-that-is-in-use-0123456789';
    rememberSecret(secret);
    for (let before = 65_536 - 50; before < 65_536 + 5; before += 5) {
      const { text } = new EventRedactor('full').members({ text: `${'z'.repeat(before)}${secret}${'z'.repeat(20_000)}` });
      assert.doesNotMatch(String(text), /canary/, String(before));
    }
  });

  it('keeps no files, and no member that could become a prototype', () => {
    const shown = new EventRedactor('full').members(
      {},
      { image: `data:image/png;base64,${'A'.repeat(100_000)}`, odd: JSON.parse('{"__proto__": {"x": 1}}') },
    );
    assert.ok(String(shown.image).length < 120);
    assert.equal(({} as { x?: number }).x, undefined);
    assert.equal(JSON.stringify(shown.odd), '{"__proto__":{"x":1}}');
  });
});
