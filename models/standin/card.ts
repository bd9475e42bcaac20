/** What `/health` and the model list say about the built-in model. */
export const STANDIN_CARD = {
  /** The name by which a project file asks for it. */
  name: 'quern-standin',
  /** Its file in the folder of built-in models. */
  file: 'quern-standin.gguf',
  description:
    'Built-in stand-in: hand-set weights that recognise a few words and give prepared answers about Quern, offline. ' +
    'It is no trained language model; set `model` in project.yaml to a GGUF file path or org/repo for one.',
} as const;
