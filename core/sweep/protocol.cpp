#include "core/sweep/protocol.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"
#include "core/sweep/base64.h"

namespace nuscope::sweep {
namespace {

using nlohmann::json;

constexpr std::array outcomeNames{"ok", "failed", "crashed", "timed_out", "cancelled", "lost"};

std::string line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

json arraysJson(const std::vector<ArrayFile>& arrays) {
  json list = json::array();
  for (const ArrayFile& a : arrays) {
    list.push_back({{"file", a.file}, {"dtype", tensor::text(a.dtype)}, {"count", a.count}});
  }
  return list;
}

std::vector<ArrayFile> parseArrays(const json& list) {
  std::vector<ArrayFile> arrays;
  for (const json& j : list) {
    const auto dtype = tensor::parseDType(j.at("dtype").get<std::string>());
    ArrayFile a{j.at("file").get<std::string>(), dtype.value_or(tensor::DType::f32),
                j.at("count").get<std::int64_t>()};
    if (!dtype) throw UserError("an array's dtype is unknown: " + j.at("dtype").get<std::string>());
    if (a.count < 0 || a.count > (std::int64_t{1} << 40)) throw UserError("an array's count is out of range");
    arrays.push_back(std::move(a));
  }
  return arrays;
}

json kernelJson(const KernelRef& k) {
  return {{"library", k.library}, {"function", k.function}, {"ordinal", k.ordinal}};
}

KernelRef parseKernel(const json& j) {
  return {j.at("library").get<std::string>(), j.at("function").get<std::string>(), j.value("ordinal", 0)};
}

CompileJob parseJob(const json& j) {
  return {j.at("name").get<std::string>(), j.at("source").get<std::string>(),
          j.at("command").get<std::vector<std::string>>(), j.value("output", std::string())};
}

Outcome outcomeOf(const json& j) {
  if (j.value("ok", false)) return Outcome::ok;
  return parseOutcome(j.value("outcome", "failed")).value_or(Outcome::failed);
}

Hello parseHello(const json& j) {
  Hello hello;
  if (j.at("protocol").get<int>() != protocolVersion) {
    throw UserError("the worker speaks protocol " + j.at("protocol").dump() +
                    "; this Nuscope speaks 1: use the same version");
  }
  hello.version = j.value("version", "");
  hello.host = j.value("host", "");
  hello.scratch = j.value("scratch", "");
  hello.token = j.value("token", "");
  hello.compiler = j.value("compiler", "");
  hello.processors = j.value("processors", 1);
  for (const json& d : j.at("devices")) {
    hello.devices.push_back({d.at("kind").get<std::string>(), d.value("name", ""),
                             d.value("available", false), d.value("reason", "")});
  }
  const auto libraries = j.find("libraries");
  if (libraries != j.end()) {
    for (const auto& [name, l] : libraries->items()) {
      hello.libraries[name] = {l.value("available", false), l.value("text", "")};
    }
  }
  return hello;
}

template <class Read>
auto guarded(std::string_view text, const char* what, Read read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    throw UserError(std::string(what) + " is malformed: " + error.what() + ": " +
                    std::string(text.substr(0, 200)));
  }
}

Request requestOf(const json& j) {
  Request request;
  request.id = j.at("id").get<int>();
  request.verb = j.at("do").get<std::string>();
  request.limitSeconds = j.value("limit_s", 10.0);
  if (request.verb == "compile") {
    request.parallel = j.value("parallel", 1);
    for (const json& job : j.at("jobs")) request.jobs.push_back(parseJob(job));
  } else if (request.verb == "run") {
    request.run = {parseKernel(j), parseArrays(j.at("inputs")), parseArrays(j.at("outputs")),
                   j.value("threads", 1), request.limitSeconds};
  } else if (request.verb == "measure") {
    MeasureRequest& m = request.measure;
    for (const json& kernel : j.at("kernels")) m.kernels.push_back(parseKernel(kernel));
    m.inputs = parseArrays(j.at("inputs"));
    m.outputs = parseArrays(j.at("outputs"));
    m.threads = j.value("threads", 1);
    m.warmup = j.value("warmup", 1);
    m.minSamples = j.value("min_samples", 6);
    m.maxSamples = j.value("max_samples", 50);
    m.seconds = j.value("seconds", 0.5);
    m.width = j.value("width", 0.02);
    m.limitSeconds = request.limitSeconds;
  } else if (request.verb == "put" || request.verb == "get") {
    request.file = j.at("file").get<std::string>();
    request.offset = j.value("offset", std::int64_t{0});
    request.size = j.value("size", std::int64_t{0});
    if (request.verb == "put") {
      auto bytes = decodeBase64(j.at("data").get_ref<const std::string&>());
      if (!bytes) throw UserError("the data of a put request is no base64");
      request.data = std::move(*bytes);
    }
  } else if (request.verb == "forget") {
    request.file = j.at("library").get<std::string>();
  }
  return request;
}

Reply replyOf(const json& j) {
  Reply reply;
  reply.id = j.at("id").get<int>();
  reply.ok = j.value("ok", false);
  reply.done = j.value("done", false);
  reply.message = j.value("message", "");
  const Outcome outcome = outcomeOf(j);
  if (j.contains("protocol")) reply.hello = parseHello(j);
  if (j.contains("job")) {
    reply.compiled = {j.at("job").get<std::string>(), outcome, reply.message, j.value("seconds", 0.0)};
  }
  reply.run = {outcome, reply.message, j.value("seconds", 0.0)};
  reply.measure.outcome = outcome;
  reply.measure.message = reply.message;
  reply.measure.kernel = j.value("kernel", -1);
  reply.measure.pinned = j.value("pinned", false);
  if (j.contains("samples")) reply.measure.samples = j.at("samples").get<std::vector<std::vector<double>>>();
  if (j.contains("data")) {
    auto bytes = decodeBase64(j.at("data").get_ref<const std::string&>());
    if (!bytes) throw UserError("the data of a reply is no base64");
    reply.data = std::move(*bytes);
  }
  return reply;
}

}  // namespace

