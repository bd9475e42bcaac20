#include "unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "generated/unicode_tables.hpp"

namespace quern::text {
namespace {

constexpr char32_t kLastCode = 0x10ffff;
constexpr size_t kPlane = 0x20000;  ///< code points with a direct table; the few above are searched
constexpr char32_t kBroken = 0xfffd;

const tables::ClassRange* find_class(char32_t code) {
  const auto* range = std::lower_bound(std::begin(tables::kClasses), std::end(tables::kClasses), code,
                                       [](const auto& entry, char32_t wanted) { return entry.last < wanted; });
  return range != std::end(tables::kClasses) && range->first <= code ? range : nullptr;
}

/// Never freed: a thread may still read it while the process ends.
const uint8_t* direct_classes() {
  auto* direct = new uint8_t[kPlane]();
  for (const auto& range : tables::kClasses)
    for (uint32_t code = range.first; code <= range.last && code < kPlane; ++code) direct[code] = range.kind;
  return direct;
}

const tables::Spelling* find_spelling(char32_t code) {
  const auto* found = std::lower_bound(std::begin(tables::kSpellings), std::end(tables::kSpellings), code,
                                       [](const auto& entry, char32_t wanted) { return entry.code < wanted; });
  return found != std::end(tables::kSpellings) && found->code == code ? found : nullptr;
}

char32_t fold_one(char32_t code) {
  // Runs with a step interleave with others by at most a few entries.
  const auto* end = std::upper_bound(std::begin(tables::kFolds), std::end(tables::kFolds), code,
                                     [](char32_t wanted, const auto& entry) { return wanted < entry.first; });
  for (int back = 0; back < 4 && end != std::begin(tables::kFolds); ++back) {
    --end;
    if (code <= end->last && (code - end->first) % end->step == 0) return code + end->distance;
  }
  return code;
}

/// Hangul is composed by arithmetic (The Unicode Standard, 3.12), kana by a table; 0 = these two stay apart.
char32_t compose(char32_t first, char32_t second) {
  if (second < 0x1161 || second > 0x309a) return 0;
  if (second < 0x1176 && first >= 0x1100 && first < 0x1113)
    return 0xac00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28;
  if (second > 0x11a7 && second < 0x11c3 && first >= 0xac00 && first < 0xd7a4 && (first - 0xac00) % 28 == 0)
    return first + (second - 0x11a7);
  if (second < 0x3099) return 0;
  for (const auto& entry : tables::kVoiced)
    if (entry.kana == first && entry.mark == second) return entry.whole;
  return 0;
}

}  // namespace

Kind kind_of(char32_t code) {
  static const uint8_t* const direct = direct_classes();
  if (code < kPlane) return static_cast<Kind>(direct[code]);
  const auto* range = find_class(code);
  return range == nullptr ? Kind::kOther : static_cast<Kind>(range->kind);
}

char32_t decode(std::string_view utf8, size_t& at) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(utf8[index]); };
  const uint8_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4) return kBroken;
  char32_t code = lead & (0x3f >> more);
  for (int i = 0; i < more; ++i) {
    if (at >= utf8.size() || (byte(at) & 0xc0) != 0x80) return kBroken;
    code = code << 6 | (byte(at++) & 0x3f);
  }
  constexpr std::array<char32_t, 4> kLeast = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[more] || code > kLastCode || surrogate ? kBroken : code;
}

void encode(char32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    }
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  out += static_cast<char>(0x80 | (code & 0x3f));
}

bool FoldingReader::raw(Folded& folded) {
  while (true) {
    if (pending_count_ > 0) {
      --pending_count_;
      folded = {*pending_, kind_of(*pending_), pending_upper_};
      ++pending_;
      return true;
    }
    if (at_ >= text_.size()) return false;
    const auto first = static_cast<uint8_t>(text_[at_]);
    if (first < 0x80) {
      ++at_;
      const bool upper = first >= 'A' && first <= 'Z';
      folded = {static_cast<char32_t>(upper ? first + 32 : first), kind_of(first), upper};
      return true;
    }
    const char32_t code = decode(text_, at_);
    if (kind_of(code) == Kind::kIgnored) continue;
    if (const auto* spelling = find_spelling(code)) {
      pending_ = tables::kPool + spelling->offset;
      pending_count_ = spelling->count;
      pending_upper_ = false;
      continue;
    }
    const char32_t one = fold_one(code);
    const Kind kind = kind_of(one);
    // A capital is what folding turns into another letter further up, as all bicameral scripts lie in Unicode.
    folded = {one, kind,
              kind == Kind::kLetter && one != code && kind_of(code) == Kind::kLetter &&
                  (one == code + 32 || (code >= 0xc0 && code < 0xdf))};
    return true;
  }
}

bool FoldingReader::next(Folded& folded) {
  if (has_ahead_) {
    folded = ahead_;
    has_ahead_ = false;
  } else if (!raw(folded)) {
    return false;
  }
  if (folded.code < 0x1100) return true;
  while (raw(ahead_)) {
    const char32_t whole = compose(folded.code, ahead_.code);
    if (whole == 0) {
      has_ahead_ = true;
      break;
    }
    folded = {whole, kind_of(whole), false};
  }
  return true;
}

}  // namespace quern::text
