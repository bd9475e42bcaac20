// Makes native/text/generated/unicode_tables.hpp from the Unicode tables inside this Node (ICU): node scripts/unicode-tables.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LAST = 0x10ffff;
/** As in unicode.hpp: kOther 0, kLetter 1, kDigit 2, kMark 3, kUnspaced 4, kSymbol 5, kIgnored 6. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Bopomofo}\p{Script=Yi}]/u;
/** Marks that only colour a letter in the way of an accent; those of Indic scripts are vowels and stay. */
const ACCENT =
  /^(?=\p{Mn}|\p{Me})(?![\u3099\u309a])[\p{Script=Inherited}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}]$/u;
/** Letters that Unicode does not decompose though readers of Latin do, and the signs that join words. */
const OWN = {
  ø: 'o', đ: 'd', ł: 'l', æ: 'ae', œ: 'oe', þ: 'th', ð: 'd', ħ: 'h', ŧ: 't', ŋ: 'n', ĸ: 'k', ß: 'ss', ſ: 's', ς: 'σ', ı: 'i',
  'ـ': '', '’': "'", 'ʼ': "'", '‐': '-', '™': ' ', '℠': ' ', '\u0345': '',
}; // biome-ignore format: a table

function classOf(character) {
  if (/\p{Default_Ignorable_Code_Point}/u.test(character) || ACCENT.test(character)) return 6;
  if (/\p{M}/u.test(character)) return 3;
  if (/\p{N}/u.test(character) && !UNSPACED.test(character) && !/\p{Nl}/u.test(character)) return 2;
  if (/[\p{L}\p{Nl}]/u.test(character)) return UNSPACED.test(character) ? 4 : 1;
  const code = character.codePointAt(0);
  if (/\p{Extended_Pictographic}/u.test(character) && (code >= 0x1f000 || (code >= 0x2600 && code < 0x27c0))) return 5;
  return 0;
}

const HANGUL = /[\uac00-\ud7a3]/;

/** Takes case, width, compatibility forms and accents away. Hangul and voiced kana stay whole, because unicode.cpp composes what comes apart. */
function fold(character) {
  if (HANGUL.test(character)) return character;
  const lower = (text) => [...text].map((one) => OWN[one] ?? one.toUpperCase().toLowerCase()).join('');
  let folded = character;
  for (let round = 0; round < 3; round += 1) folded = [...lower(folded.normalize('NFKD'))].map((one) => OWN[one] ?? one).join('');
  folded = [...folded].filter((one) => classOf(one) !== 6).join('');
  if (/[\u3099\u309a\u1100-\u11ff]/.test(folded)) folded = folded.normalize('NFC');
  return folded;
}

const classes = [];
const runs = [];
const many = [];
for (let code = 0; code <= LAST; code += 1) {
  if (code >= 0xd800 && code <= 0xdfff) continue;
  const character = String.fromCodePoint(code);
  const kind = classOf(character);
  const last = classes.at(-1);
  if (kind !== 0) {
    if (last && last[2] === kind && last[1] === code - 1) last[1] = code;
    else classes.push([code, code, kind]);
  }
  if (code < 0x80 || kind === 6) continue;
  const folded = [...fold(character)].map((one) => one.codePointAt(0));
  if (folded.length === 1 && folded[0] === code) continue;
  if (folded.length !== 1) {
    many.push([code, folded]);
    continue;
  }
  // A run has one distance, and a step of 1 or (alternating capitals) 2.
  const distance = folded[0] - code;
  const run = runs.at(-1);
  const gap = run ? code - run.end : 0;
  if (run && run.distance === distance && (run.step ? gap === run.step : gap <= 2)) {
    run.step = gap;
    run.end = code;
  } else runs.push({ start: code, end: code, step: 0, distance });
}

const voiced = [];
for (let code = 0x3041; code <= 0x30fe; code += 1) {
  for (const mark of ['\u3099', '\u309a']) {
    const whole = (String.fromCodePoint(code) + mark).normalize('NFC');
    if ([...whole].length === 1) voiced.push([code, mark.codePointAt(0), whole.codePointAt(0)]);
  }
}

const hex = (number) => `0x${number.toString(16)}`;
function rows(items) {
  const lines = [''];
  for (const item of items) {
    if (lines.at(-1).length + item.length > 157) lines.push('');
    lines[lines.length - 1] += `${item},`;
  }
  return lines.join('\n');
}
const pool = [];
const spelt = many.map(([code, folded]) => {
  pool.push(...folded);
  return `{${hex(code)},${pool.length - folded.length},${folded.length}}`;
});

writeFileSync(
  join(import.meta.dirname, '../native/text/generated/unicode_tables.hpp'),
  `#pragma once
// Made by scripts/unicode-tables.mjs from Unicode ${process.versions.unicode} (ICU ${process.versions.icu}). Do not edit.
// clang-format off

#include <cstdint>

namespace quern::text::tables {

struct ClassRange { uint32_t first, last; uint8_t kind; };
constexpr ClassRange kClasses[] = {
${rows(classes.map(([first, last, kind]) => `{${hex(first)},${hex(last)},${kind}}`))}
};

/// Each code point of first, first + step ... last is folded by adding the distance.
struct FoldRun { uint32_t first, last; uint8_t step; int32_t distance; };
constexpr FoldRun kFolds[] = {
${rows(runs.map((run) => `{${hex(run.start)},${hex(run.end)},${run.step || 1},${run.distance}}`))}
};

/// Code points that become none or several, and where these lie in the pool.
struct Spelling { uint32_t code; uint16_t offset; uint8_t count; };
constexpr Spelling kSpellings[] = {
${rows(spelt)}
};
constexpr uint32_t kPool[] = {
${rows(pool.map(hex))}
};

/// Kana and sound mark to one code point.
struct Voiced { uint16_t kana, mark, whole; };
constexpr Voiced kVoiced[] = {
${rows(voiced.map((entry) => `{${entry.map(hex)}}`))}
};

}  // namespace quern::text::tables
`,
);
