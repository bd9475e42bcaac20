import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import { createEmbedders } from '../../../../../runtime/rag/embedders/index.js';
import { foldedWords } from '../../../../../runtime/rag/embedders/lexical.js';

const signal = new AbortController().signal;
const embedder = createEmbedders({ outbound: new Outbound() }).of('db', { name: 'l', type: 'LexicalEmbedder' });

async function vector(text: string): Promise<Float32Array> {
  return (await embedder.embed([text], 'document', 'bulk', signal))[0]!;
}

async function alike(a: string, b: string): Promise<number> {
  const [x, y] = [await vector(a), await vector(b)];
  return x.reduce((sum, component, at) => sum + component * y[at]!, 0);
}

describe('LexicalEmbedder', () => {
  // The value was taken once; another one means that stored vectors no longer fit, which the version in the key has to say.
  it('makes the same vector on every machine', async () => {
    const made = await vector('Déjà vu: The 3 Kettles boil water, water & tea. 緑茶は八十度 🍵');
    const rounded = Int32Array.from(made, (component) => Math.round(component * 1e6));
    assert.equal(createHash('sha256').update(rounded).digest('hex').slice(0, 16), '06c73eeb0318bf78');
  });

  for (const [near, far] of [
    [
      ['How do I boil water?', 'Boiling water takes minutes'],
      ['How do I boil water?', 'Invoices are paid late'],
    ],
    [
      ['configuration', 'configure'],
      ['configuration', 'consternation'],
    ],
    [
      ['the kettle', 'kettle'],
      ['the kettle', 'the garage'],
    ],
    [
      ['Café au lait', 'CAFE AU LAIT'],
      ['Café au lait', 'Green tea'],
    ],
    [
      ['緑茶', '緑茶は八十度'],
      ['緑茶', '銀行口座を開く'],
    ],
  ] as const)
    it(`'${near[0]}' is nearer to '${near[1]}' than to '${far[1]}'`, async () =>
      assert.ok((await alike(near[0], near[1])) > (await alike(far[0], far[1])) + 0.1));

  for (const text of ['!!!', '🍵', 'the', '\u0000', '.', '\ud800'])
    it(`has a vector for ${JSON.stringify(text)}`, async () => assert.ok(Math.abs(Math.hypot(...(await vector(text))) - 1) < 1e-5));

  it('folds case, accents and compatibility forms', () =>
    assert.deepEqual([...foldedWords('Ünïcode ﬁle_42, x2!')], ['unicode', 'file', '42', 'x2']));

  it('gives the event loop back while it works', async () => {
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await vector(Array.from({ length: 60_000 }, (_none, at) => `word${at}`).join(' '));
    clearInterval(counting);
    assert.ok(turns > 3, `${turns} turns`);
  });

  it('stops in the middle of a long text', async () => {
    const controller = new AbortController();
    const long = Array.from({ length: 200_000 }, (_none, at) => `word${at}`).join(' ');
    setImmediate(() => controller.abort(new Error('gone')));
    await assert.rejects(embedder.embed([long], 'document', 'bulk', controller.signal), /gone/);
  });
});
