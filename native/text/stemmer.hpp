#pragma once

#include <string>

namespace quern::text {

/**
 * Turns an English word into its stem, in place: Porter2 as published at
 * snowballstem.org/algorithms/english/stemmer.html. The word is in lower case; words with anything but a to z and
 * apostrophes stay as they are.
 */
void stem_english(std::string& word);

}  // namespace quern::text
