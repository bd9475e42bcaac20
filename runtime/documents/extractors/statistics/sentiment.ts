import { type Counted, ratio } from './basic.js';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const POSITIVE = words(
  'good great excellent best better amazing wonderful fantastic superb perfect love loved loves like liked enjoy enjoyed happy glad pleased ' +
    'delighted success successful successfully win won winning benefit benefits improve improved improvement improves easy efficient effective ' +
    'helpful useful valuable beautiful brilliant positive recommend recommended reliable fast safe strong gain gains growth profit thanks thank ' +
    'praise praised impressive innovative favourite favorite advantage pleasant',
);
const NEGATIVE = words(
  'bad worse worst terrible awful horrible poor poorly hate hated hates dislike disliked sad angry upset unhappy disappointed disappointing ' +
    'disappointment failure fail failed fails failing problem problems issue issues error errors broken bug bugs slow difficult hard wrong ' +
    'loss losses lose lost lack damage damaged danger dangerous risk risky weak useless harmful harm negative crash crashed crisis complaint ' +
    'complaints complain unfortunately worthless expensive decline declined threat unsafe ugly annoying',
);
const NEGATION = words("not no never without hardly cannot can't don't doesn't didn't isn't aren't wasn't weren't won't wouldn't");
/** A negation turns the words so far behind it. */
const REACH = 3;
const WORD_UNITS = 32;
/** A score beyond this, either way, has a polarity. */
const NEUTRAL = 0.1;

/** Counts of English words with a leaning, turned by a negation before them; the score is (positive - negative) / both, -1 to 1. */
export function sentimentOf({ words: all }: Counted) {
  let positive = 0;
  let negative = 0;
  let negated = 0;
  for (const raw of all) {
    const word = raw.slice(0, WORD_UNITS).toLowerCase().replace('’', "'");
    const leans = POSITIVE.has(word) || NEGATIVE.has(word);
    if (NEGATION.has(word)) negated = REACH + 1;
    else if (leans && POSITIVE.has(word) !== negated > 0) positive += 1;
    else if (leans) negative += 1;
    negated -= 1;
  }
  const score = ratio(positive - negative, positive + negative);
  return {
    positive_words: positive,
    negative_words: negative,
    sentiment_score: score,
    polarity: score > NEUTRAL ? 'positive' : score < -NEUTRAL ? 'negative' : 'neutral',
  };
}
