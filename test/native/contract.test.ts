import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { FINISH_ABORTED, FINISH_LENGTH, type NativeGenerateOptions, type NativeSchedulerOptions } from '../../native/contract.js';
import { backendFolders, loadCore, loadInference } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';
import { tinyPath } from '../support/models/cache.js';
import { contractMethods } from './contract-members.js';
import { Generations, GREEDY, MODEL, SCHEDULER } from './generations.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-native-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const failure = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, `not a Failure: ${String(error)}`);
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

/** Calls with anything, as JavaScript can. */
type Loose = Record<string, (...values: unknown[]) => unknown>;

test('the addon exports what the contract lists, and nothing else', async () => {
  const addon = loadInference();
  assert.deepEqual(Object.keys(addon).sort(), ['install', 'llamaTag', 'loadBackends', 'open', 'openEmbedder', 'openTranscriber']);
  assert.match(addon.llamaTag, /^[a-z0-9.]+$/);
  const devices = addon.loadBackends(backendFolders());
  assert.ok(devices.some((device) => device.kind === 'cpu' && device.memoryBytes > 0));
  assert.equal(addon.loadBackends(backendFolders()).length, devices.length, 'loading twice adds no device');
  const opened = await Generations.open(tinyPath());
  const methods = [
    'abort',
    'close',
    'dropAdapter',
    'dropState',
    'isEndOfGeneration',
    'loadAdapter',
    'restoreState',
    'saveState',
    'stats',
    'submit',
    'tokenBytes',
    'tokenize',
    'tokenizeLong',
  ];
  const exported = Object.getOwnPropertyNames(Object.getPrototypeOf(opened.scheduler)).filter((name) => name !== 'constructor');
  assert.deepEqual(exported.sort(), methods);
  assert.deepEqual(Object.keys(opened.scheduler).sort(), ['contextSize', 'info', 'stateStreams']);
  const stats = ['active', 'decodedTokens', 'kvUsed', 'prefilledTokens', 'queued', 'reusedTokens', 'steps'];
  assert.deepEqual(Object.keys(opened.scheduler.stats()).sort(), stats);
  await opened.close();
});

test('the core exports what the contract lists, and nothing else', () => {
  const contract = contractMethods()
    .get('CoreAddon')!
    .map(({ name }) => name);
  assert.deepEqual(Object.keys(loadCore()).sort(), contract.sort());
  const anomaly = ['instructionSet', 'anomalyBackends', 'openAnomalyFit', 'openAnomalyRestore'];
  for (const name of anomaly) assert.ok(contract.includes(name), name);
});

test('the core bounds what connections of a port of this process hold unread, and of no other', {
  skip: process.platform === 'win32',
}, async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.equal(loadCore().limitReceiveBuffers(port, 65_536), true);
  server.close();
  await once(server, 'close');
  assert.equal(loadCore().limitReceiveBuffers(port, 65_536), false);
  for (const wrong of [0, 65_536])
    assert.throws(() => loadCore().limitReceiveBuffers(wrong, 65_536), failure('invalid', /allowed is 1 to 65535/));
});

test('the core looks at what a connection has to say without taking it, and keeps it open beside its first descriptor', {
  skip: process.platform !== 'linux',
}, async () => {
  const core = loadCore();
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.equal(core.holdSilentConnections(port, 1), true);
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  let accepted = false;
  server.once('connection', () => {
    accepted = true;
  });
  await sleep(100);
  assert.equal(accepted, false, 'a silent connection waits');
  client.write('hello');
  const [socket] = (await once(server, 'connection')) as [Socket & { _handle: { fd: number } }];
  const { fd } = socket._handle;
  const into = new Uint8Array(16);
  for (const _time of [1, 2]) assert.equal(Buffer.from(into.subarray(0, core.peekConnection(fd, into))).toString(), 'hello');
  assert.equal(core.peekConnection(fd, new Uint8Array(2)), 2);
  assert.equal(core.peekConnection(fd, new Uint8Array(0)), 0);
  const second = core.duplicateConnection(fd);
  socket.destroy();
  await once(socket, 'close');
  assert.equal(core.peekConnection(second, into), 5);
  client.destroy();
  new Socket({ fd: second }).destroy();
  server.close();
  assert.equal(core.holdSilentConnections(port, 1), false);
  for (const wrong of [-1, 1_000_000]) {
    assert.equal(core.peekConnection(wrong, into), 0);
    assert.equal(core.duplicateConnection(wrong), -1);
  }
  assert.throws(() => core.holdSilentConnections(0, 1), failure('invalid', /allowed is 1 to 65535/));
  assert.throws(() => core.peekConnection(0, [] as unknown as Uint8Array), failure('invalid', /Uint8Array/));
});

