#include "lifetime.hpp"

namespace quern::binding {
namespace {

void end(void* living) {
  static_cast<Living*>(living)->end();
}

}  // namespace

void watch(Napi::Env env, Living* living) {
  napi_add_env_cleanup_hook(env, end, living);
  AddonState::of(env).living.insert(living);
}

void unwatch(Napi::Env env, Living* living) {
  napi_remove_env_cleanup_hook(env, end, living);
  AddonState::of(env).living.erase(living);
}

void watch_exit(Napi::Env env) {
  const auto listener = Napi::Function::New(
      env,
      [](const Napi::CallbackInfo& info) {
        for (Living* living : AddonState::of(info.Env()).living) living->end();
      },
      "endQuern");
  const Napi::Object process = env.Global().Get("process").As<Napi::Object>();
  process.Get("on").As<Napi::Function>().Call(process, {Napi::String::New(env, "exit"), listener});
}

}  // namespace quern::binding
