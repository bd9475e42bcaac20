// Compares a GGUF in our engine with torch: write the reference with the training code (README.md), then `node models/tiny/parity.mjs FILE.gguf [reference.json]`.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXACT, Generations } from '../../build/test/native/generations.js';

const file = resolve(process.argv[2] ?? join(import.meta.dirname, 'quern-tiny.gguf'));
const { strings, prompts } = JSON.parse(
  readFileSync(resolve(process.argv[3] ?? join(import.meta.dirname, '..', '..', 'build', 'tiny', 'reference.json')), 'utf8'),
);
const opened = await Generations.open(file, { contextSize: 2048, ...EXACT });
const same = (a, b) => a.length === b.length && a.every((one, index) => one === b[index]);

let differing = 0;
for (const [text, ids] of strings) {
  const ours = [...opened.scheduler.tokenize(text, false, false)];
  if (same(ours, ids)) continue;
  differing += 1;
  if (differing < 6) console.log('tokens differ', JSON.stringify(text), ids.join(' '), '|', ours.join(' '));
}
console.log(`tokens: ${strings.length - differing} of ${strings.length} strings agree`);

let equal = 0;
let widest = 0;
for (const { prompt, said, top } of prompts) {
  const { tokens, logprobs } = await opened.run(Int32Array.from(prompt), { maxTokens: said.length, topLogprobs: 5 });
  const text = said.filter((token) => !opened.scheduler.isEndOfGeneration(token));
  equal += Number(same(tokens.slice(0, text.length), text));
  const [first] = logprobs;
  for (const [token, logprob] of top) {
    const ours = first?.top.find((one) => one.token === token);
    if (ours) widest = Math.max(widest, Math.abs(ours.logprob - logprob));
  }
}
console.log(`greedy: ${equal} of ${prompts.length} continuations agree; first log probabilities differ by at most ${widest.toFixed(4)}`);
await opened.close();
process.exitCode = differing > 0 ? 1 : 0;
