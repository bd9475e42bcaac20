#include "facts.hpp"

namespace quern::binding {

Napi::Object facts_object(Napi::Env env, const ModelFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("architecture", facts.architecture);
  object.Set("name", facts.name);
  object.Set("description", facts.description);
  object.Set("sizeBytes", static_cast<double>(facts.size_bytes));
  object.Set("parameters", static_cast<double>(facts.parameters));
  object.Set("trainedContextSize", facts.trained_context_size);
  object.Set("vocabularySize", facts.vocabulary_size);
  object.Set("layers", facts.layers);
  object.Set("embeddingSize", facts.embedding_size);
  object.Set("headsKv", facts.heads_kv);
  object.Set("chatTemplate", facts.chat_template);
  object.Set("bosText", facts.bos_text);
  object.Set("eosText", facts.eos_text);
  object.Set("addBos", facts.add_bos);
  Napi::Array devices = Napi::Array::New(env, facts.devices.size());
  for (uint32_t i = 0; i < facts.devices.size(); ++i) devices.Set(i, facts.devices[i]);
  object.Set("devices", devices);
  return object;
}

}  // namespace quern::binding
