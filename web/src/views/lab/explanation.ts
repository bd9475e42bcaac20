/** How a score came about, in lines for people. */
export interface Reason {
  readonly what: string;
  readonly says: string;
}

type Facts = Readonly<Record<string, unknown>>;

const number = (value: unknown): string => (typeof value === 'number' ? value.toFixed(3) : String(value));
const place = (rank: unknown): string => (rank === undefined ? '' : `place ${String(rank)}, `);
/** What the lines below tell in words of their own. */
const TOLD = new Set(
  'lexical_rank lexical_score lexical_query dense_rank dense_score elastic_score fused_score fusion hybrid_alpha strategies base_rank base_score rerank_score rerank_model rerank_parts coverage graph_score manhattan_score plan queries'.split(
    ' ',
  ),
);

/** The lines for what a strategy tells of one passage; what is not known here comes as it is. */
export function reasonsOf(facts: Facts): Reason[] {
  const has = (name: string): boolean => facts[name] !== undefined;
  const lines: (Reason | false)[] = [
    has('dense_score') && { what: 'Vectors', says: `${place(facts.dense_rank)}likeness ${number(facts.dense_score)}` },
    has('lexical_score') && {
      what: 'Words',
      says: `${place(facts.lexical_rank)}BM25 ${number(facts.lexical_score)}${has('lexical_query') ? ` for "${String(facts.lexical_query)}"` : ''}`,
    },
    has('elastic_score') && { what: 'Elasticsearch', says: number(facts.elastic_score) },
    has('manhattan_score') && { what: 'Distance', says: `Manhattan ${number(facts.manhattan_score)}` },
    has('graph_score') && { what: 'Graph', says: number(facts.graph_score) },
    has('fused_score') && { what: 'Fusion', says: `${number(facts.fused_score)}${fusionOf(facts)}` },
    has('base_score') && { what: 'Before reranking', says: `${place(facts.base_rank)}${number(facts.base_score)}` },
    has('rerank_score') && {
      what: 'Reranking',
      says: `${number(facts.rerank_score)}${has('rerank_model') ? ` by ${String(facts.rerank_model)}` : ''}${partsOf(facts.rerank_parts)}`,
    },
    has('coverage') && { what: 'Coverage', says: `${number(facts.coverage)} of the question's words stand in it` },
    ...Object.entries(facts).map(
      ([name, value]) =>
        !TOLD.has(name) && { what: name.replaceAll('_', ' '), says: typeof value === 'object' ? JSON.stringify(value) : number(value) },
    ),
    has('plan') && { what: 'Search', says: planOf(facts.plan as Facts) },
  ];
  return lines.filter((line) => line !== false);
}

function fusionOf({ fusion, strategies, hybrid_alpha: alpha }: Facts): string {
  const parts = [
    ...(fusion === undefined ? [] : [` by ${String(fusion).replaceAll('_', ' ')}`]),
    ...(alpha === undefined ? [] : [`vectors count ${number(alpha)}`]),
    ...((strategies ?? []) as { type: string; weight: number; rank?: number }[]).map(
      ({ type, weight, rank }) => `${type} counts ${weight.toFixed(2)}${rank ? `, place ${rank}` : ''}`,
    ),
  ];
  return parts.join('; ');
}

function partsOf(parts: unknown): string {
  if (typeof parts !== 'object' || parts === null) return '';
  return ` (${Object.entries(parts)
    .map(([name, value]) => `${name} ${number(value)}`)
    .join(', ')})`;
}

function planOf(plan: Facts): string {
  const { dense, lexical, filter } = plan as Record<string, Facts | undefined>;
  const parts = [
    ...(dense?.plan
      ? [`vectors by ${String(dense.plan)}${dense.compared === undefined ? '' : `, ${String(dense.compared)} compared`}`]
      : []),
    ...(lexical?.plan && lexical.plan !== 'none' ? [`words by ${String(lexical.plan)}`] : []),
    ...(filter?.conditions ? [`the filter leaves ${String(filter.rows_allowed)} of ${String(filter.rows)}`] : []),
  ];
  return parts.length > 0 ? parts.join('; ') : JSON.stringify(plan);
}
