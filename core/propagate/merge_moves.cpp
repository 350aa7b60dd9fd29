// Contractions that share an operand become one on joined operands, and slices of its result.
#include <fmt/format.h>

#include <algorithm>

#include "core/propagate/axis_map.h"
#include "core/propagate/moves.h"
#include "core/propagate/words.h"

namespace nuscope::propagate {
namespace {

using tensor::isContraction;
using tensor::NodeRef;
using tensor::OpKind;

bool reaches(NodeRef from, NodeRef node) {
  const NodeRef roots[] = {from};
  const auto below = tensor::topological(roots);
  return std::ranges::find(below, node) != below.end();
}

bool anyReachesAnother(const std::vector<NodeRef>& members) {
  for (const NodeRef a : members) {
    for (const NodeRef b : members) {
      if (a != b && reaches(a, b)) return true;
    }
  }
  return false;
}

void proposeMerge(MoveContext& context, const std::vector<NodeRef>& members, std::size_t shared) {
  const NodeRef first = members[0];
  const std::size_t joined = 1 - shared;
  if (anyReachesAnother(members)) return;
  const auto links = axisLinks(first, joined, context.program.facts);
  const auto held = axisLinks(first, shared, context.program.facts);
  for (std::size_t axis = 0; axis < links.size(); ++axis) {
    const int output = links[axis].output;
    if (links[axis].kind != AxisLink::Kind::identity) continue;
    if (std::ranges::any_of(held, [&](const AxisLink& link) { return link.output == output; })) continue;
    std::vector<NodeRef> parts;
    for (const NodeRef member : members) parts.push_back(member->operands[joined]);
    const NodeRef product = context.build.withSlot(
        first, joined, context.build.concatenate(std::move(parts), static_cast<int>(axis)));
    if (product == nullptr) continue;
    Move move;
    tensor::Dim start(0);
    std::string names;
    for (const NodeRef member : members) {
      const tensor::Dim stop = start + member->shape[static_cast<std::size_t>(output)];
      const NodeRef slice = context.build.slice(product, output, start, stop);
      if (slice == nullptr || !context.program.facts.equal(slice->shape, member->shape)) return;
      move.before.push_back(member);
      move.after.push_back(slice);
      names += (names.empty() ? "" : " | ") + shortText(context.program, member->operands[joined]);
      start = stop;
    }
    move.what = fmt::format("{} {} merged into one with {}", members.size(), tensor::name(first->op), names);
    move.brief = fmt::format("one {} for {}", tensor::name(first->op), names);
    move.moved = move.past = tensor::name(first->op);
    context.moves.push_back(std::move(move));
  }
}

}  // namespace

void proposeMerges(MoveContext& context) {
  for (const NodeRef operand : context.nodes) {
    const auto users = context.users.find(operand);
    if (users == context.users.end()) continue;
    for (const std::size_t slot : {0UL, 1UL}) {
      std::vector<NodeRef> members;
      for (const NodeRef user : users->second) {
        if (!isContraction(user) || user->operands.size() != 2) continue;
        if (user->operands[slot] != operand || user->operands[1 - slot] == operand) continue;
        if (!members.empty() && (user->op != members[0]->op || user->attributes != members[0]->attributes))
          continue;
        members.push_back(user);
      }
      if (members.size() < 2) continue;
      proposeMerge(context, members, slot);
      for (std::size_t i = 0; members.size() > 2 && i + 1 < members.size(); ++i) {
        proposeMerge(context, {members[i], members[i + 1]}, slot);
      }
    }
  }
}

}  // namespace nuscope::propagate
