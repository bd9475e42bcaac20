import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, it } from 'node:test';
import { PipelineFolder } from '../../../../../runtime/engines/diffusion/pipeline-folder.js';
import { graphBytes } from '../../../../../runtime/formats/onnx/graph-bytes.js';

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
  const graphs = new PipelineFolder(folder, 'org/repo', null).graphs();
  assert.deepEqual(graphs, [join(folder, 'unet/model.onnx'), join(folder, 'vae_decoder/model.onnx')]);
  assert.equal(await graphBytes([...graphs, join(folder, 'not-there.onnx')]), 110);
});

it('a pipeline is opened in the format that its name asks for, else in the best one that all of its parts have', () => {
  put('small/unet/model.onnx', 1);
  for (const part of ['unet', 'text_encoder', 'vae_decoder'])
    for (const format of ['fp16', 'q4']) put(`small/${part}/model_${format}.onnx`, 1);
  const graphs = (wanted: string | null = null) => new PipelineFolder(join(folder, 'small'), 'org/small', wanted).graphs();
  const paths = (format: string) =>
    ['text_encoder', 'unet', 'vae_decoder'].map((part) => join(folder, 'small', part, `model_${format}.onnx`));
  assert.deepEqual(graphs(), paths('fp16'));
  assert.deepEqual(graphs('Q4'), paths('q4'));
  assert.throws(() => graphs('FP32'), {
    kind: 'not_found',
    message:
      /no FP32 on this machine for text_encoder\/model, vae_decoder\/model; it has text_encoder\/model_fp16\.onnx, .*quern pull org\/small:FP32/,
  });
});
