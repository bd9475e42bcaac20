import { spell } from '../../runtime/engines/tokenizers/byte-alphabet.js';
import type { TensorSource } from '../writers/gguf-writer.js';
import type { LlamaShape } from '../writers/llama-metadata.js';
import { seededRandom } from '../writers/random.js';
import { encodedBytes, type TensorType } from '../writers/tensor-types.js';
import { type Anchor, MARKERS, type Marker, type Next, type Program } from './program.js';
import { type Head, headWeights, ropeFactors } from './recency.js';

/**
 * How the puppet works. The residual stream has one constant, one place per known token (markers, trigger words, tool
 * words, line break), places that the attention heads write to, one place per marker that may come next, and a code of
 * +-1 for private tokens. A private token's embedding holds the code of what follows it, and its row of the output
 * matrix holds its own code: that alone tells the text on. Four heads of the one layer each copy the latest token of a
 * set (see recency.ts); one gated neuron per entry of the program ANDs what they found with the current token
 * and writes the code of the text's first token.
 */
const WIDTH = 256;
const CODE_SIZE = 128;
/** Value of the constant place; it outweighs the rest, so that RMS norm scales every token nearly alike. */
const CONSTANT = 64;
/** What a root mean square comes to by the constant alone; norms are undone by it. */
const RMS = CONSTANT / Math.sqrt(WIDTH);
const HEAD_SIZE = 128;
/** Gate steepness: a condition missed by half leaves silu(-20), nothing. */
const STEEPNESS = 40;
/** Logit of a certain next token. */
const SURE_LOGIT = 60;
/** Logit of private and marker tokens where no text leads to them. */
const UNCALLED_LOGIT = -20;
/** Logit of the end of the turn where nothing else leads on: above all idle tokens. */
const END_LOGIT = 12;
/** Share of a code for the second of several possible next tokens: about 1.2 logits less. */
const LESS_LIKELY = 0.99;
/** What a neuron may fall short of its full sum and still fire. */
const SLACK = 0.45;

/** The model's shape but for the feed-forward size and context, which follow from the program and the caller. */
export const PUPPET_SHAPE = { layers: 1, width: WIDTH, heads: 4, headsKv: 4, headSize: HEAD_SIZE, ropeBase: 10_000 };

/** The constant has the first block of 32 to itself, so that Q8_0 keeps the other places exact. */
const FIRST_PLACE = 32;
const FIRST_CODE = WIDTH - CODE_SIZE;
const LINE_BREAK = spell('\n');
const NEXT_MARKERS: readonly Marker[] = ['end', 'thinkOpen', 'thinkClose', 'callOpen', 'callClose'];

/** Places of the residual stream. */
interface Layout {
  /** By spelling of a known token. */
  readonly known: ReadonlyMap<string, number>;
  readonly subjects: ReadonlyMap<string, number>;
  readonly tools: ReadonlyMap<string, number>;
  readonly inUserTurn: number;
  readonly inToolTurn: number;
  readonly latest: ReadonlyMap<Marker, number>;
  readonly next: ReadonlyMap<Marker, number>;
}

const knownSpelling = (marker: Marker): string => MARKERS[marker];

function layOut(program: Program): Layout {
  let used = FIRST_PLACE;
  const place = (): number => {
    used += 1;
    if (used > FIRST_CODE) throw new RangeError(`the scripts need more than ${FIRST_CODE} places`);
    return used - 1;
  };
  const places = <T>(keys: Iterable<T>): Map<T, number> => new Map(Array.from(keys, (key) => [key, place()]));
  const known = places<string>([LINE_BREAK, ...Object.values(MARKERS), ...program.toolWords.values()]);
  // All trigger words of one script share a place: they are never told apart.
  for (const [name, spellings] of program.triggers) {
    if (name === 'default') continue;
    const shared = place();
    for (const spelled of spellings) known.set(spelled, shared);
  }
  return {
    known,
    subjects: places([...program.triggers.keys()]),
    tools: places(['default', ...program.toolWords.keys()]),
    inUserTurn: place(),
    inToolTurn: place(),
    latest: places<Marker>(['assistant', 'thinkOpen', 'thinkClose', 'callOpen']),
    next: places(NEXT_MARKERS),
  };
}

