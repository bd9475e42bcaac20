import { breathe } from '../../runtime/base/loop.js';
import type { FitAsk, ModelAsk, ScoreAsk, ScoreResult } from '../../runtime/ml/anomaly/contract.js';
import type { WholeReply } from '../../schemas/endpoint.js';
import type {
  Anomaly,
  DetectResponse,
  FitRequest,
  LoadRequest,
  SaveRequest,
  Score,
  ScoreRequest,
  ScoreResponse,
} from '../../schemas/generated/universal/anomaly.js';

/** Items written between two looks at the clock. */
const ITEMS_PER_LOOK = 64;
const PIECE_CHARACTERS = 64 * 1024;

/** Which model a request means. The schema has filled in defaults. */
export function askOf({ model, backend, normalization }: SaveRequest | LoadRequest | ScoreRequest): ModelAsk {
  return { model: model!, backend: backend!, normalization: normalization ?? undefined };
}

/** A request to fit as the runtime takes it. */
export function fitAskOf(body: FitRequest): FitAsk {
  return {
    model: body.model!,
    backend: body.backend!,
    normalization: body.normalization!,
    data: body.data,
    schema: body.schema ?? undefined,
    contamination: body.contamination!,
    epochs: body.epochs ?? 100,
    batchSize: body.batch_size ?? 32,
    overwrite: body.overwrite ?? false,
    description: body.description ?? undefined,
  };
}

/** A request to score as the runtime takes it. */
export function scoreAskOf(body: ScoreRequest): ScoreAsk {
  const { data, threshold, explain, feature_names: names } = body;
  return { ...askOf(body), data, threshold: threshold ?? undefined, explain: explain ?? false, featureNames: names ?? undefined };
}

function contributionsOf({ explanation }: ScoreResult, index: number): Pick<Score, 'contributions'> {
  if (!explanation) return {};
  const { names, contributions } = explanation;
  return { contributions: Object.fromEntries(names.map((name, column) => [name, contributions[index * names.length + column]!])) };
}

/** The answer with all rows. */
export async function scoresReply(result: ScoreResult, backend: string): Promise<WholeReply> {
  const { scores, raw, threshold, model } = result;
  let anomalies = 0;
  const items = await inTurns(scores.length, (index) => {
    const isAnomaly = scores[index]! > threshold;
    if (isAnomaly) anomalies += 1;
    const item: Score = { index, score: scores[index]!, is_anomaly: isAnomaly, raw_score: raw[index]!, ...contributionsOf(result, index) };
    return item;
  });
  const total = scores.length;
  const summary = { total_points: total, anomaly_count: anomalies, anomaly_rate: total === 0 ? 0 : anomalies / total, threshold };
  const rest: Omit<ScoreResponse, 'data' | 'object'> = { total_count: total, model, backend, summary };
  return listReply(items, rest);
}

/** The answer with the anomalies alone. */
export async function anomaliesReply(result: ScoreResult, backend: string): Promise<WholeReply> {
  const { scores, raw, threshold, model } = result;
  let found = 0;
  const items = await inTurns(scores.length, (index) => {
    if (!(scores[index]! > threshold)) return undefined;
    found += 1;
    const item: Anomaly = { index, score: scores[index]!, raw_score: raw[index]!, ...contributionsOf(result, index) };
    return item;
  });
  const rest: Omit<DetectResponse, 'data' | 'object'> = {
    total_count: found,
    model,
    backend,
    summary: { anomalies_detected: found, threshold },
  };
  return listReply(items, rest);
}

/** Items as JSON, in pieces made in turns: a million of them take a second. */
async function inTurns(count: number, itemAt: (index: number) => object | undefined): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  for (let index = 0; index < count; index += 1) {
    const item = itemAt(index);
    if (item) text += `${text === '' && pieces.length === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (text.length >= PIECE_CHARACTERS) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    if (index % ITEMS_PER_LOOK === 0) await breathe();
  }
  return [...pieces, Buffer.from(text)];
}

function listReply(items: readonly Buffer[], rest: object): WholeReply {
  const ending = Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
  return { bytes: Buffer.concat([Buffer.from('{"object":"list","data":['), ...items, ending]), contentType: 'application/json' };
}
