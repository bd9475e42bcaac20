import { join } from 'node:path';
import { PageImages } from '../../../runtime/documents/parsing/page-images.js';
import { Files, type FilesParts } from '../../../runtime/files/files.js';
import { Models } from '../../../runtime/models/residency/models.js';
import type { VisionService } from '../../../runtime/vision/contract.js';
import { Vision } from '../../../runtime/vision/vision.js';
import { ENGINE_FILES, writeFiles } from './networks.js';

/** What the endpoints of files, OCR and documents work on, without the rest of a runtime. */
export interface VisionStage {
  readonly dataDir: string;
  readonly models: Models;
  readonly files: Files;
  readonly vision: VisionService;
  readonly here: { readonly vision: VisionService };
  readonly core: { readonly vision: VisionService };
  close(): Promise<void>;
}

/** Opens a stage on a data directory. */
export function openVisionStage(dataDir: string, limits: FilesParts['limits'] = {}, now: () => number = Date.now): VisionStage {
  const models = new Models({ dataDir });
  const files = new Files({ folder: join(dataDir, 'files'), pageImages: new PageImages(), limits, now });
  const vision = new Vision(models);
  const close = async (): Promise<void> => {
    await files.close();
    await models.close();
  };
  return { dataDir, models, files, vision, here: { vision }, core: { vision }, close };
}

/** Puts the networks of an engine where it looks for them. */
export function installEngine(dataDir: string, name: keyof typeof ENGINE_FILES): void {
  writeFiles(join(dataDir, 'models', name), ENGINE_FILES[name]());
}

/** A form with files of any bytes and text fields. */
export function binaryForm(
  files: readonly (readonly [field: string, name: string, content: Uint8Array, type?: string])[],
  fields: Readonly<Record<string, string>> = {},
): { headers: Record<string, string>; body: Buffer } {
  const boundary = 'quern-test-boundary';
  const parts = files.flatMap(([field, name, content, type = 'application/octet-stream']) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  for (const [name, value] of Object.entries(fields)) {
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  parts.push(`--${boundary}--\r\n`);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat(parts.map((part) => Buffer.from(part as string))),
  };
}
