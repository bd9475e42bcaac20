#include "stemmer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>

namespace quern::text {
namespace {

using namespace std::string_view_literals;

struct Replacement {
  std::string_view from;
  std::string_view to;
};

constexpr Replacement kWholeWords[] = {{"skis", "ski"},      {"skies", "sky"},   {"idly", "idl"},   {"gently", "gentl"},
                                       {"ugly", "ugli"},     {"early", "earli"}, {"only", "onli"},  {"singly", "singl"},
                                       {"sky", "sky"},       {"news", "news"},   {"howe", "howe"},  {"atlas", "atlas"},
                                       {"cosmos", "cosmos"}, {"bias", "bias"},   {"andes", "andes"}};
/// Ends of words that the first step must not reach into.
constexpr std::string_view kKeptBeforeEed[] = {"proc", "exc", "succ"};
constexpr std::string_view kKeptBeforeIng[] = {"inn", "out", "cann", "herr", "earr", "even"};

/// Longest first where one is the end of another.
constexpr Replacement kStep2[] = {
    {"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"}, {"ousness", "ous"},
    {"biliti", "ble"},  {"lessli", "less"}, {"tional", "tion"}, {"alism", "al"},    {"aliti", "al"},
    {"ation", "ate"},   {"entli", "ent"},   {"fulli", "ful"},   {"iviti", "ive"},   {"ousli", "ous"},
    {"abli", "able"},   {"alli", "al"},     {"anci", "ance"},   {"ator", "ate"},    {"enci", "ence"},
    {"izer", "ize"},    {"ogist", "og"},    {"bli", "ble"},     {"ogi", "og"},      {"li", ""}};
constexpr Replacement kStep3[] = {{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"},
                                  {"icate", "ic"},    {"iciti", "ic"},    {"ative", ""},
                                  {"ical", "ic"},     {"ness", ""},       {"ful", ""}};
constexpr std::string_view kStep4[] = {"ement", "able", "ance", "ence", "ible", "ment", "ant", "ate", "ent",
                                       "ion",   "ism",  "iti",  "ive",  "ize",  "ous",  "al",  "er",  "ic"};

bool vowel(char letter) {
  return "aeiouy"sv.find(letter) != std::string_view::npos;
}

/// `Y` stands for a y that is a consonant.
class Word {
 public:
  explicit Word(std::string& text) : text_(text) {}

  void stem() {
    if (text_.size() <= 2) return;
    if (text_.front() == '\'') text_.erase(0, 1);
    mark_consonants();
    find_regions();
    step_0();
    step_1a();
    step_1b();
    step_1c();
    step_2();
    step_3();
    step_4();
    step_5();
    std::replace(text_.begin(), text_.end(), 'Y', 'y');
  }

 private:
  bool ends(std::string_view suffix) const { return std::string_view(text_).ends_with(suffix); }
  bool in_r1(size_t length) const { return text_.size() >= r1_ + length; }
  bool in_r2(size_t length) const { return text_.size() >= r2_ + length; }
  void cut(size_t length) { text_.resize(text_.size() - length); }
  /// Whether a vowel lies among the first letters.
  bool has_vowel(size_t end) const { return std::any_of(text_.begin(), text_.begin() + end, vowel); }

  void mark_consonants() {
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == 'y' && (i == 0 || vowel(text_[i - 1]))) text_[i] = 'Y';
  }

  size_t region(size_t from) const {
    for (size_t i = from + 1; i < text_.size(); ++i)
      if (!vowel(text_[i]) && vowel(text_[i - 1])) return i + 1;
    return text_.size();
  }

  void find_regions() {
    r1_ = region(0);
    for (const std::string_view prefix :
         {"gener"sv, "inter"sv, "commun"sv, "arsen"sv, "past"sv, "univers"sv, "later"sv, "emerg"sv, "organ"sv})
      if (std::string_view(text_).starts_with(prefix)) r1_ = prefix.size();
    r2_ = r1_ >= text_.size() ? text_.size() : region(r1_);
  }

  /// Whether the first `size` letters end in a short syllable.
  bool short_syllable(size_t size) const {
    if (size == 2) return vowel(text_[0]) && !vowel(text_[1]);
    if (size < 3) return false;
    if (size == 4 && text_.compare(0, 4, "past") == 0) return true;
    const char last = text_[size - 1];
    return !vowel(last) && last != 'w' && last != 'x' && last != 'Y' && vowel(text_[size - 2]) &&
           !vowel(text_[size - 3]);
  }
  bool short_word() const { return r1_ >= text_.size() && short_syllable(text_.size()); }

  void step_0() {
    for (const auto suffix : {"'s'"sv, "'s"sv, "'"sv})
      if (ends(suffix)) return cut(suffix.size());
  }

  void step_1a() {
    if (ends("sses")) return cut(2);
    if (ends("ied") || ends("ies")) return cut(text_.size() > 4 ? 2 : 1);
    if (ends("us") || ends("ss") || !ends("s")) return;
    // The vowel must not be the letter right before the s.
    if (text_.size() > 2 && has_vowel(text_.size() - 2)) cut(1);
  }

  void step_1b() {
    for (const auto suffix : {"eedly"sv, "eed"sv}) {
      if (!ends(suffix)) continue;
      const std::string_view before = std::string_view(text_).substr(0, text_.size() - suffix.size());
      const bool kept =
          std::find(std::begin(kKeptBeforeEed), std::end(kKeptBeforeEed), before) != std::end(kKeptBeforeEed);
      if (in_r1(suffix.size()) && !kept) cut(suffix.size() - 2);
      return;
    }
    for (const auto suffix : {"ingly"sv, "edly"sv, "ing"sv, "ed"sv}) {
      if (!ends(suffix)) continue;
      const size_t rest = text_.size() - suffix.size();
      if (suffix == "ing") {
        // dying, lying, tying are of die, lie, tie; inning and outing are no forms of verbs.
        if (rest == 2 && text_[1] == 'y' && !vowel(text_[0])) {
          text_.replace(1, std::string::npos, "ie");
          return;
        }
        const std::string_view before = std::string_view(text_).substr(0, rest);
        if (std::find(std::begin(kKeptBeforeIng), std::end(kKeptBeforeIng), before) != std::end(kKeptBeforeIng)) return;
      }
      if (!has_vowel(rest)) return;
      cut(suffix.size());
      return mend();
    }
  }

  /// Gives back what -ed or -ing had taken or doubled.
  void mend() {
    if (ends("at") || ends("bl") || ends("iz")) {
      text_ += 'e';
      return;
    }
    const size_t size = text_.size();
    const bool doubled =
        size >= 2 && text_[size - 1] == text_[size - 2] && "bdfgmnprt"sv.find(text_.back()) != std::string_view::npos;
    if (doubled) {
      // add, egg, off, odd, err keep both.
      if (!(size == 3 && "aeo"sv.find(text_[0]) != std::string_view::npos)) cut(1);
      return;
    }
    if (short_word()) text_ += 'e';
  }

  void step_1c() {
    const size_t size = text_.size();
    if (size > 2 && (text_.back() == 'y' || text_.back() == 'Y') && !vowel(text_[size - 2])) text_.back() = 'i';
  }

  void step_2() {
    for (const auto& [from, to] : kStep2) {
      if (!ends(from)) continue;
      if (!in_r1(from.size())) return;
      const char before = text_.size() > from.size() ? text_[text_.size() - from.size() - 1] : '\0';
      if (from == "ogi" && before != 'l') return;
      if (from == "li" && "cdeghkmnrt"sv.find(before) == std::string_view::npos) return;
      text_.replace(text_.size() - from.size(), from.size(), to);
      return;
    }
  }

  void step_3() {
    for (const auto& [from, to] : kStep3) {
      if (!ends(from)) continue;
      if (!in_r1(from.size()) || (from == "ative" && !in_r2(from.size()))) return;
      text_.replace(text_.size() - from.size(), from.size(), to);
      return;
    }
  }

  void step_4() {
    for (const std::string_view suffix : kStep4) {
      if (!ends(suffix)) continue;
      if (!in_r2(suffix.size())) return;
      if (suffix == "ion") {
        const char before = text_[text_.size() - 4];
        if (before != 's' && before != 't') return;
      }
      return cut(suffix.size());
    }
  }

  void step_5() {
    const size_t size = text_.size();
    if (ends("e") && (in_r2(1) || (in_r1(1) && !short_syllable(size - 1)))) return cut(1);
    if (ends("ll") && in_r2(1)) cut(1);
  }

  std::string& text_;
  size_t r1_ = 0;
  size_t r2_ = 0;
};

}  // namespace

void stem_english(std::string& word) {
  if (word.size() <= 2) return;
  if (!std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '\''; })) return;
  for (const auto& [from, to] : kWholeWords) {
    if (word != from) continue;
    word = to;
    return;
  }
  Word(word).stem();
}

}  // namespace quern::text
