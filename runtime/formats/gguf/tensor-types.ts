/** A ggml tensor type: values per block and bytes per block. */
export interface TensorTypeShape {
  readonly name: string;
  readonly values: number;
  readonly bytes: number;
}

const shape = (name: string, values: number, bytes: number): TensorTypeShape => ({ name, values, bytes });

/** Every tensor type of the pinned ggml by its number; numbers that are missing were removed from the format. Sizes: ggml-common.h. */
export const TENSOR_TYPES: ReadonlyMap<number, TensorTypeShape> = new Map([
  [0, shape('F32', 1, 4)],
  [1, shape('F16', 1, 2)],
  [2, shape('Q4_0', 32, 18)],
  [3, shape('Q4_1', 32, 20)],
  [6, shape('Q5_0', 32, 22)],
  [7, shape('Q5_1', 32, 24)],
  [8, shape('Q8_0', 32, 34)],
  [9, shape('Q8_1', 32, 36)],
  [10, shape('Q2_K', 256, 84)],
  [11, shape('Q3_K', 256, 110)],
  [12, shape('Q4_K', 256, 144)],
  [13, shape('Q5_K', 256, 176)],
  [14, shape('Q6_K', 256, 210)],
  [15, shape('Q8_K', 256, 292)],
  [16, shape('IQ2_XXS', 256, 66)],
  [17, shape('IQ2_XS', 256, 74)],
  [18, shape('IQ3_XXS', 256, 98)],
  [19, shape('IQ1_S', 256, 50)],
  [20, shape('IQ4_NL', 32, 18)],
  [21, shape('IQ3_S', 256, 110)],
  [22, shape('IQ2_S', 256, 82)],
  [23, shape('IQ4_XS', 256, 136)],
  [24, shape('I8', 1, 1)],
  [25, shape('I16', 1, 2)],
  [26, shape('I32', 1, 4)],
  [27, shape('I64', 1, 8)],
  [28, shape('F64', 1, 8)],
  [29, shape('IQ1_M', 256, 56)],
  [30, shape('BF16', 1, 2)],
  [34, shape('TQ1_0', 256, 54)],
  [35, shape('TQ2_0', 256, 66)],
  [39, shape('MXFP4', 32, 17)],
  [40, shape('NVFP4', 64, 36)],
  [41, shape('Q1_0', 128, 18)],
  [42, shape('Q2_0', 64, 18)],
]);
