#pragma once

#include <memory>
#include <string>

namespace ccp {

/// SHA-256 (FIPS 180-4), by OpenSSL.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(const void* data, std::size_t bytes);
  void update(const std::string& text) { update(text.data(), text.size()); }
  /// The digest as 64 lower-case hex digits; ends the computation.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Digest of a file's bytes. @throws InputError if it cannot be read
std::string file_sha256(const std::string& path);

}  // namespace ccp
