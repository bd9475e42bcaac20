import { FIRST_MODEL } from '../../../models/built-in.js';

/** A project with a model and prompts only. */
export const serverTemplate = `# A Quern project that serves chat. An edit of this file is seen by the next request.
version: v1
name: project
namespace: default

# Models that chat requests may name; without a name, default_model answers.
runtime:
  default_model: default
  models:
    - name: default
      # universal is the built-in runtime; others: compat_api, local_runner, local_accel.
      provider: universal
      model: ${FIRST_MODEL.name}
      description: The built-in model, offline.
    # A hosted model; the key comes from the environment and is never stored (QUERN_*, keys of known hosts, and --allow-env):
    # - name: hosted
    #   provider: compat_api
    #   model: model-name
    #   base_url: https://api.example.com/v1
    #   api_key: \${env:OPENAI_API_KEY}

# Put before every conversation, in this order. {{variable | default}} takes values from the request.
prompts:
  - name: default
    messages:
      - role: system
        content: You are a helpful assistant.
`;
