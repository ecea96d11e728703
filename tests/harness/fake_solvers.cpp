// The program ccpbench with solvers that misbehave, for the tests of the harness. All of them but
// the liar begin well: with e_k = 2^-k, their iterate is
//
//     gamma_k = (1 + e_k) gamma*,    gamma* the problem's reference solution,
//
// whose own residual they give as e_k. After `after` iterations they do what their name says; one
// that is told to stop hands back a worse iterate than the one that was looked at (regress).
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness/app/app.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"

namespace {

using namespace ccp;

enum class Fault { none, hang, crash, abort, exit, fail, lie, nan, glutton, regress };

void misbehave(Fault fault, Vector& gamma, Info& info) {
  static volatile bool for_ever = true;
  static std::vector<std::unique_ptr<char[]>> memory;
  constexpr std::size_t block = 32 << 20;
  switch (fault) {
    case Fault::none:
      break;
    case Fault::hang:
      while (for_ever) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      break;
    case Fault::crash:
      std::raise(SIGSEGV);
      break;
    case Fault::abort:
      std::fprintf(stderr, "libfake: matrix is singular\n");
      std::abort();
    case Fault::exit:
      std::fprintf(stderr, "libfake: giving up\n");
      std::exit(1);
    case Fault::fail:
      throw std::runtime_error("thrown by a library");
    case Fault::lie:
      info.status = Status::converged;
      info.own_residual = 1e-14;
      break;
    case Fault::nan:
      gamma.putScalar(std::numeric_limits<double>::quiet_NaN());
      info.status = Status::numerical_error;
      break;
    case Fault::regress:
      gamma.scale(3);
      break;
    case Fault::glutton:
      while (for_ever) {
        memory.push_back(std::make_unique<char[]>(block));  // all zeros, hence touched
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      break;
  }
}

template <Fault fault>
class FakeSolver : public Solver {
 public:
  OptionList options() override {
    return OptionList("fake")
        .integer("after", after_, {0, 1e6}, "iterations before the fault")
        .number("pause", pause_, {0, 10}, "seconds an iteration takes");
  }
  void setup(const Problem& problem) override { problem_ = &problem; }

  Info solve(Vector& gamma, Observer& observer) override {
    Info info;
    info.own_residual_name = "2^-k";
    const auto write_gamma = [&](Vector& out) {
      std::vector<double> answer = problem_->host().reference->gamma;
      for (double& value : answer) value *= 1 + std::pow(0.5, info.counters.outer);
      Kokkos::deep_copy(overwrite_view(out),
                        upload<VectorView>("ccp::Fake::gamma", answer, answer.size()));
    };
    const bool well = fault == Fault::none || fault == Fault::regress;
    const int iterations = well ? 40 : after_;
    for (; fault != Fault::lie; ++info.counters.outer, ++info.counters.operator_applies) {
      info.own_residual = std::pow(0.5, info.counters.outer);
      if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
        info.status = Status::stopped_by_observer;
        write_gamma(gamma);
        if (fault == Fault::regress) misbehave(fault, gamma, info);
        return info;
      }
      if (info.counters.outer == iterations) break;
      std::this_thread::sleep_for(std::chrono::duration<double>(pause_));
    }
    info.status = Status::max_iterations;
    if (fault != Fault::lie) write_gamma(gamma);
    misbehave(fault, gamma, info);
    return info;
  }

 private:
  const Problem* problem_ = nullptr;
  int after_ = 5;
  double pause_ = 0.01;
};

template <Fault fault>
std::unique_ptr<Solver> make() {
  return std::make_unique<FakeSolver<fault>>();
}

template <Fault fault>
void add(const std::string& name) {
  add_solver({"fake-" + name,
              {Law::convex},
              {Form::bodies, Form::assembled},
              {},
              false,
              "a fake",
              make<fault>});
}

}  // namespace

int main(int argc, char** argv) {
  add<Fault::none>("halving");
  add<Fault::hang>("hang");
  add<Fault::crash>("crash");
  add<Fault::abort>("abort");
  add<Fault::exit>("exit");
  add<Fault::fail>("fail");
  add<Fault::lie>("lie");
  add<Fault::nan>("nan");
  add<Fault::glutton>("glutton");
  add<Fault::regress>("regress");
  return ccp::app::run_program(argc, argv);
}
