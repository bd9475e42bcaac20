import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { noiseConfig } from '../../runtime/engines/diffusion/schedulers/config.js';
import { SCHEDULERS, schedulerOf } from '../../runtime/engines/diffusion/schedulers/index.js';

/** One run of `diffusers` with a formula in the network's place. */
interface Golden {
  readonly scheduler: string;
  readonly title: string;
  readonly config: Record<string, unknown>;
  readonly steps: number;
  readonly timesteps: number[];
  readonly initSigma: number;
  readonly middle: number[];
  readonly last: number[];
}

const SIZE = 6;
const runs = (file: string): Golden[] => {
  const path = join(import.meta.dirname, '../../../test/support/diffusion', file);
  return (JSON.parse(readFileSync(path, 'utf8')) as { rows: Golden[] }).rows;
};
const rows = [
  // The version that these were made with ends at the first training step.
  ...runs('scheduler-goldens.json').map((row) => ({ ...row, config: { ...row.config, final_sigmas_type: 'sigma_min' } })),
  ...runs('published-goldens.json'),
];

const network = (sample: Float32Array, t: number): Float32Array =>
  sample.map((value) => Math.sin(value * 1.3 + t / 100) * 0.5 + 0.1 * value);

/** Relative to the size of the numbers: both sides compute in 32 bits here and there. */
function assertClose(actual: ArrayLike<number>, expected: readonly number[], what: string): void {
  const scale = Math.max(1, ...expected.map(Math.abs));
  for (const [index, value] of expected.entries())
    assert.ok(Math.abs(actual[index]! - value) <= 2e-3 * scale, `${what}: ${[...Array.from(actual)]} should be ${expected}`);
}

for (const kind of SCHEDULERS) {
  describe(`scheduler ${kind.name}`, () => {
    const own = rows.filter((row) => row.scheduler === kind.name);
    it('has runs to be compared with', () => assert.ok(own.length >= 5));
    for (const golden of own) {
      it(`${golden.title}, ${golden.steps} steps`, () => {
        const config = noiseConfig(golden.config);
        const scheduler = kind.make(config, golden.steps);
        assertClose(scheduler.timesteps, golden.timesteps, 'timesteps');
        assert.equal(scheduler.timesteps.length, golden.timesteps.length);
        assertClose([scheduler.initSigma], [golden.initSigma], 'the first deviation');
        let sample: Float32Array = Float32Array.from({ length: SIZE }, (_, index) => Math.sin(index + 1) * scheduler.initSigma);
        let calls = 0;
        const noise = (): Float32Array => {
          calls += 1;
          return Float32Array.from({ length: SIZE }, (_, index) => Math.cos(calls * (index + 1)));
        };
        const path = scheduler.timesteps.map((at, index) => {
          sample = scheduler.step(network(scheduler.scaled(sample, index), at), index, sample, noise);
          return sample;
        });
        assertClose(path[Math.floor(path.length / 2)]!, golden.middle, 'half way');
        assertClose(sample, golden.last, 'at the end');
      });
    }

    for (const predictionType of ['epsilon', 'v_prediction', 'sample'] as const) {
      it(`finds a known sample from noise by ${predictionType}`, () => {
        const config = noiseConfig({
          prediction_type: predictionType,
          beta_schedule: 'scaled_linear',
          beta_start: 0.00085,
          beta_end: 0.012,
          set_alpha_to_one: true,
        });
        const scheduler = kind.make(config, 20);
        const clean = Float32Array.from([0.5, -1, 2]);
        let sample: Float32Array = Float32Array.from([1.5, 0.2, -0.7], (value) => value * scheduler.initSigma);
        const left = leftAt(config.trainSteps);
        for (const [index, at] of scheduler.timesteps.entries()) {
          // A network that knows the answer.
          const share = left(at);
          const [signal, noise] = [Math.sqrt(share), Math.sqrt(1 - share)];
          const seen = scheduler.scaled(sample, index);
          const output = seen.map((value, place) => {
            const guess = (value - signal * clean[place]!) / noise;
            if (predictionType === 'sample') return clean[place]!;
            return predictionType === 'epsilon' ? guess : signal * guess - noise * clean[place]!;
          });
          sample = scheduler.step(output, index, sample, () => new Float32Array(3));
        }
        for (const [place, value] of clean.entries()) assert.ok(Math.abs(sample[place]! - value) < 0.15, `${[...sample]}`);
      });
    }

    it('may begin anywhere, with the noise of that step', () => {
      const scheduler = kind.make(noiseConfig({}), 10);
      const clean = Float32Array.from([1, 2]);
      const from = 6;
      let sample = scheduler.noised(clean, Float32Array.from([0.3, -0.3]), from);
      assert.notDeepEqual(sample, clean);
      for (let index = from; index < scheduler.timesteps.length; index += 1)
        sample = scheduler.step(new Float32Array(2), index, sample, () => new Float32Array(2));
      assert.ok(sample.every(Number.isFinite));
    });

    it('is found by its name and by its class', () => {
      assert.equal(schedulerOf(kind.name.toUpperCase(), undefined), kind);
      assert.equal(schedulerOf('unknown', kind.className), kind);
    });
  });
}

