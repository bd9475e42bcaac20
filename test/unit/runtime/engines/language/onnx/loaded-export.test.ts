import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrepareRequest } from '../../../../../../runtime/engines/contracts/language.js';
import { LoadedExport } from '../../../../../../runtime/engines/language/onnx/loaded-export.js';
import type { HostEvent } from '../../../../../../runtime/engines/language/wire.js';
import { emptyDataDir } from '../../../../../support/daemon.js';
import { type TinyCausalOptions, TRIGGERED_ANSWER, writeTinyCausal } from '../../../../../support/models/tiny-causal/tiny-causal.js';

/** Opens a tiny model; gives what it answers to one message, and how much of its prompt was not read again. */
async function opened(
  options: TinyCausalOptions,
  change: (folder: string) => void = () => undefined,
): Promise<{
  model: LoadedExport;
  longestToken: number | undefined;
  ask: (content: string, deterministic?: boolean) => Promise<{ text: string; read: number }>;
}> {
  const folder = emptyDataDir();
  writeTinyCausal(folder, options);
  change(folder);
  const steps = new EventEmitter();
  const emit = (event: HostEvent): void => void steps.emit('step', event);
  const body = { folder, graph: join(folder, 'onnx/model.onnx'), threads: 1, provider: 'cpu', contextSize: null };
  const { model, opened } = await LoadedExport.open(body, emit);
  let id = 0;
  const ask = async (content: string, deterministic = false): Promise<{ text: string; read: number }> => {
    id += 1;
    const { promptId } = await model.prompts.prepare(asking(content), AbortSignal.any([]));
    model.generate({ id, promptId, maxTokens: 16, temperature: 0, deterministic });
    let text = '';
    while (true) {
      const [event] = (await once(steps, 'step')) as [Exclude<HostEvent, { progress: number }>];
      text += event.texts[0];
      const { counts } = event.extras[0]?.[1] ?? {};
      if (counts) return { text, read: counts.prompt - counts.reused };
    }
  };
  return { model, longestToken: opened.longestToken, ask };
}

const asking = (content: string): PrepareRequest => ({ messages: [{ role: 'user', content }], addGenerationPrompt: true });

const LONG = `z${' and more words'.repeat(20)}`;
const kinds: [name: string, options: TinyCausalOptions, again: number, longer: number][] = [
  ['that keeps keys and values only the last token', {}, 1, 19],
  ['that keeps states the last few tokens', { states: 'pieces' }, 8, 326],
  ['whose states are for single tokens all', { states: 'singles' }, 320, 326],
  ['that keeps nothing all', { withoutPast: true }, 320, 326],
];
for (const [name, options, again, longer] of kinds)
  it(`of a prompt that was seen, a graph ${name}`, async () => {
    const { ask } = await opened(options);
    const reads: number[] = [];
    for (const content of [LONG, LONG, `${LONG} again`]) {
      const { text, read } = await ask(content);
      assert.equal(text, TRIGGERED_ANSWER);
      reads.push(read);
    }
    assert.deepEqual(reads.slice(1), [again, longer]);
    const { text, read } = await ask(LONG, true);
    assert.deepEqual([text, read], [TRIGGERED_ANSWER, reads[0]], 'a deterministic answer reads the whole prompt');
  });

/** Gives a model the tokens of Unigram: an unknown word is one of them, however long it is. */
function withUnigram(folder: string): void {
  const path = join(folder, 'tokenizer.json');
  const { normalizer: _none, pre_tokenizer: _bytes, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
  const letters = Array.from({ length: 255 }, (_, at) => [String.fromCharCode(at + 1), -1]);
  const model = { type: 'Unigram', unk_id: 0, vocab: [['<unk>', -10], ...letters], byte_fallback: false };
  writeFileSync(path, JSON.stringify({ ...rest, model, normalizer: null, pre_tokenizer: null, decoder: null }));
}

it('goes on with other answers while a prompt of 15 MB becomes tokens, until nobody waits for it', async () => {
  const { model, longestToken, ask } = await opened({}, withUnigram);
  assert.equal(longestToken, undefined, 'nothing tells how few tokens a text can have');
  const control = new AbortController();
  let hasEnded = false;
  const huge = model.prompts.prepare(asking('and more words, '.repeat(15_000_000 / 16)), control.signal).finally(() => {
    hasEnded = true;
  });
  const refused = assert.rejects(huge, { name: 'AbortError' });
  assert.equal((await ask('z')).text, TRIGGERED_ANSWER);
  await sleep(200);
  // By the processor's time, which the work on the long text is part of: other programs may want the processor too.
  const before = process.cpuUsage();
  assert.equal((await ask('zz')).text, TRIGGERED_ANSWER);
  const { user, system } = process.cpuUsage(before);
  const took = (user + system) / 1_000;
  assert.ok(took < 2_000, `a short answer took ${took.toFixed(0)} ms`);
  assert.equal(hasEnded, false, 'the long text is still worked on');
  control.abort();
  await refused;
  const long = 'and more words, '.repeat(2_000);
  const { promptTokens } = await model.prompts.prepare(asking(long), AbortSignal.any([]));
  const { promptTokens: empty } = await model.prompts.prepare(asking(''), AbortSignal.any([]));
  assert.equal(promptTokens - empty, long.length);
});
