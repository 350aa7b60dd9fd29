#include "core/schedule/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/schedule/explain.h"

namespace nuscope::schedule {
namespace {

using State = RuleVerdict::State;

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string bufferName(const Schedule& schedule, std::int32_t index) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(index)];
  return buffer.name.empty() ? fmt::format("buffer {}", buffer.id) : buffer.name;
}

std::int64_t counterId(const Schedule& schedule, std::int32_t counter) {
  return schedule.counters[static_cast<std::size_t>(counter)].id;
}

/// "[0, 3]" of a row-major position.
std::string elementText(const Buffer& buffer, std::int64_t element) {
  std::string out;
  for (std::size_t i = buffer.shape.size(); i-- > 0;) {
    out = std::to_string(element % buffer.shape[i]) + (out.empty() ? "" : ", " + out);
    element /= buffer.shape[i];
  }
  return "[" + out + "]";
}

/// SMs of the tasks of a cycle, ascending; tasks in no queue are left out.
std::vector<std::int64_t> queuesOf(const Schedule& schedule, const std::vector<std::int32_t>& tasks) {
  std::set<std::int64_t> result;
  for (const std::int32_t t : tasks) {
    if (const auto& sm = schedule.tasks[static_cast<std::size_t>(t)].sm) result.insert(*sm);
  }
  return {result.begin(), result.end()};
}

std::string cycleText(const Schedule& schedule, const Finding& f) {
  if (f.cycle.empty()) return "a wait that no task can satisfy";
  const auto queues = queuesOf(schedule, f.cycle);
  if (queues.size() == 2) return fmt::format("a cycle over SM {} and SM {}", queues[0], queues[1]);
  if (queues.size() > 2) return fmt::format("a cycle over {} SMs", queues.size());
  return fmt::format("a cycle of {} tasks", f.cycle.size());
}

struct RuleRow {
  std::string_view name;
  std::vector<Rule> rules;
  bool afterDeadlock;  ///< asked only of schedules that cannot deadlock
};

std::vector<Rule> malformedRules() {
  std::vector<Rule> result;
#define X(name, code, malformed) \
  if (malformed) result.push_back(Rule::name);
  NUSCOPE_RULES(X)
#undef X
  return result;
}

std::vector<RuleRow> rows() {
  return {{"Records well formed", malformedRules(), false},
          {"Waits can be met", {Rule::unsatisfiableWait}, false},
          {"SMs exist", {Rule::badPlacement}, false},
          {"Inside bounds", {Rule::outOfBounds}, false},
          {"Inputs unchanged", {Rule::readOnlyWrite}, false},
          {"Pages large enough", {Rule::pageCapacity}, false},
          {"On chip stays local", {Rule::onChipLocality}, false},
          {"No deadlock", {Rule::deadlock}, false},
          {"No race", {Rule::race}, true},
          {"Written before read", {Rule::uninitialisedRead}, true},
          {"Pages kept", {Rule::pageClobber}, true},
          {"Outputs complete", {Rule::outputIncomplete}, false}};
}

/// What a rule that holds has looked at.
std::string scope(const Schedule& s, Rule rule, bool deadlock) {
  switch (rule) {
    case Rule::unsatisfiableWait: {
      std::int64_t waits = 0;
      for (const Task& t : s.tasks) waits += std::ssize(t.waits);
      return fmt::format("{} of {}", waits, waits);
    }
    case Rule::badPlacement: {
      std::set<std::int64_t> used;
      std::int64_t loose = 0;
      for (const Task& t : s.tasks) {
        if (t.sm) used.insert(*t.sm);
        loose += t.sm ? 0 : 1;
      }
      if (used.empty()) return "all tasks are in no queue";
      return (s.numSms ? fmt::format("{} of {}", used.size(), *s.numSms)
                       : fmt::format("{} used", used.size())) +
             (loose > 0 ? fmt::format("; {} tasks in no queue", loose) : "");
    }
    case Rule::pageCapacity:
    case Rule::pageClobber:
      return counted(s.pages ? std::ssize(s.pages->pages) : 0, "page", "pages");
    case Rule::onChipLocality: {
      const auto count = std::ranges::count_if(
          s.buffers, [](const Buffer& b) { return b.space == Space::smem || b.space == Space::reg; });
      return counted(count, "buffer", "buffers");
    }
    case Rule::outOfBounds:
      return counted(std::ssize(s.tasks), "task", "tasks");
    case Rule::deadlock:
      return counted(std::ssize(s.tasks), "task finishes", "tasks finish");
    case Rule::outputIncomplete: {
      const auto count = std::ranges::count(s.buffers, BufferKind::output, &Buffer::kind);
      return counted(count, "output", "outputs") + (deadlock ? ", if every task runs" : "");
    }
    default:
      return counted(std::ssize(s.buffers), "buffer", "buffers");
  }
}

