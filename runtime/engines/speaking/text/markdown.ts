/** How a line ends that is a sentence already. */
const ENDED = /[.!?:;,…]["'”’)\]]*$/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const RULE = /^\s{0,3}(?:[-*_=]\s*){3,}$/;
const TABLE_RULE = /^[\s|:-]+$/;

/** Marks inside a line: what they surround stays. */
function withoutMarks(line: string): string {
  return line
    .replace(/!\[([^\][]{0,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)/g, '$1')
    .replace(/\[([^\][]{1,300})\]\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)/g, '$1')
    .replace(/\[([^\][]{1,300})\]\[[^\][]{0,100}\]/g, '$1')
    .replace(/\[\^[^\][]{1,50}\]/g, '')
    .replace(/<(https?:\/\/[^<>\s]{1,2000})>/g, '$1')
    .replace(/<\/?[a-zA-Z][^<>]{0,500}>/g, ' ')
    .replace(/\*\*|__|~~|`+/g, '')
    .replace(/(^|[\s("'[])[*_](?=\S)/g, '$1')
    .replace(/(\S)[*_](?=[\s.,;:!?)"'\]]|$)/g, '$1')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, '$1');
}

/**
 * The text of Markdown as it is read out: code blocks, rules and addresses of links are left out, and headings, items and rows end like sentences. Other text
 * comes out as it is.
 */
export function withoutMarkdown(text: string): string {
  const spoken: string[] = [];
  let fence = '';
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== '') {
      if (mark?.startsWith(fence)) fence = '';
      continue;
    }
    if (mark !== undefined) {
      fence = mark.slice(0, 3);
      continue;
    }
    if (RULE.test(line) || (line.includes('|') && TABLE_RULE.test(line))) continue;
    const own = /^\s{0,12}(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)/.test(line);
    const isRow = /^\s*\|.*\|\s*$/.test(line);
    let bare = line.replace(/^\s*(?:>\s?)+/, '').replace(/^\s{0,12}(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)/, '');
    if (isRow) bare = bare.replace(/^\s*\||\|\s*$/g, '').replace(/\s*\|\s*/g, ', ');
    const words = withoutMarks(bare)
      .replace(/\s+#+\s*$/, '')
      .trim();
    if (words !== '') spoken.push((own || isRow) && !ENDED.test(words) ? `${words}.` : words);
    else if (spoken.length > 0 && !ENDED.test(spoken.at(-1)!)) spoken.push(`${spoken.pop()!}.`);
  }
  return spoken.join('\n');
}
