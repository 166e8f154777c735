// Convolution forward, backward by input and backward by weight.
// Layout, measured on float32 with one AVX-512 core (GFLOP/s, 3x3, 64 channels at 56x56, batch 8): plain NCHW kernels
// 127, channels-last 243, blocked with reorders of plain input and output 223. So channels-last tensors are used as
// they are and plain ones go through whatever blocked layout the library asks for. Weights are reordered in every call:
// 9 us of 7600 there, and a cache could not see writes made through aliases.
#include "core/parallel.h"
#include "onednn/common.h"
#include "onednn/onednn.h"

namespace flambeau::onednn {
namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

enum class Direction : std::int64_t { Forward, Input, Weight };

struct Key {
  Convolution conv;
  std::int64_t direction, bias;
};

struct Plan {
  Desc user_input, user_weight, user_output, bias, input, weight, output, scratch;
  dnnl::primitive primitive;
};

Dims spatial_dims(const Convolution& conv, std::int64_t a, std::int64_t b, const std::int64_t* spatial) {
  Dims dims{a, b};
  dims.insert(dims.end(), spatial, spatial + conv.spatial);
  return dims;
}

Desc activation(const Convolution& conv, const Dims& dims) {
  using Tag = dnnl::memory::format_tag;
  static constexpr Tag plain[] = {Tag::ncw, Tag::nchw, Tag::ncdhw}, last[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  return {dims, data_type(conv.dtype), (conv.channels_last ? last : plain)[conv.spatial - 1]};
}

Desc any(const Desc& user) { return {user.get_dims(), user.get_data_type(), dnnl::memory::format_tag::any}; }

// Few positions: the library's blocked kernels lose to its channels-last one, and the reorders cost next to nothing.
constexpr std::int64_t kFewPositions = 128;

Desc inner_layout(const Convolution& conv, const Desc& user) {
  if (conv.channels_last) return user;
  std::int64_t positions = conv.batch;
  for (std::int64_t d = 0; d < conv.spatial; ++d) positions *= conv.out[d];
  Convolution last = conv;
  last.channels_last = true;
  return positions <= kFewPositions && conv.groups == 1 ? activation(last, user.get_dims()) : any(user);
}

void weight_layout(const Convolution& conv, Plan& plan) {
  const std::int64_t per_out = conv.out_channels / conv.groups, per_in = conv.in_channels / conv.groups;
  Dims dims = spatial_dims(conv, per_out, per_in, conv.kernel);
  Dims strides(conv.weight_strides, conv.weight_strides + 2 + conv.spatial);
  if (conv.groups > 1) {
    dims.insert(dims.begin(), conv.groups);
    strides.insert(strides.begin(), per_out * conv.weight_strides[0]);
  }
  plan.user_weight = {dims, data_type(conv.dtype), strides};
}

std::shared_ptr<const Plan> build(const Key& key) {
  const Convolution& conv = key.conv;
  auto plan = std::make_shared<Plan>();
  plan->user_input = activation(conv, spatial_dims(conv, conv.batch, conv.in_channels, conv.in));
  plan->user_output = activation(conv, spatial_dims(conv, conv.batch, conv.out_channels, conv.out));
  weight_layout(conv, *plan);
  const Desc input = inner_layout(conv, plan->user_input);
  const Desc output = inner_layout(conv, plan->user_output);
  const Desc weight = any(plan->user_weight);
  Dims stride(conv.stride, conv.stride + conv.spatial), padding(conv.padding, conv.padding + conv.spatial), dilation;
  for (std::int64_t d = 0; d < conv.spatial; ++d) dilation.push_back(conv.dilation[d] - 1);
  if (key.bias != 0) plan->bias = {Dims{conv.out_channels}, data_type(conv.dtype), dnnl::memory::format_tag::a};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto algorithm = dnnl::algorithm::convolution_direct;
  using Forward = dnnl::convolution_forward;
  const Forward::primitive_desc forward =
      key.bias != 0 ? Forward::primitive_desc(engine(), dnnl::prop_kind::forward_training, algorithm, input, weight,
                                              plan->bias, output, stride, dilation, padding, padding, attributes)
                    : Forward::primitive_desc(engine(), dnnl::prop_kind::forward_training, algorithm, input, weight,
                                              output, stride, dilation, padding, padding, attributes);
  const auto finish = [&](const auto& description, const Desc& in, const Desc& w, const Desc& out) {
    if (std::string(description.impl_info_str()).find("ref") != std::string::npos) return false;
    plan->input = in;
    plan->weight = w;
    plan->output = out;
    plan->scratch = description.scratchpad_desc();
    return true;
  };
  if (key.direction == static_cast<std::int64_t>(Direction::Forward)) {
    if (!finish(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc())) return nullptr;
    plan->primitive = Forward(forward);
  } else if (key.direction == static_cast<std::int64_t>(Direction::Input)) {
    using Backward = dnnl::convolution_backward_data;
    const Backward::primitive_desc description(engine(), algorithm, input, weight, output, stride, dilation, padding,
                                               padding, forward, attributes);
    if (!finish(description, description.diff_src_desc(), description.weights_desc(), description.diff_dst_desc()))
      return nullptr;
    plan->primitive = Backward(description);
  } else {
    using Backward = dnnl::convolution_backward_weights;
    const Backward::primitive_desc description(engine(), algorithm, input, weight, output, stride, dilation, padding,
                                               padding, forward, attributes);
    if (!finish(description, description.src_desc(), description.diff_weights_desc(), description.diff_dst_desc()))
      return nullptr;
    plan->primitive = Backward(description);
  }
  return plan;
}

// A tensor in the layout of the primitive: itself, or a reordered copy of (or for) it.
class Operand {
 public:
  Operand(const Desc& user, const Desc& wanted, const void* data, bool read)
      : same_(user == wanted),
        user_(user, engine(), const_cast<void*>(data)),
        buffer_(same_ ? 0 : wanted.get_size()),
        inner_(same_ ? user_ : dnnl::memory(wanted, engine(), buffer_.data())) {
    if (!same_ && read) dnnl::reorder(user_, inner_).execute(stream(), user_, inner_);
  }
  const dnnl::memory& memory() const { return inner_; }
  void write_back() {
    if (!same_) dnnl::reorder(inner_, user_).execute(stream(), inner_, user_);
  }

 private:
  bool same_;
  dnnl::memory user_;
  Buffer buffer_;
  dnnl::memory inner_;
};

std::shared_ptr<const Plan> plan_for(const Convolution& conv, Direction direction, bool bias) {
  if (!enabled() || (conv.dtype != DType::Float32 && conv.dtype != DType::BFloat16)) return nullptr;
  for (std::int64_t d = 0; d < conv.spatial; ++d) {
    const std::int64_t reach = conv.in[d] + 2 * conv.padding[d] - (conv.kernel[d] - 1) * conv.dilation[d] - 1;
    if (conv.padding[d] < 0 || reach < 0 || reach / conv.stride[d] + 1 != conv.out[d]) return nullptr;
  }
  Key key;
  std::memset(static_cast<void*>(&key), 0, sizeof(key));  // the cache compares bytes, padding included
  key.conv.dtype = conv.dtype;
  key.conv.spatial = conv.spatial;
  key.conv.batch = conv.batch;
  key.conv.in_channels = conv.in_channels;
  key.conv.out_channels = conv.out_channels;
  key.conv.groups = conv.groups;
  key.conv.channels_last = conv.channels_last;
  for (std::int64_t d = 0; d < conv.spatial; ++d) {
    key.conv.in[d] = conv.in[d];
    key.conv.out[d] = conv.out[d];
    key.conv.kernel[d] = conv.kernel[d];
    key.conv.stride[d] = conv.stride[d];
    key.conv.padding[d] = conv.padding[d];
    key.conv.dilation[d] = conv.dilation[d];
  }
  for (std::int64_t d = 0; d < conv.spatial + 2; ++d) key.conv.weight_strides[d] = conv.weight_strides[d];
  key.direction = static_cast<std::int64_t>(direction);
  key.bias = bias ? 1 : 0;
  static auto* cache = new PlanCache<Key, Plan>;
  return cache->get(key, [&] { return build(key); });
}

}  // namespace

bool conv_forward(const Convolution& conv, const void* input, const void* weight, const void* bias, void* output) {
  const auto plan = plan_for(conv, Direction::Forward, bias != nullptr);
  if (plan == nullptr) return false;
  Operand in(plan->user_input, plan->input, input, true), w(plan->user_weight, plan->weight, weight, true);
  Operand out(plan->user_output, plan->output, output, false);
  const Buffer scratch(plan->scratch.get_size());
  std::unordered_map<int, dnnl::memory> arguments{
      {DNNL_ARG_SRC, in.memory()},
      {DNNL_ARG_WEIGHTS, w.memory()},
      {DNNL_ARG_DST, out.memory()},
      {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratch, engine(), scratch.data())}};
  if (bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, dnnl::memory(plan->bias, engine(), const_cast<void*>(bias)));
  plan->primitive.execute(stream(), arguments);
  out.write_back();
  return true;
}

