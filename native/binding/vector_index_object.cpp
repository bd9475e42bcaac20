#include "vector_index_object.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "load_answer.hpp"
#include "loop_time.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using vectors::Answer;
using vectors::IndexOptions;
using vectors::SearchOptions;
using vectors::VectorIndex;

constexpr const char* kClass = "VectorIndex";

/// Numbers copied from one call, on the JavaScript thread: 1 MiB takes about 0.1 ms.
constexpr size_t kMostNumbers = size_t{1} << 18;

size_t count_in(const Napi::Value& value, const std::string& name, size_t least, size_t most) {
  const double given = number(value, name);
  if (given != std::floor(given) || given < static_cast<double>(least) || given > static_cast<double>(most))
    throw Failure("invalid",
                  name + " must be an integer from " + std::to_string(least) + " to " + std::to_string(most) + ".");
  return static_cast<size_t>(given);
}

/// The field of an options object, or what stands for a missing one.
size_t count_or(const Napi::Object& from, const char* name, size_t least, size_t most, size_t missing) {
  const Napi::Value value = from.Get(name);
  return value.IsUndefined() ? missing : count_in(value, name, least, most);
}

std::vector<float> numbers(const Napi::Value& value, const std::string& name) {
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().ElementLength() > kMostNumbers)
    throw Failure("too_large",
                  name + " has more than " + std::to_string(kMostNumbers) + " numbers; use several calls.");
  return float32_array(value, name);
}

IndexOptions index_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "options");
  IndexOptions options{.dimensions = count_in(from.Get("dimensions"), "dimensions", 1, vectors::kMostDimensions),
                       .metric = vectors::metric_of(text(from.Get("metric"), "metric")),
                       .storage = vectors::storage_of(text(from.Get("storage"), "storage")),
                       .scan_below = 0};
  options.scan_below = count_or(from, "scanBelow", 0, UINT32_MAX, vectors::default_scan_below(options.dimensions));
  const Napi::Value graph = from.Get("graph");
  if (!graph.IsUndefined()) {
    const Napi::Object settings = object(graph, "graph");
    options.connectivity = count_or(settings, "connectivity", 4, 128, options.connectivity);
    options.effort_build = count_or(settings, "effortBuild", 8, 4096, options.effort_build);
  }
  return options;
}

/// A search with the bits of its filter.
struct Wanted {
  SearchOptions options;
  std::vector<uint8_t> bits;
};

Wanted wanted(const Napi::Value& k, const Napi::Value& value) {
  Wanted wanted;
  wanted.options.k = count_in(k, "k", 1, vectors::kMostResults);
  if (value.IsUndefined()) return wanted;
  const Napi::Object from = object(value, "options");
  wanted.options.effort = count_or(from, "effort", 1, vectors::kMostEffort, wanted.options.effort);
  const Napi::Value exact = from.Get("exact");
  if (!exact.IsUndefined()) wanted.options.exact = boolean(exact, "exact");
  const Napi::Value filter = from.Get("filter");
  if (filter.IsUndefined()) return wanted;
  wanted.bits = uint8_array(filter, "filter");
  wanted.options.filter.all = false;
  return wanted;
}

template <typename Array, typename Item>
Array filled(Napi::Env env, const std::vector<vectors::Hit>& hits, Item vectors::Hit::*field) {
  Array array = Array::New(env, hits.size());
  for (size_t i = 0; i < hits.size(); ++i) array[i] = hits[i].*field;
  return array;
}

Napi::Value answer_object(Napi::Env env, const Answer& answer) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("ids", filled<Napi::Uint32Array>(env, answer.hits, &vectors::Hit::id));
  object.Set("scores", filled<Napi::Float32Array>(env, answer.hits, &vectors::Hit::score));
  object.Set("plan", answer.plan == vectors::Plan::kGraph ? "graph" : "scan");
  object.Set("scanned", static_cast<double>(answer.scanned));
  return object;
}

Napi::Promise resolved(Napi::Env env, const Napi::Value& value) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  deferred.Resolve(value);
  return deferred.Promise();
}

/// Of this JavaScript thread.
thread_local LoopTime loop_time;

}  // namespace

void VectorIndexObject::define(Napi::Env env, Napi::Object exports) {
  using Self = VectorIndexObject;
  AddonState::of(env).classes[kClass] = Napi::Persistent(
      DefineClass(env, kClass,
                  {InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::remove>("remove"),
                   InstanceMethod<&Self::search>("search"), InstanceMethod<&Self::search_many>("searchMany"),
                   InstanceMethod<&Self::save>("save"), InstanceMethod<&Self::load>("load"),
                   InstanceMethod<&Self::stats>("stats"), InstanceMethod<&Self::close>("close")}));
  exports.Set("openVectorIndex", Napi::Function::New(
                                     env,
                                     [](const Napi::CallbackInfo& info) -> Napi::Value {
                                       return AddonState::of(info.Env()).classes[kClass].New({info[0]});
                                     },
                                     "openVectorIndex"));
}

