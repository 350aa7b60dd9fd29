#pragma once
// The worker protocol, version 1: JSON lines over a worker's standard input and output, the same for a local
// worker, one behind ssh and one behind srun. Every request has an "id" and gets one reply with it (compile:
// one reply a job, then "done"). Nothing else is written to standard output; messages for people go to
// standard error. The end of the worker's input cancels what it does, stops its children, removes its scratch
// folder and ends it.
//
// clang-format off
//  -> {"id":1,"do":"hello","protocol":1}
//  <- {"id":1,"ok":true,"protocol":1,"version":"0.1.0","host":"...","scratch":"/tmp/nuscope-...","token":"5f...",
//      "devices":[{"kind":"host","name":"...","available":true,"reason":""}],
//      "compiler":"g++ (Debian 12.2.0-14) 12.2.0","processors":2,
//      "libraries":{"openblas":{"available":true,"text":"OpenBLAS 0.3.21 ..."}}}
//  -> {"id":2,"do":"compile","limit_s":60,"parallel":2,
//      "jobs":[{"name":"k12","source":"...","command":["g++",...,"{source}","-o","{output}"]}]}
//  <- {"id":2,"job":"k12","ok":true,"seconds":0.41}      or "ok":false,"outcome":"failed","message":"..."
//  <- {"id":2,"ok":true,"done":true}
//  -> {"id":3,"do":"put","file":"draw0.x","offset":0,"data":"base64"}
//  -> {"id":4,"do":"get","file":"out0","offset":0,"size":1048576}        <- {"id":4,"ok":true,"data":"base64"}
//  -> {"id":5,"do":"run","library":"k12","function":"rmsnorm_matmul","threads":1,"ordinal":7,"limit_s":10,
//      "inputs":[{"file":"draw0.x","dtype":"f32","count":524288}],
//      "outputs":[{"file":"out0","dtype":"f32","count":524288}]}
//  <- {"id":5,"ok":true,"seconds":0.014}
//     "ok":false,"outcome":"crashed"|"timed_out"|"failed","message":"killed by signal 11 (segmentation fault)"
//  -> {"id":6,"do":"measure","kernels":[{"library":...,"function":...,"ordinal":...},...],"inputs":[...],
//      "outputs":[...],"threads":1,"warmup":2,"min_samples":6,"max_samples":50,"seconds":0.5,"width":0.02,"limit_s":10}
//  <- {"id":6,"ok":true,"samples":[[...],[...]],"pinned":true}       a failure names "kernel": its index
//  -> {"id":7,"do":"ping"}   {"id":8,"do":"cancel"} (answers at once; what runs ends with "outcome":"cancelled")
//  -> {"id":9,"do":"forget","library":"k12"}   {"id":10,"do":"quit"}
//  -> {"id":11,"do":"fresh"}: what runs next runs in a new child, whatever the kernels so far did to theirs
// clang-format on
//
// Kernels of one measure request take turns, sample by sample. A file name is relative to the scratch folder
// and has no separators. Where coordinator and worker share a file system (the coordinator finds the token in
// the scratch folder's file "token"), the coordinator reads and writes these files itself; else by put and
// get. Files hold raw little-endian elements of the dtype (bool: bytes). `ordinal`: which candidate of the
// sweep this is, from 1; a simulated device plants its faults by it.
//
// Kernels run in a child of the worker ("nuscope worker --execute"), which a crash, a hang or its memory
// limit kills; the worker reports that and starts another. So one kernel costs one candidate, also on the far
// side of ssh.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"