std::string_view text(Outcome outcome) {
  return outcomeNames.at(static_cast<std::size_t>(outcome));
}

std::optional<Outcome> parseOutcome(std::string_view name) {
  for (std::size_t i = 0; i < outcomeNames.size(); ++i) {
    if (name == outcomeNames[i]) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

std::string helloRequest(int id) {
  return line({{"id", id}, {"do", "hello"}, {"protocol", protocolVersion}});
}

std::string compileRequest(int id, const std::vector<CompileJob>& jobs, double limitSeconds, int parallel) {
  json list = json::array();
  for (const CompileJob& job : jobs)
    list.push_back(
        {{"name", job.name}, {"source", job.source}, {"command", job.command}, {"output", job.output}});
  return line(
      {{"id", id}, {"do", "compile"}, {"limit_s", limitSeconds}, {"parallel", parallel}, {"jobs", list}});
}

std::string runRequest(int id, const RunRequest& r) {
  json j = kernelJson(r.kernel);
  j.update({{"id", id},
            {"do", "run"},
            {"threads", r.threads},
            {"limit_s", r.limitSeconds},
            {"inputs", arraysJson(r.inputs)},
            {"outputs", arraysJson(r.outputs)}});
  return line(j);
}

std::string measureRequest(int id, const MeasureRequest& m) {
  json kernels = json::array();
  for (const KernelRef& kernel : m.kernels) kernels.push_back(kernelJson(kernel));
  return line({{"id", id},
               {"do", "measure"},
               {"kernels", kernels},
               {"inputs", arraysJson(m.inputs)},
               {"outputs", arraysJson(m.outputs)},
               {"threads", m.threads},
               {"warmup", m.warmup},
               {"min_samples", m.minSamples},
               {"max_samples", m.maxSamples},
               {"seconds", m.seconds},
               {"width", m.width},
               {"limit_s", m.limitSeconds}});
}

std::string simpleRequest(int id, std::string_view verb) {
  return line({{"id", id}, {"do", verb}});
}

std::string putRequest(int id, std::string_view file, std::int64_t offset, std::string_view bytes) {
  return line({{"id", id}, {"do", "put"}, {"file", file}, {"offset", offset}, {"data", encodeBase64(bytes)}});
}

std::string getRequest(int id, std::string_view file, std::int64_t offset, std::int64_t size) {
  return line({{"id", id}, {"do", "get"}, {"file", file}, {"offset", offset}, {"size", size}});
}

std::string forgetRequest(int id, std::string_view library) {
  return line({{"id", id}, {"do", "forget"}, {"library", library}});
}

Request parseRequest(std::string_view text) {
  return guarded(text, "a request", requestOf);
}

std::string helloReply(int id, const Hello& h) {
  json devices = json::array();
  for (const DeviceEntry& d : h.devices) {
    devices.push_back({{"kind", d.kind}, {"name", d.name}, {"available", d.available}, {"reason", d.reason}});
  }
  json libraries = json::object();
  for (const auto& [name, library] : h.libraries) {
    libraries[name] = {{"available", library.available}, {"text", library.text}};
  }
  return line({{"id", id},
               {"ok", true},
               {"protocol", protocolVersion},
               {"version", h.version},
               {"host", h.host},
               {"scratch", h.scratch},
               {"token", h.token},
               {"compiler", h.compiler},
               {"processors", h.processors},
               {"devices", devices},
               {"libraries", libraries}});
}

std::string compileReply(int id, const CompileResult& r) {
  json j{{"id", id}, {"job", r.name}, {"ok", r.outcome == Outcome::ok}, {"seconds", r.seconds}};
  if (r.outcome != Outcome::ok) j.update({{"outcome", text(r.outcome)}, {"message", r.message}});
  return line(j);
}

std::string runReply(int id, const RunReply& r) {
  if (r.outcome != Outcome::ok) return errorReply(id, r.outcome, r.message);
  return line({{"id", id}, {"ok", true}, {"seconds", r.seconds}});
}

std::string measureReply(int id, const MeasureReply& r) {
  json j{{"id", id}, {"ok", r.outcome == Outcome::ok}, {"samples", r.samples}, {"pinned", r.pinned}};
  if (r.outcome != Outcome::ok) {
    j.update({{"outcome", text(r.outcome)}, {"message", r.message}, {"kernel", r.kernel}});
  }
  return line(j);
}

std::string dataReply(int id, std::string_view bytes) {
  return line({{"id", id}, {"ok", true}, {"data", encodeBase64(bytes)}});
}

std::string okReply(int id) {
  return line({{"id", id}, {"ok", true}});
}
std::string doneReply(int id) {
  return line({{"id", id}, {"ok", true}, {"done", true}});
}

std::string errorReply(int id, Outcome outcome, std::string_view message) {
  return line({{"id", id}, {"ok", false}, {"outcome", text(outcome)}, {"message", message}});
}

Reply parseReply(std::string_view text) {
  return guarded(text, "a worker's reply", replyOf);
}

}  // namespace nuscope::sweep
