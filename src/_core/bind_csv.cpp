// The bindings of the readers of CSV text.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>
#include <tuple>

#include "bind.hpp"
#include "bind_text.hpp"
#include "csv.hpp"
#include "csv_table.hpp"

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

struct HeldScan {
    CsvScan reader;
    Turn turn{};
};

struct HeldColumns {
    CsvColumns reader;
    Turn turn{};
};

PyObject* problem_type = nullptr;  // owned by the module: a ValueError whose arguments are why, the line, the column and the cell

std::string checked(nb::bytes delimiter, int n_jobs, std::int64_t longest_line) {
    expect(delimiter.size() >= 1 && delimiter.size() <= 4, "delimiter must be one character");
    std::string text(delimiter.c_str(), delimiter.size());
    expect(text.find_first_of(std::string_view("\"\n\r\0", 4)) == std::string::npos,
           "the delimiter may be a quote or a line end");
    expect(n_jobs >= 1, "n_jobs must be at least 1");
    expect(longest_line >= 1, "longest_line must be at least 1");
    return text;
}

void make_scan(HeldScan* self, nb::bytes delimiter, std::int64_t columns, int n_jobs, std::int64_t longest_line) {
    expect(columns >= 1, "a row needs at least one column");
    new (self) HeldScan{CsvScan(checked(delimiter, n_jobs, longest_line), std::size_t(columns), n_jobs, longest_line)};
}

void make_columns(HeldColumns* self, nb::bytes delimiter, const std::vector<std::string>& kinds, int n_jobs,
                  std::int64_t longest_line) {
    expect(!kinds.empty(), "a row needs at least one column");
    constexpr std::string_view words[] = {"number", "whole", "flag", "text", "skip"};
    std::vector<ColumnKind> each;
    for (const std::string& kind : kinds) {
        const auto* const word = std::find(std::begin(words), std::end(words), kind);
        expect(word != std::end(words), "a column is a number, whole, a flag, text or one to skip");
        each.push_back(ColumnKind(word - words));
    }
    new (self) HeldColumns{CsvColumns(checked(delimiter, n_jobs, longest_line), std::move(each), n_jobs, longest_line)};
}

// Do something with the interpreter's lock; what is refused is raised with its arguments.
template <class Work>
auto raised(Work work) {
    try {
        return work();
    } catch (const CsvProblem& refused) {
        const nb::tuple arguments = nb::make_tuple(refused.what(), refused.line, refused.column,
                                                   nb::bytes(refused.cell.data(), refused.cell.size()));
        PyErr_SetObject(problem_type, arguments.ptr());
        throw nb::python_error();
    }
}

// Let a reader read without the interpreter's lock.
template <class Held, class Read>
auto read_freely(Held& self, nb::handle bytes, Read read) {
    const Bytes text(bytes);
    const Turn::Held held(self.turn);
    std::exception_ptr problem;
    decltype(read(text)) out{};
    {
        nb::gil_scoped_release free;
        try {
            out = read(text);
        } catch (...) {
            problem = std::current_exception();
        }
    }
    return raised([&] {
        if (problem) std::rethrow_exception(problem);
        return std::move(out);
    });
}

auto feed(HeldCsv& self, nb::handle bytes) {
    CsvBlock block = read_freely(self, bytes, [&](const Bytes& text) { return self.reader.feed(text.data(), text.size()); });
    if (!block.numbers) block.numbers.reset(new double[0]);
    if (!block.labels) block.labels.reset(new std::int32_t[0]);
    return std::make_tuple(table(std::move(block.numbers), block.rows, self.reader.numbers()),
                           table(std::move(block.labels), block.rows, self.reader.labels()));
}

template <class Held>
void begin(Held& self, std::int64_t line) {
    const Turn::Held held(self.turn);
    self.reader.begin(line);
}

template <auto Get>
auto fact(HeldScan& self) {
    const Turn::Held held(self.turn);
    return (self.reader.*Get)();
}

