#include "problems/base/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <fstream>
#include <vector>

#include "problems/base/error.hpp"

namespace ccp {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr);
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t bytes) {
  EVP_DigestUpdate(state_->context.get(), data, bytes);
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(state_->context.get(), digest, &length);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string file_sha256(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(path, "", "a readable file", "none");
  Sha256 hash;
  std::vector<char> buffer(1 << 16);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
         stream.gcount() > 0) {
    hash.update(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  }
  return hash.hex();
}

}  // namespace ccp
