import { encodingMetadata, textOf } from './bytes.js';
import type { Parser } from './contract.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = { chunk_size: 1500, chunk_overlap: 0, chunk_strategy: 'code', encoding: 'utf-8', extract_metadata: true };
const LANGUAGES: Readonly<Record<string, string>> = {
  '.ts': 'typescript', '.tsx': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.js': 'javascript', '.jsx': 'javascript',
  '.mjs': 'javascript', '.cjs': 'javascript', '.py': 'python', '.pyi': 'python', '.rb': 'ruby', '.go': 'go', '.rs': 'rust', '.java': 'java',
  '.kt': 'kotlin', '.scala': 'scala', '.swift': 'swift', '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp', '.hpp': 'cpp',
  '.cs': 'csharp', '.php': 'php', '.sh': 'shell', '.bash': 'shell', '.zsh': 'shell', '.ps1': 'powershell', '.lua': 'lua', '.r': 'r',
  '.pl': 'perl', '.ex': 'elixir', '.exs': 'elixir', '.hs': 'haskell', '.dart': 'dart', '.sql': 'sql', '.css': 'css', '.scss': 'css',
  '.less': 'css', '.vue': 'vue', '.svelte': 'svelte', '.yaml': 'yaml', '.yml': 'yaml', '.toml': 'toml', '.xml': 'xml', '.proto': 'protobuf',
  '.graphql': 'graphql', '.tf': 'terraform', '.cmake': 'cmake', '.jl': 'julia', '.m': 'matlab', '.zig': 'zig', '.nim': 'nim',
}; // biome-ignore format: a table

/** A line without indentation that names what it defines. */
const DEFINITION =
  /^(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]{1,20}\))?|declare|sealed|open|data|override|inline|extern|unsafe|const|local)\s+){0,6}(?:function\*?|class|interface|type|enum|struct|trait|impl|def|defmodule|defp|func|fn|fun|module|namespace|package|object|mod|union|protocol|extension|record|sub|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index)|message|service)\b[\s(]{0,20}(?:\([^)]{0,100}\)\s{0,4})?(~?[\w$]{1,100}(?:(?:\.|::)[\w$~]{1,100}){0,8})?/i;
/** A value bound at the top of a module, and a C-like function head. */
const BINDING = /^(?:export\s+)?(?:const|let|var|static)\s+([\w$]{1,100})\s{0,10}[:=]/;
const C_HEAD = /^[A-Za-z_][\w<>:*&,\s]{0,200}?\b([A-Za-z_~]\w{0,100})\s{0,4}\([^;]{0,300}$/;
/** Lines that belong to the definition below them. */
const ATTACHED = /^(?:\/\/|\/\*|\s\*|#|--|"""|'''|@|\[[\w(]|;;|%|template\s{0,4}<)/;

function nameOf(line: string): string | undefined {
  if (/^[\s}\])]/.test(line)) return undefined;
  const defined = DEFINITION.exec(line);
  if (defined) return defined[1] ?? '';
  const bound =
    BINDING.exec(line) ?? (/^(?:if|for|while|switch|return|else|do|case|using|import|from)\b/.test(line) ? null : C_HEAD.exec(line));
  return bound?.[1];
}

interface Part {
  readonly lines: string[];
  readonly symbol: string;
}

/** A source cut where a definition begins at the margin, with the comments and decorators above it. */
function partsOf(source: string): Part[] {
  const parts: Part[] = [{ lines: [], symbol: '' }];
  for (const line of source.split('\n')) {
    const symbol = nameOf(line);
    const current = parts.at(-1)!;
    if (symbol === undefined) {
      current.lines.push(line);
      continue;
    }
    let from = current.lines.length;
    while (from > 0 && ATTACHED.test(current.lines[from - 1]!)) from -= 1;
    parts.push({ lines: [...current.lines.splice(from), line], symbol });
  }
  return parts;
}

/** Source code: a block is a definition at the top level. */
export const code: Parser = {
  id: 'code',
  defaults: { CodeParser: DEFAULTS },
  extensions: Object.keys(LANGUAGES),
  mimeTypes: [
    'text/javascript',
    'application/javascript',
    'text/x-python',
    'application/x-sh',
    'application/yaml',
    'text/xml',
    'application/xml',
  ],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    const extension = /\.[^.]+$/.exec(file.name.toLowerCase())?.[0] ?? '';
    const language = LANGUAGES[extension] ?? 'unknown';
    const symbols: string[] = [];
    for (const part of partsOf(found.text.replace(/\r\n?/g, '\n'))) {
      if (part.symbol !== '') symbols.push(part.symbol);
      writer.add('code', part.lines.join('\n'), part.symbol === '' ? {} : { metadata: { symbol: part.symbol } });
    }
    return writer.finish(
      options.extract_metadata === false
        ? {}
        : { type: 'source_code', code_language: language, symbols: symbols.slice(0, 1000), ...encodingMetadata(found) },
    );
  },
};