std::string ordinal(std::size_t place) {
  static constexpr std::array<std::string_view, 10> words{"first", "second",  "third",  "fourth", "fifth",
                                                          "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return place < words.size() ? std::string(words[place]) : fmt::format("number {}", place + 1);
}

/// The counter by which `waits` waits for `on`, with its threshold; -1: it is behind it in a queue.
Model::Need linkOf(const Model& model, std::int32_t waits, std::int32_t on) {
  if (model.before[static_cast<std::size_t>(waits)] == on) return {-1, 0};
  for (const Model::Need& need : model.needs[static_cast<std::size_t>(waits)]) {
    const auto& raised = model.raises[static_cast<std::size_t>(on)];
    if (std::ranges::find(raised, need.counter) != raised.end()) return need;
  }
  return {-1, 0};
}

class Explainer {
 public:
  Explainer(const Schedule& schedule, const Model& model, std::span<const Touch> touches, const Finding& f)
      : s_(schedule), model_(model), touches_(touches), f_(f) {}

  std::vector<Sentence> run() {
    switch (f_.rule) {
      case Rule::deadlock:
        f_.cycle.empty() ? unmet(f_.task) : cycle();
        break;
      case Rule::unsatisfiableWait:
        unmet(f_.task);
        break;
      case Rule::race:
        both();
        break;
      case Rule::uninitialisedRead:
        earlyRead();
        break;
      case Rule::pageClobber:
        clobber();
        break;
      default:
        plain();
    }
    return std::move(out_);
  }

 private:
  std::string name(std::int32_t task) const { return shortName(s_, task); }
  void say(std::int32_t task, std::string rest, std::int32_t counter = -1, std::int32_t buffer = -1) {
    out_.push_back({task >= 0 ? name(task) : "", std::move(rest), task, counter, buffer});
  }
  void cycle() {
    // Neighbours in one queue are told in one sentence: who waits behind whom.
    const auto n = f_.cycle.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t task = f_.cycle[i];
      const std::int32_t on = f_.cycle[(i + 1) % n];
      const Model::Need link = linkOf(model_, task, on);
      const bool raises = linkOf(model_, f_.cycle[(i + n - 1) % n], task).counter >= 0 && i > 0;
      std::string text = raises ? " would raise it" : ", " + placeInQueue(model_, task);
      if (link.counter < 0) {
        text += fmt::format("{} behind {} in SM {}'s queue", raises ? ", but is" : ", is", name(on),
                            *s_.tasks[static_cast<std::size_t>(task)].sm);
        if (!raises)
          text = fmt::format(" is behind {} in SM {}'s queue", name(on),
                             *s_.tasks[static_cast<std::size_t>(task)].sm);
      } else {
        text += fmt::format("{} waits until counter {} is {}", raises ? ", but" : ",",
                            counterId(s_, link.counter), link.threshold);
      }
      say(task, text + (i + 1 == n ? fmt::format(", where this began: nothing can go on.") : "."),
          link.counter);
    }
    const auto others = static_cast<std::int64_t>(f_.stuck.size()) - static_cast<std::int64_t>(n);
    if (others > 0)
      say(-1, fmt::format("{} behind them never start.", counted(others, "more task", "more tasks")));
  }
  void unmet(std::int32_t task) {
    for (const Model::Need& need : model_.needs[static_cast<std::size_t>(task)]) {
      const auto producers = model_.producers[static_cast<std::size_t>(need.counter)].size();
      if (need.threshold <= static_cast<std::int64_t>(producers)) continue;
      say(task,
          fmt::format(" waits until counter {} is {}, and {} it: it never starts.",
                      counterId(s_, need.counter), need.threshold,
                      producers == 0   ? "nothing raises"
                      : producers == 1 ? "one task raises"
                                       : fmt::format("{} tasks raise", producers)),
          need.counter);
    }
    if (f_.stuck.size() > 1)
      say(-1, fmt::format("{} depend on it and never finish.",
                          counted(std::ssize(f_.stuck) - 1, "task", "tasks")));
  }
  /// What a task does at the element of the finding; a write where both.
  const Touch* touchAt(std::int32_t task, std::int32_t buffer, std::int64_t element) const {
    const auto [from, to] = std::ranges::equal_range(touches_, task, {}, &Touch::task);
    const Touch* found = nullptr;
    for (const Touch& t : std::span(from, to)) {
      if (t.buffer != buffer || (element >= 0 && !overlap(t.region, {element, 1, 0, 1}))) continue;
      if (found == nullptr || t.write) found = &t;
    }
    return found;
  }
  void access(std::int32_t task, std::int32_t buffer, std::int64_t element, std::string_view else_) {
    const Touch* touch = touchAt(task, buffer, element);
    const Buffer& b = s_.buffers[static_cast<std::size_t>(buffer)];
    const std::string region = touch != nullptr ? regionText(b, touch->region) : "";
    say(task,
        fmt::format(" {} {}{}.",
                    touch == nullptr ? else_
                    : touch->write   ? "writes"
                                     : "reads",
                    bufferName(s_, buffer), region.empty() ? "" : ", " + region),
        -1, buffer);
  }
  void canStart(bool two) {
    if (f_.firing.empty()) {
      say(-1, two ? "Both can start at once, before any other task." : "It can start before any other task.");
    } else {
      say(f_.firing.back(), fmt::format(" is the last of {} that need to complete; then {}.",
                                        counted(std::ssize(f_.firing), "task", "tasks"),
                                        two ? "both can run at once" : "it can start"));
    }
  }
  void both() {
    const std::int32_t otherBuffer = f_.otherBuffer >= 0 ? f_.otherBuffer : f_.buffer;
    access(f_.task, f_.buffer, f_.element, "uses");
    access(f_.other, otherBuffer, f_.otherBuffer >= 0 ? -1 : f_.element, "uses");
    if (f_.otherBuffer >= 0)
      say(-1, fmt::format("{} and {} are one storage.", bufferName(s_, f_.buffer),
                          bufferName(s_, f_.otherBuffer)));
    if (f_.element >= 0)
      say(-1,
          fmt::format("They meet at element {}.",
                      elementText(s_.buffers[static_cast<std::size_t>(f_.buffer)], f_.element)),
          -1, f_.buffer);
    say(-1, "No wait and no queue makes one of them finish before the other starts.");
    canStart(true);
  }
  void earlyRead() {
    access(f_.task, f_.buffer, f_.element, "reads");
    std::vector<std::int32_t> writers;
    for (const Touch& t : touches_) {
      if (t.write && t.buffer == f_.buffer && (f_.element < 0 || overlap(t.region, {f_.element, 1, 0, 1})))
        writers.push_back(t.task);
    }
    const std::string where =
        f_.element < 0
            ? bufferName(s_, f_.buffer)
            : "element " + elementText(s_.buffers[static_cast<std::size_t>(f_.buffer)], f_.element);
    if (writers.empty()) {
      say(-1, fmt::format("No task writes {}.", where), -1, f_.buffer);
    } else {
      say(writers.front(),
          fmt::format(" writes {}{}, but nothing makes {} wait for that.", where,
                      writers.size() > 1 ? fmt::format(" (and {} more do)", writers.size() - 1) : "",
                      name(f_.task)),
          -1, f_.buffer);
    }
    canStart(false);
  }
  void clobber() {
    access(f_.task, f_.buffer, -1, "uses");
    if (f_.other >= 0 && f_.otherBuffer >= 0) access(f_.other, f_.otherBuffer, -1, "uses");
    say(-1, "Both buffers are on one page, so that the one overwrites the other.");
    canStart(f_.unordered);
  }
  void plain() {
    std::string text = f_.message.empty() ? describe(s_, f_) : f_.message;
    const std::string lead = f_.task >= 0 ? nameOf(s_, f_.task) : "";
    if (!lead.empty() && text.starts_with(lead)) {
      say(f_.task, text.substr(lead.size()) + ".", -1, f_.buffer);
    } else {
      if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
      out_.push_back({"", text + ".", f_.task, -1, f_.buffer});
    }
  }

  const Schedule& s_;
  const Model& model_;
  std::span<const Touch> touches_;
  const Finding& f_;
  std::vector<Sentence> out_;
};

}  // namespace

