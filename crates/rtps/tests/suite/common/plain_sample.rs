//! Samples of a log as messages.

use tickwire_rtps::wire::{
    Data, EntityId, Guid, InlineQos, MessageWriter, PlainSample, SerializedPayload,
};

/// The message that a sample of that writer stands for.
pub(crate) fn message_of(writer: Guid, sample: PlainSample, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut message = MessageWriter::new(&mut bytes, writer.prefix);
    message.info_ts(Some(sample.timestamp));
    message.data(&Data {
        reader: EntityId::UNKNOWN,
        writer: writer.entity,
        sequence_number: sample.number,
        inline_qos: InlineQos::default(),
        payload: SerializedPayload::Data(payload),
    });
    bytes
}
