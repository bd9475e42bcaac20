/** Asks a fresh host to load a Whisper model. */
export interface TranscriberOpenBody {
  /** A ggml file, or a folder with a CTranslate2 model. */
  readonly path: string;
  readonly form: 'ggml' | 'ctranslate2';
  /** Where files that were made of CTranslate2 models are kept. */
  readonly converted: string;
  readonly threads: number;
  readonly gpu: boolean;
}

/** Asks a fresh host to load a model for sherpa-onnx. */
export interface SherpaOpenBody {
  /** Absolute. */
  readonly folder: string;
  readonly threads: number;
}

/** What a loaded model is. */
export interface TranscriberOpened {
  readonly multilingual: boolean;
  readonly available: string[];
  readonly used: string[];
}
