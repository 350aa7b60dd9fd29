#pragma once
// For tests of the cases that lie beside the project: a clone alone has none, and its tests say so.
#include <gtest/gtest.h>

#include <filesystem>

// A macro, for it leaves the test that it stands in.
#define NEED_CASES()                                         \
  if (!std::filesystem::exists(NUSCOPE_SHARED_DIR "/cases")) \
  GTEST_SKIP() << "no cases beside the project (" NUSCOPE_SHARED_DIR ")"
