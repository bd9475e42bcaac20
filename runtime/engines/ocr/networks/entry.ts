import { Failure } from '../../../../schemas/errors.js';
import type { OpenEngine } from '../../../hosts/protocol.js';
import { decodePicture, scalePixels } from '../../../pictures/codec.js';
import type { Picture, Pixels } from '../../../pictures/picture.js';
import { turnUpsideDown } from '../../../pictures/picture.js';
import { type OcrBox, type OcrOpened, type OcrPage, pageOf } from '../../contracts/ocr.js';
import { LineWriter } from '../../image-text/image-writer.js';
import type { OnnxOptions, OnnxSession } from '../../onnx/contract.js';
import { CENTRED, type FixedSize, fixedSize, IMAGENET, imageTensor, type Scale, SIDE_LIMIT } from '../../onnx/image-input.js';
import { openSession } from '../../onnx/session.js';
import { classesOf, decodeLine, type Line, readLabels } from './ctc.js';
import type { NetworksBody } from './engine.js';
import { rectanglesOf } from './probability-maps.js';
import { inReadingOrder, type Slanted, straighten } from './regions.js';

/** Longest side that a detector sees of a page of the usual proportions; networks halve it several times, so sides are multiples of 32. */
const LONGEST_SIDE = 1600;
/** Slimmer ones are seen up to `SIDE_LIMIT` long, with no more pixels than such a page, so that receipts and strips stay readable. */
const PAGE_PIXELS = 1600 * 1131;
const STRIDE = 32;
/** Height of a line where the graph does not fix it: of gray recognisers, of coloured ones. */
const LINE_HEIGHT = { 1: 64, 3: 48 } as const;
const LONGEST_LINE = 4096;
/** How short lines are made longer, as in training: those of gray recognisers (EasyOCR), those of coloured ones (PaddleOCR). */
const SHORT_LINE = { 1: { leastWidth: 1, fill: 'edge' }, 3: { leastWidth: 320, fill: 'zeros' } } as const;
/** A line is turned when the network is this sure. */
const SURE_TURNED = 0.9;
/** A reading that is less sure may be compared with that of the line the other way up: text that stands on its head is read less surely. */
const SURE_READ = 0.8;
/** Size that networks for turned lines see where the graph does not fix it. */
const TURNED_SIZE = { width: 192, height: 48 };

/** Reads a straightened line. */
type ReadLine = (line: Pixels, signal: AbortSignal) => Promise<Line>;

/** A detector, and what reads the lines that it finds, in this process. */
export class NetworksReader {
  readonly #detector: OnnxSession;
  readonly #readLine: ReadLine;
  readonly #turned: OnnxSession | undefined;
  /** Sizes that the detector and the network for turned lines see, where their graphs fix them. */
  readonly #sizes: { readonly detector: FixedSize; readonly turned: FixedSize };
  readonly #scale: Scale;
  readonly #joint: string;
  readonly opened: OcrOpened;

