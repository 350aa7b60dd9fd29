#include "core/fusion/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/tensor/shapes.h"

namespace nuscope::fusion {
namespace {

using tensor::DType;
using tensor::OpKind;

bool isLeaf(NodeRef node) {
  return node->op == Op::input || node->op == Op::loopState || node->op == Op::loopResult;
}

/// An einsum that sums nothing: products of elements, or a transposition.
bool sumsNothing(NodeRef node) {
  if (node->op != Op::einsum) return false;
  const auto spec = tensor::parseEinsum(node->attributes.name).value();
  return std::ranges::all_of(spec.operands, [&](const std::string& labels) {
    return std::ranges::all_of(labels,
                               [&](char label) { return spec.result.find(label) != std::string::npos; });
  });
}

bool isInPlace(NodeRef node) {
  const OpKind kind = tensor::kind(node->op);
  if (sumsNothing(node)) return true;
  return kind == OpKind::elementwise || kind == OpKind::layout || node->op == Op::constant ||
         node->op == Op::dimValue || node->op == Op::arange;
}

/// What an anchor reads, with the row and the lane it does so at.
struct Cone {
  IndexSpace space;
  Affine row;  ///< position of the row
  Affine lane;
  Affine wholeRow;  ///< position over the whole shape: the row of a row-level anchor
  Extent laneExtent = 1;
  std::vector<Access> accesses;
  std::vector<Access> sideAccesses;  ///< contract: of b
};

ConcreteShape leading(const ConcreteShape& shape) {
  return shape.empty() ? shape : ConcreteShape(shape.begin(), shape.end() - 1);
}

/// Builds the nests of one scope.
class Planner {
 public:
  Planner(const Concrete& concrete, Plan& plan, PlanOptions options)
      : concrete_(concrete), plan_(plan), options_(options) {}

  /// `roots[i]` goes to `destinations[i]`. `inner`: whether a node belongs to this scope (the others are
  /// outer).
  Scope build(std::span<const NodeRef> roots, const std::vector<Destination>& destinations,
              const std::function<bool(NodeRef)>& inner);

 private:
  void chooseAnchors(const std::vector<NodeRef>& order, std::span<const NodeRef> roots);
  void chooseForLoop(NodeRef loop);
  bool repeatsWork(NodeRef node, const std::vector<NodeRef>& users) const;
  std::vector<NodeRef> scopeOrder(std::span<const NodeRef> roots,
                                  const std::function<bool(NodeRef)>& inner) const;

  void place(NodeRef node, bool copy, std::vector<Destination> destinations);
  void addLoop(NodeRef loop, const std::function<bool(NodeRef)>& inner);
  Cone coneOf(NodeRef node, bool copy, NestKind kind, const std::optional<ContractForm>& form) const;
  NestKind kindOf(NodeRef node, std::optional<ContractForm>& form) const;
  bool isRowFold(NodeRef node) const;
  std::optional<Role> roleIn(const Nest& nest, NodeRef node, bool foldsRow, const Cone& cone,
                             bool& shares) const;
  bool identical(const Nest& nest, const Access& access, const Affine& row, const Affine* lane) const;

  void dropUnshared();
  void formGroups();
  bool joins(const Group& group, int nest) const;
  void flattenAlone();
  void placements(std::span<const NodeRef> roots);
  [[nodiscard]] int nestOf(NodeRef node) const {
    const auto found = nestOf_.find(node);
    return found == nestOf_.end() ? -1 : found->second;
  }
  [[nodiscard]] std::function<bool(NodeRef)> isStored() const {
    return [this](NodeRef node) { return anchors_.contains(node) || plan_.stored(node); };
  }

