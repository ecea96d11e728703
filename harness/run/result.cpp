#include "harness/run/result.hpp"

#include "problems/model/descriptors.hpp"

namespace ccp {

RunResult describe(const RunRequest& request, const ContactProblem& problem,
                   const std::string& command_line) {
  RunResult result;
  result.provenance = collect_provenance(backend_threads(), command_line);
  result.instance = problem.name;
  result.instance_hash = problem.content_hash();
  result.form = problem.form;
  result.contacts = static_cast<long>(problem.contacts());
  result.bodies = static_cast<long>(problem.bodies());
  result.descriptors = descriptors(problem);
  if (problem.reference && problem.reference->measures.count("residual") > 0) {
    result.reference_residual = problem.reference->measures.at("residual");
  }
  result.solver = request.solver.text();
  result.law = law_of(request);
  result.options = options_of(request);
  return result;
}

void copy_looks(const Recorder& recorder, RunResult& result) {
  const Sample& last = recorder.samples().back();
  result.samples = recorder.samples();
  result.targets = recorder.targets();
  result.best = recorder.best();
  result.info.counters = last.counters;
  result.info.own_residual = last.own_residual;
  result.time = last.time;
}

}  // namespace ccp
