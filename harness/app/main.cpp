#include "harness/app/app.hpp"

int main(int argc, char** argv) {
  return ccp::app::run_program(argc, argv);
}
