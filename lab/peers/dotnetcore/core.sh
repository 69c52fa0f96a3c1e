#!/bin/sh
# Runs the program on .NET Core.
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
home=${0%/*}
exec "$home/dotnetcore.d/dotnetcore2/bin/dotnet" exec \
    --runtimeconfig "$home/dotnetcore.d/lab.runtimeconfig.json" "$home/dotnet.d/lab.exe" "$@"
