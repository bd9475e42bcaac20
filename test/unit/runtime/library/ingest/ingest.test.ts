import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Parsing, type ParsingRequest } from '../../../../../runtime/documents/parsing/parsing.js';
import type { FileOutcome, IngestContext } from '../../../../../runtime/library/datasets/contract.js';
import { FileIngest } from '../../../../../runtime/library/ingest/ingest.js';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import { Projects } from '../../../../../runtime/projects/projects.js';
import type { Embedder } from '../../../../../runtime/rag/embedders/contract.js';
import { createEmbedders } from '../../../../../runtime/rag/embedders/index.js';
import { OpenedStores } from '../../../../../runtime/rag/opened-stores.js';
import { openStore, type Store } from '../../../../../runtime/store/store.js';
import { Failure, type FailureKind } from '../../../../../schemas/errors.js';
import { hashOf, writeProject } from '../../../../support/dataset-stage.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-ingest-'));
const STAGES = join(dataDir, 'projects/ns/p/lf_data/stages');
writeProject(
  dataDir,
  'ns',
  'p',
  `version: v1
runtime: {models: []}
rag:
  databases:
    - {name: db, type: NativeStore, embedding_strategies: [{name: e, type: LexicalEmbedder}]}
    - {name: wide, type: NativeStore, config: {dimension: 64}, embedding_strategies: [{name: e, type: LexicalEmbedder}]}
  data_processing_strategies:
    - {name: texts, parsers: [{type: TextParser, config: {chunk_size: 50, chunk_overlap: 0, chunk_strategy: sentences}}]}
`,
);

/** Parsing that counts. */
class CountedParsing extends Parsing {
  files = 0;

  override write(request: ParsingRequest, path: string, signal: AbortSignal): Promise<void> {
    this.files += 1;
    return super.write(request, path, signal);
  }
}

const sentences = (count: number, word: string): string =>
  Array.from({ length: count }, (_, at) => `Sentence ${at} speaks of ${word} number ${at}.`).join(' ');

