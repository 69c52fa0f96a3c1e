"""The IDL that the compiler is tested with: public files, what is rare, and a small file for each thing that IDL has."""

import keyword
import re
import types
from pathlib import Path

import pytest

import tickwire as tw
from test_types import plain

TESTS = Path(__file__).parents[3] / "crates" / "idl" / "tests"
CORPUS = TESTS / "corpus"
FILES = sorted([*CORPUS.rglob("*.idl"), *(TESTS / "golden").glob("*.idl")])

#: Samples of each type.
COUNT = 4
#: Values in each other, from where on there are no more than there must be.
MAX_DEPTH = 5

INTEGERS = {
    **{f"int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
    "octet": (0, 255),
}
LETTERS = {"char": "\0aé\xff", "wchar": "\0a€\uffff"}


def named(scope, name):
    """What has a name of IDL."""
    return getattr(scope, f"{name}_" if keyword.iskeyword(name) else name)


class Values:
    """Values of the types of a compilation, in which every member has one."""

    def __init__(self, module, table):
        self.module = module
        self.table = table

    def cls(self, full):
        scope = self.module
        for name in full.split("::"):
            scope = named(scope, name)
        return scope

    def struct(self, full, n, depth=0):
        return self.cls(full)(*[self.member(member, n + at, depth + 1) for at, member in enumerate(self.table[full][2])])

    def member(self, member, n, depth):
        optional, of = member[3], member[7]
        return None if optional and (n % 2 or depth > MAX_DEPTH) else self.value(of, n, depth)

    def value(self, of, n, depth):
        if of in INTEGERS:
            return INTEGERS[of][n % 2] + n // 2 * (1 - n % 2 * 2)
        if of in LETTERS:
            return LETTERS[of][n % 4]
        if of == "bool":
            return n % 2 == 1
        if of in ("float32", "float64"):
            return n - 0.25
        kind = of[0]
        if kind in ("string", "wstring"):
            # Bounds are of bytes, or of units of UTF-16.
            return "".join("n" if of[1] else "né€📈"[at % 4] for at in range(min(n % 9, of[1] or 9)))
        if kind == "sequence":
            all = [self.value(of[1], n + at, depth + 1) for at in range(self.count(n, of[2], depth))]
            return bytes(all) if of[1] == "octet" else all
        if kind == "array":
            return [self.value(of[1], n + at, depth + 1) for at in range(of[2])]
        if kind == "map":
            count = self.count(n, of[3], depth)
            return {self.value(of[1], n + at, depth + 1): self.value(of[2], n + at, depth + 1) for at in range(count)}
        return getattr(self, self.table[of[1]][0])(of[1], n, depth)

    def count(self, n, bound, depth):
        return min(n % 4, bound or 4) if depth < MAX_DEPTH else 0

    def union(self, full, n, depth):
        cases = self.table[full][3]
        at = n % len(cases)
        return self.cls(full)(**{self.cls(full)._members[at]: self.member(cases[at][0], n, depth + 1)})

    def enum(self, full, n, _):
        literals = self.table[full][2]
        name, value = literals[n % len(literals)]
        literal = named(self.cls(full), name)
        assert literal == value
        return literal

    def bitmask(self, full, n, _):
        flags = self.cls(full)(0)
        for at, (name, position) in enumerate(self.table[full][2]):
            assert named(self.cls(full), name) == 1 << position
            flags |= named(self.cls(full), name) if n + at & 3 else 0
        return flags

    def bitset(self, full, n, _):
        below_zero = {"int8", "int16", "int32", "int64"}
        most = [(1 << bits - (of in below_zero)) - 1 for _, _, bits, of in self.table[full][1]]
        return self.cls(full)(*[one - n % 2 if one > 1 else bool((one - n) % 2) for one in most])


def structs(scope):
    """The structs of a module, and of those within it."""
    for of in list(vars(scope).values()):
        if isinstance(of, types.ModuleType):
            yield from structs(of)
        elif hasattr(of, "__tickwire_make__") and not issubclass(of, Exception):
            yield of


def compiled(file):
    """The module of a file, and its structs, of which none is left out."""
    module = tw.idl(file, include=[CORPUS / "ros"])
    declared = set(re.findall(r"\bstruct\s+(\w+)\s*[:{]", file.read_text()))
    found = [cls for cls in structs(module) if cls.__name__ in declared]
    assert {cls.__name__ for cls in found} == declared
    return module, found


def test_the_corpus_is_there():
    names = {file.name for file in FILES}
    assert {"MarketData.idl", "BatteryState.idl", "kinds.idl", "encodings.idl", "rare.idl", "services.idl"} <= names
    assert {"bitmask.idl", "inheritance.idl", "typedef.idl", "word.idl"} <= names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_struct_goes_through_its_payload(file):
    module, found = compiled(file)
    for cls in found:
        kind = tw.describe(cls)
        values = Values(module, kind.table())
        for representation in ("xcdr1", "xcdr2"):
            empty = kind.encode(cls(), representation)
            assert kind.encode(kind.decode(empty), representation) == empty, kind.name
            for n in range(COUNT):
                value = values.struct(kind.name, n)
                payload = kind.encode(value, representation)
                assert plain(kind.decode(payload)) == value, kind.name
                if kind.has_key:
                    key = kind.encode(value, representation, key_only=True)
                    again = kind.decode(key, key_only=True)
                    assert kind.encode(again, representation, key_only=True) == key, kind.name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_topic_is_written_and_taken(file, participant, pair):
    module, found = compiled(file)
    for cls in found:
        kind = tw.describe(cls)
        nested = kind.table()[kind.name][3]
        if nested:
            continue
        written = [Values(module, kind.table()).struct(kind.name, n) for n in range(COUNT)]
        writer, reader = pair(participant.topic(f"{file.stem} {kind.name}", cls))
        with writer, reader:
            writer.write_all(written)
            writer.wait_for_acknowledgments(timeout=30)
            # What makes columns of payloads is not what makes objects of them.
            try:
                batch = reader.arrow(take=False)
                assert (len(batch), batch.undecodable) == (COUNT, 0), (kind.name, batch.errors)
            except tw.TypeDescriptionError as error:
                assert "contains itself" in str(error)
            samples = reader.take()
            assert [plain(sample.data) for sample in samples] == written, kind.name
            for sample, value in zip(samples, written):
                if kind.has_key:
                    key = kind.encode(value, key_only=True)
                    assert kind.encode(sample.key, key_only=True) == key, kind.name
