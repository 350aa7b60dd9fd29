#include "core/replay/schedule_certificate.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace nuscope::replay {
namespace {

using Json = nlohmann::json;
using Id = long long;
using Box = std::vector<std::pair<Id, Id>>;  // a half-open range per axis

struct Wrong {
  std::string why;
};
void require(bool ok, const std::string& why) {
  if (!ok) throw Wrong{why};
}

struct Access {
  Id task, buffer;
  bool write;
  Box box;
};

class Replayer {
 public:
  explicit Replayer(const Json& certificate)
      : certificate_(certificate), schedule_(certificate.at("schedule")) {
    for (const Json& b : schedule_.at("buffers")) buffers_[b.at("id")] = b;
    unite();
    std::map<Id, Id> last;  // per SM
    for (const Json& t : schedule_.at("tasks")) {
      const Id id = t.at("id");
      require(tasks_.emplace(id, t).second, "two tasks have one id");
      if (const Json at = t.value("sm", Json()); !at.is_null()) {
        const Id sm = at;
        if (last.contains(sm)) before_[id] = last[sm];
        last[sm] = id;
      }
      for (const Id counter : raises(t)) ++producers_[counter];
      accesses(t);
    }
    if (schedule_.contains("pages") && !schedule_["pages"].is_null()) {
      for (const auto& [buffer, page] : schedule_["pages"].at("buffer_to_page").items())
        pageOf_[std::stoll(buffer)] = page;
    }
  }

  std::string run() {
    if (certificate_.at("verdict") == "safe") return safe();
    std::size_t count = 0;
    for (const Json& finding : certificate_.at("findings")) {
      one(finding);
      ++count;
    }
    require(count > 0, "an unsafe verdict without a finding");
    return std::to_string(count) + " findings confirmed";
  }

