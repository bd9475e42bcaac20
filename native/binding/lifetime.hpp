#pragma once

#include <napi.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace quern::binding {

/// Something with a thread at work, which must end before the libraries that it runs in are torn down. Threads that
/// only wait for a job (`run_behind`) stay: the addon is linked so that it is never unloaded.
class Living {
 public:
  virtual ~Living() = default;
  /// Ends the thread. Called on the JavaScript thread; no call into JavaScript is possible any more.
  virtual void end() = 0;
};

/// State of one environment (main thread or worker thread): the class of its failures, its classes by name, and what
/// must end with it.
struct AddonState {
  Napi::FunctionReference failure;  ///< empty until `install` was called
  std::unordered_map<std::string, Napi::FunctionReference> classes;
  std::unordered_set<Living*> living;

  static AddonState& of(Napi::Env env) { return *env.GetInstanceData<AddonState>(); }
};

/**
 * Makes sure that `living` ends with its environment. Call it after its thread-safe function was made, because hooks
 * run backwards. Two ways are needed: process.exit() runs the listeners of `exit` but no hook, worker threads the hooks
 * only.
 */
void watch(Napi::Env env, Living* living);
/// Ended by itself.
void unwatch(Napi::Env env, Living* living);
/// Registers the listener; once per environment.
void watch_exit(Napi::Env env);

}  // namespace quern::binding
