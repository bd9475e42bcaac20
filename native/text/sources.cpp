#include "sources.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "options.hpp"

namespace quern::text {
namespace {

double idf(const Snapshot& snapshot, uint64_t df) {
  const auto n = static_cast<double>(df);
  return std::log(1 + (static_cast<double>(snapshot.docs) - n + 0.5) / (n + 0.5));
}

uint64_t live_df(const Snapshot& snapshot, const std::string& term) {
  uint64_t df = 0;
  for (const Part& part : snapshot.parts)
    if (const auto found = part.segment->find(term)) df += part.df(*found);
  return df;
}

/// The terms that a prefix stands for, over all parts, so that they do not depend on how the index is cut.
std::vector<std::string> expand(const Snapshot& snapshot, const Clause& clause) {
  const std::string& beginning = clause.terms.front();
  std::set<std::string> all;
  for (const Part& part : snapshot.parts) {
    size_t taken = 0;
    const Segment& segment = *part.segment;
    for (uint32_t i = segment.lower_bound(beginning); i < segment.terms() && taken < kMaxPrefixTerms; ++i) {
      const std::string_view term = segment.term(i);
      if (!term.starts_with(beginning)) break;
      if (part.df(i) == 0) continue;
      all.emplace(term);
      ++taken;
    }
  }
  std::vector<std::string> terms(clause.terms.begin() + 1, clause.terms.end());
  for (const std::string& term : all) {
    if (terms.size() >= kMaxPrefixTerms) break;
    terms.push_back(term);
  }
  return terms;
}

std::shared_ptr<DocList> unite(const Part& part, const std::vector<std::string>& terms) {
  auto list = std::make_shared<DocList>();
  std::vector<std::pair<uint32_t, uint32_t>> found;
  for (const std::string& term : terms) {
    const auto number = part.segment->find(term);
    if (!number) continue;
    for (Cursor cursor(*part.segment, *number); cursor.doc() != kNoDoc; cursor.next())
      if (!part.is_dead(cursor.doc())) found.emplace_back(cursor.doc(), cursor.tf());
  }
  std::sort(found.begin(), found.end());
  for (const auto& [doc, tf] : found) {
    if (list->docs.empty() || list->docs.back() != doc) {
      list->docs.push_back(doc);
      list->tfs.push_back(0);
    }
    list->tfs.back() += tf;
  }
  return list;
}

/// How often the words stand as in the phrase, in a document where all occur.
uint32_t occurrences(const std::vector<uint32_t>& offsets, std::vector<std::vector<uint32_t>>& positions) {
  uint32_t count = 0;
  for (const uint32_t first : positions[0]) {
    bool all = true;
    for (size_t i = 1; all && i < positions.size(); ++i)
      all = std::binary_search(positions[i].begin(), positions[i].end(), first + offsets[i]);
    count += all;
  }
  return count;
}

std::shared_ptr<DocList> match_phrase(const Part& part, const Clause& clause) {
  auto list = std::make_shared<DocList>();
  std::vector<Cursor> cursors;
  cursors.reserve(clause.terms.size());
  for (const std::string& term : clause.terms) {
    const auto number = part.segment->find(term);
    if (!number) return list;
    cursors.emplace_back(*part.segment, *number);
  }
  std::vector<std::vector<uint32_t>> positions(cursors.size());
  const auto lead = std::min_element(cursors.begin(), cursors.end(),
                                     [](const Cursor& a, const Cursor& b) { return a.df() < b.df(); });
  while (lead->doc() != kNoDoc) {
    const uint32_t doc = lead->doc();
    uint32_t wanted = doc;
    for (Cursor& cursor : cursors) {
      cursor.advance(doc);
      wanted = std::max(wanted, cursor.doc());
      if (wanted != doc) break;
    }
    if (wanted != doc) {
      lead->advance(wanted);
      continue;
    }
    if (!part.is_dead(doc)) {
      for (size_t i = 0; i < cursors.size(); ++i) cursors[i].positions(positions[i]);
      if (const uint32_t count = occurrences(clause.positions, positions)) {
        list->docs.push_back(doc);
        list->tfs.push_back(count);
      }
    }
    lead->next();
  }
  return list;
}

}  // namespace

Source find_source(const Snapshot& snapshot, const Clause& clause) {
  Source source;
  source.occur = clause.occur;
  if (clause.kind == ClauseKind::kTerm) {
    source.weight = idf(snapshot, live_df(snapshot, clause.terms[0]));
    for (const Part& part : snapshot.parts) source.parts.push_back({part.segment->find(clause.terms[0]), nullptr});
  } else if (clause.kind == ClauseKind::kPrefix) {
    const auto terms = expand(snapshot, clause);
    uint64_t df = 0;
    for (const Part& part : snapshot.parts) {
      source.parts.push_back({std::nullopt, unite(part, terms)});
      df += source.parts.back().list->docs.size();
    }
    source.weight = idf(snapshot, df);
  } else {
    for (const std::string& term : clause.terms) source.weight += idf(snapshot, live_df(snapshot, term));
    for (const Part& part : snapshot.parts) source.parts.push_back({std::nullopt, match_phrase(part, clause)});
  }
  source.weight *= clause.count;
  return source;
}

}  // namespace quern::text
