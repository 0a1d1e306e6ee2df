// The binding of the reader of plain CSV text.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <exception>
#include <tuple>

#include "bind.hpp"
#include "bind_text.hpp"
#include "csv.hpp"

namespace {

using namespace sx;
using namespace nb::literals;

struct HeldCsv {
    CsvReader reader;
    Turn turn{};
};

void make_reader(HeldCsv* self, nb::bytes delimiter, nb::bytes quote, const std::vector<std::string>& kinds, int n_jobs,
                 std::int64_t max_levels) {
    expect(delimiter.size() == 1, "delimiter must be one byte");
    expect(quote.size() <= 1, "quote must be one byte or none");
    const char cut = *delimiter.c_str(), around = quote.size() ? *quote.c_str() : '\0';
    constexpr char numeric[] = "0123456789+-.eE\n\r";  // its closing 0 too
    expect(!std::memchr(numeric, cut, sizeof numeric), "the delimiter may be part of a number or a line end");
    expect(!quote.size() || (!std::memchr(numeric, around, sizeof numeric) && around != ' ' && around != cut),
           "the quote may be the delimiter or part of a number, a space or a line end");
    expect(!kinds.empty(), "a row needs at least one column");
    expect(n_jobs >= 1, "n_jobs must be at least 1");
    expect(max_levels >= 0, "max_levels is negative");
    std::vector<CsvKind> each;
    for (const std::string& kind : kinds) {
        expect(kind == "number" || kind == "label" || kind == "skip", "a column is a number, a label or one to skip");
        each.push_back(kind == "number" ? CsvKind::number : kind == "label" ? CsvKind::label : CsvKind::skip);
    }
    new (self) HeldCsv{CsvReader(cut, around, std::move(each), n_jobs, max_levels)};
}

template <class T>
nb::object table(std::unique_ptr<T[]>&& values, std::int64_t rows, std::int64_t columns) {
    T* const kept = values.release();
    nb::capsule owner(kept, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    const std::size_t shape[2] = {std::size_t(rows), std::size_t(columns)};
    return nb::cast(nb::ndarray<nb::numpy, T>(kept, 2, shape, owner));
}

auto feed(HeldCsv& self, nb::handle bytes) {
    const Bytes text(bytes);
    const Turn::Held held(self.turn);
    CsvBlock block;
    std::exception_ptr problem;
    {
        nb::gil_scoped_release free;
        try {
            block = self.reader.feed(text.data(), text.size());
        } catch (...) {
            problem = std::current_exception();
        }
    }
    if (problem) std::rethrow_exception(problem);
    if (!block.numbers) block.numbers.reset(new double[0]);
    if (!block.labels) block.labels.reset(new std::int32_t[0]);
    return std::make_tuple(table(std::move(block.numbers), block.rows, self.reader.numbers()),
                           table(std::move(block.labels), block.rows, self.reader.labels()));
}

nb::list levels(HeldCsv& self, std::int64_t k) {
    const Turn::Held held(self.turn);
    expect(0 <= k && k < self.reader.labels(), "there is no such column of labels");
    nb::list names;
    for (const std::string& name : self.reader.levels(k)) names.append(nb::bytes(name.data(), name.size()));
    return names;
}

std::int64_t count(HeldCsv& self, std::int64_t k) {
    const Turn::Held held(self.turn);
    expect(0 <= k && k < self.reader.labels(), "there is no such column of labels");
    return std::int64_t(self.reader.levels(k).size());
}

}  // namespace

void sx::bind_csv(nb::module_& module) {
    nb::exception<NotPlain>(module, "NotPlain", PyExc_ValueError);
    nb::class_<HeldCsv>(module, "CsvReader", "Reads blocks of whole lines of plain CSV text in several threads.")
        .def("__init__", &make_reader, "delimiter"_a, "quote"_a, "kinds"_a, "n_jobs"_a = 1, "max_levels"_a = 10'000)
        .def("feed", &feed, "bytes"_a,
             "Read lines that end with a newline: the numbers, NaN where a cell is empty, and the codes of the labels, "
             "-1 where one is empty. NotPlain is raised for all that has another or no certain meaning.")
        .def("count", &count, "k"_a, "How many different labels the k-th column of labels has had.")
        .def("levels", &levels, "k"_a, "The labels of the k-th column of labels, in the order of their codes.");
}