 private:
  static std::vector<Id> raises(const Json& t) {
    if (t.contains("signals")) return t["signals"].get<std::vector<Id>>();
    return {t.at("out_counter").get<Id>()};
  }
  static Json waits(const Json& t) { return t.value("waits", Json::array()); }
  /// Our own form: tasks say themselves what they touch.
  bool declared(const Json& t) {
    if (!t.contains("reads") && !t.contains("writes")) return false;
    const Id id = t.at("id");
    bool outside = false;
    for (const bool write : {false, true}) {
      for (const Json& access : t.value(write ? "writes" : "reads", Json::array())) {
        const Id buffer = access.at("buffer");
        Box box = whole(buffer);
        if (access.contains("intervals")) {
          const Json& memory = access["intervals"];
          const Id count = memory.at("count");
          require(box.size() == 1 && count <= 1'000'000, "intervals that are not replayed");
          for (Id i = 0; i < count; ++i) {
            const Id from = memory.at("start").get<Id>() + i * memory.at("stride").get<Id>();
            const Id to = from + memory.at("length").get<Id>();
            outside = outside || from < 0 || to > box[0].second;
            touched_.push_back(
                {id, buffer, write, {{std::min(from, box[0].second), std::min(to, box[0].second)}}});
          }
          if (write && buffers_.at(buffer).at("kind") == "KV_CACHE") append(buffer, memory.at("start"));
          continue;
        }
        if (access.contains("region")) {
          require(access["region"].size() == box.size(), "a region does not fit its buffer");
          for (std::size_t i = 0; i < box.size(); ++i) {
            const Id from = access["region"][i].at(0);
            const Id to = access["region"][i].at(1);
            const Id end = box[i].second;
            outside = outside || from < 0 || to > end || to < from;
            box[i] = {std::clamp<Id>(from, 0, end), std::clamp<Id>(to, 0, end)};
          }
        }
        touched_.push_back({id, buffer, write, box});
        if (!write || buffers_.at(buffer).at("kind") != "KV_CACHE") continue;
        const Id first =
            access.contains("region") ? access["region"][box.size() == 4 ? 1 : 0].at(0).get<Id>() : 0;
        append(buffer, first);
      }
    }
    if (outside) outside_.insert(id);
    return true;
  }
  void append(Id buffer, Id row) {
    const auto [at, isNew] = appended_.emplace(storage(buffer), row);
    if (!isNew) at->second = std::min(at->second, row);
  }
  // What operations touch. Everything not named here touches whole buffers.
  Box whole(Id buffer) const {
    Box box;
    for (const Json& extent : buffers_.at(buffer).at("shape")) box.emplace_back(0, extent.get<Id>());
    return box;
  }
  Box cut(Id buffer, std::size_t axis, Id from, Id count, bool& outside) const {
    Box box = whole(buffer);
    if (axis >= box.size()) return box;
    outside = outside || from < 0 || from + count > box[axis].second || count < 0;
    const Id end = box[axis].second;
    box[axis] = {std::clamp<Id>(from, 0, end), std::clamp<Id>(from + count, 0, end)};
    return box;
  }
  void accesses(const Json& t) {
    if (declared(t)) return;
    const std::string op = t.at("op");
    const Json& p = t.at("params");
    const Id id = t.at("id");
    bool outside = false;
    for (std::size_t i = 0; i < t.at("inputs").size(); ++i) {
      const Id buffer = t["inputs"][i];
      if (op == "KV_APPEND" && storage(buffer) == storage(t.at("outputs")[0])) continue;
      Box box = whole(buffer);
      if (op == "ATTENTION_TILE" && (i == 1 || i == 2)) {
        box = cut(buffer, box.size() == 4 ? 1 : 0, p.at("kv_start"), p.at("kv_len"), outside);
      }
      touched_.push_back({id, buffer, false, box});
    }
    for (const Json& output : t.at("outputs")) {
      const Id buffer = output;
      Box box = whole(buffer);
      if (op == "GEMV_TILE" || op == "GEMM_TILE") {
        box = cut(buffer, box.size() - 1, p.at("n_off"), p.at("N_tile"), outside);
        outside = outside || p.at("N_tile").get<Id>() < 1;
        if (op == "GEMM_TILE") {
          const Id from = p.value("m_off", Id{0});
          const Id count = p.at("M_tile");
          if (box.size() > 1) box[0] = cut(buffer, 0, from, count, outside)[0];
          outside = outside || count < 1 || (box.size() == 1 && (from != 0 || count != 1));  // one row
          if (box.size() == 1 && (from > 0 || from + count < 1)) box[0] = {0, 0};
        }
        const Json& weight = buffers_.at(t.at("inputs")[1].get<Id>()).at("shape");
        outside = outside || (!weight.empty() && weight.back() != p.at("K"));
      } else if (op == "KV_APPEND") {
        box = cut(buffer, box.size() == 4 ? 1 : 0, p.at("pos"), 1, outside);
        append(buffer, p.at("pos"));
      }
      touched_.push_back({id, buffer, true, box});
    }
    if (outside) outside_.insert(id);
  }
  /// Buffers that are one storage, directly or through others, have one name.
  void unite() {
    std::map<std::string, Id> first;  // buffer by source, and by the name of a cache
    const auto root = [&](Id id) {
      while (storage_.at(id) != id) id = storage_.at(id) = storage_.at(storage_.at(id));
      return id;
    };
    for (const auto& [id, b] : buffers_) {
      storage_[id] = id;
      const auto join = [&, of = id](const std::string& key) {
        storage_[root(of)] = root(first.emplace(key, of).first->second);
      };
      if (b.contains("source") && !b["source"].is_null()) join("source " + b["source"].get<std::string>());
      if (b.at("kind") == "KV_CACHE") join("cache " + b.at("name").get<std::string>());
    }
    for (auto& [id, of] : storage_) of = root(id);
  }
  Id storage(Id buffer) const { return storage_.at(buffer); }
  Id position(Id buffer, const std::vector<Id>& index) const {
    Id flat = 0;
    const Json& shape = buffers_.at(buffer).at("shape");
    for (std::size_t i = 0; i < index.size(); ++i) flat = flat * shape[i].get<Id>() + index[i];
    return flat;
  }
  /// Row-major elements of an access, for the one element that a finding names and for shapes that differ.
  bool covers(const Access& a, Id element) const {
    const Json& shape = buffers_.at(a.buffer).at("shape");
    for (std::size_t i = shape.size(); i-- > 0;) {
      const Id at = element % shape[i].get<Id>();
      element /= shape[i].get<Id>();
      if (at < a.box[i].first || at >= a.box[i].second) return false;
    }
    return element == 0;
  }
  bool meet(const Access& a, const Access& b) const {
    if (storage(a.buffer) != storage(b.buffer)) return false;
    if (buffers_.at(a.buffer).at("shape") == buffers_.at(b.buffer).at("shape")) {
      for (std::size_t i = 0; i < a.box.size(); ++i) {
        if (a.box[i].first >= b.box[i].second || b.box[i].first >= a.box[i].second) return false;
      }
      return true;
    }
    return std::ranges::any_of(elements(a), [&](Id e) { return covers(b, e); });
  }
  std::vector<Id> elements(const Access& a) const {
    std::vector<Id> result;
    std::vector<Id> index;
    for (const auto& [from, to] : a.box) {
      if (from >= to) return {};
      index.push_back(from);
    }
    while (true) {
      result.push_back(position(a.buffer, index));
      std::size_t i = index.size();
      while (i > 0 && ++index[i - 1] == a.box[i - 1].second) {
        index[i - 1] = a.box[i - 1].first;
        --i;
      }
      if (i == 0) return result;
    }
  }
  bool transient(Id buffer, Id element) const {
    const Json& b = buffers_.at(buffer);
    const std::string kind = b.at("kind");
    if (kind == "ACTIVATION" || kind == "IO_OUTPUT") return true;
    const auto appended = appended_.find(storage(buffer));
    if (kind != "KV_CACHE" || appended == appended_.end()) return false;
    const Json& shape = b.at("shape");
    const std::size_t axis = shape.size() == 4 ? 1 : 0;
    Id row = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i) row *= shape[i].get<Id>();
    return element / row % shape[axis].get<Id>() >= appended->second;
  }

