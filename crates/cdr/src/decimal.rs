//! Encoding of decimals: IDL has no such type that peers could share, so it is a struct.

use tickwire_base::Decimal;

use crate::{
    Decode, DecodeError, DecodeErrorKind, Describe, Encode, EncodeError, Extensibility, LengthCode,
    Member, Reader, Shared, Type, TypeDescription, Writer,
};

/// `@final struct Decimal { int64 mantissa; int32 exponent; }`: the number is the mantissa times
/// ten to the power of the exponent.
impl Describe for Decimal {
    const TYPE: Type = Type::Struct(Shared::Static(&DESCRIPTION));
}

impl Encode for Decimal {
    const LENGTH_CODE: LengthCode = LengthCode::NextInt;

    #[inline]
    fn encode(&self, writer: &mut Writer<'_>) -> Result<(), EncodeError> {
        writer.write_i64(self.mantissa());
        writer.write_i32(self.exponent().into());
        Ok(())
    }
}

impl Decode for Decimal {
    const MIN_SIZE: usize = 12;

    fn initial() -> Self {
        Self::default()
    }

    #[inline]
    fn decode_into(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mantissa = reader.read_i64()?;
        let exponent = reader.read_i32()?;
        let value = i8::try_from(exponent)
            .ok()
            .and_then(|exponent| Self::new(mantissa, exponent));
        *self = value.ok_or_else(|| reader.error(DecodeErrorKind::InvalidExponent(exponent)))?;
        Ok(())
    }
}

static DESCRIPTION: TypeDescription = TypeDescription {
    name: Shared::Static("Decimal"),
    extensibility: Extensibility::Final,
    nested: false,
    hash_ids: false,
    members: Shared::Static(&[
        member("mantissa", 0, Type::I64),
        member("exponent", 1, Type::I32),
    ]),
};

const fn member(name: &'static str, id: u32, ty: Type) -> Member {
    Member {
        name: Shared::Static(name),
        id,
        key: false,
        optional: false,
        must_understand: false,
        external: false,
        hash_id: None,
        try_construct: crate::TryConstruct::Discard,
        ty,
    }
}
