/** Examples of a text classifier, as they are typed: one a line, its label before a colon or a tab. */
import { recordsOf } from './table';

export interface Example {
  readonly text: string;
  readonly label: string;
}

/** The examples of typed lines. Throws a sentence for a line without a label. */
export function typedExamples(typed: string): Example[] {
  return typed.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const [, label = '', text = ''] = /^([^:\t]{1,200})[:\t]\s*(.+)$/.exec(line) ?? [];
    if (text.trim() === '') throw new Error(`Line ${at + 1} has no label: write "label: text".`);
    return [{ label: label.trim(), text: text.trim() }];
  });
}

/** The examples of a CSV file as typed lines: columns called `text` and `label`, else its first two in this order. */
export async function fileExamples(file: File): Promise<string> {
  if (file.size > 12 * 1024 ** 2) throw new Error(`${file.name} has ${file.size} bytes; up to 12 MiB are taken.`);
  const [titles = [], ...rows] = recordsOf((await file.text()).replace(/^\uFEFF/, ''));
  const names = titles.map((one) => one.trim().toLowerCase());
  const at = (name: string, otherwise: number): number => (names.includes(name) ? names.indexOf(name) : otherwise);
  const [text, label] = [at('text', 0), at('label', 1)];
  if (titles.length < 2) throw new Error(`${file.name} has one column: a text and its label are wanted.`);
  return rows.map((row) => `${(row[label] ?? '').replaceAll(':', ' ')}: ${(row[text] ?? '').replaceAll(/\s+/g, ' ')}`).join('\n');
}
