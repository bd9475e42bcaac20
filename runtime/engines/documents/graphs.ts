/** Names of graphs as exporters write them. */
const LAYOUT = /(?:^|\/)model(?:_quantized|_int8|_fp16)?\.onnx$/;
const ENCODER = /(?:^|\/)encoder_model\.onnx$/;
const MERGED = /(?:^|\/)decoder_model_merged\.onnx$/;
const FIRST = /(?:^|\/)decoder_model\.onnx$/;
const LATER = /(?:^|\/)decoder_with_past_model\.onnx$/;

const find = (files: readonly string[], name: RegExp): string | undefined => files.find((file) => name.test(file));

/** Whether a model of this name looks at words and their places; others write about a picture. */
export function isLayoutModel(name: string): boolean {
  return /layoutlm/i.test(name);
}

/** The graph of a layout model among the files below its folder. */
export function layoutGraph(files: readonly string[]): string | undefined {
  return find(files, LAYOUT);
}

/** The graph that looks at a picture. */
export function encoderGraph(files: readonly string[]): string | undefined {
  return find(files, ENCODER);
}

/** The graphs that write: the first token and later ones, by one graph where they come merged; `later` is undefined where it is not there. */
export function decoderGraphs(files: readonly string[]): { first: string | undefined; later: string | undefined } {
  const merged = find(files, MERGED);
  return merged === undefined ? { first: find(files, FIRST), later: find(files, LATER) } : { first: merged, later: merged };
}

/** The files that a document model is opened with, of all that its folder holds. */
export function openedGraphs(name: string, files: readonly string[]): string[] {
  const { first, later } = decoderGraphs(files);
  const graphs = isLayoutModel(name) ? [layoutGraph(files)] : [encoderGraph(files), first, later];
  return [...new Set(graphs.filter((graph) => graph !== undefined))];
}
