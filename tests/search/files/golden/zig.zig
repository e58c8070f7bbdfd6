//! A list of numbers that grows.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// How many numbers there are at first.
pub const initial_size: usize = 16;

var count_of_lists: u32 = 0;

/// Why a number cannot be added.
pub const AddError = error{ Full, OutOfMemory };

pub const Order = enum { ascending, descending };

/// A list of numbers.
pub const Numbers = struct {
    items: []i64,
    length: usize,
    allocator: Allocator,

    const Self = @This();

    /// Makes an empty list.
    pub fn init(allocator: Allocator) !Self {
        count_of_lists += 1;
        return .{
            .items = try allocator.alloc(i64, initial_size),
            .length = 0,
            .allocator = allocator,
        };
    }

    pub fn deinit(self: *Self) void {
        self.allocator.free(self.items);
    }

    /// Adds a number, and makes room for it.
    pub fn add(self: *Self, number: i64) AddError!void {
        if (self.length == self.items.len) {
            try self.grow(self.items.len * 2);
        }
        self.items[self.length] = number;
        self.length += 1;
    }

    // Makes room
    // for more.
    fn grow(self: *Self, size: usize) AddError!void {
        const bigger = self.allocator.realloc(self.items, size) catch return error.Full;
        self.items = bigger;
    }

    const Iterator = struct {
        list: *const Self,
        place: usize = 0,

        fn next(it: *Iterator) ?i64 {
            defer it.place += 1;
            return if (it.place < it.list.length) it.list.items[it.place] else null;
        }
    };
};

/// The type of a pair.
pub fn Pair(comptime T: type) type {
    return struct {
        first: T,
        second: T,

        pub fn swap(self: *@This()) void {
            std.mem.swap(T, &self.first, &self.second);
        }
    };
}

const Value = union(enum) {
    number: i64,
    text: []const u8,
};

pub extern fn abs(x: c_int) c_int;

/// Sorts them.
pub export fn sort(numbers: *Numbers, order: Order) void {
    const less = switch (order) {
        .ascending => std.sort.asc(i64),
        .descending => std.sort.desc(i64),
    };
    std.mem.sort(i64, numbers.items[0..numbers.length], {}, less);
}

test "numbers are added" {
    var numbers = try Numbers.init(std.testing.allocator);
    defer numbers.deinit();
    try numbers.add(3);
    try std.testing.expectEqual(@as(usize, 1), numbers.length);
}

/// **Thread safe**: a length that is *not*
/// changed.
const length = 3;
//    ^^^^^^ (comptime_int)()
fn measure() usize {
    return length;
}