  const Concrete& concrete_;
  Plan& plan_;
  PlanOptions options_;
  Scope scope_;
  std::unordered_set<NodeRef> anchors_;  ///< of this scope
  std::unordered_set<NodeRef> soft_;     ///< anchors only to save work
  std::unordered_map<NodeRef, int> nestOf_;
  std::vector<std::vector<Cone>> cones_;            ///< per nest and anchor
  std::vector<std::unordered_set<NodeRef>> reads_;  ///< per nest
};

std::vector<NodeRef> Planner::scopeOrder(std::span<const NodeRef> roots,
                                         const std::function<bool(NodeRef)>& inner) const {
  std::vector<NodeRef> order;
  for (const NodeRef node : tensor::topological(roots)) {
    if (inner(node) && !plan_.stored(node)) order.push_back(node);
  }
  return order;
}

bool Planner::repeatsWork(NodeRef node, const std::vector<NodeRef>& users) const {
  if (users.size() > 1) return true;
  const ConcreteShape& shape = concrete_.shape(node);
  for (const NodeRef user : users) {
    const bool along = !shape.empty() && shape.back() > 1;
    if (along && isInPlace(user) && concrete_.count(user) >= 4 * concrete_.count(node)) return true;
    std::optional<ContractForm> form;
    if (tensor::kind(user->op) == OpKind::contract && kindOf(user, form) == NestKind::fold) return true;
  }
  return false;
}

/// Everything that is not computed in place, and what would be computed too often.
void Planner::chooseAnchors(const std::vector<NodeRef>& order, std::span<const NodeRef> roots) {
  std::unordered_map<NodeRef, std::vector<NodeRef>> users;
  for (const NodeRef node : order) {
    for (const NodeRef operand : node->operands) {
      auto& list = users[operand];
      if (list.empty() || list.back() != node) list.push_back(node);
    }
  }
  for (const NodeRef node : order) {
    if (node->op == Op::loop) chooseForLoop(node);
    if (!isInPlace(node) && !isLeaf(node) && node->op != Op::loop) anchors_.insert(node);
  }
  for (const NodeRef root : roots) {
    if (!isLeaf(root) && !plan_.stored(root)) anchors_.insert(root);
  }
  for (const NodeRef node : order) {
    if (anchors_.contains(node) || tensor::kind(node->op) != OpKind::elementwise) continue;
    // Through layout operators, for they are free.
    std::vector<NodeRef> real;
    std::vector<NodeRef> pending = users[node];
    int moved = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const NodeRef user = pending[i];
      if (tensor::kind(user->op) == OpKind::layout && !anchors_.contains(user)) {
        ++moved;
        pending.insert(pending.end(), users[user].begin(), users[user].end());
      } else if (std::ranges::find(real, user) == real.end()) {
        real.push_back(user);
      }
    }
    const bool expensive = weight(node) >= 3;
    if ((expensive && (repeatsWork(node, real) || moved > 1)) || (options_.fuse == 0 && real.size() > 1)) {
      anchors_.insert(node);
      soft_.insert(node);
    }
  }
}

/// What the body of a loop reads from outside is computed before it, once.
void Planner::chooseForLoop(NodeRef loop) {
  for (const NodeRef node : tensor::topological(loop->attributes.body)) {
    if (!concrete_.counters(node).contains(loop->attributes.name)) continue;
    std::vector<NodeRef> inputs = node->operands;
    inputs.insert(inputs.end(), node->attributes.body.begin(), node->attributes.body.end());
    while (!inputs.empty()) {
      const NodeRef input = inputs.back();
      inputs.pop_back();
      if (concrete_.counters(input).contains(loop->attributes.name) || isLeaf(input) || plan_.stored(input))
        continue;
      const OpKind kind = tensor::kind(input->op);
      if (kind == OpKind::leaf) continue;
      if (kind == OpKind::layout) {
        inputs.insert(inputs.end(), input->operands.begin(), input->operands.end());
      } else if (kind != OpKind::loop) {
        anchors_.insert(input);
      }
    }
  }
}

bool Planner::isRowFold(NodeRef node) const {
  const OpKind kind = tensor::kind(node->op);
  if (kind == OpKind::reduce) {
    const auto& axes = node->attributes.axes;
    return axes.size() == 1 && axes[0] + 1 == static_cast<int>(node->operands[0]->shape.size());
  }
  if (kind != OpKind::contract) return false;
  // A product with a vector: one fold whose operands are contiguous along it.
  IndexSpace space;
  AccessDomain domain(concrete_, space, isStored());
  domain.visit(node, axisVariables(space, concrete_.shape(node)));
  if (domain.folds.size() != 1 || domain.foldExtents[0] < 4) return false;
  return std::ranges::all_of(domain.accesses, [&](const Access& access) {
    const Affine at = flatten(access.index, concrete_.shape(access.node));
    return std::abs(at.coefficient(domain.folds[0])) <= 1;
  });
}

NestKind Planner::kindOf(NodeRef node, std::optional<ContractForm>& form) const {
  switch (tensor::kind(node->op)) {
    case OpKind::scan:
      return NestKind::scan;
    case OpKind::reduce:
      return isRowFold(node) ? NestKind::row : NestKind::fold;
    case OpKind::contract:
      if (sumsNothing(node)) return NestKind::row;
      form = contractForm(concrete_, node);
      if (form && node->dtype == DType::f32 && form->rows() >= 2 && form->columns() >= 4)
        return NestKind::contract;
      form.reset();
      return isRowFold(node) ? NestKind::row : NestKind::fold;
    default:
      return NestKind::row;
  }
}

Cone Planner::coneOf(NodeRef node, bool copy, NestKind kind, const std::optional<ContractForm>& form) const {
  Cone cone;
  const ConcreteShape& shape = concrete_.shape(node);
  AccessDomain domain(concrete_, cone.space, isStored());
  const auto index = axisVariables(cone.space, shape);
  cone.wholeRow = flatten(index, shape);
  if (kind == NestKind::contract) {
    const std::size_t lead = form->batch.size() + form->m.size();
    const auto part = [&](std::size_t from, std::size_t count) {
      return std::vector<Affine>(index.begin() + static_cast<std::ptrdiff_t>(from),
                                 index.begin() + static_cast<std::ptrdiff_t>(from + count));
    };
    ConcreteShape depth;
    for (const ContractAxis& axis : form->k) depth.push_back(axis.extent);
    const auto k = axisVariables(cone.space, depth);
    const auto batch = part(0, form->batch.size());
    const auto m = part(form->batch.size(), form->m.size());
    const auto n = part(lead, form->n.size());
    cone.row = flatten(part(0, lead),
                       ConcreteShape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(lead)));
    const auto a = form->index(true, batch, m, n, k);
    domain.element(form->a, a);
    cone.accesses = std::move(domain.accesses);
    AccessDomain side(concrete_, cone.space, isStored());
    side.element(form->b, form->index(false, batch, m, n, k));
    cone.sideAccesses = std::move(side.accesses);
    return cone;
  }
  if (copy) {
    domain.element(node, index);
  } else {
    domain.visit(node, index);
  }
  cone.accesses = std::move(domain.accesses);
  if (kind == NestKind::row && (copy || isInPlace(node))) {
    cone.row =
        flatten(std::vector<Affine>(index.begin(), index.end() - (index.empty() ? 0 : 1)), leading(shape));
    cone.lane = index.empty() ? Affine() : index.back();
    cone.laneExtent = shape.empty() ? 1 : shape.back();
  } else if (kind == NestKind::row && !domain.folds.empty()) {
    cone.row = cone.wholeRow;
    cone.lane = Affine::atom(domain.folds[0]);
    cone.laneExtent = domain.foldExtents[0];
  }
  return cone;
}

