import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExtraBody } from '../../schemas/generated/universal/chat.js';
import { LoadedEngine, type Loose } from '../support/loaded-engine.js';
import { puppetPath, tinyPath } from '../support/models/cache.js';
import { sayingPath } from '../support/models/lora-adapter.js';

/** Small, so that many fit; a row's own options win. */
const BASE: ExtraBody = { n_ctx: 1024, n_slots: 2, n_threads: 1 };
/** A prompt of some 970 tokens. */
const LONG = `hello ${'word '.repeat(300)}`;
const NOT_LINUX = process.platform === 'linux' ? false : 'only Linux shows it';

/** How the effect of one option is seen: what the engine does with either of two values. */
interface Row<Name extends keyof ExtraBody = keyof ExtraBody> {
  readonly values: readonly [ExtraBody[Name], ExtraBody[Name]];
  /** Options beside it. */
  readonly beside?: ExtraBody;
  /** The puppet unless given. Its answers stand whatever the numbers do; those of random weights do not. */
  readonly model?: () => string;
  readonly see: (engine: LoadedEngine) => unknown;
  /** What is seen with either value; absent = they differ, and the same value shows the same. */
  readonly expected?: readonly [unknown, unknown];
  /** Why this machine cannot show it. */
  readonly skip?: string | false;
}

/** Steps that a long prompt takes, less those that it would take if each decoded so many tokens. */
const steps =
  (perStep: (engine: LoadedEngine) => number, prompt = LONG) =>
  async (engine: LoadedEngine): Promise<unknown> => {
    const { usage } = await engine.ask(prompt);
    return (await engine.stats()).steps! - Math.ceil(usage.prompt_tokens / perStep(engine));
  };

/** The exact probabilities of some tokens. */
const numbers = async (engine: LoadedEngine, prompt = 'numbers'): Promise<unknown> => {
  const { choices } = await engine.ask(prompt, { max_tokens: 12, logprobs: true });
  return choices[0].logprobs.content.map(({ logprob }: Loose) => logprob);
};

/** Whether drawing with different seeds gives different answers. */
const varies = async (engine: LoadedEngine): Promise<unknown> => {
  const texts = new Set<string>();
  for (let seed = 0; seed < 4; seed += 1) texts.add(await engine.text('coin', { temperature: 2, seed, max_tokens: 60 }));
  return texts.size > 1;
};

/** What random weights say greedily: soon the same again and again. */
const again = (engine: LoadedEngine): Promise<unknown> => engine.text('again', { max_tokens: 60 });

/** What the puppet says when it should say hello. */
const hello = (engine: LoadedEngine): Promise<unknown> => engine.text('hello', { max_tokens: 60 });

/** How many of two generations that would go on for ever are decoded together. */
const together = async (engine: LoadedEngine): Promise<unknown> => {
  const endless = ['one', 'two'].map((name) => engine.open(`${name} endless`, { max_tokens: 8000, stream: true }));
  let stats = await engine.stats();
  while (stats.active! + stats.queued! < 2) stats = await engine.stats();
  // What comes in gets its slot with the next step.
  const submitted = stats.steps! + 1;
  while (stats.steps! <= submitted) stats = await engine.stats();
  for (const exchange of endless) exchange.leave();
  return stats.active;
};

/** Whether a prompt takes over the beginning of another one that is being answered. */
const sharesPrefix = async (engine: LoadedEngine): Promise<unknown> => {
  const beginning = 'word '.repeat(12);
  const busy = engine.open(`${beginning}endless`, { max_tokens: 8000, stream: true });
  while ((await engine.stats()).decodedTokens === 0);
  await engine.ask(`${beginning}hello`);
  busy.leave();
  return (await engine.stats()).reusedTokens! > 0;
};

/** Whether the second of two equal prompts finds what the first left. */
const reuses = async (engine: LoadedEngine): Promise<unknown> => {
  await engine.ask('hello');
  await engine.ask('hello');
  return (await engine.stats()).reusedTokens! > 0;
};

/** The status of a prompt that is too long. */
const tooLong = async (engine: LoadedEngine): Promise<unknown> => (await engine.open(`${LONG}${LONG}`).done).status;

/** A conversation that ends in an answer. */
const BEGUN = [
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: 'Well' },
];

