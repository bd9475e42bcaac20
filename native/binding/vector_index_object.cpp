#include "vector_index_object.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "loop_time.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using vectors::Answer;
using vectors::IndexOptions;
using vectors::SearchOptions;
using vectors::VectorIndex;

constexpr const char* kClass = "VectorIndex";

IndexOptions index_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "options");
  IndexOptions options{.dimensions = whole(from.Get("dimensions"), "dimensions", 1, vectors::kMostDimensions),
                       .metric = vectors::metric_of(text(from.Get("metric"), "metric")),
                       .storage = vectors::storage_of(text(from.Get("storage"), "storage")),
                       .scan_below = 0};
  options.scan_below = whole_or(from, "scanBelow", 0, UINT32_MAX, vectors::default_scan_below(options.dimensions));
  const Napi::Value graph = from.Get("graph");
  if (!graph.IsUndefined()) {
    const Napi::Object settings = object(graph, "graph");
    options.connectivity = whole_or(settings, "connectivity", 4, 128, options.connectivity);
    options.effort_build = whole_or(settings, "effortBuild", 8, 4096, options.effort_build);
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
  wanted.options.k = results_wanted(k, vectors::kMostResults);
  if (value.IsUndefined()) return wanted;
  const Napi::Object from = object(value, "options");
  wanted.options.effort = whole_or(from, "effort", 1, vectors::kMostEffort, wanted.options.effort);
  wanted.options.exact = boolean_or(from, "exact", false);
  if (auto bits = filter_bits(from)) {
    wanted.bits = *std::move(bits);
    wanted.options.filter.all = false;
  }
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

/// Of this JavaScript thread.
thread_local LoopTime loop_time;

}  // namespace

void VectorIndexObject::define(Napi::Env env, Napi::Object exports) {
  using Self = VectorIndexObject;
  define_class<Self>(
      env, kClass,
      members({InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::search>("search"),
               InstanceMethod<&Self::search_many>("searchMany"), InstanceMethod<&Self::stats>("stats")}));
  define_opener(env, exports, "openVectorIndex", kClass);
}

VectorIndexObject::VectorIndexObject(const Napi::CallbackInfo& info)
    : IndexObject(info, "vector", [&] { return std::make_shared<VectorIndex>(index_options(info[0])); }) {}

Napi::Value VectorIndexObject::add(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    return run_task(info.Env(),
                    [index = open_index(), ids = uint32_array(info[0], "ids"),
                     vectors = float32_array(info[1], "vectors", kMostNumbers)] { index->add(ids, vectors); });
  });
}

Napi::Value VectorIndexObject::search(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    const Shared index = open_index();
    std::vector<float> query = float32_array(info[0], "query", kMostNumbers);
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
  return promising(info.Env(), [&]() -> Napi::Value {
    return Task<std::vector<Answer>>::run(
        info.Env(),
        [index = open_index(), queries = float32_array(info[0], "queries", kMostNumbers),
         wanted = wanted(info[1], info[2])]() mutable {
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

}  // namespace quern::binding
