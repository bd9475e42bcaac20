import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileName, folderName } from '../../../../runtime/formats/model-files.js';

it('files are named by their place in the folder of their model, never by that of the folder', () => {
  const folder = join('/models', 'org', 'pipeline');
  assert.equal(fileName(join(folder, 'unet', 'model.onnx'), folder), 'unet/model.onnx');
  assert.equal(fileName(join(folder, '..data', 'model.onnx'), folder), '..data/model.onnx');
  for (const path of [join(folder, '..', 'model.onnx'), join('/elsewhere', 'model.onnx')])
    assert.equal(fileName(path, folder), 'model.onnx');
  assert.equal(fileName(join(folder, 'unet', 'model.onnx')), 'model.onnx');
});

it('a snapshot of the hub is named as its repository', () => {
  assert.equal(folderName(join('/hub', 'models--org--pipe-line', 'snapshots', 'f00d')), 'org/pipe-line');
  assert.equal(folderName(join('/models', 'org', 'pipeline')), 'pipeline');
});
