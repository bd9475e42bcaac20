import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Script } from 'node:vm';
import { DOCS_PAGE } from '../../../gateway/docs-page.js';

describe('the documentation page', () => {
  it('holds a script that parses', () => {
    const script = /<script>([\s\S]*)<\/script>/.exec(DOCS_PAGE)?.[1];
    assert.ok(script);
    assert.doesNotThrow(() => new Script(script));
  });

  it('names every colour for light and dark', () => {
    const [light, dark] = [...DOCS_PAGE.matchAll(/:root \{([^}]*)\}/g)].map((block) =>
      [...block[1]!.matchAll(/--[a-z]+/g)].map(String).sort(),
    );
    assert.deepEqual(dark, light);
    for (const [, used] of DOCS_PAGE.matchAll(/var\((--[a-z]+)\)/g)) assert.ok(light!.includes(used!), used);
  });

  it('never sets markup from what it shows', () => {
    assert.doesNotMatch(DOCS_PAGE, /innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
  });
});
