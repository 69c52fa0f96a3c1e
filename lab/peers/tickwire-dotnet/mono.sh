#!/bin/sh
# Runs the program on Mono.
export LD_LIBRARY_PATH="${0%/*}/tickwire-dotnet.d"
exec mono "${0%/*}/tickwire-dotnet.d/lab.exe" "$@"
