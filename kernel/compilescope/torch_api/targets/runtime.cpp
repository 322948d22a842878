// What torch asks a GPU's own library for while it traces for one that is not there: a device
// guard, a stream, which libraries there are, which attention kernel is taken, and memory for the
// few constants that torch makes on the device while it compiles. That memory is the host's; an
// operator on it runs on the CPU.
// Built once for each torch by runtime.py.

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace {

constexpr auto kGpu = c10::DeviceType::CUDA;
const c10::Device first(kGpu, 0);

struct Target {
  int64_t major;
  int64_t minor;
  bool hip;
  int64_t cudnn; // 0: none
} target;

c10::Stream stream() {
  return c10::Stream(c10::Stream::DEFAULT, first);
}

struct Guard final : c10::impl::NoOpDeviceGuardImpl<kGpu> {
  c10::Device exchangeDevice(c10::Device) const override { return first; }
  c10::Device getDevice() const override { return first; }
  c10::Stream getStream(c10::Device) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return stream(); }
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag)
      const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

struct Hooks final : at::CUDAHooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return false; }
  bool hasCUDA() const override { return true; }
  bool hasROCM() const override { return target.hip; }
  bool hasCuDNN() const override { return target.cudnn > 0; }
  bool compiledWithCuDNN() const override { return target.cudnn > 0; }
  bool compiledWithMIOpen() const override { return target.hip; }
  bool supportsDilatedConvolutionWithCuDNN() const override { return target.cudnn > 0; }
  bool supportsDepthwiseConvolutionWithCuDNN() const override { return target.cudnn > 0; }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override {
    return target.cudnn > 0 && target.major >= 8;
  }
  long versionCuDNN() const override { return target.cudnn; }
  long versionRuntimeCuDNN() const override { return target.cudnn; }
  long versionMIOpen() const override { return 30500; }
  double batchnormMinEpsilonCuDNN() const override { return 0.0; }
  c10::DeviceIndex current_device() const override { return 0; }
  int getNumGPUs() const override { return 1; }
};

// Host memory that is said to be the device's.
struct Memory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    auto data = c10::GetCPUAllocator()->allocate(bytes);
    data.unsafe_set_device(first);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return c10::GetCPUAllocator()->raw_deleter();
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

Memory memory;
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

at::Tensor empty(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(
      size, &memory, kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device>,
    std::optional<bool>) {
  return at::detail::empty_strided_generic(
      size, stride, &memory, kKeys, c10::dtype_or_default(dtype));
}

// The same memory as a tensor of the CPU's.
at::Tensor host(const at::Tensor& tensor) {
  if (tensor.is_cpu()) {
    return tensor;
  }
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(at::kCPU));
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  host(self).copy_(host(source), non_blocking);
  return self;
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool non_blocking) {
  host(to).copy_(host(self), non_blocking);
  return to;
}

