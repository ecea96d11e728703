// Chrono's solvers of cone complementarity problems as a C function, for chrono_contact.py.
//
// Bodies are ChVariablesBodyOwnMass, a contact is a ChConstraintContactNormal with its two
// tangential constraints, and a ChSystemDescriptor holds them: with M v = f + D gamma, f = 0, and
// c = D^T v + Sigma gamma + b, b = r, what Chrono solves is K_mu ∋ gamma ⊥ c = (N + Sigma) gamma +
// r ∈ K_mu*, the convex problem (Anitescu and Tasora's), not Coulomb's.

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "chrono/ChVersion.h"
#include "chrono/solver/ChConstraintContactNormal.h"
#include "chrono/solver/ChConstraintContactTangential.h"
#include "chrono/solver/ChSolverADMM.h"
#include "chrono/solver/ChSolverAPGD.h"
#include "chrono/solver/ChSolverBB.h"
#include "chrono/solver/ChSolverPSOR.h"
#include "chrono/solver/ChSystemDescriptor.h"
#include "chrono/solver/ChVariablesBodyOwnMass.h"

namespace {

using Row = Eigen::Map<const Eigen::Matrix<double, 1, 6>>;

/// One contact; constraints keep addresses of each other.
struct Contact {
  chrono::ChConstraintContactNormal normal;
  chrono::ChConstraintContactTangential tangential[2];
  chrono::ChConstraintTwoTuples& row(int k) {
    return k == 0 ? static_cast<chrono::ChConstraintTwoTuples&>(normal) : tangential[k - 1];
  }
};

/// What of a body A or B a row of a contact sees.
chrono::ChConstraintTuple* half(chrono::ChVariables* body, const double* jacobian) {
  auto* tuple = new chrono::ChConstraintTuple_1vars<6>(body);  // the constraint deletes it
  tuple->Cq1() = Row(jacobian);
  return tuple;
}

std::unique_ptr<chrono::ChIterativeSolverVI> solver(const std::string& name, double tolerance) {
  std::unique_ptr<chrono::ChIterativeSolverVI> made;
  if (name == "psor") made = std::make_unique<chrono::ChSolverPSOR>();
  if (name == "apgd") made = std::make_unique<chrono::ChSolverAPGD>();
  if (name == "barzilai_borwein") made = std::make_unique<chrono::ChSolverBB>();
  if (name == "admm") {
    // Its default, Eigen's SparseQR, fills memory on a few hundred contacts.
    auto admm =
        std::make_unique<chrono::ChSolverADMM>(std::make_shared<chrono::ChSolverSparseLU>());
    admm->SetTolerancePrimal(tolerance);
    admm->SetToleranceDual(tolerance);
    made = std::move(admm);
  }
  if (!made)
    throw std::invalid_argument("expected psor, apgd, barzilai_borwein or admm, found " + name);
  made->SetTolerance(tolerance);
  made->EnableWarmStart(false);
  return made;
}

struct Ended {
  int iterations;
  double error;
};

/// PSOR's own stop looks at approach speeds alone, and ends where impulses are still too large.
/// Here it goes on, in parts that begin where the last one ended, until no impulse changes by more.
Ended sweep(chrono::ChIterativeSolverVI& psor, chrono::ChSystemDescriptor& system, double tolerance,
            int most) {
  psor.SetTolerance(0);
  psor.SetRecordViolation(true);
  Ended ended{0, 0.0};
  for (int part = 16; ended.iterations < most; part *= 2) {
    psor.SetMaxIterations(std::min(part, most - ended.iterations));
    psor.Solve(system);
    psor.EnableWarmStart(true);
    ended.iterations += psor.GetIterations();
    ended.error = psor.GetDeltalambdaHistory().back();
    if (ended.error <= tolerance) break;
  }
  return ended;
}

Ended run(chrono::ChIterativeSolverVI& solver, chrono::ChSystemDescriptor& system, double tolerance,
          int most) {
  if (solver.GetType() == chrono::ChSolver::Type::PSOR)
    return sweep(solver, system, tolerance, most);
  solver.SetMaxIterations(most);
  solver.Solve(system);
  return {solver.GetIterations(), solver.GetError()};
}

}  // namespace

extern "C" {

const char* ccpbench_chrono_version() {
  return CHRONO_VERSION;
}

/// Solves from zero.
/// @param pairs       [contacts][2] bodies A and B; -1: immovable
/// @param mass        [bodies], kg
/// @param inertia     [bodies][3][3], kg m^2, world axes
/// @param jacobian    [contacts][3][2][6] of the velocities (v, w) of A and of B, rows n, t1, t2
/// @param r, sigma    [contacts][3], free velocities and compliances (Sigma's diagonal)
/// @param tolerance   Chrono's own, which means something else for each solver; of psor: the
/// largest
///                    change of an impulse in a sweep
/// @param most        iterations
/// @param gamma       [contacts][3], out: impulses
/// @param seconds     [2], out: of making Chrono's objects, of solving
/// @param iterations, error  out: as Chrono tells them, of psor the largest change in the last
/// sweep
/// @return 0; 1 if Chrono throws, with the reason in std::cerr
int ccpbench_chrono_solve(const char* method, int bodies, const double* mass, const double* inertia,
                          int contacts, const int* pairs, const double* jacobian, const double* mu,
                          const double* r, const double* sigma, double tolerance, int most,
                          double* gamma, double* seconds, int* iterations, double* error) try {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  std::deque<chrono::ChVariablesBodyOwnMass> variables(bodies + 1);  // the last one: immovable
  variables.back().SetDisabled(true);
  chrono::ChSystemDescriptor system;
  system.BeginInsertion();
  for (int b = 0; b < bodies; ++b) {
    variables[b].SetBodyMass(mass[b]);
    variables[b].SetBodyInertia(
        Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(inertia + 9 * b));
    variables[b].Force().setZero();
    system.InsertVariables(&variables[b]);
  }
  std::deque<Contact> all(contacts);
  for (int c = 0; c < contacts; ++c) {
    Contact& contact = all[c];
    contact.normal.SetFrictionCoefficient(mu[c]);
    contact.normal.SetTangentialConstraintU(&contact.tangential[0]);
    contact.normal.SetTangentialConstraintV(&contact.tangential[1]);
    for (int k = 0; k < 3; ++k) {
      const int a = pairs[2 * c], b = pairs[2 * c + 1];
      const double* own = jacobian + 12 * (3 * c + k);
      contact.row(k).SetTuples(half(&variables[a < 0 ? bodies : a], own),
                               half(&variables[b < 0 ? bodies : b], own + 6));
      contact.row(k).SetRightHandSide(r[3 * c + k]);
      contact.row(k).SetComplianceTerm(sigma[3 * c + k]);
      system.InsertConstraint(&contact.row(k));
    }
  }
  system.EndInsertion();
  const auto chosen = solver(method, tolerance);
  const auto start = now();
  const Ended ended = run(*chosen, system, tolerance, most);
  const auto end = now();
  for (int c = 0; c < contacts; ++c)
    for (int k = 0; k < 3; ++k) gamma[3 * c + k] = all[c].row(k).GetLagrangeMultiplier();
  seconds[0] = std::chrono::duration<double>(start - begin).count();
  seconds[1] = std::chrono::duration<double>(end - start).count();
  *iterations = ended.iterations;
  *error = ended.error;
  return 0;
} catch (const std::exception& problem) {
  std::cerr << problem.what() << std::endl;
  return 1;
}

}  // extern "C"
