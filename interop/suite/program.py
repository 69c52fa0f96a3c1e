"""A shape program that runs: its output line by line, with a limit to how long a line may take."""

import os
import queue
import re
import shlex
import signal
import subprocess
import threading
import time

from checks import Ended

UNSUPPORTED = re.compile("not supported", re.IGNORECASE)
GRACE_S = 30


class Unsupported(Exception):
    """The program says that it does not have a feature."""


class Program:
    """Output goes through a terminal, since a program may keep lines back from a pipe."""

    def __init__(self, command, arguments):
        terminal, its_terminal = os.openpty()
        self.process = subprocess.Popen(
            [*command, *shlex.split(arguments)],
            stdin=subprocess.DEVNULL, stdout=its_terminal, stderr=its_terminal,
        )
        os.close(its_terminal)
        self.log = [f"$ {' '.join(command)} {arguments}"]
        self.lines = queue.Queue()
        self.started = time.monotonic()
        # Set when it has its writers or readers, or will never have any.
        self.is_ready = threading.Event()
        threading.Thread(target=self._listen, args=(terminal,), daemon=True).start()

    def _listen(self, terminal):
        rest = b""
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the terminal's other end is closed
                data = b""
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                line = line.decode(errors="replace").rstrip("\r")
                self.log.append(f"{time.monotonic() - self.started:7.3f} {line}")
                self.lines.put(line)
                if line.startswith(("Create writer", "Create reader")):
                    self.is_ready.set()
        os.close(terminal)
        self.is_ready.set()
        self.lines.put(None)

    def next_line(self, until):
        """The next line; None if it is not there at that time."""
        try:
            line = self.lines.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            return None
        if line is None:
            self.lines.put(None)
            raise Ended
        if UNSUPPORTED.search(line):
            raise Unsupported
        return line

    def expect(self, *words, silence_s):
        """Waits for a line with one of the words and returns the word and the line; None, None if
        none comes in time."""
        until = time.monotonic() + silence_s
        while (line := self.next_line(until)) is not None:
            for word in words:
                if re.search(word, line):
                    return word, line
        return None, None

    def stop(self):
        """Ends the program as Ctrl-C does; says whether it obeyed."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(GRACE_S)
            return True
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