/// Whether a read of one of the nest's own anchors happens at the row (and lane) that is being computed.
bool Planner::identical(const Nest& nest, const Access& access, const Affine& row, const Affine* lane) const {
  const ConcreteShape& shape = concrete_.shape(access.node);
  for (const Anchor& anchor : nest.anchors) {
    if (anchor.node != access.node) continue;
    if (anchor.role == Role::rowFold || anchor.role == Role::rowLevel)
      return flatten(access.index, shape) == row;
    if (lane == nullptr) return false;
    if (nest.kind == NestKind::contract) {
      // Columns may have several axes.
      return flatten(access.index, shape) == row * nest.length + *lane;
    }
    if (shape.empty()) return true;
    const std::vector<Affine> lead(access.index.begin(), access.index.end() - 1);
    const bool sameLane = shape.back() == 1 || access.index.back() == *lane;
    return sameLane && flatten(lead, leading(shape)) == row;
  }
  return true;
}

std::optional<Role> Planner::roleIn(const Nest& nest, NodeRef node, bool foldsRow, const Cone& cone,
                                    bool& shares) const {
  if (nest.kind != NestKind::row && nest.kind != NestKind::contract) return std::nullopt;
  const auto isOwn = [&](const Access& access) {
    return std::ranges::any_of(
        nest.anchors, [&](const Anchor& anchor) { return anchor.node == access.node && !anchor.copy; });
  };
  const auto allIdentical = [&](const Affine& row, const Affine* lane) {
    return std::ranges::all_of(cone.accesses, [&](const Access& access) {
      return !isOwn(access) || identical(nest, access, row, lane);
    });
  };
  const bool readsOwn = std::ranges::any_of(cone.accesses, isOwn);
  const ConcreteShape& shape = concrete_.shape(node);
  shares = readsOwn;
  if (nest.kind == NestKind::contract) {
    // Only what follows from the product itself, element by element.
    const ConcreteShape& own = concrete_.shape(nest.anchors[0].node);
    if (foldsRow || !readsOwn || shape != own) return std::nullopt;
    const Affine whole = cone.wholeRow;
    const bool ok = std::ranges::all_of(cone.accesses, [&](const Access& access) {
      return !isOwn(access) || flatten(access.index, concrete_.shape(access.node)) == whole;
    });
    return ok ? std::optional(Role::full) : std::nullopt;
  }
  if (foldsRow) {
    const bool fits = countOf(shape) == nest.rowCount() && cone.laneExtent == nest.length;
    return fits && allIdentical(cone.row, &cone.lane) ? std::optional(Role::rowFold) : std::nullopt;
  }
  if (!shape.empty() && leading(shape) == nest.rows && shape.back() == nest.length &&
      allIdentical(cone.row, &cone.lane)) {
    return Role::full;
  }
  if (shape.empty() && nest.rows.empty() && nest.length == 1 && allIdentical(cone.row, &cone.lane))
    return Role::full;
  if (readsOwn && countOf(shape) == nest.rowCount() && allIdentical(cone.wholeRow, nullptr))
    return Role::rowLevel;
  return std::nullopt;
}

