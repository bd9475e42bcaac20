/** An element of an equation, in Office's notation (OMML) or MathML; texts between elements are children too. */
interface EquationNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (EquationNode | string)[];
}

const ROOTS = new Set(['m:oMath', 'math', 'math:math', 'm:math', 'mml:math']);
const HAT = '\u0302';
const BAR = '\u0305';
const ACCENT = /^(?:[\^¯ˉ‾→~˙¨]|[\u0300-\u036f])$/;
const local = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Whether an element is an equation as a whole. */
export function isEquation(name: string): boolean {
  return ROOTS.has(name);
}

/** Collects the elements of one equation while its document is read. */
export class EquationBuilder {
  readonly #root: EquationNode;
  readonly #open: EquationNode[];

  /** `name` and `attributes` are those of its outermost element. */
  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.#root = { name: local(name), attributes, children: [] };
    this.#open = [this.#root];
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const node: EquationNode = { name: local(name), attributes, children: [] };
    this.#open.at(-1)!.children.push(node);
    this.#open.push(node);
  }

  text(piece: string): void {
    this.#open.at(-1)!.children.push(piece);
  }

  /** The whole equation on one line when its outermost element ends; undefined before. */
  close(): string | undefined {
    this.#open.pop();
    return this.#open.length > 0 ? undefined : renderEquation(this.#root).replace(/\s+/g, ' ').trim();
  }
}

const elements = (node: EquationNode): EquationNode[] => node.children.filter((one): one is EquationNode => typeof one !== 'string');
const parts = (node: EquationNode, name: string): EquationNode[] => elements(node).filter((one) => one.name === name);
const textOf = (node: EquationNode | undefined): string => (node === undefined ? '' : renderEquation(node));
/** The text of the first child of a name; empty where there is none. */
const part = (node: EquationNode, name: string): string => textOf(parts(node, name)[0]);
/** The text of a child by its place. */
const at = (node: EquationNode, index: number): string => textOf(elements(node)[index]);
const all = (node: EquationNode): string => node.children.map((one) => (typeof one === 'string' ? one : renderEquation(one))).join('');

/** A value among the properties of an OMML element: `<m:fPr><m:type m:val="bar"/></m:fPr>`. */
function property(node: EquationNode, name: string): string | undefined {
  const found = elements(node)
    .filter((one) => one.name.endsWith('Pr'))
    .flatMap((one) => parts(one, name))[0];
  return found === undefined ? undefined : (found.attributes['m:val'] ?? found.attributes.val ?? '');
}

/** In brackets, unless it is one sign, word or number. */
function grouped(text: string): string {
  const bare = text.trim();
  return bare === '' || /^(?:[\p{L}\p{N}.]+|.|\([^()]*\)|√\S+)$/u.test(bare) ? bare : `(${bare})`;
}

const fraction = (above: string, below: string): string => `${grouped(above)}/${grouped(below)}`;
const raised = (text: string): string => (text.trim() === '' ? '' : `^${grouped(text)}`);
const lowered = (text: string): string => (text.trim() === '' ? '' : `_${grouped(text)}`);
const root = (degree: string, text: string): string =>
  `${degree.trim() === '' || degree.trim() === '2' ? '' : `[${degree.trim()}]`}√(${text.trim()})`;
const matrix = (rows: readonly string[]): string => `[${rows.join('; ')}]`;

/** A sum, an integral or another sign with bounds, and what it is of. */
function bounded(node: EquationNode): string {
  const sign = property(node, 'chr') ?? '∫';
  return `${sign}${lowered(part(node, 'sub'))}${raised(part(node, 'sup'))} ${part(node, 'e')}`;
}

function delimited(node: EquationNode): string {
  const inner = parts(node, 'e')
    .map(renderEquation)
    .join(property(node, 'sepChr') ?? ', ');
  return `${property(node, 'begChr') ?? '('}${inner}${property(node, 'endChr') ?? ')'}`;
}

