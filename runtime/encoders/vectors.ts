import { Failure } from '../../schemas/errors.js';

/** The first components of vectors, brought back to length 1, as models trained for it allow. Throws `invalid` for more than there are. */
export function shortened(vectors: readonly Float32Array[], dimensions: number, model: string): Float32Array[] {
  return vectors.map((vector, index) => {
    if (dimensions > vector.length) throw tooManyDimensions(dimensions, model, vector.length);
    if (dimensions === vector.length) return vector;
    const head = vector.subarray(0, dimensions);
    const length = Math.sqrt(head.reduce((sum, component) => sum + component * component, 0));
    if (length === 0) throw refused(dimensions, `nothing of text ${index + 1} is left in so few`);
    return head.map((component) => component / length);
  });
}

/** The 422 of a request for more dimensions than a model has. */
export function tooManyDimensions(dimensions: number, model: string, most: number): Failure {
  return refused(dimensions, `"${model}" makes vectors of ${most} dimensions`);
}

function refused(dimensions: number, why: string): Failure {
  const msg = `dimensions is ${dimensions}, but ${why}`;
  return new Failure('invalid', `${msg}.`, {
    code: 'InvalidDimensions',
    errors: [{ type: 'value_error', loc: ['body', 'dimensions'], msg, input: dimensions }],
  });
}
