// What the values of the options (general/options/configuration.h) mean to the tiers below, at the start
// and when one changes. A table maps each option that may change at run time to its two steps; the compiler
// checks that it has exactly these.
#pragma once
#include "base/options/option_table.h"

namespace tarn::internal {

/// Tells the tiers all values, once. \pre the set-up's mutex is held, and no block was handed out.
void apply_all_options();
/// The rest of it. \pre no lock is held.
void finish_all_options();

/// Tells the tiers the present value of one option. \pre the set-up's mutex is held, and the option's value
/// may change at any time.
void apply_option(Option option);

/// Does what a change needs without a lock: gives back memory that may no longer be kept, ends the library's
/// thread or starts it. Changes by several threads may come here in any order: only present values count.
/// \pre the same option; no lock is held.
void finish_change(Option option);

}  // namespace tarn::internal