function headsOf(program: Program, layout: Layout): Head[] {
  const at = (marker: Marker): number => layout.known.get(knownSpelling(marker))!;
  const subjects = [...program.triggers].map(([name, spellings]): [number, number] => [
    name === 'default' ? at('user') : layout.known.get(spellings[0]!)!,
    layout.subjects.get(name)!,
  ]);
  const tools = [...layout.tools].map(([name, place]): [number, number] => [
    name === 'default' ? at('user') : layout.known.get(program.toolWords.get(name)!)!,
    place,
  ]);
  return [
    { copies: subjects },
    { copies: tools },
    {
      copies: [
        [at('user'), layout.inUserTurn],
        [at('tool'), layout.inToolTurn],
        [at('toolResponse'), layout.inToolTurn],
      ],
    },
    {
      copies: [...layout.latest].map(([marker, place]): [number, number] => [at(marker), place]),
      rivals: [at('user'), at('tool'), at('system')],
    },
  ];
}

/** Codes of private tokens: seeded signs; 128 of them differ in 64 places on average, 40 at least among a thousand. */
function codesOf(program: Program): Map<string, Float32Array> {
  const random = seededRandom(7);
  return new Map(
    program.privateTokens.map(({ spelled }) => [spelled, Float32Array.from({ length: CODE_SIZE }, () => (random.next() < 0.5 ? -1 : 1))]),
  );
}

/** Logits of tokens that no text leads to, which matter where a grammar forbids what the text wants: they close what is open. */
function idleLogit(spelled: string): number {
  const ranked = ['"', 'a', '}', ']', ...'0123456789', 't', 'f', 'n'];
  const rank = ranked.indexOf(spelled);
  if (rank >= 0) return 10 - rank * 0.3;
  if (/^[a-z]$/.test(spelled)) return 4;
  return /^[!-~]$/.test(spelled) ? 3 : /^[!-~Ġ]+$/.test(spelled) ? 0 : -10;
}

/** Sets of matrices that depend on the program; every matrix is written row by row in ggml's order. */
class PuppetWeights {
  readonly #program: Program;
  readonly #layout: Layout;
  readonly #codes: Map<string, Float32Array>;

  constructor(program: Program) {
    this.#program = program;
    this.#layout = layOut(program);
    this.#codes = codesOf(program);
  }

