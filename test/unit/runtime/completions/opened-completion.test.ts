import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectChoices } from '../../../../runtime/completions/collect.js';
import { Completions } from '../../../../runtime/completions/completions.js';
import type { CompletionPart, CompletionRequest } from '../../../../runtime/completions/contract.js';
import { openChoices } from '../../../../runtime/completions/opened-completion.js';
import type { StateUse, UniversalRequest } from '../../../../runtime/completions/request.js';
import { Failure } from '../../../../schemas/errors.js';
import { ScriptedModel } from '../../../support/scripted-model.js';
import { until } from '../../../support/until.js';
import { FINISH, ScriptedProvider, type Step } from '../chat/scripted-provider.js';

const never = new AbortController().signal;
const model = { name: 'm', provider: 'universal', model: 'm' } as const;
const say = (text: string): CompletionPart => ({ type: 'text', text });

/** Opens choices whose answers are scripted by number. */
function scripted(scripts: readonly (Step[] | Failure)[], signal = never, more: Partial<CompletionRequest> = {}) {
  const provider = new ScriptedProvider();
  const asked: CompletionRequest[] = [];
  const completion = openChoices<CompletionRequest>({ messages: [], n: scripts.length, ...more }, signal, (request, each, choice) => {
    asked.push(request);
    const script = scripts[choice]!;
    provider.say(script instanceof Failure ? [script] : script);
    return provider.open(model, request, each);
  });
  return { provider, asked, completion };
}

async function shown(parts: AsyncIterable<CompletionPart>): Promise<string[]> {
  const list: string[] = [];
  for await (const part of parts) list.push(`${part.choice ?? 0} ${part.type === 'text' ? part.text : part.type}`);
  return list;
}

describe('choices', () => {
  it('come as they are written, each with its number and its finish', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { completion } = scripted([
      [say('a'), held, say('b'), FINISH],
      [say('c'), FINISH],
      [say('d'), say('e'), FINISH],
    ]);
    const seen: string[] = [];
    for await (const part of (await completion).parts) {
      seen.push(`${part.choice ?? 0} ${part.type === 'text' ? part.text : part.type}`);
      if (seen.length === 6) release();
    }
    assert.deepEqual(seen.slice(0, 3), ['0 a', '1 c', '2 d']);
    assert.deepEqual(seen.slice(-2), ['0 b', '0 finish'], 'one that waits holds up no other');
    assert.deepEqual(seen.filter((one) => one.endsWith('finish')).sort(), ['0 finish', '1 finish', '2 finish']);
  });

  for (const [name, more, seeds] of [
    ['a seed', { seed: 7 }, [7, 8, 9]],
    ['no seed', {}, [undefined, undefined, undefined]],
    ['no seed, but deterministic', { deterministic: true }, [undefined, 1, 2]],
    ['the last seed', { seed: 2 ** 32 - 1 }, [2 ** 32 - 1, 0, 1]],
    ['a seed beyond whole numbers', { seed: 2 ** 63 }, [2 ** 63, 1, 2]],
  ] as const)
    it(`of ${name} are drawn with their own`, async () => {
      const { completion, asked } = scripted([[FINISH], [FINISH], [FINISH]], never, more);
      await shown((await completion).parts);
      assert.deepEqual(
        asked.map(({ seed }) => seed),
        seeds,
      );
      assert.ok(asked.every((one) => !('n' in one)));
    });

  it('are told their seed where a host looks for it in the end', async () => {
    const { completion, asked } = scripted([[FINISH], [FINISH]], never, { extra: { seed: 4, tag: 'x' } });
    await shown((await completion).parts);
    assert.deepEqual(
      asked.map(({ extra }) => extra),
      [
        { seed: 4, tag: 'x' },
        { seed: 5, tag: 'x' },
      ],
    );
  });

  it('fail as a whole while they are opened', async () => {
    const failure = new Failure('busy', 'no place');
    const first = scripted([failure, [FINISH]]);
    await assert.rejects(first.completion, failure);
    assert.equal(first.asked.length, 1, 'no other is asked for');
    await assert.rejects(scripted([[say('a'), FINISH], failure]).completion, failure);
  });

  it('end together when one fails, when the reader leaves and when the signal aborts', async () => {
    const failure = new Failure('unavailable', 'gone');
    const forever = new Promise(() => {});
    const broken = scripted([[say('a'), FINISH], [say('b'), failure], Array(50).fill(say('c'))]);
    await assert.rejects(shown((await broken.completion).parts), failure);
    for (const leave of ['read', 'unread', 'abort'] as const) {
      const abort = new AbortController();
      const signals: AbortSignal[] = [];
      const provider = new ScriptedProvider();
      provider.say([say('a'), forever]);
      const completion = await openChoices<CompletionRequest>({ messages: [], n: 8 }, abort.signal, (request, each) => {
        signals.push(each);
        return provider.open(model, request, each);
      });
      if (leave === 'abort') abort.abort();
      else if (leave === 'unread') await completion.parts[Symbol.asyncIterator]().return?.();
      else {
        const iterator = completion.parts[Symbol.asyncIterator]();
        await iterator.next();
        void iterator.return?.();
      }
      assert.ok(signals.length === 8 && signals.every((one) => one.aborted), leave);
    }
  });

  it('that wait for a place join the running answer', async () => {
    const provider = new ScriptedProvider();
    const completion = await openChoices<CompletionRequest>({ messages: [], n: 2 }, never, async (request, each, choice) => {
      if (choice === 1) await new Promise((resolve) => setTimeout(resolve, 1300));
      provider.say([say('a'), FINISH]);
      return provider.open(model, request, each);
    });
    assert.deepEqual(await shown(completion.parts), ['0 a', '0 finish', '1 a', '1 finish']);
  });
});

