#pragma once

#include <napi.h>

#include <memory>

#include "../text/index.hpp"

namespace quern::binding {

/// TextIndex of native/contract/text.ts. What runs on the pool shares the index, so close() and collection may come
/// first.
class TextIndexObject : public Napi::ObjectWrap<TextIndexObject> {
 public:
  /// Adds `openTextIndex` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit TextIndexObject(const Napi::CallbackInfo& info);

 private:
  using Index = std::shared_ptr<text::TextIndex>;

  Napi::Value add(const Napi::CallbackInfo& info);
  Napi::Value remove(const Napi::CallbackInfo& info);
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value terms(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value load(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  /// Throws Failure('unavailable') when close() was called.
  const Index& open_index() const;

  Index index_;  ///< empty once close() was called
};

}  // namespace quern::binding
