#include <fmt/format.h>

#include <algorithm>

#include "core/language/lexer.h"
#include "core/language/lowering.h"

namespace nuscope::language {

using tensor::Attributes;
using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;

namespace {
constexpr std::int64_t mostRounds = 4096;
constexpr int mostAdaptations = 4;
constexpr int provisionalHeight = 1000;  ///< above any loop that a text can hold

void collectInOrder(const Block& block, std::vector<std::string>& into) {
  std::set<std::string> seen(into.begin(), into.end());
  const auto add = [&](ExprRef target, const auto& self) -> void {
    if (target->kind == Expr::Kind::name && seen.insert(target->text).second) into.push_back(target->text);
    if (target->kind != Expr::Kind::tuple && target->kind != Expr::Kind::list) return;
    for (const ExprRef child : target->children) self(child, self);
  };
  for (const Statement& statement : block) {
    if (statement.kind == Statement::Kind::loop) {
      collectInOrder(statement.body, into);
      seen.insert(into.begin(), into.end());
    } else if (statement.target) {
      add(statement.target, add);
    }
  }
}
}  // namespace

/// A symbolic loop while it is lowered: its states, and what they become.
struct Lowering::LoopBody {
  std::string counter;
  std::vector<std::string> states;
  std::vector<Value> starts;
  std::vector<Value> ends;
};

std::optional<Lowering::Range> Lowering::range(const Statement& loop) {
  const ExprRef expr = loop.value;
  const bool call = expr->kind == Expr::Kind::call && expr->children[0]->kind == Expr::Kind::name &&
                    expr->children[0]->text == "range" && expr->keywords.empty();
  if (!call || expr->children.size() < 2 || expr->children.size() > 4) {
    fail(expr->place, "a loop runs over range(...)", "write for k in range(n), or range(start, stop)");
    return std::nullopt;
  }
  std::vector<Value> parts;
  bool ok = true;
  for (std::size_t i = 1; i < expr->children.size(); ++i) {
    parts.push_back(evaluate(expr->children[i]));
    if (parts.back().poisoned()) {
      ok = false;
    } else if (!parts.back().integral()) {
      fail(expr->children[i]->place,
           fmt::format("the bound of a loop is {}", Builder::describe(parts.back())),
           "bounds are integers and expressions of dimensions");
      ok = false;
    }
  }
  if (!ok) return std::nullopt;
  Range result;
  result.start = parts.size() > 1 ? parts[0] : numberValue(0, false);
  result.stop = parts.size() > 1 ? parts[1] : parts[0];
  const auto first = asDim(result.start);
  const auto stop = asDim(result.stop);
  const auto step = parts.size() > 2 ? asDim(parts[2]) : Dim(1);
  if (!first || !stop || !step || !step->isConstant() || *step->constant() == 0 ||
      std::abs(*step->constant()) > mostRounds * mostRounds) {
    fail(expr->place, "the step of a loop is a small constant other than 0");
    return std::nullopt;
  }
  result.first = *first;
  result.step = *step->constant();
  try {
    result.trips = result.step > 0 ? floorDiv(*stop - *first + result.step - 1, result.step)
                                   : floorDiv(*first - *stop - result.step - 1, -result.step);
  } catch (const UserError& error) {
    fail(expr->place, error.what());
    return std::nullopt;
  }
  return result;
}

void Lowering::loop(const Block& block, std::size_t index) {
  const Statement& statement = block[index];
  const std::set<std::string> liveAfter = liveBefore(block, index + 1, scope().liveAtEnd);
  const auto over = range(statement);
  if (!over) {
    std::set<std::string> assigned;
    collectAssigned(statement.body, assigned);
    scope().variables[statement.target->text] = {};
    ++scope().loops;
    this->block(statement.body, {});  // for its own errors
    --scope().loops;
    for (const std::string& name : assigned) scope().variables[name] = {};
    return;
  }
  if (over->trips.isConstant()) {
    unrolledLoop(statement, *over, liveAfter);
  } else {
    symbolicLoop(statement, *over, liveAfter);
  }
}

void Lowering::unrolledLoop(const Statement& loop, const Range& range,
                            const std::set<std::string>& liveAfter) {
  const std::int64_t trips = *range.trips.constant();
  if (trips > mostRounds) {
    fail(loop.value->place, fmt::format("a loop of {} rounds would be unrolled", trips),
         fmt::format("at most {}; let the bound be a dimension", mostRounds));
    return;
  }
  std::set<std::string> live = liveBefore(loop.body, 0, {});
  live.insert(liveAfter.begin(), liveAfter.end());
  ++scope().loops;
  for (std::int64_t round = 0; round < trips && !exhausted_; ++round) {
    const Dim at = range.first + Dim(range.step) * Dim(round);
    scope().variables[loop.target->text] =
        at.isConstant() ? numberValue(Rational(static_cast<long>(*at.constant())), false) : dimValue(at);
    block(loop.body, live);
  }
  --scope().loops;
}

void Lowering::symbolicLoop(const Statement& loop, const Range& range,
                            const std::set<std::string>& liveAfter) {
  std::set<std::string> assigned;
  collectAssigned(loop.body, assigned);
  assigned.erase(loop.target->text);
  std::set<std::string> needed = liveBefore(loop.body, 0, {});
  needed.insert(liveAfter.begin(), liveAfter.end());

  LoopBody body;
  std::vector<std::string> ordered;  // states stand in the order in which the body assigns them
  collectInOrder(loop.body, ordered);
  for (const std::string& name : ordered) {
    if (name == loop.target->text) continue;
    const auto known = scope().variables.find(name);
    if (known == scope().variables.end() || !needed.contains(name)) continue;
    body.states.push_back(name);
    body.starts.push_back(known->second);
  }
  const auto poisonAll = [&] {
    for (const std::string& name : assigned) scope().variables[name] = {};
    scope().variables.erase(loop.target->text);
  };
  for (std::size_t i = 0; i < body.states.size(); ++i) {
    Value& start = body.starts[i];
    if (start.is(Value::Kind::tuple) || (!start.poisoned() && !builder_.node(start, loop.place))) {
      fail(loop.place, fmt::format("the accumulator {} is {}", body.states[i], Builder::describe(start)),
           "accumulators are tensors; use one name for each");
      start = {};
    }
  }
  const bool missed =
      std::ranges::any_of(assigned, [&](const std::string& name) { return liveAfter.contains(name); });
  if (body.states.empty() && !missed) {
    fail(loop.place, "the loop changes nothing that is used after it",
         "assign its accumulators before the loop");
  }
  for (int attempt = 0;; ++attempt) {
    if (!runBody(loop, range, body)) return poisonAll();
    if (attempt == mostAdaptations || !adaptStarts(body)) break;
  }
  finishLoop(loop, range, body);
  for (const std::string& name : assigned) {
    if (std::ranges::find(body.states, name) != body.states.end()) continue;
    scope().variables.erase(name);
    scope().gone.insert(name);
  }
  scope().variables.erase(loop.target->text);
  scope().gone.insert(loop.target->text);
}

/// Lowers the body with fresh states; false when nothing useful came out. The counter is named by nesting
/// height, so the loops inside are counted first.
bool Lowering::runBody(const Statement& loop, const Range& range, LoopBody& body) {
  int height = 1;
  if (mayLoop(loop.body)) {
    report_.mute(true);
    int deepest = 0;
    runBodyOnce(loop, range, body, fmt::format("@{}", provisionalHeight + scope().loops), deepest);
    report_.mute(false);
    height = deepest + 1;
  }
  while (true) {
    int deepest = 0;
    if (!runBodyOnce(loop, range, body, fmt::format("@{}", height), deepest)) return false;
    if (deepest < height) return true;
    height = deepest + 1;
  }
}

/// Whether a loop may be met in these statements, in helpers that they call for instance.
bool Lowering::mayLoop(const Block& statements) const {
  const auto loops = [](const Block& block) {
    return std::ranges::any_of(block, [](const Statement& s) { return s.kind == Statement::Kind::loop; });
  };
  return loops(statements) ||
         std::ranges::any_of(helpers_, [&](const auto& helper) { return loops(helper.second->body); });
}

bool Lowering::runBodyOnce(const Statement& loop, const Range& range, LoopBody& body,
                           const std::string& counter, int& deepest) {
  const Scope outer = scope();
  const tensor::DimFacts outerFacts = builder_.facts;
  bool good = true;
  body.counter = counter;
  builder_.facts.declareCounter(counter, range.trips);
  ++scope().loops;
  for (std::size_t i = 0; i < body.states.size(); ++i) {
    Value state;
    if (const NodeRef start =
            body.starts[i].poisoned() ? nullptr : builder_.node(body.starts[i], loop.place)) {
      Attributes at;
      at.name = counter;
      at.index = static_cast<int>(i);
      at.dtype = start->dtype;
      at.shape = start->shape;
      state = tensorValue(builder_.make(Op::loopState, {}, loop.place, std::move(at)),
                          Builder::weak(body.starts[i]));
      state.python = body.starts[i].plainPython();
    }
    scope().variables[body.states[i]] = state;
  }
  try {
    scope().variables[loop.target->text] = dimValue(range.first + Dim(range.step) * Dim::symbol(counter));
  } catch (const UserError& error) {
    fail(loop.value->place, error.what());
    good = false;
  }
  block(loop.body, std::set<std::string>(body.states.begin(), body.states.end()));
  body.ends.clear();
  for (const std::string& name : body.states) {
    Value value = scope().variables[name];
    const NodeRef node = value.poisoned() ? nullptr : builder_.node(value, loop.place);
    if (node) deepest = std::max(deepest, node->loopHeight);
    body.ends.push_back(node ? value : Value{});
    good = good && node != nullptr;
  }
  scope() = outer;
  builder_.facts = outerFacts;
  return good;
}

/// An accumulator that starts as a literal takes the type and shape that it has after a round: s = 0, then a
/// tensor.
bool Lowering::adaptStarts(LoopBody& body) {
  bool changed = false;
  for (std::size_t i = 0; i < body.states.size(); ++i) {
    Value& start = body.starts[i];
    const Value& end = body.ends[i];
    if (!Builder::weak(start)) continue;
    const Place nowhere;
    const NodeRef from = builder_.node(start, nowhere);
    const NodeRef to = builder_.node(end, nowhere);
    if (!from || !to) continue;
    const bool literal = !start.is(Value::Kind::tensor);
    if (from->dtype != to->dtype) {
      const Value* const both[] = {&start, &end};
      const auto type = builder_.commonType(both, nowhere);
      if (!type || *type == from->dtype) continue;
      start = tensorValue(builder_.nodeAs(start, *type, nowhere));
      changed = true;
    }
    if (literal && !to->shape.empty()) {
      start = builder_.broadcast(start, to->shape, nowhere);
      changed = true;
    }
  }
  return changed;
}

void Lowering::finishLoop(const Statement& loop, const Range& range, LoopBody& body) {
  if (body.states.empty()) return;
  std::vector<NodeRef> starts;
  Attributes at;
  at.name = body.counter;
  at.shape = {range.trips};
  for (std::size_t i = 0; i < body.states.size(); ++i) {
    starts.push_back(builder_.node(body.starts[i], loop.place));
    at.body.push_back(builder_.node(body.ends[i], loop.place));
    if (starts.back() && at.body.back() && starts.back()->dtype != at.body.back()->dtype) {
      fail(loop.place,
           fmt::format("{} starts as {} and becomes {} in the loop", body.states[i],
                       tensor::typeText(starts.back()->dtype, starts.back()->shape),
                       tensor::typeText(at.body.back()->dtype, at.body.back()->shape)),
           "start it with the shape and type that it has after one round");
      starts.back() = nullptr;
    }
  }
  const NodeRef made = builder_.make(Op::loop, std::move(starts), loop.place, std::move(at));
  for (std::size_t i = 0; i < body.states.size(); ++i) {
    Attributes result;
    result.index = static_cast<int>(i);
    bind(body.states[i],
         made ? tensorValue(builder_.make(Op::loopResult, {made}, loop.place, std::move(result))) : Value{});
  }
}

}  // namespace nuscope::language
