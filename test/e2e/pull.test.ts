import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { scanCacheDir } from '@huggingface/hub';
import { Ollama } from 'ollama';
import { ranProgram } from '../support/command-line.js';
import { type DaemonUnderTest, emptyDataDir, MAIN, runToEnd, startDaemon } from '../support/daemon.js';
import { etagOf, HubServer, type ServedFile } from '../support/hub-server.js';
import { decidedPuppetPath, tinyPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { freePort } from '../support/ports.js';
import { until } from '../support/until.js';

const SIZE = 40 * 1024 * 1024;

describe('quern pull', () => {
  let server: HubServer;
  let cache = '';
  let env: Record<string, string> = {};
  let daemon: DaemonUnderTest | undefined;
  const weights = Buffer.alloc(SIZE, 'weights of a model ');
  before(async () => {
    server = await HubServer.start();
    cache = mkdtempSync(join(tmpdir(), 'quern-pull-'));
    // No daemon answers there, so that the command works in its own process.
    const [port, runtimePort] = [String(await freePort()), String(await freePort())];
    env = { HF_ENDPOINT: server.url, HF_HUB_CACHE: cache, PORT: port, RUNTIME_PORT: runtimePort, DATA_DIR: emptyDataDir() };
  });
  afterEach(() => {
    server.delayMs = 0;
  });
  after(async () => {
    await daemon?.end();
    await server.close();
    rmSync(cache, { recursive: true, force: true });
  });

  it('fetches Kokoro by its short name: the small graph and the voices', async () => {
    const small = (text: string): Buffer => Buffer.from(text.repeat(100));
    server.put('hexgrad/Kokoro-82M', { 'kokoro-v1_0.pth': small('torch '), 'voices/af_heart.pt': small('torch ') });
    server.put('onnx-community/Kokoro-82M-v1.0-ONNX', {
      'config.json': Buffer.from('{}'),
      ...{ 'onnx/model.onnx': weights, 'onnx/model_quantized.onnx': small('graph '), 'onnx/model_fp16.onnx': small('half ') },
      ...{ 'voices/af_heart.bin': small('heart '), 'voices/zf_xiaobei.bin': small('other ') },
    });
    const pulled = await runToEnd(['pull', 'kokoro'], env);
    assert.equal(pulled.code, 0, pulled.output);
    assert.match(pulled.output, /onnx-community\/Kokoro-82M-v1\.0-ONNX: 3 files, .*licence Apache-2\.0/);
    assert.match(pulled.output, /model_quantized\.onnx[\s\S]*af_heart\.bin|af_heart\.bin[\s\S]*model_quantized\.onnx/);
    assert.match((await runToEnd(['pull', 'kokoro:F16'], env)).output, /model_fp16\.onnx/);
    assert.match((await runToEnd(['rm', 'kokoro'], env)).output, /removed kokoro: /);
  });

  it('fetches a voice of Piper by its name: the graph and its settings, and removes no other', async () => {
    const at = (name: string): string => `en/en_US/${name}/medium/en_US-${name}-medium.onnx`;
    const voice = (name: string) => ({ [at(name)]: Buffer.from('graph '.repeat(500)), [`${at(name)}.json`]: Buffer.from('{"audio": {}}') });
    server.put('rhasspy/piper-voices', { ...voice('joe'), ...voice('amy'), 'README.md': weights });
    const pulled = await runToEnd(['pull', 'en_US-joe-medium'], env);
    assert.match(pulled.output, /rhasspy\/piper-voices: 2 files, .*licence as en\/en_US\/joe\/medium\/MODEL_CARD/);
    assert.equal((await runToEnd(['pull', 'en_US-amy-medium'], env)).code, 0);
    assert.match((await runToEnd(['pull', 'en_US-bob-medium'], env)).output, /has no en\/en_US\/bob/);
    assert.match((await runToEnd(['models'], env)).output, /en_US-amy-medium +onnx[\s\S]*en_US-joe-medium +onnx/);
    assert.match((await runToEnd(['rm', 'en_US-joe-medium'], env)).output, /removed en_US-joe-medium/);
    assert.match((await runToEnd(['models'], env)).output, /en_US-amy-medium +onnx/);
  });

  it('fetches Whisper models by their names: one file each, removed one by one, and no more than are used', async () => {
    const bytes = (text: string): Buffer => Buffer.from(text.repeat(2000));
    server.put('ggerganov/whisper.cpp', {
      ...{ 'ggml-tiny.bin': weights, 'ggml-tiny-q8_0.bin': bytes('tiny '), 'ggml-base.en-q8_0.bin': bytes('base ') },
      'README.md': bytes('text '),
    });
    server.put('Systran/faster-whisper-tiny', {
      'model.bin': bytes('ct2 '),
      'vocabulary.txt': bytes('a\n'),
      'config.json': Buffer.from('{}'),
    });
    const pulled = await runToEnd(['pull', 'whisper-tiny'], env);
    assert.equal(pulled.code, 0, pulled.output);
    assert.match(pulled.output, /ggerganov\/whisper\.cpp: 1 file, 9\.8KB, licence MIT[\s\S]*ggml-tiny-q8_0\.bin 9\.8KB/);
    assert.equal((await runToEnd(['pull', 'whisper-base.en'], env)).code, 0);
    assert.match((await runToEnd(['pull', 'Systran/faster-whisper-tiny'], env)).output, /3 files/);
    const listed = (await runToEnd(['models'], env)).output;
    for (const row of [/whisper-tiny +ggml +9\.8KB/, /whisper-base\.en +ggml +9\.8KB/, /Systran\/faster-whisper-tiny +ctranslate2/])
      assert.match(listed, row);
    const again = await runToEnd(['pull', 'whisper-tiny'], { ...env, HF_HUB_OFFLINE: '1' });
    assert.match(again.output, /ggml-tiny-q8_0\.bin is there already/);
    assert.match((await runToEnd(['rm', 'whisper-tiny'], env)).output, /removed whisper-tiny: 9\.8KB/);
    const left = (await runToEnd(['models'], env)).output;
    assert.deepEqual([/whisper-tiny +ggml/.test(left), /whisper-base\.en +ggml/.test(left)], [false, true]);
    const folder = join(cache, 'models--ggerganov--whisper.cpp');
    assert.equal(readdirSync(join(folder, 'blobs')).length, 1);
    assert.equal((await runToEnd(['rm', 'whisper-tiny'], env)).code, 3);
    assert.match((await runToEnd(['rm', 'whisper-base.en'], env)).output, /removed whisper-base\.en/);
    assert.ok(!existsSync(folder));
    assert.match((await runToEnd(['rm', 'Systran/faster-whisper-tiny'], env)).output, /removed/);
    const absent = await runToEnd(['pull', 'whisper-small'], env);
    assert.deepEqual([absent.code, /whisper-small/.test(absent.output)], [3, true], absent.output);
  });

  it('downloads, lists and removes without a daemon, and the cache is one that the hub reads itself', async () => {
    const { commit } = server.put('org/alone', { 'model.gguf': weights });
    const pulled = await runToEnd(['pull', 'org/alone'], env);
    assert.equal(pulled.code, 0, pulled.output);
    assert.match(pulled.output, /org\/alone: 1 file, 40\.0MB[\s\S]*model\.gguf 40\.0MB[\s\S]*snapshots/);
    const scanned = await scanCacheDir(cache);
    assert.deepEqual(scanned.warnings, []);
    const [repo] = scanned.repos;
    assert.deepEqual([repo?.id, repo?.size, repo?.filesCount], [{ name: 'org/alone', type: 'model' }, SIZE, 1]);
    assert.deepEqual(
      repo?.revisions.map(({ commitOid, refs, files }) => [commitOid, refs, files.map(({ blob }) => blob.size)]),
      [[commit, ['main'], [SIZE]]],
    );
    assert.match((await runToEnd(['models'], env)).output, /MODEL +FORMAT[\s\S]*org\/alone +gguf +40\.0MB +hub/);
    const removed = await runToEnd(['rm', 'org/alone'], env);
    assert.match(removed.output, /removed org\/alone: 40\.0MB/);
    assert.ok(!existsSync(join(cache, 'models--org--alone')));
    assert.equal((await runToEnd(['rm', 'org/alone'], env)).code, 3);
    const absent = await runToEnd(['pull', 'org/absent'], env);
    assert.deepEqual([absent.code, /org\/absent is not on the hub/.test(absent.output)], [3, true]);
  });

  for (const flag of ['--port', '--runtime-port']) {
    it(`removes nothing while what listens at ${flag} does not say whether it needs the model`, async () => {
      const kept = join(cache, 'models--org--kept');
      mkdirSync(join(kept, 'snapshots'), { recursive: true });
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const refused = await runToEnd(['rm', 'org/kept', flag, String(port)], env);
      silent.close();
      assert.deepEqual([refused.code, existsSync(kept)], [5, true], refused.output);
      assert.match(refused.output, new RegExp(`127\\.0\\.0\\.1:${port}.*(?:stop it|try again)`, 's'));
      rmSync(kept, { recursive: true });
    });
  }

  for (const [end, said] of [
    ['SIGKILL', ''],
    ['SIGINT', 'quern: stopped; what came is kept, and "quern pull org/sigint" goes on from there\n'],
  ] as const)
    it(`goes on where a process stopped that ${end} ended`, async () => {
      const name = `org/${end.toLowerCase()}`;
      const { commit, files } = server.put(name, { 'model.gguf': weights });
      // Of the first part no more comes than this; the second one is shorter.
      server.mischief('model.gguf', { kind: 'stall', after: 9 * 1024 * 1024 }, 2);
      const child = spawn(process.execPath, [MAIN, 'pull', name], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
      const gone = once(child, 'close');
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const blobs = join(cache, `models--${name.replace('/', '--')}`, 'blobs');
      const isBegun = (): boolean => {
        const journal = existsSync(blobs) && readdirSync(blobs).find((one) => one.endsWith('.parts'));
        return typeof journal === 'string' && /^0 \d{7,}\n/m.test(readFileSync(join(blobs, journal), 'utf8'));
      };
      await until(isBegun, 'a stretch is on the disk');
      child.kill(end);
      assert.deepEqual([(await gone)[1], stderr], [end, said]);
      server.calm();
      const before = server.seen.length;
      const again = await runToEnd(['pull', name], env);
      assert.equal(again.code, 0, again.output);
      const ranges = server.seen.slice(before).flatMap(({ server: one, range }) => (one === 'store' ? [range ?? 'all'] : []));
      assert.ok(ranges.length > 0 && ranges.some((range) => !/^(?:all|bytes=0-|bytes=33554432-)/.test(range)), ranges.join());
      assert.ok(readFileSync(join(blobs, '..', 'snapshots', commit, 'model.gguf')).equals(weights));
      assert.deepEqual(readdirSync(blobs), [etagOf(files.get('model.gguf')!)]);
    });

  it('works through a running daemon, which then answers with the model', async () => {
    daemon = await startDaemon({ env });
    server.put('org/tiny', { 'tiny-F32.gguf': readFileSync(tinyPath()) });
    const port = new URL(daemon.core).port;
    const pulled = await runToEnd(['pull', 'org/tiny', '--port', port], env);
    assert.equal(pulled.code, 0, pulled.output);
    const ask = (): Promise<Response> =>
      fetch(`${daemon!.runtime}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'org/tiny', messages: [{ role: 'user', content: 'hi' }], max_tokens: 2 }),
      });
    assert.equal((await ask()).status, 200);
    const refused = await runToEnd(['rm', 'org/tiny', '--port', port], env);
    assert.deepEqual([refused.code, /in memory/.test(refused.output)], [1, true], refused.output);
    assert.match((await runToEnd(['models', '--port', port], env)).output, /org\/tiny/);
    // As under "quern runtime", which has no core API.
    const byRuntime = await runToEnd(['rm', 'org/tiny', '--runtime-port', new URL(daemon.runtime).port], env);
    assert.deepEqual([byRuntime.code, /in memory/.test(byRuntime.output)], [1, true], byRuntime.output);
  });

  it('is done by "quern run" for a person, and not for a program', async () => {
    server.put('org/ran', { 'ran-Q8_0.gguf': readFileSync(decidedPuppetPath()) });
    const at = ['--port', new URL(daemon!.core).port, '--runtime-port', new URL(daemon!.runtime).port];
    const ask = (isTerminal: boolean) => ranProgram(['run', 'org/ran', 'hello', ...at], { env, isTerminal });
    const program = await ask(false);
    assert.deepEqual([program.code, /"quern pull org\/ran"/.test(program.stderr)], [3, true], program.stderr);
    const person = await ask(true);
    assert.equal(person.code, 0, person.stderr);
    assert.match(person.stdout, /org\/ran: 1 file/);
    assert.ok(person.stdout.trimEnd().endsWith(PUPPET_SCRIPTS.hello.answer), person.stdout);
  });

  it("serves Ollama's client: what it lacks it pulls, and then has by that name", async () => {
    const model = 'llama3.2:1b';
    const files = { 'Llama-3.2-1B-Instruct-Q4_K_M.gguf': readFileSync(decidedPuppetPath()) };
    const { files: served } = server.put('bartowski/Llama-3.2-1B-Instruct-GGUF', files);
    const [[, file]] = [...served] as [[string, ServedFile]];
    const client = new Ollama({ host: daemon!.runtime });
    const ask = { model, messages: [{ role: 'user', content: 'hello' }] };
    await assert.rejects(client.chat(ask), { status_code: 404, message: /model 'llama3\.2:1b' not found/ });
    const parts = [];
    for await (const part of await client.pull({ model, stream: true })) parts.push(part);
    assert.deepEqual([parts[0]?.status, parts.at(-1)?.status], ['pulling manifest', 'success']);
    const of = parts.filter(({ digest }) => digest !== undefined);
    assert.ok(of.every(({ digest, total }) => digest === `sha256:${etagOf(file)}` && total === file.bytes.length));
    assert.equal(of.at(-1)?.completed, file.bytes.length);
    assert.equal((await client.chat(ask)).message.content, PUPPET_SCRIPTS.hello.answer);
    const names = async (): Promise<string[]> => (await client.list()).models.map(({ name }) => name);
    assert.ok((await names()).includes(model));
    assert.ok((await client.ps()).models.some(({ name }) => name === model));
    assert.deepEqual((await client.show({ model })).details.format, 'gguf');
    await client.copy({ source: model, destination: 'second' });
    await client.create({ model: 'third', from: model, system: 'Be brief.' });
    assert.equal((await client.chat({ ...ask, model: 'third' })).message.content, PUPPET_SCRIPTS.hello.answer);
    for (const one of ['second', 'third', model]) await client.delete({ model: one });
    assert.deepEqual(
      (await names()).filter((one) => /llama|second|third/i.test(one)),
      [],
    );
  });

  it('stops a download whose client has gone', async () => {
    server.put('org/gone', { 'model.gguf': weights });
    server.delayMs = 10;
    const stop = new AbortController();
    const reply = await fetch(`${daemon!.core}/v1/models/download`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model_name: 'org/gone' }),
      signal: stop.signal,
    });
    await reply.body!.getReader().read();
    const active = async (): Promise<number> => (await fetch(`${daemon!.core}/v1/models/org/gone`, { method: 'DELETE' })).status;
    assert.equal(await active(), 409);
    stop.abort();
    await until(async () => (await active()) === 200, 'the download has ended');
  });
});
