#pragma once

#include <napi.h>

#include <memory>
#include <utility>

#include "../storage/checked_file.hpp"
#include "arguments.hpp"
#include "task.hpp"

namespace quern::binding {

/// `save(path, generation)` of the contract, on the thread pool.
template <typename Saved>
Napi::Promise save_to_file(const Napi::CallbackInfo& info, std::shared_ptr<Saved> saved) {
  return run_task(info.Env(), [saved = std::move(saved), to = path(info[0], "path"),
                               generation = unsigned_64(info[1], "generation")] { saved->save(to, generation); });
}

/// `load(path, generation)` of an index, on the thread pool, with its IndexLoad of the contract.
template <typename Index>
Napi::Promise load_from_file(const Napi::CallbackInfo& info, std::shared_ptr<Index> index) {
  return Task<LoadOutcome>::run(
      info.Env(),
      [index = std::move(index), from = path(info[0], "path"), generation = unsigned_64(info[1], "generation")] {
        return index->load(from, generation);
      },
      [](Napi::Env env, LoadOutcome& outcome) -> Napi::Value {
        constexpr const char* kNames[] = {"loaded", "missing", "stale", "corrupt"};
        Napi::Object object = Napi::Object::New(env);
        object.Set("state", kNames[static_cast<size_t>(outcome.state)]);
        object.Set("reason", outcome.reason);
        return object;
      });
}

}  // namespace quern::binding