test('Q8_0 weights are multiplied by our kernel wherever the processor can', {
  skip: process.arch !== 'x64' || process.platform !== 'linux',
}, () => {
  const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))![1]!.split(' '));
  const wanted = flags.has('avx512_vnni') ? 'avx512-vnni' : flags.has('avx2') ? 'avx2' : undefined;
  const [cpu] = loadInference()
    .loadBackends(backendFolders())
    .filter((device) => device.kind === 'cpu');
  assert.equal(/our kernel for (\S+)$/.exec(cpu!.description)?.[1], wanted);
});

test('a model tells what its weights say', async () => {
  const opened = await Generations.open(tinyPath());
  const { info, contextSize } = opened.scheduler;
  assert.equal(info.architecture, 'llama');
  assert.equal(info.vocabularySize, 512);
  assert.equal(info.layers, 2);
  assert.equal(info.embeddingSize, 64);
  assert.equal(info.headsKv, 1);
  assert.equal(info.trainedContextSize, 512);
  assert.equal(info.eosText, '<|im_end|>');
  assert.match(info.chatTemplate, /im_start/);
  assert.deepEqual(info.devices, ['CPU']);
  assert.equal(contextSize, 512);
  assert.ok(info.parameters > 10_000 && info.sizeBytes > 20_000);
  await opened.close();
});

test('text goes to tokens and back, byte for byte', async () => {
  const opened = await Generations.open(tinyPath());
  const text = 'tes ne ré 🙂 <|im_start|>';
  const tokens = opened.tokens(text);
  assert.equal(opened.text([...tokens]), text);
  const plain = opened.scheduler.tokenize(text, false, false);
  assert.ok(plain.length > tokens.length, 'without special tokens the tag is spelt');
  const end = opened.tokens('<|im_end|>')[0]!;
  assert.ok(opened.scheduler.isEndOfGeneration(end));
  assert.ok(!opened.scheduler.isEndOfGeneration(tokens[0]!));
  assert.equal(opened.scheduler.tokenBytes(end, false).length, 0, 'control tokens are no text');
  assert.equal(opened.scheduler.tokenize('', false, false).length, 0);
  assert.deepEqual(await opened.scheduler.tokenizeLong(text, false, true), tokens);
  const long = text.repeat(20_000);
  const aside = opened.scheduler.tokenizeLong(long, false, true);
  assert.equal((await aside).length, 20_000 * tokens.length);
  const left = opened.scheduler.tokenizeLong(long, false, true);
  await opened.close();
  assert.equal((await left).length, 20_000 * tokens.length, 'the vocabulary lives as long as it is read');
});

test('wrong arguments of open() are refused with the reason', async () => {
  const addon = loadInference();
  addon.loadBackends(backendFolders());
  const open = (path: unknown, model: object, scheduler: object, onStep: unknown = () => undefined): Promise<unknown> =>
    (addon.open as unknown as (...values: unknown[]) => Promise<unknown>)(
      path,
      { ...MODEL, ...model },
      { ...SCHEDULER, ...scheduler },
      () => undefined,
      onStep,
    );
  const cases: [unknown, object, object, string, RegExp][] = [
    [5, {}, {}, 'invalid', /path must be a string/],
    ['a\0b', {}, {}, 'invalid', /path must be/],
    [join(folder, 'missing.gguf'), {}, {}, 'not_found', /missing\.gguf/],
    [tinyPath(), { gpuLayers: Number.NaN }, {}, 'invalid', /gpuLayers must be a finite number/],
    [tinyPath(), { gpuLayers: -2 }, {}, 'invalid', /gpuLayers is -2/],
    [tinyPath(), { mmap: 1 }, {}, 'invalid', /mmap must be true or false/],
    [tinyPath(), {}, { slots: 0 }, 'invalid', /slots is 0; allowed is 1 to 256/],
    [tinyPath(), {}, { slots: 2 ** 31 }, 'invalid', /slots must be an integer of 32 bits/],
    [tinyPath(), {}, { contextSize: 1.5 }, 'invalid', /contextSize must be an integer/],
    [tinyPath(), {}, { threads: -1 }, 'invalid', /threads is -1/],
    [tinyPath(), {}, { contextSize: 2 ** 24, slots: 256 }, 'invalid', /2\^30/],
    [tinyPath(), {}, { cacheTypeK: 'q9' }, 'invalid', /cacheTypeK is 'q9'; allowed are f32, f16/],
    [tinyPath(), {}, { cacheTypeV: 'q8_0', flashAttention: false }, 'invalid', /flash attention/],
  ];
  for (const [path, model, scheduler, kind, text] of cases) await assert.rejects(open(path, model, scheduler), failure(kind, text));
  await assert.rejects(open(tinyPath(), {}, {}, null), failure('invalid', /onStep must be a function/));
  const garbage = join(folder, 'garbage.gguf');
  writeFileSync(garbage, 'GGUFgarbage that is no model');
  await assert.rejects(open(garbage, {}, {}), failure('invalid', /garbage\.gguf/));
});

