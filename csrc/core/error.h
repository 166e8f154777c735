// Errors that cross into Python: each carries the Python class to raise and a finished sentence.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace flambeau {

enum class ErrorKind {
  Runtime,
  Type,
  Value,
  Index,
  NotImplemented,
  LinAlg,
  Memory,
  Overflow,
  Shape,
  Dtype,
  Grad,  // ours: subclasses of RuntimeError
};

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
  std::string message_;
};

// concat("matmul: expected ", 3, " got ", sizes): anything with an operator<<.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, concat(parts...));
}

// check(ok, ErrorKind::Runtime, "op: expected ", a, ", got ", b): the message is built only on failure.
template <class... Parts>
inline void check(bool ok, ErrorKind kind, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(kind, parts...);
}
template <class... Parts>
inline void check(bool ok, const char* first, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::Runtime, first, parts...);
}

// For our own bugs only.
inline void internal_assert(bool ok, const char* what) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::Runtime, "internal error: ", what);
}

}  // namespace flambeau