const at::Tensor& resize_(
    const at::Tensor& self,
    at::IntArrayRef size,
    std::optional<at::MemoryFormat>) {
  auto* impl = self.unsafeGetTensorImpl();
  const auto& storage = impl->storage();
  const size_t elements = c10::multiply_integers(size) + impl->storage_offset();
  const size_t bytes = elements * self.element_size();
  if (storage.nbytes() < bytes) {
    auto more = memory.allocate(bytes);
    memory.copy_data(more.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr_noswap(std::move(more));
    storage.set_nbytes(bytes);
  }
  impl->set_sizes_contiguous(size);
  return self;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& to) {
  to.resize_(self.sizes());
  host(to).copy_(host(self));
  return to;
}

at::Tensor& fill_(at::Tensor& self, const at::Scalar& value) {
  host(self).fill_(value);
  return self;
}

at::Tensor& zero_(at::Tensor& self) {
  host(self).zero_();
  return self;
}

void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

at::Tensor& set_(at::Tensor& self, at::Storage source) {
  return at::native::set_(self, std::move(source));
}

at::Scalar item(const at::Tensor& self) {
  return host(self).item();
}

// Which attention kernel the target takes. The conditions that do not depend on the device are
// torch's own functions; those that do are in torch's CUDA library, and are told here anew.

using Condition = bool (*)(const sdp::sdp_params&, bool);

template <size_t N>
bool all_hold(const std::array<Condition, N>& conditions, const sdp::sdp_params& call) {
  for (auto condition : conditions) {
    if (!condition(call, false)) {
      return false;
    }
  }
  return true;
}

int64_t capability() {
  return 10 * target.major + target.minor;
}

bool has_type(const sdp::sdp_params& call, std::initializer_list<at::ScalarType> types) {
  return sdp::check_tensor_dtype(call, std::vector<at::ScalarType>(types), false);
}

bool has_square_mask(const sdp::sdp_params& call, bool) {
  return !call.is_causal || call.query.sym_size(-2) == call.key.sym_size(-2);
}

bool has_one_head_size(const sdp::sdp_params& call, bool) {
  const auto size = call.query.sym_size(-1);
  return size == call.key.sym_size(-1) && size == call.value.sym_size(-1);
}

bool takes_flash(const sdp::sdp_params& call) {
  const std::array<Condition, 8> conditions{
      sdp::check_runtime_disabled_flash,
      sdp::check_tensor_shapes,
      sdp::check_for_attn_mask,
      has_one_head_size,
      has_square_mask,
      sdp::check_batch_size_and_num_heads_dense<true>,
      sdp::check_nonzero_sequence_lengths_dense,
      sdp::check_last_dim_stride_equals_1_dense<true>};
  if (!all_hold(conditions, call) || !has_type(call, {at::kHalf, at::kBFloat16})) {
    return false;
  }
  const auto size = call.query.sym_size(-1);
  if (target.hip) {
    return size <= 512;
  }
  if (capability() < 80 || capability() > 121 || size > 256) {
    return false;
  }
  const bool is_small = (capability() >= 86 && capability() <= 89) || capability() >= 120;
  if (is_small && sdp::input_requires_grad(call)) {
    return size <= 192 || (call.dropout == 0.0 && size > 224);
  }
  return true;
}

bool takes_efficient(const sdp::sdp_params& call) {
  const std::array<Condition, 5> conditions{
      sdp::check_runtime_disabled_mem_efficient,
      sdp::check_tensor_shapes,
      sdp::check_nonzero_sequence_lengths_dense,
      sdp::check_last_dim_stride_equals_1_dense<false>,
      sdp::check_batch_size_and_num_heads_dense<false>};
  if (!all_hold(conditions, call) || !has_type(call, {at::kHalf, at::kFloat, at::kBFloat16})) {
    return false;
  }
  const auto size = call.query.sym_size(-1);
  const auto of_values = call.value.sym_size(-1);
  const int64_t step = call.query.scalar_type() == at::kFloat ? 4 : 8;
  if (target.hip) {
    return has_one_head_size(call, false) && size % 8 == 0 && size <= 256;
  }
  return size == call.key.sym_size(-1) && size % step == 0 && of_values % step == 0 &&
      size > 0 && of_values > 0;
}

bool takes_cudnn(const sdp::sdp_params& call) {
  const std::array<Condition, 5> conditions{
      sdp::check_tensor_shapes,
      sdp::check_attn_mask_shape,
      sdp::check_nonzero_sequence_lengths_dense,
      sdp::check_last_dim_stride_equals_1_dense<true>,
      sdp::check_batch_size_and_num_heads_dense<true, false>};
  auto& context = at::globalContext();
  if (target.cudnn < 90000 || !context.userEnabledCuDNNSDP() || capability() < 80 ||
      (context.deterministicAlgorithms() && !context.deterministicAlgorithmsWarnOnly()) ||
      !all_hold(conditions, call) || !has_type(call, {at::kHalf, at::kBFloat16})) {
    return false;
  }
  const auto size = call.query.sym_size(-1);
  const auto of_values = call.value.sym_size(-1);
  const bool is_large = target.major == 9 || target.major == 10;
  const int64_t most = is_large && size == 192 && of_values == 128 ? 192 : 128;
  const bool has_dropout = call.dropout != 0.0;
  return size <= most && of_values <= most && size % 8 == 0 && of_values % 8 == 0 &&
      call.key.sym_size(2) != 1 && (!has_dropout || call.query.sym_size(2) != 1) &&
      call.dropout * 16.0 == std::floor(call.dropout * 16.0);
}

// cuDNN comes first on Hopper and on Blackwell for data centers, where it is recent.
void prefer_cudnn() {
  const bool is_large = target.major == 9 || target.major == 10;
  if (is_large && target.cudnn > 91500 &&
      c10::utils::check_env("TORCH_CUDNN_SDPA_DEPRIORITIZED") != true) {
    at::globalContext().setSDPPriorityOrder(
        {static_cast<int64_t>(at::SDPBackend::cudnn_attention),
         static_cast<int64_t>(at::SDPBackend::flash_attention),
         static_cast<int64_t>(at::SDPBackend::efficient_attention),
         static_cast<int64_t>(at::SDPBackend::math)});
  }
}

int64_t choose_attention(
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const std::optional<at::Tensor>& mask,
    double dropout,
    bool is_causal,
    std::optional<double>,
    bool enable_gqa) {
  const sdp::sdp_params call{query, key, value, mask, dropout, is_causal, enable_gqa};
  if (!sdp::has_only_dense_inputs(call)) {
    return static_cast<int64_t>(at::SDPBackend::math);
  }
  for (const auto backend : at::globalContext().sDPPriorityOrder()) {
    const bool is_taken = backend == at::SDPBackend::flash_attention ? takes_flash(call)
        : backend == at::SDPBackend::efficient_attention             ? takes_efficient(call)
        : backend == at::SDPBackend::cudnn_attention                 ? takes_cudnn(call)
        : backend == at::SDPBackend::math ? at::globalContext().userEnabledMathSDP()
                                          : false;
    if (is_taken) {
      return static_cast<int64_t>(backend);
    }
  }
  TORCH_CHECK(false, "No available kernel. Aborting execution.");
}

} // namespace

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("copy_", copy_);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage", set_);
  m.impl("set_.source_Tensor", at::native::set_tensor_);
  m.impl("set_.source_Storage_storage_offset", at::native::set_storage_cpu_);
  m.impl("fill_.Scalar", fill_);
  m.impl("zero_", zero_);
  m.impl("_local_scalar_dense", item);
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
}

TORCH_LIBRARY_IMPL(_, CUDA, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

extern "C" void compilescope_stand_in(int64_t major, int64_t minor, bool hip, int64_t cudnn) {
  target = {major, minor, hip, cudnn};
  static Guard guard;
  static Hooks hooks;
  static c10::impl::DeviceGuardImplRegistrar registrar(kGpu, &guard);
  // torch keeps the hooks object that it found when it was loaded, so we replace that object's
  // virtual functions by ours.
  auto& there = const_cast<at::CUDAHooksInterface&>(at::detail::getCUDAHooks());
  *reinterpret_cast<void**>(&there) = *reinterpret_cast<void**>(&hooks);
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose_attention);
  prefer_cudnn();
}
