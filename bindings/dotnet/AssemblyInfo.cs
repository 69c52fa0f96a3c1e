// @VERSION@ is filled in by `build`.
using System.Reflection;

[assembly: AssemblyTitle("Tickwire")]
[assembly: AssemblyDescription("Publish/subscribe for market data: an OMG DDS")]
[assembly: AssemblyVersion("@VERSION@.0")]