  // Running a firing order.
  struct State {
    std::set<Id> done;
    std::map<Id, Id> counters;
  };
  bool canStart(const State& s, Id task) const {
    if (s.done.contains(task)) return false;
    if (before_.contains(task) && !s.done.contains(before_.at(task))) return false;
    for (const Json& w : waits(tasks_.at(task))) {
      const auto at = s.counters.find(w.at("counter").get<Id>());
      if ((at == s.counters.end() ? 0 : at->second) < w.at("threshold").get<Id>()) return false;
    }
    return true;
  }
  void complete(State& s, Id task) const {
    s.done.insert(task);
    for (const Id counter : raises(tasks_.at(task))) ++s.counters[counter];
  }
  State fire(const Json& order) const {
    State s;
    for (const Json& t : order) {
      require(tasks_.contains(t.get<Id>()) && canStart(s, t.get<Id>()),
              "task " + t.dump() + " cannot start where the run says so");
      complete(s, t.get<Id>());
    }
    return s;
  }
  std::vector<const Access*> of(Id task) const {
    std::vector<const Access*> result;
    for (const Access& a : touched_) {
      if (a.task == task) result.push_back(&a);
    }
    return result;
  }

  void one(const Json& f) const {
    const std::string code = f.at("code");
    const std::string where = code + " of task " + f.value("task", Json()).dump() + ": ";
    const auto task = [&] { return f.at("task").get<Id>(); };
    if (code == "deadlock") {
      const State s = fire(f.at("firing"));
      require(s.done.size() < tasks_.size(), where + "every task completes");
      for (const auto& [id, t] : tasks_)
        require(!canStart(s, id), where + "task " + std::to_string(id) + " can still start");
    } else if (code == "race" || (code == "page-clobber" && f.value("unordered", false))) {
      const State s = fire(f.at("firing"));
      const Id other = f.at("other");
      require(task() != other && canStart(s, task()) && canStart(s, other),
              where + "the two cannot both start");
      bool found = false;
      for (const Access* a : of(task())) {
        for (const Access* b : of(other)) {
          const bool page = code == "page-clobber" && pageOf_.contains(a->buffer) &&
                            pageOf_.contains(b->buffer) && pageOf_.at(a->buffer) == pageOf_.at(b->buffer) &&
                            storage(a->buffer) != storage(b->buffer);
          found = found || ((a->write || b->write) && (page || (code == "race" && meet(*a, *b))));
        }
      }
      require(found, where + "their regions do not conflict");
    } else if (code == "uninitialised-read") {
      const State s = fire(f.at("firing"));
      const Id element = f.at("element");
      require(canStart(s, task()), where + "it cannot start there");
      bool reads = false;
      Id from = 0;
      for (const Access* a : of(task())) {
        if (a->write || a->buffer != f.at("buffer").get<Id>() || !covers(*a, element)) continue;
        reads = transient(a->buffer, element);
        from = storage(a->buffer);
      }
      require(reads, where + "it does not read that element, or the element is initialised");
      for (const Access& a : touched_) {
        require(!(a.write && s.done.contains(a.task) && storage(a.buffer) == from && covers(a, element)),
                where + "the element was written");
      }
    } else if (code == "page-clobber") {
      const State s = fire(f.at("firing"));
      require(canStart(s, task()), where + "it cannot start there");
      const Id buffer = f.at("buffer");
      const Id element = f.at("element");
      bool clobbered = false;
      for (const Json& t : f.at("firing")) {
        for (const Access* a : of(t.get<Id>())) {
          if (!a->write || !pageOf_.contains(a->buffer) || pageOf_.at(a->buffer) != pageOf_.at(buffer))
            continue;
          if (storage(a->buffer) != storage(buffer)) clobbered = true;
          if (storage(a->buffer) == storage(buffer) && covers(*a, element)) clobbered = false;
        }
      }
      require(clobbered, where + "the page was not written by another tenant since");
    } else {
      structural(code, f, where);
    }
  }
  void structural(const std::string& code, const Json& f, const std::string& where) const {
    const auto buffer = [&]() -> const Json& { return buffers_.at(f.at("buffer").get<Id>()); };
    if (code == "unsatisfiable-wait") {
      const Json list = waits(tasks_.at(f.at("task")));
      require(std::ranges::any_of(list,
                                  [&](const Json& w) {
                                    const auto at = producers_.find(w.at("counter").get<Id>());
                                    return w.at("threshold").get<Id>() >
                                           (at == producers_.end() ? 0 : at->second);
                                  }),
              where + "all its waits can be met");
    } else if (code == "out-of-bounds") {
      require(outside_.contains(f.at("task").get<Id>()), where + "it stays inside its buffers");
    } else if (code == "read-only-write") {
      const std::string kind = buffer().at("kind");
      const auto list = of(f.at("task").get<Id>());
      require(
          (kind == "WEIGHT" || kind == "CONST" || kind == "IO_INPUT") &&
              std::ranges::any_of(
                  list, [&](const Access* a) { return a->write && a->buffer == f.at("buffer").get<Id>(); }),
          where + "it writes no read-only buffer");
    } else if (code == "bad-placement") {
      const Json sm = tasks_.at(f.at("task")).value("sm", Json());
      const Json target = schedule_.value("target", Json());
      require(sm.is_number() && (sm.get<Id>() < 0 ||
                                 (target.is_object() && sm.get<Id>() >= target.at("num_sms").get<Id>())),
              where + "its SM exists");
    } else if (code == "on-chip-locality") {
      const std::string space = buffer().value("space", "HBM");
      std::set<std::string> sms;
      for (const Access& a : touched_) {
        if (a.buffer == f.at("buffer").get<Id>()) sms.insert(tasks_.at(a.task).value("sm", Json()).dump());
      }
      require((space == "SMEM" || space == "REGISTER") && (sms.size() > 1 || sms.contains("null")),
              where + "one SM uses it");
    } else if (code == "page-capacity") {
      static const std::map<std::string, Id> bits{
          {"F32", 32}, {"I32", 32}, {"F16", 16}, {"BF16", 16}, {"I4", 4}};
      const auto type = bits.find(buffer().at("dtype").get<std::string>());
      Id size = type == bits.end() ? 8 : type->second;
      for (const Json& extent : buffer().at("shape")) size *= extent.get<Id>();
      bool small = false;
      for (const Json& page : schedule_.at("pages").at("pages")) {
        small = small || (page.at("id") == pageOf_.at(f.at("buffer").get<Id>()) &&
                          (size + 7) / 8 > page.at("nbytes").get<Id>());
      }
      require(small, where + "the buffer fits its page");
    } else if (code == "output-incomplete") {
      const Id id = f.at("buffer");
      const Id element = f.at("element");
      require(buffer().at("kind") == "IO_OUTPUT", where + "it is no output");
      for (const Access& a : touched_) {
        require(!(a.write && storage(a.buffer) == storage(id) && covers(a, element)),
                where + "the element is written");
      }
    } else {
      require(false, "unknown rule '" + code + "'");
    }
  }

