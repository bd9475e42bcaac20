/** What exporters write behind a graph's name, by the number format that was asked for; the closest first, empty for nothing. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  F32: ['', 'fp32'],
  FP32: ['', 'fp32'],
  F16: ['fp16'],
  FP16: ['fp16'],
  BF16: ['bf16'],
  INT8: ['int8', 'quantized', 'q8', 'qint8'],
  Q8: ['q8', 'quantized', 'int8', 'qint8'],
  Q8_0: ['q8', 'quantized', 'int8', 'qint8'],
  UINT8: ['uint8', 'quint8'],
  Q4: ['q4', 'int4', 'bnb4'],
  Q4_0: ['q4', 'int4', 'bnb4'],
};
/** What is taken where nothing is asked for, or what was asked for is not there: the weights as they were trained, else the next best. */
const PREFERENCE = ['', 'fp32', 'fp16', 'bf16', 'int8', 'quantized', 'q8', 'uint8', 'q4f16', 'q4'];

/** The candidate in the wanted format (upper case), else by preference where `wanted` is null; undefined where none fits. */
export function inFormat<T>(candidates: readonly T[], formatOf: (candidate: T) => string, wanted: string | null): T | undefined {
  const names = wanted === null ? PREFERENCE : (NAMES[wanted] ?? [wanted.toLowerCase()]);
  for (const name of names) {
    const found =
      candidates.find((candidate) => formatOf(candidate) === name) ??
      // One that goes on with a machine's name, such as `qint8_avx512_vnni`.
      (name === '' ? undefined : candidates.find((candidate) => formatOf(candidate).startsWith(`${name}_`)));
    if (found !== undefined) return found;
  }
  return undefined;
}
