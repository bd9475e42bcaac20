import type { FittedClassifier, NativeClassifier, NativeClassifierFit } from './contract.js';
import { raised, settled } from './raised.js';

/** The C++ object with our failures. */
export class Classifier implements NativeClassifier {
  readonly #native: NativeClassifier;
  readonly dimensions: number;
  readonly classes: number;
  readonly projected: boolean;

  constructor(native: NativeClassifier) {
    this.#native = native;
    this.dimensions = native.dimensions;
    this.classes = native.classes;
    this.projected = native.projected;
  }

  predict(vectors: Float32Array): Promise<Float32Array> {
    return settled(() => this.#native.predict(vectors));
  }

  save(path: string, generation: bigint): Promise<void> {
    return settled(() => this.#native.save(path, generation));
  }
}

/** The C++ object with our failures. */
export class ClassifierFit implements NativeClassifierFit {
  readonly #native: NativeClassifierFit;

  constructor(native: NativeClassifierFit) {
    this.#native = native;
  }

  add(vectors: Float32Array, labels: Uint32Array): void {
    raised(() => this.#native.add(vectors, labels));
  }

  async run(): Promise<FittedClassifier> {
    const { model, quality } = await settled(() => this.#native.run());
    return { model: new Classifier(model), quality };
  }

  cancel(): void {
    this.#native.cancel();
  }
}
