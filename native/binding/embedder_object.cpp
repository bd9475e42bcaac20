#include "embedder_object.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "../inference/backends.hpp"
#include "arguments.hpp"
#include "arrays.hpp"
#include "facts.hpp"
#include "inference_arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

constexpr const char* kClass = "Embedder";

EmbedderOptions embedder_options(const Napi::Value& value) {
  const Napi::Object given = object(value, "embedder");
  EmbedderOptions options;
  options.context_size = integer(given.Get("contextSize"), "contextSize");
  options.threads = integer(given.Get("threads"), "threads");
  options.flash_attention = boolean(given.Get("flashAttention"), "flashAttention");
  options.ranks = boolean(given.Get("ranks"), "ranks");
  check(options);
  return options;
}

bool tokenizes_template(const Napi::Value& kind) {
  if (kind.IsUndefined()) return false;
  const std::string name = text(kind, "kind");
  if (name == "plain" || name == "template") return name == "template";
  throw Failure("invalid", "kind is " + name + "; allowed are plain and template.");
}

}  // namespace

void EmbedderObject::define(Napi::Env env, Napi::Object exports) {
  using Self = EmbedderObject;
  define_class<Self>(env, kClass,
                     {InstanceMethod<&Self::tokenize>("tokenize"), InstanceMethod<&Self::embed>("embed"),
                      InstanceMethod<&Self::close>("close")});
  exports.Set("openEmbedder", Napi::Function::New<open>(env, "openEmbedder"));
}

Napi::Value EmbedderObject::open(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    if (devices().empty()) throw Failure("unavailable", "No backend is loaded; call loadBackends() before open().");
    return Task<Loaded>::run(
        info.Env(),
        [file = path(info[0], "path"), model = model_options(info[1]), options = embedder_options(info[2])] {
          const std::atomic<bool> never{false};
          auto opened = std::make_shared<const Model>(
              file, model, [](float) {}, never);
          return Loaded{opened, std::make_shared<Embedder>(opened, options)};
        },
        [](Napi::Env env, Loaded& loaded) -> Napi::Value {
          return make_object(env, kClass, {Napi::External<Loaded>::New(env, &loaded)});
        });
  });
}

EmbedderObject::EmbedderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsExternal())
    throw to_error(env, "internal", "An embedder is made by openEmbedder() only.");
  loaded_ = std::move(*info[0].As<Napi::External<Loaded>>().Data());
  Napi::Object self = info.This().As<Napi::Object>();
  self.Set("info", facts_object(env, loaded_.model->facts()));
  self.Set("contextSize", loaded_.embedder->context_size());
  self.Set("dimensions", loaded_.embedder->dimensions());
  self.Set("pooling", loaded_.embedder->pooling());
  self.Set("poolingKnown", loaded_.embedder->pooling_known());
}

void EmbedderObject::require_open() const {
  if (!loaded_.embedder) throw Failure("unavailable", "The model is closed.");
}

Napi::Value EmbedderObject::tokenize(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const bool is_template = tokenizes_template(info[1]);
    return to_array<Napi::Int32Array>(info.Env(),
                                      loaded_.model->tokenize(text(info[0], "text"), !is_template, is_template));
  });
}

Napi::Value EmbedderObject::embed(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    auto tokens = int32_array(info[0], "tokens");
    auto lengths = int32_array(info[1], "lengths");
    const int count = loaded_.model->facts().vocabulary_size;
    if (std::any_of(tokens.begin(), tokens.end(), [&](Token token) { return token < 0 || token >= count; }))
      throw Failure("invalid", "tokens holds one that is not among the " + std::to_string(count) + " of the model.");
    return Task<std::vector<float>>::run(
        info.Env(),
        [embedder = loaded_.embedder, tokens = std::move(tokens), lengths = std::move(lengths)] {
          return embedder->embed(tokens, lengths);
        },
        [](Napi::Env env, std::vector<float>& vectors) {
          return to_array<Napi::Float32Array>(env, std::move(vectors));
        });
  });
}

Napi::Value EmbedderObject::close(const Napi::CallbackInfo& info) {
  if (loaded_.embedder) loaded_.embedder->interrupt();
  // Freed on a pool thread, by the last task that uses it.
  return run_task(info.Env(), [loaded = std::exchange(loaded_, {})] {});
}

}  // namespace quern::binding
