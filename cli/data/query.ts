import type { QueryReply } from '../../schemas/generated/core/rag.js';
import { route, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import { numberOf, type Run, textOf } from '../verb.js';

const SHOWN_CHARS = 400;

/** Asks the documents of a project, without a model that answers. */
export const query: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { namespace, project } = call.project;
    const { out, words } = call;
    const json = {
      query: words.join(' '),
      database: textOf(call, 'database') ?? null,
      top_k: numberOf(call, 'top') ?? null,
      retrieval_strategy: textOf(call, 'strategy') ?? null,
    };
    const reply = await daemon.ask<QueryReply>(route`/v1/projects/${namespace}/${project}/rag/query`, { json });
    return {
      result: reply,
      show: () => {
        for (const { content, score, metadata } of reply.results) {
          const from = String(metadata.source ?? metadata.filename ?? metadata.file_name ?? 'a document');
          out.line(out.style('bold', `${score.toFixed(3)}  ${withoutControls(from)}`));
          out.line(`${withoutControls(content.length > SHOWN_CHARS ? `${content.slice(0, SHOWN_CHARS)} ...` : content)}\n`);
        }
        const found = `${reply.total_results} ${reply.total_results === 1 ? 'passage' : 'passages'} of ${reply.database_used} in ${Math.round(reply.processing_time_ms)} ms`;
        out.line(out.style('dim', reply.results.length === 0 ? 'nothing was found; "quern datasets" shows what is there' : found));
      },
    };
  });