void Planner::place(NodeRef node, bool copy, std::vector<Destination> destinations) {
  std::optional<ContractForm> form;
  const NestKind kind = copy ? NestKind::row : kindOf(node, form);
  Cone cone = coneOf(node, copy, kind, form);
  const bool inPlace = copy || isInPlace(node);
  int least = 0;  // the first nest after everything that is read
  bool ownReads = false;
  for (const auto* list : {&cone.accesses, &cone.sideAccesses}) {
    for (const Access& access : *list) {
      const int at = nestOf(access.node);
      if (at >= least) {
        least = at;
        ownReads = true;
      }
    }
  }
  Anchor anchor{node, copy, inPlace ? Role::full : Role::main, std::move(destinations)};
  if (kind == NestKind::row && !inPlace) anchor.role = Role::rowFold;
  if (kind == NestKind::row && options_.fuse > 0) {
    for (int at = least; at < static_cast<int>(scope_.nests.size()); ++at) {
      Nest& nest = scope_.nests[static_cast<std::size_t>(at)];
      bool shares = false;
      auto role = roleIn(nest, node, !inPlace, cone, shares);
      if (!role) continue;
      for (const Access& access : cone.accesses)
        shares = shares || reads_[static_cast<std::size_t>(at)].contains(access.node);
      if (!shares) continue;
      anchor.role = *role;
      nest.anchors.push_back(std::move(anchor));
      for (const Access& access : cone.accesses) reads_[static_cast<std::size_t>(at)].insert(access.node);
      cones_[static_cast<std::size_t>(at)].push_back(std::move(cone));
      if (!copy) nestOf_[node] = at;
      return;
    }
  }
  static_cast<void>(ownReads);
  Nest nest;
  nest.kind = kind;
  const ConcreteShape& shape = concrete_.shape(node);
  if (kind == NestKind::row) {
    const bool reduces = tensor::kind(node->op) == OpKind::reduce;
    nest.rows = inPlace ? leading(shape) : reduces ? leading(concrete_.shape(node->operands[0])) : shape;
    nest.length = cone.laneExtent;
  } else if (kind == NestKind::contract) {
    for (const auto* axes : {&form->batch, &form->m}) {
      for (const ContractAxis& axis : *axes) nest.rows.push_back(axis.extent);
    }
    nest.length = form->columns();
    nest.contract = std::move(form);
  }
  nest.anchors.push_back(std::move(anchor));
  if (!copy) nestOf_[node] = static_cast<int>(scope_.nests.size());
  auto& reads = reads_.emplace_back();
  for (const auto* list : {&cone.accesses, &cone.sideAccesses}) {
    for (const Access& access : *list) reads.insert(access.node);
  }
  scope_.nests.push_back(std::move(nest));
  cones_.emplace_back().push_back(std::move(cone));
}

