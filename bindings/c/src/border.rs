//! The border to C, and all that is unsafe about it: what a caller points to becomes a value, a text or a slice, or
//! an error; functions of the caller become methods. NULL and what is not aligned is refused here; that a pointer
//! points to what `tickwire.h` says is the caller's promise. Knows no DDS.

#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, c_char, c_void};
use std::mem::{MaybeUninit, align_of, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::failure::{Code, Failure, Result};
use crate::handle::Handle;
use crate::samples::{Given, Sample};
use crate::status::{
    CountStatus, DeadlineMissedStatus, IncompatibleQosStatus, LivelinessChangedStatus,
    MatchedStatus, SampleRejectedStatus,
};

/// Functions that C calls. Their bodies have a [`Result`]; an error, or a panic, becomes a code.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        // SAFETY: no other function has such a name: nobody else begins names with `tw_`.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $ty),*) -> $crate::failure::Code {
            $crate::border::guard(move || $body)
        }
    )*};
}

/// The same of functions that return a text of ours.
macro_rules! export_text {
    ($(fn $name:ident($($argument:ident: $ty:ty),*) $body:block)*) => {$(
        // SAFETY: as above.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $ty),*) -> *const std::ffi::c_char $body
    )*};
}

/// A struct that begins with its size as the caller knows it. Its fields are to be such that any bits are one.
macro_rules! growing {
    ($(#[$meta:meta])* struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            size: usize,
            $($(#[$field_meta])* pub(crate) $field: $ty,)*
        }

        // SAFETY: it is `repr(C)`, begins with its size, and any bits are one.
        #[allow(unsafe_code)]
        unsafe impl $crate::border::Growing for $name {}
    };
}

pub(crate) use {export, export_text, growing};

/// Calls what a function of C is to do.
#[inline]
pub(crate) fn guard(call: impl FnOnce() -> Result<()>) -> Code {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => Code::OK,
        Ok(Err(failure)) => failure.tell(),
        Err(panic) => panicked(&*panic).tell(),
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    Failure::new(
        Code::PANIC,
        format!("a fault of Tickwire, please report it: {text}"),
    )
}

/// A text that the caller has: `const char *`.
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// The text, which must be there; `name` is what the header calls it.
    pub(crate) fn get(&self, name: &str) -> Result<&str> {
        let text = self.optional(name)?;
        text.ok_or_else(|| Failure::null(name))
    }

    /// `None` of NULL.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<&str>> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: the caller promises a text that ends in NUL, and stays as it is during the call.
        let text = unsafe { CStr::from_ptr(self.0) };
        let text = text.to_str();
        text.map(Some)
            .map_err(|_| Failure::argument(format!("`{name}` is not in UTF-8")))
    }
}

/// Texts that the caller has: `const char *const *`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Texts(*const *const c_char);

impl Texts {
    pub(crate) fn get(&self, count: usize, name: &str) -> Result<Vec<&str>> {
        let texts: &[Text] = slice(self.0.cast(), count, name)?;
        if count > MAX_TEXTS {
            return Err(Failure::argument(format!(
                "`{name}` has more than {MAX_TEXTS} texts"
            )));
        }
        texts.iter().map(|text| text.get(name)).collect()
    }
}

/// Bytes that the caller has: `const void *`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Bytes(*const u8);

impl Bytes {
    #[inline]
    pub(crate) fn get(&self, len: usize, name: &str) -> Result<&[u8]> {
        slice(self.0, len, name)
    }
}

#[inline]
fn slice<'a, T>(pointer: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let len = count.checked_mul(size_of::<T>());
    let fits = len.is_some_and(|len| isize::try_from(len).is_ok());
    if pointer.is_null() || !pointer.is_aligned() || !fits {
        return Err(refused(pointer, fits, name));
    }
    // SAFETY: it is neither NULL nor too long, and aligned; the caller promises so many, which stay as they are
    // during the call, and slices are not kept beyond it, or beyond what tells their owner ([`Owned`]).
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

#[cold]
fn refused<T>(pointer: *const T, fits: bool, name: &str) -> Failure {
    match pointer {
        pointer if pointer.is_null() => Failure::null(name),
        _ if !fits => Failure::argument(format!("`{name}` is longer than memory")),
        _ => Failure::argument(format!(
            "`{name}` is not aligned: it must be at a multiple of {}",
            align_of::<T>()
        )),
    }
}

/// A value that the caller has, or NULL: `const T *`. Any bits are a `T`.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Result<Option<T>> {
        if self.0.is_null() {
            return Ok(None);
        }
        slice(self.0, 1, name).map(|slice| slice.first().copied())
    }
}

