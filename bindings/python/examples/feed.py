"""A feed of an exchange as columns: FAST messages of a file are decoded by their templates, without any network.

    pip install polars
    python feed.py                         # a feed of six messages that it writes itself
    python feed.py day.pcap moex.xml moex-asts
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    import polars
except ImportError:
    sys.exit("feed.py needs polars: pip install polars")

import tickwire as tw

TEMPLATES = """
<templates>
  <template name="Quote" id="1">
    <string name="Symbol"><copy/></string>
    <decimal name="Bid"/>
    <uInt32 name="Size" presence="optional"/>
  </template>
  <template name="Halt" id="2">
    <string name="Symbol"/>
  </template>
</templates>
"""
# A packet a line: presence map, template id, fields.
PACKETS = """
e0 81 41 41 c1 fe 00 4e 90 8b      # Quote: AAA, 10000 E-2, 10
e0 81 42 42 c2 fe 00 4e 9a 80      # Quote: BBB, 10010 E-2, no size
c0 82 41 41 c1                  # Halt: AAA
e0 81 41 41 c1 fe 00 4e 92 8d 80 fe 00 4e 93 80   # Quotes: AAA, 10002 E-2, 12; AAA, 10003 E-2, no size
e0 81 42 42 c2 fe 00 4e 9b 83      # Quote: BBB, 10011 E-2, 2
"""


def show(path: Path, templates: Path, **how: Any) -> None:
    with tw.decode_feed(path, templates, **how) as feed:
        for batch in feed:
            print(batch.name, "messages:", len(batch), "with", ", ".join(batch.column_names))
        print("packets:", feed.counters["packets"])


def main() -> None:
    if len(sys.argv) > 1:
        return show(Path(sys.argv[1]), Path(sys.argv[2]), venue=sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        path, templates = Path(folder, "feed.hex"), Path(folder, "feed.xml")
        path.write_text(PACKETS)
        templates.write_text(TEMPLATES)
        show(path, templates, framing="hex")

        # One kind of message is a stream, which polars, pyarrow and DuckDB take as it is.
        quotes = polars.DataFrame(tw.decode_feed(path, templates, framing="hex", message="Quote", decimals=2))
        for row in quotes.group_by("Symbol").agg(polars.col("Bid").max(), polars.col("Size").sum()).sort("Symbol").iter_rows():
            print(*row)


if __name__ == "__main__":
    main()
