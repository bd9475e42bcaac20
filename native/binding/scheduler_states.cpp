// The methods of NativeScheduler that copy states of sequences and load adapters, both off the JavaScript thread.
#include <fstream>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "inference_arguments.hpp"
#include "scheduler_object.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

const char* outcome_name(StateOutcome outcome) {
  constexpr const char* kNames[] = {"restored", "present", "missing", "stale", "corrupt", "unfit"};
  return kNames[static_cast<size_t>(outcome)];
}

/// What became of a restore.
struct Restored {
  StateOutcome outcome = StateOutcome::missing;
  size_t tokens = 0;
};

/// Has the system read a file, so that whoever reads it next does not wait for the disk.
void fetch_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size()))) {
  }
}

/// NativeAdapterSet of the contract.
AdapterSet adapters_of(const Napi::Value& value) {
  const Napi::Object set = object(value, "adapters");
  return adapters(set.Get("ids"), set.Get("scales"));
}

}  // namespace

Napi::Value SchedulerObject::save_state(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    auto tokens = int32_array(info[0], "tokens");
    const int32_t least = integer(info[1], "least");
    if (least < 1) throw Failure("invalid", "least is " + std::to_string(least) + "; it must be 1 or more.");
    const std::string file = path(info[2], "file");
    const uint64_t tag = unsigned_64(info[3], "tag");
    using Saved = std::shared_ptr<const SequenceState>;
    return Task<Saved>::run(
        info.Env(),
        [scheduler = scheduler_, shelf = shelf_, tokens = std::move(tokens), least, file, tag,
         keep = boolean(info[4], "keep"), set = adapters_of(info[5])]() -> Saved {
          Saved state = scheduler->save_state(tokens, static_cast<size_t>(least), set);
          if (!state) return state;
          write_state(*state, file, tag);
          if (keep) shelf->keep(file, state);
          return state;
        },
        [](Napi::Env env, Saved& state) -> Napi::Value {
          if (!state) return env.Null();
          Napi::Object answer = Napi::Object::New(env);
          answer.Set("tokens", static_cast<double>(state->tokens.size()));
          answer.Set("bytes", static_cast<double>(state->bytes.size()));
          return answer;
        });
  });
}

Napi::Value SchedulerObject::restore_state(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    const std::string file = path(info[0], "file");
    const uint64_t tag = unsigned_64(info[1], "tag");
    return Task<Restored>::run(
        info.Env(),
        [scheduler = scheduler_, shelf = shelf_, file, tag, keep = boolean(info[2], "keep"),
         set = adapters_of(info[3])]() -> Restored {
          auto state = shelf->find(file);
          if (!state) {
            const StateOutcome read = read_state(file, tag, state);
            if (!state) return {read};
          }
          const StateOutcome outcome = scheduler->restore_state(*state, set);
          if (keep) shelf->keep(file, state);
          return {outcome, state->tokens.size()};
        },
        [](Napi::Env env, Restored& restored) -> Napi::Value {
          Napi::Object answer = Napi::Object::New(env);
          answer.Set("outcome", outcome_name(restored.outcome));
          answer.Set("tokens", static_cast<double>(restored.tokens));
          return answer;
        });
  });
}

Napi::Value SchedulerObject::drop_state(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    require_open();
    return Napi::Boolean::New(info.Env(), shelf_->drop(path(info[0], "file")));
  });
}

Napi::Value SchedulerObject::load_adapter(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    return Task<int32_t>::run(
        info.Env(),
        [scheduler = scheduler_, file = path(info[0], "file")] {
          // The scheduler's worker loads it, between two steps of the texts that run.
          fetch_file(file);
          return scheduler->load_adapter(file);
        },
        [](Napi::Env env, const int32_t& id) -> Napi::Value { return Napi::Number::New(env, id); });
  });
}

Napi::Value SchedulerObject::drop_adapter(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    require_open();
    return run_task(info.Env(), [scheduler = scheduler_, id = integer(info[0], "id")] { scheduler->drop_adapter(id); });
  });
}

}  // namespace quern::binding
