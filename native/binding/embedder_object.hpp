#pragma once

#include <napi.h>

#include <memory>

#include "../inference/embedder.hpp"

namespace quern::binding {

/// NativeEmbedder of native/contract/inference.ts. Lives on the JavaScript thread; its work is done by pool threads.
class EmbedderObject : public Napi::ObjectWrap<EmbedderObject> {
 public:
  /// Adds `openEmbedder` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  /// Arguments: External<Loaded>.
  explicit EmbedderObject(const Napi::CallbackInfo& info);

  /// What a finished load hands to the object.
  struct Loaded {
    std::shared_ptr<const Model> model;
    std::shared_ptr<Embedder> embedder;
  };

 private:
  static Napi::Value open(const Napi::CallbackInfo& info);
  Napi::Value tokenize(const Napi::CallbackInfo& info);
  Napi::Value embed(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  /// Throws Failure('unavailable') when close() was called.
  void require_open() const;

  Loaded loaded_;  ///< empty once close() was called; tasks on the pool hold it too
};

}  // namespace quern::binding
