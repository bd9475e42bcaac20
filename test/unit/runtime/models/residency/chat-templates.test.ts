import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { TemplateMemory } from '../../../../../runtime/models/residency/chat-templates.js';

const file = (): string => join(mkdtempSync(join(tmpdir(), 'quern-templates-')), 'chat-templates.json');

describe('the memory of chat templates', () => {
  it('warns once when a model comes with another template, also after a restart', async () => {
    const path = file();
    const first = new TemplateMemory(path);
    assert.equal(await first.note('org/repo', 'aaaa'), null);
    assert.equal(await first.note('org/repo', 'aaaa'), null);
    assert.equal(await first.note('org/other', 'bbbb'), null);
    const next = new TemplateMemory(path);
    assert.match((await next.note('org/repo', 'cccc')) ?? '', /hash aaaa, now cccc/);
    assert.equal(await next.note('org/repo', 'cccc'), null);
    assert.match((await next.note('org/other', '')) ?? '', /hash bbbb, now none/);
  });

  it('refuses another template where they are pinned, until its line is removed', async () => {
    const path = file();
    const memory = new TemplateMemory(path, true);
    assert.equal(await memory.note('org/repo', 'aaaa'), null);
    for (const _again of [1, 2])
      await assert.rejects(memory.note('org/repo', 'cccc'), {
        kind: 'conflict',
        code: 'TemplateChanged',
        message: /aaaa, now cccc.*chat-templates\.json/,
      });
    assert.equal(await memory.note('org/repo', 'aaaa'), null);
    writeFileSync(path, '{}');
    assert.equal(await memory.note('org/repo', 'cccc'), null);
  });

  it('forgets no pin over a damaged file or many models', async () => {
    const path = file();
    writeFileSync(path, '{"org/repo":');
    await assert.rejects(new TemplateMemory(path, true).note('org/repo', 'aaaa'), { kind: 'unavailable', code: 'TemplatesUnreadable' });
    assert.equal(readFileSync(path, 'utf8'), '{"org/repo":');
    writeFileSync(path, JSON.stringify(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`org/${at}`, 'aaaa']))));
    await assert.rejects(new TemplateMemory(path, true).note('org/repo', 'aaaa'), { kind: 'unavailable', code: 'TooManyTemplates' });
    await assert.rejects(new TemplateMemory(path, true).note('org/0', 'bbbb'), { code: 'TemplateChanged' });
  });

  it('keeps what calls at the same time note, and leaves no other file', async () => {
    const path = file();
    const memory = new TemplateMemory(path);
    await Promise.all(Array.from({ length: 20 }, (_, index) => memory.note(`model-${index}`, 'aaaa')));
    assert.equal(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length, 20);
    assert.deepEqual(readdirSync(join(path, '..')), ['chat-templates.json']);
  });

  it('starts anew over a damaged file, and does not fail where nothing can be written', async () => {
    const path = file();
    writeFileSync(path, '{"org/repo":');
    const memory = new TemplateMemory(path);
    assert.equal(await memory.note('org/repo', 'aaaa'), null);
    assert.match((await memory.note('org/repo', 'bbbb')) ?? '', /hash aaaa/);
    assert.equal(await new TemplateMemory(join(path, 'below', 'file.json')).note('org/repo', 'aaaa'), null);
  });
});
