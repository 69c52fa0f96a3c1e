//! What a function tells its caller when it has not done what it was to do: a code, and a text that says what and
//! what to do about it.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt;

use dds::error::{
    ContentFilterError, EnableError, EndpointError, ParticipantError, PollError, SetQosError,
    Timeout, TopicError, TypeError, WriteError,
};
use dds::loan::LoanError;
use dds::rpc::{CallError, CreateError, NoService};

use crate::border::export_text;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// `tw_result`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(i32);

impl Code {
    pub(crate) const OK: Self = Self(0);
    pub(crate) const ERROR: Self = Self(-1);
    pub(crate) const BAD_HANDLE: Self = Self(-2);
    pub(crate) const BAD_ARGUMENT: Self = Self(-3);
    pub(crate) const TIMEOUT: Self = Self(-4);
    pub(crate) const OUT_OF_RESOURCES: Self = Self(-5);
    pub(crate) const PRECONDITION: Self = Self(-6);
    pub(crate) const NOT_ENABLED: Self = Self(-7);
    pub(crate) const UNSUPPORTED: Self = Self(-8);
    pub(crate) const IMMUTABLE: Self = Self(-9);
    pub(crate) const INCONSISTENT: Self = Self(-10);
    pub(crate) const NOT_FOUND: Self = Self(-11);
    pub(crate) const TOO_SMALL: Self = Self(-12);
    pub(crate) const BAD_SAMPLE: Self = Self(-13);
    pub(crate) const NOT_STORED: Self = Self(-14);
    pub(crate) const PANIC: Self = Self(-15);

    /// Its name in the header.
    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Self::OK => c"TW_OK",
            Self::ERROR => c"TW_ERROR",
            Self::BAD_HANDLE => c"TW_BAD_HANDLE",
            Self::BAD_ARGUMENT => c"TW_BAD_ARGUMENT",
            Self::TIMEOUT => c"TW_TIMEOUT",
            Self::OUT_OF_RESOURCES => c"TW_OUT_OF_RESOURCES",
            Self::PRECONDITION => c"TW_PRECONDITION",
            Self::NOT_ENABLED => c"TW_NOT_ENABLED",
            Self::UNSUPPORTED => c"TW_UNSUPPORTED",
            Self::IMMUTABLE => c"TW_IMMUTABLE",
            Self::INCONSISTENT => c"TW_INCONSISTENT",
            Self::NOT_FOUND => c"TW_NOT_FOUND",
            Self::TOO_SMALL => c"TW_TOO_SMALL",
            Self::BAD_SAMPLE => c"TW_BAD_SAMPLE",
            Self::NOT_STORED => c"TW_NOT_STORED",
            Self::PANIC => c"TW_PANIC",
            _ => c"TW_?",
        }
    }
}

/// Why a function has not done what it was to do.
#[derive(Debug)]
pub(crate) struct Failure(Box<Told>);

#[derive(Debug)]
struct Told {
    code: Code,
    message: String,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

impl Failure {
    #[cold]
    pub(crate) fn new(code: Code, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        Self(Box::new(Told { code, message }))
    }

    #[cold]
    pub(crate) fn argument(message: impl fmt::Display) -> Self {
        Self::new(Code::BAD_ARGUMENT, message)
    }

    #[cold]
    pub(crate) fn null(name: &str) -> Self {
        Self::argument(format!("`{name}` is NULL"))
    }

    pub(crate) fn code(&self) -> Code {
        self.0.code
    }

