#pragma once

namespace ccp {

constexpr double pi = 3.14159265358979323846;

}  // namespace ccp
