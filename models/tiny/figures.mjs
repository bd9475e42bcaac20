// Puts the figures of eval/results.json into model-card.md, between its marks.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CARD = join(import.meta.dirname, 'model-card.md');
const MARKS = /(<!-- figures -->\n)[\s\S]*?(<!-- end of figures -->)/;
const NAMES = {
  f1: 'F1 of the words',
  exact: 'exact',
  answered: 'answered at all',
  refused: 'refused, where the text has no answer',
  right: 'right',
  valid: 'valid form',
  named: 'right tool',
  left: 'no call, where no tool fits',
  members: 'right members',
  offered: 'one of the offered labels',
  ended: 'ended by itself',
  loop: 'ran into a loop',
  empty: 'empty',
};

const results = JSON.parse(readFileSync(join(import.meta.dirname, 'eval', 'results.json'), 'utf8'));

function table(kinds) {
  const rows = Object.entries(kinds).flatMap(([kind, scores]) =>
    Object.entries(scores).map(([name, { mean, items }]) => `| ${kind} | ${NAMES[name] ?? name} | ${mean.toFixed(3)} | ${items} |`),
  );
  return ['| What | Measure | Mean | Items |', '|---|---|---|---|', ...rows].join('\n');
}

const text = [
  `File \`${results.file}\`, SHA-256 \`${results.sha256}\`.`,
  'Hand-written items, which the generator has never seen:',
  table(results.hand_written),
  'Development items, harder, written by hand by somebody who knew neither the generator nor the items above; what they showed led the generator since:',
  table(results.development),
  'Dialogues of the generator that training never drew:',
  table(results.held_out),
  'Free prompts, greedy, at most 160 tokens:',
  table({ 'free prompts': results.free }),
  `One client, short answers, prompts and requests counted: ${results.speed.perSecond} tokens/s. Memory of the model's process: ${results.memory.hostMb} MB.`,
  '',
].join('\n\n');
const card = readFileSync(CARD, 'utf8');
if (!MARKS.test(card)) throw new Error(`${CARD} has no marks for the figures`);
writeFileSync(
  CARD,
  card.replace(MARKS, (_, begin, end) => `${begin}${text}${end}`),
);
