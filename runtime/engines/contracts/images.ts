/** A way of denoising, by name; unknown names mean the model's own. */
export interface ImageSettings {
  readonly steps: number;
  readonly guidance: number;
  /** Pixels; multiples of what one latent stands for. */
  readonly width: number;
  readonly height: number;
  readonly scheduler?: string | undefined;
  /** Less memory: the two halves of guidance run one after the other. */
  readonly optimise: boolean;
}

/** The encodings of a finished image. */
export type ImageFormat = 'png' | 'jpeg' | 'webp';

/** Images to be made. */
export interface ImageJob extends ImageSettings {
  readonly prompt: string;
  readonly negativePrompt: string;
  /** The first image's; each next image has the next number. */
  readonly seed: number;
  readonly count: number;
  readonly format: ImageFormat;
  /** Of jpeg and webp, 1 to 100; the format's own when absent. */
  readonly encodingQuality?: number | undefined;
  /** Encoded, untrusted; the image that is changed. */
  readonly image?: Uint8Array | undefined;
  /** Encoded, untrusted: white, or transparent where there is transparency, says where to change it; `transparency`: that of the image. */
  readonly mask?: Uint8Array | 'transparency' | undefined;
  /** Share of the steps that an image is sent back through, above 0 to 1; 1 keeps nothing of it. */
  readonly strength: number;
}

/** How far a job is. */
export interface ImageProgress {
  /** Of the image that is being made. */
  readonly index: number;
  /** Steps done. */
  readonly step: number;
  readonly steps: number;
}

/** What a loaded pipeline says about itself. */
export interface DiffusionInfo {
  readonly name: string;
  /** Pixels per latent, along each side. */
  readonly scale: number;
  readonly scheduler: string;
  readonly devices: { requested: string; available: string[]; used: string[]; why: string | null };
  readonly notes: readonly string[];
}

/** A loaded pipeline, seen from the daemon. */
export interface DiffusionModel {
  readonly info: DiffusionInfo;
  /** Encoded images. Aborting ends the work between two steps. A dead host throws `Failure('unavailable')`. */
  generate(job: ImageJob, onProgress: (progress: ImageProgress) => void, signal: AbortSignal): Promise<Uint8Array[]>;
}
