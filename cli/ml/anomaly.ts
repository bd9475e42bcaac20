import { Failure } from '../../schemas/errors.js';
import type { FitResponse, ModelList, ScoreResponse } from '../../schemas/generated/universal/anomaly.js';
import { withDaemon } from '../daemon/client.js';
import { type Call, numberOf, type Run, textOf } from '../verb.js';
import { readRows } from './table-file.js';

const AT = '/v1/ml/anomaly';
const DEFAULT_BACKEND = 'isolation_forest';
/** Rows that people are shown at most, the strangest first. */
const SHOWN_ROWS = 20;

/** What the requests about a detector name it by. */
const detectorOf = (call: Call) => ({ model: call.words[0]!, backend: textOf(call, 'backend') ?? DEFAULT_BACKEND });

/** Rows of a file with what the numbers and texts in it mean to the detector. */
async function dataOf(path: string): Promise<{ data: unknown[]; schema?: Record<string, string> }> {
  const rows = await readRows(path);
  const [first] = rows;
  if (!first) throw new Failure('invalid', `${path} has no rows.`);
  const names = Object.keys(first);
  const isNumber = (name: string): boolean => rows.every((row) => typeof row[name] === 'number');
  return { data: rows, schema: Object.fromEntries(names.map((name) => [name, isNumber(name) ? 'numeric' : 'hash'])) };
}

/** Learns from a table what is usual. */
export const fitAnomaly: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const contamination = numberOf(call, 'contamination');
    const json = { ...detectorOf(call), ...(await dataOf(call.words[1]!)), ...(contamination === undefined ? {} : { contamination }) };
    const reply = await daemon.ask<FitResponse>(`${AT}/fit`, { json });
    return {
      result: reply,
      show: () =>
        call.out.line(
          `learned ${reply.versioned_name} (${reply.backend}) from ${reply.samples_fitted} rows in ${reply.training_time_ms.toFixed(0)} ms`,
        ),
    };
  });

/** Says how strange each row of a table is. */
export const scoreAnomaly: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const detector = detectorOf(call);
    await daemon.ask(`${AT}/load`, { json: detector });
    const threshold = numberOf(call, 'threshold');
    const { data } = await dataOf(call.words[1]!);
    const reply = await daemon.ask<ScoreResponse>(`${AT}/score`, {
      json: { ...detector, data, explain: true, ...(threshold === undefined ? {} : { threshold }) },
    });
    return {
      result: reply,
      show: () => {
        const { anomaly_count: count, total_points: total, threshold: limit } = reply.summary;
        call.out.line(`${count} of ${total} rows are strange (score above ${limit.toFixed(3)})`);
        const strange = reply.data
          .filter((row) => row.is_anomaly)
          .sort((a, b) => b.score - a.score)
          .slice(0, SHOWN_ROWS);
        if (strange.length === 0) return;
        const why = (parts: Record<string, number> = {}): string =>
          Object.entries(parts)
            .sort((a, b) => b[1] - a[1])
            .slice(0, 3)
            .map(([name]) => name)
            .join(', ');
        call.out.table(
          ['ROW', 'SCORE', 'MOSTLY FOR'],
          strange.map(({ index, score, contributions }) => [
            String(index + 1),
            score.toFixed(3),
            why(contributions as Record<string, number>),
          ]),
        );
      },
    };
  });

/** The detectors that were trained here. */
export const anomalies: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const list = await daemon.ask<ModelList>(`${AT}/models`);
    return {
      result: list,
      show: () => {
        if (list.data.length === 0) return call.out.line('none yet; "quern anomaly fit NAME FILE.csv" trains one');
        return call.out.table(
          ['DETECTOR', 'METHOD', 'TRAINED'],
          list.data.map(({ name, backend, created }) => [name, backend, created]),
        );
      },
    };
  });
