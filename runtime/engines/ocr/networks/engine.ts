import { join } from 'node:path';
import { howToFetch, modelMissing } from '../../../formats/model-files.js';
import { graphBytes } from '../../../formats/onnx/graph-bytes.js';
import { isNear } from '../../../formats/onnx-names.js';
import { defaultThreads } from '../../../hosts/memory.js';
import type { OcrEngine, OcrFiles, OcrName } from '../../contracts/ocr.js';
import { decoderGraphs, encoderGraph, writerFiles } from '../../image-text/graphs.js';
import { scriptOf, tesseractLanguage } from '../languages.js';

/** What the host of a pair of networks is opened with. */
export interface NetworksBody {
  readonly engine: OcrName;
  /** All files lie below it; messages name them by their place there. */
  readonly folder: string;
  readonly detector: string;
  readonly threads: number;
  /** Reads a line at once; labels in a text file, or in the graph's own metadata. */
  readonly recogniser?: { readonly graph: string; readonly labels: string | null };
  /** Tells lines that stand on their head. */
  readonly turned?: string;
  /** Folder of an encoder and a decoder that write a line token by token. */
  readonly writer?: string;
}

/** How an engine's files are told apart by their names below its folder. */
interface Layout {
  readonly name: OcrName;
  /** Repositories of the hub that have this layout, for those who have no folder of the engine's name. */
  readonly repositories: readonly string[];
  readonly needs: string;
  choose(files: readonly string[], languages: readonly string[]): Omit<NetworksBody, 'engine' | 'folder' | 'threads'> | undefined;
}

const ONNX = /\.onnx$/i;
const filesNamed = (files: readonly string[], word: RegExp, end: RegExp): string[] =>
  files.filter((file) => end.test(file) && word.test(file));

/** The file for a language: below a folder of its script or code where there are such folders, else the first. */
function forLanguage(files: readonly string[], languages: readonly string[]): string | undefined {
  const words = languages.flatMap((code) => [scriptOf(code), code, tesseractLanguage(code)]).filter((word) => word !== undefined);
  const fits = (file: string, word: string): boolean => new RegExp(`(?:^|[/_.-])${word.replace(/\W/g, '')}(?:[/_.-]|$)`, 'i').test(file);
  for (const word of words) {
    const found = files.find((file) => fits(file, word));
    if (found) return found;
  }
  return files[0];
}

function choosePair(files: readonly string[], languages: readonly string[]): ReturnType<Layout['choose']> {
  // The newest detector where a collection has several.
  const detector = filesNamed(files, /det|craft/i, ONNX).at(-1);
  const graph = forLanguage(filesNamed(files, /rec/i, ONNX), languages);
  if (detector === undefined || graph === undefined) return undefined;
  const folder = graph.slice(0, graph.lastIndexOf('/') + 1);
  const texts = filesNamed(files, /dict|keys|char|vocab/i, /\.txt$/i);
  const beside = [graph.replace(ONNX, '.json'), graph.replace(ONNX, '.txt')].find((file) => files.includes(file));
  const inFolder = texts.find((file) => file.startsWith(folder) && !file.slice(folder.length).includes('/'));
  const labels = beside ?? inFolder ?? forLanguage(texts, languages);
  const turned = filesNamed(files, /cls|textline_ori/i, ONNX)[0];
  return { detector, recogniser: { graph, labels: labels ?? null }, ...(turned === undefined ? {} : { turned }) };
}

/** The files that a writer opens, relative to its folder. */
const filesOf = (writer: string, files: readonly string[]): string[] =>
  files.flatMap((file) => (file.startsWith(writer) ? [file.slice(writer.length)] : [])).filter(isNear);

function chooseWriter(files: readonly string[]): ReturnType<Layout['choose']> {
  const detector = filesNamed(files, /det/i, ONNX)[0];
  const encoder = encoderGraph(files);
  if (detector === undefined || encoder === undefined) return undefined;
  const writer = encoder.slice(0, encoder.lastIndexOf('/') + 1).replace(/onnx\/$/, '');
  const beside = filesOf(writer, files);
  const isWhole = decoderGraphs(beside).first !== undefined && beside.includes('tokenizer.json');
  return isWhole ? { detector, writer } : undefined;
}

async function findFiles(
  root: string,
  files: readonly string[],
  layout: Layout,
  languages: readonly string[],
): Promise<OcrFiles | undefined> {
  const chosen = layout.choose(files, languages);
  if (!chosen) return undefined;
  const absolute = (file: string): string => join(root, ...file.split('/'));
  const { detector, recogniser, turned, writer } = chosen;
  const body: NetworksBody = {
    engine: layout.name,
    folder: root,
    threads: defaultThreads(),
    detector: absolute(detector),
    ...(recogniser === undefined
      ? {}
      : { recogniser: { graph: absolute(recogniser.graph), labels: recogniser.labels === null ? null : absolute(recogniser.labels) } }),
    ...(turned === undefined ? {} : { turned: absolute(turned) }),
    ...(writer === undefined ? {} : { writer: absolute(writer) }),
  };
  const written = writer === undefined ? [] : writerFiles(filesOf(writer, files)).map((file) => writer + file);
  const graphs = [detector, recogniser?.graph, turned, ...written].filter((file) => file !== undefined).map(absolute);
  return { sizeBytes: await graphBytes(graphs), body, notes: [] };
}

function networks(layout: Layout): OcrEngine {
  return {
    name: layout.name,
    entry: new URL('./entry.js', import.meta.url),
    byLanguage: layout.choose === choosePair,
    atOnce: 1,
    async find(languages, search) {
      for (const name of [layout.name, ...layout.repositories]) {
        const place = await search.repository(name);
        const files = place && (await findFiles(place.folder, place.files, layout, languages));
        if (files) return files;
      }
      const folder = join(search.folder, layout.name);
      throw modelMissing(layout.name, {
        why: `the weights of ${layout.name} are not on this machine`,
        remedies: [`put ${layout.needs} into ${folder}`, ...layout.repositories.map(howToFetch)],
        code: 'OcrModelMissing',
      });
    },
  };
}

const PAIR_NEEDS = 'a detector (det*.onnx), a recogniser (rec*.onnx) and its characters (*dict*.txt, one a line)';

/** PaddleOCR's networks: regions by their probability, lines as classes of characters. */
export const paddleocr = networks({ name: 'paddleocr', repositories: ['monkt/paddleocr-onnx'], needs: PAIR_NEEDS, choose: choosePair });

/** EasyOCR's networks: letters and the gaps between them, gray lines as classes of characters. */
export const easyocr = networks({ name: 'easyocr', repositories: ['runemic-ai/easyocr-onnx'], needs: PAIR_NEEDS, choose: choosePair });

/** Surya's networks: a map of lines, and an encoder with a decoder that writes each. */
export const surya = networks({
  name: 'surya',
  repositories: [],
  needs: 'a detector (det*.onnx), encoder_model.onnx, decoder_model.onnx, tokenizer.json, config.json and preprocessor_config.json',
  choose: chooseWriter,
});
