import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { ROOT, type Table } from './measure.js';

/** Where and when a part was measured, as its section of docs/benchmarks.md says it. */
export interface Circumstances {
  /** The command that measures it again. */
  readonly command: string;
  readonly machine: string;
  /** The load of the last minute before the part began, and the cores that it is shared by. */
  readonly load: string;
  readonly commit: string;
  /** As YYYY-MM-DD. */
  readonly date: string;
}

const CELLS = ['what', 'ours', 'peer', 'ratio', 'goal'] as const;

/** The circumstances of a part that begins now. */
export function circumstancesOf(part: string, isQuick: boolean): Circumstances {
  const cores = cpus().length;
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ':!docs/benchmarks.md') !== '';
  return {
    command: [...settings(), 'npm run bench --', part, ...(isQuick ? ['--quick'] : [])].join(' '),
    machine: `${cores} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.versions.node}`,
    load: `${loadavg()[0]!.toFixed(1)} on ${cores} cores`,
    commit: `${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The variables that change what the bench does; paths of this machine are left out. */
function settings(): string[] {
  return Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('BENCH_') && !value?.includes('/') ? [`${name}=${value}`] : [],
  );
}

/** The section of a part: its circumstances and one table, in which a bold row begins what the bench prints as a table of its own. */
export function sectionOf({ command, machine, load, commit, date }: Circumstances, tables: readonly Table[]): string {
  const rowOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  const groups = tables.flatMap(({ title, rows }) => [
    rowOf([`**${title}**`, '', '', '', '']),
    ...rows.map((row) => rowOf(CELLS.map((cell) => row[cell]))),
  ]);
  const measured = `\`${command}\`, ${date}, commit ${commit}, load ${load}; ${machine}.`;
  return [measured, '', '| what is measured | Quern | peer | ratio | goal |', '|---|---|---|---|---|', ...groups].join('\n');
}

/** The page with `section` between the markers of `part`; a part that has none yet gets a heading and markers at the end. */
export function withSection(page: string, part: string, section: string): string {
  const [start, end] = [`<!-- bench: ${part} -->`, `<!-- end of bench: ${part} -->`];
  const marked = `${start}\n${section}\n${end}`;
  const [from, to] = [page.indexOf(start), page.indexOf(end)];
  if (from < 0 || to < from) return `${page.trimEnd()}\n\n## ${part}\n\n${marked}\n`;
  return page.slice(0, from) + marked + page.slice(to + end.length);
}
