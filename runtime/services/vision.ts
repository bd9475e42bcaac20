import { join } from 'node:path';
import { PageImages } from '../documents/parsing/page-images.js';
import type { ScansParts } from '../documents/parsing/scans.js';
import { Files } from '../files/files.js';
import type { Models } from '../models/residency/models.js';
import type { Outbound } from '../net/outbound.js';
import { RemoteVision } from '../remote/vision.js';
import type { VisionSource } from '../vision/contract.js';
import { Vision } from '../vision/vision.js';

/** Stands for the best OCR engine that is here. */
const BEST_OCR = 'surya';

/** What looks at images, and what keeps the files for it. */
export interface OpenVision {
  readonly files: Files;
  readonly vision: VisionSource;
  readonly coreVision: VisionSource;
  /** For ingestion: reads pages that have no text layer. */
  readonly scans: ScansParts;
}

/** Opens OCR, documents and files; nothing of an engine is loaded yet. Closing the files ends all that was begun here. */
export function openVision(parts: { dataDir: string; models: Models; outbound: Outbound; runtimeUrls: readonly string[] }): OpenVision {
  const { dataDir, models, outbound, runtimeUrls } = parts;
  const pageImages = new PageImages();
  const vision = new Vision(models);
  const coreVision = runtimeUrls.length > 0 ? new RemoteVision(outbound, runtimeUrls) : vision;
  return {
    files: new Files({ folder: join(dataDir, 'files'), pageImages }),
    vision,
    coreVision,
    scans: {
      pageImages,
      ocr: async (pictures, languages, signal) => {
        const { pages } = await coreVision.ocr({ model: BEST_OCR, pictures, languages }, signal);
        return pages.map(({ text }) => text);
      },
    },
  };
}