void feed_scan(HeldScan& self, nb::handle bytes, bool last) {
    read_freely(self, bytes, [&](const Bytes& text) {
        self.reader.feed(text.data(), text.size(), last);
        return true;
    });
}

nb::list scanned(HeldScan& self) {
    const Turn::Held held(self.turn);
    nb::list out;
    for (const CsvScan::Column& column : self.reader.columns()) {
        out.append(nb::make_tuple(column.types, column.spaces, column.cells, column.longest, column.text_row,
                                  nb::bytes(column.text.data(), column.text.size())));
    }
    return out;
}

auto feed_columns(HeldColumns& self, nb::handle bytes, bool last) {
    ColumnBlock block = read_freely(
        self, bytes, [&](const Bytes& text) { return self.reader.feed(text.data(), text.size(), last); });
    const std::int64_t n = block.rows, texts = self.reader.count(ColumnKind::text);
    const std::int64_t numbers = self.reader.count(ColumnKind::number), wholes = self.reader.count(ColumnKind::whole);
    const std::int64_t flags = self.reader.count(ColumnKind::flag);
    return std::make_tuple(table(std::move(block.numbers), numbers, n), table(std::move(block.wholes), wholes, n),
                           table(std::move(block.flags), flags, n),
                           table(std::move(block.valid), numbers + wholes + flags + texts, n),
                           table(std::move(block.offsets), texts, n + 1), block.starts,
                           nb::bytes(block.texts.data(), block.texts.size()));
}

nb::object header(nb::handle bytes, nb::bytes delimiter, bool last) {
    const Bytes text(bytes);
    std::vector<std::string> names;
    CsvText reader(checked(delimiter, 1, 1), 1, 1, 1, CsvText::kPiece);
    const bool whole = raised([&] {
        return reader.first_row(std::string_view(text.data(), text.size()), last, names);
    });
    if (!whole) return nb::none();
    nb::list out;
    for (const std::string& name : names) out.append(nb::bytes(name.data(), name.size()));
    return out;
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
    problem_type = PyErr_NewExceptionWithDoc("separatrix._core.CsvProblem",
                                             "Why, on which line, in which column and cell a text is refused.",
                                             PyExc_ValueError, nullptr);
    if (!problem_type) throw nb::python_error();
    module.attr("CsvProblem") = nb::steal(problem_type);
    nb::class_<HeldScan>(module, "CsvScan", "Finds the types of the columns of CSV text.")
        .def("__init__", &make_scan, "delimiter"_a, "columns"_a, "n_jobs"_a = 1, "longest_line"_a = 64'000'000)
        .def("begin", &begin<HeldScan>, "line"_a,
             "Begin a file, whose header is on this line.")
        .def("feed", &feed_scan, "bytes"_a, "last"_a, "Read more text; last if it is the end of a file.")
        .def_prop_ro("rows", &fact<&CsvScan::rows>)
        .def_prop_ro("longest_line", &fact<&CsvScan::longest_line>)
        .def_prop_ro("line_ends", &fact<&CsvScan::line_ends>)
        .def("columns", &scanned,
             "For each column: bits of the types that all its cells have, in the order of cells.TYPES; whether a number "
             "stands between white space beyond ASCII; how many cells are not missing; bytes of the longest; the first "
             "row, from 0, whose cell is not a number, or -1; that cell.");
    nb::class_<HeldColumns>(module, "CsvColumns", "Reads columns of CSV text.")
        .def("__init__", &make_columns, "delimiter"_a, "kinds"_a, "n_jobs"_a = 1, "longest_line"_a = 64'000'000)
        .def("begin", &begin<HeldColumns>, "line"_a,
             "Begin a file, whose header is on this line.")
        .def("feed", &feed_columns, "bytes"_a, "last"_a,
             "Read more text; last if it is the end of a file. Returns numbers, whole numbers and flags, one row for "
             "each column; which of them and of the texts are not missing; offsets of texts in their column; where the "
             "texts of each column start; the texts.");
    module.def("csv_header", &header, "bytes"_a, "delimiter"_a, "last"_a,
               "The cells of the first row; None if it has no end and this is not the last of the text.");
}