void Planner::addLoop(NodeRef loop, const std::function<bool(NodeRef)>& inner) {
  static_cast<void>(inner);
  for (std::size_t i = 0; i < loop->operands.size(); ++i) {
    place(loop->operands[i], isLeaf(loop->operands[i]) || isStored()(loop->operands[i]),
          {{Destination::Kind::stateStart, static_cast<int>(i), loop}});
  }
  Nest nest;
  nest.kind = NestKind::loop;
  nest.loop = loop;
  // Outer anchors have their storage decided later; the body only needs to know that they are stored.
  for (const NodeRef anchor : anchors_) plan_.placements.try_emplace(anchor);
  const std::string counter = loop->attributes.name;
  std::vector<Destination> next;
  for (std::size_t i = 0; i < loop->operands.size(); ++i)
    next.push_back({Destination::Kind::stateNext, static_cast<int>(i), loop});
  Planner body(concrete_, plan_, options_);
  nest.body = std::make_shared<Scope>(body.build(
      loop->attributes.body, next, [&](NodeRef node) { return concrete_.counters(node).contains(counter); }));
  auto& reads = reads_.emplace_back();
  for (const auto& list : body.reads_) reads.insert(list.begin(), list.end());
  cones_.emplace_back();
  const int at = static_cast<int>(scope_.nests.size());
  nestOf_[loop] = at;
  scope_.nests.push_back(std::move(nest));
}

/// An anchor that was only to save work, and that nobody outside its nest reads, is computed in place after
/// all.
void Planner::dropUnshared() {
  for (std::size_t at = 0; at < scope_.nests.size(); ++at) {
    Nest& nest = scope_.nests[at];
    for (std::size_t i = 0; i < nest.anchors.size();) {
      const NodeRef node = nest.anchors[i].node;
      bool outside =
          !soft_.contains(node) || !nest.anchors[i].destinations.empty() || nest.anchors.size() == 1;
      for (std::size_t other = 0; other < reads_.size() && !outside; ++other)
        outside = other != at && reads_[other].contains(node);
      if (outside || nest.kind != NestKind::row) {
        ++i;
        continue;
      }
      nest.anchors.erase(nest.anchors.begin() + static_cast<std::ptrdiff_t>(i));
      anchors_.erase(node);  // its cone stays: what it reads, the nest reads
      nestOf_.erase(node);
    }
  }
}

bool Planner::joins(const Group& group, int index) const {
  const Nest& nest = scope_.nests[static_cast<std::size_t>(index)];
  const Nest& first = scope_.nests[static_cast<std::size_t>(group.nests[0])];
  if (nest.kind != NestKind::row && nest.kind != NestKind::contract) return false;
  if (first.kind != NestKind::row && first.kind != NestKind::contract) return false;
  if (nest.rowCount() != first.rowCount() || nest.rowCount() < 2) return false;
  const Extent batches = nest.contract ? nest.contract->batches() : 1;
  if (batches > 1 && group.batches > 1 && batches != group.batches) return false;
  const auto inGroup = [&](const Access& access) {
    return std::ranges::find(group.nests, nestOf(access.node)) != group.nests.end();
  };
  const auto rowOf = [&](const Access& access, bool& whole) {
    // Row-level anchors have one value per row; the others a row of values.
    const ConcreteShape& shape = concrete_.shape(access.node);
    whole = countOf(shape) == nest.rowCount();
    if (whole) return flatten(access.index, shape);
    Affine position = flatten(access.index, shape);
    return position;
  };
  bool reads = false;
  for (const Cone& cone : cones_[static_cast<std::size_t>(index)]) {
    for (const Access& access : cone.sideAccesses) {
      if (inGroup(access)) return false;
    }
    for (const Access& access : cone.accesses) {
      if (!inGroup(access)) continue;
      reads = true;
      bool whole = false;
      const Affine position = rowOf(access, whole);
      const Extent width = concrete_.count(access.node) / nest.rowCount();
      IndexSpace space = cone.space;
      const Affine& row = cone.row == Affine() && whole ? cone.wholeRow : cone.row;
      if (!(space.quotient(position, width) == row)) return false;
    }
  }
  for (const NodeRef node : reads_[static_cast<std::size_t>(index)]) {
    for (const int member : group.nests)
      reads = reads || reads_[static_cast<std::size_t>(member)].contains(node);
  }
  return reads;
}

