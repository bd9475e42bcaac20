import { closeSync, fstatSync, openSync } from 'node:fs';
import { ProtoFile } from '../../../formats/onnx/protobuf.js';

/** Number of `ModelProto.metadata_props` in onnx.proto; key and value are 1 and 2 of an entry. */
const METADATA = 14;
const KEY_BYTES = 1024;
const VALUE_BYTES = 4 * 1024 * 1024;

/** A text that stands in a graph's metadata under a name; undefined where there is none. */
export function graphMetadata(path: string, name: string): string | undefined {
  const descriptor = openSync(path, 'r');
  try {
    const file = new ProtoFile(descriptor, fstatSync(descriptor).size);
    for (const entry of file.fields()) {
      if (entry.number !== METADATA) continue;
      const [key, value] = [...file.fields(entry.start, entry.end)];
      if (key && value && file.text(key, KEY_BYTES) === name) return file.text(value, VALUE_BYTES);
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
