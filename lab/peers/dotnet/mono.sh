#!/bin/sh
# Runs the program on Mono.
exec mono "${0%/*}/dotnet.d/lab.exe" "$@"