namespace nuscope::sweep {

constexpr int protocolVersion = 1;

struct DeviceEntry {
  std::string kind;  ///< "host", "nvidia", "trainium", "simulated"
  std::string name;  ///< "AMD EPYC 7763, 2 processors, AVX2"
  bool available = false;
  std::string reason;  ///< why (not)
};

struct Library {
  bool available = false;
  std::string text;  ///< version and configuration, or why it is missing
};

struct Hello {
  std::string version, host, scratch, token, compiler;
  int processors = 1;
  std::vector<DeviceEntry> devices;
  std::map<std::string, Library> libraries;
};

enum class Outcome : std::uint8_t {
  ok,
  failed,    ///< refused: did not compile, no such function, no memory
  crashed,   ///< the kernel's process died
  timedOut,  ///< killed at the limit
  cancelled,
  lost  ///< the worker itself is gone; start another
};
std::string_view text(Outcome outcome);
std::optional<Outcome> parseOutcome(std::string_view text);

struct CompileJob {
  std::string name;  ///< [A-Za-z0-9_-]+, unique in the worker
  std::string source;
  std::vector<std::string> command;  ///< with {source} and {output}; runs in the folder of all outputs
  std::string output = {};           ///< file that the command makes; empty: NAME.so
};
struct CompileResult {
  std::string name;
  Outcome outcome = Outcome::failed;
  std::string message;  ///< the compiler's
  double seconds = 0;
};

/// One array in a file.
struct ArrayFile {
  std::string file;
  tensor::DType dtype = tensor::DType::f32;
  std::int64_t count = 0;
};
struct KernelRef {
  std::string library;   ///< a compiled job's name, or NAME of a shared library that was put as "NAME.so"
  std::string function;  ///< one name, or several separated by commas: the first that the library has
  int ordinal = 0;
};
struct RunRequest {
  KernelRef kernel;
  std::vector<ArrayFile> inputs, outputs;
  int threads = 1;
  double limitSeconds = 10;
};
struct RunReply {
  Outcome outcome = Outcome::failed;
  std::string message;
  double seconds = 0;
};
struct MeasureRequest {
  std::vector<KernelRef> kernels;  ///< take turns, sample by sample
  std::vector<ArrayFile> inputs, outputs;
  int threads = 1;
  int warmup = 1;                       ///< runs after a first one; none for kernels of 5 ms and more
  int minSamples = 6, maxSamples = 50;  ///< each kernel
  double seconds = 0.5;                 ///< budget of the whole request, warm-up excluded
  double width = 0.02;                  ///< stop when every median's interval is this narrow
  double limitSeconds = 10;             ///< one run
};
struct MeasureReply {
  Outcome outcome = Outcome::failed;
  std::string message;
  int kernel = -1;                           ///< which one failed
  std::vector<std::vector<double>> samples;  ///< seconds of device time, one list a kernel
  bool pinned = false;
};

// JSON lines of the requests and replies above (protocol.cpp); readers throw UserError on anything malformed.
std::string helloRequest(int id);
std::string compileRequest(int id, const std::vector<CompileJob>& jobs, double limitSeconds, int parallel);
std::string runRequest(int id, const RunRequest& request);
std::string measureRequest(int id, const MeasureRequest& request);
std::string simpleRequest(int id, std::string_view verb);  ///< ping, cancel, fresh, quit
std::string putRequest(int id, std::string_view file, std::int64_t offset, std::string_view bytes);
std::string getRequest(int id, std::string_view file, std::int64_t offset, std::int64_t size);
std::string forgetRequest(int id, std::string_view library);

/// A parsed request, on the worker's side.
struct Request {
  int id = 0;
  std::string verb;
  std::vector<CompileJob> jobs;
  int parallel = 1;
  double limitSeconds = 10;
  RunRequest run;
  MeasureRequest measure;
  std::string file, data;  ///< put, get, forget; data is decoded
  std::int64_t offset = 0, size = 0;
};
Request parseRequest(std::string_view line);

std::string helloReply(int id, const Hello& hello);
std::string compileReply(int id, const CompileResult& result);
std::string runReply(int id, const RunReply& reply);
std::string measureReply(int id, const MeasureReply& reply);
std::string dataReply(int id, std::string_view bytes);
std::string okReply(int id);
std::string doneReply(int id);
std::string errorReply(int id, Outcome outcome, std::string_view message);

/// A parsed reply, on the coordinator's side.
struct Reply {
  int id = 0;
  bool ok = false;
  bool done = false;
  Hello hello;
  CompileResult compiled;
  RunReply run;
  MeasureReply measure;
  std::string data;
  std::string message;
};
Reply parseReply(std::string_view line);

}  // namespace nuscope::sweep