  /** Adds what stands for `next` to a vector of the residual stream. */
  #addNext(row: Float32Array, next: Next, scale: number): void {
    if ('marker' in next) row[this.#layout.next.get(next.marker)!]! += scale * Math.sqrt(CODE_SIZE);
    else
      this.#codes.get(next.token)!.forEach((sign, index) => {
        row[FIRST_CODE + index]! += scale * sign;
      });
  }

  embedding(): Float32Array {
    const next = new Map(this.#program.privateTokens.map((token) => [token.spelled, token.next]));
    return this.#rows(({ text }, row) => {
      row[0] = CONSTANT;
      const place = this.#layout.known.get(text);
      if (place !== undefined) row[place] = 1;
      if (text === MARKERS.callClose) this.#addNext(row, { marker: 'end' }, 1);
      (next.get(text) ?? []).forEach((follower, index) => {
        this.#addNext(row, follower, index === 0 ? 1 : LESS_LIKELY);
      });
    });
  }

  output(): Float32Array {
    const perCode = ((SURE_LOGIT - UNCALLED_LOGIT) * RMS) / CODE_SIZE;
    const idle = (logit: number): number => (logit * RMS) / CONSTANT;
    const marked = new Map<string, number>(NEXT_MARKERS.map((marker) => [MARKERS[marker], this.#layout.next.get(marker)!]));
    return this.#rows(({ text, kind }, row) => {
      const code = this.#codes.get(text);
      const place = marked.get(text);
      if (place !== undefined) row[place] = perCode * Math.sqrt(CODE_SIZE);
      code?.forEach((sign, index) => {
        row[FIRST_CODE + index] = sign * perCode;
      });
      if (text === MARKERS.end) row[0] = idle(END_LOGIT);
      else row[0] = idle(kind === 'normal' && code === undefined ? idleLogit(text) : UNCALLED_LOGIT);
    });
  }

  #rows(fill: (token: { text: string; kind: string }, row: Float32Array) => void): Float32Array {
    const { tokens } = this.#program.vocabulary;
    const values = new Float32Array(tokens.length * WIDTH);
    tokens.forEach((token, id) => {
      fill(token, values.subarray(id * WIDTH, (id + 1) * WIDTH));
    });
    return values;
  }

  heads(reach: number): ReturnType<typeof headWeights> {
    return headWeights(headsOf(this.#program, this.#layout), { width: WIDTH, headSize: HEAD_SIZE, rms: RMS, constant: CONSTANT, reach });
  }

  /** Gate, up and down rows of one neuron per entry (two for `header`). */
  neurons(): { gate: Float32Array[]; down: Float32Array[] } {
    const { subjects, tools, inUserTurn, inToolTurn } = this.#layout;
    const entries = [
      ...this.#program.scriptEntries.map((entry) => ({ ...entry, places: [subjects.get(entry.subject)!, inUserTurn] })),
      ...this.#program.toolEntries.map((entry) => ({ ...entry, places: [tools.get(entry.subject)!, inToolTurn] })),
    ].flatMap((entry) => this.#anchorPlaces(entry.anchor).map((places) => ({ next: entry.next, places: [...entry.places, ...places] })));
    return {
      gate: entries.map(({ places }) => {
        const row = new Float32Array(WIDTH);
        for (const place of places) row[place] = STEEPNESS * RMS;
        row[0] = (-(places.length - SLACK) * STEEPNESS * RMS) / CONSTANT;
        return row;
      }),
      down: entries.map(({ next }) => {
        const row = new Float32Array(WIDTH);
        this.#addNext(row, next, 1 / (STEEPNESS * SLACK));
        return row;
      }),
    };
  }

  /** Alternatives of the places that must all be set at an anchor. */
  #anchorPlaces(anchor: Anchor): number[][] {
    const now = (marker: Marker): number => this.#layout.known.get(knownSpelling(marker))!;
    const afterLine = (marker: Marker): number[] => [this.#layout.known.get(LINE_BREAK)!, this.#layout.latest.get(marker)!];
    switch (anchor) {
      case 'header':
        return [[now('assistant')], afterLine('assistant')];
      case 'thinkOpenLine':
        return [afterLine('thinkOpen')];
      case 'thinkCloseLine':
        return [afterLine('thinkClose')];
      case 'callOpenLine':
        return [afterLine('callOpen')];
      default:
        return [[now(anchor)]];
    }
  }
}

/** Puts the rows of one matrix into ggml's order and pads them to `rows`. */
function stack(rows: readonly Float32Array[], count: number, rowLength: number): Float32Array {
  const values = new Float32Array(count * rowLength);
  rows.forEach((row, index) => {
    values.set(row, index * rowLength);
  });
  return values;
}

function transpose(values: Float32Array, rowLength: number): Float32Array {
  const rows = values.length / rowLength;
  return Float32Array.from(values, (_, index) => values[(index % rows) * rowLength + Math.floor(index / rows)]!);
}

/** All tensors of the puppet and its whole shape. */
export function puppetTensors(program: Program, contextLength: number, reach: number): { shape: LlamaShape; tensors: TensorSource[] } {
  const weights = new PuppetWeights(program);
  const neurons = weights.neurons();
  const feedForward = Math.ceil(neurons.gate.length / 32) * 32;
  const heads = weights.heads(reach);
  const constantRow = Float32Array.from({ length: WIDTH }, (_, index) => (index === 0 ? RMS / CONSTANT : 0));
  const matrix = (name: string, rowLength: number, values: Float32Array, type: TensorType = 'F16'): TensorSource => {
    encodedBytes(type, values.length);
    return { name: `${name}.weight`, type, shape: [rowLength, values.length / rowLength], values };
  };
  const vector = (name: string, values: Float32Array): TensorSource => ({
    name: `${name}.weight`,
    type: 'F32',
    shape: [values.length],
    values,
  });
  const ones = (name: string): TensorSource => vector(name, new Float32Array(WIDTH).fill(1));
  return {
    shape: { ...PUPPET_SHAPE, feedForward, contextLength },
    tensors: [
      matrix('token_embd', WIDTH, weights.embedding(), 'Q8_0'),
      ones('output_norm'),
      matrix('output', WIDTH, weights.output(), 'Q8_0'),
      vector('rope_freqs', ropeFactors(HEAD_SIZE, PUPPET_SHAPE.ropeBase, reach)),
      ones('blk.0.attn_norm'),
      matrix('blk.0.attn_q', WIDTH, heads.query),
      matrix('blk.0.attn_k', WIDTH, heads.key),
      matrix('blk.0.attn_v', WIDTH, heads.value),
      matrix('blk.0.attn_output', PUPPET_SHAPE.heads * HEAD_SIZE, heads.out),
      ones('blk.0.ffn_norm'),
      matrix('blk.0.ffn_gate', WIDTH, stack(neurons.gate, feedForward, WIDTH)),
      matrix(
        'blk.0.ffn_up',
        WIDTH,
        stack(
          neurons.gate.map(() => constantRow),
          feedForward,
          WIDTH,
        ),
      ),
      matrix('blk.0.ffn_down', feedForward, transpose(stack(neurons.down, feedForward, WIDTH), WIDTH)),
    ],
  };
}
