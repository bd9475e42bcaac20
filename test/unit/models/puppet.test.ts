import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STANDIN_CARD } from '../../../models/built-in.js';
import { privatePieces } from '../../../models/puppet/pieces.js';
import { compileProgram, MARKERS, type Next, type Program } from '../../../models/puppet/program.js';
import { IDLE_THINKING, type Script, type ScriptTable, saidText, type ToolAnswerTable } from '../../../models/puppet/script.js';
import { STANDIN_SCRIPTS, STANDIN_TOOL_ANSWERS, standinModel } from '../../../models/standin/standin.js';
import { Bpe, splitWords } from '../../../models/writers/bpe.js';
import { unspell } from '../../../runtime/engines/tokenizers/byte-alphabet.js';
import { coarsePuppetPath, puppetPath } from '../../support/models/cache.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../../support/models/puppet-scripts.js';
import { readGguf } from '../../support/models/read-gguf.js';

const MOST_TOKENS = 2000;

/** Follows the transitions from one entry of a script as the weights will, always to the likeliest. */
function walk(program: Program, subject: string, entries: Program['scriptEntries'], anchor = 'header', mostTokens = MOST_TOKENS): string {
  const tokens = new Map(program.privateTokens.map((token) => [token.spelled, token]));
  const at = (name: string): Next => entries.find((entry) => entry.subject === subject && entry.anchor === name)!.next;
  const said: Buffer[] = [];
  let next = at(anchor);
  for (let count = 0; count < mostTokens; count += 1) {
    if ('token' in next) {
      said.push(unspell(next.token));
      next = tokens.get(next.token)!.next[0]!;
    } else if (next.marker === 'end') return Buffer.concat(said).toString('utf8');
    else {
      said.push(Buffer.from(MARKERS[next.marker]));
      next = next.marker === 'callClose' ? { marker: 'end' } : at(next.marker);
    }
  }
  return Buffer.concat(said).toString('utf8');
}

const TABLES: [string, ScriptTable, ToolAnswerTable][] = [
  ['puppet', PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS],
  ['stand-in', STANDIN_SCRIPTS, STANDIN_TOOL_ANSWERS],
];

for (const [name, scripts, tools] of TABLES) {
  const program = compileProgram(scripts, tools);

  test(`${name}: every script is said exactly`, () => {
    for (const [subject, script] of Object.entries<Script>(scripts)) {
      if (script.endless) {
        assert.ok(walk(program, subject, program.scriptEntries).startsWith(script.answer + script.answer));
        continue;
      }
      assert.equal(walk(program, subject, program.scriptEntries), saidText(script));
      assert.equal(walk(program, subject, program.scriptEntries, 'thinkCloseLine'), saidText(script, { thinking: false }));
      const thinking = script.thinking ?? IDLE_THINKING;
      assert.ok(walk(program, subject, program.scriptEntries, 'thinkOpen').startsWith(`${thinking}</think>`));
      assert.ok(walk(program, subject, program.scriptEntries, 'thinkOpenLine').startsWith(`${thinking.slice(1)}</think>`));
    }
    for (const [subject, { answer }] of Object.entries(tools)) assert.equal(walk(program, subject, program.toolEntries), answer);
  });

  test(`${name}: token texts are unique and private tokens cannot come from a prompt`, () => {
    const texts = program.vocabulary.tokens.map((token) => token.text);
    assert.equal(new Set(texts).size, texts.length);
    const merged = new Set(program.vocabulary.merges.map((merge) => merge.replace(' ', '')));
    for (const { spelled } of program.privateTokens) assert.ok(spelled.length >= 2 && !merged.has(spelled), spelled);
  });

  test(`${name}: no trigger word belongs to two scripts`, () => {
    const words = Object.values<Script>(scripts).flatMap((script) => script.triggers);
    assert.equal(new Set(words).size, words.length);
    for (const word of words) assert.deepEqual(splitWords(word), [word]);
  });

  test(`${name}: a trigger is seen in each of its forms, and not inside longer words`, () => {
    const known = new Set([...program.triggers.values()].flat());
    const bpe = new Bpe();
    for (const merge of program.vocabulary.merges) bpe.addMerge(...(merge.split(' ') as [string, string]));
    const seen = (source: string): string[] => bpe.encode(source).filter((token) => known.has(token));
    for (const word of Object.values<Script>(scripts).flatMap((script) => script.triggers)) {
      const forms = [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()];
      for (const form of forms) {
        for (const source of [form, `a ${form} b`, `(${form})`, `"${form}",`, `x\n${form}\n`, `${form}?`, `9${form}9`])
          assert.deepEqual(seen(source), [form], source);
      }
      for (const source of [`q${word}`, `${word}q`, `j${word}j`, `Q${forms[2]}`, `${forms[1]}q`, `${forms[2]}Q`])
        assert.deepEqual(seen(source), [], source);
    }
    assert.deepEqual(seen('What is the capital of this country?'), []);
  });
}

test('pieces are new, join to the text, and split characters where asked', () => {
  const taken = new Set(['the', 'Ġthe']);
  const pieces = privatePieces('the cat saw the cat and the dog the', taken);
  assert.equal(unspell(pieces.join('')).toString(), 'the cat saw the cat and the dog the');
  assert.equal(new Set(pieces).size, pieces.length);
  assert.ok(pieces.every((piece) => piece !== 'the' && taken.has(piece)));
  assert.ok(privatePieces('a 😀 b', new Set(), 3).some((piece) => unspell(piece).toString('utf8').includes('\ufffd')));
  assert.throws(() => privatePieces('the', taken), /cannot be cut/);
  assert.deepEqual(privatePieces('', taken), []);
});

test('the files are as large as said and hold what readers look for', () => {
  for (const path of [puppetPath(), coarsePuppetPath()]) {
    const { metadata, tensors } = readGguf(path);
    assert.equal(metadata.get('general.architecture'), 'llama');
    assert.equal(metadata.get('llama.context_length'), 8192);
    assert.match(String(metadata.get('tokenizer.chat_template')), /enable_thinking/);
    const tokens = metadata.get('tokenizer.ggml.tokens') as string[];
    assert.equal(tokens[Number(metadata.get('tokenizer.ggml.eos_token_id'))], '<|im_end|>');
    assert.deepEqual(tensors.get('output.weight')!.shape, [256, tokens.length]);
    assert.ok(
      [...tensors.values()].every(({ values }) => values.every(Number.isFinite)),
      'every weight is finite, also as a half float',
    );
  }
  assert.ok(
    standinModel().metadata.some(([key, value]) => key === 'general.name' && 'value' in value && value.value === STANDIN_CARD.name),
  );
});
