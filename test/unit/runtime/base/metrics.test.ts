import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Counter, countedMetrics, Histogram, metricLine } from '../../../../runtime/base/metrics.js';

const linesOf = (name: string): string[] => countedMetrics().filter((line) => line.startsWith(name));

it('counters and histograms are lines of Prometheus', () => {
  const counter = new Counter('test_total', 'Help.', ['kind', 'who']);
  assert.deepEqual(linesOf('# HELP test_total'), []);
  counter.add(['a', 'x']);
  counter.add(['a', 'x'], 2);
  counter.add(['b"\\\n', '']);
  assert.deepEqual(linesOf('test_total'), ['test_total{kind="a",who="x"} 3', 'test_total{kind="b\\"\\\\\\n",who=""} 1']);
  const histogram = new Histogram('test_seconds', 'Help.', ['kind'], [0.1, 1]);
  for (const value of [0.1, 0.2, 5]) histogram.observe(['a'], value);
  assert.deepEqual(linesOf('test_seconds'), [
    'test_seconds_bucket{kind="a",le="0.1"} 1',
    'test_seconds_bucket{kind="a",le="1"} 2',
    'test_seconds_bucket{kind="a",le="+Inf"} 3',
    'test_seconds_sum{kind="a"} 5.3',
    'test_seconds_count{kind="a"} 3',
  ]);
  assert.equal(metricLine('g', {}, 1), 'g 1');
});

it('a metric has a bounded number of series', () => {
  const counter = new Counter('many_total', 'Help.', ['model']);
  for (let at = 0; at < 5000; at += 1) counter.add([`model ${at}`]);
  const lines = linesOf('many_total');
  assert.ok(lines.length <= 1001);
  assert.equal(lines.at(-1), 'many_total{model="other"} 4000');
});
