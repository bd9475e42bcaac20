import { chooseFormat, chooseNamed, decoderFiles, ENCODER, FIRST, graphFiles, LATER, MERGED } from '../../formats/onnx-names.js';

/** The only graph of a layout model, as exporters call it. */
const LAYOUT = 'model';

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

const graphIfThere = (files: readonly string[], name: string): string[][] => [graphFiles(files, name)].filter((there) => there.length > 0);

/** The files of each graph of a model that writes about a picture, with the decoder in one form. */
const writerGraphs = (files: readonly string[], wanted: string | null): (readonly string[])[] => [
  ...graphIfThere(files, ENCODER),
  ...decoderFiles(files, wanted),
];

/** The files that a model without a name is opened with, which writes about a picture: one for each graph, all in the best format that they share. */
export function writerFiles(files: readonly string[]): string[] {
  return chooseFormat(writerGraphs(files, null), null).files;
}

/**
 * The files that a document model is opened with, of all that its folder holds: one for each of its graphs, in the named format, else all
 * in the best that they share. Throws `not_found` where a graph is not there in the named format.
 */
export function openedGraphs(id: string, files: readonly string[], quantisation: string | null): string[] {
  const graphs = isLayoutModel(id) ? graphIfThere(files, LAYOUT) : writerGraphs(files, quantisation);
  return chooseNamed(id, graphs, quantisation);
}
