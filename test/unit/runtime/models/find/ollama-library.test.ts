import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseName, repositoriesOf } from '../../../../../runtime/models/find/names.js';
import { libraryName } from '../../../../../runtime/models/find/ollama-library.js';

/** The repository that a name means, and its quantisation. */
const meant = (name: string): [string, string | null] => {
  const { id, quantisation } = parseName(name);
  return [repositoriesOf(id)[0], quantisation];
};

describe("a name of Ollama's library", () => {
  const known: [name: string, repository: string, quantisation: string | null][] = [
    ['llama3.2', 'bartowski/Llama-3.2-3B-Instruct-GGUF', null],
    ['llama3.2:latest', 'bartowski/Llama-3.2-3B-Instruct-GGUF', null],
    ['llama3.2:Q8_0', 'bartowski/Llama-3.2-3B-Instruct-GGUF', 'Q8_0'],
    ['Llama3.2:1B', 'bartowski/Llama-3.2-1B-Instruct-GGUF', null],
    ['llama3.2:1b-instruct-q8_0', 'bartowski/Llama-3.2-1B-Instruct-GGUF', 'Q8_0'],
    ['llama3.2:3b-instruct-fp16', 'bartowski/Llama-3.2-3B-Instruct-GGUF', 'F16'],
    ['qwen2.5:0.5b', 'bartowski/Qwen2.5-0.5B-Instruct-GGUF', null],
    ['qwen2.5:3b', 'bartowski/Qwen2.5-3B-Instruct-GGUF', null],
    ['qwen2.5:32b-instruct-q4_K_M', 'bartowski/Qwen2.5-32B-Instruct-GGUF', 'Q4_K_M'],
    ['registry.ollama.ai/library/gemma3:1b', 'ggml-org/gemma-3-1b-it-GGUF', null],
    ['https://ollama.com/library/mistral', 'bartowski/Mistral-7B-Instruct-v0.3-GGUF', null],
    ['nomic-embed-text:latest', 'nomic-ai/nomic-embed-text-v1.5-GGUF', null],
    ['deepseek-r1:70b', 'bartowski/DeepSeek-R1-Distill-Llama-70B-GGUF', null],
  ];
  for (const [name, repository, quantisation] of known)
    it(`${name} is ${repository}`, () => assert.deepEqual(meant(name), [repository, quantisation]));

  it('with a tag that stands for other weights is refused, and never another size', () => {
    for (const name of ['gemma3:12b-it-qat', 'llama3.2:90b', 'qwen2.5:0.5b-base', 'library/llama3.2:text'])
      assert.throws(
        () => parseName(name),
        { kind: 'not_found', code: 'ModelNotFound', message: /of Ollama's library \w[\w.]*:[\w.]+.* known here/ },
        name,
      );
  });

  it('is left alone where the library is not meant', () => {
    for (const name of ['org/llama3.2', 'llama3.2-mine', 'codellama']) assert.equal(parseName(name).id, name);
    assert.deepEqual(meant('codellama:7b'), ['codellama', '7B']);
    assert.deepEqual(meant('granite3-moe:1.5b'), ['granite3-moe', '1.5B']);
  });

  it('is told of a repository as people would ask for it', () => {
    assert.equal(libraryName('bartowski/Llama-3.2-3B-Instruct-GGUF'), 'llama3.2');
    assert.equal(libraryName('Bartowski/llama-3.2-1b-instruct-gguf'), 'llama3.2:1b');
    assert.equal(libraryName('org/else'), undefined);
  });
});