test('wrong arguments of the scheduler are refused, and it goes on', async () => {
  const opened = await Generations.open(tinyPath());
  const loose = opened.scheduler as unknown as Loose;
  const prompt = opened.tokens('tes ne re');
  const transferred = new Int32Array(8);
  structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
  const submit = (tokens: unknown, options: Partial<Record<keyof NativeGenerateOptions, unknown>> = {}, id: unknown = 900): unknown =>
    loose.submit!(id, tokens, { ...GREEDY, ...options });
  const cases: [() => unknown, RegExp][] = [
    [() => submit(prompt, {}, -1), /id is -1/],
    [() => submit(prompt, {}, Number.NaN), /id must be a finite number/],
    [() => submit(new Int32Array()), /tokens is empty/],
    [() => submit(transferred), /tokens is empty/],
    [() => submit([1, 2]), /tokens must be an Int32Array/],
    [() => submit(new Float64Array(2)), /tokens must be an Int32Array/],
    [() => submit(new Int32Array([512])), /holds 512; token ids go from 0 to 511/],
    [() => submit(new Int32Array([-1])), /holds -1/],
    [() => submit(new Int32Array(513)), /has 513 tokens; allowed is at most 512/],
    [() => submit(prompt, { temperature: Number.NaN }), /temperature must be a finite number/],
    [() => submit(prompt, { temperature: -1 }), /temperature is -1/],
    [() => submit(prompt, { topP: 1.5 }), /topP is 1.5/],
    [() => submit(prompt, { repeatPenalty: 0 }), /repeatPenalty is 0/],
    [() => submit(prompt, { dryMultiplier: -1 }), /dryMultiplier is -1/],
    [() => submit(prompt, { dryBase: 0.5 }), /dryBase is 0.5/],
    [() => submit(prompt, { dryAllowedLength: 0 }), /dryAllowedLength is 0/],
    [() => submit(prompt, { dryAllowedLength: 1.5 }), /dryAllowedLength must be an integer/],
    [() => submit(prompt, { maxTokens: 2 ** 31 }), /maxTokens must be an integer of 32 bits/],
    [() => submit(prompt, { topLogprobs: 21 }), /topLogprobs is 21/],
    [() => submit(prompt, { seed: 0.5 }), /seed must be an integer/],
    [() => submit(prompt, { biasTokens: new Int32Array(2) }), /biasTokens has 2 items and biasValues 0/],
    [() => submit(prompt, { biasTokens: new Int32Array(1), biasValues: new Float32Array([Number.POSITIVE_INFINITY]) }), /biasValues/],
    [() => submit(prompt, { grammarStart: new Int32Array([9999]) }), /grammarStart holds 9999/],
    [() => submit(prompt, { thinkEnd: new Int32Array([9999]) }), /thinkEnd holds 9999/],
    [() => submit(prompt, { grammar: 'root ::= "a' }), /grammar cannot be used/],
    [() => submit(prompt, { grammar: 'other ::= "a"' }), /grammar cannot be used/],
    [() => submit(prompt, { grammar: 'root ::= missing' }), /grammar cannot be used/],
    [() => submit(prompt, { grammar: 'root ::= root "a" | "b"' }), /grammar cannot be used/],
    [() => submit(prompt, { grammar: 'root ::= "a"\0' }), /NUL/],
    [() => loose.submit!(900, prompt), /options must be an object/],
    [() => loose.tokenize!(5, true, true), /text must be a string/],
    [() => loose.tokenBytes!(512, true), /token is 512/],
    [() => loose.tokenBytes!(-(2 ** 31), true), /token ids go from/],
    [() => loose.abort!('x'), /id must be a number/],
  ];
  for (const [call, text] of cases) assert.throws(call, failure('invalid', text));
  loose.abort!(12345);
  assert.equal((await opened.run(prompt)).generated, 16);
  await opened.close();
});

