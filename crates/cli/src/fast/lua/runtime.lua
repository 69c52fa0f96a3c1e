-- The decoder: reads messages by the tables above. Numbers of 64 bits are Int64 (of unsigned ones, their bits); all
-- others are exact as Lua numbers. Arithmetic of 64 bits wraps, so that a delta of 65 bits comes out right.

local EMPTY = {}
local TWO32 = 4294967296
local MAX_DEPTH = 64
local MAX_EMPTY_ELEMENTS = 10000

local function fail(s, text)
    error({ text = text, at = s.pos }, 0)
end

local function next_byte(s)
    if s.pos >= s.last then fail(s, "the bytes end before the message does") end
    s.pos = s.pos + 1
    return s.data:byte(s.pos)
end

-- Stop bit entities (FAST 1.1, 10.6.1) -------------------------------------------------------------------------------

local function read_unsigned(s)
    local start, value = s.pos, 0
    while true do
        local byte = next_byte(s)
        value = value * 128 + byte % 128
        if value > 2 ^ 46 then s.pos = start; fail(s, "D2: integer out of the range of its type") end
        if byte >= 128 then return value end
    end
end

local function read_signed(s)
    local start = s.pos
    local byte = next_byte(s)
    local value = byte % 128
    if value >= 64 then value = value - 128 end
    while byte < 128 do
        byte = next_byte(s)
        value = value * 128 + byte % 128
        if math.abs(value) > 2 ^ 46 then s.pos = start; fail(s, "D2: integer out of the range of its type") end
    end
    return value
end

local function read_wide(s, signed)
    local start = s.pos
    local byte = next_byte(s)
    local first = byte % 128
    if signed and first >= 64 then first = first - 128 end
    local value = Int64(first)
    while byte < 128 do
        byte = next_byte(s)
        value = value * 128 + Int64(byte % 128)
        if s.pos - start > 10 then s.pos = start; fail(s, "D2: integer out of the range of its type") end
    end
    return value
end

-- What the kinds of integers have in common.
local integers = {
    u32 = { read = read_unsigned, read_delta = read_signed },
    i32 = { read = read_signed, read_delta = read_signed },
    u64 = { wide = true, read = function(s) return read_wide(s, false) end },
    i64 = { wide = true, read = function(s) return read_wide(s, true) end },
}
for _, kind in pairs(integers) do
    kind.zero = kind.wide and Int64(0) or 0
    kind.one = kind.wide and Int64(1) or 1
    kind.read_delta = kind.read_delta or function(s) return read_wide(s, true) end
end

-- A value, or nil for NULL; values from 0 up are sent one larger. The sign is looked up in the first byte: the largest
-- one has no room for it.
local function nullable(s, kind, read, signed)
    local first = next_byte(s)
    if first == 128 then return nil end
    s.pos = s.pos - 1
    local value = read(s)
    if signed and first % 128 >= 64 then return value end
    return value - kind.one
end

-- Dictionaries (6.3.1) -----------------------------------------------------------------------------------------------

local function previous(s, i)
    local entry = s.dictionary[i.slot]
    if entry == nil and s.dictionary.lost then fail(s, "the value follows from an earlier one that was lost") end
    if entry ~= nil and entry ~= EMPTY and entry.tag ~= i.tag then
        fail(s, "D4: the dictionary entry has another type than the field")
    end
    return entry
end

local function assign(s, i, value)
    s.dictionary[i.slot] = value == nil and EMPTY or { tag = i.tag, value = value }
end

local function reset(s)
    s.dictionary = {}
end

-- Operators (6.3) ----------------------------------------------------------------------------------------------------

local function missing(s, i, entry)
    if i.opt then return nil end
    if entry == EMPTY then fail(s, "D6: mandatory field not in the stream and its previous value is empty") end
    fail(s, "D5: mandatory field not in the stream, without previous or initial value")
end

-- Value of a copy, increment or tail whose presence bit is 0.
local function implied(s, i, following)
    local entry = previous(s, i)
    if entry == nil and i.init ~= nil then return i.init end
    if entry == nil or entry == EMPTY then return missing(s, i, entry) end
    return following(entry.value)
end

local function same(value) return value end

-- `read(s)` reads the plain or nullable form, `add(s, base)` a delta.
local function operate(s, i, present, read, following, add)
    local op = i.op
    if op == "constant" then
        if present then return i.init end
        return nil
    elseif op == "none" or (op == "default" and present) then
        return read(s)
    elseif op == "default" then
        return i.init
    elseif op == "delta" then
        local value = add(s)
        if value ~= nil then assign(s, i, value) end
        return value
    end
    local value
    if present then value = read(s) else value = implied(s, i, following) end
    assign(s, i, value)
    return value
