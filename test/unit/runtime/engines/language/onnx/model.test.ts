import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { type TinyCausalOptions, TRIGGERED_ANSWER, writeTinyCausal } from '../../../../../../models/tiny-causal/tiny-causal.js';
import { LoadedExport } from '../../../../../../runtime/engines/language/onnx/model.js';
import type { HostEvent } from '../../../../../../runtime/engines/language/wire.js';
import { emptyDataDir } from '../../../../../support/daemon.js';

/** Opens a tiny model; gives what it answers to one message, and how much of its prompt was not read again. */
async function opened(
  options: TinyCausalOptions,
): Promise<(content: string, deterministic?: boolean) => Promise<{ text: string; read: number }>> {
  const folder = emptyDataDir();
  writeTinyCausal(folder, options);
  const steps = new EventEmitter();
  const emit = (event: HostEvent): void => void steps.emit('step', event);
  const body = { folder, graph: join(folder, 'onnx/model.onnx'), threads: 1, provider: 'cpu', contextSize: null };
  const { model } = await LoadedExport.open(body, emit);
  let id = 0;
  return async (content, deterministic = false) => {
    id += 1;
    const { promptId } = await model.prepare({ messages: [{ role: 'user', content }], addGenerationPrompt: true });
    model.generate({ id, promptId, maxTokens: 16, temperature: 0, deterministic });
    let text = '';
    while (true) {
      const [event] = (await once(steps, 'step')) as [Exclude<HostEvent, { progress: number }>];
      text += event.texts[0];
      const { counts } = event.extras[0]?.[1] ?? {};
      if (counts) return { text, read: counts.prompt - counts.reused };
    }
  };
}

const LONG = `z${' and more words'.repeat(20)}`;
const kinds: [name: string, options: TinyCausalOptions, again: number, longer: number][] = [
  ['that keeps keys and values only the last token', {}, 1, 19],
  ['that keeps states the last few tokens', { states: 'pieces' }, 8, 326],
  ['whose states are for single tokens all', { states: 'singles' }, 320, 326],
  ['that keeps nothing all', { withoutPast: true }, 320, 326],
];
for (const [name, options, again, longer] of kinds)
  it(`of a prompt that was seen, a graph ${name}`, async () => {
    const ask = await opened(options);
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