/// Where the caller wants a result: `T *`.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// The place, which must be there.
    #[inline]
    pub(crate) fn place(&self, name: &str) -> Result<Place<T>> {
        if self.0.is_null() || !self.0.is_aligned() {
            return Err(refused(self.0, true, name));
        }
        Ok(Place(self.0))
    }

    /// Writes the result if the caller wants it.
    pub(crate) fn put(&self, value: T, name: &str) -> Result<()> {
        if let Some(place) = self.optional(name)? {
            place.put(value);
        }
        Ok(())
    }

    /// The place, if the caller wants the result.
    pub(crate) fn optional(&self, name: &str) -> Result<Option<Place<T>>> {
        let is_wanted = !self.0.is_null();
        is_wanted.then(|| self.place(name)).transpose()
    }
}

impl<T: Copy> Out<T> {
    /// What is there, and the place. Any bits are a `T`.
    pub(crate) fn exchange(&self, name: &str) -> Result<(T, Place<T>)> {
        let place = self.place(name)?;
        // SAFETY: it is neither NULL nor unaligned; the caller promises a value.
        Ok((unsafe { self.0.read() }, place))
    }

    /// Writes several, where there is room for so many.
    pub(crate) fn put_all(&self, values: &[T], capacity: usize, name: &str) -> Result<()> {
        if values.is_empty() || capacity == 0 {
            return Ok(());
        }
        let Place(to) = self.place(name)?;
        let count = values.len().min(capacity);
        // SAFETY: it is neither NULL nor unaligned; the caller promises room for `capacity`.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to, count) };
        Ok(())
    }
}

/// A place for a result, to be written once.
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    #[inline]
    pub(crate) fn put(self, value: T) {
        // SAFETY: it is neither NULL nor unaligned; the caller promises that it can be written.
        unsafe { self.0.write(value) };
    }
}

/// A struct of C that begins with its size as the caller knows it, so that it can grow: any bits are one.
///
/// # Safety
/// `repr(C)`, and the first field is that `usize`.
pub(crate) unsafe trait Growing: Copy {
    /// One whose fields are 0 or NULL, but for the size.
    fn empty() -> Self {
        // SAFETY: any bits are one.
        let mut empty = unsafe { MaybeUninit::<Self>::zeroed().assume_init() };
        // SAFETY: the first field is its size.
        unsafe {
            ptr::from_mut(&mut empty)
                .cast::<usize>()
                .write(size_of::<Self>())
        };
        empty
    }
}

/// Where the caller wants a struct that may grow.
#[repr(transparent)]
pub(crate) struct OutGrowing<T>(*mut T);

impl<T: Growing> OutGrowing<T> {
    /// Fills in as much as the caller knows of.
    pub(crate) fn put(&self, value: &T, name: &str) -> Result<()> {
        let len = known_len::<T>(self.0, name)?.min(size_of::<T>());
        let from = ptr::from_ref(value).cast::<u8>();
        let size = size_of::<usize>();
        // SAFETY: it is neither NULL nor unaligned, and the caller promises `len` bytes, of which the first are its
        // size, which stays.
        unsafe {
            ptr::copy_nonoverlapping(from.add(size), self.0.cast::<u8>().add(size), len - size);
        }
        Ok(())
    }
}

/// A struct that may grow, and that the caller has filled in, or NULL.
#[repr(transparent)]
pub(crate) struct InGrowing<T>(*const T);

impl<T: Growing> InGrowing<T> {
    pub(crate) fn get(&self, name: &str) -> Result<Option<T>> {
        if self.0.is_null() {
            return Ok(None);
        }
        let len = known_len::<T>(self.0, name)?;
        if len > size_of::<T>() {
            return Err(Failure::argument(format!(
                "`{name}` has fields that this library does not know; it is older than the header"
            )));
        }
        let mut value = T::empty();
        // SAFETY: it is neither NULL nor unaligned, and the caller promises `len` bytes; there is room for them, and
        // any bits are a value.
        unsafe {
            let to = ptr::from_mut(&mut value).cast::<u8>();
            ptr::copy_nonoverlapping(self.0.cast::<u8>(), to, len);
        }
        Ok(Some(value))
    }
}

/// How long the caller says that its struct is.
fn known_len<T: Growing>(pointer: *const T, name: &str) -> Result<usize> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(refused(pointer, true, name));
    }
    // SAFETY: it is neither NULL nor unaligned, and begins with its size.
    let len = unsafe { pointer.cast::<usize>().read() };
    match len >= size_of::<usize>() {
        true => Ok(len),
        false => Err(Failure::argument(format!(
            "`{name}.size` is {len}; set it to sizeof({name})"
        ))),
    }
}

