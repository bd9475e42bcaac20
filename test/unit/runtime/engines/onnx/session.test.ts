import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { OnnxOptions, Tensor } from '../../../../../runtime/engines/onnx/contract.js';
import { openSession } from '../../../../../runtime/engines/onnx/session.js';
import { inspectGraph } from '../../../../../runtime/formats/onnx/graph-file.js';
import { Failure } from '../../../../../schemas/errors.js';
import { floats, type OnnxGraph, type OnnxTensor, writeOnnx } from '../../../../support/models/writers/onnx-writer.js';

const WEIGHT = floats('w', [2, 2], [1, 2, 3, 4]);
const GRAPH: OnnxGraph = {
  nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: [WEIGHT],
  inputs: [{ name: 'x', type: 'float32', dims: ['n', 2] }],
  outputs: [{ name: 'y', type: 'float32', dims: ['n', 2] }],
};
const CPU = { threads: 1, provider: 'cpu' };
const x = (dims: number[], values: number[]): Tensor => ({ type: 'float32', dims, data: Float32Array.from(values) });
const external = (entries: Record<string, string>): OnnxGraph => ({ ...GRAPH, initializers: [{ ...WEIGHT, external: entries }] });

describe('ONNX session', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-onnx-'));
    writeFileSync(join(folder, 'weights.bin'), new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const written = (graph: OnnxGraph | Uint8Array, name = 'model.onnx'): string => {
    const path = join(folder, name);
    writeFileSync(path, graph instanceof Uint8Array ? graph : writeOnnx(graph));
    return path;
  };
  const refusal = async (path: string, options: OnnxOptions = CPU): Promise<Failure> => {
    try {
      await (await openSession(path, options)).close();
    } catch (error) {
      assert.ok(error instanceof Failure, String(error));
      return error;
    }
    assert.fail(`${path} was opened`);
  };

  it('runs a graph and says what it takes', async () => {
    const session = await openSession(written(GRAPH), CPU);
    assert.deepEqual(session.inputs, [{ name: 'x', type: 'float32', dims: ['n', 2] }]);
    assert.deepEqual(session.providers.used, ['cpu']);
    assert.equal(session.providers.why, null);
    const { y } = await session.run({ x: x([2, 2], [1, 0, 0, 1]) });
    assert.deepEqual(
      [y!.dims, [...y!.data]],
      [
        [2, 2],
        [1, 2, 3, 4],
      ],
    );
    await session.close();
  });

  it('refuses feeds that do not fit, and goes on', async () => {
    const session = await openSession(written(GRAPH), CPU);
    const feeds: [Record<string, Tensor>, RegExp][] = [
      [{}, /input "x" is missing/],
      [{ x: x([1, 3], [1, 2, 3]) }, /takes float32 \[n, 2\], not float32 \[1, 3\]/],
      [{ x: { type: 'int64', dims: [1, 2], data: BigInt64Array.of(1n, 2n) } }, /not int64/],
      [{ x: x([4, 2], [1, 2]) }, /holds 2 values/],
      [{ x: { ...x([1, 2], []), data: Uint8Array.of(1, 2) } }, /Uint8Array/],
      [{ x: x([1, 2], [1, 2]), z: x([1], [1]) }, /no input "z"/],
    ];
    for (const [feed, message] of feeds) await assert.rejects(session.run(feed), { kind: 'invalid', message });
    await assert.rejects(session.run({ x: x([1, 2], [1, 1]) }, ['nope']), { kind: 'invalid', message: /no output "nope"/ });
    assert.deepEqual([...(await session.run({ x: x([1, 2], [1, 1]) })).y!.data], [4, 6]);
    await session.close();
  });

  it('reads weights beside the graph', async () => {
    const path = written(external({ location: 'weights.bin', offset: '0', length: '16' }));
    assert.deepEqual(inspectGraph(path).external, ['weights.bin']);
    const session = await openSession(path, CPU);
    assert.deepEqual([...(await session.run({ x: x([1, 2], [1, 1]) })).y!.data], [4, 6]);
    await session.close();
  });

  it('reads a graph and weights that a hub cache links to one folder', async () => {
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'blobs'), { recursive: true });
    mkdirSync(join(cache, 'snapshots/1'), { recursive: true });
    writeFileSync(join(cache, 'blobs/aa'), writeOnnx(external({ location: 'model.onnx_data' })));
    writeFileSync(join(cache, 'blobs/bb'), new Uint8Array(16));
    symlinkSync('../../blobs/aa', join(cache, 'snapshots/1/model.onnx'));
    symlinkSync('../../blobs/bb', join(cache, 'snapshots/1/model.onnx_data'));
    assert.deepEqual(inspectGraph(join(cache, 'snapshots/1/model.onnx')).external, ['model.onnx_data']);
  });

  const outside: [string, Record<string, string>, RegExp][] = [
    ['above', { location: '../weights.bin' }, /"\.\.\/weights\.bin", which is outside/],
    ['above, by a detour', { location: 'a/../../weights.bin' }, /which is outside/],
    ['absolute', { location: '/etc/passwd', length: '16' }, /"\/etc\/passwd", which is outside/],
    ['missing', { location: 'none.bin' }, /which is not there/],
    ['nameless', {}, /lies in ""/],
    ['beyond its end', { location: 'weights.bin', offset: '8' }, /bytes 8 to 24 of "weights\.bin", which has 16/],
    ['negative', { location: 'weights.bin', offset: '-16' }, /bytes -16/],
    ['too short', { location: 'weights.bin', length: '4' }, /needs 16/],
  ];
  for (const [name, entries, message] of outside)
    it(`refuses weights that lie ${name}`, async () => {
      const failure = await refusal(written(external(entries), 'outside.onnx'));
      assert.equal(failure.kind, 'invalid');
      assert.match(failure.message, message);
      assert.match(failure.message, /^outside\.onnx/);
    });

  it('refuses weights behind a link to the outside, and in the branches of a graph', async () => {
    symlinkSync('/etc/passwd', join(folder, 'link.bin'));
    assert.match((await refusal(written(external({ location: 'link.bin' })))).message, /a link to the outside/);
    const branch: OnnxGraph = { ...external({ location: '../deep.bin' }), inputs: [] };
    const node = {
      op: 'If',
      inputs: ['c'],
      outputs: ['y'],
      attributes: { then_branch: { graph: branch }, else_branch: { graph: branch } },
    };
    assert.match((await refusal(written({ ...GRAPH, nodes: [node] }))).message, /"\.\.\/deep\.bin", which is outside/);
  });

  it('refuses absurd shapes', async () => {
    const shaped = (tensor: Partial<OnnxTensor>): OnnxGraph =>
      external({ location: 'weights.bin', ...({} as object) }) && {
        ...GRAPH,
        initializers: [{ ...WEIGHT, ...tensor, external: { location: 'weights.bin' } }],
      };
    assert.match((await refusal(written(shaped({ dims: [2 ** 30, 2 ** 30] })))).message, /shape \[1073741824, 1073741824\]/);
    assert.match((await refusal(written(shaped({ dims: [-1, 2] })))).message, /shape/);
    assert.match(
      (await refusal(written({ ...GRAPH, initializers: [floats('w', [3, 2], [1, 2, 3, 4, 5, 6])] }))).message,
      /model\.onnx is not a usable/,
    );
  });

  it('names a graph by its place below the folder of its model, wherever that lies', async () => {
    const inside = join(folder, 'pipeline/unet/model.onnx');
    mkdirSync(dirname(inside), { recursive: true });
    writeFileSync(inside, 'no graph');
    for (const [within, file] of [
      [join(folder, 'pipeline'), 'unet/model.onnx'],
      [`${folder}/pipeline/`, 'unet/model.onnx'],
      [join(folder, 'elsewhere'), 'model.onnx'],
    ] as const) {
      const failure = await refusal(inside, { ...CPU, folder: within });
      assert.match(failure.message, new RegExp(`^${file} is not a usable ONNX file`));
      assert.deepEqual(failure.errors![0]!.loc, ['file', file]);
      assert.ok(!JSON.stringify(failure.errors).includes(folder));
    }
    writeFileSync(inside, writeOnnx(GRAPH));
    const session = await openSession(inside, { ...CPU, folder: join(folder, 'pipeline') });
    assert.equal(session.file, 'unet/model.onnx');
    await assert.rejects(session.run({}), { kind: 'invalid', message: /^unet\/model\.onnx: input "x" is missing/ });
    await session.close();
    assert.match(
      (await refusal(join(folder, 'pipeline/none.onnx'), { ...CPU, folder })).message,
      /file pipeline\/none\.onnx cannot be read/,
    );
  });

  it('refuses what is no graph', async () => {
    const whole = Buffer.from(writeOnnx(GRAPH));
    for (const bytes of [Buffer.alloc(0), Buffer.from('no protobuf at all'), whole.subarray(0, whole.length - 7), Buffer.alloc(100)]) {
      const failure = await refusal(written(bytes, 'broken.onnx'));
      assert.equal(failure.status, 422);
      assert.match(failure.message, /^broken\.onnx is not a usable ONNX file/);
      assert.ok(!failure.message.includes(folder));
    }
    assert.equal((await refusal(join(folder, 'none.onnx'))).status, 404);
    assert.equal((await refusal(folder)).status, 422);
    const unknown = await refusal(written({ ...GRAPH, nodes: [{ op: 'Nope', inputs: ['x', 'w'], outputs: ['y'] }] }));
    assert.match(unknown.message, /Nope/);
  });

  it('answers every flipped bit with a session or a failure that names the file', async () => {
    const whole = writeOnnx(GRAPH);
    let refused = 0;
    for (let bit = 0; bit < whole.length * 8; bit += 3) {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      try {
        await (await openSession(written(bytes, 'flipped.onnx'), CPU)).close();
      } catch (error) {
        refused += 1;
        assert.ok(error instanceof Failure && error.kind === 'invalid' && error.message.startsWith('flipped.onnx'), String(error));
      }
    }
    assert.ok(refused > whole.length);
  });

  it('names providers that nobody knows, and says why a known one is not used', async () => {
    const path = written(GRAPH);
    await assert.rejects(openSession(path, { threads: 1, provider: 'abacus' }), {
      kind: 'bad_request',
      message: /device is "abacus"; give auto, cpu/,
    });
    await assert.rejects(openSession(path, { threads: 0, provider: 'cpu' }), { kind: 'bad_request', message: /threads is 0/ });
    const session = await openSession(path, { threads: 1, provider: 'qnn' });
    assert.deepEqual(session.providers.used, ['cpu']);
    assert.match(session.providers.why!, /qnn is not/);
    await session.close();
  });
});
