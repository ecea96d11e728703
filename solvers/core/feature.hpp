#pragma once

#include "problems/base/enum_text.hpp"

namespace ccp {

/// What a problem may have, or a run ask for, that not every solver can do.
enum class Feature {
  compliant,    ///< contacts with a compliance Sigma > 0
  rolling,      ///< contacts with rolling resistance: triples on angular velocities
  equality,     ///< equality constraints: joints, motors; their impulses are in no cone
  distributed,  ///< bodies and contacts on several ranks
  /// Every pass of an iteration is a kernel on the execution space. The others run in a GPU's build
  /// as well, with parts of an iteration on the host.
  device,
};

template <>
struct EnumTable<Feature> {
  static constexpr EnumText<Feature> rows[] = {{Feature::compliant, "compliant"},
                                               {Feature::rolling, "rolling"},
                                               {Feature::equality, "equality"},
                                               {Feature::distributed, "distributed"},
                                               {Feature::device, "device"}};
};

}  // namespace ccp