/// Where the caller wants a text: `char *`.
#[repr(transparent)]
pub(crate) struct TextOut(*mut c_char);

impl TextOut {
    /// Writes as much of the text as there is room for, with a NUL behind it, and its length if that is wanted.
    pub(crate) fn put(&self, text: &str, capacity: usize, len: &Out<usize>) -> Result<()> {
        len.put(text.len(), "len")?;
        let most = match (self.0.is_null(), capacity.checked_sub(1)) {
            (false, Some(most)) => most,
            _ => return Err(too_small(text.len().saturating_add(1))),
        };
        let mut fits = most.min(text.len());
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        // SAFETY: it is not NULL, and the caller promises room for `capacity` bytes.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr().cast(), self.0, fits);
            self.0.add(fits).write(0);
        }
        match fits == text.len() {
            true => Ok(()),
            false => Err(too_small(text.len().saturating_add(1))),
        }
    }
}

/// Where the caller wants bytes: `void *`.
#[repr(transparent)]
pub(crate) struct BytesOut(*mut u8);

impl BytesOut {
    /// Writes the bytes if there is room for all of them, and their length if that is wanted.
    pub(crate) fn put(&self, bytes: &[u8], capacity: usize, len: &Out<usize>) -> Result<()> {
        len.put(bytes.len(), "len")?;
        if bytes.is_empty() {
            return Ok(());
        }
        if self.0.is_null() || capacity < bytes.len() {
            return Err(too_small(bytes.len()));
        }
        // SAFETY: it is not NULL, and the caller promises room for `capacity` bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len()) };
        Ok(())
    }
}

#[cold]
fn too_small(len: usize) -> Failure {
    let message = format!("this needs a buffer of {len} bytes");
    Failure::new(Code::TOO_SMALL, message)
}

/// A function that is told of the end of a call.
pub(crate) type EndCallback = Option<unsafe extern "C-unwind" fn(Code, *mut Given, *mut c_void)>;

/// A function of the caller that is called once, with its context.
pub(crate) struct Ending {
    function: unsafe extern "C-unwind" fn(Code, *mut Given, *mut c_void),
    context: *mut c_void,
}

// SAFETY: the caller promises a function that any thread may call.
unsafe impl Send for Ending {}

impl Ending {
    /// `name` is what the header calls the function, which must be there.
    pub(crate) fn new(function: EndCallback, context: ContextPointer, name: &str) -> Result<Self> {
        let ContextPointer(context) = context;
        let function = function.ok_or_else(|| Failure::null(name))?;
        Ok(Self { function, context })
    }

    /// Tells of the reply, which is the caller's from here on, or why there is none.
    pub(crate) fn tell(self, reply: std::result::Result<Given, Code>) {
        let Self { function, context } = self;
        match reply {
            // SAFETY: the caller promises that it can be called once, with this context.
            Ok(mut reply) => unsafe { function(Code::OK, &raw mut reply, context) },
            // SAFETY: as above.
            Err(code) => unsafe { function(code, ptr::null_mut(), context) },
        }
    }
}

/// Bytes of ours that the caller reads or writes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pointer(*const u8);

// SAFETY: it is only handed out; what it points to belongs to somebody who is `Send` and `Sync`.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Pointer {
    pub(crate) const NULL: Self = Self(ptr::null());

    /// To the first of several, which may be none.
    #[inline]
    pub(crate) fn to<T>(slice: &[T]) -> Self {
        Self(slice.as_ptr().cast())
    }

    /// To what the caller may write.
    pub(crate) fn to_mut(bytes: &mut [u8]) -> Self {
        Self(bytes.as_mut_ptr())
    }
}

/// What belongs to a function of the caller, which is told when nobody calls that any more.
#[repr(C)]
pub(crate) struct Context {
    pointer: *mut c_void,
    free: Free,
}

/// `void (*)(void *context)`, or NULL.
pub(crate) type Free = Option<unsafe extern "C-unwind" fn(*mut c_void)>;

/// `void (*)(void *)`, of ours.
pub(crate) type Freeing = extern "C" fn(Pointer);

/// `void *`, of the caller's.
#[repr(transparent)]
pub(crate) struct ContextPointer(*mut c_void);

impl Context {
    pub(crate) fn new(pointer: ContextPointer, free: Free) -> Self {
        let ContextPointer(pointer) = pointer;
        Self { pointer, free }
    }

    /// What it points to, where that is bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes(self.pointer.cast_const().cast())
    }

    /// Whether anybody is told.
    pub(crate) fn is_told(&self) -> bool {
        self.free.is_some()
    }
}