VectorIndexObject::VectorIndexObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
  raising(info.Env(), [&] { index_ = std::make_shared<VectorIndex>(index_options(info[0])); });
  watch(info.Env(), this);
  watched_ = true;
}

VectorIndexObject::~VectorIndexObject() {
  if (watched_) unwatch(Env(), this);
}

void VectorIndexObject::end() {
  watched_ = false;
  if (index_) index_->stop();
  if (ending_) ending_->stop();
}

const VectorIndexObject::Index& VectorIndexObject::open_index() const {
  if (!index_) throw Failure("unavailable", "This vector index is closed.");
  return index_;
}

Napi::Value VectorIndexObject::add(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Task<bool>::run(
        info.Env(),
        [index = open_index(), ids = uint32_array(info[0], "ids"), vectors = numbers(info[1], "vectors")] {
          index->add(ids, vectors);
          return true;
        },
        [](Napi::Env env, bool&) { return env.Undefined(); });
  });
}

Napi::Value VectorIndexObject::remove(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Task<size_t>::run(
        info.Env(), [index = open_index(), ids = uint32_array(info[0], "ids")] { return index->remove(ids); },
        [](Napi::Env env, size_t& removed) { return Napi::Number::New(env, static_cast<double>(removed)); });
  });
}

Napi::Value VectorIndexObject::search(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const Index index = open_index();
    std::vector<float> query = numbers(info[0], "query");
    Wanted asked = wanted(info[1], info[2]);
    if (const auto now = loop_time.left()) {
      asked.options.filter.bits = asked.bits;
      if (std::optional<Answer> answer = index->search_now(query, asked.options)) {
        loop_time.spend(*now);
        return resolved(info.Env(), answer_object(info.Env(), *answer));
      }
    }
    loop_time.wait();
    return Task<Answer>::run(
        info.Env(),
        [index, query = std::move(query), asked = std::move(asked)]() mutable {
          asked.options.filter.bits = asked.bits;
          return index->search(query, asked.options);
        },
        [](Napi::Env env, Answer& answer) { return answer_object(env, answer); }, [] { loop_time.turn(); });
  });
}

Napi::Value VectorIndexObject::search_many(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Task<std::vector<Answer>>::run(
        info.Env(),
        [index = open_index(), queries = numbers(info[0], "queries"), wanted = wanted(info[1], info[2])]() mutable {
          const size_t dimensions = index->options().dimensions;
          if (queries.size() % dimensions != 0)
            throw Failure("invalid", "queries holds " + std::to_string(queries.size()) +
                                         " numbers, no multiple of the " + std::to_string(dimensions) + " dimensions.");
          wanted.options.filter.bits = wanted.bits;
          std::vector<Answer> answers;
          for (size_t at = 0; at < queries.size(); at += dimensions)
            answers.push_back(index->search(std::span(queries).subspan(at, dimensions), wanted.options));
          return answers;
        },
        [](Napi::Env env, std::vector<Answer>& answers) -> Napi::Value {
          Napi::Array array = Napi::Array::New(env, answers.size());
          for (uint32_t i = 0; i < answers.size(); ++i) array.Set(i, answer_object(env, answers[i]));
          return array;
        });
  });
}

Napi::Value VectorIndexObject::save(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Task<bool>::run(
        info.Env(),
        [index = open_index(), to = path(info[0], "path"), generation = unsigned_64(info[1], "generation")] {
          index->save(to, generation);
          return true;
        },
        [](Napi::Env env, bool&) { return env.Undefined(); });
  });
}

Napi::Value VectorIndexObject::load(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    return Task<LoadOutcome>::run(
        info.Env(),
        [index = open_index(), from = path(info[0], "path"), generation = unsigned_64(info[1], "generation")] {
          return index->load(from, generation);
        },
        [](Napi::Env env, LoadOutcome& outcome) { return load_answer(env, outcome); });
  });
}

Napi::Value VectorIndexObject::stats(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const vectors::Stats stats = open_index()->stats();
    Napi::Object object = Napi::Object::New(info.Env());
    object.Set("rows", static_cast<double>(stats.rows));
    object.Set("deleted", static_cast<double>(stats.dead));
    object.Set("graphRows", static_cast<double>(stats.graph_rows));
    object.Set("bytes", static_cast<double>(stats.bytes));
    return object;
  });
}

Napi::Value VectorIndexObject::close(const Napi::CallbackInfo& info) {
  if (index_) ending_ = std::move(index_);
  return Task<bool>::run(
      info.Env(),
      [index = ending_] {
        if (index) index->stop();
        return true;
      },
      // The calls that still run share the index; with the last of them the memory goes.
      [keep = std::make_shared<Napi::ObjectReference>(Napi::Persistent(Value())), this](Napi::Env env, bool&) {
        ending_.reset();
        return env.Undefined();
      });
}

}  // namespace quern::binding
