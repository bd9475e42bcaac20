import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { classesOf, decodeLine, readLabels } from '../../../../../../runtime/engines/ocr/networks/ctc.js';
import { rectanglesOf } from '../../../../../../runtime/engines/ocr/networks/probability-maps.js';
import {
  hullOf,
  inReadingOrder,
  type Point,
  rectangleAround,
  regionsOf,
  type Slanted,
  straighten,
} from '../../../../../../runtime/engines/ocr/networks/regions.js';
import { turnUpsideDown } from '../../../../../../runtime/pictures/picture.js';
import { recogniser } from '../../../../../support/vision/networks.js';

const near = (a: number, b: number, within = 1e-6): void => assert.ok(Math.abs(a - b) <= within, `${a} should be ${b}`);
const upright = (x: number, y: number, width: number, height: number): Slanted => ({
  corners: [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ],
  width,
  height,
});

describe('regions', () => {
  it('are connected by sides and corners', () => {
    const rows = ['##...', '..#..', '.....', '#...#'];
    const mask = Uint8Array.from([...rows.join('')].map((sign) => Number(sign === '#')));
    assert.deepEqual(
      [...regionsOf(mask, 5, 4)].map((pixels) => [...pixels].sort((a, b) => a - b)),
      [[0, 1, 7], [15], [19]],
    );
    assert.deepEqual([...regionsOf(new Uint8Array(20), 5, 4)], []);
  });

  it('have the smallest rectangle at any angle', () => {
    for (const degrees of [-80, -44, -30, 0, 12, 30, 44]) {
      const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
      const points: Point[] = [];
      for (let across = 0; across <= 40; across += 4)
        for (let down = 0; down <= 10; down += 2) points.push([100 + across * cos - down * sin, 100 + across * sin + down * cos]);
      const { width, height, corners } = rectangleAround(points);
      const sides = [width, height].sort((a, b) => a - b);
      near(sides[0]!, 10, 1e-6);
      near(sides[1]!, 40, 1e-6);
      // Text runs to the right, or downwards on its side.
      assert.ok(corners[1][0] > corners[0][0], `${degrees}: ${JSON.stringify(corners)}`);
    }
  });

  it('have a hull without points inside or on its sides', () => {
    const hull = hullOf([
      [0, 0],
      [4, 0],
      [2, 0],
      [2, 2],
      [4, 4],
      [0, 4],
      [0, 2],
    ]);
    assert.deepEqual(hull.map(([x, y]) => `${x},${y}`).sort(), ['0,0', '0,4', '4,0', '4,4']);
  });

  it('of one point have a rectangle without sides', () => {
    const { width, height } = rectangleAround([[3, 3]], () => 2);
    assert.deepEqual([width, height], [4, 4]);
  });
});

describe('maps of detectors', () => {
  const map = (wide: number, high: number, inside: (x: number, y: number) => boolean): Float32Array =>
    Float32Array.from({ length: wide * high }, (_, at) => (inside(at % wide, Math.floor(at / wide)) ? 0.9 : 0.1));

  it('give rectangles that are wider than what was shrunken', () => {
    const data = map(100, 60, (x, y) => x >= 20 && x < 60 && y >= 20 && y < 30);
    const { rectangles } = rectanglesOf({ type: 'float32', dims: [1, 1, 60, 100], data });
    assert.equal(rectangles.length, 1);
    const margin = (40 * 10 * 1.6) / (2 * 50);
    near(rectangles[0]!.width, 40 + 2 * margin);
    near(rectangles[0]!.height, 10 + 2 * margin);
  });

  it('leave out what is small or not sure', () => {
    assert.equal(
      rectanglesOf({ type: 'float32', dims: [1, 1, 60, 100], data: map(100, 60, (x, y) => x === 5 && y < 3) }).rectangles.length,
      0,
    );
    const weak = Float32Array.from(
      map(100, 60, (x, y) => x < 50 && y < 20),
      (value) => value * 0.5,
    );
    assert.equal(rectanglesOf({ type: 'float32', dims: [1, 1, 60, 100], data: weak }).rectangles.length, 0);
  });

  it('of another form are refused', () => {
    for (const dims of [
      [60, 100],
      [2, 1, 60, 50],
      [1, 1, 1, 60, 100],
    ])
      assert.throws(() => rectanglesOf({ type: 'float32', dims, data: new Float32Array(6000) }), { kind: 'invalid' });
  });
});

