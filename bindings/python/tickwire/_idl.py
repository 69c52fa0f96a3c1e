"""Modules of Python from files of IDL."""

import os
import types
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import _rpc, _tickwire
from ._classes import Classes, safe
from ._errors import RemoteExceptionCode
from ._types import Table

#: Types, why others are none, constants, modules, exceptions, interfaces, and by types the defaults of their members.
Compiled = Tuple[Table, Dict[str, str], List[Tuple[str, Any]], List[str], List[str], List[tuple], Dict[str, Dict[str, Any]]]


def idl(
    *paths: "os.PathLike[str] | str",
    text: Optional[str] = None,
    include: Iterable["os.PathLike[str] | str"] = (),
    define: Optional[Dict[str, str]] = None,
    extensibility: str = "appendable",
    module: str = "idl",
) -> types.ModuleType:
    """Compiles files of OMG IDL, or ``text``, and returns a module with their types.

    Structs are dataclasses, enums IntEnums, bitmasks IntFlags; modules of IDL are modules within it, and constants
    are there, too. Names that are keywords of Python get an underscore behind them.

    >>> market = tw.idl("market.idl", include=["common"])
    >>> quotes = participant.topic("Quotes", market.Quote)

    An interface is an abstract class with a method for each operation, which a service implements; beside it are its
    client and what serves it, and exceptions are exceptions.

    >>> class Book(market.Desk):
    ...     def price(self, symbol):
    ...         raise market.Closed(reason="holiday")
    >>> with market.DeskService(participant, "Desk", Book()), market.DeskClient(participant, "Desk", timeout=5) as desk:
    ...     desk.price("TICK")

    ``extensibility`` is that of types that do not say so: Cyclone DDS's compiler assumes "final". Raises IdlError
    with file, line and caret for each error.
    """
    compiled = _tickwire.compile_idl(
        [os.fspath(path) for path in paths],
        text,
        [os.fspath(path) for path in include],
        list((define or {}).items()),
        extensibility,
    )
    return _Module(compiled, module).root


class _Module:
    """The module of a compilation."""

    def __init__(self, compiled: Compiled, name: str) -> None:
        table, wrong, constants, modules, exceptions, interfaces, defaults = compiled
        self.root = types.ModuleType(name, "Types of IDL.")
        for full in modules:
            self._scope(full.split("::"))
        classes = Classes(table, self._place, exceptions, defaults)
        if interfaces:
            classes.know(_rpc.REMOTE_EXCEPTION, RemoteExceptionCode)
        for full in table:
            classes.make(full)
        for full, value in constants:
            scope, last = self._place(full)
            setattr(scope, last, value)
        for full, why in wrong.items():
            self._tell(full, f"{full} has no description: {why}")
        known: Dict[str, Any] = {}
        for interface in interfaces:
            why_not = self._interface(interface, classes, known)
            if why_not is not None:
                self._tell(interface[0], f"{interface[0]} has no client and no service: {why_not}")

    def _tell(self, full: str, why: str) -> None:
        """Says why something is not there when it is asked for, not before."""
        scope, last = self._place(full)
        told = vars(scope).setdefault("__wrong__", {})
        told[last] = why
        vars(scope).setdefault("__getattr__", _teller(scope.__name__, told))

    def _interface(self, entry: tuple, classes: Classes, known: Dict[str, Any]) -> Optional[str]:
        """Makes the classes of an interface; or says why not."""
        full, bases = entry[:2]
        missing = [base for base in bases if base not in known]
        if missing:
            return f"its base {missing[0]} has none"
        scope, last = self._place(full)
        names = [last, f"{last}Client", f"{last}Service"]
        inner = vars(scope).get(last)
        defined = {}
        if isinstance(inner, types.ModuleType):
            defined = {name: value for name, value in vars(inner).items() if not name.startswith("__")}
        for name in names[1:]:
            if name in vars(scope):
                return f"{name} is something else"
        try:
            made = _rpc.stubs(entry, classes, known, defined)
        except ValueError as error:
            return str(error)
        known[full] = made[0]
        for name, stub in zip(names, made):
            stub.__module__, stub.__qualname__ = scope.__name__, name
            setattr(scope, name, stub)
        return None

    def _scope(self, names: List[str]) -> types.ModuleType:
        scope = self.root
        for name in names:
            inner = vars(scope).get(safe(name))
            if not isinstance(inner, types.ModuleType):
                inner = types.ModuleType(f"{scope.__name__}.{safe(name)}")
                setattr(scope, safe(name), inner)
            scope = inner
        return scope

    def _place(self, full: str) -> Tuple[types.ModuleType, str]:
        *scopes, last = full.split("::")
        return self._scope(scopes), safe(last)


def _teller(scope: str, told: Dict[str, str]) -> Callable[[str], Any]:
    """What a module says of a name that it does not have."""

    def tell(name: str) -> Any:
        raise AttributeError(told.get(name, f"module {scope!r} has no attribute {name!r}"))

    return tell
