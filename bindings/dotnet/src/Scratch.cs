using System;
using Tickwire.Cdr;

namespace Tickwire
{
    /// A writer and a reader of payloads for each thread. Who uses one takes it away, as a handler of an event may need one on the
    /// same thread meanwhile.
    static class Scratch
    {
        [ThreadStatic] static CdrWriter _writer;
        [ThreadStatic] static CdrReader _reader;

        internal static CdrWriter Writer()
        {
            CdrWriter writer = _writer ?? new CdrWriter();
            _writer = null;
            return writer;
        }

        internal static void Return(CdrWriter writer)
        {
            _writer = writer;
        }

        internal static CdrReader Reader()
        {
            CdrReader reader = _reader ?? new CdrReader();
            _reader = null;
            return reader;
        }

        internal static void Return(CdrReader reader)
        {
            _reader = reader;
        }
    }
}
