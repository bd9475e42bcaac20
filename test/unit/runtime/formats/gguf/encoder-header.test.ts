import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { u32 } from '../../../../../models/writers/gguf-values.js';
import { writeGguf } from '../../../../../models/writers/gguf-writer.js';
import { ggufHeader } from '../../../../../runtime/formats/gguf/header.js';
import { tinyPath } from '../../../../support/models/cache.js';
import { TINY_SHAPE, tinyWeights, writeGgufEncoder } from '../../../../support/models/tiny-encoders.js';
import { bertGguf } from '../../../../support/models/writers/gguf-bert.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-encoder-header-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the header of an embedding model', () => {
  const path = join(folder, 'tiny.gguf');
  writeGgufEncoder(path, { pooling: 'mean' });

  it('is taken for embeddings, and refused for chats', async () => {
    const header = await ggufHeader(path, 'embedding');
    assert.deepEqual([header.architecture, header.onlyEmbeds, header.contextLength], ['bert', true, TINY_SHAPE.positions]);
    await assert.rejects(ggufHeader(path), { kind: 'invalid', message: /"bert"; that is an embedding model\. Name a language model\.$/ });
    assert.equal((await ggufHeader(tinyPath(), 'embedding')).onlyEmbeds, false);
  });

  it('is refused where it promises more positions than its table has', async () => {
    const vocabulary = Array.from({ length: 8 }, (_none, at) => `w${at}`);
    const file = bertGguf({ name: 'x', shape: TINY_SHAPE, weights: tinyWeights, vocabulary, pooling: 'mean', type: 'F32' });
    const metadata = file.metadata.map(([key, value]) => [key, key === 'bert.context_length' ? u32(4096) : value] as const);
    const damaged = join(folder, 'damaged.gguf');
    // Ids of special tokens that the small vocabulary lacks are left out.
    writeGguf(damaged, { ...file, metadata: metadata.filter(([key]) => !/token_id$/.test(key)) });
    await assert.rejects(ggufHeader(damaged, 'embedding'), { kind: 'invalid', message: /bert.context_length is 4096.*128 positions/ });
  });
});
