// The proof cache: what is in it is replayed before it counts, whatever has happened to the files.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/record/cache.h"
#include "core/record/record.h"

namespace nuscope::record {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  Cache()
      : folder_(fs::path(testing::TempDir()) / ("proofs_" + std::to_string(::getpid()))), cache_(folder_) {
    fs::remove_all(folder_);
  }
  ~Cache() override { fs::remove_all(folder_); }

  static replay::ProofGoal goal(const std::string& right) {
    const std::string head =
        "from __future__ import annotations\nimport numpy as np\n\n\ndef f(x: f32[M, 4]) -> f32[M]:\n";
    return {false, head + "    return np.sum(2 * x, axis=1)\n", head + "    return " + right + "\n"};
  }
  void put(const fs::path& file, const std::string& text) const {
    fs::create_directories(folder_);
    std::ofstream(file) << text;
  }

  replay::ProofGoal good_ = goal("2 * np.sum(x, axis=1)");
  std::string record_ = recordProof(good_, nullptr).record;
  fs::path folder_;
  ProofCache cache_;
};

TEST_F(Cache, FindsWhatWasStored) {
  EXPECT_FALSE(cache_.find(good_, nullptr));
  ASSERT_FALSE(record_.empty());
  cache_.store(good_, record_);
  const auto found = cache_.find(good_, nullptr);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->goal == good_);
  replay::ProofGoal refined = good_;
  refined.refines = true;
  EXPECT_FALSE(cache_.find(refined, nullptr)) << "another mode is another goal";
}

TEST_F(Cache, IsNotFooledByDamagedFiles) {
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, record_.size() / 2, record_.size() - 2}) {
    put(cache_.fileOf(good_), record_.substr(0, length));
    EXPECT_FALSE(cache_.find(good_, nullptr));
  }
  put(cache_.fileOf(good_), std::string(replay::recordLimit + 1, 'x'));
  EXPECT_FALSE(cache_.find(good_, nullptr));
  fs::remove(cache_.fileOf(good_));
  fs::create_directories(cache_.fileOf(good_));
  EXPECT_FALSE(cache_.find(good_, nullptr));
}

TEST_F(Cache, IsNotFooledByOtherVersionsAndGoals) {
  auto other = nlohmann::json::parse(record_);
  other["semantics"] = replay::semanticsVersion + 1;
  put(cache_.fileOf(good_), other.dump());
  EXPECT_FALSE(cache_.find(good_, nullptr));
  // As if two goals had one hash.
  const auto wrong = goal("3 * np.sum(x, axis=1)");
  put(cache_.fileOf(wrong), record_);
  EXPECT_FALSE(cache_.find(wrong, nullptr));
  auto forged = nlohmann::json::parse(record_);
  forged["goal"]["right"] = wrong.right;
  put(cache_.fileOf(wrong), forged.dump());
  EXPECT_FALSE(cache_.find(wrong, nullptr));
}

TEST_F(Cache, ServesManyAtOnce) {
  cache_.store(good_, record_);
  std::atomic<int> missing{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        cache_.store(good_, record_);
        if (!cache_.find(good_, nullptr)) ++missing;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(missing, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "nothing is left aside";
}

TEST_F(Cache, KeepsTheLatest) {
  for (int i = 0; i < 6; ++i) {
    auto one = good_;
    one.left += std::string(static_cast<std::size_t>(i), '\n');
    cache_.store(one, record_, 4);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4);
}

TEST_F(Cache, LivesWithoutAFolder) {
  const ProofCache none{fs::path()};
  none.store(good_, record_);
  EXPECT_FALSE(none.find(good_, nullptr));
  const ProofCache denied{"/proc/nuscope"};
  denied.store(good_, record_);
  EXPECT_FALSE(denied.find(good_, nullptr));
}

}  // namespace
}  // namespace nuscope::record
