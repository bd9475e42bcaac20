import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { differencesOf, type Problem, pathText } from '../../runtime/config/problems.js';
import { parseProjectFile } from '../../runtime/config/project-file.js';
import { validateConfig } from '../../runtime/config/validate.js';
import { Failure } from '../../schemas/errors.js';
import type { DatasetList } from '../../schemas/generated/core/datasets.js';
import type { Diff, DryRunReply, GenerationList, QuestionAnswer } from '../../schemas/generated/core/generations.js';
import type { ProjectReply } from '../../schemas/generated/core/projects.js';
import { route, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import { type Call, numberOf, type Run, textOf } from '../verb.js';

interface Checked {
  readonly stored: Record<string, unknown>;
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

async function checkedFile(path: string): Promise<Checked> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? `there is no file ${path}.` : `${path} cannot be read: ${cause.message}`;
    throw new Failure('not_found', why, { cause });
  });
  const { value } = parseProjectFile(basename(path), text, path);
  return validateConfig(value, String(value.namespace ?? 'default'), String(value.name ?? 'project'));
}

const problemRows = (problems: readonly Problem[]) => problems.map(({ path, reason }) => ({ path: pathText(path), reason }));

/** Checks a project file, without a daemon. The exit code is 1 where it could not be used. */
export const validate: Run = async ({ words: [path = ''], out }) => {
  const { errors, warnings } = await checkedFile(path);
  return {
    result: { file: path, errors: problemRows(errors), warnings: problemRows(warnings) },
    isBad: errors.length > 0,
    show: () => {
      for (const { path: place, reason } of problemRows(errors))
        out.line(`${out.style('red', 'wrong')}  ${withoutControls(`${place}: ${reason}`)}`);
      for (const { path: place, reason } of problemRows(warnings))
        out.line(`${out.style('yellow', 'note')}   ${withoutControls(`${place}: ${reason}`)}`);
      if (errors.length === 0) out.line(`${path} can be used`);
    },
  };
};

/**
 * Compares a project file with the settings of a project as the daemon has them, or, where a number is given, a generation of them with another one or the
 * current one. The exit code is 1 where they differ.
 */
export const diff: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { namespace, project } = call.project;
    const [first = '', second] = call.words;
    if (/^\d+$/.test(first)) {
      const query = second === undefined ? '' : `?to=${encodeURIComponent(second)}`;
      const { from, to, differences } = await daemon.ask<Diff>(`${generationsOf(call)}${route`/${first}/diff`}${query}`);
      return {
        result: { from, to, differences },
        isBad: differences.length > 0,
        show: () => show(call, differences),
      };
    }
    const { stored } = await checkedFile(first);
    const reply = await daemon.ask<ProjectReply>(route`/v1/projects/${namespace}/${project}`);
    const differences = differencesOf(reply.project.config, { ...stored, namespace, name: project }).map(({ path, before, after }) => ({
      path,
      ...(before === undefined ? {} : { from: before }),
      ...(after === undefined ? {} : { to: after }),
    }));
    return {
      result: { from: 'current', to: first, differences },
      isBad: differences.length > 0,
      show: () => show(call, differences),
    };
  });

const generationsOf = ({ project: { namespace, project } }: Call): string => route`/v1/projects/${namespace}/${project}/generations`;

/** What the file of a project said, from change to change. */
export const generations: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const list = await daemon.ask<GenerationList>(generationsOf(call));
    return {
      result: list,
      show: () =>
        call.out.table(
          ['GENERATION', 'SINCE', 'FROM', 'FILE', ''],
          list.generations.map(({ generation, created_at, source, file, current }) => [
            String(generation),
            created_at,
            source,
            file,
            current ? 'current' : '',
          ]),
        ),
    };
  });

/** An answer with where its passages come from. */
function answerLine({ response, error, passages }: QuestionAnswer): string {
  const sources = [...new Set(passages.map(({ source, id }) => source ?? id))];
  return withoutControls(`${response ?? error ?? ''}${sources.length > 0 ? `  [${sources.join(', ')}]` : ''}`);
}

/** Runs recorded chats again, or asks questions, on the settings of a generation, and says which change. The exit code is 1 where a question is answered by neither. */
export const tryGeneration: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const last = numberOf(call, 'last');
    const database = textOf(call, 'database');
    const questions = ((call.flags.question ?? []) as readonly string[]).map((query) => ({ query, ...(database ? { database } : {}) }));
    const json = { ...(last === undefined ? {} : { last }), ...(questions.length > 0 ? { questions } : {}) };
    const reply = await daemon.ask<DryRunReply>(`${generationsOf(call)}${route`/${call.words[0]!}/dry-run`}`, { json });
    const { out } = call;
    return {
      result: reply,
      isBad: reply.questions.some(({ now, would }) => now.error !== null && would.error !== null),
      show: () => {
        for (const { query, now, would, differs } of reply.questions) {
          out.line(out.style('bold', withoutControls(query)));
          out.line(`  now   ${answerLine(now)}`);
          out.line(`  then  ${answerLine(would)}${differs.length > 0 ? `  (${differs.join(', ')})` : ''}`);
        }
        if (reply.runs.length + reply.questions.length === 0)
          return out.line('no chat is recorded that could be run again; chats are recorded where events.content is full');
        for (const { question, recorded, replayed, differs } of reply.runs) {
          out.line(out.style('bold', withoutControls(question ?? '(no question)')));
          out.line(`  was  ${withoutControls(recorded.response ?? recorded.error ?? '')}`);
          out.line(
            `  now  ${withoutControls(replayed.response ?? replayed.error ?? '')}${differs.length > 0 ? `  (${differs.join(', ')})` : ''}`,
          );
        }
        return out.line(`${reply.changed} of ${reply.runs.length + reply.questions.length} change`);
      },
    };
  });

/** Makes the text of a generation that of the project file again. */
export const restoreGeneration: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [generation = ''] = call.words;
    const { namespace, project } = call.project;
    const datasets = async (): Promise<string[]> => {
      const list = await daemon.ask<DatasetList>(`${route`/v1/projects/${namespace}/${project}/datasets`}?include_extra_details=false`);
      return list.datasets.map(({ name }) => name);
    };
    // A file that cannot be used is what a restore puts right.
    const before = await datasets().catch(() => []);
    const reply = await daemon.ask<ProjectReply>(`${generationsOf(call)}${route`/${generation}/restore`}`, { method: 'POST' });
    const after = new Set(await datasets());
    const unnamed = before.filter((name) => !after.has(name));
    return {
      result: reply,
      show: () => {
        call.out.line(`the file of ${namespace}/${project} is that of generation ${generation}`);
        if (unnamed.length > 0)
          call.out.line(
            `it names no dataset ${unnamed.join(', ')}: files and passages stay, and are listed again where a generation names them`,
          );
      },
    };
  });

function show({ out }: Call, differences: readonly { path: string; from?: unknown; to?: unknown }[]): void {
  if (differences.length === 0) out.line('both say the same');
  for (const { path, from: before, to: after } of differences) {
    out.line(out.style('bold', withoutControls(path)));
    if (before !== undefined) out.line(out.style('red', withoutControls(`- ${JSON.stringify(before)}`)));
    if (after !== undefined) out.line(out.style('green', withoutControls(`+ ${JSON.stringify(after)}`)));
  }
}
