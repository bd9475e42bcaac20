// Indexes arbitrary bytes as a text, and asks for them as a query.
// words.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../base/failure.hpp"
#include "../text/index.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern;
  const std::string_view given(reinterpret_cast<const char*>(bytes), size);
  text::TextIndex index({});
  const text::Document document{1, given};
  index.add({&document, 1});
  try {
    text::SearchOptions options;
    options.prefix = size % 2 == 0;
    index.search(given, options);
  } catch (const Failure&) {
  }
  return 0;
}
