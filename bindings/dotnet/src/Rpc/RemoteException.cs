using System;

namespace Tickwire.Rpc
{
    /// <summary>What any service may say instead of a result (DDS-RPC 1.0 section 7.5.2).</summary>
    public enum RemoteExceptionCode
    {
        /// <summary>Nothing is wrong, which is no answer where there is no result.</summary>
        Ok = 0,
        /// <summary>It knows the operation but does not implement it.</summary>
        Unsupported = 1,
        /// <summary>A parameter has a value that it may not have.</summary>
        InvalidArgument = 2,
        /// <summary>It has run out of something.</summary>
        OutOfResources = 3,
        /// <summary>It does not know the operation.</summary>
        UnknownOperation = 4,
        /// <summary>It has failed in a way that it has no words for.</summary>
        UnknownException = 5
    }

    /// <summary>A service says so instead of a result. An operation of a service throws it to say so.</summary>
    public sealed class RemoteException : Exception
    {
        /// <summary>One with this code.</summary>
        public RemoteException(RemoteExceptionCode code) : base(Text(code))
        {
            Code = code;
        }

        /// <summary>What the service says.</summary>
        public RemoteExceptionCode Code { get; private set; }

        static string Text(RemoteExceptionCode code)
        {
            switch (code)
            {
                case RemoteExceptionCode.Ok: return "the service says that nothing is wrong, but gives no result";
                case RemoteExceptionCode.Unsupported: return "the service does not implement the operation";
                case RemoteExceptionCode.InvalidArgument: return "the service takes no such argument";
                case RemoteExceptionCode.OutOfResources: return "the service has run out of resources";
                case RemoteExceptionCode.UnknownOperation:
                    return "the service does not know the operation: its interface is another one";
                default: return "the service has failed, and does not say why";
            }
        }
    }
}
