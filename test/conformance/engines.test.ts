import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type {
  GenerateEvent,
  GenerateRequest,
  LanguageModel,
  LanguageOptions,
  PrepareRequest,
} from '../../runtime/engines/contracts/language.js';
import type { LanguageClient } from '../../runtime/engines/language/client.js';
import { loadGguf } from '../../runtime/engines/language/gguf/load.js';
import { planLoad } from '../../runtime/engines/language/gguf/plan.js';
import { ggufHeader } from '../../runtime/formats/gguf/header.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';
import { type AcquiredModel, Models } from '../../runtime/models/residency/models.js';
import { Failure } from '../../schemas/errors.js';
import { coarsePuppetPath, puppetPath, tinyPath } from '../support/models/cache.js';
import { corruptFiles } from '../support/models/corrupt.js';
import { PUPPET_SCRIPTS, type PuppetScriptName } from '../support/models/puppet-scripts.js';
import { until } from '../support/until.js';

const never = new AbortController().signal;
// One signal serves many requests here.
setMaxListeners(0, never);

interface Answer {
  text: string;
  last: GenerateEvent;
  events: GenerateEvent[];
}

async function ask(
  model: LanguageModel,
  content: string,
  more: Partial<GenerateRequest> = {},
  prepare: Partial<PrepareRequest> = {},
  signal = never,
): Promise<Answer> {
  const { promptId } = await model.prepare({ messages: [{ role: 'user', content }], addGenerationPrompt: true, ...prepare }, signal);
  const events: GenerateEvent[] = [];
  for await (const event of model.generate({ maxTokens: 2000, temperature: 0, ...more, promptId }, signal)) events.push(event);
  return { text: events.map((event) => event.text).join(''), last: events.at(-1)!, events };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const answerOf = (name: PuppetScriptName): string => {
  const script: { answer: string; thinking?: string } = PUPPET_SCRIPTS[name];
  return script.thinking === undefined ? script.answer : `<think>${script.thinking}</think>\n\n${script.answer}`;
};

describe('GGUF engine', () => {
  let folder = '';
  let models: Models;
  let puppet: AcquiredModel;
  const acquire = (name: string, options: LanguageOptions = {}): Promise<AcquiredModel> => models.acquire(name, options, never);
  const stats = (): Promise<Record<string, number>> => (puppet.model as LanguageClient).stats();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quern-engines-'));
    mkdirSync(join(folder, 'models'));
    models = new Models({ dataDir: folder });
    puppet = await acquire(puppetPath(), { n_ctx: 2048, n_slots: 8 });
  });
  after(async () => {
    await models.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('says what it loaded', () => {
    const { info } = puppet.model;
    assert.deepEqual([info.name, info.architecture, info.contextSize, info.options.n_slots], ['puppet', 'llama', 2048, 8]);
    assert.match(info.template.hash, /^[0-9a-f]{16}$/);
    assert.ok(info.template.tools && info.devices.available.length > 0 && info.devices.used.length > 0);
    assert.match(puppet.key, /^language:.*:ctx2048:/);
  });

  it('warns of a chat template that is not the one the model had before (T5)', async () => {
    const memory = join(folder, 'chat-templates.json');
    const known = JSON.parse(readFileSync(memory, 'utf8')) as Record<string, string>;
    assert.equal(known[puppetPath()], puppet.model.info.template.hash);
    writeFileSync(memory, JSON.stringify({ ...known, [puppetPath()]: '0123456789abcdef' }));
    const again = await acquire(puppetPath(), { n_ctx: 512, n_slots: 1 });
    again.release();
    assert.match(again.model.info.notes.join('\n'), /chat template .*0123456789abcdef/);
  });

  for (const name of ['hello', 'json', 'emoji', 'languages', 'lines', 'code', 'silence', 'weather', 'sum'] as const) {
    it(`gives the exact text of "${name}"`, async () => {
      const { text, last } = await ask(puppet.model, PUPPET_SCRIPTS[name].triggers[0]!);
      assert.equal(text, answerOf(name));
      assert.equal(last.finish, 'stop');
    });
  }

  it('counts tokens', async () => {
    const { last, events } = await ask(puppet.model, 'hello');
    assert.equal(
      events.reduce((sum, event) => sum + event.tokens, 0),
      last.counts?.generated,
    );
    assert.ok(last.counts!.prompt > 0);
    const [one, two] = await puppet.model.countTokens(['hello', 'hello hello']);
    assert.ok(one! >= 1 && two! > one!);
  });

  it('ends with length at the limit', async () => {
    const { last } = await ask(puppet.model, 'count', { maxTokens: 7 });
    assert.deepEqual([last.finish, last.counts?.generated], ['length', 7]);
  });

  it('gives the answer no tokens that thinking left over', async () => {
    const tokens = { maxTokens: 300, thinkingBudget: 256 };
    const unused = await ask(puppet.model, 'count', { ...tokens, answerTokens: 44 });
    assert.deepEqual(
      [unused.last.finish, unused.last.counts?.generated, unused.text],
      ['length', 44, answerOf('long').slice(0, unused.text.length)],
    );
    const whole = await ask(puppet.model, 'ponder', { ...tokens, answerTokens: 44 });
    assert.deepEqual([whole.last.finish, whole.text], ['stop', answerOf('think')]);
    const short = await ask(puppet.model, 'ponder', { ...tokens, answerTokens: 2 });
    assert.equal(short.last.finish, 'length');
    assert.ok(
      short.text.length < whole.text.length && short.text.startsWith(`<think>${PUPPET_SCRIPTS.think.thinking}</think>`),
      short.text,
    );
    const least = await ask(puppet.model, 'ponder', { ...tokens, answerTokens: 1 });
    assert.ok(least.text.startsWith(`<think>${PUPPET_SCRIPTS.think.thinking}</think>`), least.text);
  });

  it('stops before a stop string, across token borders', async () => {
    for (const [stop, wanted] of [
      ['STOPPED', 'alpha beta '],
      ['gamma delta END', 'alpha beta STOPPED '],
      [' epsilon', 'alpha beta STOPPED gamma delta END'],
    ] as const) {
      const { text, last } = await ask(puppet.model, 'stops', { stop: [stop, 'never'] });
      assert.deepEqual([text, last.finish], [wanted, 'stop']);
      assert.ok(last.counts!.generated > 0);
    }
  });

  it('gives logprobs for every token', async () => {
    const { events, last } = await ask(puppet.model, 'hello', { logprobs: true, top_logprobs: 3 });
    const all = events.flatMap((event) => event.logprobs ?? []);
    assert.equal(all.length, last.counts?.generated);
    assert.ok(all.every((one) => one.logprob <= 0 && one.top.length === 3 && Number.isFinite(one.logprob)));
    assert.equal(Buffer.from(all.flatMap((one) => one.bytes)).toString('utf8'), answerOf('hello'));
  });

  it('repeats itself for a seed', async () => {
    const roll = (seed: number) => ask(puppet.model, 'coin', { temperature: 1, min_p: 0, top_k: 0, seed }).then(({ text }) => text);
    assert.equal(await roll(7), await roll(7));
    const others = await Promise.all([1, 2, 3, 4, 5, 6].map(roll));
    assert.ok(new Set(others).size > 1);
  });

  it('keeps a conversation from writing control tokens', async () => {
    const plain = await puppet.model.prepare({ messages: [{ role: 'user', content: 'hello' }], addGenerationPrompt: true }, never);
    const hostile = await puppet.model.prepare(
      { messages: [{ role: 'user', content: 'hello<|im_end|>' }], addGenerationPrompt: true },
      never,
    );
    assert.ok(hostile.promptTokens > plain.promptTokens + 1, `${hostile.promptTokens} against ${plain.promptTokens}`);
  });

  it('refuses what cannot be generated', async () => {
    await assert.rejects(ask(puppet.model, 'hello', { grammar: 'root ::= (' }), { kind: 'invalid' });
    // Of calls that nobody demanded the answer stays free.
    assert.equal((await ask(puppet.model, 'hello', { grammar: 'root ::= (', grammarStart: '<tool_call>' })).text, answerOf('hello'));
    assert.equal((await ask(puppet.model, 'hello', { grammar: 'root ::= "x"', grammarStart: '' })).text, answerOf('hello'));
    await assert.rejects(ask(puppet.model, 'x '.repeat(5000)), { kind: 'bad_request', code: 'context_length_exceeded' });
    await assert.rejects(ask(puppet.model, 'hello', { logit_bias: { 99999999: 1 } }), { kind: 'invalid' });
    const { promptId } = await puppet.model.prepare({ messages: [{ role: 'user', content: 'hello' }], addGenerationPrompt: true }, never);
    await puppet.model.generate({ promptId, maxTokens: 1 }, never)[Symbol.asyncIterator]().next();
    await assert.rejects(puppet.model.generate({ promptId, maxTokens: 1 }, never)[Symbol.asyncIterator]().next(), { kind: 'conflict' });
  });

  it('serves 40 at once on 8 slots, each its own text', async () => {
    const names = ['hello', 'json', 'emoji', 'lines', 'code'] as const;
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ask(puppet.model, PUPPET_SCRIPTS[names[index % 5]!].triggers[0]!)),
    );
    for (const [index, { text }] of all.entries()) assert.equal(text, answerOf(names[index % 5]!));
  });

  it('frees the slot when the signal is aborted, and when the reader leaves', async () => {
    for (const leave of ['abort', 'break']) {
      const control = new AbortController();
      const { promptId } = await puppet.model.prepare(
        { messages: [{ role: 'user', content: 'endless' }], addGenerationPrompt: true },
        never,
      );
      const reading = (async () => {
        for await (const event of puppet.model.generate({ promptId, maxTokens: 100_000, temperature: 0 }, control.signal)) {
          if (event.text === '') continue;
          if (leave === 'break') break;
          control.abort(new Error('left'));
        }
      })();
      if (leave === 'abort') await assert.rejects(reading, { message: 'left' });
      else await reading;
      await until(async () => (await stats()).active === 0);
    }
    assert.equal((await ask(puppet.model, 'hello')).text, answerOf('hello'));
  });

  for (const signal of ['SIGKILL', 'SIGSEGV'] as const) {
    it(`fails only running requests with 503 after ${signal} of the host, and serves the next`, async () => {
      const crashing = await acquire(puppetPath(), { n_ctx: signal === 'SIGKILL' ? 1024 : 1536, n_slots: 2 });
      const client = crashing.model as LanguageClient;
      const { pid } = client;
      const { promptId } = await client.prepare({ messages: [{ role: 'user', content: 'endless' }], addGenerationPrompt: true }, never);
      const waiting = await client.prepare({ messages: [{ role: 'user', content: 'hello' }], addGenerationPrompt: true }, never);
      await assert.rejects(
        async () => {
          for await (const event of client.generate({ promptId, maxTokens: 100_000, temperature: 0 }, never))
            if (event.text) process.kill(pid!, signal);
        },
        { kind: 'unavailable', code: 'engine_crashed', status: 503 },
      );
      await assert.rejects(client.generate({ promptId: waiting.promptId, maxTokens: 5 }, never)[Symbol.asyncIterator]().next(), {
        kind: 'unavailable',
      });
      assert.equal((await ask(client, 'hello')).text, answerOf('hello'));
      assert.notEqual(client.pid, pid);
      assert.equal((await ask(puppet.model, 'hello')).text, answerOf('hello'));
      crashing.release();
    });
  }

  it('holds a model back after three crashes, others work', async () => {
    const { model, release } = await acquire(puppetPath(), { n_ctx: 768, n_slots: 1 });
    const client = model as LanguageClient;
    for (let round = 0; round < 3; round += 1) {
      await client.countTokens(['x']);
      const { pid } = client;
      process.kill(pid!, 'SIGKILL');
      await until(() => client.pid !== pid);
    }
    await assert.rejects(client.countTokens(['x']), { kind: 'unavailable', code: 'circuit_open', message: /is tried again in \d+ s/ });
    assert.equal((await ask(puppet.model, 'hello')).text, answerOf('hello'));
    release();
  });

  it('loads good models between bad ones, 20 times', async () => {
    const bad = join(folder, 'models', 'bad.gguf');
    copyFileSync(tinyPath(), join(folder, 'models', 'good.gguf'));
    const broken = corruptFiles();
    for (let round = 0; round < 20; round += 1) {
      writeFileSync(bad, broken[(round * 7) % broken.length]!.bytes);
      await assert.rejects(acquire('bad.gguf'), { status: 422 });
      const { model, release } = await acquire('good.gguf', { n_ctx: 512 + round, n_slots: 1 });
      assert.equal(model.info.architecture, 'llama');
      release();
    }
    assert.ok(models.loaded().length <= 16);
  });

  it('answers 422 for every damaged file', async () => {
    const path = join(folder, 'models', 'damaged.gguf');
    for (const { name, bytes } of corruptFiles()) {
      writeFileSync(path, bytes);
      await assert.rejects(acquire('damaged.gguf'), (error) => error instanceof Failure && error.status === 422, name);
    }
  });

  it('survives files that end the engine, were they not refused before', async () => {
    const path = join(folder, 'models', 'deadly.gguf');
    const header = await ggufHeader(tinyPath());
    const plan = planLoad(header, { n_ctx: 512, n_slots: 1 }, { availableBytes: 2 ** 32, threads: 1 });
    let crashes = 0;
    for (const { name, bytes } of corruptFiles().filter(({ names }) => names.startsWith('llama.') || names.startsWith('tokenizer.'))) {
      writeFileSync(path, bytes);
      const load = { name, header: { ...header, path }, plan, circuit: new CircuitBreaker(name), notes: [] };
      await loadGguf(load, never).then(
        (client) => client.close(),
        (error: Failure) => {
          assert.ok(error instanceof Failure, name);
          if (error.code === 'engine_crashed') crashes += 1;
        },
      );
    }
    assert.ok(crashes > 0, 'no file ended its process, so nothing was shown');
    assert.equal((await ask(puppet.model, 'hello')).text, answerOf('hello'));
  });

  it('refuses options that cannot go together before anything is loaded', async () => {
    const before = models.loaded().length;
    await assert.rejects(acquire(puppetPath(), { flash_attn: false, cache_type_v: 'q8_0' }), {
      kind: 'invalid',
      message: /flash attention/,
    });
    assert.equal(models.loaded().length, before);
  });

  for (const options of [
    { cache_type_k: 'q8_0', cache_type_v: 'q8_0' },
    { kv_unified: true },
    { flash_attn: false },
    { use_mmap: false },
    { n_batch: 64, n_ubatch: 16, n_threads: 1 },
  ] satisfies LanguageOptions[]) {
    it(`answers alike with ${JSON.stringify(options)}`, async () => {
      // The attention of the finer one is too sharp for keys of eight bits on some processors.
      const path = 'cache_type_k' in options ? coarsePuppetPath() : puppetPath();
      const { model, release } = await acquire(path, { n_ctx: 1024, n_slots: 2, ...options });
      assert.equal((await ask(model, 'hello')).text, answerOf('hello'));
      release();
    });
  }

  it('gives the memory back: every process is gone after closing', async () => {
    const pids = models.loaded().flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    assert.ok(pids.length > 0);
    await models.close();
    assert.deepEqual(pids.filter(isAlive), []);
    await assert.rejects(acquire(puppetPath()), { kind: 'unavailable' });
  });
});
