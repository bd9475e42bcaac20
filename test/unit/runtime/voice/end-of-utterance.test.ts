import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Completeness, completenessOf } from '../../../../runtime/voice/end-of-utterance.js';

const CASES: Record<Completeness, readonly string[]> = {
  incomplete: [
    ...['I went there and', 'she said that', 'I want to', 'we walked through', 'give it to the', 'this is my', 'they have', 'he should'],
    ...['so um', 'it was like', 'it was you know', 'what I mean', 'i mean', 'and then we', 'do you think it', 'firstly', 'there are three'],
    ...[
      'it is bigger than',
      'he said "come in',
      'she said “wait',
      "he said 'never again",
      'I thought...',
      'wait…',
      'first, second,',
      'the list is:',
    ],
    ...['I would go to the.', 'It was cold and.', 'blue sky', 'tomorrow'],
  ],
  complete: [
    ...[
      'I am done.',
      'Stop!',
      'Is that so?',
      'He said "come in."',
      'yes',
      'no',
      'No',
      'okay',
      'thank you',
      'I would like that please',
      'that is right',
    ],
    ...[
      'what is the capital of France',
      'tell me how far the moon lies',
      'can you open the door',
      'please stop now',
      'show me the map',
      'I like it.',
    ],
    ...["I don't know what happened", "it's over.", 'I see', 'well I got it', 'Did she call you?'],
  ],
  ambiguous: [
    ...[
      '',
      '   ',
      'the weather turned cold yesterday',
      "I don't like cold weather",
      "the dogs' bowl stands outside",
      "we can't see those people",
    ],
    ...[
      "they'll bring 'em tomorrow evening",
      'my sister lives in Paris',
      '“we agreed” she told him yesterday',
      'he called it "fine" last week',
    ],
  ],
};

describe('the end of what is said', () => {
  for (const [expected, texts] of Object.entries(CASES))
    it(`is ${expected}`, () => {
      for (const text of texts) assert.equal(completenessOf(text, 'en'), expected, JSON.stringify(text));
    });

  it('takes time for the end of a text only', () => {
    const started = process.cpuUsage();
    for (const piece of ["'a ", 'what ', '"', '. ', 'a', '\n', "s' "]) completenessOf(piece.repeat(500_000), 'en');
    const { user } = process.cpuUsage(started);
    assert.ok(user < 500_000, `${user} us`);
  });
});
