#pragma once

#include <napi.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lifetime.hpp"
#include "saving.hpp"

namespace quern::binding {

/**
 * What the objects of both indexes have in common: they are open until close(), and what runs on the pool shares the
 * index, so that close() and collection may come first. An index that has a `stop()` ends its own threads by it.
 */
template <typename Self, typename Index>
class IndexObject : public Napi::ObjectWrap<Self>, private Living {
 public:
  ~IndexObject() override {
    if (watched_) unwatch(this->Env(), this);
  }
  IndexObject(const IndexObject&) = delete;
  IndexObject& operator=(const IndexObject&) = delete;

 protected:
  using Shared = std::shared_ptr<Index>;
  using Member = Napi::ClassPropertyDescriptor<Self>;

  /// `make()` makes the index; `kind` is what it is of, such as "vector".
  template <typename Make>
  IndexObject(const Napi::CallbackInfo& info, const char* kind, Make make) : Napi::ObjectWrap<Self>(info), kind_(kind) {
    raising(info.Env(), [&] { index_ = make(); });
    ending_ = index_;
    if constexpr (kStops) {
      watch(info.Env(), this);
      watched_ = true;
    }
  }

  /// The members of a class with those that stand here.
  static std::vector<Member> members(std::vector<Member> own) {
    using Method = Napi::Value (Self::*)(const Napi::CallbackInfo&);
    for (const auto& [name, method] : std::initializer_list<std::pair<const char*, Method>>{
             {"remove", &Self::remove}, {"save", &Self::save}, {"load", &Self::load}, {"close", &Self::close}})
      own.push_back(Self::InstanceMethod(name, method));
    return own;
  }

  /// Throws Failure('unavailable') when close() was called.
  const Shared& open_index() const {
    if (!index_) throw Failure("unavailable", std::string("This ") + kind_ + " index is closed.");
    return index_;
  }

  Napi::Value remove(const Napi::CallbackInfo& info) {
    return promising(info.Env(), [&]() -> Napi::Value {
      return Task<uint64_t>::run(
          info.Env(), [index = open_index(), ids = uint32_array(info[0], "ids")] { return index->remove(ids); },
          [](Napi::Env env, uint64_t& removed) { return Napi::Number::New(env, static_cast<double>(removed)); });
    });
  }

  Napi::Value save(const Napi::CallbackInfo& info) {
    return promising(info.Env(), [&]() -> Napi::Value { return save_to_file(info, open_index()); });
  }

  Napi::Value load(const Napi::CallbackInfo& info) {
    return promising(info.Env(), [&]() -> Napi::Value { return load_from_file(info, open_index()); });
  }

  /// The last of the calls that still run frees the index, off the JavaScript thread.
  Napi::Value close(const Napi::CallbackInfo& info) {
    return run_task(
        info.Env(),
        [index = std::move(index_)] {
          if constexpr (kStops)
            if (index) index->stop();
        },
        // The object stays for end() until the threads of the index have ended.
        [kept = std::make_shared<Napi::ObjectReference>(Napi::Persistent(this->Value()))] {});
  }

 private:
  static constexpr bool kStops = requires(Index & index) { index.stop(); };

  void end() override {
    watched_ = false;
    if constexpr (kStops)
      if (const Shared ending = ending_.lock()) ending->stop();
  }

  const char* kind_;
  Shared index_;                 ///< empty once close() was called
  std::weak_ptr<Index> ending_;  ///< what a call may still hold then
  bool watched_ = false;
};

/// How many results a search is asked for, its argument `k`.
inline size_t results_wanted(const Napi::Value& value, size_t most) {
  return static_cast<size_t>(whole(value, "k", 1, most));
}

/// The bits of the ids that a search may find, copied from its options; nothing where it may find all.
inline std::optional<std::vector<uint8_t>> filter_bits(const Napi::Object& options) {
  const Napi::Value filter = options.Get("filter");
  if (filter.IsUndefined()) return std::nullopt;
  return uint8_array(filter, "filter");
}

}  // namespace quern::binding
