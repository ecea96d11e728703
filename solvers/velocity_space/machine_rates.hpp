#pragma once

#include "problems/base/options.hpp"

namespace ccp {

/// How fast a machine is taken to be where work is counted, not timed, so that a choice between two
/// ways is the same whatever the load. What matters is the ratio of the two.
///
/// Seconds are counted so (fitted to piles of 6,000 to 300,000 unknowns on one core of a Zen 4,
/// which they describe within two fifths):
///     a sweep over memory       bytes / bandwidth
///     a Cholesky factorisation  flops / flop_rate + entries of L * 250 bytes / bandwidth
///     its symbolic analysis     unknowns * 20 kB / bandwidth
struct MachineRates {
  double flop_rate = 40;  ///< > 0, of dense kernels, Gflop/s
  double bandwidth = 10;  ///< > 0, of sparse kernels, Gbyte/s

  double sweep(double bytes) const { return bytes / (1e9 * bandwidth); }
  double factorisation(double flops, double entries) const {
    return flops / (1e9 * flop_rate) + sweep(250 * entries);
  }
  double analysis(double unknowns) const { return sweep(2e4 * unknowns); }

  /// Adds both to a solver's options.
  OptionList& add_to(OptionList& list) {
    return list
        .number("flop_rate", flop_rate, OptionList::Range::positive(),
                "auto: what a factorisation is counted with, Gflop/s")
        .number("bandwidth", bandwidth, OptionList::Range::positive(),
                "auto: what cg and a factorisation's entries are counted with, Gbyte/s");
  }
};

}  // namespace ccp
