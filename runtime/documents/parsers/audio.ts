import { Failure } from '../../../schemas/errors.js';
import type { Parser } from './contract.js';
import { DocumentWriter, presentMembers } from './writer.js';

/** `include_times`: each sentence begins with the time at which it is said. */
const DEFAULTS = { chunk_size: 1000, chunk_overlap: 100, chunk_strategy: 'paragraphs', extract_metadata: true, include_times: true };

/** `[12:03]`, or with hours where there are any. */
function clock(seconds: number): string {
  const total = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return `[${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(total % 60)}]`;
}

/** Recordings: what is said in them, with times. They are written down before they are parsed. */
export const audio: Parser = {
  id: 'audio',
  defaults: { AudioParser: DEFAULTS },
  extensions: ['.wav', '.mp3', '.m4a', '.flac', '.ogg', '.oga', '.opus', '.webm', '.mp4'],
  mimeTypes: [
    'audio/wav',
    'audio/x-wav',
    'audio/mpeg',
    'audio/mp4',
    'audio/flac',
    'audio/ogg',
    'audio/opus',
    'audio/webm',
    'video/webm',
    'video/mp4',
  ],
  async parse(file, options, limits) {
    const { transcript } = file;
    if (!transcript)
      throw new Failure('invalid', `${file.name} is a recording, and recordings are written down only where they are files of their own.`, {
        code: 'unread_format',
      });
    const writer = new DocumentWriter(file.name, limits);
    for (const { start, end, text } of transcript.segments) {
      const shown = options.include_times === false ? text : `${clock(start)} ${text}`;
      writer.add('paragraph', shown, { metadata: { start_time: start, end_time: end } });
    }
    if (writer.isEmpty) writer.warnings.push('nothing is said in it');
    const described = { type: 'audio', duration_s: transcript.seconds, spoken_language: transcript.language };
    return writer.finish(options.extract_metadata === false ? {} : presentMembers(described));
  },
};
