import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { CONSENT_FILE, consentText, fingerprintOf, noteWritten, readUnapproved, setApproved } from '../../../../runtime/mcp/consent.js';
import type { McpServer } from '../../../../schemas/generated/config/project.js';

setLogLevel('error');

describe('consent to tool servers', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'quern-consent-'));
    folders.push(made);
    return made;
  };
  after(() => {
    for (const one of folders) rmSync(one, { recursive: true, force: true });
  });
  const server = (more: Partial<McpServer> = {}): McpServer => ({ name: 's', transport: 'stdio', command: 'run', ...more });
  const mayRun = async (directory: string, one: McpServer): Promise<boolean> => !(await readUnapproved(directory)).has(fingerprintOf(one));

  it('gives another fingerprint after any change of a setting, and the same in any order', () => {
    const all = [
      server(),
      server({ name: 't' }),
      server({ command: 'run2' }),
      server({ args: ['a'] }),
      server({ args: ['a', 'b'] }),
      server({ args: ['ab'] }),
      server({ env: { A: '1' } }),
      server({ env: { A: '2' } }),
      server({ env: { B: '1' } }),
      server({ base_url: 'http://a' }),
      server({ headers: { a: 'b' } }),
      server({ ask: true }),
      server({ tools: ['a'] }),
      server({ transport: 'http' }),
    ];
    assert.equal(new Set(all.map(fingerprintOf)).size, all.length);
    assert.equal(fingerprintOf({ command: 'run', name: 's', transport: 'stdio' }), fingerprintOf(server()));
    assert.equal(fingerprintOf(server({ env: { A: '1', B: '2' } })), fingerprintOf(server({ env: { B: '2', A: '1' } })));
  });

  it('lets run what nobody wrote over HTTP, and what was there before a request', async () => {
    const directory = folder();
    assert.equal(await mayRun(directory, server()), true);
    await noteWritten(directory, [server()], [server(), server({ name: 'new' })]);
    assert.equal(await mayRun(directory, server()), true);
    assert.equal(await mayRun(directory, server({ name: 'new' })), false);
  });

  it('lets run what was approved, until it leaves the file or its approval is taken back', async () => {
    const directory = folder();
    await noteWritten(directory, [], [server()]);
    await setApproved(directory, server(), true);
    assert.equal(await mayRun(directory, server()), true);
    await noteWritten(directory, [server()], []);
    await noteWritten(directory, [], [server()]);
    assert.equal(await mayRun(directory, server()), false);
    await setApproved(directory, server(), true);
    await setApproved(directory, server(), false);
    assert.equal(await mayRun(directory, server()), false);
  });

  it('forgets nothing that is in the file, however many others were written since', async () => {
    const directory = folder();
    await noteWritten(directory, [], [server()]);
    for (let round = 0; round < 6; round += 1) {
      const others = Array.from({ length: 255 }, (_none, at) => server({ name: `${round}-${at}` }));
      await noteWritten(directory, [server()], [server(), ...others]);
      assert.equal(await mayRun(directory, others[0]!), false);
    }
    assert.equal(await mayRun(directory, server()), false);
    const { unapproved } = JSON.parse(readFileSync(join(directory, CONSENT_FILE), 'utf8')) as { unapproved: string[] };
    assert.ok(unapproved.length <= 1_024, String(unapproved.length));
  });

  it('refuses everybody where the list cannot be read, and says how to go on', async () => {
    for (const text of ['', '{', '[]', '{"unapproved": 7}', '{"unapproved": ["x"]}']) {
      const directory = folder();
      writeFileSync(join(directory, CONSENT_FILE), text);
      assert.equal(await mayRun(directory, server()), false, text);
      await noteWritten(directory, [], [server()]);
      await assert.rejects(setApproved(directory, server(), true), { code: 'ConsentUnreadable' });
      assert.equal(await mayRun(directory, server({ name: 'other' })), false, text);
    }
  });

  it('keeps every change of many at a time', async () => {
    const directory = folder();
    const all = Array.from({ length: 20 }, (_none, at) => server({ name: String(at) }));
    await Promise.all(all.map((one) => noteWritten(directory, [], [one])));
    await Promise.all(all.slice(10).map((one) => setApproved(directory, one, true)));
    assert.deepEqual(
      await Promise.all(all.map((one) => mayRun(directory, one))),
      all.map((_one, at) => at >= 10),
    );
  });

  it('begins a project made over HTTP with all its servers unapproved', async () => {
    assert.equal(await consentText([]), undefined);
    assert.deepEqual(JSON.parse((await consentText([server(), server()]))!), { unapproved: [fingerprintOf(server())] });
  });
});
