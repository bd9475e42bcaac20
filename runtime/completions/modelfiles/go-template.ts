import { Failure } from '../../../schemas/errors.js';

/** An action of Go's template language, which Jinja does not have in this form. */
const GO = /\{\{-?\s*(?:\/\*|\.|\$|(?:if|range|end|else|with|json|template|break|continue)\b)/;
const WORDS = /\s*("(?:[^"\\]|\\.)*"|`[^`]*`|:=|[()|,=]|[^\s()|,"`]+)/gy;

/**
 * A chat template for the engine: one of Ollama's in Go's template language is translated to Jinja, any other text stays as it is. Throws `bad_request`
 * (code `TemplateUnsupported`) that names what of it has no translation.
 */
export function jinjaOf(template: string): string {
  return GO.test(template) ? new Translation(template).text : template;
}

/** Each round of a chat as a template without `.Messages` sees it: what is behind `.Response` is left out of the last one. */
const ROUNDS = [
  "{%- set round = namespace(system='') -%}",
  '{%- for message in messages -%}',
  "{%- if message.role == 'system' -%}{%- set round.system = message.content -%}",
  "{%- elif message.role == 'user' or message.role == 'tool' -%}",
  "{%- set is_answered = not loop.last and messages[loop.index].role == 'assistant' -%}",
  "{%- set response = messages[loop.index].content if is_answered else '' -%}",
].join('');
const ROUNDS_END = "{%- set round.system = '' -%}{%- endif -%}{%- endfor -%}";
const OF_ROUND: Readonly<Record<string, string>> = {
  System: 'round.system',
  Prompt: 'message.content',
  Response: 'response',
  First: 'loop.first',
};
const SYSTEM_OF_MESSAGES = "(messages | selectattr('role', 'equalto', 'system') | map(attribute='content') | join('\\n\\n'))";

/** Members of what a loop is about. */
const OF_ITEM: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  message: { Role: 'message.role', Content: 'message.content', ToolCalls: 'message.tool_calls', Thinking: "''", ToolName: 'message.name' },
  call: {
    'Function.Name': 'call.function.name',
    'Function.Arguments': 'call.function.arguments | tojson',
    Function: 'call.function | tojson',
  },
  tool: {
    Function: 'tool.function | tojson',
    Type: 'tool.type',
    'Function.Name': 'tool.function.name',
    'Function.Description': 'tool.function.description',
    'Function.Parameters': 'tool.function.parameters | tojson',
    '': 'tool | tojson',
  },
};
const ITEMS: Readonly<Record<string, string>> = { Messages: 'message', ToolCalls: 'call', Tools: 'tool' };

/** Of Ollama's templates: how it asks whether a message is the last one. */
const IS_LAST = /^eq \(?\(?\s*len \(?\s*slice \$\.Messages \$(?:i|index)\s*\)\s*\)? 1\)?$/;

/** Members of the whole request in Jinja's names. */
const OF_REQUEST: Readonly<Record<string, string>> = { Tools: 'tools', Suffix: "''", Think: 'enable_thinking', IsThinkSet: 'false' };

/** Translates one template. */
class Translation {
  readonly #hasMessages: boolean;
  /** Kinds of the blocks that are open: `if`, or what a loop is about. */
  readonly #open: string[] = [];
  #isCut = false;

  constructor(private readonly source: string) {
    this.#hasMessages = /\.Messages\b/.test(source);
  }

  get text(): string {
    let out = '';
    let at = 0;
    let isTrimmed = false;
    for (;;) {
      const begin = this.source.indexOf('{{', at);
      if (begin < 0) break;
      const end = this.source.indexOf('}}', begin);
      if (end < 0) throw templateRefusal('a {{ that is not closed');
      const inside = this.source.slice(begin + 2, end);
      const [before, after] = [inside.startsWith('-'), inside.endsWith('-')];
      out += literal(this.source.slice(at, begin), isTrimmed, before);
      out += this.#action(inside.slice(before ? 1 : 0, after ? -1 : undefined).trim());
      isTrimmed = after;
      at = end + 2;
    }
    out += literal(this.source.slice(at), isTrimmed, false);
    if (this.#open.length > 0) throw templateRefusal('{{ if }} or {{ range }} without {{ end }}');
    if (this.#hasMessages) return out;
    return `${ROUNDS}${out}${this.#isCut ? '{% endif %}' : ''}${ROUNDS_END}`;
  }

  #action(action: string): string {
    const tag = (inside: string): string => `{% ${inside} %}`;
    if (action.startsWith('/*')) return '';
    const [, word = '', rest = ''] = /^(if|else if|else|end|range|with)\b\s*([\s\S]*)$/.exec(action) ?? [];
    switch (word) {
      case 'if':
        this.#open.push('if');
        return tag(`if ${this.#expression(rest)}`);
      case 'else if':
        return tag(`elif ${this.#expression(rest)}`);
      case 'else':
        return tag('else');
      case 'end': {
        const kind = this.#open.pop();
        if (kind === undefined) throw templateRefusal('{{ end }} ends nothing');
        return tag(kind === 'if' ? 'endif' : 'endfor');
      }
      case 'range':
        return tag(this.#loop(rest));
      case 'with':
        throw templateRefusal(`{{ ${action} }}`);
    }
    const set = /^(\$\w+)\s*:?=\s*([\s\S]+)$/.exec(action);
    if (set) return tag(`set ${variable(set[1]!)} = ${this.#expression(set[2]!)}`);
    const shown = `{{ ${this.#expression(action)} }}`;
    const isAnswer = !this.#hasMessages && /^\.Response$/.test(action) && this.#open.length === 0 && !this.#isCut;
    if (!isAnswer) return shown;
    this.#isCut = true;
    return `${shown}{% if is_answered %}`;
  }

  #loop(rest: string): string {
    const [, over = ''] = /^(?:\$\w+\s*(?:,\s*\$\w+\s*)?:=\s*)?(\$?\.\w+)$/.exec(rest) ?? [];
    const member = over.replace(/^\$?\./, '');
    const item = ITEMS[member];
    if (item === undefined) throw templateRefusal(`{{ range ${rest} }}`);
    const list = this.#member(over);
    this.#open.push(item);
    return `for ${item} in (${list} or [])`;
  }

  #expression(text: string): string {
    if (IS_LAST.test(text.trim())) return 'loop.last';
    WORDS.lastIndex = 0;
    const words = [...text.matchAll(WORDS)].map(([, word]) => word!);
    const value = this.#call(words);
    if (words.length > 0) throw templateRefusal(`{{ ${text} }}`);
    return value;
  }

  /** A function with what it is given, or one value; what is used of `words` is taken from its front. */
  #call(words: string[]): string {
    const name = words[0] ?? '';
    const given = (): string[] => {
      words.shift();
      const values: string[] = [];
      while (words.length > 0 && words[0] !== ')') values.push(this.#value(words));
      if (values.length === 0) throw templateRefusal(`{{ ${name} }}`);
      return values;
    };
    const between = (operator: string): string => `(${given().join(` ${operator} `)})`;
    switch (name) {
      case 'and':
      case 'or':
        return between(name);
      case 'eq': {
        const [first, ...others] = given();
        return `(${others.map((other) => `${first} == ${other}`).join(' or ')})`;
      }
      case 'ne':
        return between('!=');
      case 'lt':
        return between('<');
      case 'gt':
        return between('>');
      case 'not':
        return `(not ${given()[0]})`;
      case 'len':
        return `(${given()[0]} | length)`;
      case 'json':
        return `(${given()[0]!.replace(/ \| tojson$/, '')} | tojson)`;
    }
    return this.#value(words);
  }

  #value(words: string[]): string {
    const word = words.shift() ?? '';
    if (word === '(') {
      const end = closing(words);
      const inside = words.splice(0, end);
      words.shift();
      if (
        IS_LAST.test(
          inside
            .join(' ')
            .replace(/ ?([()]) ?/g, ' $1 ')
            .trim(),
        )
      )
        return 'loop.last';
      const value = this.#call(inside);
      if (inside.length > 0) throw templateRefusal(`( ... ${inside.join(' ')} )`);
      return value;
    }
    if (word.startsWith('`')) return JSON.stringify(word.slice(1, -1));
    if (word.startsWith('"') || /^-?\d+$/.test(word) || word === 'true' || word === 'false') return word;
    if (/^\$?\.[\w.]*$/.test(word)) return this.#member(word);
    if (/^\$\w+(?:\.[\w.]+)?$/.test(word)) return variable(word);
    throw templateRefusal(`{{ ${word} }}`);
  }

  #member(word: string): string {
    const isOfRequest = word.startsWith('$');
    const name = word.replace(/^\$?\./, '');
    const item = isOfRequest ? undefined : this.#open.findLast((kind) => kind !== 'if');
    const known = item === undefined ? undefined : OF_ITEM[item]?.[name];
    if (known !== undefined) return known;
    if (item === undefined) {
      if (name === 'Messages') return 'messages';
      if (name === 'System' && this.#hasMessages) return SYSTEM_OF_MESSAGES;
      const own = OF_REQUEST[name] ?? (this.#hasMessages ? (name === 'Response' ? "''" : undefined) : OF_ROUND[name]);
      if (own !== undefined) return own;
    }
    throw templateRefusal(`{{ ${word} }}`);
  }
}

/** Text as an expression: Jinja would leave out line breaks behind its blocks. */
function literal(text: string, trimStart: boolean, trimEnd: boolean): string {
  const begun = trimStart ? text.trimStart() : text;
  const trimmed = trimEnd ? begun.trimEnd() : begun;
  return trimmed === '' ? '' : `{{ ${JSON.stringify(trimmed)} }}`;
}

function templateRefusal(what: string): Failure {
  return new Failure(
    'bad_request',
    `TEMPLATE has ${what.slice(0, 200)}, which is not translated from Go's template language; write the template in Jinja, name a known one, or leave it out: the model's own is used then.`,
    { code: 'TemplateUnsupported' },
  );
}

const variable = (word: string): string => {
  const [name, ...members] = word.slice(1).split('.');
  if (members.length > 0 || name === '') throw templateRefusal(`{{ ${word} }}`);
  return name === 'last' ? 'is_last' : `go_${name}`;
};

/** Where the bracket ends that was opened before `words`. */
function closing(words: readonly string[]): number {
  let depth = 1;
  for (const [index, word] of words.entries()) {
    depth += word === '(' ? 1 : word === ')' ? -1 : 0;
    if (depth === 0) return index;
  }
  throw templateRefusal('a bracket is not closed');
}
