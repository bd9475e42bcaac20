import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { symbolNumbers } from '../../../../../runtime/engines/speaking/engines/kokoro.js';
import { planSounds } from '../../../../../runtime/engines/speaking/text/plan.js';
import type { Accent } from '../../../../../runtime/engines/speaking/text/sounds.js';

const said = (text: string, accent: Accent = 'US'): string =>
  planSounds(text, accent, 500)
    .map(({ script }) => script)
    .join(' ');

describe('how a text is said', () => {
  it('differs between America and Britain', () => {
    const pairs: Record<string, [string, string]> = {
      water: ['wˈɔTəɹ', 'wˈɔːtə'],
      bath: ['bˈæθ', 'bˈɑːθ'],
      lot: ['lˈɑt', 'lˈɒt'],
      go: ['ɡˈO', 'ɡˈQ'],
      new: ['nˈu', 'njˈuː'],
      car: ['kˈɑɹ', 'kˈɑː'],
      dance: ['dˈæns', 'dˈɑːns'],
      schedule: ['skˈɛʤʊl', 'ʃˈɛdjuːl'],
    };
    const wrong = Object.entries(pairs).filter(([word, [us, gb]]) => said(word) !== us || said(word, 'GB') !== gb);
    assert.deepEqual(
      wrong.map(([word]) => [word, said(word), said(word, 'GB')]),
      [],
    );
  });

  it('has small words weak, and "the" and "to" by what follows', () => {
    assert.equal(said('the apple and the pear'), 'ði ˈæpᵊl ænd ðə pˈɛɹ');
    assert.equal(said('to a man'), 'tu ə mˈæn');
    assert.equal(said('to go'), 'tə ɡˌO');
  });

  it('tells words of one spelling by their neighbours', () => {
    assert.match(said('They record the song'), /ɹəkˈɔɹd/);
    assert.match(said('The record is old'), /ɹˈɛkəɹd/);
    assert.match(said('I have read it'), /ɹˈɛd/);
    assert.match(said('I will read it'), /ɹˈid/);
    assert.match(said('Please close the door'), /klˈOz/);
    assert.match(said('It is close to me'), /klˈOs/);
    assert.match(said('a live stream'), /lˈIv/);
    assert.match(said('we live here'), /lˈɪv/);
    assert.match(said('the use of it'), /jˈus/);
  });

  it('takes words apart that no dictionary has', () => {
    assert.equal(said('webhooks'), 'wˈɛbhˌʊks');
    assert.equal(said("Quern's"), 'kwˈɜɹnz');
    assert.match(said('reconfiguring'), /ɪŋ$/);
    assert.equal(said('unpluggable').includes('plˈʌɡ'), true);
  });

  it('has rules for what is left', () => {
    for (const word of ['blorptastic', 'zyxgnth', 'flumphing', 'qwxz', 'aaaaaa', 'grault', 'constructor', 'valueof', 'hasownproperty'])
      assert.match(said(word), /\p{L}/u, word);
  });

  it('is written in symbols that the model knows, whatever the text', () => {
    const texts = [
      'Hello, World! 123 $5.50 a@b.co',
      'æøå łódź straße',
      "rock 'n' roll o'clock y'all ain't",
      'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z',
      'sphinx of black quartz judge my vow',
      'xylophone psalm gnome knight wrought yacht',
    ];
    for (const accent of ['US', 'GB'] as const)
      for (const text of texts)
        for (const { script } of planSounds(text, accent, 500)) assert.ok(!symbolNumbers(script).includes(undefined), script);
  });

  it('tells how many symbols belong to each word', () => {
    for (const { script, words } of planSounds('Well, the $5.50 of May 3rd, 2024, were paid. All is well — and good!', 'US', 500)) {
      assert.equal(
        words.reduce((sum, { length }) => sum + length, 0),
        [...script].length,
      );
      assert.equal(
        words
          .map(({ word }) => word)
          .join(' ')
          .includes('undefined'),
        false,
      );
    }
  });

  it('is cut where a phrase has more symbols than the model takes', () => {
    const text = `${'extraordinarily '.repeat(36)}long.`;
    const phrases = planSounds(text, 'US', 200);
    assert.ok(phrases.length > 3 && phrases.every(({ script }) => script.length <= 200));
    assert.equal(phrases.map((phrase) => phrase.text).join(' '), text);
  });
});
