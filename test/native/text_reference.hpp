#pragma once

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "text/analyzer.hpp"
#include "text/index.hpp"
#include "text/query.hpp"

namespace quern::text {

/// What a search must find, worked out from every document, as slowly and plainly as possible.
class Reference {
 public:
  explicit Reference(const IndexOptions& options) : options_(options), analyzer_(options.language) {}

  void add(uint32_t id, const std::string& text) {
    Entry& entry = entries_[id] = {};
    entry.length = analyzer_.analyze(
        text, false, [&](const Token& token) { entry.positions[std::string(token.term)].insert(token.position); });
  }
  bool remove(uint32_t id) { return entries_.erase(id) > 0; }
  size_t size() const { return entries_.size(); }

  std::vector<std::pair<uint32_t, double>> search(const std::string& query, const SearchOptions& options) const {
    const auto clauses = parse_query(query, options.all_words, options.prefix, options_.language);
    double words = 0;
    for (const auto& [id, entry] : entries_) words += entry.length;
    const double mean = words == 0 ? 1 : words / entries_.size();
    std::vector<std::pair<uint32_t, double>> found;
    std::vector<double> weights;
    for (const Clause& clause : clauses) weights.push_back(weight(clause) * clause.count);
    for (const auto& [id, entry] : entries_) {
      if (options.filtered && (id / 8 >= options.filter.size() || (options.filter[id / 8] >> (id % 8) & 1) == 0))
        continue;
      double sum = 0;
      bool any = false, refused = false;
      for (size_t i = 0; i < clauses.size(); ++i) {
        const double tf = occurrences(clauses[i], entry);
        if (clauses[i].occur == Occur::kNot) {
          refused = refused || tf > 0;
          continue;
        }
        refused = refused || (clauses[i].occur == Occur::kMust && tf == 0);
        any = any || tf > 0;
        if (tf > 0) sum += weights[i] * tf / (tf + options_.k1 * (1 - options_.b + options_.b * entry.length / mean));
      }
      if (any && !refused) found.emplace_back(id, sum);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return found;
  }

 private:
  struct Entry {
    uint32_t length = 0;
    std::map<std::string, std::set<uint32_t>> positions;
  };

  static double tf_of(const Entry& entry, const std::string& term) {
    const auto found = entry.positions.find(term);
    return found == entry.positions.end() ? 0 : static_cast<double>(found->second.size());
  }
  static bool in_prefix(const Clause& clause, const std::string& term) {
    return term.starts_with(clause.terms[0]) ||
           std::find(clause.terms.begin() + 1, clause.terms.end(), term) != clause.terms.end();
  }
  static double occurrences(const Clause& clause, const Entry& entry) {
    double count = 0;
    if (clause.kind == ClauseKind::kTerm) return tf_of(entry, clause.terms[0]);
    if (clause.kind == ClauseKind::kPrefix) {
      for (const auto& [term, positions] : entry.positions)
        if (in_prefix(clause, term)) count += static_cast<double>(positions.size());
      return count;
    }
    const auto first = entry.positions.find(clause.terms[0]);
    if (first == entry.positions.end()) return 0;
    for (const uint32_t start : first->second) {
      bool all = true;
      for (size_t i = 1; all && i < clause.terms.size(); ++i) {
        const auto other = entry.positions.find(clause.terms[i]);
        all = other != entry.positions.end() && other->second.contains(start + clause.positions[i]);
      }
      count += all;
    }
    return count;
  }
  double idf(double df) const { return std::log(1 + (static_cast<double>(entries_.size()) - df + 0.5) / (df + 0.5)); }
  double weight(const Clause& clause) const {
    double sum = 0;
    if (clause.kind == ClauseKind::kPrefix) {
      double df = 0;
      for (const auto& [id, entry] : entries_) df += occurrences(clause, entry) > 0;
      return idf(df);
    }
    for (const std::string& term : clause.terms) {
      double df = 0;
      for (const auto& [id, entry] : entries_) df += tf_of(entry, term) > 0;
      sum += idf(df);
    }
    return sum;
  }

  const IndexOptions options_;
  mutable Analyzer analyzer_;
  std::map<uint32_t, Entry> entries_;
};

/// Words of a small vocabulary, the first ones far more often, as in languages.
class WordSource {
 public:
  explicit WordSource(uint32_t seed) : random(seed) {}

  std::string word() {
    static const char* const kSome[] = {"the",       "running", "runs",   "foo_bar",
                                        "fooBar",    "v1.2.3",  "E-1234", "\u732b\u304c\u597d\u304d",
                                        "caf\u00e9", "don't",   "c++",    "\u0e01\u0e33"};
    const double drawn = static_cast<double>(random() % 1000000) / 1e6;
    const auto number = static_cast<uint32_t>(std::pow(drawn, 3) * 400);
    if (number % 17 == 3) return kSome[number % 12];
    return std::string(1, static_cast<char>('a' + number % 20)) + std::string(1, static_cast<char>('a' + number / 20)) +
           "wor";
  }
  std::string text(size_t most) {
    std::string all;
    for (size_t count = random() % (most + 1); count > 0; --count) all += word() + (random() % 9 == 0 ? ". " : " ");
    return all;
  }
  std::string query() {
    std::string all;
    for (int count = 1 + random() % 4; count > 0; --count) {
      const auto kind = random() % 10;
      if (kind == 0) all += "+";
      if (kind == 1) all += "-";
      all += kind == 2 || kind == 3 ? "\"" + word() + " " + word() + "\" " : word() + " ";
    }
    if (random() % 4 == 0) all.resize(all.size() - 2);
    return all;
  }

  std::mt19937 random;
};

}  // namespace quern::text
