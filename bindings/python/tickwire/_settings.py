"""QoS and settings by keyword, as the TOML of a profile: ``tickwire-profiles`` reads it, so that every setting
of its catalogue is there, with its errors."""

import datetime
import re
from typing import Any, Dict, List, Optional, Tuple

from . import _tickwire
from ._errors import QosError

_DURATION = re.compile(r'"(infinite|\d+(ns|us|ms|s|min|h))"')
_SIZE = re.compile(r'"\d+(B|kB|KiB|MB|MiB|GB|GiB)"')

#: The second part of a policy of which ``(kind, value)`` says both.
_SECOND = {"history": "depth", "liveliness": "lease_duration", "reliability": "max_blocking_time"}

#: By entity: the default of each setting by key.
_DEFAULTS: Dict[str, Dict[str, str]] = {}
for _key, _entities, _default, _meaning in _tickwire.settings():
    for _entity in _entities:
        _DEFAULTS.setdefault(_entity, {})[_key] = _default

#: What may be said of an entity: that of itself first, then of what it belongs to.
_BESIDES = {
    "participant": ("participant",),
    "publisher": ("publisher",),
    "subscriber": ("subscriber",),
    "writer": ("writer", "publisher", "topic"),
    "reader": ("reader", "subscriber", "topic"),
}


def to_toml(entity: str, keywords: Dict[str, Any]) -> Optional[str]:
    """The profile that says what keywords say of an entity; None if they say nothing."""
    sections: Dict[str, List[str]] = {}
    for name, value in keywords.items():
        for key, part in _parts(entity, name, value):
            owner = _owner(entity, key)
            default = _DEFAULTS[owner].get(key, "")
            sections.setdefault(owner, []).append(f"{_quoted_key(key)} = {_toml(key, default, part)}")
    if not sections:
        return None
    text = ""
    for owner, lines in sections.items():
        text += f"[profiles.keywords.{owner}]\n" + "\n".join(lines) + "\n"
    return text


def _quoted_key(key: str) -> str:
    parts = key.split(".")
    return ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _text(part) for part in parts)


def _owner(entity: str, key: str) -> str:
    """The entity whose setting it is; the first one for those that nobody has, which the parser explains."""
    for owner in _BESIDES[entity]:
        if key in _DEFAULTS[owner]:
            return owner
    return entity


def _parts(entity: str, name: str, value: Any) -> List[Tuple[str, Any]]:
    """The keys that a keyword stands for: ``history_depth`` is ``history.depth``, ``history=("keep_last", 5)``
    its kind and depth, and a dict has the parts by name."""
    known = [key for owner in _BESIDES[entity] for key in _DEFAULTS[owner]]
    if isinstance(value, dict):
        return [(f"{name}.{part}", value) for part, value in value.items()]
    if name in known:
        return [(name, value)]
    dotted = [key for key in known if "." in key and key.replace(".", "_") == name]
    if dotted:
        return [(dotted[0], value)]
    if f"{name}.kind" in known:
        if isinstance(value, tuple) and len(value) == 2 and name in _SECOND:
            return [(f"{name}.kind", value[0]), (f"{name}.{_SECOND[name]}", value[1])]
        return [(f"{name}.kind", value)]
    if name == "presentation" and isinstance(value, str):
        return [("presentation.access_scope", value)]
    return [(name, value)]


def _toml(key: str, default: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if _DURATION.fullmatch(default) and (value is None or isinstance(value, (int, float))):
        return _duration(key, value)
    if value is None and default == '"unlimited"':
        return default
    if isinstance(value, int):
        return f'"{value}B"' if _SIZE.fullmatch(default) else str(value)
    if isinstance(value, str):
        return f"[{_text(value)}]" if default == "[]" else _text(value)
    if isinstance(value, (bytes, bytearray)):
        return "[" + ", ".join(map(str, value)) + "]"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(_toml(key, "", item) for item in value) + "]"
    if hasattr(value, "__fspath__"):
        return _text(str(value.__fspath__()))
    raise QosError(f"`{key}` cannot be {value!r}")


def _duration(key: str, seconds: Optional[float]) -> str:
    """Seconds; None and infinity are for ever."""
    if seconds is None or seconds == float("inf"):
        return '"infinite"'
    if not seconds >= 0:
        raise QosError(f"`{key}` cannot be {seconds!r} seconds")
    return f'"{round(seconds * 1_000_000_000)}ns"'


def _text(text: str) -> str:
    """A string of TOML."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise QosError(f"{text!r} is not UTF-8") from None
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08X}" for char in text
    )
    return f'"{escaped}"'


def settings(entity: Optional[str] = None) -> List[Tuple[str, List[str], str, str]]:
    """All settings there are, or those of an entity: ``(key, entities, default, meaning)``.

    >>> [key for key, *_ in settings("writer")][:2]
    ['durability', 'deadline']
    """
    return [entry for entry in _tickwire.settings() if entity is None or entity in entry[1]]