std::vector<RuleVerdict> ruleVerdicts(const Schedule& schedule, const Report& report) {
  std::vector<RuleVerdict> result;
  const bool deadlock =
      std::ranges::any_of(report.findings, [](const Finding& f) { return f.rule == Rule::deadlock; });
  const bool malformed = report.verdict == Safety::malformed;
  const bool onChip = std::ranges::any_of(
      schedule.buffers, [](const Buffer& b) { return b.space == Space::smem || b.space == Space::reg; });
  for (const RuleRow& row : rows()) {
    const Rule about = row.rules.front();
    const bool pages = about == Rule::pageCapacity || about == Rule::pageClobber;
    if ((pages && !schedule.pages) || (about == Rule::onChipLocality && !onChip))
      continue;  // nothing to judge
    RuleVerdict made{std::string(row.name), row.rules, State::holds, {}, 0};
    const Finding* first = nullptr;
    for (const Finding& f : report.findings) {
      if (std::ranges::find(row.rules, f.rule) == row.rules.end()) continue;
      ++made.findings;
      if (first == nullptr) first = &f;
    }
    for (const auto& [key, count] : report.unlisted) {
      if (std::ranges::find(row.rules, key.first) != row.rules.end()) made.findings += count;
    }
    const bool records = isMalformed(row.rules.front());
    if (records && malformed) {
      made.state = State::broken;
      made.findings = std::ssize(report.faults);
      made.what = counted(made.findings, "fault", "faults");
    } else if (malformed) {
      made.state = State::notJudged;
      made.what = "judged once the records are well formed";
    } else if (records) {
      made.what = fmt::format("{} tasks, {} counters", schedule.tasks.size(), schedule.counters.size());
    } else if (first != nullptr) {
      made.state = State::broken;
      made.what = first->rule == Rule::deadlock ? cycleText(schedule, *first)
                                                : counted(made.findings, "finding", "findings");
    } else if (deadlock && row.afterDeadlock) {
      made.state = State::notJudged;
      made.what = "judged once it cannot deadlock";
    } else {
      made.what = scope(schedule, row.rules.front(), deadlock);
    }
    result.push_back(std::move(made));
  }
  return result;
}

