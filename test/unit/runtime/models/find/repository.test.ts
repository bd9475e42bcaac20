import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cachedModels } from '../../../../../runtime/models/cache/list.js';
import type { ModelPlaces } from '../../../../../runtime/models/find/contract.js';
import { findGguf } from '../../../../../runtime/models/find/gguf.js';
import { aliasOf, repositoriesOf } from '../../../../../runtime/models/find/names.js';
import { knownModels, ownModels } from '../../../../../runtime/models/find/places.js';
import { findRepository } from '../../../../../runtime/models/find/repository.js';

describe('finding repositories', () => {
  let root = '';
  let places: ModelPlaces;
  const put = (path: string, text = 'weights'): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const link = (target: string, path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  };
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'quern-repositories-'));
    places = { folder: join(root, 'data', 'models'), builtIn: join(root, 'builtin'), hub: join(root, 'hub') };
    put('data/models/org/mine/config.json');
    put('data/models/org/mine/onnx/model.onnx');
    put('data/models/plain/model.onnx');
    put('data/models/plain/onnx/model_int8.onnx');
    for (const file of ['config.json', 'tokenizer.json', 'onnx/model.onnx']) put(`data/models/mini/${file}`);
    for (const file of ['config.json', 'tokenizer.json', 'model.onnx']) put(`data/models/beside/onnx/${file}`);
    for (const file of ['model_index.json', 'unet/model.onnx', 'vae_decoder/model.onnx']) put(`data/models/painter/${file}`);
    for (const file of ['stray.gguf', 'small/small.gguf', 'small/config.json']) put(`data/models/vendor/${file}`);
    put('data/models/vendor/readable/README.md');
    put('data/models/matrices/imatrix.gguf');
    put('outside/model.onnx');
    link(join(root, 'outside'), 'data/models/org/way-out');
    link(join(root, 'outside', 'model.onnx'), 'data/models/org/half/model.onnx');
    put('data/models/org/half/config.json');
    put('hub/models--org--cached/blobs/aaa');
    put('hub/models--org--cached/refs/main', 'new');
    put('hub/models--org--cached/snapshots/new/config.json');
    link('../../blobs/aaa', 'hub/models--org--cached/snapshots/old/model.onnx');
    link('../../blobs/none', 'hub/models--org--cached/snapshots/old/broken.onnx');
    put('hub/models--org--cached/snapshots/old/empty.onnx', '');
    put('hub/models--org--cached/snapshots/old/sub/tokenizer.json');
    put('hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/x/model.safetensors');
    put('hub/models--Xenova--all-MiniLM-L6-v2/snapshots/y/onnx/model.onnx');
    put('hub/models--dslim--bert-base-NER/snapshots/z/onnx/model.onnx');
    put('hub/models--Xenova--bert-base-NER/snapshots/z/onnx/model.onnx');
    put('hub/models--org--torch/snapshots/z/pytorch_model.bin');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('finds a folder below the models folder, with the quantisation asked for', async () => {
    const found = await findRepository('org/mine:int8', places);
    assert.deepEqual(
      [found.folder, found.source, found.quantisation, found.files],
      [join(root, 'data/models/org/mine'), 'folder', 'INT8', ['config.json', 'onnx/model.onnx']],
    );
    assert.equal((await findRepository('plain', places)).folder, join(root, 'data/models/plain'));
  });

  it('takes the first snapshot with weights, without broken, empty and unfinished files', async () => {
    const found = await findRepository('org/cached', places);
    assert.deepEqual([found.source, found.files], ['hub', ['model.onnx', 'sub/tokenizer.json']]);
  });

  for (const name of ['sentence-transformers/all-MiniLM-L6-v2', 'all-MiniLM-L6-v2', 'Sentence-Transformers/all-minilm-l6-v2']) {
    it(`puts the exported weights in the place of ${name}, and says so`, async () => {
      const found = await findRepository(name, places);
      assert.deepEqual([found.id, found.repository, found.notes.length], [name, 'Xenova/all-MiniLM-L6-v2', 1]);
      assert.deepEqual(found.facts, { pooling: 'mean', maxLength: 256, head: 'embedding' });
    });
  }

  it('knows chat models and recognisers of entities by the names that people give them', () => {
    const known: [string, ...string[]][] = [
      ['Qwen/Qwen2.5-0.5B-Instruct', 'Qwen/Qwen2.5-0.5B-Instruct', 'onnx-community/Qwen2.5-0.5B-Instruct'],
      ['google/gemma-3-1b-it', 'google/gemma-3-1b-it', 'onnx-community/gemma-3-1b-it-ONNX'],
      ['gpt2', 'openai-community/gpt2', 'Xenova/gpt2'],
      ['xlm-roberta-large-finetuned-conll03-english', 'FacebookAI/xlm-roberta-large-finetuned-conll03-english'],
      // Of these no export of the same weights is known.
      ['microsoft/phi-2', 'microsoft/phi-2'],
      ['Jean-Baptiste/roberta-large-ner-english', 'Jean-Baptiste/roberta-large-ner-english'],
    ];
    for (const [name, ...repositories] of known) assert.deepEqual(repositoriesOf(name), repositories);
    assert.equal(aliasOf('xlm-roberta-large-finetuned-conll03-english')?.facts.head, 'ner');
  });

  it('prefers weights in the repository itself', async () => {
    const found = await findRepository('dslim/bert-base-NER', places);
    assert.deepEqual([found.repository, found.notes, found.facts.head], ['dslim/bert-base-NER', [], 'ner']);
  });

  it('finds an absolute folder', async () => {
    const folder = join(root, 'outside');
    assert.deepEqual((await findRepository(`${folder}:Q4`, places)).files, ['model.onnx']);
    await assert.rejects(findRepository(join(root, 'nowhere'), places), { kind: 'not_found', code: 'ModelNotFound' });
  });

  it('does not search an absolute folder that holds far more than a model', async () => {
    put('many/model.onnx');
    for (let folder = 0; folder < 60; folder += 1) {
      mkdirSync(join(root, 'many', `${folder}`));
      for (let file = 0; file < 90; file += 1) symlinkSync('nowhere', join(root, 'many', `${folder}`, `${file}`));
    }
    const message = /many holds more than 5000 files and folders.*name the folder of one model/;
    await assert.rejects(findRepository(join(root, 'many'), places), { kind: 'not_found', code: 'ModelNotFound', message });
    await assert.rejects(findRepository('/', places), { kind: 'not_found', code: 'ModelNotFound' });
    assert.deepEqual((await findRepository(join(root, 'outside'), places)).files, ['model.onnx']);
  });

  const absent: [string, RegExp][] = [
    ['org/absent', /data\/models\/org\/absent.*models--org--absent.*quern pull org\/absent/],
    ['org/torch', /not complete.*pytorch_model\.bin.*quern pull/],
    ['org/way-out', /quern pull/],
    ['org/half', /config\.json/],
  ];
  for (const [name, message] of absent) {
    it(`says where it looked for ${name}`, () =>
      assert.rejects(findRepository(name, places), { kind: 'not_found', code: 'ModelNotFound', message }));
  }

  for (const name of ['../outside', 'org/../../outside', 'a/b/c', 'x.gguf', '']) {
    it(`refuses the name "${name}"`, () => assert.rejects(findRepository(name, places), { kind: 'bad_request', code: 'InvalidModelName' }));
  }

  it('lists the folders with weights', async () => {
    const { repositories: found } = await ownModels(places.folder);
    assert.deepEqual(found, ['beside', 'mini', 'org/mine', 'painter', 'plain', 'vendor', 'vendor/small']);
    for (const name of found) assert.equal((await findRepository(name, places)).source, 'folder', name);
  });

  it('lists the formats of graphs, and nothing else of their names', async () => {
    const graphs = ['vision_encoder.onnx', 'embed_tokens_fp16.onnx', 'decoder_model_merged.onnx', 'decoder_model_merged_q4.onnx'];
    for (const graph of [...graphs, 'model_qint8_avx512_vnni.onnx']) put(`graphs/models/seen/onnx/${graph}`);
    const [seen] = await cachedModels({ ...places, hub: join(root, 'no'), folder: join(root, 'graphs', 'models') });
    assert.deepEqual(seen!.quantisations, ['FP16', 'Q4', 'QINT8_AVX512_VNNI']);
  });

  it('lists what lies in folders that cannot be named by what it can be named by', async () => {
    for (const file of [
      'My Models/m Q4_0.gguf',
      'My Models/imatrix.gguf',
      'My Models/mmproj-m.gguf',
      'My Models/s-00001-of-00002.gguf',
      'My Models/s-00002-of-00002.gguf',
      'org/r\u00e9/deep/m.gguf',
      'a--b/onnx/model.onnx',
      'a--b/deep/m.gguf',
      'x-/m.onnx',
      'd.gguf/README.md',
    ])
      put(`free/models/${file}`);
    put('free/models/top.gguf');
    link(join(root, 'outside', 'model.onnx'), 'free/models/out.gguf');
    const free = { ...places, hub: join(root, 'no'), folder: join(root, 'free', 'models') };
    const { repositories, files } = await ownModels(free.folder);
    assert.deepEqual(files, ['My Models/m Q4_0.gguf', 'My Models/s-00001-of-00002.gguf', 'org/r\u00e9/deep/m.gguf']);
    assert.deepEqual(
      repositories,
      ['a--b', 'x-'].map((name) => join(free.folder, name)),
    );
    assert.deepEqual(await knownModels(free), ['top.gguf', ...repositories, ...files]);
    for (const name of ['top.gguf', ...files]) assert.equal((await findGguf(name, free)).source, 'file', name);
    await assert.rejects(findGguf('out', free), { kind: 'bad_request', message: /leads out/ });
    const listed = await cachedModels(free);
    assert.deepEqual(
      listed.map(({ id, quantisations }) => [id, quantisations]),
      [...repositories.map((id) => [id, []]), [files[0], ['Q4_0']], [files[1], []], [files[2], []], ['top.gguf', []]],
    );
    assert.ok((await findRepository(repositories[0]!, free)).files.includes('onnx/model.onnx'));
  });
});
