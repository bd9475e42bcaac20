import { chooseNamed, graphFiles } from '../onnx-formats.js';

/** Names of graphs as exporters write them, whatever their format. */
const LAYOUT = 'model';
const ENCODER = 'encoder_model';
const MERGED = 'decoder_model_merged';
const FIRST = 'decoder_model';
const LATER = 'decoder_with_past_model';

/** Whether a model of this name looks at words and their places; others write about a picture. */
export function isLayoutModel(name: string): boolean {
  return /layoutlm/i.test(name);
}

/** The graph of a layout model among the files that it is opened with. */
export function layoutGraph(files: readonly string[]): string | undefined {
  return graphFiles(files, LAYOUT)[0];
}

/** The graph that looks at a picture. */
export function encoderGraph(files: readonly string[]): string | undefined {
  return graphFiles(files, ENCODER)[0];
}

/** The graphs that write: the first token and later ones, by one graph where they come merged; `later` is undefined where it is not there. */
export function decoderGraphs(files: readonly string[]): { first: string | undefined; later: string | undefined } {
  const [merged] = graphFiles(files, MERGED);
  if (merged !== undefined) return { first: merged, later: merged };
  return { first: graphFiles(files, FIRST)[0], later: graphFiles(files, LATER)[0] };
}

/**
 * The files that a document model is opened with, of all that its folder holds: one for each of its graphs, in the named format, else all
 * in the best that they share. Throws `not_found` where a graph is not there in the named format.
 */
export function openedGraphs(id: string, files: readonly string[], quantisation: string | null): string[] {
  const decoders = graphFiles(files, MERGED).length > 0 ? [MERGED] : [FIRST, LATER];
  const names = isLayoutModel(id) ? [LAYOUT] : [ENCODER, ...decoders];
  const graphs = names.map((name) => graphFiles(files, name)).filter((there) => there.length > 0);
  return chooseNamed(id, graphs, quantisation);
}
