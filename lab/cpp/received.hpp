/// What has come, what has not, and what came twice or late.
#pragma once

#include <cstdint>
#include <set>

namespace lab {

/// The messages of one publisher.
class Received {
public:
    /// Messages that came after later ones, and those that came twice.
    uint64_t out_of_order = 0, repeated = 0;

    /// The number that comes next if nothing is lost.
    uint64_t next() const { return next_; }

    /// Message `number` has come.
    void take(uint64_t number) {
        if (number >= next_) {
            const uint64_t gap = number - next_;
            if (gap <= MAX_MISSING) {
                for (; next_ < number; ++next_) missing_.insert(missing_.end(), next_);
            } else {
                given_up_ += gap;
            }
            next_ = number + 1;
        } else if (missing_.erase(number) > 0) {
            ++out_of_order;
        } else {
            ++repeated;
        }
    }

    /// How many of the messages before `end` have not come.
    uint64_t lost(uint64_t end) const {
        return missing_.size() + given_up_ + (end > next_ ? end - next_ : 0);
    }

private:
    /// A larger gap is counted, but not looked into when something of it comes late.
    static constexpr uint64_t MAX_MISSING = 1 << 20;

    uint64_t next_ = 0, given_up_ = 0;
    std::set<uint64_t> missing_;
};

}  // namespace lab
