import { floats, integers, type OnnxGraph, type OnnxNode, type OnnxTensor, type OnnxValue } from './onnx-writer.js';

/** What stands on top of the layers: vectors per token, one mean vector, logits of the first token (after its pooler), or logits per token. */
export type BertHead = 'vectors' | 'sentence' | 'classification' | 'tokens';

/** The shape of an encoder as BERT has it. */
export interface BertShape {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly vocabulary: number;
  /** Rows of the table of positions. */
  readonly positions: number;
  readonly head: BertHead;
  /** Of a classification or token head. */
  readonly labels?: number;
  /** Kinds of segments; 0 for a graph without `token_type_ids`, as RoBERTa's. */
  readonly segments?: number;
  /** `roberta` counts positions from the padding token's id on; `input` takes them as `position_ids`. */
  readonly positionKind?: 'absolute' | 'roberta' | 'input';
  readonly epsilon?: number;
}

/** Gives a weight by its name in the checkpoints of BERT, rows first; linear layers as [outputs, inputs]. */
export type BertWeights = (name: string, dims: readonly number[]) => Float32Array;

/** Id of the padding token of RoBERTa's vocabularies; positions begin after it. */
const ROBERTA_PADDING = 1;
const MASKED = -10_000;

/** The graph of an encoder, its operations as exporters write them, so that the runtime fuses them alike. */
export function bertGraph(shape: BertShape, weights: BertWeights): OnnxGraph {
  return new BertBuilder(shape, weights).graph();
}

class BertBuilder {
  readonly #shape: BertShape;
  readonly #weights: BertWeights;
  readonly #nodes: OnnxNode[] = [];
  readonly #initializers: OnnxTensor[] = [];
  #next = 0;

  constructor(shape: BertShape, weights: BertWeights) {
    this.#shape = shape;
    this.#weights = weights;
  }

  graph(): OnnxGraph {
    const { segments = 2, positionKind, layers, hidden, labels = 2, head } = this.#shape;
    const input = (name: string): OnnxValue => ({ name, type: 'int64', dims: ['batch', 'sequence'] });
    const inputs = [input('input_ids'), input('attention_mask')];
    if (segments > 0) inputs.push(input('token_type_ids'));
    if (positionKind === 'input') inputs.push(input('position_ids'));
    let states = this.#embeddings();
    const mask = this.#maskBias();
    for (let layer = 0; layer < layers; layer += 1) states = this.#layer(layer, states, mask);
    const outputs: Record<BertHead, () => OnnxValue> = {
      vectors: () => this.#output(states, 'last_hidden_state', ['batch', 'sequence', hidden]),
      sentence: () => this.#output(this.#meanPooled(states), 'sentence_embedding', ['batch', hidden]),
      classification: () => this.#output(this.#classified(states), 'logits', ['batch', labels]),
      tokens: () => this.#output(this.#linear(states, 'classifier', hidden, labels), 'logits', ['batch', 'sequence', labels]),
    };
    const output = outputs[head]();
    return { name: 'bert', nodes: this.#nodes, initializers: this.#initializers, inputs, outputs: [output] };
  }

  #op(op: string, inputs: readonly string[], attributes: OnnxNode['attributes'] = {}): string {
    const output = `${op.toLowerCase()}_${this.#next++}`;
    this.#nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  #output(from: string, name: string, dims: OnnxValue['dims']): OnnxValue {
    this.#nodes.push({ op: 'Identity', inputs: [from], outputs: [name] });
    return { name, type: 'float32', dims };
  }