std::string headline(const Schedule& schedule, const Report& report) {
  if (report.verdict == Safety::malformed)
    return fmt::format("Malformed: {}", counted(std::ssize(report.faults), "fault", "faults"));
  if (report.verdict == Safety::safe)
    return fmt::format("Safe: {} under every interleaving, without a race",
                       counted(std::ssize(schedule.tasks), "task finishes", "tasks finish"));
  if (report.verdict == Safety::undecided)
    return fmt::format("Not decided: {}", report.undecided.empty() ? "the file leaves open what is asked"
                                                                   : report.undecided.front());
  std::int64_t all = std::ssize(report.findings);
  for (const auto& [key, count] : report.unlisted) all += count;
  for (const Finding& f : report.findings) {
    if (f.rule != Rule::deadlock) continue;
    const auto queues = queuesOf(schedule, f.cycle);
    const std::string who =
        f.cycle.empty()       ? "a wait can never be met"
        : queues.size() == 2  ? fmt::format("SM {} and SM {} wait for each other", queues[0], queues[1])
        : queues.size() > 2   ? fmt::format("{} SMs wait for each other", queues.size())
        : f.cycle.size() == 1 ? shortName(schedule, f.cycle[0]) + " waits for itself"
                              : fmt::format("{} tasks wait for each other", f.cycle.size());
    return fmt::format("Unsafe: {}; {} of {} tasks never finish", who, f.stuck.size(), schedule.tasks.size());
  }
  const Finding& first = report.findings.front();
  return fmt::format("Unsafe: {}{}", brief(schedule, first),
                     all > 1 ? fmt::format("; {} in all", counted(all, "finding", "findings")) : "");
}