// SAFETY: the caller promises functions that any thread may call.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the caller promises that it can be called once, with this context.
            unsafe { free(self.pointer) };
        }
    }
}

/// Bytes of the caller's until their owner is told that nobody needs them any more.
pub(crate) struct Owned {
    bytes: Bytes,
    len: usize,
    _owner: Context,
}

impl Owned {
    /// So many bytes, if they can be such. Else the owner is told at once.
    pub(crate) fn new(bytes: Bytes, len: usize, owner: Context) -> Result<Self> {
        bytes.get(len, "data")?;
        Ok(Self {
            bytes,
            len,
            _owner: owner,
        })
    }
}

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.len, "data").unwrap_or_default()
    }
}

// SAFETY: the caller promises that the bytes stay as they are, and can be read by any thread, until the owner is told.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

/// A function that is told of a status.
pub(crate) type StatusCallback<S> =
    Option<unsafe extern "C-unwind" fn(Handle, *const S, *mut c_void)>;
/// A function that is told of data.
pub(crate) type DataCallback = Option<unsafe extern "C-unwind" fn(Handle, *mut c_void)>;

/// `tw_listener`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    size: usize,
    context: *mut c_void,
    free_context: Free,
    pub(crate) on_data_available: DataCallback,
    pub(crate) on_data_on_readers: DataCallback,
    pub(crate) on_subscription_matched: StatusCallback<MatchedStatus>,
    pub(crate) on_requested_incompatible_qos: StatusCallback<IncompatibleQosStatus>,
    pub(crate) on_liveliness_changed: StatusCallback<LivelinessChangedStatus>,
    pub(crate) on_requested_deadline_missed: StatusCallback<DeadlineMissedStatus>,
    pub(crate) on_sample_lost: StatusCallback<CountStatus>,
    pub(crate) on_sample_rejected: StatusCallback<SampleRejectedStatus>,
    pub(crate) on_publication_matched: StatusCallback<MatchedStatus>,
    pub(crate) on_offered_incompatible_qos: StatusCallback<IncompatibleQosStatus>,
    pub(crate) on_offered_deadline_missed: StatusCallback<DeadlineMissedStatus>,
    pub(crate) on_liveliness_lost: StatusCallback<CountStatus>,
    pub(crate) on_inconsistent_topic: StatusCallback<CountStatus>,
}

// SAFETY: it is `repr(C)`, begins with its size, and functions may be NULL.
unsafe impl Growing for Callbacks {}

/// Functions of the caller with their context, which is freed with this.
pub(crate) struct Listener {
    pub(crate) callbacks: Callbacks,
    context: Context,
}

// SAFETY: the caller promises functions that any thread may call; of `Callbacks` only these are used.
unsafe impl Send for Listener {}
// SAFETY: as above.
unsafe impl Sync for Listener {}

impl Listener {
    pub(crate) fn new(callbacks: Callbacks) -> Self {
        let pointer = ContextPointer(callbacks.context);
        let context = Context::new(pointer, callbacks.free_context);
        Self { callbacks, context }
    }

    pub(crate) fn tell<S>(&self, callback: StatusCallback<S>, entity: Handle, status: &S) {
        if let Some(callback) = callback {
            // SAFETY: the caller promises that it can be called with these until the context is freed.
            unsafe { callback(entity, status, self.context.pointer) };
        }
    }

    pub(crate) fn tell_of_data(&self, callback: DataCallback, reader: Handle) {
        if let Some(callback) = callback {
            // SAFETY: the caller promises that it can be called with these until the context is freed.
            unsafe { callback(reader, self.context.pointer) };
        }
    }
}

/// A function that is given a sample.
pub(crate) type SampleCallback = Option<unsafe extern "C-unwind" fn(*const Sample, *mut c_void)>;

/// A function of the caller that is given samples, with its context, which is freed with this.
pub(crate) struct Taker {
    function: unsafe extern "C-unwind" fn(*const Sample, *mut c_void),
    context: Context,
}

impl Taker {
    /// `None` of NULL; then the context stays the caller's.
    pub(crate) fn new(
        function: SampleCallback,
        context: ContextPointer,
        free: Free,
    ) -> Option<Self> {
        Some(Self {
            function: function?,
            context: Context::new(context, free),
        })
    }

    #[inline]
    pub(crate) fn give(&self, sample: &Sample) {
        // SAFETY: the caller promises that it can be called with a sample until the context is freed.
        unsafe { (self.function)(sample, self.context.pointer) };
    }
}

/// Parameters of an expression, names of directories.
const MAX_TEXTS: usize = 1 << 16;