  // Safety: one complete run, clocks that justify each other, and every conflict ordered by them.
  std::string safe() {
    const State s = fire(certificate_.at("order"));
    require(s.done.size() == tasks_.size(), "the run does not complete every task");
    const Json& chains = certificate_.at("chains");
    std::map<Id, std::pair<Id, Id>> place;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      for (std::size_t i = 0; i < chains[c].size(); ++i)
        place[chains[c][i]] = {static_cast<Id>(c), static_cast<Id>(i)};
    }
    require(place.size() == tasks_.size(), "the chains do not cover every task once");
    std::map<Id, std::map<Id, Id>> clock;
    for (const auto& [id, entries] : certificate_.at("clocks").items()) {
      for (const Json& entry : entries) clock[std::stoll(id)][entry.at(0)] = entry.at(1);
    }
    const auto claims = [&](Id task, Id chain, Id least) {  // after `task`, chain has completed up to `least`
      if (place.at(task).first == chain && place.at(task).second >= least) return true;
      const auto at = clock[task].find(chain);
      return at != clock[task].end() && at->second >= least;
    };
    std::map<Id, std::vector<Id>> raisedBy;
    for (const auto& [id, t] : tasks_) {
      for (const Id counter : raises(t)) raisedBy[counter].push_back(id);
    }
    for (const auto& [id, t] : tasks_) {
      for (const auto& [chain, least] : clock[id]) {
        bool justified = before_.contains(id) && claims(before_.at(id), chain, least);
        for (const Json& w : waits(t)) {
          const auto& from = raisedBy[w.at("counter")];
          const auto saying =
              std::ranges::count_if(from, [&, c = chain, l = least](Id p) { return claims(p, c, l); });
          justified = justified || saying >= static_cast<Id>(from.size()) - w.at("threshold").get<Id>() + 1;
        }
        require(justified, "the clock of task " + std::to_string(id) + " is not justified");
      }
    }
    const auto precedes = [&](Id u, Id v) {
      const auto at = clock[v].find(place.at(u).first);
      return at != clock[v].end() && at->second >= place.at(u).second;
    };
    for (const Json& chain : chains) {
      for (std::size_t i = 1; i < chain.size(); ++i)
        require(precedes(chain[i - 1], chain[i]), "a chain is not ordered");
    }
    conflicts(precedes);
    rules();
    return std::to_string(tasks_.size()) + " tasks: one complete run, clocks and conflicts confirmed";
  }
  template <class Precedes>
  void conflicts(const Precedes& precedes) {
    std::map<Id, std::vector<const Access*>> byStorage;
    for (const Access& a : touched_) byStorage[storage(a.buffer)].push_back(&a);
    for (const auto& [name, list] : byStorage) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t j = i + 1; j < list.size(); ++j) {
          const Access& a = *list[i];
          const Access& b = *list[j];
          if (a.task == b.task || (!a.write && !b.write) || !meet(a, b)) continue;
          require(precedes(a.task, b.task) || precedes(b.task, a.task),
                  "tasks " + std::to_string(a.task) + " and " + std::to_string(b.task) +
                      " are not ordered on buffer " + std::to_string(name));
        }
      }
      for (const Access* read : list) {
        if (read->write || !anyTransient(*read)) continue;
        std::vector<const Access*> writers;
        for (const Access* w : list) {
          if (w->write && precedes(w->task, read->task)) writers.push_back(w);
        }
        require(covered(*read, writers, true), "task " + std::to_string(read->task) +
                                                   " may read unwritten elements of buffer " +
                                                   std::to_string(name));
      }
    }
    for (const Access& a : touched_) {
      if (pageOf_.contains(a.buffer)) pageMates(a, precedes);
    }
  }
  /// What `a` shares its page with is ordered with it, and was overwritten before `a` reads.
  template <class Precedes>
  void pageMates(const Access& a, const Precedes& precedes) const {
    const std::string where =
        "task " + std::to_string(a.task) + " and the page of buffer " + std::to_string(a.buffer) + ": ";
    for (const Access& b : touched_) {
      if (a.task == b.task || !pageOf_.contains(b.buffer) || pageOf_.at(a.buffer) != pageOf_.at(b.buffer))
        continue;
      if (storage(a.buffer) == storage(b.buffer) || (!a.write && !b.write)) continue;
      require(precedes(a.task, b.task) || precedes(b.task, a.task),
              where + "not ordered with another tenant");
      if (a.write || !b.write || !precedes(b.task, a.task)) continue;
      std::vector<const Access*> writers;
      for (const Access& w : touched_) {
        if (w.write && storage(w.buffer) == storage(a.buffer) && precedes(w.task, a.task) &&
            (w.task == b.task || precedes(b.task, w.task))) {
          writers.push_back(&w);
        }
      }
      require(covered(a, writers, false), where + "read after another tenant wrote it");
    }
  }
  bool anyTransient(const Access& a) const {
    const std::string kind = buffers_.at(a.buffer).at("kind");
    return kind == "ACTIVATION" || kind == "IO_OUTPUT" ||
           (kind == "KV_CACHE" && appended_.contains(storage(a.buffer)));
  }
  /// Every element of the access (only those of this pass, if so) is in the box of some writer.
  bool covered(const Access& read, const std::vector<const Access*>& writers, bool onlyTransient) const {
    for (const Access* w : writers) {
      if (buffers_.at(w->buffer).at("shape") == buffers_.at(read.buffer).at("shape") &&
          w->box == whole(w->buffer))
        return true;
    }
    // Corners of the writers' boxes cut the read into pieces; one element of each piece decides. Where a
    // writer's buffer has another shape, its box is none here: then every element is a piece.
    Id elements = 1;
    bool shapes = false;
    for (const auto& [from, to] : read.box) elements *= std::max<Id>(0, to - from);
    for (const Access* w : writers)
      shapes = shapes || buffers_.at(w->buffer).at("shape") != buffers_.at(read.buffer).at("shape");
    require(!shapes || elements <= 1'000'000, "aliases of other shapes that are too large to compare");
    std::vector<std::vector<Id>> edges;
    for (std::size_t i = 0; i < read.box.size(); ++i) {
      std::set<Id> cuts{read.box[i].first};
      for (Id e = read.box[i].first + 1; shapes && e < read.box[i].second; ++e) cuts.insert(e);
      for (const Access* w : writers) {
        if (w->box.size() != read.box.size()) continue;
        for (const Id e : {w->box[i].first, w->box[i].second}) {
          if (e > read.box[i].first && e < read.box[i].second) cuts.insert(e);
        }
      }
      if (onlyTransient && buffers_.at(read.buffer).at("kind") == "KV_CACHE") {
        const Id from = appended_.at(storage(read.buffer));
        if (from > read.box[i].first && from < read.box[i].second) cuts.insert(from);
      }
      if (read.box[i].first >= read.box[i].second) return true;  // nothing is read
      edges.emplace_back(cuts.begin(), cuts.end());
    }
    std::vector<std::size_t> at(edges.size(), 0);
    while (true) {
      std::vector<Id> index;
      for (std::size_t i = 0; i < at.size(); ++i) index.push_back(edges[i][at[i]]);
      const Id element = position(read.buffer, index);
      if ((!onlyTransient || transient(read.buffer, element)) &&
          std::ranges::none_of(writers, [&](const Access* w) { return covers(*w, element); }))
        return false;
      std::size_t i = at.size();
      while (i > 0 && ++at[i - 1] == edges[i - 1].size()) at[--i] = 0;
      if (i == 0) return true;
    }
  }
  /// The rules that need no run: none of their findings may hold.
  void rules() {
    const auto holds = [&](const std::string& code, const Json& finding) {
      try {
        structural(code, finding, "");
        return true;
      } catch (const Wrong&) {
        return false;
      }
    };
    for (const auto& [id, t] : tasks_)
      require(!holds("bad-placement", {{"task", id}}), "an SM does not exist");
    for (const auto& [id, b] : buffers_) {
      require(!holds("on-chip-locality", {{"buffer", id}}), "an on-chip buffer is used on two SMs");
      require(!pageOf_.contains(id) || !holds("page-capacity", {{"buffer", id}}),
              "a buffer is larger than its page");
    }
    require(outside_.empty(), "an access leaves its buffer");
    for (const Access& a : touched_) {
      const std::string kind = buffers_.at(a.buffer).at("kind");
      require(!a.write || (kind != "WEIGHT" && kind != "CONST" && kind != "IO_INPUT"),
              "a read-only buffer is written");
    }
    for (const auto& [id, b] : buffers_) {
      if (b.at("kind") != "IO_OUTPUT") continue;
      std::vector<const Access*> writers;
      for (const Access& a : touched_) {
        if (a.write && storage(a.buffer) == storage(id)) writers.push_back(&a);
      }
      require(covered({-1, id, false, whole(id)}, writers, false), "an output is not written whole");
    }
  }

  const Json& certificate_;
  const Json& schedule_;
  std::map<Id, Json> buffers_, tasks_;
  std::map<Id, Id> before_, producers_, pageOf_, storage_;
  std::map<Id, Id> appended_;
  std::vector<Access> touched_;
  std::set<Id> outside_;
};

}  // namespace

Outcome replaySchedule(std::string_view text) {
  try {
    const Json certificate = Json::parse(text);
    require(certificate.at("format") == "nuscope-schedule-certificate" && certificate.at("version") == 1,
            "not a certificate of version 1");
    return {true, Replayer(certificate).run()};
  } catch (const Wrong& wrong) {
    return {false, wrong.why};
  } catch (const std::exception& error) {
    return {false, std::string("the certificate cannot be read: ") + error.what()};
  }
}

}  // namespace nuscope::replay
