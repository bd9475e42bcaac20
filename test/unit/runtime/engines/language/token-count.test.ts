import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTokensOf } from '../../../../../runtime/engines/language/prompts.js';

const words = (text: string): number => text.split(' ').length - 1;

describe('counted tokens', () => {
  it('are exact for texts of usual length', async () => {
    assert.deepEqual(await countTokensOf(['a b ', '', 'a '.repeat(16_000)], words), [2, 0, 16_000]);
  });

  it('are an estimate from samples for very long ones', async () => {
    let seen = 0;
    const [count] = await countTokensOf(['word '.repeat(2_000_000)], (text) => {
      seen += text.length;
      return words(text);
    });
    assert.ok(Math.abs(count! - 2_000_000) < 20_000, `${count}`);
    assert.equal(seen, 32 * 1024);
  });

  it('let others run', async () => {
    let rounds = 0;
    const timer = setInterval(() => {
      rounds += 1;
    }, 0);
    await countTokensOf(
      Array.from({ length: 100 }, () => 'a '.repeat(16_000)),
      (text) => words(text) + words(text.toUpperCase()),
    );
    clearInterval(timer);
    assert.ok(rounds > 5, `${rounds} rounds`);
  });
});
