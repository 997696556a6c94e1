// Where memory was asked for, or what objects it is of, the most first: a table for a terminal.
#pragma once
#include <string>
#include <vector>

#include "profile/names/function_name.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// What a row is of.
enum class RowOf : std::uint8_t {
  kSite,  // NamedStack::site()
  kType,  // NamedStack::type; where it is not known, the site
};

struct Site {
  Frame frame = {};
  std::string type = {};  // where rows are of types, and it is known
  std::string pool = {};  // "" = general pool
  Amount amount = {};
};

/// Stacks of one row and pool added up; by bytes. \param names that tell rows apart
std::vector<Site> sites_of(const NamedProfile& profile, Measure measure, RowOf row_of = RowOf::kSite,
                           NameForm names = NameForm::kFull);

/// What chance may have done to it: "±5 %", "≥5 %"; nothing of what was not sampled.
std::string error_in_words(const Amount& amount, Measure measure, const HeapProfile& profile);

struct TableShape {
  Measure measure = Measure::kLive;
  RowOf row_of = RowOf::kSite;
  NameForm names = NameForm::kShort;
  std::size_t rows = 20;      // 0: all
  std::size_t columns = 100;  // of the terminal; at least 40 are used
};
std::string top_sites_text(const NamedProfile& profile, const TableShape& shape = {});

}  // namespace tarn::profile