describe('choices of the runtime', () => {
  const request = (given: Partial<UniversalRequest>): UniversalRequest => ({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    options: {},
    autoTruncate: true,
    ...given,
  });

  it('hold the model for each, and share no state but that of choice 0', async () => {
    const scripted = new ScriptedModel({ output: ({ seed }) => [`seed ${seed}`] });
    const used: string[] = [];
    const states: StateUse = {
      remember: 'x',
      before: async () => void used.push('before'),
      after: async (_model, { text }) => void used.push(text),
    };
    const completion = await new Completions({ models: scripted }).open(request({ n: 3, seed: 5, states }), never);
    const choices = await collectChoices(completion.parts);
    assert.deepEqual(
      choices.map(({ text }) => text),
      ['seed 5', 'seed 6', 'seed 7'],
    );
    assert.deepEqual([scripted.acquired.length, scripted.released, scripted.running], [3, 3, 0]);
    assert.deepEqual(used, ['before', 'seed 5']);
    assert.deepEqual(
      scripted.generated.map(({ remember }) => remember),
      ['x', undefined, undefined],
    );
  });

  it('that break a strict schema are drawn again with seeds that no choice has', async () => {
    const schema = { type: 'array', items: { type: 'integer' }, uniqueItems: true };
    const scripted = new ScriptedModel({ output: ({ seed }) => [seed! < 8 ? '[1,1]' : `[${seed}]`] });
    const response_format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } };
    const completion = await new Completions({ models: scripted }).open(request({ n: 2, seed: 0, response_format }), never);
    assert.deepEqual(
      (await collectChoices(completion.parts)).map(({ text }) => text),
      ['[8]', '[9]'],
    );
  });

  it('free every sequence when the client goes', async () => {
    const scripted = new ScriptedModel({ endless: true });
    const abort = new AbortController();
    const completion = await new Completions({ models: scripted }).open(request({ n: 8 }), abort.signal);
    let seen = 0;
    await assert.rejects(async () => {
      for await (const _part of completion.parts) if (++seen === 20) abort.abort();
    });
    assert.equal(scripted.released, 8);
    await until(() => scripted.running === 0);
  });
});
