#include "folds.hpp"

#include <algorithm>

namespace quern::classify {
namespace {

constexpr size_t kMostFolds = 5, kLeastFolds = 3;

/// The number of folds that leaves the fewest samples over: where a label is missing more often than others in a
/// training, the head leans away from just the samples that are tested, and looks worse than it is.
size_t fold_count(const std::vector<std::vector<uint32_t>>& members) {
  size_t largest = 0;
  for (const auto& own : members) largest = std::max(largest, own.size());
  size_t best = kMostFolds, fewest = SIZE_MAX;
  for (size_t count = kMostFolds; count >= kLeastFolds; --count) {
    size_t over = 0;
    for (const auto& own : members) over += own.size() % count;
    if (over >= fewest) continue;
    fewest = over;
    best = count;
  }
  return std::min(best, largest);
}

}  // namespace

std::vector<Fold> stratified_folds(std::span<const uint32_t> labels, size_t classes, SplitMix& random) {
  constexpr uint32_t kAlwaysTrained = UINT32_MAX;
  std::vector<std::vector<uint32_t>> members(classes);
  for (uint32_t at = 0; at < labels.size(); ++at) members[labels[at]].push_back(at);
  const size_t count = fold_count(members);
  if (count < 2) return {};
  std::vector<uint32_t> fold_of(labels.size(), kAlwaysTrained);
  size_t next = 0;
  for (auto& own : members) {
    if (own.size() < 2) continue;
    random.shuffle(own);
    for (const uint32_t at : own) fold_of[at] = static_cast<uint32_t>(next++ % count);
  }
  std::vector<Fold> folds(count);
  for (uint32_t at = 0; at < labels.size(); ++at)
    for (uint32_t fold = 0; fold < count; ++fold)
      (fold_of[at] == fold ? folds[fold].test : folds[fold].train).push_back(at);
  return folds;
}

}  // namespace quern::classify
