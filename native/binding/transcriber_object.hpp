#pragma once

#include <napi.h>

#include <memory>

#include "../inference/transcriber.hpp"

namespace quern::binding {

/// NativeTranscriber of native/contract/transcriber.ts. Lives on the JavaScript thread; each call has its own thread.
class TranscriberObject : public Napi::ObjectWrap<TranscriberObject> {
 public:
  /// Adds `openTranscriber` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  /// Arguments: External<std::shared_ptr<Transcriber>>.
  explicit TranscriberObject(const Napi::CallbackInfo& info);

 private:
  static Napi::Value open(const Napi::CallbackInfo& info);
  /// Shared by a call and by what may stop it.
  using Stop = std::shared_ptr<std::atomic<bool>>;

  Napi::Value transcribe(const Napi::CallbackInfo& info);
  Napi::Value stop(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  std::shared_ptr<Transcriber> transcriber_;  ///< empty once close() was called; running calls hold it too
  Stop stop_;                                 ///< of the last call
};

}  // namespace quern::binding
