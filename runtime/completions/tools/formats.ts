/** How a family of models writes tool calls. */
export interface ToolFormat {
  readonly name: string;
  /** True when a chat template teaches this form. */
  taughtBy(template: string): boolean;
  /** Text that starts a call, or a list of calls. */
  readonly open: string;
  /** Text that ends a call; empty where the JSON itself ends it. */
  readonly close: string;
  /** Calls come as one JSON array after `open`. */
  readonly list: boolean;
  /** What an answer may start with in place of `open`, blank space aside, since engines may not print that token; empty = nothing. */
  readonly bareStart: string;
  /** What separates calls that follow each other without a tag. */
  readonly separator: string;
  /** The member that holds the arguments. */
  readonly argumentsKey: 'arguments' | 'parameters';
}

const hermes: ToolFormat = {
  name: 'hermes',
  taughtBy: (template) => template.includes('<tool_call>') && !template.includes('<function='),
  open: '<tool_call>',
  close: '</tool_call>',
  list: false,
  bareStart: '',
  separator: '',
  argumentsKey: 'arguments',
};

const mistral: ToolFormat = {
  name: 'mistral',
  // Later Mistral templates write the name outside the JSON, behind these markers.
  taughtBy: (template) => template.includes('[TOOL_CALLS]') && !template.includes('[ARGS]') && !template.includes('[CALL_ID]'),
  open: '[TOOL_CALLS]',
  close: '',
  list: true,
  bareStart: '[{"name"',
  separator: ',',
  argumentsKey: 'arguments',
};

const llama3: ToolFormat = {
  name: 'llama3',
  taughtBy: (template) => template.includes('<|start_header_id|>') && template.includes('"parameters"'),
  open: '<|python_tag|>',
  close: '',
  list: false,
  bareStart: '{"name"',
  separator: ';',
  argumentsKey: 'parameters',
};

/** Every form that is parsed; the first that a template teaches is used. */
export const TOOL_FORMATS = [hermes, mistral, llama3] as const satisfies readonly ToolFormat[];

/** The form of prompt-based tools. */
export const INJECTED_FORMAT: ToolFormat = hermes;

/** The form that a chat template teaches its model; null when it is none of ours, and tools go into the prompt as text. */
export function formatOf(template: string): ToolFormat | null {
  return TOOL_FORMATS.find((format) => format.taughtBy(template)) ?? null;
}
