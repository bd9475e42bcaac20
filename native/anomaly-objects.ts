import type {
  AnomalyFitted,
  AnomalyRowScore,
  AnomalyScores,
  AnomalyState,
  NativeAnomalyFit,
  NativeAnomalyModel,
  NativeAnomalyRestore,
} from './contract.js';
import { raised, settled } from './raised.js';

/** The C++ model with our failures. */
class AnomalyModel implements NativeAnomalyModel {
  readonly backend: string;
  readonly columns: number;
  readonly normalization: NativeAnomalyModel['normalization'];
  readonly threshold: number;
  readonly #native: NativeAnomalyModel;

  constructor(native: NativeAnomalyModel) {
    this.#native = native;
    this.backend = native.backend;
    this.columns = native.columns;
    this.normalization = native.normalization;
    this.threshold = native.threshold;
  }

  score(rows: Float64Array): Promise<AnomalyScores> {
    return settled(() => this.#native.score(rows));
  }

  scoreRow(row: Float64Array): AnomalyRowScore {
    return raised(() => this.#native.scoreRow(row));
  }

  explain(rows: Float64Array): Promise<Float64Array> {
    return settled(() => this.#native.explain(rows));
  }

  state(): Promise<AnomalyState> {
    return settled(() => this.#native.state());
  }

  release(): void {
    this.#native.release();
  }
}

/** The C++ fit with our failures. */
export class AnomalyFit implements NativeAnomalyFit {
  readonly #native: NativeAnomalyFit;

  /** `native` as the binary gives it. */
  constructor(native: NativeAnomalyFit) {
    this.#native = native;
  }

  add(rows: Float64Array): void {
    raised(() => this.#native.add(rows));
  }

  async run(): Promise<AnomalyFitted> {
    const { model, ...rest } = await settled(() => this.#native.run());
    return { model: new AnomalyModel(model), ...rest };
  }

  cancel(): void {
    this.#native.cancel();
  }
}

/** The C++ restore with our failures. */
export class AnomalyRestore implements NativeAnomalyRestore {
  readonly #native: NativeAnomalyRestore;

  /** `native` as the binary gives it. */
  constructor(native: NativeAnomalyRestore) {
    this.#native = native;
  }

  add(name: string, value: AnomalyState[string]): void {
    raised(() => this.#native.add(name, value));
  }

  async run(): Promise<NativeAnomalyModel> {
    return new AnomalyModel(await settled(() => this.#native.run()));
  }
}
