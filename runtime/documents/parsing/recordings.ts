import { Failure, withOtherMessage } from '../../../schemas/errors.js';
import { audio } from '../parsers/audio.js';
import { extensionOf, type SourceFile, type Transcript } from '../parsers/contract.js';

/** Writes down what is said in a file. Throws `not_found` where no model for it is here, `bad_request` for what is no audio. */
export type ReadRecording = (file: SourceFile, signal: AbortSignal) => Promise<Transcript>;

/** Whether a file is a recording by what is said of it. */
const isRecording = ({ name, mimeType }: SourceFile): boolean => audio.extensions.includes(extensionOf(name)) || /^audio\//i.test(mimeType);

/** The file, a recording with what is said in it. Throws `invalid` that says why it could not be written down. */
export async function withTranscript(read: ReadRecording, file: SourceFile, signal: AbortSignal): Promise<SourceFile> {
  if (!isRecording(file)) return file;
  try {
    return { ...file, transcript: await read(file, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    if (error.kind === 'bad_request') throw new Failure('invalid', error.message, { code: error.code, cause: error });
    throw withOtherMessage(error, `${file.name} could not be written down: ${error.message}`);
  }
}
