#include "text_index_object.hpp"

#include <string>
#include <utility>
#include <vector>

#include "../text/query.hpp"
#include "arguments.hpp"
#include "objects.hpp"
#include "task.hpp"

namespace quern::binding {
namespace {

using text::Clause;
using text::Document;
using text::Hits;
using text::IndexOptions;
using text::SearchOptions;
using text::TextIndex;

constexpr const char* kClass = "TextIndex";

IndexOptions index_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "options");
  const std::string language = text(from.Get("language"), "language");
  if (language != "english" && language != "none")
    throw Failure("invalid", "language is '" + language + "'; allowed are english and none.");
  IndexOptions options;
  options.language = language == "english" ? text::Language::kEnglish : text::Language::kNone;
  if (const Napi::Value k1 = from.Get("k1"); !k1.IsUndefined()) options.k1 = number(k1, "k1");
  if (const Napi::Value b = from.Get("b"); !b.IsUndefined()) options.b = number(b, "b");
  return options;
}

SearchOptions search_options(const Napi::Value& value) {
  SearchOptions options;
  if (value.IsUndefined()) return options;
  const Napi::Object from = object(value, "options");
  if (const Napi::Value word = from.Get("operator"); !word.IsUndefined()) {
    const std::string name = text(word, "operator");
    if (name != "or" && name != "and") throw Failure("invalid", "operator is '" + name + "'; allowed are or and and.");
    options.all_words = name == "and";
  }
  options.prefix = boolean_or(from, "prefix", false);
  if (auto bits = filter_bits(from)) {
    options.filter = *std::move(bits);
    options.filtered = true;
  }
  return options;
}

/// The texts of one call as UTF-8, one behind another.
struct Texts {
  std::string bytes;
  std::vector<size_t> ends;
};

Texts texts_of(const Napi::Value& value) {
  if (!value.IsArray()) throw Failure("invalid", "texts must be an array of strings.");
  const Napi::Array array = value.As<Napi::Array>();
  const Napi::Env env = array.Env();
  const uint32_t count = array.Length();
  if (count > text::kMaxBatch)
    throw Failure("too_large", "texts has " + std::to_string(count) + " items; allowed are " +
                                   std::to_string(text::kMaxBatch) + ". Add them in several calls.");
  Texts texts;
  for (uint32_t i = 0; i < count; ++i) {
    const Napi::HandleScope scope(env);
    const Napi::Value item = array.Get(i);
    if (!item.IsString()) throw Failure("invalid", "texts[" + std::to_string(i) + "] must be a string.");
    size_t size = 0;
    napi_get_value_string_utf8(env, item, nullptr, 0, &size);
    const size_t begin = texts.bytes.size();
    if (size > text::kMaxTextBytes || begin + size > text::kMaxBatchBytes)
      throw Failure("too_large", "texts[" + std::to_string(i) + "] has " + std::to_string(size) +
                                     " bytes; allowed are " + std::to_string(text::kMaxTextBytes) + " each and " +
                                     std::to_string(text::kMaxBatchBytes) +
                                     " together. Split it, or use several calls.");
    // The engine writes a NUL behind the text.
    texts.bytes.resize(begin + size + 1);
    napi_get_value_string_utf8(env, item, texts.bytes.data() + begin, size + 1, &size);
    texts.bytes.resize(begin + size);
    texts.ends.push_back(begin + size);
  }
  return texts;
}

void add_all(TextIndex& index, const std::vector<uint32_t>& ids, const Texts& texts) {
  std::vector<Document> documents;
  size_t begin = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    documents.push_back({ids[i], std::string_view(texts.bytes).substr(begin, texts.ends[i] - begin)});
    begin = texts.ends[i];
  }
  index.add(documents);
}