end

local function base_of(s, i, zero)
    local entry = previous(s, i)
    if entry == EMPTY then fail(s, "D6: delta on an empty previous value") end
    if entry ~= nil then return entry.value end
    if i.init ~= nil then return i.init end
    return zero
end

local function in_range(s, i, value, start, rule)
    if value ~= nil and i.max and (value > i.max or value < i.min) then
        s.pos = start
        fail(s, rule)
    end
    return value
end

local function read_integer(s, i, present)
    local kind = integers[i.kind]
    local signed = i.kind == "i32" or i.kind == "i64"
    local function read()
        local start = s.pos
        local value
        if i.opt then value = nullable(s, kind, kind.read, signed) else value = kind.read(s) end
        return in_range(s, i, value, start, "D2: integer out of the range of its type")
    end
    local function following(value)
        if i.op == "copy" then return value end
        if i.max and value == i.max then return i.min end
        return value + kind.one
    end
    local function add()
        local delta
        if i.opt then delta = nullable(s, kind, kind.read_delta, true) else delta = kind.read_delta(s) end
        if delta == nil then return nil end
        local value = base_of(s, i, kind.zero) + delta
        return in_range(s, i, value, s.pos, "R4: integer does not fit after a conversion or a delta")
    end
    return operate(s, i, present, read, following, add)
end

local function decimal(s, exponent, mantissa)
    if exponent > 63 or exponent < -63 then fail(s, "R1: decimal out of range") end
    return { exponent = exponent, mantissa = mantissa }
end

local function read_decimal(s, i, present)
    local function exponent_of()
        if i.opt then return nullable(s, integers.i32, read_signed, true) end
        return read_signed(s)
    end
    local function read()
        local exponent = exponent_of()
        if exponent == nil then return nil end
        return decimal(s, exponent, read_wide(s, true))
    end
    local function add()
        local exponent = exponent_of()
        if exponent == nil then return nil end
        local mantissa = read_wide(s, true)
        local base = base_of(s, i, { exponent = 0, mantissa = Int64(0) })
        return decimal(s, base.exponent + exponent, base.mantissa + mantissa)
    end
    return operate(s, i, present, read, same, add)
end

-- ASCII: a stop bit entity; leading zeros tell NULL, the empty string and NUL apart (10.6.3).
local function read_ascii(s, opt)
    local start = s.pos
    while next_byte(s) < 128 do end
    local last = s.data:byte(s.pos) - 128
    local text = s.data:sub(start + 1, s.pos - 1) .. string.char(last)
    if text:byte(1) ~= 0 then return text end
    if #text == 1 then
        if opt then return nil end
        return ""
    end
    text = text:sub(2)
    if opt and text:byte(1) == 0 then
        if #text == 1 then return "" end
        text = text:sub(2)
    end
    return text
end

local function read_bytes(s, opt)
    local start = s.pos
    local length
    if opt then length = nullable(s, integers.u32, read_unsigned, false) else length = read_unsigned(s) end
    if length == nil then return nil end
    if s.pos + length > s.last then s.pos = start; fail(s, "the bytes end before the message does") end
    local bytes = s.data:sub(s.pos + 1, s.pos + length)
    s.pos = s.pos + length
    return bytes
end