function fenced(node: EquationNode): string {
  const { open = '(', close = ')', separators = ',' } = node.attributes;
  return `${open}${elements(node)
    .map(renderEquation)
    .join(`${separators.trim()[0] ?? ''} `)}${close}`;
}

/** What an accent adds: a sign that combines with one letter, else a name around the text. */
function accented(text: string, accent: string): string {
  const bare = text.trim();
  return [...bare].length === 1 ? `${bare}${accent}` : `${grouped(bare)}${accent}`;
}

const over = (text: string, above: string): string => (ACCENT.test(above) ? accented(text, above) : `${text}${raised(above)} `);

/** Each child is said once at most: equations are nested as deep as their author likes. */
const FORMS: Readonly<Record<string, (node: EquationNode) => string>> = {
  // Office
  f: (node) => fraction(part(node, 'num'), part(node, 'den')),
  sSup: (node) => `${grouped(part(node, 'e'))}${raised(part(node, 'sup'))}`,
  sSub: (node) => `${grouped(part(node, 'e'))}${lowered(part(node, 'sub'))}`,
  sSubSup: (node) => `${grouped(part(node, 'e'))}${lowered(part(node, 'sub'))}${raised(part(node, 'sup'))}`,
  sPre: (node) => `${lowered(part(node, 'sub'))}${raised(part(node, 'sup'))}${part(node, 'e')}`,
  rad: (node) => root(part(node, 'deg'), part(node, 'e')),
  nary: bounded,
  d: delimited,
  func: (node) => `${part(node, 'fName')} ${grouped(part(node, 'e'))}`,
  limLow: (node) => `${part(node, 'e')}${lowered(part(node, 'lim'))}`,
  limUpp: (node) => `${part(node, 'e')}${raised(part(node, 'lim'))}`,
  m: (node) => matrix(parts(node, 'mr').map((row) => parts(row, 'e').map(renderEquation).join(', '))),
  eqArr: (node) => parts(node, 'e').map(renderEquation).join('; '),
  acc: (node) => accented(part(node, 'e'), property(node, 'chr') || HAT),
  bar: (node) => accented(part(node, 'e'), BAR),
  // MathML
  mfrac: (node) => fraction(at(node, 0), at(node, 1)),
  msup: (node) => `${grouped(at(node, 0))}${raised(at(node, 1))}`,
  msub: (node) => `${grouped(at(node, 0))}${lowered(at(node, 1))}`,
  msubsup: (node) => `${grouped(at(node, 0))}${lowered(at(node, 1))}${raised(at(node, 2))}`,
  munder: (node) => `${at(node, 0)}${lowered(at(node, 1))} `,
  mover: (node) => over(at(node, 0), at(node, 1).trim()),
  munderover: (node) => `${at(node, 0)}${lowered(at(node, 1))}${raised(at(node, 2))} `,
  msqrt: (node) => root('', all(node)),
  mroot: (node) => root(at(node, 1), at(node, 0)),
  mfenced: fenced,
  mtable: (node) => matrix(elements(node).map((row) => elements(row).map(renderEquation).join(', '))),
  // A page may carry the source of an equation beside its drawing: only one of them is said.
  semantics: (node) => at(node, 0),
  annotation: () => '',
  'annotation-xml': () => '',
};

/** Signs that stand between two things are set apart from them. */
const OPERATOR = /^[=<>≤≥≠≈∈→+×·±∪∩∧∨⇒⇔≡−-]$/;

function renderEquation(node: EquationNode): string {
  if (Object.hasOwn(FORMS, node.name)) return FORMS[node.name]!(node);
  // Properties of Office's elements hold no text of the equation.
  if (node.name.endsWith('Pr')) return '';
  const text = all(node);
  return node.name === 'mo' && OPERATOR.test(text.trim()) ? ` ${text.trim()} ` : text;
}
