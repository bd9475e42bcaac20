/** What `/health` and the model list say about the trained built-in model. */
export const TINY_CARD = {
  /** The name by which a project file asks for it. */
  name: 'quern-tiny',
  /** Its file in the folder of built-in models. */
  file: 'quern-tiny.gguf',
  description:
    'Built-in model of about nineteen million parameters, seven of them trained from scratch on generated dialogues: it answers from given texts, ' +
    'makes JSON, picks labels and calls tools, offline. It knows little about the world and makes mistakes.',
} as const;