bool conv_backward_input(const Convolution& conv, const void* grad, const void* weight, void* grad_input) {
  const auto plan = plan_for(conv, Direction::Input, false);
  if (plan == nullptr) return false;
  Operand out(plan->user_output, plan->output, grad, true), w(plan->user_weight, plan->weight, weight, true);
  Operand in(plan->user_input, plan->input, grad_input, false);
  const Buffer scratch(plan->scratch.get_size());
  plan->primitive.execute(stream(), {{DNNL_ARG_DIFF_DST, out.memory()},
                                     {DNNL_ARG_WEIGHTS, w.memory()},
                                     {DNNL_ARG_DIFF_SRC, in.memory()},
                                     {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratch, engine(), scratch.data())}});
  in.write_back();
  return true;
}

bool conv_backward_weight(const Convolution& conv, const void* grad, const void* input, void* grad_weight) {
  const auto plan = plan_for(conv, Direction::Weight, false);
  if (plan == nullptr) return false;
  Operand out(plan->user_output, plan->output, grad, true), in(plan->user_input, plan->input, input, true);
  Operand w(plan->user_weight, plan->weight, grad_weight, false);
  const Buffer scratch(plan->scratch.get_size());
  plan->primitive.execute(stream(), {{DNNL_ARG_DIFF_DST, out.memory()},
                                     {DNNL_ARG_SRC, in.memory()},
                                     {DNNL_ARG_DIFF_WEIGHTS, w.memory()},
                                     {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan->scratch, engine(), scratch.data())}});
  w.write_back();
  return true;
}

}  // namespace flambeau::onednn
