"""What the topics of `matrix.idl` have written to them, for classes of any library that are called as in IDL."""

COUNT = 4
#: Whose instance is disposed of that a sample of this number has.
ENDING = ["Keyed", "Sides"]
DISPOSED = 1


class Values:
    """Sample `n` of each topic, by its name."""

    def __init__(self, types):
        self.types = types

    def Numbers(self, n):
        return self.types.Numbers(
            truth=n % 2 == 1,
            eight_bits=n + 1,
            letter=chr(ord("a") + n),
            i8=-n,
            u8=200 + n,
            i16=-1000 * n,
            u16=60000 + n,
            i32=-100000 * n,
            u32=4000000000 + n,
            i64=-(1 << 40) * n,
            u64=(1 << 63) + n,
            f32=n + 0.5,
            f64=n * 1e100,
        )

    def Texts(self, n):
        return self.types.Texts(free=f"text {n} é€📈" if n else "", most8=f"m{n}")

    def Wides(self, n):
        return self.types.Wides(wide=f"wide {n} é€📈", wide8=f"w{n}", letter=chr(0x20AC + n), more=["é"] * n)

    def side(self, n):
        return self.types.Side.SELL if n % 2 else self.types.Side.BUY

    def Named(self, n):
        types = self.types
        return types.Named(
            side=self.side(n),
            state=types.State.OPENED if n % 2 else types.State.CLOSED,
            flags=self.bits(types.Flags, OPEN=n & 1, HALTED=n & 2),
            sizes=list(range(n)),
            venue=types.VENUE,
            tick=types.TICK * n,
            depth=types.DEPTH,
            mark=types.MARK,
            live=types.LIVE,
        )

    def bits(self, of, **are_set):
        bits = of(0)
        for name, is_set in are_set.items():
            bits |= getattr(of, name) if is_set else 0
        return bits

    def Masks(self, n):
        types = self.types
        narrow = self.bits(types.Narrow, LOW16=n & 1, HIGH16=n & 2)
        return types.Masks(
            narrow=narrow,
            usual=self.bits(types.Usual, LOW32=n & 1, HIGH32=n & 2),
            broad=self.bits(types.Broad, LOW64=n & 1, MIDDLE64=n == 3, HIGH64=n & 2),
            more=[narrow] * n,
        )

    def row(self, n, i):
        return [n * 100 + i * 10 + j for j in range(3)]

    def grid(self, n):
        return [self.row(n, i) for i in range(2)]

    def Aliases(self, n):
        return self.types.Aliases(
            row=self.row(n, 0),
            grid=self.grid(n),
            rows=[self.row(n, 2), self.row(n, 3)],
            more=[self.row(n, i) for i in range(n)],
            grids=[self.grid(i) for i in range(n)],
        )

    def Bitsets(self, n):
        bits = self.types.Bits(low=n, flag=n % 2 == 1, below_zero=-n)
        return self.types.Bitsets(bits=bits, more=[bits] * n)

    def point(self, n, at):
        return self.types.Point(x=n + 0.5, n=at)

    def level(self, n):
        return self.types.Level(price=n + 0.25, size=n)

    def choice(self, n):
        if n % 3 == 0:
            return self.types.Choice(discriminator=0, level=self.level(n))
        return self.types.Choice(price=n + 0.5) if n % 3 == 1 else self.types.Choice(text=f"t{n}")

    def Choices(self, n):
        types = self.types
        return types.Choices(
            choice=self.choice(n),
            by_side=types.BySide(texts=["s"] * n) if n % 2 else types.BySide(number=n * 10),
            choices=[self.choice(i) for i in range(n)],
        )

    def Letters(self, n):
        by_letter = self.types.ByLetter
        if n == 2:
            return self.types.Letters(by_letter=by_letter(discriminator="\0"))
        return self.types.Letters(by_letter=by_letter(large=1 << 40) if n == 1 else by_letter(small=n))

    def Mutables(self, n):
        by_bool = self.types.ByBool
        return self.types.Mutables(by_bool=by_bool(point=self.point(n, n)) if n % 2 else by_bool(plain=n))

    def Collections(self, n):
        return self.types.Collections(
            numbers=[i / 8 for i in range(n)],
            levels=[self.level(i) for i in range(n)],
            texts=[["s"] * i for i in range(n)],
            truths=[i % 2 == 1 for i in range(n)],
            sides=[self.side(i) for i in range(n)],
            blob=bytes(range(n)),
            digest=[n, n + 1, n + 2, n + 3],
            grid=self.grid(n),
            points=[self.point(n, i) for i in range(2)],
            names=[f"n{n}", ""],
            spread=[[self.point(i, i) for i in range(n)], []],
        )

    def Maps(self, n):
        return self.types.Maps(
            by_name={f"k{i}": i for i in range(n)},
            by_number={i - 1: self.level(i) for i in range(n)},
            bounded={i: [j / 8 for j in range(i)] for i in range(n)},
            by_side={self.side(i): i == 0 for i in range(min(n, 2))},
            octets={i: 200 + i for i in range(n)},
            blobs={f"k{i}": bytes(range(i)) for i in range(n)},
        )

    def Codes(self, n):
        by_octet, by_wide = self.types.ByOctet, self.types.ByWide
        return self.types.Codes(
            by_octet=by_octet(number=-n) if n % 2 else by_octet(discriminator=0, plain=n),
            by_wide=by_wide(discriminator="\0") if n == 2 else by_wide(price=n + 0.5),
        )

    def Absent(self, n):
        there = n % 2 == 1
        return self.types.Absent(
            number=n if there else None,
            text="" if there else None,
            level=self.level(n) if there else None,
            numbers=[i / 8 for i in range(n)] if there else None,
            apart=self.level(n),
            far=self.level(n) if there else None,
            seven=n if there else 7,
            note="x" if there else "none",
        )

    def Derived(self, n):
        return self.types.Derived(symbol=f"S{n}", venue=n, price=n + 0.25)

    def DerivedMutable(self, n):
        return self.types.DerivedMutable(symbol=f"S{n}", venue=n, price=n + 0.25, note="note" if n % 2 else None)

    def DerivedFinal(self, n):
        return self.types.DerivedFinal(symbol=f"S{n}", venue=n, price=n + 0.25)

    def Sides(self, n):
        sided = self.types.Sided
        return self.types.Sides(sided=sided(text=f"t{n}") if n % 2 else sided(number=n), price=n + 0.25)

    def Words(self, n):
        types = self.types
        return types.Words(
            class_=n,
            type=f"t{n}",
            self=n + 0.5,
            from_=types.pass_.raise_ if n % 2 else types.pass_.is_,
            register=types.lambda_(def_=-n),
            namespace=types.except_(yield_=f"y{n}") if n % 2 else types.except_(finally_=n),
        )

    def Keyed(self, n):
        return self.types.Keyed(symbol=f"S{n}", place=self.types.Place(venue=n, note="note"), side=self.side(n), price=n + 0.25)

    def Flowing(self, n):
        return self.types.Flowing(
            number=n,
            price=n + 0.25,
            text=f"t{n}",
            level=self.level(n),
            loose=[self.types.Loose(a=i, s="s" if i % 2 else None) for i in range(n)],
            point=self.point(n, n) if n % 2 else None,
            choice=self.choice(n),
            shorts=[-i for i in range(n)],
        )

    def Hashed(self, n):
        return self.types.Hashed(price=n, text=f"t{n}")

    def Tree(self, n):
        return self.types.Tree(
            value=n, children=[self.Tree(i) for i in range(n)], next=self.Tree(n - 1) if n % 2 else None
        )
