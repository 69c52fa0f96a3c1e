/* Samples that are written in place. */
#ifndef TICKWIRE_LOAN_HPP
#define TICKWIRE_LOAN_HPP

#include <dds/core/types.hpp>

namespace tickwire {

/* A sample of bytes on loan from a writer, to be filled in and written: memory that readers on this machine see, or the
 * writer's own, as tickwire.h says of tw_writer_loan(). It holds whatever was there before. One that ends without being
 * written is given back. One thread at a time uses it, and may hand it over; a writer that is closed writes none. */
class Loan {
public:
    Loan(tw_writer *writer, std::size_t size) : size_(size)
    {
        void *data;
        detail::check(tw_writer_loan(writer, size, &data, &loan_));
        data_ = static_cast<std::uint8_t *>(data);
    }
    Loan(Loan &&other) noexcept
        : loan_(std::exchange(other.loan_, nullptr)), data_(other.data_), size_(std::exchange(other.size_, 0))
    {
    }
    Loan &operator=(Loan &&other) noexcept
    {
        Loan taken(std::move(other));
        std::swap(loan_, taken.loan_);
        std::swap(data_, taken.data_);
        std::swap(size_, taken.size_);
        return *this;
    }
    ~Loan()
    {
        if (loan_ != nullptr)
            tw_loan_discard(loan_);
    }

    std::uint8_t *data() { return data_; }
    std::size_t size() const { return size_; }
    std::uint8_t *begin() { return data_; }
    std::uint8_t *end() { return data_ + size_; }
    /* Keeps the first bytes alone, where there are more. */
    void truncate(std::size_t size) { size_ = size < size_ ? size : size_; }

    /* Writes the bytes, and ends the loan, even if that fails: as DataWriter::write(). The timestamp is the time of the
     * write if it is invalid. */
    void write(const dds::core::Time &timestamp = dds::core::Time::invalid())
    {
        const std::int64_t when = timestamp.count();
        const bool now = timestamp == dds::core::Time::invalid();
        const std::size_t size = std::exchange(size_, 0);
        detail::check(tw_loan_write(std::exchange(loan_, nullptr), size, now ? nullptr : &when));
    }

private:
    tw_loan *loan_;
    std::uint8_t *data_;
    std::size_t size_;
};

} // namespace tickwire

#endif
