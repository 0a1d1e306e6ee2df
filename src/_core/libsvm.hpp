// Text in the libsvm format to the arrays of a CSR matrix, chunk by chunk.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace sx {

// An array that grows at its end, without setting what it grows by, and is taken from at its front.
template <class T>
class Growing {
   public:
    Growing() = default;
    Growing(Growing&& other) noexcept { swap(other); }
    Growing& operator=(Growing&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Growing() { std::free(data_); }

    T* data() const { return data_ + first_; }
    std::size_t size() const { return last_ - first_; }
    void clear() { first_ = last_ = 0; }

    // Make room for `more` values behind the last.
    void reserve(std::size_t more) {
        if (room_ - last_ >= more) return;
        if (more > std::numeric_limits<std::ptrdiff_t>::max() / (2 * sizeof(T)) - last_) throw std::bad_alloc();
        resize(std::max(last_ + more, room_ + room_ / 2));
    }
    void push(T value) { data_[last_++] = value; }  // into room that was made
    void append(const T* values, std::size_t count) {
        if (count == 0) return;
        reserve(count);
        std::memcpy(data_ + last_, values, count * sizeof(T));
        last_ += count;
    }

    // Close the gap that taking has left at the front.
    void settle() {
        if (first_ == 0) return;
        std::memmove(data_, data_ + first_, size() * sizeof(T));
        last_ -= first_;
        first_ = 0;
    }

    // Hand over the first `count` values, all of them without a copy.
    Growing take(std::size_t count) {
        Growing taken;
        if (count == last_ && first_ == 0) {
            swap(taken);
            if (taken.room_ > taken.last_ && taken.last_ > 0) taken.resize(taken.last_);
        } else {
            taken.append(data(), count);
            first_ += count;
            if (first_ == last_) clear();
        }
        return taken;
    }

   private:
    void swap(Growing& other) {
        std::swap(data_, other.data_);
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
        std::swap(room_, other.room_);
    }
    void resize(std::size_t room) {
        auto* moved = static_cast<T*>(std::realloc(static_cast<void*>(data_), room * sizeof(T)));
        if (!moved) throw std::bad_alloc();
        data_ = moved;
        room_ = room;
    }

    T* data_ = nullptr;
    std::size_t first_ = 0, last_ = 0, room_ = 0;
};

struct LibsvmError : std::runtime_error {  // one sentence that names the line
    using std::runtime_error::runtime_error;
};

struct LibsvmRows {
    Growing<double> values;
    Growing<float> singles;  // in place of the values, if they were asked for
    Growing<std::int32_t> columns;
    Growing<std::int64_t> starts;  // one more than there are rows
    Growing<double> labels;
};

// Reads `label index:value index:value # comment` from chunks that may end anywhere. What is read does not depend on
// where they end.
class LibsvmReader {
   public:
    static constexpr std::size_t kLongestLine = std::size_t(1) << 28;
    static constexpr std::int64_t kLargestIndex = 2'147'483'647;

    LibsvmReader(bool zero_based, bool single)
        : first_index_(zero_based ? 0 : 1), single_(single), largest_(first_index_ - 1) {}

    void feed(const char* bytes, std::size_t size);
    void finish();  // the last line needs no line end

    // Hand over the first `count` rows of those that wait.
    LibsvmRows take(std::int64_t count);

    std::int64_t rows() const { return std::int64_t(labels_.size()); }  // that wait
    std::int64_t lines() const { return line_; }                        // read in all
    std::int64_t width() const { return largest_ + 1 - first_index_; }  // the columns that the largest index needs
    std::int64_t smallest() const { return smallest_; }                 // index, or one above the largest allowed

   private:
    template <class Work>
    void once(Work work);  // after which a reader that failed says the same again
    void read_lines(const char* p, const char* end);
    void read_rest();
    void keep(const char* bytes, std::size_t size);
    template <class Value>
    void read_line(const char* p, const char* line_end, const char* end, Growing<Value>& values);
    [[noreturn]] void fail(const std::string& what) const;
    [[noreturn]] void fail_at(const char* token, const std::string& where) const;
    [[noreturn]] void fail_label(const char* p) const;
    [[noreturn]] void fail_index(const char* p, std::int64_t previous) const;
    [[noreturn]] void fail_value(const char* p, std::uint64_t index) const;
    const char* skip_qid(const char* p, const char* end) const;

    const std::int64_t first_index_;
    const bool single_;
    Growing<char> rest_;  // of a line whose end has not come yet
    Growing<double> values_;
    Growing<float> singles_;
    Growing<std::int32_t> columns_;
    Growing<std::int64_t> ends_;  // of the rows, counted in values since the first line
    Growing<double> labels_;
    std::int64_t read_ = 0, taken_ = 0;  // values
    std::int64_t line_ = 0, largest_, smallest_ = kLargestIndex + 1;
    std::string failed_;  // the sentence, once there was one
};

}  // namespace sx
