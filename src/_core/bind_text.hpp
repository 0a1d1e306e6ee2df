// What the bindings of the readers of text share.
#pragma once
#include "bind.hpp"

namespace sx {

// The bytes of an object with a contiguous buffer, held until this goes.
class Bytes {
   public:
    explicit Bytes(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~Bytes() { PyBuffer_Release(&view_); }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    const char* data() const { return view_.len ? static_cast<const char*>(view_.buf) : ""; }
    std::size_t size() const { return std::size_t(view_.len); }

   private:
    Py_buffer view_;
};

// A reader is for one thread at a time, and works without the interpreter's lock. Held and let go with that lock.
class Turn {
   public:
    class Held {
       public:
        explicit Held(Turn& turn) : turn_(turn) {
            expect(!turn_.taken_, "the reader is at work in another thread");
            turn_.taken_ = true;
        }
        ~Held() { turn_.taken_ = false; }
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;

       private:
        Turn& turn_;
    };

   private:
    bool taken_ = false;
};

}  // namespace sx
