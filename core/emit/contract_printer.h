#pragma once
// Prints one matrix product, in one of two orders of its loops. Rows outside: all panels of b are copied
// once, and each strip of rows meets them all. Columns outside: a panel is copied by the thread that uses it,
// just before all rows meet it. contract_pack.cpp: how operands are read and copied; contract_nest.cpp: the
// product.
#include "core/emit/nests.h"

namespace nuscope::emit {

ConcreteShape extentsOf(const std::vector<fusion::ContractAxis>& axes);

class ContractPrinter {
 public:
  ContractPrinter(const NestContext& context, const fusion::Nest& nest, const ContractArrays& arrays)
      : context_(context),
        file_(context.file),
        settings_(context.settings),
        nest_(nest),
        form_(*nest.contract),
        arrays_(arrays) {}

  Function packPanels(bool vectors);  ///< all of b
  Function packLeft(bool vectors);    ///< all of a
  Function byRows(bool vectors);
  Function byColumns(bool vectors);
  bool copiesLeft();

 private:
  /// Address of an operand's element as base + i * row + k * depth, if it is that.
  struct Place {
    int array = -1;
    Affine base;
    std::int64_t row = 0, depth = 0;
  };
  /// What a register block reads and writes, as C++ text.
  struct BlockTexts {
    std::string a;  ///< its first row, from k0 on
    std::int64_t rowStep = 0, depthStep = 1;
    Extent stepB = 0;
    std::string sums;  ///< of earlier blocks of the depth, where they do not grow in the result
    Extent sumsWidth = 0;
  };
  std::optional<Place> inPlace(Generator& generator, bool ofA, const std::vector<Affine>& batch,
                               const Affine& along, const Affine& k);
  std::optional<Place> leftInPlace(Generator& generator, const std::vector<Affine>& batchIndex);

  [[nodiscard]] Extent panelsOfBatch() const {
    return (form_.columns() + settings_.tileN() - 1) / settings_.tileN();
  }
  [[nodiscard]] Extent panelUnits() const;
  [[nodiscard]] const std::string& nameOf(int array) const {
    return file_.arrays[static_cast<std::size_t>(array)].name;
  }
  [[nodiscard]] Extent blockK() const { return std::min(settings_.blockK, form_.depth()); }
  [[nodiscard]] bool isBlocked() const { return blockK() < form_.depth(); }
  [[nodiscard]] bool isDirect(const Generator& generator) const {
    return generator.vectors() && !isBlocked() && isLight();
  }
  // Floats from row to row of a copied block of a, and of all of it: rows do not fall on the same cache sets.
  [[nodiscard]] Extent rowStride() const { return blockK() + settings_.lanes; }
  [[nodiscard]] Extent leftStride() const { return form_.depth() + settings_.lanes; }
  /// Rows of b are contiguous along the depth.
  [[nodiscard]] static bool isTurned(const Place& place) { return place.depth == 1 && place.row != 1; }
  [[nodiscard]] double productWork() const;

  std::string addPanelStart(Generator& generator, const Affine& t);
  std::vector<Affine> panelBatch(Generator& generator, const Affine& t) const;
  void finishPacking(Function& function, Generator& generator, int array, NodeRef operand);
  bool packTurned(Generator& generator);
  void packSideBySide(Generator& generator);
  void fillPanelRow(Generator& generator, const std::vector<Affine>& batchIndex, const Affine& k,
                    const std::string& count);
  void fillLeftRow(Generator& generator, const std::vector<Affine>& batchIndex,
                   const std::vector<Affine>& rowIndex, bool wholeDepth);
  void packRows(Generator& generator, const Affine& batch, const std::string& name);
  void packHere(Generator& generator, const std::vector<Affine>& batchIndex, const std::string& count);
  std::string panelInPlace(Generator& generator, const std::vector<Affine>& batchIndex, Extent& step);
  void readLeft(Generator& generator, const Place& place, BlockTexts& texts);

  void addDepthBlock(Generator& generator);
  void closeDepthBlock(Generator& generator, const std::vector<NodeRef>& nodes);
  void registerBlocks(Generator& generator, const Affine& batch, const BlockTexts& texts);
  void epilogue(Generator& generator, const Affine& batch, bool direct);
  [[nodiscard]] bool isLight() const;
  [[nodiscard]] int sumsInResult() const;

  const NestContext& context_;
  FileContext& file_;
  const Settings& settings_;
  const fusion::Nest& nest_;
  const fusion::ContractForm& form_;
  const ContractArrays arrays_;
};

/// Where b's panels of a batch are: batches that b does not distinguish share them.
ConcreteShape panelBatches(const fusion::ContractForm& form);

}  // namespace nuscope::emit
