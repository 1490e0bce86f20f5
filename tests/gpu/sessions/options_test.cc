// What users can set for a GPU provider, and what they are told where they set something else.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tested_provider.h"

namespace {

namespace fs = std::filesystem;

class ProviderOptions : public ::testing::Test {
 protected:
  ProviderOptions() { setenv("XDG_CACHE_HOME", (folder_ / "user").c_str(), 1); }

  void expect_refused(const Provider::Entries& options, const std::string& part) {
    Session session;
    EXPECT_REFUSED(provider_.create(session, options), ORT_INVALID_ARGUMENT, part);
  }
  void expect_runs(const Provider::Entries& options) {
    Session session = provider_.session(options);
    std::vector<float> wanted = run(provider_.cpu_session()), got = run(session);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], wanted[i], 1e-4f);
  }
  /** The profile of two runs. */
  std::string profile(const Provider::Entries& options) {
    const std::string prefix = (folder_ / "profile").string();
    Session session = provider_.session(options, prefix.c_str());
    run(session);
    run(session);
    char* path = nullptr;
    EXPECT_OK(api().SessionEndProfiling(session, default_allocator(), &path));
    std::ifstream file(take(path));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /** Ends after the provider, which may write until then. */
  struct Folder : fs::path {
    Folder() : fs::path(fs::path(::testing::TempDir()) / ("gpu_options." + std::to_string(getpid()))) {
      fs::create_directories(*this);
    }
    ~Folder() { fs::remove_all(*this); }
  } folder_;
  Provider provider_;
};

TEST_F(ProviderOptions, AnUnknownOneIsNamedWithThoseThereAre) {
  expect_refused(
      {{"colour", "blue"}},
      "there is no option colour, which is set to 'blue'; there are device, precision, memory_limit, tuning, "
      "products, cache_folder, profiling, min_group_size, log_refusals");
}

TEST_F(ProviderOptions, ABadValueIsNamedWithWhatIsAllowed) {
  expect_refused({{"memory_limit", "much"}}, "option memory_limit is 'much', it must be a number from 0");
  expect_refused({{"tuning", "slow"}}, "option tuning is 'slow', it must be none, fast or full");
  expect_refused({{"products", "mine"}}, "option products is 'mine', it must be auto, own or library");
  expect_refused({{"precision", "fp8"}},
                 "option precision is 'fp8', it must be fp32, or tf32: libraries and matrix units ");
  expect_refused({{"profiling", "yes"}}, "option profiling is 'yes', it must be 0 or 1");
  expect_refused({{"cache_folder", "here"}}, "option cache_folder is 'here', it must be a path from the root, off");
}

TEST_F(ProviderOptions, TheDeviceByNumberNameAndType) {
  const std::string name = provider_.metadata("device"), type = provider_.metadata("type");
  for (const std::string& meant : {std::string(), provider_.metadata("device_index"), type, name, name.substr(1, 4)}) {
    SCOPED_TRACE(meant);
    expect_runs({{"device", meant}});
  }
  for (const std::string meant : {"77", "no such device", "accelerator"}) {
    expect_refused({{"device", meant}}, "option device is '" + meant +
                                            "', it must be the number, a part of the name or "
                                            "the type of one of the session's devices: 0 '" +
                                            name + "' (" + type + ")");
  }
}

TEST_F(ProviderOptions, SixteenBitsWhereTheDeviceHasThem) {
  if (provider_.metadata("precision") == "fp32 fp16") {
    Session exact = provider_.session(), session = provider_.session({{"precision", "fp16"}});
    EXPECT_EQ(run(session), run(exact));  // of a model in float32
  } else {
    EXPECT_EQ(provider_.metadata("precision"), "fp32");
    expect_refused({{"precision", "fp16"}},
                   "option precision is 'fp16', which device 0 '" + provider_.metadata("device") + "' does not do: ");
  }
}

