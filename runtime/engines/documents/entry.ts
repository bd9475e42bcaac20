import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/protocol.js';
import { decodePicture } from '../../pictures/codec.js';
import type { DocumentAnswer, DocumentFiles, DocumentOpened, DocumentQuestion } from '../contracts/documents.js';
import { isLayoutModel } from '../image-text/graphs.js';
import { ImageWriter } from '../image-text/image-writer.js';
import { askDonut } from './donut.js';
import { LayoutModel } from './layout.js';

/** Answers a question about a picture. */
type Ask = (question: DocumentQuestion, signal: AbortSignal) => Promise<DocumentAnswer>;

async function openModel({ name, folder, files, threads }: DocumentFiles): Promise<{ ask: Ask; opened: DocumentOpened }> {
  const options = { threads, provider: 'auto', shapesVary: true };
  const isLayout = isLayoutModel(name);
  const model = isLayout ? await LayoutModel.open(folder, files, options) : await ImageWriter.open(folder, files, options);
  const { requested, available, used, why } = model.providers;
  const devices = { requested, available: [...available], used: [...used], why };
  const ask: Ask = async (question, signal) => {
    const pixels = await decodePicture(question.picture);
    return model instanceof LayoutModel ? model.ask(pixels, question) : askDonut(model, name, pixels, question, signal);
  };
  return { ask, opened: { needsWords: isLayout, devices, notes: [] } };
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  let ask: Ask | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async call(method, body, signal) {
      if (method === 'open') {
        const model = await openModel(body as DocumentFiles);
        ask = model.ask;
        return model.opened;
      }
      if (method !== 'ask' || !ask) throw new Failure('internal', `A document host has no method ${method}, or nothing is open.`);
      const answering = ask;
      const answer = last.then(() => {
        signal.throwIfAborted();
        return answering(body as DocumentQuestion, signal);
      });
      last = answer.catch(() => {});
      return answer;
    },
    close: () => {},
  };
};
