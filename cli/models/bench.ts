import { BUILT_IN_MODELS } from '../../models/built-in.js';
import { type Figures, figuresValue, Talk } from '../chat/talk.js';
import { withDaemon } from '../daemon/client.js';
import { numberOf, type Run } from '../verb.js';

const ROUNDS = 5;
/** Words of the text that is read, and tokens that are written. */
const READ_WORDS = 120;
const WRITTEN_TOKENS = 64;
/** A text of words that no cache of a round before has seen. */
const textOf = (round: number): string => Array.from({ length: READ_WORDS }, (_, at) => `word${round}x${(at * 7919) % 997}`).join(' ');

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Measures how fast a model reads and writes, in tokens per second, as medians of some rounds after one that warms it up. */
export const bench: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { out, words } = call;
    const [model = BUILT_IN_MODELS[0]!.name] = words;
    const rounds = numberOf(call, 'rounds') ?? ROUNDS;
    const figures: Figures[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      out.progress(round === 0 ? 'warming up ...' : `round ${round} of ${rounds}`);
      const talk = new Talk(daemon, model);
      talk.set('max_tokens', WRITTEN_TOKENS);
      talk.set('temperature', 0);
      for await (const piece of talk.say(`${textOf(round)}\n\nWrite a long story about a lighthouse.`, new AbortController().signal))
        if (piece.kind === 'end' && round > 0) figures.push(piece.figures);
    }
    out.endProgress();
    const reading = median(figures.map(({ promptTokens, firstTokenS }) => promptTokens / firstTokenS));
    const writing = median(figures.map(({ answerTokens, firstTokenS, totalS }) => (answerTokens - 1) / (totalS - firstTokenS)));
    const first = median(figures.map(({ firstTokenS }) => firstTokenS));
    return {
      result: {
        model,
        rounds,
        read_tokens_per_s: reading,
        written_tokens_per_s: writing,
        first_token_s: first,
        answers: figures.map(figuresValue),
      },
      show: () =>
        out.table(
          ['MODEL', 'READS', 'WRITES', 'FIRST TOKEN'],
          [
            [
              model,
              `${reading.toFixed(0)} tokens/s`,
              `${writing.toFixed(1)} tokens/s`,
              `${(first * 1000).toFixed(0)} ms (${figures[0]!.promptTokens} tokens read)`,
            ],
          ],
        ),
    };
  });