Napi::Value hits_object(Napi::Env env, const Hits& hits) {
  Napi::Object object = Napi::Object::New(env);
  Napi::Uint32Array ids = Napi::Uint32Array::New(env, hits.ids.size());
  Napi::Float32Array scores = Napi::Float32Array::New(env, hits.ids.size());
  for (size_t i = 0; i < hits.ids.size(); ++i) {
    ids[i] = hits.ids[i];
    scores[i] = hits.scores[i];
  }
  object.Set("ids", ids);
  object.Set("scores", scores);
  object.Set("matched", static_cast<double>(hits.matched));
  return object;
}

Napi::Value clause_object(Napi::Env env, const Clause& clause) {
  constexpr const char* kKinds[] = {"term", "prefix", "phrase"};
  constexpr const char* kOccurs[] = {"should", "must", "not"};
  Napi::Object object = Napi::Object::New(env);
  object.Set("kind", kKinds[static_cast<size_t>(clause.kind)]);
  object.Set("occur", kOccurs[static_cast<size_t>(clause.occur)]);
  Napi::Array terms = Napi::Array::New(env, clause.terms.size());
  for (uint32_t i = 0; i < clause.terms.size(); ++i) terms.Set(i, clause.terms[i]);
  object.Set("terms", terms);
  object.Set("count", clause.count);
  return object;
}

}  // namespace

void TextIndexObject::define(Napi::Env env, Napi::Object exports) {
  using Self = TextIndexObject;
  define_class<Self>(env, kClass,
                     members({InstanceMethod<&Self::add>("add"), InstanceMethod<&Self::search>("search"),
                              InstanceMethod<&Self::terms>("terms"), InstanceMethod<&Self::stats>("stats")}));
  define_opener(env, exports, "openTextIndex", kClass);
}

TextIndexObject::TextIndexObject(const Napi::CallbackInfo& info)
    : IndexObject(info, "text", [&] { return std::make_shared<TextIndex>(index_options(info[0])); }) {}

Napi::Value TextIndexObject::add(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    const Shared index = open_index();
    auto ids = uint32_array(info[0], "ids");
    auto texts = texts_of(info[1]);
    if (ids.size() != texts.ends.size())
      throw Failure("invalid", "ids has " + std::to_string(ids.size()) + " items and texts " +
                                   std::to_string(texts.ends.size()) + ".");
    return run_task(info.Env(),
                    [index, ids = std::move(ids), texts = std::move(texts)] { add_all(*index, ids, texts); });
  });
}

Napi::Value TextIndexObject::search(const Napi::CallbackInfo& info) {
  return promising(info.Env(), [&]() -> Napi::Value {
    const Shared index = open_index();
    auto query = text(info[0], "query");
    const auto k = static_cast<uint32_t>(results_wanted(info[1], text::kMaxHits));
    SearchOptions options = search_options(info[2]);
    options.k = k;
    return Task<Hits>::run(
        info.Env(),
        [index, query = std::move(query), options = std::move(options)] { return index->search(query, options); },
        [](Napi::Env env, Hits& hits) { return hits_object(env, hits); });
  });
}

Napi::Value TextIndexObject::terms(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const IndexOptions& index = open_index()->options();
    const SearchOptions options = search_options(info[1]);
    const auto clauses = parse_query(text(info[0], "query"), options.all_words, options.prefix, index.language);
    Napi::Array array = Napi::Array::New(info.Env(), clauses.size());
    for (uint32_t i = 0; i < clauses.size(); ++i) array.Set(i, clause_object(info.Env(), clauses[i]));
    return array;
  });
}

Napi::Value TextIndexObject::stats(const Napi::CallbackInfo& info) {
  return raising(info.Env(), [&]() -> Napi::Value {
    const text::IndexStats stats = open_index()->stats();
    Napi::Object object = Napi::Object::New(info.Env());
    const auto set = [&object](const char* name, uint64_t value) { object.Set(name, static_cast<double>(value)); };
    set("documents", stats.documents);
    set("words", stats.words);
    set("terms", stats.terms);
    set("segments", stats.segments);
    set("deleted", stats.dead);
    set("bytes", stats.bytes);
    return object;
  });
}

}  // namespace quern::binding