std::string brief(const Schedule& schedule, const Finding& f) {
  const auto name = [&](std::int32_t task) { return shortName(schedule, task); };
  const auto buffer = [&] { return bufferName(schedule, f.buffer); };
  switch (f.rule) {
    case Rule::deadlock:
      return f.cycle.empty()       ? fmt::format("{} waits for ever", name(f.task))
             : f.cycle.size() == 1 ? fmt::format("{} waits for itself", name(f.cycle[0]))
                                   : fmt::format("{} tasks wait for each other", f.cycle.size());
    case Rule::race:
      return fmt::format("{} and {} can touch {} at once", name(f.task), name(f.other), buffer());
    case Rule::uninitialisedRead:
      return fmt::format("{} can read {} before it is written", name(f.task), buffer());
    case Rule::pageClobber:
      return fmt::format("{} can lose {} to another buffer of its page", name(f.task), buffer());
    case Rule::outOfBounds:
      return fmt::format("{} reaches outside {}", name(f.task), buffer());
    case Rule::readOnlyWrite:
      return fmt::format("{} writes {}, which is read-only", name(f.task), buffer());
    case Rule::unsatisfiableWait:
      return fmt::format("{} waits for more than is ever raised", name(f.task));
    case Rule::outputIncomplete:
      return fmt::format("part of {} is never written", buffer());
    case Rule::pageCapacity:
      return fmt::format("{} is larger than its page", buffer());
    case Rule::onChipLocality:
      return fmt::format("{} is on chip and used from elsewhere", buffer());
    case Rule::badPlacement:
      return fmt::format("{} is on an SM that does not exist", name(f.task));
    default:
      return f.message;
  }
}

std::vector<Sentence> explain(const Schedule& schedule, const Model& model, std::span<const Touch> touches,
                              const Finding& finding) {
  return Explainer(schedule, model, touches, finding).run();
}

std::string shortName(const Schedule& schedule, std::int32_t task) {
  const Task& t = schedule.tasks[static_cast<std::size_t>(task)];
  return t.label.empty() ? fmt::format("task {}", t.id) : t.label;
}

std::string placeInQueue(const Model& model, std::int32_t task) {
  const std::int32_t queue = model.queueOf[static_cast<std::size_t>(task)];
  if (queue < 0) return "in no queue";
  const auto& entries = model.queues[static_cast<std::size_t>(queue)];
  const auto place = std::ranges::lower_bound(entries, task) - entries.begin();
  return fmt::format("{} in SM {}'s queue", ordinal(static_cast<std::size_t>(place)),
                     model.queueSm[static_cast<std::size_t>(queue)]);
}

std::string regionText(const Buffer& buffer, const Strided& region) {
  const std::int64_t all = buffer.elements();
  if (region.start == 0 && region.length * region.count >= all) return "all of it";
  const std::int64_t columns = buffer.shape.empty() ? 1 : buffer.shape.back();
  const auto range = [](std::string_view what, std::int64_t from, std::int64_t count) {
    return count == 1 ? fmt::format("{} {}", what, from)
                      : fmt::format("{}s {} to {}", what, from, from + count - 1);
  };
  const std::int64_t rows = columns > 0 ? all / columns : 1;
  if (region.count > 1 || region.length < columns) {
    const std::string band = range("column", region.start % columns, region.length);
    if (rows == 1 || (region.start < columns && region.count == rows)) return band;
    return range("row", region.start / columns, region.count) + ", " + band;
  }
  return range("row", region.start / columns, std::max<std::int64_t>(1, region.length / columns));
}

}  // namespace nuscope::schedule
