// How the rounds of one configuration are told from those of another, where no round is quite like the next.
#pragma once
#include <vector>

namespace tarn::tune {

/// A share in percent, with the noise it is to be read with: half the distance of the quartiles.
struct Share {
  double percent = 0, spread = 0;
  double error = 0;  // of the percent itself, which more rounds make less; of a price alone
};

/// \pre there are values
double median(const std::vector<double>& values);

/// How much less the median of `own` is than that of `base`, as a share of the latter. Its spread is the sum
/// of both. \pre both have values
Share saving(const std::vector<double>& own, const std::vector<double>& base);

/// How much more `own` is than `base`, each round beside the one it was measured with. \why what disturbs one
/// run of a round disturbs its neighbours alike
Share price(const std::vector<double>& own, const std::vector<double>& base);

/// Whether `own` is less than `base` by more than chance: by the ranks of all values together (Mann and
/// Whitney), where sets of one kind would be told apart once in 160 times. Five values each are the fewest
/// that can be: none of `own` may then reach any of `base`.
bool is_less(const std::vector<double>& own, const std::vector<double>& base);

}  // namespace tarn::tune
