#pragma once

#include <napi.h>

#include "../vectors/index.hpp"
#include "index_object.hpp"

namespace quern::binding {

/// NativeVectorIndex of native/contract/vectors.ts.
class VectorIndexObject : public IndexObject<VectorIndexObject, vectors::VectorIndex> {
 public:
  /// Adds `openVectorIndex` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit VectorIndexObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value add(const Napi::CallbackInfo& info);
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value search_many(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
};

}  // namespace quern::binding
