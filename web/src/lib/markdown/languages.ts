/** The languages whose code is coloured; loaded when the first block of code is complete. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

for (const [name, grammar] of Object.entries({
  bash,
  cpp,
  csharp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
}))
  hljs.registerLanguage(name, grammar);
hljs.registerAliases(['c', 'h'], { languageName: 'cpp' });
hljs.registerAliases(['console', 'shell', 'sh-session'], { languageName: 'bash' });
hljs.registerAliases(['svelte', 'vue'], { languageName: 'xml' });

/** Code as HTML with a class for each kind of word; undefined where nobody here knows the language. */
export function coloured(code: string, language: string): string | undefined {
  return hljs.getLanguage(language) && hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
