// Reads payloads from standard input, and answers each by what generated code makes of it, as harness.c does. Types.cs has a
// Case for each type.

using System;
using System.IO;
using Tickwire;
using Tickwire.Cdr;

abstract class Case
{
    internal abstract string Idl { get; }

    /// What reading says, 0 if the value is there then.
    internal abstract int Read(byte[] payload, bool key);

    internal abstract void Answer(BinaryWriter to, bool key);

    internal abstract void Forget();
}

sealed class Case<T> : Case where T : class
{
    readonly TopicSupport<T> _support;
    readonly CdrWriter _writer = new CdrWriter();
    T _value;

    internal Case(TopicSupport<T> support)
    {
        _support = support;
        Forget();
    }

    internal override string Idl { get { return _support.Idl; } }

    internal override void Forget()
    {
        _value = _support.Create();
    }

    internal override int Read(byte[] payload, bool key)
    {
        try
        {
            _support.FromPayload(payload, _value, key);
            return 0;
        }
        catch (CdrException failure)
        {
            return (int)failure.Status;
        }
    }

    internal override void Answer(BinaryWriter to, bool key)
    {
        Write(to, _value, key);
        if (key)
            return;
        Write(to, _value, true);
        // Another one of the same bytes is the same, and is written so.
        T again = _support.FromPayload(_support.ToPayload(_value, CdrVersion.Xcdr2));
        if (!_value.Equals(again) || _value.GetHashCode() != again.GetHashCode())
            throw new Exception(_support.TypeName + " is another one when it is read again");
        Write(to, again, false);
    }

    /// In XCDR1 and XCDR2, both in little-endian, then in big-endian.
    void Write(BinaryWriter to, T value, bool key)
    {
        for (int way = 0; way < 4; way++)
        {
            _writer.BigEndian = way >= 2;
            _support.ToPayload(value, way % 2 == 0 ? CdrVersion.Xcdr1 : CdrVersion.Xcdr2, _writer, key);
            byte[] payload = _writer.ToArray();
            to.Write(payload.Length);
            to.Write(payload);
        }
    }
}

static class Harness
{
    static int Main(string[] arguments)
    {
        if (arguments.Length > 0)
        {
            Console.Write(Types.All[int.Parse(arguments[0])].Idl);
            return 0;
        }
        using (var input = new BinaryReader(new BufferedStream(Console.OpenStandardInput())))
        using (var output = new BinaryWriter(new BufferedStream(Console.OpenStandardOutput())))
        {
            for (;;)
            {
                byte[] question = input.ReadBytes(12);
                if (question.Length < 12)
                    return 0;
                Case of = Types.All[BitConverter.ToInt32(question, 0)];
                bool key = BitConverter.ToInt32(question, 4) != 0;
                byte[] payload = input.ReadBytes(BitConverter.ToInt32(question, 8));
                int status = of.Read(payload, key);
                output.Write(status);
                if (status == 0)
                    of.Answer(output, key);
                // Now and then a value is not read into again.
                if (payload.Length % 16 == 0)
                    of.Forget();
                output.Flush();
            }
        }
    }
}
