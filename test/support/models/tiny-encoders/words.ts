/** What a word of the tiny encoders stands for; the others mean only themselves. */
export type Meaning = 'person' | 'surname' | 'place' | 'good' | 'bad';

const MEANINGS: Readonly<Record<Meaning, readonly string[]>> = {
  person: ['Anna', 'Maria', 'Peter'],
  surname: ['Smith', 'Lopez', 'Berg'],
  place: ['Paris', 'Oslo', 'Lima'],
  good: ['good', 'great', 'happy'],
  bad: ['bad', 'awful', 'sad'],
};
const PLAIN = (
  'the a an is was in on at of and to with from by it he she we they lives works visited met red blue green dog cat house tree river bread ' +
  'milk water train ship road music book film phone night day summer winter engine battery garden price market'
).split(' ');

/** Every whole word of the vocabularies. */
export const WORDS: readonly string[] = [...Object.values(MEANINGS).flat(), ...PLAIN];

/** What a word stands for; letters count as written, and in lower case for vocabularies without capitals. */
export function meaningOf(word: string): Meaning | undefined {
  return (Object.keys(MEANINGS) as Meaning[]).find((meaning) =>
    MEANINGS[meaning].some((one) => one === word || one.toLowerCase() === word),
  );
}