TEST(DeviceWithout16Bits, RefusesThem) {
  setenv("ORTOLAN_TEST_DEVICE", "gpu 4 7 no", 1);
  setenv("ORTOLAN_STANDIN_CAPABILITY", "52", 1);
  Provider provider;
  unsetenv("ORTOLAN_TEST_DEVICE");
  unsetenv("ORTOLAN_STANDIN_CAPABILITY");
  Session session;
  EXPECT_EQ(provider.metadata("precision"), "fp32");
  const bool is_llvmpipe = provider.metadata("device").starts_with("llvmpipe");  // has them
  EXPECT_REFUSED(provider.create(session, {{"precision", "fp16"}}), ORT_INVALID_ARGUMENT,
                 is_llvmpipe ? "does not do: kernels for processors compute in 32 bits; set it to fp32"
                             : "does not do: it has no 16-bit arithmetic (");
  EXPECT_REFUSED(provider.create(session, {{"precision", "fp16"}}), ORT_INVALID_ARGUMENT, "; set it to fp32");
}

TEST_F(ProviderOptions, AMemoryLimitEndsInAStatus) {
  expect_runs({{"memory_limit", "1000000"}});
  Session session;
  OrtStatus* status = provider_.create(session, {{"memory_limit", "8"}});
  if (status == nullptr) {
    std::vector<float> pixels(64);
    Value image = floats(pixels, {1, 1, 8, 8}), probabilities;
    const char *in = "image", *out = "probabilities";
    const OrtValue* inputs[] = {image};
    status = api().Run(session, nullptr, &in, inputs, 1, &out, 1, probabilities.out());
  }
  EXPECT_NE(status, nullptr);
  api().ReleaseStatus(status);
}

TEST_F(ProviderOptions, TheCacheIsWhereItIsSaidToBe) {
  const fs::path own = folder_ / "own";
  for (const std::string& place : {std::string("off"), own.string()}) {
    Session session = provider_.session({{"cache_folder", place}});
    for (int i = 0; i < 100 && !(i > 3 && (place == "off" || fs::exists(own))); i++) {
      run(session);
      usleep(10000);
    }
  }
  EXPECT_TRUE(fs::exists(own));
  EXPECT_FALSE(fs::exists(folder_ / "user"));
}

TEST_F(ProviderOptions, SmallGroupsAreLeftForThatReason) {
  Session session;
  EXPECT_REFUSED(provider_.create(session, {{"min_group_size", "1000"}}), ORT_FAIL,
                 "nodes, fewer than the option min_group_size wants, 1000");
}

TEST_F(ProviderOptions, TuningKeepsResults) {
  expect_runs({{"tuning", "none"}});
  expect_runs({{"tuning", "fast"}});
}

/** Whether a product was the library's. */
bool has_library_product(const std::string& profile) {
  return profile.find("test library") != std::string::npos || profile.find("CLBlast") != std::string::npos ||
         profile.find("cuBLASLt") != std::string::npos;
}

TEST_F(ProviderOptions, ProductsByTheDevicesLibrary) {
  for (const char* products : {"auto", "own", "library"}) expect_runs({{"products", products}});
  EXPECT_FALSE(has_library_product(profile({{"products", "own"}})));
  if (!has_library_product(profile({{"products", "library"}}))) {
    EXPECT_EQ(function_of_tested_plugin("TestDeviceFailProduct"), nullptr) << "the test device has a library";
    GTEST_SKIP() << "CLBlast is not installed (libclblast1)";
  }
}

TEST_F(ProviderOptions, AProductThatFailsIsAStatusAndTheSessionGoesOn) {
  Session session = provider_.session({{"products", "library"}});
  auto fail_product = reinterpret_cast<void (*)()>(function_of_tested_plugin("TestDeviceFailProduct"));
  if (fail_product == nullptr) GTEST_SKIP() << "a device that fails as told is the test device alone";
  std::vector<float> before = run(session);
  fail_product();
  std::vector<float> pixels(64);
  Value image = floats(pixels, {1, 1, 8, 8}), probabilities;
  const char *in = "image", *out = "probabilities";
  const OrtValue* inputs[] = {image};
  EXPECT_REFUSED(api().Run(session, nullptr, &in, inputs, 1, &out, 1, probabilities.out()), ORT_FAIL,
                 "product of the library: it fails as told");
  EXPECT_EQ(run(session), before);
}

TEST_F(ProviderOptions, ProfilesHoldTheDevicesTimes) {
  const std::string kernel_of_node = "\"node\":\"linear\"";
  const std::string with = profile({}), without = profile({{"profiling", "0"}});
  EXPECT_NE(with.find(kernel_of_node), std::string::npos) << with.substr(0, 4000);
  EXPECT_EQ(without.find(kernel_of_node), std::string::npos);
}

}  // namespace
