import assert from 'node:assert/strict';
import { it } from 'node:test';
import { recommendedSampling } from '../../../../../../runtime/engines/language/onnx/export-files.js';

it('takes what generation_config.json recommends, and says what of it is ignored', () => {
  const config = { temperature: 0.6, top_k: 1.5, top_p: null, min_p: 7, repetition_penalty: 1.1, do_sample: true };
  const { sampling, notes } = recommendedSampling(config);
  assert.deepEqual(sampling, { temperature: 0.6, repeat_penalty: 1.1 });
  assert.equal(notes.length, 2);
  assert.match(notes[0]!, /top_k 1\.5; a whole number of 0 to 100000/);
  assert.match(notes[1]!, /min_p 7; 0 to 1 is possible/);
});
