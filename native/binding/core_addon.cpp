#include <napi.h>

#include "lifetime.hpp"
#include "text_index_object.hpp"
#include "vector_index_object.hpp"

namespace quern::binding {
namespace {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new AddonState());
  watch_exit(env);
  TextIndexObject::define(env, exports);
  VectorIndexObject::define(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(quern_core, init)

}  // namespace quern::binding
