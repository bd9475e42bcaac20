import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../runtime/base/log.js';
import { readByEncoder } from '../../runtime/memory/consolidation/batch.js';
import type { MemoryRecord } from '../../runtime/memory/contract.js';
import { Failure } from '../../schemas/errors.js';
import { writeProject } from '../support/dataset-stage.js';
import { headOf, writeEncoder, writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';

const never = new AbortController().signal;
const STORE = 'memory: {stores: [{name: main, working_memory: {}, graph: {}, consolidation: {}}]}';
const ner = (model: string): string => `{name: names, provider: universal, model: ${model}, encoder_config: {task: ner}}`;
/** Rules see no name in a word that opens its sentence, and "the" makes no name. */
const SAID = 'Anna sat on the mat. Write to Anna@bruno.example on 5 May 2024.';

/** Lines of the log while something is done. */
async function logged(work: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  const write = process.stderr.write;
  process.stderr.write = ((line: string) => lines.push(line) > 0) as typeof process.stderr.write;
  setLogLevel('warn');
  try {
    await work();
  } finally {
    process.stderr.write = write;
    setLogLevel('error');
  }
  return lines;
}

setLogLevel('error');

describe('names of what is remembered', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-memory-names-'));
  const models = join(dataDir, 'models');
  let stage: RetrievalStage;

  before(async () => {
    writeTinyEncoders(models);
    writeProject(dataDir, 'ns', 'chosen', `version: v1\nruntime: {models: [${ner('tiny/ner')}]}\n${STORE}\n`);
    writeProject(dataDir, 'ns', 'long', `version: v1\nruntime: {models: [${ner('tiny/ner')}]}\n${STORE}\n`);
    writeProject(dataDir, 'ns', 'plain', `version: v1\nruntime: {models: []}\n${STORE}\n`);
    writeProject(dataDir, 'ns', 'absent', `version: v1\nruntime: {models: [${ner('no/ner')}]}\n${STORE}\n`);
    writeProject(dataDir, 'ns', 'broken', `version: v1\nruntime: {models: [${ner('tiny/broken')}]}\n${STORE}\n`);
    stage = await openRetrievalStage(dataDir);
  });
  after(async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Remembers texts, consolidates, and answers the nodes of the project: `who found it: type name`. */
  async function nodesAfter(project: string, ...texts: readonly string[]): Promise<string[]> {
    const M = `/v1/projects/ns/${project}/memory`;
    for (const text of texts) await stage.call('POST', `${M}/add`, { data: 'said', text });
    const { records_processed: records } = await stage.call('POST', `${M}/consolidate`, {});
    assert.equal(records, texts.length);
    const { results } = await stage.call('GET', `${M}/query?data_types=node&limit=100`);
    type Node = { data: { name: string; kind: string; found_by: string } };
    return results.map(({ data }: Node) => `${data.found_by}: ${data.kind} ${data.name}`).toSorted();
  }

  it('are found by the NER model of the project; addresses and dates stay the work of rules', async () => {
    assert.deepEqual(await nodesAfter('chosen', SAID, '\u{1F600} Anna\nBruno works in Hamburg.'), [
      'encoder: LOC Hamburg',
      'encoder: PERSON Anna',
      'encoder: PERSON Anna Bruno',
      'rules: EMAIL Anna@bruno.example',
    ]);
  });

  it('are found in long texts by the encoder up to its bound, and by rules behind it', async () => {
    const tea = (times: number, then: string): string => `${'tea '.repeat(times)}. ${then}`;
    // No rule sees "Bruno" and "Anna" there, and the encoder's windows are 128 tokens long.
    const nodes = await nodesAfter('long', tea(1000, 'Bruno sat on the mat.'), tea(2300, 'Anna sat on the mat of Hamburg.'));
    assert.deepEqual(nodes, ['encoder: PERSON Bruno', 'rules: GPE Hamburg']);
  });

  it('are found by rules alone where no model is here, of which the log says nothing', async () => {
    const lines = await logged(async () => assert.deepEqual(await nodesAfter('plain', SAID), ['rules: EMAIL Anna@bruno.example']));
    assert.deepEqual(lines, []);
  });

  it('are found by the model that lies on this machine where the project names none', async () => {
    const head = { head: 'tokens', labels: ['O', 'B-PER'], weights: headOf([[], ['Bruno']]) } as const;
    writeEncoder(join(models, 'dslim/bert-base-NER'), head);
    assert.ok((await nodesAfter('plain', 'Bruno is in the garden.')).includes('encoder: PERSON Bruno'));
  });

  it('are found by rules where the model of the project is absent or broken, and the log says so once', async () => {
    writeEncoder(join(models, 'tiny/broken'), { head: 'tokens', labels: ['O', 'B-PER'], weights: headOf([[], ['Anna']]) });
    const graph = join(models, 'tiny/broken/onnx/model.onnx');
    writeFileSync(graph, readFileSync(graph).subarray(0, 1000));
    for (const project of ['absent', 'broken']) {
      const texts = Array.from({ length: 40 }, () => SAID);
      const lines = await logged(async () =>
        assert.deepEqual(await nodesAfter(project, ...texts), ['rules: EMAIL Anna@bruno.example'], project),
      );
      const told = lines.filter((line) => line.includes('found no names'));
      assert.equal(told.length, 1, lines.join(''));
      assert.match(told[0]!, project === 'absent' ? /quern pull no\/ner/ : /tiny\/broken/);
    }
  });
});

describe('an encoder that reads memories', () => {
  const records = Array.from({ length: 40 }, (_none, at) => ({ id: `${at}`, text: `${at} ${'x'.repeat(20_000)}` }) as MemoryRecord);
  const entity = { text: 'x', label: 'PER', start: 0, end: 1, score: 1 };

  it('reads each record once, in parts, and no more of it than its bound', async () => {
    const asked: string[][] = [];
    const read = readByEncoder({
      model: 'm',
      isChosen: true,
      find: async (texts) => {
        asked.push([...texts]);
        return texts.map(() => [entity]);
      },
    });
    const of = await read(records, never);
    assert.deepEqual(of(records[39]!), [entity]);
    // As when a batch is cut in half because its changes are too many.
    await read(records.slice(0, 20), never);
    assert.equal(asked.flat().length, 40);
    assert.ok(asked.every((texts) => texts.length <= 16 && texts.every(({ length }) => length <= 8192)));
  });

  it('is asked no more after three failures, and goes on after one', async () => {
    for (const [failing, calls] of [
      [10, 3],
      [1, 6],
    ] as const) {
      let asked = 0;
      const read = readByEncoder({
        model: 'm',
        isChosen: true,
        find: async (texts) => {
          asked += 1;
          if (asked <= failing) throw new Failure('unavailable', 'its host died');
          return texts.map(() => [entity]);
        },
      });
      const of = await read(records, never);
      assert.deepEqual(of(records[0]!), []);
      assert.deepEqual(of(records[39]!), failing === 1 ? [entity] : []);
      // What it did not read it is asked again.
      await read(records, never);
      await read(records, never);
      assert.equal(asked, failing === 1 ? 4 : calls);
    }
  });

  it('ends with its run', async () => {
    const read = readByEncoder({ model: 'm', isChosen: true, find: async () => Promise.reject(new Error('aborted')) });
    const stop = new AbortController();
    stop.abort(new Error('cancelled'));
    await assert.rejects(read(records, stop.signal), /cancelled/);
  });
});
