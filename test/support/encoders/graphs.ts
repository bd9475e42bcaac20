import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { seededRandom } from '../../../models/writers/random.js';
import { type BertShape, type BertWeights, bertGraph } from '../models/writers/onnx-bert.js';
import { floats, type OnnxGraph, type OnnxNode, type OnnxTensor, writeOnnx } from '../models/writers/onnx-writer.js';

/** Another way to write the same graph, or a graph that is a little different. */
export type Rewriting = (graph: OnnxGraph) => OnnxGraph;

const SHAPE: BertShape = { layers: 2, hidden: 32, heads: 2, intermediate: 48, vocabulary: 40, positions: 24, head: 'vectors', labels: 3 };

/** Weights as random as trained ones look: every number matters. */
export const randomWeights: BertWeights = (name, dims) => {
  const values = new Float32Array(dims.reduce((product, size) => product * size, 1));
  seededRandom(Array.from(name).reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7)).fill(values, 0.3);
  return name.endsWith('LayerNorm.weight') ? values.map((value) => 1 + value) : values;
};

/** A graph of random weights. */
export const randomGraph = (shape: Partial<BertShape> = {}): OnnxGraph => bertGraph({ ...SHAPE, ...shape }, randomWeights);

/** Changes nodes: each becomes the nodes that are given for it. */
export const nodes =
  (change: (node: OnnxNode, at: number) => readonly OnnxNode[] | undefined): Rewriting =>
  (graph) => ({ ...graph, nodes: graph.nodes.flatMap((node, at) => change(node, at) ?? [node]) });

/** Adds constants. */
export const constants =
  (...added: readonly OnnxTensor[]): Rewriting =>
  (graph) => ({ ...graph, initializers: [...graph.initializers, ...added] });

/** Rewritings one after the other. */
export const both =
  (...rewritings: readonly Rewriting[]): Rewriting =>
  (graph) =>
    rewritings.reduce((sofar, rewriting) => rewriting(sofar), graph);

/** Changes the nth node of an operation. */
export function nth(op: string, index: number, change: (node: OnnxNode) => OnnxNode): Rewriting {
  return (graph) => {
    const chosen = graph.nodes.filter((node) => node.op === op).at(index);
    return nodes((node) => (node === chosen ? [change(node)] : undefined))(graph);
  };
}

/** Norms in the single steps of exporters before opset 17. */
export const spelledNorms: Rewriting = both(
  constants(floats('two', [], [2]), floats('epsilon', [], [1e-12])),
  nodes(({ op, inputs: [states, weight, bias], outputs: [output] }) => {
    if (op !== 'LayerNormalization') return undefined;
    const name = (part: string): string => `${output}_${part}`;
    const mean = { axes: { ints: [-1] } };
    return [
      { op: 'ReduceMean', inputs: [states!], outputs: [name('mean')], attributes: mean },
      { op: 'Sub', inputs: [states!, name('mean')], outputs: [name('centred')] },
      { op: 'Pow', inputs: [name('centred'), 'two'], outputs: [name('square')] },
      { op: 'ReduceMean', inputs: [name('square')], outputs: [name('variance')], attributes: mean },
      { op: 'Add', inputs: [name('variance'), 'epsilon'], outputs: [name('sum')] },
      { op: 'Sqrt', inputs: [name('sum')], outputs: [name('deviation')] },
      { op: 'Div', inputs: [name('centred'), name('deviation')], outputs: [name('normed')] },
      { op: 'Mul', inputs: [name('normed'), weight!], outputs: [name('scaled')] },
      { op: 'Add', inputs: [name('scaled'), bias!], outputs: [output!] },
    ];
  }),
  (graph) => ({ ...graph, opset: 14 }),
);

