#!/bin/sh
# Runs the program on .NET Core.
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
home=${0%/*}
export LD_LIBRARY_PATH="$home/tickwire-dotnet.d"
exec "$home/dotnetcore.d/dotnetcore2/bin/dotnet" exec \
    --runtimeconfig "$home/tickwire-dotnet.d/lab.runtimeconfig.json" "$home/tickwire-dotnet.d/lab.exe" "$@"
