import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Unet } from '../../../../../runtime/engines/diffusion/unet.js';
import type { OnnxSession } from '../../../../../runtime/engines/onnx/contract.js';

/** A network that takes its guidance in a width. */
function network(width: number | string): Unet {
  const names = ['sample', 'timestep', 'encoder_hidden_states'];
  const inputs = names.map((name) => ({ name, type: 'float32', dims: [1] }));
  return new Unet({ inputs: [...inputs, { name: 'timestep_cond', type: 'float32', dims: ['batch', width] }] } as unknown as OnnxSession);
}

describe('the vector of guidance', () => {
  it('is as wide as the graph says, else of the usual width', () => {
    for (const [width, expected] of [
      [32, 32],
      [4096, 4096],
      ['width', 256],
    ] as const)
      assert.equal(network(width).guidanceInput(8)?.length, expected);
  });

  it('is of no absurd width', () => {
    const message = /takes its guidance as 4097 numbers; 4096 at most/;
    assert.throws(() => network(4097), { kind: 'invalid', code: 'InvalidModelFile', message });
  });
});