/** The share of the signal at any training step, for scaled-linear betas, written down once more. */
function leftAt(steps: number): (at: number) => number {
  const left: number[] = [];
  let product = 1;
  for (let at = 0; at < steps; at += 1) {
    const beta = (Math.sqrt(0.00085) + ((Math.sqrt(0.012) - Math.sqrt(0.00085)) * at) / (steps - 1)) ** 2;
    product *= 1 - beta;
    left.push(product);
  }
  const sigma = (at: number): number => Math.sqrt((1 - left[at]!) / left[at]!);
  return (at) => {
    const low = Math.floor(at);
    const high = Math.min(low + 1, steps - 1);
    const between = sigma(low) * (1 - (at - low)) + sigma(high) * (at - low);
    return 1 / (between * between + 1);
  };
}

it('lcm spreads its steps over the share of the noise that is asked for', () => {
  const lcm = schedulerOf('lcm', undefined);
  // `set_timesteps(4, strength=...)` of diffusers 0.42.1.
  const expected: [share: number, timesteps: number[]][] = [
    [1, [999, 759, 499, 259]],
    [0.75, [739, 559, 379, 199]],
    [0.3, [299, 239, 159, 79]],
  ];
  for (const [share, timesteps] of expected) assert.deepEqual(lcm.make(noiseConfig({}), 4, share).timesteps, timesteps);
  // Where `diffusers` has no steps left to choose from, the run is finer instead.
  const finer: [steps: number, share: number, first: number][] = [
    [50, 0.75, 699],
    [50, 0.3, 249],
    [50, 0.05, 49],
    [100, 0.75, 699],
    [20, 0.3, 279],
    [50, 1, 999],
    [100, 1, 999],
  ];
  for (const [steps, share, first] of finer) {
    const { timesteps } = lcm.make(noiseConfig({}), steps, share);
    assert.deepEqual([timesteps[0], new Set(timesteps).size], [first, steps], `${steps} ${share}`);
  }
});

describe('scheduler_config.json', () => {
  const bad: [Record<string, unknown>, RegExp][] = [
    [{ beta_schedule: 'sigmoid' }, /beta_schedule is "sigmoid"; the ones that are supported/],
    [{ num_train_timesteps: 0 }, /num_train_timesteps is 0/],
    [{ num_train_timesteps: 1e9 }, /num_train_timesteps/],
    [{ beta_end: 'x' }, /beta_end is "x"/],
    [{ prediction_type: 'flow' }, /prediction_type/],
    [{ steps_offset: -1 }, /steps_offset/],
    [{ trained_betas: [0.1, 0.2] }, /trained_betas is a list; a list of 1000 numbers/],
    [{ _class_name: 'DPMSolverMultistepScheduler', algorithm_type: 'unknown' }, /algorithm_type is "unknown"/],
    [{ _class_name: 'LCMScheduler', original_inference_steps: 0 }, /original_inference_steps is 0/],
    [{ _class_name: 'LCMScheduler', timestep_scaling: 'x' }, /timestep_scaling is "x"/],
  ];
  for (const [config, message] of bad)
    it(JSON.stringify(config), () => assert.throws(() => noiseConfig(config), { kind: 'invalid', message }));

  it('tells of a deep value without going down into it', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    assert.throws(() => noiseConfig({ beta_start: deep }), { kind: 'invalid', message: /beta_start is a list; a number/ });
    assert.throws(() => noiseConfig({ beta_start: { deep } }), { kind: 'invalid', message: /beta_start is an object; a number/ });
  });

  for (const name of ['FlowMatchEulerDiscrete', 'FlowMapEulerDiscrete', 'EDMEuler', 'IPNDM', 'Piflow']) {
    it(`refuses models of ${name}`, () => {
      const message = new RegExp(`has _class_name "${name}Scheduler"`);
      assert.throws(() => noiseConfig({ _class_name: `${name}Scheduler` }), { kind: 'bad_request', code: 'UnsupportedModel', message });
    });
  }

  it('refuses timesteps of another kind', () => {
    const file = { _class_name: 'EulerDiscreteScheduler', timestep_type: 'continuous' };
    const message = /has timestep_type "continuous"/;
    assert.throws(() => noiseConfig(file), { kind: 'bad_request', code: 'UnsupportedModel', message });
  });

  const taken: [className: string, member: Record<string, unknown>, runs: string][] = [
    ['DEISMultistepScheduler', { algorithm_type: 'deis' }, 'euler'],
    ['SASolverScheduler', { algorithm_type: 'data_prediction' }, 'euler'],
    ['RePaintScheduler', {}, 'euler'],
    ['DPMSolverMultistepScheduler', { algorithm_type: 'deis' }, 'dpm++'],
    ['DDIMScheduler', { timestep_type: 'continuous', original_inference_steps: 5000, timestep_scaling: null }, 'ddim'],
    ['PNDMScheduler', { timestep_scaling: 'x', algorithm_type: 'x' }, 'pndm'],
  ];
  for (const [className, member, name] of taken) {
    it(`takes ${className} with ${JSON.stringify(member)}`, () => {
      const { algorithm, originalSteps, timestepScaling } = noiseConfig({ _class_name: className, ...member });
      assert.deepEqual([algorithm, originalSteps, timestepScaling], ['dpmsolver++', 50, 10]);
      assert.equal(schedulerOf(undefined, className).name, name);
    });
  }
});