void Planner::formGroups() {
  for (int i = 0; i < static_cast<int>(scope_.nests.size()); ++i) {
    const Nest& nest = scope_.nests[static_cast<std::size_t>(i)];
    const Extent batches = nest.contract ? nest.contract->batches() : 1;
    if (options_.fuse >= 2 && !scope_.groups.empty() && joins(scope_.groups.back(), i)) {
      Group& group = scope_.groups.back();
      group.nests.push_back(i);
      group.batches = std::max(group.batches, batches);
      continue;
    }
    scope_.groups.push_back({{i}, batches});
  }
}

/// Elementwise nests whose operands are all read in order need no rows at all.
void Planner::flattenAlone() {
  for (const Group& group : scope_.groups) {
    Nest& nest = scope_.nests[static_cast<std::size_t>(group.nests[0])];
    if (group.nests.size() > 1 || nest.kind != NestKind::row) continue;
    if (std::ranges::any_of(nest.anchors, [](const Anchor& anchor) { return anchor.role != Role::full; }))
      continue;
    const Extent total = nest.rowCount() * nest.length;
    bool inOrder = true;
    for (const Anchor& anchor : nest.anchors) {
      IndexSpace space;
      const Affine position =
          total == 1 ? Affine() : Affine::atom(space.variable("j", {0, total - 1}, 0, true));
      const auto index = unflatten(space, position, concrete_.shape(anchor.node));
      const std::size_t atoms = space.size();
      AccessDomain domain(concrete_, space, isStored());
      if (anchor.copy) {
        domain.element(anchor.node, index);
      } else {
        domain.visit(anchor.node, index);
      }
      for (const Access& access : domain.accesses) {
        const Affine at = flatten(access.index, concrete_.shape(access.node));
        inOrder = inOrder && (at == position || !space.lanes(at));
      }
      static_cast<void>(atoms);
      for (const NodeRef node : tensor::topological(std::span(&anchor.node, 1))) {
        // Subscripts and counting depend on the axes; selections by index too.
        inOrder = inOrder && node->op != Op::take && node->op != Op::arange && node->op != Op::concatenate &&
                  node->op != Op::repeat;
      }
    }
    if (!inOrder) continue;
    nest.flat = true;
    nest.rows.clear();
    nest.length = total;
  }
}

void Planner::placements(std::span<const NodeRef> roots) {
  static_cast<void>(roots);
  for (std::size_t at = 0; at < scope_.nests.size(); ++at) {
    for (const Anchor& anchor : scope_.nests[at].anchors) {
      if (anchor.copy) continue;
      Placement placement;
      for (const Destination& to : anchor.destinations) {
        if (placement.storage != Storage::none) break;
        if (to.kind == Destination::Kind::result) placement = {Storage::result, to.index, nullptr};
        if (to.kind == Destination::Kind::stateNext) placement = {Storage::state, to.index, to.loop};
      }
      if (placement.storage == Storage::none) {
        bool used = false;
        bool near = true;
        for (std::size_t other = 0; other < reads_.size(); ++other) {
          if (other == at || !reads_[other].contains(anchor.node)) continue;
          used = true;
          const auto group = std::ranges::find_if(scope_.groups, [&](const Group& one) {
            return std::ranges::find(one.nests, static_cast<int>(at)) != one.nests.end();
          });
          near = near && std::ranges::find(group->nests, static_cast<int>(other)) != group->nests.end();
        }
        if (used) placement.storage = near ? Storage::strip : Storage::scratch;
      }
      plan_.placements[anchor.node] = placement;
    }
  }
}