  private constructor(body: NetworksBody, detector: OnnxSession, readLine: ReadLine, turned: OnnxSession | undefined) {
    this.#detector = detector;
    this.#readLine = readLine;
    this.#turned = turned;
    this.#sizes = {
      detector: fixedSize(detector.inputs[0]!, detector.file),
      turned: turned ? fixedSize(turned.inputs[0]!, turned.file) : {},
    };
    this.#scale = { ...IMAGENET, order: body.engine === 'paddleocr' ? 'bgr' : 'rgb' };
    this.#joint = body.engine === 'surya' ? '\n' : ' ';
    const { requested, available, used, why } = detector.providers;
    this.opened = { devices: { requested, available: [...available], used: [...used], why }, notes: [] };
  }

  /** Opens the graphs. Throws `invalid` that names the one that does not fit. */
  static async open(body: NetworksBody): Promise<NetworksReader> {
    const options: OnnxOptions = { threads: body.threads, provider: 'auto', folder: body.folder, shapesVary: true };
    const detector = await openSession(body.detector, options);
    const turned = body.turned === undefined ? undefined : await openSession(body.turned, options);
    return new NetworksReader(body, detector, await lineReader(body, options), turned);
  }

  /** The text of an image. */
  async read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    const pixels = await decodePicture(picture);
    const boxes: OcrBox[] = [];
    for (const rectangle of inReadingOrder(await this.#find(pixels))) {
      signal.throwIfAborted();
      const { text, confidence } = await this.#lineOf(straighten(pixels, rectangle), signal);
      if (text.trim() !== '') boxes.push({ ...hull(rectangle, pixels), text, confidence });
    }
    return pageOf(boxes.map(({ text }) => text).join(this.#joint), boxes);
  }

  async #find(pixels: Pixels): Promise<Slanted[]> {
    const [input] = this.#detector.inputs;
    const longest = Math.max(pixels.width, pixels.height);
    const longer = Math.min(SIDE_LIMIT / longest, Math.sqrt(PAGE_PIXELS / (pixels.width * pixels.height)));
    const ratio = Math.min(1, Math.max(LONGEST_SIDE / longest, longer));
    const side = (length: number): number => Math.max(STRIDE, Math.round((length * ratio) / STRIDE) * STRIDE);
    const { height = side(pixels.height), width = side(pixels.width) } = this.#sizes.detector;
    const tensor = imageTensor(await scalePixels(pixels, width, height), 3, this.#scale);
    const output = this.#detector.outputs[0]!.name;
    const answer = (await this.#detector.run({ [input!.name]: tensor }, [output]))[output]!;
    const map = rectanglesOf(answer);
    return map.rectangles.map((one) => scaleRectangle(one, pixels.width / map.width, pixels.height / map.height));
  }

  /**
   * What a line says. Networks for turned lines err, so that a doubtful reading is compared with the other way up; but where they saw a line as it is,
   * and upright, they are right more often than readings are: "www" is read more surely as "MMM".
   */
  async #lineOf(line: Pixels, signal: AbortSignal): Promise<Line> {
    if (!this.#turned) return this.#readLine(line, signal);
    const size = { ...TURNED_SIZE, ...this.#sizes.turned };
    const isTurned = await this.#isTurned(this.#turned, line, size);
    const isSqueezed = line.width * size.height > line.height * size.width;
    const first = await this.#readLine(isTurned ? turnUpsideDown(line) : line, signal);
    if (first.confidence >= SURE_READ || !(isTurned || isSqueezed)) return first;
    const other = await this.#readLine(isTurned ? line : turnUpsideDown(line), signal);
    return other.confidence > first.confidence ? other : first;
  }

  async #isTurned(network: OnnxSession, line: Pixels, { width, height }: { width: number; height: number }): Promise<boolean> {
    const [input] = network.inputs;
    const fitted = await scalePixels(line, Math.max(1, Math.min(width, Math.ceil((line.width * height) / line.height))), height);
    const output = network.outputs[0]!.name;
    const tensor = imageTensor(fitted, 3, { ...CENTRED, order: this.#scale.order }, { width, fill: 'zeros' });
    const answer = (await network.run({ [input!.name]: tensor }, [output]))[output]!;
    return ((answer.data as Float32Array)[1] ?? 0) > SURE_TURNED;
  }
}

/** What reads a line: classes of characters step by step, or a decoder that writes. */
async function lineReader(body: NetworksBody, options: OnnxOptions): Promise<ReadLine> {
  if (body.writer !== undefined) {
    const writer = await LineWriter.open(body.writer, options);
    return (line, signal) => writer.write(line, signal);
  }
  const { graph, labels: file } = body.recogniser!;
  const session = await openSession(graph, options);
  const labels = await readLabels(file, graph, body.folder);
  const [input] = session.inputs;
  const { name: output, dims } = session.outputs[0]!;
  const classes = dims.length === 3 ? dims[2] : undefined;
  // Where the graph does not say how many they are, its first answer does.
  if (typeof classes === 'number' && classes > 0) classesOf(labels, classes, session.file);
  const channels = input!.dims[1] === 1 ? 1 : 3;
  const scale: Scale = { ...CENTRED, order: body.engine === 'paddleocr' ? 'bgr' : 'rgb' };
  const { leastWidth, fill } = SHORT_LINE[channels];
  const { height: high = LINE_HEIGHT[channels], width: fixedWidth } = fixedSize(input!, session.file);
  return async (line) => {
    const natural = Math.max(1, Math.ceil((line.width * high) / line.height));
    const fitted = await scalePixels(line, Math.min(natural, fixedWidth ?? LONGEST_LINE), high);
    const width = fixedWidth ?? Math.max(fitted.width, leastWidth);
    const answer = await session.run({ [input!.name]: imageTensor(fitted, channels, scale, { width, fill }) }, [output]);
    return decodeLine(answer[output]!, labels, session.file);
  };
}

function scaleRectangle({ corners }: Slanted, x: number, y: number): Slanted {
  const at = ([left, top]: readonly [number, number]) => [left * x, top * y] as const;
  const [a, b, c, d] = corners;
  const moved = [at(a), at(b), at(c), at(d)] as const;
  const length = ([fromX, fromY]: readonly [number, number], [toX, toY]: readonly [number, number]): number =>
    Math.hypot(toX - fromX, toY - fromY);
  return { corners: moved, width: length(moved[0], moved[1]), height: length(moved[0], moved[3]) };
}

/** The upright rectangle around a slanted one, inside its image. */
function hull({ corners }: Slanted, { width, height }: Pixels): Pick<OcrBox, 'x1' | 'y1' | 'x2' | 'y2'> {
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const within = (value: number, size: number): number => Math.max(0, Math.min(size, Math.round(value)));
  return {
    x1: within(Math.min(...xs), width),
    y1: within(Math.min(...ys), height),
    x2: within(Math.max(...xs), width),
    y2: within(Math.max(...ys), height),
  };
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  let reader: NetworksReader | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async call(method, body, signal) {
      if (method === 'open') {
        reader = await NetworksReader.open(body as NetworksBody);
        return reader.opened;
      }
      if (method !== 'read' || !reader) throw new Failure('internal', `An OCR host has no method ${method}, or nothing is open.`);
      const opened = reader;
      // One image after the other: two at once would only hold two in memory.
      const reading = last.then(() => {
        signal.throwIfAborted();
        return opened.read(body as Picture, signal);
      });
      last = reading.catch(() => {});
      return reading;
    },
    close: () => {},
  };
};
