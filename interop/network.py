"""Participants in network namespaces: who reaches whom, by which address, and what becomes of that.

Runs inside the namespace that `interop/network` makes; each host of a scenario has one of its own.
A scenario passes when those who are to hear each other do, nobody else does, and nothing went where
it must not: the kernel's counters of the interfaces tell.
"""

import json
import os
import signal
import subprocess
import sys
import time

COUNT = os.environ.get("TICKWIRE_COUNT", "target/debug/tickwire_count")
PATIENCE_S = 10


class Host:
    """A network namespace, held open by a process that sleeps in it."""

    def __init__(self, scenario):
        self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"], stdout=subprocess.DEVNULL)
        scenario.processes.append(self.holder)
        own = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != own, "a namespace")
        self.scenario = scenario
        self.ip("link set lo up")

    def run(self, *command):
        return subprocess.run(
            ["nsenter", "-t", str(self.holder.pid), "-n", *command],
            check=True, capture_output=True, text=True,
        ).stdout

    def ip(self, command):
        return self.run("ip", *command.split())

    def sent(self, interface):
        """Packets that have left by an interface."""
        return self.link(interface)["stats64"]["tx"]["packets"]

    def link(self, interface):
        return json.loads(self.ip(f"-s -j link show {interface}"))[0]

    def bridge(self, address):
        """A container bridge as every host with containers has."""
        self.ip("link add docker0 type veth peer name container")
        self.ip(f"addr add {address} dev docker0")
        for end in ("docker0", "container"):
            # The kernel's own IPv6 packets are not to be counted.
            self.ip(f"link set {end} addrgenmode none up")

    def count(self, name, *options):
        counter = Counter(self, name, options)
        self.scenario.processes.append(counter.process)
        return counter


