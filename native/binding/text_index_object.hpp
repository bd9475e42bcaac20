#pragma once

#include <napi.h>

#include "../text/index.hpp"
#include "index_object.hpp"

namespace quern::binding {

/// NativeTextIndex of native/contract/text.ts.
class TextIndexObject : public IndexObject<TextIndexObject, text::TextIndex> {
 public:
  /// Adds `openTextIndex` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit TextIndexObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value add(const Napi::CallbackInfo& info);
  Napi::Value search(const Napi::CallbackInfo& info);
  Napi::Value terms(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
};

}  // namespace quern::binding