  #weight(name: string, dims: readonly number[]): string {
    this.#initializers.push(floats(name, dims, this.#weights(name, dims)));
    return name;
  }

  #number(value: number): string {
    const name = `number_${this.#next++}`;
    this.#initializers.push(floats(name, [], [value]));
    return name;
  }

  #integers(values: number | readonly number[]): string {
    const name = `integers_${this.#next++}`;
    this.#initializers.push(integers(name, values));
    return name;
  }

  /** x W^T + b; checkpoints have W as [outputs, inputs]. */
  #linear(states: string, name: string, inputs: number, outputs: number): string {
    const weight = this.#weights(`${name}.weight`, [outputs, inputs]);
    const turned = new Float32Array(weight.length);
    for (let row = 0; row < outputs; row += 1)
      for (let column = 0; column < inputs; column += 1) turned[column * outputs + row] = weight[row * inputs + column]!;
    this.#initializers.push(floats(`${name}.weight`, [inputs, outputs], turned));
    return this.#op('Add', [this.#op('MatMul', [states, `${name}.weight`]), this.#weight(`${name}.bias`, [outputs])]);
  }

  #normalised(states: string, name: string): string {
    const { hidden, epsilon = 1e-12 } = this.#shape;
    const parts = ['weight', 'bias'].map((part) => this.#weight(`${name}.${part}`, [hidden]));
    return this.#op('LayerNormalization', [states, ...parts], { axis: { int: -1 }, epsilon: { float: epsilon } });
  }

  #embeddings(): string {
    const { vocabulary, hidden, positions, segments = 2 } = this.#shape;
    let sum = this.#op('Gather', [this.#weight('embeddings.word_embeddings.weight', [vocabulary, hidden]), 'input_ids']);
    if (segments > 0) {
      const table = this.#weight('embeddings.token_type_embeddings.weight', [segments, hidden]);
      sum = this.#op('Add', [sum, this.#op('Gather', [table, 'token_type_ids'])]);
    }
    const table = this.#weight('embeddings.position_embeddings.weight', [positions, hidden]);
    return this.#normalised(this.#op('Add', [sum, this.#op('Gather', [table, this.#positions()])]), 'embeddings.LayerNorm');
  }

  #positions(): string {
    const { positionKind = 'absolute' } = this.#shape;
    if (positionKind === 'input') return 'position_ids';
    if (positionKind === 'absolute') {
      const length = this.#op('Gather', [this.#op('Shape', ['input_ids']), this.#integers(1)]);
      return this.#op('Range', [this.#integers(0), length, this.#integers(1)]);
    }
    const padding = this.#integers(ROBERTA_PADDING);
    const used = this.#op('Cast', [this.#op('Not', [this.#op('Equal', ['input_ids', padding])])], { to: { int: 7 } });
    return this.#op('Add', [this.#op('Mul', [this.#op('CumSum', [used, this.#integers(1)]), used]), padding]);
  }

  /** 0 where a token is, a large negative number where padding is: [batch, 1, 1, sequence]. */
  #maskBias(): string {
    const wide = this.#op('Unsqueeze', ['attention_mask', this.#integers([1, 2])]);
    const kept = this.#op('Cast', [wide], { to: { int: 1 } });
    return this.#op('Mul', [this.#op('Sub', [this.#number(1), kept]), this.#number(MASKED)]);
  }

  #layer(layer: number, states: string, mask: string): string {
    const { hidden, intermediate } = this.#shape;
    const name = `encoder.layer.${layer}`;
    const attended = this.#linear(
      this.#attention(`${name}.attention.self`, states, mask),
      `${name}.attention.output.dense`,
      hidden,
      hidden,
    );
    const middle = this.#normalised(this.#op('Add', [attended, states]), `${name}.attention.output.LayerNorm`);
    const grown = this.#gelu(this.#linear(middle, `${name}.intermediate.dense`, hidden, intermediate));
    const back = this.#linear(grown, `${name}.output.dense`, intermediate, hidden);
    return this.#normalised(this.#op('Add', [back, middle]), `${name}.output.LayerNorm`);
  }

  #attention(name: string, states: string, mask: string): string {
    const { hidden, heads } = this.#shape;
    const size = hidden / heads;
    const split = (part: string, order: number[]): string => {
      const parted = this.#op('Reshape', [this.#linear(states, `${name}.${part}`, hidden, hidden), this.#integers([0, 0, heads, size])]);
      return this.#op('Transpose', [parted], { perm: { ints: order } });
    };
    const query = split('query', [0, 2, 1, 3]);
    const key = split('key', [0, 2, 3, 1]);
    const value = split('value', [0, 2, 1, 3]);
    const scores = this.#op('Div', [this.#op('MatMul', [query, key]), this.#number(Math.sqrt(size))]);
    const shares = this.#op('Softmax', [this.#op('Add', [scores, mask])], { axis: { int: -1 } });
    const mixed = this.#op('Transpose', [this.#op('MatMul', [shares, value])], { perm: { ints: [0, 2, 1, 3] } });
    return this.#op('Reshape', [mixed, this.#integers([0, 0, hidden])]);
  }

  /** The exact form, by the error function. */
  #gelu(states: string): string {
    const error = this.#op('Erf', [this.#op('Div', [states, this.#number(Math.SQRT2)])]);
    const share = this.#op('Mul', [states, this.#op('Add', [error, this.#number(1)])]);
    return this.#op('Mul', [share, this.#number(0.5)]);
  }

  #meanPooled(states: string): string {
    const mask = this.#op('Cast', [this.#op('Unsqueeze', ['attention_mask', this.#integers([2])])], { to: { int: 1 } });
    const axis = this.#integers([1]);
    const sum = this.#op('ReduceSum', [this.#op('Mul', [states, mask]), axis], { keepdims: { int: 0 } });
    return this.#op('Div', [sum, this.#op('ReduceSum', [mask, axis], { keepdims: { int: 0 } })]);
  }

  #classified(states: string): string {
    const { hidden, labels = 2 } = this.#shape;
    const first = this.#op('Gather', [states, this.#integers(0)], { axis: { int: 1 } });
    return this.#linear(this.#op('Tanh', [this.#linear(first, 'pooler.dense', hidden, hidden)]), 'classifier', hidden, labels);
  }
}