/** The head's layers as one operation each, with the weights in the rows that checkpoints have. */
export const gemmHead: Rewriting = (graph) => {
  const turned = new Map<string, OnnxTensor>();
  const adds = new Map<string, OnnxNode>();
  for (const node of graph.nodes) if (node.op === 'Add') adds.set(node.inputs[0]!, node);
  const changed = graph.nodes.flatMap((node): OnnxNode[] => {
    const weight = graph.initializers.find(({ name }) => name === node.inputs[1] && /^(?:pooler|classifier)/.test(name));
    if (node.op === 'MatMul' && weight) {
      turned.set(weight.name, transposed(weight));
      const { inputs, outputs } = adds.get(node.outputs[0]!)!;
      return [{ op: 'Gemm', inputs: [...node.inputs, inputs[1]!], outputs, attributes: { transB: { int: 1 } } }];
    }
    return node.op === 'Add' && /^(?:pooler|classifier)/.test(node.inputs[1]!) ? [] : [node];
  });
  return { ...graph, nodes: changed, initializers: graph.initializers.map((tensor) => turned.get(tensor.name) ?? tensor) };
};

/** A linear layer and tanh behind all else: where the graph pools, of one vector for each text. */
export const lastLayer: Rewriting = (graph) => {
  const output = graph.outputs[0]!;
  const width = output.dims.at(-1) as number;
  const weight = (name: string, dims: readonly number[]): OnnxTensor => floats(name, dims, randomWeights(name, dims));
  const last = nodes((node) =>
    node.outputs[0] === output.name
      ? [
          { op: 'MatMul', inputs: [node.inputs[0]!, 'last.weight'], outputs: ['last_product'] },
          { op: 'Add', inputs: ['last_product', 'last.bias'], outputs: ['last_sum'] },
          { op: 'Tanh', inputs: ['last_sum'], outputs: [output.name] },
        ]
      : undefined,
  );
  return both(constants(weight('last.weight', [width, width]), weight('last.bias', [width])), last)(graph);
};

/** Matrices of the layers in the rows of checkpoints, turned by an operation. */
export const turnedMatrices: Rewriting = (graph) => {
  const isMatrix = ({ name, dims }: OnnxTensor): boolean => dims.length === 2 && name.startsWith('encoder.');
  const turn = graph.initializers
    .filter(isMatrix)
    .map(({ name }): OnnxNode => ({ op: 'Transpose', inputs: [`${name}_t`], outputs: [name], attributes: { perm: { ints: [1, 0] } } }));
  const initializers = graph.initializers.map((tensor) =>
    isMatrix(tensor) ? { ...transposed(tensor), name: `${tensor.name}_t` } : tensor,
  );
  return { ...graph, nodes: [...turn, ...graph.nodes], initializers };
};

function transposed({ name, type, dims, values }: OnnxTensor): OnnxTensor {
  const [rows, columns] = dims as [number, number];
  const out = Float32Array.from({ length: values.length }, (_, at) => Number(values[(at % rows) * columns + Math.floor(at / rows)]));
  return { name, type, dims: [columns, rows], values: out };
}

/** Weights in a file beside the graph, whose name is given. */
export const outsideWeights =
  (file: string): Rewriting =>
  (graph) => {
    const parts: Uint8Array[] = [];
    let offset = 0;
    const initializers = graph.initializers.map((tensor) => {
      if (tensor.type !== 'float32') return tensor;
      const bytes = new Uint8Array(tensor.values.buffer, tensor.values.byteOffset, tensor.values.byteLength);
      const external = { location: basename(file), offset: String(offset), length: String(bytes.length) };
      parts.push(bytes);
      offset += bytes.length;
      return { ...tensor, external };
    });
    writeFileSync(file, Buffer.concat(parts));
    return { ...graph, initializers };
  };

/** Writes a graph in a folder. */
export function writeGraph(folder: string, name: string, graph: OnnxGraph): string {
  const path = join(folder, name);
  writeFileSync(path, writeOnnx(graph));
  return join(dirname(path), name);
}
