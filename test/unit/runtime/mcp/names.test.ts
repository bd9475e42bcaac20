import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toolName } from '../../../../runtime/mcp/tools.js';

describe('names of tools', () => {
  it('joins the names of server and tool where that is clear', () => {
    assert.equal(toolName('files', 'read_file'), 'files__read_file');
    assert.equal(toolName('my-files', 'list-all'), 'my-files__list-all');
  });

  it('has at most 64 allowed characters, whatever the names are, and never the same name for two tools', () => {
    const parts = [
      'a',
      'a_',
      '_a',
      'a__',
      '__a',
      'a__b',
      'b',
      '__',
      '_',
      'a.b',
      'a/b',
      'a b',
      'é',
      '工具',
      'x'.repeat(64),
      'x'.repeat(65),
      `${'x'.repeat(64)}y`,
      '',
    ];
    const seen = new Map<string, string>();
    for (const server of parts) {
      for (const tool of parts) {
        const name = toolName(server, tool);
        assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
        assert.equal(seen.get(name), undefined, `${JSON.stringify([server, tool])} and ${seen.get(name)} are both ${name}`);
        assert.equal(toolName(server, tool), name);
        seen.set(name, JSON.stringify([server, tool]));
      }
    }
  });
});