test('close() ends what runs and what waits, and afterwards everything is refused', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re');
  const running = Array.from({ length: 3 }, () => opened.start(prompt, { maxTokens: 400 }).done);
  const closing = opened.close();
  assert.throws(() => opened.scheduler.submit(77, prompt, GREEDY), failure('unavailable', /closed/));
  assert.throws(() => opened.scheduler.stats(), failure('unavailable', /closed/));
  await Promise.all([closing, opened.close()]);
  for (const outcome of await Promise.all(running)) assert.ok([FINISH_ABORTED, FINISH_LENGTH].includes(outcome.finish));
});

test('the process may end at any moment: while loading, while decoding, with nothing to do', () => {
  const generations = JSON.stringify(new URL('./generations.js', import.meta.url).href);
  const model = JSON.stringify(tinyPath());
  const begin = `import { Generations } from ${generations}; const opening = Generations.open(${model}, { slots: 4 });`;
  const opened = `${begin} const g = await opening; const prompt = g.tokens('tes ne re');`;
  const scripts = [
    `${begin} opening.catch(() => {}); process.exit(7);`,
    `${opened} for (let i = 0; i < 8; i++) g.start(prompt, { maxTokens: 400 }, (n) => { if (n === 20) process.exit(7); });`,
    `${opened} g.start(prompt, { maxTokens: 400 }); g.close(); process.exit(7);`,
    `${opened} await g.run(prompt); process.exitCode = 7;`,
  ];
  for (const script of scripts) {
    const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual({ status, signal, stderr }, { status: 7, signal: null, stderr: '' });
  }
});

test('a worker thread that has a model open may be terminated at any moment', async () => {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { Generations } = await import(workerData.generations);
    const g = await Generations.open(workerData.model, { slots: 4 });
    for (let i = 0; i < 6; i++) g.start(g.tokens('tes ne re'), { maxTokens: 400 });
    parentPort.postMessage('running');`;
  const workerData = { generations: new URL('./generations.js', import.meta.url).href, model: tinyPath() };
  for (let round = 0; round < 5; round += 1) {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
    await once(worker, 'message');
    assert.equal(await worker.terminate(), 1);
  }
});

test('KV cache types work, quantised ones too', async () => {
  const reference = await Generations.open(tinyPath());
  const prompt = reference.tokens('tes ne re hi lo');
  const wanted = await reference.run(prompt, { maxTokens: 4 });
  await reference.close();
  for (const type of ['f32', 'bf16', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1'] satisfies NativeSchedulerOptions['cacheTypeK'][]) {
    const opened = await Generations.open(tinyPath(), { cacheTypeK: type, cacheTypeV: type });
    const outcome = await opened.run(prompt, { maxTokens: 4 });
    assert.equal(outcome.finish, FINISH_LENGTH, outcome.error);
    if (type === 'f32') assert.deepEqual(outcome.tokens, wanted.tokens);
    await opened.close();
  }
});

test('numbers are written as JSON where they are told to, and nowhere else', () => {
  const { writeFloats } = loadCore();
  const into = new Uint8Array(64).fill(1).subarray(8);
  const end = writeFloats(Float32Array.of(0.1, -2, Number.NaN), into, 4);
  assert.equal(Buffer.from(into.subarray(4, end)).toString(), '0.1,-2,null');
  assert.deepEqual([...into.subarray(0, 4)], [1, 1, 1, 1]);
  assert.equal(writeFloats(new Float32Array(), into, 56), 56);
  const loose = loadCore() as unknown as Loose;
  const gone = new Float32Array(4);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  assert.equal(loose.writeFloats!(gone, into, 3), 3, 'a transferred array counts as empty');
  const cases: [unknown[], RegExp][] = [
    [[[1], into, 0], /values must be a Float32Array/],
    [[Float32Array.of(1), new Int8Array(64), 0], /into must be a Uint8Array/],
    [[Float32Array.of(1), into, 57], /at is 57; allowed is 0 to 56/],
    [[Float32Array.of(1), into, -1], /at is -1/],
    [[Float32Array.of(1), into, Number.NaN], /at must be/],
    [[Float32Array.of(1), into, 41], /1 numbers need 16 bytes each, but there is room for 15/],
  ];
  for (const [given, text] of cases) assert.throws(() => loose.writeFloats!(...given), failure('invalid', text));
});