const ROWS: { readonly [Name in keyof Required<ExtraBody>]: Row<Name> } = {
  n_ctx: { values: [512, 1024], see: async (engine) => (await engine.ask('hi')).x_context_usage.total_context, expected: [512, 1024] },
  n_slots: { values: [1, 2], beside: { n_ctx: 8192 }, see: together, expected: [1, 2] },
  n_batch: { values: [16, 64], see: steps(({ extra }) => extra.n_batch!), expected: [0, 0] },
  // Many tokens at once go through other kernels than few.
  n_ubatch: { values: [1, 256], model: tinyPath, see: (engine) => numbers(engine, `numbers ${'word '.repeat(100)}`) },
  n_gpu_layers: {
    values: [0, -1],
    see: async (engine) => {
      await engine.ask('hi');
      const { requested, available, used, why } = await engine.shown();
      // Without a GPU, the reason says what became of the wish.
      return [requested, available.length > 1 ? used.join() : why];
    },
  },
  n_threads: {
    values: [1, 3],
    see: async (engine) => (await engine.ask('hi')) && engine.threads(),
    skip: NOT_LINUX,
  },
  flash_attn: { values: [true, false], model: tinyPath, see: (engine) => numbers(engine) },
  use_mmap: {
    values: [true, false],
    see: async (engine) => (await engine.ask('hi')) && engine.proc('maps').includes(engine.model),
    expected: [true, false],
    skip: NOT_LINUX,
  },
  use_mlock: {
    values: [true, false],
    see: async (engine) => {
      await engine.ask('hi');
      const { notes } = await engine.shown();
      // Where the system does not let it, that is said.
      return !/^VmLck:\s+0 kB$/m.test(engine.proc('status')) || notes.some((note: string) => note.startsWith('use_mlock'));
    },
    expected: [true, false],
    skip: NOT_LINUX,
  },
  cache_type_k: { values: ['f16', 'q8_0'], model: tinyPath, see: (engine) => numbers(engine) },
  cache_type_v: { values: ['f16', 'q8_0'], model: tinyPath, see: (engine) => numbers(engine) },
  kv_unified: { values: [true, false], beside: { n_ctx: 8192 }, see: sharesPrefix, expected: [true, false] },
  // What is known of the machine's speed decides whether a first prompt is read in one step.
  warm_up: { values: [true, false], see: steps(() => 1024, `hello ${'word '.repeat(50)}`), expected: [0, 1] },
  deterministic: { values: [true, false], see: reuses, expected: [false, true] },
  continue_final_message: {
    values: [true, false],
    see: async (engine) => (await engine.ask('hi', { messages: BEGUN, max_tokens: 4 })).usage.prompt_tokens,
  },
  think: {
    values: [true, false],
    see: async (engine) => 'thinking' in (await engine.ask('ponder', { max_tokens: 50 })),
    expected: [true, false],
  },
  thinking_budget: {
    values: [2, 5],
    beside: { think: true },
    see: async (engine) => (await engine.ask('ponder', { max_tokens: 50 })).thinking.tokens,
    expected: [2, 5],
  },
  chat_template: { values: ['chatml', 'plain'], see: async (engine) => (await engine.ask('hi')).usage.prompt_tokens },
  lora: {
    values: [[{ path: sayingPath('x') }], [{ path: sayingPath('y') }]],
    see: (engine) => engine.text('hello', { max_tokens: 3 }),
    expected: ['xxx', 'yyy'],
  },
  auto_truncate: { values: [true, false], beside: { n_ctx: 512 }, see: tooLong, expected: [200, 400] },
  truncation_strategy: {
    values: ['middle_out', 'sliding_window'],
    see: async (engine) => (await engine.ask(`${LONG}${LONG}`)).x_context_usage.strategy_used,
    expected: ['middle_out', 'sliding_window'],
  },
  top_k: { values: [1, 0], see: varies, expected: [false, true] },
  min_p: { values: [1, 0], see: varies, expected: [false, true] },
  repeat_penalty: { values: [1, 10], model: tinyPath, see: again },
  dry_multiplier: { values: [0, 5], model: tinyPath, see: again },
  dry_base: { values: [1, 10], beside: { dry_multiplier: 0.5 }, model: tinyPath, see: again },
  dry_allowed_length: { values: [1, 10], beside: { dry_multiplier: 5 }, model: tinyPath, see: again },
  grammar: { values: ['root ::= "yes"', 'root ::= "n" "o"'], see: hello, expected: ['yes', 'no'] },
  guided_grammar: { values: ['root ::= "yes"', 'root ::= "n" "o"'], see: hello, expected: ['yes', 'no'] },
  json_schema: { values: [{ const: 1 }, '{"const": 2}'], see: hello, expected: ['1', '2'] },
  guided_json: { values: [{ const: 1 }, '{"const": 2}'], see: hello, expected: ['1', '2'] },
  guided_regex: { values: ['a{3}', '"b\\\\"'], see: hello, expected: ['aaa', '"b\\"'] },
  guided_choice: { values: [['yes'], ['no\n']], see: hello, expected: ['yes', 'no\n'] },
};

async function seen({ beside, model = puppetPath, see }: Row, name: keyof ExtraBody, value: unknown): Promise<unknown> {
  const engine = new LoadedEngine(model(), { ...BASE, ...beside, [name]: value });
  try {
    const found = await see(engine);
    const { options } = await engine.shown();
    if (name in options) assert.equal(options[name], value, 'in /health');
    return found;
  } finally {
    await engine.close();
  }
}

describe('extra_body', () => {
  for (const [name, row] of Object.entries(ROWS) as [keyof ExtraBody, Row][]) {
    it(`${name} acts`, { skip: row.skip ?? false }, async () => {
      const [one, other] = [await seen(row, name, row.values[0]), await seen(row, name, row.values[1])];
      if (row.expected) return assert.deepEqual([one, other], row.expected);
      assert.notDeepEqual(one, other);
      assert.deepEqual(await seen(row, name, row.values[0]), one, 'the same option again');
    });
  }
});