describe('ingestion of files', () => {
  const outbound = new Outbound();
  const parsing = new CountedParsing();
  let store: Store;
  let stores: OpenedStores;
  let ingest: FileIngest;
  /** Texts that were embedded since the test began. */
  let embedded: string[] = [];
  let onEmbed: (call: number) => void = () => undefined;
  const noted: string[] = [];

  before(async () => {
    store = await openStore(dataDir);
    stores = new OpenedStores({ store, outbound });
    const real = createEmbedders({ outbound });
    let calls = 0;
    const embedders = {
      of: (owner: string, strategy: Parameters<typeof real.of>[1]): Embedder => {
        const embedder = real.of(owner, strategy);
        return {
          type: embedder.type,
          key: embedder.key,
          dimensions: embedder.dimensions,
          embed: (texts, ...rest) => {
            calls = embedded.length === 0 ? 1 : calls + 1;
            onEmbed(calls);
            embedded.push(...texts);
            return embedder.embed(texts, ...rest);
          },
        };
      },
    };
    ingest = new FileIngest({ projects: new Projects({ dataDir }), stores, embedders, parsing });
  });
  beforeEach(() => {
    embedded = [];
    parsing.files = 0;
    noted.length = 0;
    onEmbed = () => undefined;
  });
  after(async () => {
    await parsing.close();
    await stores.close();
    await store.close();
    await outbound.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const take = (
    name: string,
    content: string,
    more: { database?: string; strategy?: string; signal?: AbortSignal } = {},
  ): Promise<FileOutcome> => {
    const path = join(dataDir, hashOf(content));
    writeFileSync(path, content);
    const { database = 'db', strategy = 'texts', signal = new AbortController().signal } = more;
    const file = { path, name, hash: hashOf(content), mimeType: 'text/plain', sizeBytes: Buffer.byteLength(content) };
    const context: IngestContext = {
      signal,
      attempt: 1,
      willStore: async () => void noted.push(`will store after ${embedded.length}`),
      report: ({ done, total, stored }) => noted.push(`${done}/${total} ${stored}`),
    };
    return ingest.ingest({ namespace: 'ns', project: 'p', dataset: 'docs', database, strategy, file, overrides: {} }, context);
  };
  const remove = (content: string): Promise<number> =>
    ingest.removeDocument({ namespace: 'ns', project: 'p', database: 'db', documentHash: hashOf(content) });

  it('stores the chunks of a file, and says what became of it', async () => {
    const text = sentences(3, 'stars');
    assert.deepEqual(await take('a.txt', text), {
      status: 'success',
      reason: null,
      parser: 'TextParser',
      extractors: [],
      chunks: 3,
      chunkSize: 50,
      embedder: 'LexicalEmbedder',
      storedCount: 3,
      skippedCount: 0,
      documentCount: 1,
      documentIds: [hashOf(text)],
      warnings: [],
    });
    assert.deepEqual(noted, ['will store after 0', '3/3 3']);
  });

  it('does nothing again for a file that is there', async () => {
    const { status, reason, storedCount, skippedCount } = await take('b.txt', sentences(3, 'stars'));
    assert.deepEqual(
      { status, reason, storedCount, skippedCount },
      { status: 'skipped', reason: 'duplicate', storedCount: 0, skippedCount: 3 },
    );
    assert.deepEqual([embedded, noted], [[], []]);
  });

  it('uses what earlier runs have made of a file that was taken out', async () => {
    const text = sentences(5, 'rivers');
    await take('a.txt', text);
    const query = {
      vector: (
        await createEmbedders({ outbound })
          .of('x', { name: 'e', type: 'LexicalEmbedder' })
          .embed(['rivers number 4'], 'query', 'interactive', new AbortController().signal)
      )[0]!,
      k: 1,
    };
    const found = async (): Promise<unknown> => {
      const place = { namespace: 'ns', project: 'p', directory: join(dataDir, 'projects/ns/p') };
      const [hit] = (await (await stores.of(place, { name: 'db', type: 'NativeStore' })).query(query, new AbortController().signal)).dense;
      return [hit!.id, hit!.score.toFixed(5)];
    };
    const first = await found();
    assert.equal(await remove(text), 5);
    embedded = [];
    parsing.files = 0;
    assert.equal((await take('a.txt', text)).storedCount, 5);
    assert.deepEqual([embedded, parsing.files], [[], 0]);
    assert.deepEqual(await found(), first);
  });

  it('keeps nothing of a document whose bytes were removed, and all of the others', async () => {
    const [gone, stays] = [sentences(5, 'lakes'), sentences(5, 'seas')];
    for (const text of [gone, stays]) await take('a.txt', text);
    const kept = (text: string): string[] => readdirSync(STAGES).filter((name) => name.includes(hashOf(text)));
    assert.deepEqual([kept(gone).length, kept(stays).length], [2, 2]);
    await remove(gone);
    await ingest.forgetDocuments({ namespace: 'ns', project: 'p', documentHashes: [hashOf(gone)] });
    assert.deepEqual([kept(gone).length, kept(stays).length], [0, 2]);
    parsing.files = 0;
    assert.equal((await take('a.txt', gone)).storedCount, 5);
    assert.equal(parsing.files, 1);
  });

  it('makes damaged results anew', async () => {
    const text = sentences(4, 'clouds');
    await take('a.txt', text);
    await remove(text);
    for (const name of readdirSync(STAGES)) {
      const bytes = readFileSync(join(STAGES, name));
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(join(STAGES, name), bytes);
    }
    embedded = [];
    parsing.files = 0;
    assert.equal((await take('a.txt', text)).storedCount, 4);
    assert.deepEqual([embedded.length, parsing.files], [4, 1]);
  });

  it('keeps the batches before an abort, and goes on after them', async () => {
    const text = sentences(150, 'mountains');
    const controller = new AbortController();
    onEmbed = (call) => {
      if (call === 2) controller.abort(new Error('told to stop'));
    };
    await assert.rejects(take('a.txt', text, { signal: controller.signal }), /told to stop/);
    assert.deepEqual(noted, ['will store after 0', '64/150 64']);
    onEmbed = () => undefined;
    embedded = [];
    parsing.files = 0;
    const { status, storedCount, skippedCount } = await take('a.txt', text);
    assert.deepEqual([status, storedCount, skippedCount], ['success', 86, 64]);
    assert.deepEqual([embedded.length, parsing.files], [86, 0]);
    assert.ok(embedded.every((one) => !one.startsWith('Sentence 3 ')));
  });

  const passing: FailureKind[] = ['unavailable', 'timed_out', 'busy', 'disk_full', 'too_many', 'internal'];
  for (const kind of passing) {
    it(`leaves ${kind} to the task, which tries again`, async () => {
      onEmbed = () => {
        throw new Failure(kind, 'not now');
      };
      await assert.rejects(take('a.txt', sentences(2, kind)), (error) => error instanceof Failure && error.kind === kind);
      onEmbed = () => undefined;
      assert.equal((await take('a.txt', sentences(2, kind))).storedCount, 2);
    });
  }

  for (const kind of ['invalid', 'model_failed', 'bad_request', 'not_found'] as const) {
    it(`fails the file for ${kind}`, async () => {
      onEmbed = () => {
        throw new Failure(kind, 'never');
      };
      const outcome = await take('a.txt', sentences(2, kind));
      assert.deepEqual(
        [outcome.status, outcome.reason, outcome.parser, outcome.chunks, outcome.storedCount],
        ['failed', 'never', 'TextParser', 2, 0],
      );
    });
  }

  it('leaves what nobody expected to the task', async () => {
    onEmbed = () => {
      throw new TypeError('a defect');
    };
    await assert.rejects(take('a.txt', sentences(2, 'defects')), TypeError);
  });

  it('fails files that cannot be read, do not fit their database, or have no strategy', async () => {
    assert.match((await take('a.txt', '  \n ')).reason!, /a\.txt/);
    assert.match((await take('a.txt', sentences(2, 'width'), { database: 'wide' })).reason!, /384.*64/);
    assert.match((await take('a.txt', sentences(2, 'x'), { strategy: 'nope' })).reason!, /'nope'.*texts/);
    await assert.rejects(take('a.txt', 'x', { database: 'nope' }), (error) => error instanceof Failure && error.kind === 'not_found');
  });
});