class Counter:
    """A running `tickwire_count`."""

    def __init__(self, host, name, options):
        self.name = name
        self.process = subprocess.Popen(
            ["nsenter", "-t", str(host.holder.pid), "-n", COUNT, name, *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )

    def says(self):
        """What it says next of what is so now."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has ended")
        return json.loads(line)

    def wait_for(self, what, condition, within=PATIENCE_S):
        """How long it took until what it says is as it should be, in seconds."""
        begin = time.monotonic()
        while time.monotonic() < begin + within:
            said = self.says()
            if condition(said):
                return time.monotonic() - begin
        raise RuntimeError(f"{self.name}: not {what} within {within} s, but {said}")

    def hears(self, other, within=PATIENCE_S):
        """Waits until it hears twenty more numbers of another; says how many were missed in all."""
        first = []

        def more(said):
            last, missed = said["heard"].get(other.name, [0, 0])
            first[:] = first or [last]
            more.missed = missed
            return last >= first[0] + 20

        self.wait_for(f"hearing {other.name}", more, within)
        return more.missed


class Scenario:
    """What a scenario has started, and how it is cleared away."""

    def __init__(self):
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()

    def hosts(self, count):
        return [Host(self) for _ in range(count)]


def cable(one, other, name, addresses):
    """Joins two hosts by a virtual cable, whose ends are called alike."""
    one.ip(f"link add {name} type veth peer name {name} netns {other.holder.pid}")
    for host, address in zip((one, other), addresses):
        host.ip(f"addr add {address} dev {name}")
        host.ip(f"link set {name} up")
    # The kernel takes its time to say that the ends are in use; a participant that begins before hears of it later.
    for host in (one, other):
        wait_until(lambda: host.link(name)["operstate"] == "UP", f"link by {name}")


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"no {what} within {PATIENCE_S} s")
        time.sleep(0.01)


def expect(condition, message):
    if not condition:
        raise RuntimeError(message)


def several_interfaces(scenario):
    """One host in the middle, on two networks; each neighbour is on one."""
    left, middle, right = scenario.hosts(3)
    cable(left, middle, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    cable(right, middle, "eth1", ["10.1.0.1/24", "10.1.0.2/24"])
    one, both, other = left.count("one"), middle.count("both", "--interface", "eth0,10.1.0.0/24"), right.count("other")
    missed = [both.hears(one), both.hears(other), one.hears(both), other.hears(both)]
    expect(missed == [0, 0, 0, 0], f"missed {missed}")
    said = [one.says()["heard"].keys(), other.says()["heard"].keys()]
    expect(said == [{"both"}, {"both"}], f"the neighbours hear {said}")


def two_ways_one_is_used(scenario):
    """Two hosts with two cables: samples that go to one reader take one of them."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    cable(one, other, "eth1", ["10.1.0.1/24", "10.1.0.2/24"])
    a, b = one.count("a", "--peer", "10.0.0.2"), other.count("b", "--peer", "10.1.0.1")
    a.hears(b)
    b.hears(a)
    before = [one.sent("eth0"), one.sent("eth1")]
    b.hears(a)
    b.hears(a)
    sent = sorted(now - then for now, then in zip([one.sent("eth0"), one.sent("eth1")], before))
    expect(sent[0] < 10 < sent[1], f"packets by the two cables: {sent}")


def equal_bridges(scenario):
    """Both hosts have 172.17.0.1 and loopback, which are not the other's."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    for host in (one, other):
        host.bridge("172.17.0.1/16")
    a, b = one.count("a"), other.count("b")
    missed = [a.hears(b), b.hears(a)]
    expect(missed == [0, 0], f"missed {missed}")
    expect(a.says()["unreachable"] == 0, "somebody is not reachable")


def loopback_is_the_hosts_own(scenario):
    """Without an interface, nothing is heard outside; with one, both worlds are reached."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    inside, outside = one.count("inside", "--interface", "lo"), other.count("outside")
    before = one.sent("eth0")
    both = one.count("both", "--interface", "auto")
    both.hears(inside)
    both.hears(outside)
    inside.hears(both)
    outside.hears(both)
    expect(inside.says()["heard"].keys() == {"both"}, "loopback hears outside")
    expect(outside.says()["heard"].keys() == {"both"}, "outside hears loopback")
    expect(one.sent("eth0") > before, "nothing was sent")


def addresses_change(scenario):
    """An address goes and another comes; then a whole interface. Nothing is missed."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    a, b = one.count("a"), other.count("b")
    a.hears(b)
    b.hears(a)
    one.ip("addr add 10.0.0.7/24 dev eth0")
    one.ip("addr del 10.0.0.1/24 dev eth0")
    # The kernel takes the second address away with the first one, unless told otherwise.
    if "10.0.0.7" not in one.ip("-4 addr show eth0"):
        one.ip("addr add 10.0.0.7/24 dev eth0")
    missed = [a.hears(b), b.hears(a)]
    expect(missed == [0, 0], f"missed {missed} when the address changed")
    cable(one, other, "eth1", ["10.1.0.1/24", "10.1.0.2/24"])
    one.ip("link set eth0 down")
    missed = [a.hears(b), b.hears(a)]
    expect(missed == [0, 0], f"missed {missed} when the interface went")
    one.ip("link set eth0 up")
    one.ip("link del eth1")
    missed = [a.hears(b), b.hears(a)]
    expect(missed == [0, 0], f"missed {missed} when it came back")
    expect(a.says()["moves"] > 0 and a.says()["others"] == 1, "not the same participant")


def an_interface_comes_late(scenario):
    """A participant that is there before its network."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    a = one.count("a")
    a.wait_for("there", lambda said: True)
    one.ip("link del eth0")
    a.wait_for("alone", lambda said: said["moves"] > 0)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    b = other.count("b")
    a.hears(b)
    b.hears(a)


def peers_without_multicast(scenario):
    """One knows the other's address, and no group is used."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    for host in (one, other):
        host.bridge("172.17.0.1/16")
    a, b = one.count("a", "--peer", "10.0.0.2"), other.count("b", "--peer", "10.0.0.1")
    a.hears(b)
    b.hears(a)
    # Acknowledgements of its own reader go there, for what both hear.
    before = one.sent("eth0"), one.sent("docker0")
    a.hears(b)
    b.hears(a)
    expect(one.sent("eth0") - before[0] > 20, "not by the cable")
    expect(one.sent("docker0") == before[1], "samples went to the bridge")


def killed_and_started_again(scenario):
    """Who is killed is gone when its lease ends; who starts again is found at once."""
    one, other = scenario.hosts(2)
    cable(one, other, "eth0", ["10.0.0.1/24", "10.0.0.2/24"])
    a, b = one.count("a"), other.count("b", "--lease-ms", "1000")
    a.hears(b)
    b.process.send_signal(signal.SIGKILL)
    gone = a.wait_for("alone", lambda said: said["others"] == 0)
    expect(0.4 < gone < 2, f"gone after {gone:.2f} s with a lease of 1 s")
    again = other.count("again")
    found = again.wait_for("there", lambda said: "a" in said["heard"])
    print(f"    gone after {gone:.2f} s, found again in {found:.2f} s of its start")
    expect(found < 1, f"found after {found:.2f} s")


SCENARIOS = [
    several_interfaces,
    two_ways_one_is_used,
    equal_bridges,
    loopback_is_the_hosts_own,
    addresses_change,
    an_interface_comes_late,
    peers_without_multicast,
    killed_and_started_again,
]


def main(words):
    failed = 0
    for run in SCENARIOS:
        if words and not any(word in run.__name__ for word in words):
            continue
        with Scenario() as scenario:
            try:
                run(scenario)
                verdict = "ok"
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                stderr = getattr(error, "stderr", None) or ""
                verdict = f"FAILED: {error} {stderr}"
        print(f"{run.__name__:30} {verdict}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