Scope Planner::build(std::span<const NodeRef> roots, const std::vector<Destination>& destinations,
                     const std::function<bool(NodeRef)>& inner) {
  const std::vector<NodeRef> order = scopeOrder(roots, inner);
  chooseAnchors(order, roots);
  std::unordered_map<NodeRef, std::vector<Destination>> wanted;
  std::vector<std::pair<NodeRef, Destination>> copies;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (anchors_.contains(roots[i])) {
      wanted[roots[i]].push_back(destinations[i]);
    } else {
      copies.emplace_back(roots[i], destinations[i]);
    }
  }
  for (const NodeRef node : order) {
    if (node->op == Op::loop) addLoop(node, inner);
    if (node->op == Op::loopResult) nestOf_[node] = nestOf(node->operands[0]);
    if (anchors_.contains(node)) place(node, false, wanted[node]);
  }
  for (const auto& [node, destination] : copies) place(node, true, {destination});
  dropUnshared();
  formGroups();
  flattenAlone();
  placements(roots);
  return std::move(scope_);
}

}  // namespace

int weight(NodeRef node) {
  switch (node->op) {
    case Op::exp:
    case Op::log:
    case Op::tanh:
    case Op::sin:
    case Op::cos:
      return 10;
    case Op::divide:
    case Op::sqrt:
    case Op::floorDivide:
    case Op::modulo:
      return 3;
    case Op::power:
      return std::max(1, node->attributes.index - 1);
    case Op::take:
      return 2;
    default:
      return tensor::kind(node->op) == OpKind::elementwise ? 1 : 0;
  }
}

Plan planOf(const Concrete& concrete, std::span<const NodeRef> results, const PlanOptions& options) {
  Plan plan;
  std::vector<Destination> destinations;
  for (std::size_t i = 0; i < results.size(); ++i)
    destinations.push_back({Destination::Kind::result, static_cast<int>(i), nullptr});
  Planner planner(concrete, plan, options);
  plan.top =
      planner.build(results, destinations, [&](NodeRef node) { return concrete.counters(node).empty(); });
  return plan;
}

namespace {

void describeScope(const Plan& plan, const Scope& scope, const std::string& indent, std::string& into) {
  static constexpr const char* kinds[] = {"row", "contract", "fold", "scan", "loop"};
  for (const Group& group : scope.groups) {
    for (const int i : group.nests) {
      const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
      into += fmt::format("{}{}{}[{} x {}{}]:", indent, group.nests.size() > 1 ? "| " : "",
                          kinds[static_cast<int>(nest.kind)], nest.rowCount(), nest.length,
                          nest.flat ? ", flat" : "");
      for (const Anchor& anchor : nest.anchors) {
        static constexpr const char* places[] = {"", " -> result", " -> state", " -> memory", " -> strip"};
        const auto found = plan.placements.find(anchor.node);
        const int place =
            anchor.copy || found == plan.placements.end() ? 0 : static_cast<int>(found->second.storage);
        into +=
            fmt::format(" {}{}{},", anchor.copy ? "copy " : "", tensor::name(anchor.node->op), places[place]);
      }
      if (into.back() == ',') into.pop_back();
      into += "\n";
      if (nest.body) describeScope(plan, *nest.body, indent + "  ", into);
    }
  }
}

}  // namespace

bool standsAlone(const Plan& plan, const Scope& scope, const Group& group) {
  const Nest& nest = scope.nests[static_cast<std::size_t>(group.nests[0])];
  if (group.nests.size() != 1 || nest.kind != NestKind::contract) return false;
  return std::ranges::none_of(nest.anchors, [&](const Anchor& anchor) {
    const auto placed = plan.placements.find(anchor.node);
    return placed != plan.placements.end() && placed->second.storage == Storage::strip;
  });
}

std::string describe(const Plan& plan) {
  std::string result;
  describeScope(plan, plan.top, "", result);
  return result;
}

}  // namespace nuscope::fusion
