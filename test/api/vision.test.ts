import { visionEndpoints as coreVisionEndpoints } from '../../gateway/core/vision.js';
import { fileEndpoints } from '../../gateway/universal/files.js';
import { visionEndpoints } from '../../gateway/universal/vision.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { scenarios } from '../support/scenario.js';
import { dataDir } from '../support/vision/pages.js';
import { openVisionStage, type VisionStage } from '../support/vision/stage.js';
import { DOCUMENTS } from './vision/documents.js';
import { CORE } from './vision/forms.js';
import { OCR } from './vision/ocr.js';

scenarios<VisionStage>(
  'OCR and documents',
  {
    endpoints: [...fileEndpoints, ...visionEndpoints, ...coreVisionEndpoints] as Endpoint<VisionStage>[],
    context: () => openVisionStage(dataDir),
    close: (open) => open.close(),
  },
  [...OCR, ...DOCUMENTS, ...CORE],
);
