// The trusted lemmas of the normal form (reference/proofs.md, section 7): the induction step of each, over
// arbitrary prefix values and bodies, is asked of the solver. The lemma's base is the empty or the
// one-element fold.
#include <gtest/gtest.h>

#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

struct Lemma {
  const char* name;
  const char* reals;  ///< constants
  const char* integers;
  const char* hypothesis;
  const char* conclusion;
  bool holds = true;
};

// max(a, b) is written (ite (>= a b) a b).
const Lemma lemmas[] = {
    {"S0 congruence", "A B f g", "", "(and (= A B) (= f g))", "(= (+ A f) (+ B g))"},
    {"S1 add", "A B C f g", "", "(= C (+ A B))", "(= (+ C f g) (+ (+ A f) (+ B g)))"},
    {"S2 scale", "A C c f", "", "(= C (* c A))", "(= (+ C (* c f)) (* c (+ A f)))"},
    {"S3 exchange", "L R row S", "", "(and (= L R) (= S (+ R row)))", "(= (+ L row) S)"},
    {"S4 split", "A B C f", "", "(= A (+ B C))", "(= (+ A f) (+ B (+ C f)))"},
    {"S5 tile", "S T tot tp", "", "(and (= S tot) (= T (+ S tp)))", "(= T (+ tot tp))"},
    {"S6 delta", "D fi fn", "n i",
     "(and (>= n 0) (=> (= n i) (= fn fi)) (= D (ite (and (<= 0 i) (< i n)) fi 0.0)))",
     "(= (+ D (ite (= n i) fn 0.0)) (ite (and (<= 0 i) (< i (+ n 1))) fi 0.0))"},
    {"S7 range", "D Sn Sm Snext f", "n m",
     "(and (>= n 0) (>= m 0) (= Snext (+ Sn f)) (=> (= n m) (= Sn Sm)) (=> (= (+ n 1) m) (= Snext Sm)) (= D "
     "(ite (< n m) Sn Sm)))",
     "(= (+ D (ite (< n m) f 0.0)) (ite (< (+ n 1) m) Snext Sm))"},
    {"S8 shift", "D F0 Fn Fnext f", "", "(and (= D (- Fn F0)) (= Fnext (+ Fn f)))",
     "(= (+ D f) (- Fnext F0))"},
    {"S8 below zero", "F G f s", "", "(and (= F (+ G f)) (= F (- s)))", "(= G (- (+ s f)))"},
    {"S9 product", "A B C f", "", "(= C (* A B))", "(= (+ C (* f B)) (* (+ A f) B))"},
    {"S10 squares", "A c", "", "(= (* 6.0 A) (* c (- c 1.0) (- (* 2.0 c) 1.0)))",
     "(= (* 6.0 (+ A (* c c))) (* (+ c 1.0) c (+ (* 2.0 c) 1.0)))"},
    {"S10 cubes", "A c", "", "(= (* 4.0 A) (* c c (- c 1.0) (- c 1.0)))",
     "(= (* 4.0 (+ A (* c c c))) (* (+ c 1.0) (+ c 1.0) c c))"},
    {"S11 triangle counted", "L R P f", "", "(= L R)", "(= (+ L (+ P f)) (+ (+ R P) f))"},
    {"M1 max plus", "M N c f", "", "(= M (+ N c))",
     "(= (ite (>= M (+ f c)) M (+ f c)) (+ (ite (>= N f) N f) c))"},
    {"M2 max scale", "M N c f", "", "(and (>= c 0.0) (= M (* c N)))",
     "(= (ite (>= M (* c f)) M (* c f)) (* c (ite (>= N f) N f)))"},
    {"M2 without the sign", "M N c f", "", "(= M (* c N))",
     "(= (ite (>= M (* c f)) M (* c f)) (* c (ite (>= N f) N f)))", false},
    {"M3 max of max", "M N O f g", "", "(= M (ite (>= N O) N O))",
     "(= (ite (>= M (ite (>= f g) f g)) M (ite (>= f g) f g)) (ite (>= (ite (>= N f) N f) (ite (>= O g) O "
     "g)) (ite (>= N f) N f) (ite (>= O g) O g)))"},
    {"M3 union", "M f", "", "true",
     "(= (ite (>= (ite (>= M f) M f) f) (ite (>= M f) M f) f) (ite (>= M f) M f))"},
    {"M4 summed", "M S f n X", "",
     "(and (>= n 1.0) (>= (* n M) S) (= X (ite (>= M f) M f)) (>= (* n (- X M)) 0.0))",
     "(>= (* (+ n 1.0) X) (+ S f))"},
    {"M4 summed, minima", "M S f n X", "",
     "(and (>= n 1.0) (>= (* n M) (- S)) (= X (ite (>= M (- f)) M (- f))) (>= (* n (- X M)) 0.0))",
     "(>= (* (+ n 1.0) X) (- (+ S f)))"},
    {"M5 attained", "M f a b", "", "(and (= M a) (= f b))",
     "(or (= (ite (>= M f) M f) a) (= (ite (>= M f) M f) b))"},
    {"M6 mirrored", "M f gM gf", "", "(= (>= gf gM) (>= f M))",
     "(= (ite (>= (- gM) (- gf)) (- gM) (- gf)) (- (ite (>= M f) (ite (>= gM gf) gf gM) (ite (>= gM gf) gf "
     "gM))))"},
    {"M6 reciprocal", "M Q c f", "",
     "(and (= (* M Q) 1.0) (= (* c f) 1.0) (> f 0.0) (> Q 0.0) (> M 0.0) (> c 0.0))",
     "(= (* (ite (>= M c) M c) (ite (<= Q f) Q f)) 1.0)"},
    {"M4 bound", "M fk fn", "k n", "(and (=> (and (<= 0 k) (< k n)) (>= M fk)) (=> (= k n) (= fk fn)))",
     "(=> (and (<= 0 k) (< k (+ n 1))) (>= (ite (>= M fn) M fn) fk))"},
    {"M6 monotone", "M f gM gf", "", "(= (>= gf gM) (>= f M))",
     "(= (ite (>= gM gf) gM gf) (ite (>= M f) (ite (>= gM gf) gM gf) gf))"},
    {"P1 product", "A B C f g", "", "(= C (* A B))", "(= (* C f g) (* (* A f) (* B g)))"},
    {"F1 positive together", "M S f w", "",
     "(and (>= S 0.0) (=> (> M 0.0) (> S 0.0)) (>= w 0.0) (=> (> f 0.0) (> w 0.0)))",
     "(and (>= (+ S w) 0.0) (=> (> (ite (>= M f) M f) 0.0) (> (+ S w) 0.0)))"},
    {"F2 zero together", "M S f g", "",
     "(and (>= M 0.0) (>= S 0.0) (>= f 0.0) (>= g 0.0) (= (= M 0.0) (= S 0.0)) (= (= f 0.0) (= g 0.0)))",
     "(= (= (ite (>= M f) M f) 0.0) (= (+ S g) 0.0))"},
    {"conditions empty together", "S P w c", "",
     "(and (>= S 0.0) (or (= P 0.0) (= P 1.0)) (= (= S 0.0) (= P 1.0)) (>= w 0.0) (or (= c 0.0) (= c 1.0)) "
     "(= (= w 0.0) (= c 1.0)))",
     "(and (or (= (* P c) 0.0) (= (* P c) 1.0)) (= (= (+ S w) 0.0) (= (* P c) 1.0)))"},
    {"F3 squares", "A B f n", "", "(and (>= n 1.0) (>= (* n A) (* B B)))",
     "(>= (* (+ n 1.0) (+ A (* f f))) (* (+ B f) (+ B f)))"},
    {"Q quotient", "", "d n p q",
     "(and (>= d 1) (<= (* d p) n) (< n (+ (* d p) d)) (<= (* d q) n) (< n (+ (* d q) d)) (=> (< p q) (<= (* "
     "d (+ p 1)) (* d q))) "
     "(=> (< q p) (<= (* d (+ q 1)) (* d p))))",
     "(= p q)"},
    {"Q common factor", "", "a d n p q",
     "(and (>= a 1) (>= d 1) (<= (* d q) n) (< n (+ (* d q) d)) (<= (* d p) n) (< n (+ (* d p) d)) "
     "(=> (< p q) (<= (* d (+ p 1)) (* d q))) (=> (< q p) (<= (* d (+ q 1)) (* d p))))",
     "(= p q)"},
    {"Q quotient of integers as reals", "", "n f q",
     "(and (<= (to_real f) (/ (to_real n) 4.0)) (< (/ (to_real n) 4.0) (+ (to_real f) 1.0)) (<= (* 4 q) n) "
     "(< n (+ (* "
     "4 q) 4)))",
     "(= f q)"},
    {"rint of an even shift", "x", "r k h",
     "(and (<= (* 2.0 (- x (to_real r))) 1.0) (>= (* 2.0 (- x (to_real r))) (- 1.0)) (=> (or (= (* 2.0 (- x "
     "(to_real "
     "r))) 1.0) (= (* 2.0 (- x (to_real r))) (- 1.0))) (= r (* 2 h))))",
     "(and (<= (* 2.0 (- (+ x (to_real (* 2 k))) (to_real (+ r (* 2 k))))) 1.0) (=> (= (* 2.0 (- x (to_real "
     "r))) 1.0) "
     "(= (+ r (* 2 k)) (* 2 (+ h k)))))"},
    {"an integer near zero", "", "r s", "true",
     "(or (<= (- r s) (- 2)) (= (- r s) (- 1)) (= (- r s) 0) (= (- r s) 1) (>= (- r s) 2))"},
    {"residues", "", "k q r", "(and (= k (+ (* 6 q) r)) (<= 0 r) (< r 6))", "(= (mod k 6) r)"},
    {"floor of floor", "x", "n f g h",
     "(and (= n 7) (<= (to_real f) x) (< x (+ (to_real f) 1.0)) (<= (* 7 g) f) (< f (+ (* 7 g) 7)) (<= (* "
     "7.0 (to_real h)) x) "
     "(< x (+ (* 7.0 (to_real h)) 7.0)))",
     "(= g h)"},
    {"floors of opposites", "x", "c d f g",
     "(and (<= (to_real f) x) (< x (+ (to_real f) 1.0)) (<= (to_real g) (- (to_real c) x)) (< (- (to_real c) "
     "x) "
     "(+ (to_real g) 1.0)) (= d (- (+ f g) c)))",
     "(or (= d 0) (= d (- 1)))"},
    {"floors of opposites are not opposites", "x", "f g",
     "(and (<= (to_real f) x) (< x (+ (to_real f) 1.0)) (<= (to_real g) (- x)) (< (- x) (+ (to_real g) "
     "1.0)))",
     "(= (+ f g) 0)", false},
    {"rounding is not additive", "x", "f g",
     "(and (<= (to_real f) x) (< x (+ (to_real f) 1.0)) (<= (to_real g) (* 2.0 x)) (< (* 2.0 x) (+ (to_real "
     "g) 1.0)))",
     "(= g (* 2 f))", false},
};

std::string declarations(const std::string& names, const char* sort) {
  std::string result;
  std::string name;
  for (const char c : names + " ") {
    if (c != ' ') {
      name += c;
    } else if (!name.empty()) {
      result += "(declare-const " + name + " " + sort + ")\n";
      name.clear();
    }
  }
  return result;
}

TEST(Lemmas, StepsHold) {
  SolverPool pool(NUSCOPE_SOLVER, 1);
  for (const Lemma& lemma : lemmas) {
    const std::string given = declarations(lemma.reals, "Real") + declarations(lemma.integers, "Int") +
                              "(assert " + lemma.hypothesis + ")\n";
    SolverQuery query;
    query.limit = std::chrono::seconds(10);
    query.smt = given;
    EXPECT_EQ(pool.ask(query).status, SolverAnswer::Status::sat)
        << lemma.name << ": empty hypotheses prove nothing";
    query.smt = given + "(assert (not " + lemma.conclusion + "))\n";
    EXPECT_EQ(pool.ask(query).status, lemma.holds ? SolverAnswer::Status::unsat : SolverAnswer::Status::sat)
        << lemma.name;
  }
}

}  // namespace
}  // namespace nuscope::proof
