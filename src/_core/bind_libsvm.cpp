// The binding of the reader of libsvm text.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind.hpp"
#include "bind_text.hpp"
#include "libsvm.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

struct HeldLibsvm {
    LibsvmReader reader;
    bool single;
    Turn turn{};
};

void make_reader(HeldLibsvm* self, bool zero_based, bool single) {
    new (self) HeldLibsvm{LibsvmReader(zero_based, single), single};
}

template <class T>
nb::object handed_over(Growing<T>&& values) {
    auto* kept = new Growing<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Growing<T>*>(p); });
    const std::size_t shape[1] = {kept->size()};
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 1, shape, owner));
}

template <class Work>
void alone(HeldLibsvm& self, Work work) {
    const Turn::Held held(self.turn);
    std::string problem;
    {
        nb::gil_scoped_release free;
        try {
            work();
        } catch (const LibsvmError& error) {
            problem = error.what();
        }
    }
    if (!problem.empty()) refuse(problem);
}

void feed(HeldLibsvm& self, nb::handle bytes) {
    const Bytes text(bytes);
    alone(self, [&] { self.reader.feed(text.data(), text.size()); });
}

void finish(HeldLibsvm& self) {
    alone(self, [&] { self.reader.finish(); });
}

auto take(HeldLibsvm& self, std::int64_t rows) {
    expect(rows >= 0, "rows is negative");
    LibsvmRows out;
    alone(self, [&] { out = self.reader.take(rows); });
    nb::object values = self.single ? handed_over(std::move(out.singles)) : handed_over(std::move(out.values));
    return std::make_tuple(values, handed_over(std::move(out.columns)), handed_over(std::move(out.starts)),
                           handed_over(std::move(out.labels)));
}

}  // namespace

void sx::bind_libsvm(nb::module_& module) {
    nb::class_<HeldLibsvm>(module, "LibsvmReader",
                       "Reads rows of libsvm text from chunks that may end anywhere; qid:N is accepted and ignored.")
        .def("__init__", &make_reader, "zero_based"_a = false, "single"_a = false)
        .def("feed", &feed, "bytes"_a, "Read one more chunk; ValueError names the first line that is wrong.")
        .def("finish", &finish, "Read the last line, if no line end came behind it.")
        .def("take", &take, "rows"_a,
             "Hand over the first rows that wait, at most so many: values, columns, row starts, labels.")
        .def_prop_ro("rows", [](const HeldLibsvm& self) { return self.reader.rows(); }, "How many rows wait.")
        .def_prop_ro("lines", [](const HeldLibsvm& self) { return self.reader.lines(); }, "How many lines were read.")
        .def_prop_ro("width", [](const HeldLibsvm& self) { return self.reader.width(); },
                     "How many columns the largest index so far needs.")
        .def_prop_ro("smallest", [](const HeldLibsvm& self) -> nb::object {
            const std::int64_t index = self.reader.smallest();
            return index > LibsvmReader::kLargestIndex ? nb::none() : nb::object(nb::int_(index));
        }, "The smallest index so far, or None.");
}
