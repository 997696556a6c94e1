// Where memory was asked for, the most first: a table for a terminal.
#pragma once
#include <string>
#include <vector>

#include "profile/stacks/named_profile.h"

namespace tarn::profile {

struct Site {
  Frame frame;            // NamedStack::site()
  std::string pool = {};  // "" = general pool
  Amount amount = {};
};

/// Stacks of one site and pool added up; by bytes.
std::vector<Site> sites_of(const NamedProfile& profile, Measure measure);

/// \param rows 0 = all. \param columns of the terminal; at least 40 are used.
std::string top_sites_text(const NamedProfile& profile, Measure measure, std::size_t rows,
                           std::size_t columns);

}  // namespace tarn::profile
