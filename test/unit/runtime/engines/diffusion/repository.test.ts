import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, it } from 'node:test';
import { PipelineFolder } from '../../../../../runtime/engines/diffusion/repository.js';
import { graphBytes } from '../../../../../runtime/engines/onnx/graph-bytes.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-pipeline-'));
after(() => rmSync(folder, { recursive: true }));
const put = (path: string, bytes: number): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), Buffer.alloc(bytes));
};

it('the size of a pipeline is that of the graphs that are opened, whatever else its folder holds', async () => {
  put('unet/model.onnx', 100);
  put('unet/model_fp16.onnx', 1000);
  put('unet/diffusion_pytorch_model.bin', 1000);
  put('vae_decoder/model.onnx', 10);
  put('safety_checker/model.onnx', 1000);
  const graphs = new PipelineFolder(folder).graphs();
  assert.deepEqual(graphs, [join(folder, 'unet/model.onnx'), join(folder, 'vae_decoder/model.onnx')]);
  assert.equal(await graphBytes([...graphs, join(folder, 'not-there.onnx')]), 110);
});
