#include "analyzer.hpp"

#include <algorithm>

#include "stemmer.hpp"
#include "unicode.hpp"

namespace quern::text {
namespace {

using namespace std::string_view_literals;

/// Words whose stems are kept at hand; most of a text is made of few words.
constexpr size_t kMaxStems = 32768;

bool joins(char32_t code) {
  return code == '_' || code == '-' || code == '.' || code == '\'';
}

bool word_kind(Kind kind) {
  return kind == Kind::kLetter || kind == Kind::kDigit;
}

/// The last character of a UTF-8 text starts here.
size_t last_character(const std::string& text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

std::string_view Analyzer::stem(std::string_view word) {
  stemmed_.assign(word);
  if (language_ == Language::kNone) return stemmed_;
  if (stems_.size() >= kMaxStems) stems_.clear();
  const auto [known, fresh] = stems_.try_emplace(stemmed_);
  if (fresh) {
    stem_english(stemmed_);
    stemmed_.erase(std::remove(stemmed_.begin(), stemmed_.end(), '\''), stemmed_.end());
    known->second = stemmed_;
  }
  return known->second;
}

void Analyzer::cut() {
  if (word_.size() > part_begin_) parts_.push_back({part_begin_, word_.size()});
  part_begin_ = word_.size();
}

void Analyzer::add(char32_t code, bool letter, bool upper) {
  if (word_.size() > part_begin_) {
    if (letter != last_letter_) {
      cut();
      split_ = true;
    } else if (upper && !last_upper_) {
      cut();
      split_ = true;
    } else if (letter && !upper && last_upper_) {
      // HTTPServer: the last capital begins the next word.
      const size_t begin = last_character(word_);
      if (begin > part_begin_) {
        parts_.push_back({part_begin_, begin});
        part_begin_ = begin;
        split_ = true;
      }
    }
  }
  encode(code, word_);
  encode(code, whole_);
  last_letter_ = letter;
  last_upper_ = upper;
}

void Analyzer::flush_word(const Emit& emit) {
  cut();
  const uint32_t first = position_;
  for (const Part& part : parts_) {
    std::string_view text = std::string_view(word_).substr(part.begin, part.end - part.begin);
    while (!text.empty()) {
      size_t size = std::min(text.size(), kMaxTermBytes);
      while (size < text.size() && (static_cast<uint8_t>(text[size]) & 0xc0) == 0x80) --size;
      const std::string_view surface = text.substr(0, size);
      text.remove_prefix(size);
      const std::string_view term = stem(surface);
      if (!term.empty()) emit({.term = term, .position = position_++, .surface = surface});
    }
  }
  if (split_ && position_ > first && whole_.size() <= kMaxTermBytes)
    emit({.term = stem(whole_), .position = first, .whole = true, .surface = whole_});
  word_.clear();
  whole_.clear();
  parts_.clear();
  part_begin_ = 0;
  split_ = last_upper_ = false;
}

void Analyzer::flush_pairs(bool query, const Emit& emit) {
  for (size_t i = 0; i < units_.size(); ++i) {
    const bool last = i + 1 == units_.size();
    if (last && query && i > 0) {
      ++position_;  // in a text the last character has a place of its own
      break;
    }
    const std::string term = last ? units_[i] : units_[i] + units_[i + 1];
    emit({.term = term, .position = position_++, .single = last, .surface = {}});
  }
  units_.clear();
}

void Analyzer::symbol(char32_t code, const Emit& emit) {
  stemmed_.clear();
  encode(code, stemmed_);
  emit({.term = stemmed_, .position = position_++, .surface = stemmed_});
}

bool Analyzer::contraction(std::string_view rest) const {
  if (language_ != Language::kEnglish || !last_letter_) return false;
  for (const auto end : {"s"sv, "t"sv, "re"sv, "ve"sv, "ll"sv, "d"sv, "m"sv})
    if (rest == end) return true;
  return false;
}

uint32_t Analyzer::analyze(std::string_view utf8, bool query, const Emit& emit) {
  position_ = 0;
  FoldingReader reader(utf8);
  // A look-ahead of three: a sign joins only when a word goes on behind it, a contraction only when it ends there.
  Folded window[4];
  int count = 0;
  const auto fill = [&] {
    while (count < 4 && reader.next(window[count])) ++count;
  };
  const auto shift = [&] {
    std::move(window + 1, window + count, window);
    --count;
  };
  for (fill(); count > 0; shift(), fill()) {
    const Folded now = window[0];
    if (now.kind == Kind::kUnspaced || (now.kind == Kind::kMark && !units_.empty())) {
      if (!word_.empty()) flush_word(emit);
      if (now.kind == Kind::kUnspaced) units_.emplace_back();
      if (units_.back().size() < kMaxTermBytes / 2 - 4) encode(now.code, units_.back());
      continue;
    }
    if (!units_.empty()) flush_pairs(query, emit);
    if (word_kind(now.kind) || (now.kind == Kind::kMark && !word_.empty())) {
      if (now.kind == Kind::kMark)
        add(now.code, last_letter_, last_upper_);
      else
        add(now.code, now.kind == Kind::kLetter, now.upper);
      if (parts_.size() >= kMaxParts || word_.size() > kMaxParts * kMaxTermBytes) flush_word(emit);
      continue;
    }
    if (!word_.empty() && joins(now.code)) {
      while (now.code == '_' && count > 1 && window[1].code == '_') shift(), fill();
      const bool goes_on = count > 1 && word_kind(window[1].kind);
      if (goes_on && now.code == '\'') {
        std::string rest;
        int i = 1;
        for (; i < count && i < 3 && word_kind(window[i].kind); ++i) encode(window[i].code, rest);
        if (contraction(rest) && !(i < count && word_kind(window[i].kind))) {
          word_ += '\'';
          whole_ += '\'';
          last_upper_ = false;
          continue;
        }
      }
      if (goes_on) {
        cut();
        split_ = true;
        if (!last_letter_ && window[1].kind == Kind::kDigit) encode(now.code, whole_);
        continue;
      }
    }
    if (!word_.empty()) {
      // c++ and c# are other things than c.
      const bool plus = now.code == '+' && count > 1 && window[1].code == '+';
      const int signs = plus ? 2 : now.code == '#' ? 1 : 0;
      const bool ends = count <= signs || !word_kind(window[signs].kind);
      if (signs > 0 && ends && last_letter_) {
        whole_ += plus ? "++" : "#";
        split_ = true;
      }
      flush_word(emit);
    }
    if (now.kind == Kind::kSymbol) symbol(now.code, emit);
  }
  if (!word_.empty()) flush_word(emit);
  if (!units_.empty()) flush_pairs(query, emit);
  return position_;
}

}  // namespace quern::text
