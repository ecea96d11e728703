#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// A motion of a few bodies that is known by hand, or nearly.
struct HandMotion {
  std::string id, summary;
  std::function<std::unique_ptr<Scene>()> make;
};

/// A scene out of a struct with list(id) and setup().
template <class Options>
class Motion : public Scene {
 public:
  explicit Motion(std::string id) : id_(std::move(id)) {}
  OptionList options() override { return options_.list(OptionList(id_, "scene")); }
  SceneSetup setup() override {
    options().check();
    return options_.setup();
  }

 private:
  std::string id_;
  Options options_;
};

/// Its row of the table.
template <class Options>
HandMotion motion(const std::string& id, const std::string& summary) {
  return {id, summary, [id] { return std::make_unique<Motion<Options>>(id); }};
}

/// dt and gravity, which all have, and mu.
inline OptionList& common_options(OptionList& list, StepModel& model, double& gravity) {
  return list.number("dt", model.dt, OptionList::Range::positive(), "Time step, s")
      .number("gravity", gravity, OptionList::Range::at_least(0), "m/s^2")
      .number("mu", model.mu, OptionList::Range::at_least(0), "Friction coefficient");
}

}  // namespace ccp