describe('crops', () => {
  const page = { width: 8, height: 4, channels: 1 as const, data: Uint8Array.from({ length: 32 }, (_, at) => at) };

  it('of an upright rectangle are the pixels themselves', () => {
    assert.deepEqual([...straighten(page, upright(2, 1, 3, 2)).data], [10, 11, 12, 18, 19, 20]);
  });

  it('of text that runs downwards are laid down', () => {
    const { width, height, data } = straighten(page, upright(1, 0, 1, 4));
    assert.deepEqual([width, height, [...data]], [4, 1, [1, 9, 17, 25]]);
  });

  it('reach no further than the image', () => {
    assert.deepEqual([...straighten(page, upright(-2, 0, 3, 1)).data], [0, 0, 0]);
  });

  it('can be turned upside down', () =>
    assert.deepEqual([...turnUpsideDown({ ...page, width: 2, height: 2, data: Uint8Array.of(1, 2, 3, 4) }).data], [4, 3, 2, 1]));
});

describe('lines of classes', () => {
  const steps = (...rows: number[][]) => ({
    type: 'float32' as const,
    dims: [1, rows.length, rows[0]!.length],
    data: Float32Array.from(rows.flat()),
  });

  const listed = (...characters: string[]) => ({ characters, file: 'dict.txt' });
  const decoded = (answer: ReturnType<typeof steps>) => decodeLine(answer, listed('a', 'b'), 'rec.onnx');

  it('repeat a character only after a blank', () => {
    const line = decoded(steps([0, 9, 0], [0, 9, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9]));
    assert.equal(line.text, 'aab');
    near(line.confidence, 1, 0.01);
  });

  it('take probabilities as they are, and make them of logits', () => {
    near(decoded(steps([0.2, 0.7, 0.1])).confidence, 0.7);
    near(decoded(steps([0, 2, 0])).confidence, Math.E ** 2 / (Math.E ** 2 + 2));
    assert.deepEqual(decoded(steps([9, 0, 0])), { text: '', confidence: 0 });
  });

  it('need as many characters as there are classes', () => {
    assert.deepEqual(
      [classesOf(listed('a', 'b'), 3, 'r'), classesOf(listed('a', 'b'), 4, 'r'), classesOf(listed('', 'a'), 2, 'r')],
      [
        ['', 'a', 'b'],
        ['', 'a', 'b', ' '],
        ['', 'a'],
      ],
    );
    const message = /^dict\.txt lists 1 characters, and rec\.onnx tells 9 classes apart: they do not belong together\./;
    assert.throws(() => classesOf(listed('a'), 9, 'rec.onnx'), { kind: 'invalid', code: 'OcrModelInvalid', message });
  });

  it('find their characters in texts, JSON and graphs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quern-labels-'));
    const path = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    assert.deepEqual((await readLabels(path('a.txt', 'a\r\nb\r\n \r\n'), '')).characters, ['a', 'b', ' ']);
    assert.deepEqual((await readLabels(path('a.json', '["", "a"]'), '')).characters, ['', 'a']);
    assert.deepEqual((await readLabels(path('b.json', '{"characters": "ab", "lang": ["en"]}'), '')).characters, ['en']);
    assert.deepEqual((await readLabels(null, path('rec.onnx', recogniser(3, 48, { other: 'x', character: 'q\nr' })))).characters, [
      'q',
      'r',
    ]);
    await assert.rejects(readLabels(null, path('bare.onnx', recogniser(3, 48))), /no list of its characters/);
    await assert.rejects(readLabels(path('c.json', '{'), '', join(folder, '..')), {
      kind: 'invalid',
      message: /quern-labels-.*\/c\.json is no/,
    });
  });
});

describe('reading order', () => {
  it('goes line by line, and from the left within a line', () => {
    const [a, b, c] = [upright(50, 0, 20, 10), upright(0, 3, 20, 10), upright(0, 30, 20, 10)];
    assert.deepEqual(inReadingOrder([c, a, b]), [b, a, c]);
    assert.deepEqual(inReadingOrder([]), []);
  });
});
