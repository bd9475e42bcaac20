import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Script, saidText } from '../../models/puppet/script.js';
import { FINISH_EOG, FINISH_LENGTH, type NativeSchedulerOptions } from '../../native/contract.js';
import { coarsePuppetPath, puppetPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { Generations } from './generations.js';

const HEADER = '<|im_start|>assistant\n';
const CLOSED = '<think>\n\n</think>\n\n';
const turn = (role: string, content: string): string => `<|im_start|>${role}\n${content}<|im_end|>\n`;
const FILLER = 'Some words that mean nothing in particular. ';

const scripts = Object.entries<Script>(PUPPET_SCRIPTS).filter(([, script]) => !script.endless);
const triggerOf = (script: Script): string => script.triggers[0] ?? 'nothing known';

async function withPuppet(
  path: string,
  options: Partial<NativeSchedulerOptions>,
  use: (opened: Generations) => Promise<void>,
): Promise<void> {
  const opened = await Generations.open(path, options);
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

/** The greedy text after a prompt, up to the end of the turn, which must come. */
async function said(opened: Generations, prompt: string): Promise<string> {
  const outcome = await opened.run(opened.tokens(prompt), { maxTokens: 1000 });
  assert.equal(outcome.finish, FINISH_EOG, `finish ${outcome.finish} ${outcome.error}`);
  return opened.text(outcome.tokens.filter((token) => !opened.scheduler.isEndOfGeneration(token)));
}

test('every script is said exactly, wherever its trigger stands', async () => {
  await withPuppet(puppetPath(), { contextSize: 8192 }, async (opened) => {
    for (const [name, script] of scripts) {
      const word = triggerOf(script);
      const prompts = [
        turn('user', word),
        turn('user', `Please, (${word.toUpperCase()})?`),
        turn('system', `weather json ${FILLER.repeat(40)}`) + turn('user', `Say 你好 ${word} 😀 ${FILLER.repeat(60)}`),
        turn('user', 'hello json') + turn('assistant', 'weather emoji') + turn('user', `${word} ${FILLER}`),
      ];
      for (const prompt of prompts) assert.equal(await said(opened, prompt + HEADER), saidText(script), name);
      assert.equal(await said(opened, turn('user', word) + HEADER + CLOSED), saidText(script, { thinking: false }), name);
    }
  });
});

test('the later of two neighbouring triggers wins, at any place of the context', async () => {
  await withPuppet(puppetPath(), { contextSize: 8192 }, async (opened) => {
    for (const times of [0, 10, 100, 200]) {
      const prompt = FILLER.repeat(times);
      for (const [first, second] of [
        ['stops', 'lines'],
        ['lines', 'stops'],
      ] as const)
        assert.equal(
          await said(opened, turn('user', `${prompt}${first} ${second} ${prompt.slice(0, 2000)}`) + HEADER),
          PUPPET_SCRIPTS[second].answer,
        );
    }
  });
});

test('after a tool the answer follows the tool, whatever words its result holds', async () => {
  await withPuppet(puppetPath(), { contextSize: 4096 }, async (opened) => {
    for (const [name, { answer }] of Object.entries(PUPPET_TOOL_ANSWERS)) {
      const call = `<tool_call>\n{"name": "${name === 'default' ? 'other' : name}", "arguments": {}}\n</tool_call>`;
      const begun = turn('user', 'weather') + turn('assistant', call);
      for (const result of ['21', 'weather json hello', FILLER.repeat(50)]) {
        const answered = begun + turn('tool', `<tool_response>\n${result}\n</tool_response>`);
        assert.equal(await said(opened, answered + HEADER), answer, name);
        assert.equal(await said(opened, answered + HEADER + CLOSED), answer, name);
        assert.equal(await said(opened, answered + turn('assistant', answer) + turn('user', 'hi') + HEADER), PUPPET_SCRIPTS.hello.answer);
      }
    }
  });
});

test('thinking and tool calls go on from where a prompt or a budget leaves them', async () => {
  const { thinking, answer } = PUPPET_SCRIPTS.think;
  await withPuppet(puppetPath(), {}, async (opened) => {
    const asked = turn('user', 'ponder') + HEADER;
    assert.equal(await said(opened, `${asked}<think>`), `${thinking}</think>\n\n${answer}`);
    assert.equal(await said(opened, `${asked}<think>\n`), `${thinking.slice(1)}</think>\n\n${answer}`);
    assert.equal(await said(opened, `${asked}<think>\nThe user</think>`), `\n\n${answer}`);
    const called = turn('user', 'weather') + HEADER;
    assert.equal(await said(opened, `${called}<tool_call>`), PUPPET_SCRIPTS.weather.answer.slice('<tool_call>'.length));
  });
});

test('the endless script runs as long as asked, and the coin differs by seed', async () => {
  await withPuppet(puppetPath(), { contextSize: 2048 }, async (opened) => {
    const endless = await opened.run(opened.tokens(turn('user', 'endless') + HEADER), { maxTokens: 1500 });
    assert.equal(endless.finish, FINISH_LENGTH);
    assert.ok(opened.text(endless.tokens).startsWith(PUPPET_SCRIPTS.endless.answer.repeat(2)));
    const coin = async (seed: number): Promise<string> =>
      opened.text((await opened.run(opened.tokens(turn('user', 'coin') + HEADER), { maxTokens: 200, temperature: 1, seed })).tokens);
    const tosses = await Promise.all([1, 1, 2, 3, 4].map(coin));
    assert.equal(tosses[0], tosses[1]);
    assert.ok(new Set(tosses).size > 2, 'seeds give different tosses');
  });
});

for (const type of ['f32', 'bf16', 'q8_0', 'q4_0']) {
  test(`the coarse puppet is exact with ${type} keys and values`, async () => {
    await withPuppet(coarsePuppetPath(), { cacheTypeK: type, cacheTypeV: type }, async (opened) => {
      for (const [name, script] of scripts.filter(([, { answer }]) => answer.length < 500))
        assert.equal(
          await said(opened, turn('user', 'hello') + turn('assistant', 'yes') + turn('user', triggerOf(script)) + HEADER),
          saidText(script),
          name,
        );
    });
  });
}