local function read_text(s, i, present)
    local raw = i.kind == "ascii" and read_ascii or read_bytes
    if i.op == "tail" and present then
        local tail = raw(s, i.opt)
        if tail == nil then assign(s, i, nil); return nil end
        local entry = previous(s, i)
        local base = i.init or ""
        if entry ~= nil and entry ~= EMPTY then base = entry.value end
        local value = base:sub(1, math.max(#base - #tail, 0)) .. tail
        assign(s, i, value)
        return value
    end
    local function read() return raw(s, i.opt) end
    local function add()
        local cut
        if i.opt then cut = nullable(s, integers.i32, read_signed, true) else cut = read_signed(s) end
        if cut == nil then return nil end
        local added = raw(s, false)
        local base = base_of(s, i, "")
        local count = cut < 0 and -cut - 1 or cut
        if count > #base then fail(s, "D7: subtraction length larger than the string") end
        if cut < 0 then return added .. base:sub(count + 1) end
        return base:sub(1, #base - count) .. added
    end
    return operate(s, i, present, read, same, add)
end

-- Presence maps (10.5.1) ---------------------------------------------------------------------------------------------

local function read_map(s)
    local start, bits = s.pos, {}
    local byte
    repeat
        byte = next_byte(s)
        local data = byte % 128
        for at = 6, 0, -1 do bits[#bits + 1] = math.floor(data / 2 ^ at) % 2 end
    until byte >= 128
    return { bits = bits, used = 0, start = start, len = s.pos - start }
end

local NO_MAP = { bits = {}, used = 0 }

local function present(map, i)
    if not i.bit then return true end
    map.used = map.used + 1
    return map.bits[map.used] == 1
end

-- Fields -> the tree -------------------------------------------------------------------------------------------------

local function range(s, start)
    return s.tvb(start, s.pos - start)
end

local function exact(value)
    local digits = tostring(value.mantissa)
    local sign = ""
    if digits:sub(1, 1) == "-" then sign, digits = "-", digits:sub(2) end
    if value.exponent >= 0 then
        return sign .. digits .. (digits == "0" and "" or ("0"):rep(value.exponent))
    end
    local places = -value.exponent
    digits = ("0"):rep(places + 1 - #digits) .. digits
    return sign .. digits:sub(1, #digits - places) .. "." .. digits:sub(#digits - places + 1)
end

-- The bits of an Int64 as what they are.
local function unsigned(value)
    return UInt64.decode(value:encode(true), true)
end

local function set_names(f, value)
    local names, bit = {}, unsigned(value):tonumber()
    for at, name in ipairs(f.elements) do
        if math.floor(bit / f.values[at]) % 2 == 1 then names[#names + 1] = name end
    end
    return table.concat(names, " ")
end

local function show(s, tree, f, value, start)
    local item
    if f.kind == "decimal" then
        item = tree:add(f.pf, range(s, start), tonumber(exact(value)), f.name .. ": " .. exact(value))
        item:add(f.mantissa_pf, range(s, start), value.mantissa):set_generated()
        item:add(f.exponent_pf, range(s, start), value.exponent):set_generated()
    elseif f.kind == "bytes" then
        item = tree:add(f.pf, range(s, start), (value:gsub(".", function(c) return ("%02x"):format(c:byte()) end)))
    elseif f.elements then
        item = tree:add(f.pf, range(s, start), unsigned(value))
        item:append_text(" [" .. set_names(f, value) .. "]")
    elseif f.kind == "u64" then
        item = tree:add(f.pf, range(s, start), unsigned(value))
    elseif f.boolean then
        item = tree:add(f.pf, range(s, start), value ~= 0)
    else
        item = tree:add(f.pf, range(s, start), value)
    end
    if s.pos == start then item:set_generated() end
end

local read_fields

local function read_segment(s, tree, f, depth)
    local map = NO_MAP
    if f.map then
        map = read_map(s)
    end
    read_fields(s, tree, f.fields, map, depth)
end

local function read_sequence(s, tree, f, map, depth)
    local start = s.pos
    local len = read_integer(s, f.length, present(map, f.length))
    if len == nil then return end
    local item = tree:add(f.pf, range(s, start), len)
    for index = 1, len do
        local first = s.pos
        if index > MAX_EMPTY_ELEMENTS and first == start then fail(s, "too many elements without bytes") end
        local element = item:add(s.tvb(first, 0), f.name .. "[" .. (index - 1) .. "]")
        s.place = f.name .. "[" .. (index - 1) .. "]"
        read_segment(s, element, f, depth + 1)
        element:set_len(s.pos - first)
    end
    item:set_len(s.pos - start)
end

local function read_group(s, tree, f, map, depth)
    if f.value and not present(map, f.value) then return end
    local start = s.pos
    local item = tree:add(f.pf, s.tvb(start, 0))
    read_segment(s, item, f, depth + 1)
    item:set_len(s.pos - start)
end

-- A bit group (FAST 1.2): fields in the data bits of one stop bit entity.
local function read_bit_group(s, tree, f, map)
    local start = s.pos
    local function read()
        local bits = read_map(s).bits
        if #bits ~= math.ceil(f.width / 7) * 7 then fail(s, "D2: integer out of the range of its type") end
        return bits
    end
    local bits = operate(s, f.value, present(map, f.value), read, same, nil)
    local item = tree:add(f.pf, range(s, start))
    local at = 0
    for _, inner in ipairs(f.fields) do
        local value = 0
        for bit = 1, inner.width do value = value * 2 + (bits[at + bit] or 0) end
        at = at + inner.width
        if inner.kind == "i32" and value >= 2 ^ (inner.width - 1) then value = value - 2 ^ inner.width end
        if inner.opt then value = value - 1 end
        if value >= 0 or inner.kind == "i32" then
            if inner.kind == "u64" then value = Int64(value % TWO32, math.floor(value / TWO32)) end
            show(s, item, inner, value, start)
        end
    end
end

-- The id, or nil where a message is of the default template: none is known, and none can have been lost.
local function read_template_id(s, map, is_message)
    local start = s.pos
    if present(map, { bit = true }) then
        s.dictionary.template = read_unsigned(s)
    elseif s.dictionary.template == nil then
        local can_be_lost = s.dictionary.lost and next(templates) ~= nil
        if is_message and DEFAULT and not can_be_lost then return nil end
        fail(s, "D5: the first message has no template id")
    end
    local id = s.dictionary.template
    if not templates[id] and id ~= 120 then
        s.pos = start
        fail(s, "D9: no template of this id (" .. id .. ")")
    end
    return id
end

local function begin_template(s, tree, map, is_message)
    local at = s.pos
    local id = read_template_id(s, map, is_message)
    local template = DEFAULT
    if id then template = templates[id] end
    local bits = table.concat(map.bits)
    tree:add(presence_map_pf, s.tvb(map.start, map.len), bits)
    if id then
        local item = tree:add(template_id_pf, range(s, at), id)
        if s.pos == at then item:set_generated() end
    end
    if template then
        tree:add(template_pf, range(s, at), template.name):set_generated()
    end
    return id, template
end

local function read_reference(s, tree, f, depth)
    if depth >= MAX_DEPTH then fail(s, "templates nested too deep") end
    local start = s.pos
    local item = tree:add(s.tvb(start, 0), f.name)
    local map = read_map(s)
    local _, template = begin_template(s, item, map, false)
    if not template then fail(s, "D9: no template of this id (120)") end
    item:append_text(": " .. template.name)
    read_fields(s, item, template.fields, map, depth + 1)
    item:set_len(s.pos - start)
end

read_fields = function(s, tree, fields, map, depth)
    for _, f in ipairs(fields) do
        s.field = f.name
        local start = s.pos
        if f.kind == "sequence" then
            read_sequence(s, tree, f, map, depth)
        elseif f.kind == "group" then
            read_group(s, tree, f, map, depth)
        elseif f.kind == "bits" then
            read_bit_group(s, tree, f, map)
        elseif f.kind == "reference" then
            read_reference(s, tree, f, depth)
        else
            local value
            if f.exponent then
                local exponent = read_integer(s, f.exponent, present(map, f.exponent))
                if exponent ~= nil then
                    value = decimal(s, exponent, read_integer(s, f.mantissa, present(map, f.mantissa)))
                end
            elseif f.kind == "decimal" then
                value = read_decimal(s, f.value, present(map, f.value))
            elseif integers[f.kind] then
                value = read_integer(s, f.value, present(map, f.value))
            else
                value = read_text(s, f.value, present(map, f.value))
            end
            if value ~= nil then show(s, tree, f, value, start) end
        end
    end
end

-- Packets ------------------------------------------------------------------------------------------------------------

local function read_message(s, tree)
    if RESET == "message" then reset(s) end
    s.field = nil
    local start = s.pos
    local item = tree:add(message_pf, s.tvb(start, 0))
    s.item = item
    local map = read_map(s)
    local _, template = begin_template(s, item, map, true)
    if template then
        item:set_text("Message: " .. template.name)
        s.names[#s.names + 1] = template.name
        if template.reset and RESET ~= "never" then
            local id = s.dictionary.template
            reset(s)
            if id ~= 120 then s.dictionary.template = id end
        end
        read_fields(s, item, template.fields, map, 0)
    else
        item:set_text("Message: session reset")
        s.names[#s.names + 1] = "reset"
        if RESET ~= "never" then reset(s) end
    end
    item:set_len(s.pos - start)
end

-- The messages up to `last`; true if all could be decoded.
local function read_messages(s, tree, last)
    s.last = last
    while s.pos < last do
        local start = s.pos
        local done, problem = pcall(read_message, s, tree)
        if not done then
            if type(problem) ~= "table" then error(problem, 0) end
            local at = math.min(problem.at, last)
            local place = s.field and (" in field " .. s.field) or ""
            s.item:set_len(last - start)
            s.item:add_proto_expert_info(error_info, "byte " .. at .. place .. ": " .. problem.text)
            s.dictionary = { lost = true }
            return false
        end
    end
    return true
end

-- OPRA, version 2: after the header each message with its length, FF for one that reaches to the end; then ETX.
local function read_opra(s, tree)
    tree:add(packet_number_pf, s.tvb(2, 10), UInt64(tonumber(s.data:sub(3, 12)) or 0))
    s.pos = 15
    while s.pos < #s.data - 1 do
        local len = s.data:byte(s.pos + 1)
        s.pos = s.pos + 1
        local last = len == 255 and #s.data - 1 or math.min(s.pos + len, #s.data - 1)
        if not read_messages(s, tree, last) then return end
    end
end

-- B3: parts, each a packet of its own with a preamble: a message, or a chunk of one.
local function read_b3(s, tree)
    local at = 0
    repeat
        if #s.data - at < 10 then
            tree:add_proto_expert_info(error_info, "byte " .. at .. ": the part is shorter than its preamble")
            return
        end
        tree:add(packet_number_pf, s.tvb(at, 4), UInt64(s.tvb(at, 4):uint()))
        local count, chunk, len = s.tvb(at + 4, 2):uint(), s.tvb(at + 6, 2):uint(), s.tvb(at + 8, 2):uint()
        local last = at + 10 + len
        if chunk < 1 or chunk > count or last > #s.data then
            tree:add_proto_expert_info(error_info, "byte " .. at .. ": no preamble of B3")
            return
        end
        if RESET == "packet" then reset(s) end
        if count > 1 then
            tree:add(s.tvb(at + 4, last - at - 4), "Chunk " .. chunk .. " of " .. count .. ", not decoded")
            s.names[#s.names + 1] = "chunk"
            s.dictionary = { lost = true }
        else
            s.pos = at + 10
            read_messages(s, tree, last)
        end
        at = last
    until at >= #s.data
end

local preambles = {
    none = { len = 0 },
    seq = { len = 4, number = function(tvb) return tvb(0, 4):le_uint() end },
    cme = { len = 5, number = function(tvb) return tvb(0, 4):uint() end },
    b3 = { len = 10 },
    opra = { len = 15 },
}

local function read_packet(s, tree)
    local preamble = preambles[PREAMBLE]
    if #s.data < preamble.len then
        tree:add_proto_expert_info(error_info, "the packet is shorter than its preamble")
        return
    end
    if PREAMBLE == "opra" then return read_opra(s, tree) end
    if PREAMBLE == "b3" then return read_b3(s, tree) end
    if preamble.number then
        tree:add(packet_number_pf, s.tvb(0, 4), UInt64(preamble.number(s.tvb)))
    end
    s.pos = preamble.len
    read_messages(s, tree, #s.data)
end

local function copy(from)
    local to = {}
    for key, value in pairs(from) do to[key] = value end
    return to
end

-- Dictionaries at the start of each packet, for those that live longer: packets are dissected again when they are
-- clicked on.
local now, at_packet = {}, {}

function proto.init()
    now, at_packet = {}, {}
end

local function dictionary_of(pinfo)
    if RESET == "packet" or RESET == "message" then return {} end
    local line = tostring(pinfo.dst) .. ":" .. pinfo.dst_port
    if not pinfo.visited then at_packet[pinfo.number] = copy(now[line] or {}) end
    return copy(at_packet[pinfo.number] or {})
end

-- Names with how often each is there, in the order of their first.
local function summary(names)
    local counts, order, parts = {}, {}, {}
    for _, name in ipairs(names) do
        if not counts[name] then order[#order + 1] = name end
        counts[name] = (counts[name] or 0) + 1
    end
    for _, name in ipairs(order) do
        parts[#parts + 1] = counts[name] == 1 and name or counts[name] .. " " .. name
    end
    return table.concat(parts, ", ")
end

function proto.dissector(tvb, pinfo, tree)
    if GROUP and tostring(pinfo.dst) ~= GROUP then return 0 end
    pinfo.cols.protocol = proto.name
    local s = { tvb = tvb, data = tvb:raw(), pos = 0, names = {}, dictionary = dictionary_of(pinfo) }
    local root = tree:add(proto, tvb())
    read_packet(s, root, pinfo)
    if not pinfo.visited then now[tostring(pinfo.dst) .. ":" .. pinfo.dst_port] = s.dictionary end
    pinfo.cols.info = summary(s.names)
    return tvb:len()
end