    /// Keeps the text for the thread.
    #[cold]
    pub(crate) fn tell(self) -> Code {
        let Told { code, mut message } = *self.0;
        message.retain(|char| char != '\0');
        // A thread that ends has nobody to tell.
        let _ = LAST.try_with(|last| {
            if let Ok(mut last) = last.try_borrow_mut() {
                *last = CString::new(message).unwrap_or_default();
            }
        });
        code
    }
}

/// The text of the thread's last failure, as it stays until the next one.
fn last() -> *const c_char {
    let last = LAST.try_with(|last| last.try_borrow().map(|last| last.as_ptr()));
    match last {
        Ok(Ok(text)) => text,
        _ => c"".as_ptr(),
    }
}

export_text! {
    fn tw_last_error() {
        last()
    }

    fn tw_result_name(result: Code) {
        result.name().as_ptr()
    }

    fn tw_version() {
        VERSION.as_ptr()
    }
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

macro_rules! from {
    ($($error:ty => $code:expr,)*) => {$(
        impl From<$error> for Failure {
            #[cold]
            fn from(error: $error) -> Self {
                let code: fn(&$error) -> Code = $code;
                Self::new(code(&error), error)
            }
        }
    )*};
}

impl From<Timeout> for Failure {
    #[cold]
    fn from(error: Timeout) -> Self {
        // With what to do about it, unlike its Display.
        Self::new(Code::TIMEOUT, format_args!("{error:?}"))
    }
}

from! {
    ParticipantError => |error| match error {
        ParticipantError::Thread(_) | ParticipantError::Wait(_) | ParticipantError::Socket(_) => {
            Code::OUT_OF_RESOURCES
        }
        _ => Code::BAD_ARGUMENT,
    },
    TopicError => |error| match error {
        TopicError::InconsistentType { .. } => Code::PRECONDITION,
        _ => Code::BAD_ARGUMENT,
    },
    EndpointError => |error| match error {
        EndpointError::InconsistentQos(_) => Code::INCONSISTENT,
        EndpointError::UnimplementedQos(_) | EndpointError::Representation { .. } => {
            Code::UNSUPPORTED
        }
        EndpointError::TooManyEndpoints => Code::OUT_OF_RESOURCES,
        EndpointError::Store(_) => Code::NOT_STORED,
        _ => Code::BAD_ARGUMENT,
    },
    SetQosError => |error| match error {
        SetQosError::Immutable(_) => Code::IMMUTABLE,
        SetQosError::InconsistentQos(_) => Code::INCONSISTENT,
        SetQosError::UnimplementedQos(_) => Code::UNSUPPORTED,
        _ => Code::BAD_ARGUMENT,
    },
    EnableError => |error| match error {
        EnableError::FactoryNotEnabled => Code::PRECONDITION,
        EnableError::Thread(_) => Code::OUT_OF_RESOURCES,
        _ => Code::ERROR,
    },
    WriteError => |error| match error {
        WriteError::Timeout { .. } => Code::TIMEOUT,
        WriteError::TooManyInstances => Code::OUT_OF_RESOURCES,
        WriteError::TooLarge | WriteError::Sample(_) => Code::BAD_SAMPLE,
        WriteError::NoKey | WriteError::Nested => Code::PRECONDITION,
        WriteError::Store(_) | WriteError::Unsynced(_) => Code::NOT_STORED,
        WriteError::NotEnabled => Code::NOT_ENABLED,
        _ => Code::ERROR,
    },
    CreateError => |error| match error {
        CreateError::Topic(TopicError::InconsistentType { .. }) => Code::PRECONDITION,
        CreateError::Endpoint(EndpointError::TooManyEndpoints) => Code::OUT_OF_RESOURCES,
        _ => Code::BAD_ARGUMENT,
    },
    NoService => |_| Code::TIMEOUT,
    CallError => |error| match error {
        CallError::NoService(_) | CallError::Timeout { .. } => Code::TIMEOUT,
        CallError::TooMany { .. } => Code::OUT_OF_RESOURCES,
        CallError::Write(WriteError::Timeout { .. }) => Code::TIMEOUT,
        CallError::Write(WriteError::TooLarge | WriteError::Sample(_)) => Code::BAD_SAMPLE,
        CallError::Write(WriteError::NotEnabled) => Code::NOT_ENABLED,
        _ => Code::ERROR,
    },
    LoanError => |error| match error {
        LoanError::NotBytes | LoanError::NotSequence(_) => Code::PRECONDITION,
        _ => Code::BAD_ARGUMENT,
    },
    PollError => |error| match error {
        PollError::Threaded => Code::PRECONDITION,
        PollError::NotEnabled => Code::NOT_ENABLED,
        _ => Code::ERROR,
    },
    TypeError => |error| match error {
        TypeError::UnknownEndpoint | TypeError::NotAnnounced => Code::NOT_FOUND,
        TypeError::NoAnswer { .. } => Code::TIMEOUT,
        _ => Code::UNSUPPORTED,
    },
    ContentFilterError => |_| Code::BAD_ARGUMENT,
    dds::loan::NotSequence => |_| Code::PRECONDITION,
    tickwire_profiles::LoadError => |error| match error {
        tickwire_profiles::LoadError::Unknown(_) => Code::NOT_FOUND,
        _ => Code::BAD_ARGUMENT,
    },
    tickwire_profiles::SettingError => |_| Code::BAD_ARGUMENT,
    tickwire_idl::CompileError => |_| Code::BAD_ARGUMENT,
}
