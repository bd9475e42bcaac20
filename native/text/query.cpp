#include "query.hpp"

#include <algorithm>

#include "../base/failure.hpp"
#include "options.hpp"
#include "stemmer.hpp"

namespace quern::text {
namespace {

using namespace std::string_view_literals;

/// Ends that the stemmer takes off, as they are written. A beginning may break off inside of one.
constexpr std::string_view kEndings[] = {
    "s"sv,       "es"sv,    "ies"sv,   "ed"sv,     "ied"sv,     "edly"sv,  "ing"sv,     "ings"sv,    "ingly"sv,
    "er"sv,      "ers"sv,   "e"sv,     "y"sv,      "ly"sv,      "al"sv,    "ally"sv,    "ational"sv, "ation"sv,
    "ations"sv,  "ator"sv,  "alism"sv, "ality"sv,  "ance"sv,    "ence"sv,  "able"sv,    "ible"sv,    "ability"sv,
    "ibility"sv, "ably"sv,  "ibly"sv,  "ant"sv,    "ent"sv,     "ement"sv, "ment"sv,    "ments"sv,   "ism"sv,
    "ate"sv,     "ating"sv, "ity"sv,   "ities"sv,  "ous"sv,     "ously"sv, "ousness"sv, "ive"sv,     "iveness"sv,
    "ivity"sv,   "ize"sv,   "izer"sv,  "izing"sv,  "ization"sv, "ion"sv,   "ions"sv,    "ional"sv,   "ful"sv,
    "fulness"sv, "fully"sv, "less"sv,  "lessly"sv, "ness"sv,    "iness"sv, "ily"sv,     "ic"sv,      "ical"sv,
    "icate"sv,   "icity"sv, "ying"sv};
constexpr size_t kLongestEnding = 8;
constexpr size_t kShortestStem = 2;

/// Stems of the words that begin with `beginning` though their stem does not: runn -> run (running).
void add_stems(std::string_view beginning, Language language, std::vector<std::string>& out) {
  if (language != Language::kEnglish) return;
  const auto consider = [&](std::string word) {
    if (!std::string_view(word).starts_with(beginning)) return;
    stem_english(word);
    if (word.starts_with(beginning) || std::find(out.begin(), out.end(), word) != out.end()) return;
    out.push_back(std::move(word));
  };
  consider(std::string(beginning));
  const size_t shortest =
      std::max(kShortestStem, beginning.size() > kLongestEnding ? beginning.size() - kLongestEnding : 0);
  for (size_t size = shortest; size <= beginning.size(); ++size) {
    const std::string stem(beginning.substr(0, size));
    for (const std::string_view ending : kEndings) {
      consider(stem + std::string(ending));
      consider(stem + stem.back() + std::string(ending));
    }
  }
}

class Parser {
 public:
  Parser(bool all_words, bool prefix, Language language)
      : all_words_(all_words), prefix_(prefix), language_(language), analyzer_(language) {}

  std::vector<Clause> parse(std::string_view query) {
    size_t at = 0;
    while (true) {
      while (at < query.size() && space(query[at])) ++at;
      if (at == query.size()) break;
      Occur occur = all_words_ ? Occur::kMust : Occur::kShould;
      const bool sign = (query[at] == '+' || query[at] == '-') && at + 1 < query.size() && !space(query[at + 1]);
      if (sign) occur = query[at++] == '+' ? Occur::kMust : Occur::kNot;
      if (query[at] == '"') {
        const size_t end = std::min(query.find('"', at + 1), query.size());
        phrase(query.substr(at + 1, end - at - 1), occur);
        at = std::min(end + 1, query.size());
        continue;
      }
      size_t end = at;
      while (end < query.size() && !space(query[end]) && query[end] != '"') ++end;
      size_t rest = end;
      while (rest < query.size() && space(query[rest])) ++rest;
      word(query.substr(at, end - at), occur, prefix_ && rest == query.size());
      at = end;
    }
    return std::move(clauses_);
  }

 private:
  struct Piece {
    std::string term, surface;
    uint32_t position;
    bool whole, single;
  };

  static bool space(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }

  std::vector<Piece> pieces(std::string_view text) {
    std::vector<Piece> all;
    analyzer_.analyze(text, true, [&](const Token& token) {
      all.push_back({std::string(token.term), std::string(token.surface), token.position, token.whole, token.single});
    });
    return all;
  }

  void add(Clause clause) {
    total_ += clause.kind == ClauseKind::kPhrase ? clause.terms.size() : 1;
    if (total_ > kMaxQueryTerms)
      throw Failure("too_large", "The query has more than " + std::to_string(kMaxQueryTerms) + " words; shorten it.");
    const auto same = std::find(clauses_.begin(), clauses_.end(), clause);
    if (same != clauses_.end())
      ++same->count;
    else
      clauses_.push_back(std::move(clause));
  }

  void term(const Piece& piece, Occur occur, bool beginning) {
    if (piece.single) return add({ClauseKind::kPrefix, occur, {piece.term}, {}});
    if (!beginning || piece.surface.empty()) return add({ClauseKind::kTerm, occur, {piece.term}, {}});
    Clause clause{ClauseKind::kPrefix, occur, {piece.surface}, {}};
    add_stems(piece.surface, language_, clause.terms);
    add(std::move(clause));
  }

  void sequence(const std::vector<Piece>& all, Occur occur) {
    Clause clause{ClauseKind::kPhrase, occur, {}, {}};
    for (const Piece& piece : all) {
      if (piece.whole) continue;
      clause.terms.push_back(piece.term);
      clause.positions.push_back(piece.position - all.front().position);
    }
    add(std::move(clause));
  }

  void phrase(std::string_view text, Occur occur) {
    const auto all = pieces(text);
    const auto parts = std::count_if(all.begin(), all.end(), [](const Piece& piece) { return !piece.whole; });
    if (parts == 1) return term(all.front(), occur, false);
    if (parts > 1) sequence(all, occur);
  }

  void word(std::string_view text, Occur occur, bool last) {
    const auto all = pieces(text);
    if (all.empty()) return;
    if (occur == Occur::kNot) {
      // What is unwanted is the thing itself, not each part of it.
      const auto whole = std::find_if(all.begin(), all.end(), [](const Piece& piece) { return piece.whole; });
      if (whole != all.end() && std::none_of(whole + 1, all.end(), [](const Piece& piece) { return !piece.whole; }))
        return term(*whole, occur, false);
      return all.size() == 1 ? term(all.front(), occur, false) : sequence(all, occur);
    }
    size_t end = all.size();
    while (end > 0 && all[end - 1].whole) --end;
    for (size_t i = 0; i < all.size(); ++i) {
      // A document with the whole has all parts, so that requiring these is enough; the whole only adds to the score.
      const bool beginning = last && (i + 1 == end || i + 1 == all.size());
      term(all[i], all[i].whole ? Occur::kShould : occur, beginning);
    }
  }

  const bool all_words_;
  const bool prefix_;
  const Language language_;
  Analyzer analyzer_;
  std::vector<Clause> clauses_;
  size_t total_ = 0;
};

}  // namespace

std::vector<Clause> parse_query(std::string_view query, bool all_words, bool prefix, Language language) {
  if (query.size() > kMaxQueryBytes)
    throw Failure("too_large", "The query has " + std::to_string(query.size()) + " bytes; allowed are " +
                                   std::to_string(kMaxQueryBytes) + ".");
  return Parser(all_words, prefix, language).parse(query);
}

}  // namespace quern::text
