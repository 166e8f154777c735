// Where a tensor lives. `meta` tensors have a shape and no data: running an op on them is its shape rule.
#pragma once

#include <cstdint>
#include <ostream>

namespace flambeau {

enum class DeviceType : std::uint8_t { CPU, Meta };

struct Device {
  DeviceType type = DeviceType::CPU;
  std::int8_t index = -1;  // -1: none was given
  friend constexpr bool operator==(Device a, Device b) { return a.type == b.type; }
  [[nodiscard]] constexpr const char* name() const { return type == DeviceType::CPU ? "cpu" : "meta"; }
};
inline std::ostream& operator<<(std::ostream& stream, Device device) { return stream << device.name(); }

enum class MemoryFormat : std::uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

}  // namespace flambeau
