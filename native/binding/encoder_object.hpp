#pragma once

#include <napi.h>

#include <deque>
#include <functional>
#include <memory>

#include "../encoder/encoder.hpp"
#include "lifetime.hpp"

namespace quern::binding {

/// NativeEncoder of native/contract/encoder.ts. What runs on the pool shares the encoder.
class EncoderObject : public Napi::ObjectWrap<EncoderObject>, private Living {
 public:
  /// Adds `openEncoder` to the exports.
  static void define(Napi::Env env, Napi::Object exports);
  explicit EncoderObject(const Napi::CallbackInfo& info);
  ~EncoderObject() override;
  EncoderObject(const EncoderObject&) = delete;
  EncoderObject& operator=(const EncoderObject&) = delete;

 private:
  /// A call that waits for its turn.
  struct Waiting;

  Napi::Value run(const Napi::CallbackInfo& info);
  Napi::Value run_now(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  void end() override;
  /// Gives the first of those that wait to the pool.
  void next(Napi::Env env);

  std::shared_ptr<encoder::Encoder> encoder_;  ///< empty once close() was called
  std::weak_ptr<encoder::Encoder> ending_;     ///< what a call may still hold then
  std::deque<Waiting> waiting_;
  bool busy_ = false;
  bool watched_ = false;
};

}  // namespace quern::binding
