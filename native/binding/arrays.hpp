#pragma once

#include <napi.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace quern::binding {

/// A typed array with the items; a large one takes the vector over, so that the JavaScript thread copies nothing.
template <typename Array, typename Item>
Array to_array(Napi::Env env, std::vector<Item>&& items) {
  constexpr size_t kMostCopied = 4096;
  if (items.size() <= kMostCopied) {
    Array array = Array::New(env, items.size());
    if (!items.empty()) std::memcpy(array.Data(), items.data(), items.size() * sizeof(Item));
    return array;
  }
  auto kept = std::make_unique<std::vector<Item>>(std::move(items));
  const size_t count = kept->size();
  const auto buffer = Napi::ArrayBuffer::New(
      env, kept->data(), count * sizeof(Item), [](Napi::Env, void*, std::vector<Item>* owned) { delete owned; },
      kept.get());
  kept.release();
  return Array::New(env, count, buffer, 0);
}

}  // namespace quern::binding
