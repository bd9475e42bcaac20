import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { prebuiltComplaint } from '../../../native/prebuilt.js';

describe('addons that came in a package', () => {
  let folder: string;
  const addon = (): string => join(folder, 'Release/quern_core.node');
  const pack = (system: { platform: string; arch: string }): void => {
    const hash = createHash('sha256').update('an addon').digest('hex');
    writeFileSync(join(folder, 'prebuilt.json'), JSON.stringify({ ...system, files: { 'Release/quern_core.node': hash } }));
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-prebuilt-'));
    mkdirSync(join(folder, 'Release'));
    writeFileSync(addon(), 'an addon');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are loaded where they were built for this system and are what was packed', () => {
    pack(process);
    assert.equal(prebuiltComplaint(folder), undefined);
  });

  it('are loaded where they were built here', () => assert.equal(prebuiltComplaint(folder), undefined));

  it('are not where they were built for another system', () => {
    pack({ platform: 'darwin', arch: 'arm64' });
    assert.match(prebuiltComplaint(folder) ?? '', /built for darwin-arm64, and this is /);
  });

  it('are not where a file differs or is missing', () => {
    pack(process);
    writeFileSync(addon(), 'another');
    assert.match(
      prebuiltComplaint(folder) ?? '',
      /quern_core\.node is not the file that was packed: its SHA-256 is [0-9a-f]{64} instead of/,
    );
    rmSync(addon());
    assert.match(prebuiltComplaint(folder) ?? '', /quern_core\.node is missing/);
  });
});
