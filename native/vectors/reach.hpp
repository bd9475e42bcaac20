#pragma once

#include "links.hpp"

namespace quern::vectors {

/**
 * Makes a way from the entry to every place, on the lowest level. A list that is full gives a link away when a nearer
 * place comes, and the last link to a place may be among those: of 20,000 rows linked by two threads that happens to
 * about ten. Takes one look at every link. Nobody else may read or write the links meanwhile.
 */
void reach_all(Links& links);

}  // namespace quern::vectors
