#pragma once

#include <napi.h>

#include <memory>

#include "../vectors/index.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/// VectorIndex of native/contract/vectors.ts. What runs on the pool shares the index, so close() and collection may
/// come first.
class VectorIndexObject : public Napi::ObjectWrap<VectorIndexObject>, private Living {
 public:
  /// Adds `openVectorIndex` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit VectorIndexObject(const Napi::CallbackInfo& info);
  ~VectorIndexObject() override;
  VectorIndexObject(const VectorIndexObject&) = delete;
  VectorIndexObject& operator=(const VectorIndexObject&) = delete;

 private:
  using Index = std::shared_ptr<vectors::VectorIndex>;

  Napi::Value add(const Napi::CallbackInfo& info);
  Napi::Value remove(const Napi::CallbackInfo& info);
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value search_many(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value load(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  void end() override;

  /// Throws Failure('unavailable') when close() was called.
  const Index& open_index() const;

  Index index_;   ///< empty once close() was called
  Index ending_;  ///< what close() still ends, for the exit of the process
  bool watched_ = false;
};

}  // namespace quern::binding
