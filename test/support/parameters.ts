/** A parameter of C++: a type, then a name. Arguments of a call have no type. */
const CPP =
  /^(?:const\s+)?[A-Za-z_][\w:]*(?:\s*<.*>)?(?:\s+[A-Za-z_][\w:]*)*(?:\s*[*&]+\s*|\s+)(?:const\s+)?(?:__restrict\s+)?[A-Za-z_]\w*(?:\[\w*\])?(?:\s*=\s*.+)?$/s;
/** One of TypeScript: a name, then a type. */
const TYPESCRIPT = /^(?:readonly\s+|\.\.\.)?\w+\??\s*:\s/;

/** The source without comments and texts, whose commas are no one's; lines stay. */
const bare = (source: string): string =>
  source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\\\n/g, (part) => part.replace(/[^\n]/g, ' '));

/** The parts of a list between commas that stand in no bracket. */
function partsOf(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [at, sign] of [...list].entries()) {
    if ('([{<'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign) || (sign === '>' && !'-='.includes(list[at - 1] ?? ''))) depth -= 1;
    if (sign === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** The lines on which a function with more than `most` parameters is declared, in C++ or TypeScript by the name of the file. */
export function longParameterLists(file: string, source: string, most: number): number[] {
  const text = bare(source);
  const parameter = file.endsWith('.ts') ? TYPESCRIPT : CPP;
  const open: number[] = [];
  const lines: number[] = [];
  for (const { 0: sign, index } of text.matchAll(/[()]/g)) {
    if (sign === '(') {
      open.push(index);
      continue;
    }
    const from = open.pop() ?? index;
    const parts = partsOf(text.slice(from + 1, index));
    if (parts.length > most && parts.every((part) => parameter.test(part))) lines.push(text.slice(0, from).split('\n').length);
  }
  return lines;
}
