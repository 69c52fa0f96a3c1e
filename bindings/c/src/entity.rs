//! What all entities have, or several kinds of them.

use dds::{GuardCondition, StatusMask};
use tickwire_profiles::{Entity, Profile};

use crate::border::{Callbacks, InGrowing, Listener, Out, export};
use crate::either::either;
use crate::failure::{Code, Failure, Result};
use crate::guid::{self, Guid};
use crate::handle::{self, AnyObject, Handle, Kind};
use crate::listener::{Nobody, OfGroup, Own, handled};
use crate::{condition, publisher, qos, topic};

export! {
    fn tw_delete(object: Handle) {
        match object.kind() {
            Some(Kind::Samples) => return Err(wrong_way("samples", "tw_samples_return")),
            Some(Kind::Loan) => return Err(wrong_way("a loan", "tw_loan_discard")),
            _ => {}
        }
        let objects = handle::remove(object)?;
        objects.iter().for_each(forget);
        for object in objects {
            // One by one in their order: participants last.
            drop(object);
        }
        Ok(())
    }

    fn tw_enable(entity: Handle) {
        match handle::any(entity, ENTITIES)? {
            AnyObject::Participant(entity) => entity.dds.enable()?,
            AnyObject::Publisher(entity) => entity.dds.enable()?,
            AnyObject::Subscriber(entity) => entity.dds.enable()?,
            AnyObject::Writer(entity) => either!(&entity.dds, writer => writer.enable())?,
            AnyObject::Reader(entity) => either!(&entity.dds, reader => reader.enable())?,
            // Topics are enabled from the start.
            AnyObject::Topic(_) => {}
            _ => return Err(handle::unknown(entity, ENTITIES)),
        }
        Ok(())
    }

    fn tw_set_qos(entity: Handle, qos: Handle) {
        let object = handle::any(entity, CHANGED)?;
        change(&object, &qos::profile(qos)?)
    }

    fn tw_set_listener(entity: Handle, listener: InGrowing<Callbacks>, mask: u32) {
        let object = handle::any(entity, ENTITIES)?;
        match listener.get("listener")? {
            Some(callbacks) => listen(&object, callbacks, StatusMask::from_bits(mask)),
            None => deafen(&object),
        }
        Ok(())
    }

    fn tw_status_changes(entity: Handle, mask: Out<u32>) {
        let mask = mask.place("mask")?;
        let changes = match handle::any(entity, ENTITIES)? {
            AnyObject::Topic(entity) => either!(&entity.dds, topic => topic.status_changes()),
            AnyObject::Subscriber(entity) => entity.dds.status_changes(),
            AnyObject::Writer(entity) => either!(&entity.dds, writer => writer.status_changes()),
            AnyObject::Reader(entity) => either!(&entity.dds, reader => reader.status_changes()),
            // They have no statuses of their own.
            AnyObject::Participant(_) | AnyObject::Publisher(_) => StatusMask::NONE,
            _ => return Err(handle::unknown(entity, ENTITIES)),
        };
        mask.put(changes.bits());
        Ok(())
    }

    fn tw_status_condition(entity: Handle, mask: u32, condition: Out<Handle>) {
        let condition = condition.place("condition")?;
        let mask = StatusMask::from_bits(mask);
        let made = match handle::any(entity, ENTITIES)? {
            AnyObject::Topic(entity) => either!(&entity.dds, topic => topic.status_condition(mask)),
            AnyObject::Subscriber(entity) => entity.dds.status_condition(mask),
            AnyObject::Writer(entity) => either!(&entity.dds, writer => writer.status_condition(mask)),
            AnyObject::Reader(entity) => either!(&entity.dds, reader => reader.status_condition(mask)),
            // One that nobody sets never holds.
            AnyObject::Participant(_) | AnyObject::Publisher(_) => GuardCondition::new().condition(),
            _ => return Err(handle::unknown(entity, ENTITIES)),
        };
        condition.put(condition::Condition::of_statuses(entity, made)?);
        Ok(())
    }

    fn tw_get_guid(entity: Handle, guid: Out<Guid>) {
        let guid = guid.place("guid")?;
        let found = match handle::any(entity, NAMED)? {
            AnyObject::Participant(entity) => entity.dds.guid(),
            AnyObject::Writer(entity) => entity.guid(),
            AnyObject::Reader(entity) => entity.guid(),
            _ => return Err(handle::unknown(entity, NAMED)),
        };
        guid.put(found.into());
        Ok(())
    }

    fn tw_assert_liveliness(entity: Handle) {
        match handle::any(entity, LIVING)? {
            AnyObject::Participant(entity) => entity.dds.assert_liveliness(),
            AnyObject::Writer(entity) => either!(&entity.dds, writer => writer.assert_liveliness()),
            _ => return Err(handle::unknown(entity, LIVING)),
        }
        Ok(())
    }
}

fn wrong_way(what: &str, function: &str) -> Failure {
    let message = format!("{what} cannot be deleted; call {function}");
    Failure::new(Code::BAD_HANDLE, message)
}

/// What others know of an object that is deleted is forgotten, nobody waits for it any more, and the contexts of
/// listeners that would outlive it are freed.
fn forget(object: &AnyObject) {
    match object {
        AnyObject::Condition(condition) => condition::forget(condition.handle),
        AnyObject::WaitSet(wait_set) => wait_set.end_waits(),
        AnyObject::Writer(writer) => {
            guid::forget(writer.guid());
            either!(&writer.dds, writer => writer.end_waits());
            // Its loans may keep it, but nobody is told of it any more.
            either!(&writer.dds, writer => writer.set_listener_for(StatusMask::NONE, Nobody));
        }
        AnyObject::Reader(reader) => {
            guid::forget(reader.guid());
            either!(&reader.dds, reader => reader.end_waits());
        }
        AnyObject::Requester(requester) => requester.end_waits(),
        AnyObject::Replier(replier) => replier.end_waits(),
        AnyObject::Publisher(entity) => {
            publisher::forget(entity.handle);
            entity.dds.set_listener_for(StatusMask::NONE, Nobody);
        }
        AnyObject::Subscriber(entity) => entity.dds.set_listener_for(StatusMask::NONE, Nobody),
        AnyObject::Participant(entity) => {
            entity.dds.end_waits();
            entity.dds.set_listener_for(StatusMask::NONE, Nobody);
        }
        AnyObject::Topic(topic) => topic::forget(topic),
        AnyObject::Mq(context) => context.close(),
        _ => {}
    }
}

/// Changes what the profile says something of.
fn change(object: &AnyObject, profile: &Profile) -> Result<()> {
    match object {
        AnyObject::Writer(entity) => either!(&entity.dds, writer => {
            let qos = profile.adjust_writer(writer.qos(), writer.topic().name());
            writer.set_qos(qos)?;
        }),
        AnyObject::Reader(entity) => either!(&entity.dds, reader => {
            let qos = profile.adjust_reader(reader.qos(), reader.topic().name());
            reader.set_qos(qos)?;
        }),
        AnyObject::Publisher(entity) => {
            entity
                .dds
                .set_qos(profile.adjust_publisher(entity.dds.qos(), ""))?;
        }
        AnyObject::Subscriber(entity) => {
            entity
                .dds
                .set_qos(profile.adjust_subscriber(entity.dds.qos(), ""))?;
        }
        AnyObject::Participant(entity) => {
            let settings = profile.settings(Entity::Participant, None);
            let said = settings.iter().find(|it| {
                it.origin.is_some()
                    && it.setting.key == "entity_factory.autoenable_created_entities"
            });
            if let Some(said) = said {
                entity
                    .dds
                    .set_autoenable_created_entities(said.value == "true");
            }
        }
        other => return Err(handle::unknown(other.handle(), CHANGED)),
    }
    Ok(())
}

fn listen(object: &AnyObject, callbacks: Callbacks, mask: StatusMask) {
    let mask = mask.and(handled(&callbacks));
    let listener = Listener::new(callbacks);
    let entity = object.handle();
    let participant = entity;
    match object {
        AnyObject::Topic(topic) => topic::listen(topic, listener, mask),
        AnyObject::Writer(writer) => either!(&writer.dds, writer => {
            writer.set_listener_for(mask, Own { listener, entity });
        }),
        AnyObject::Reader(reader) => either!(&reader.dds, reader => {
            reader.set_listener_for(mask, Own { listener, entity });
        }),
        AnyObject::Publisher(publisher) => {
            publisher.dds.set_listener_for(
                mask,
                OfGroup {
                    listener,
                    participant,
                },
            );
        }
        AnyObject::Subscriber(subscriber) => {
            subscriber.dds.set_listener_for(
                mask,
                OfGroup {
                    listener,
                    participant,
                },
            );
        }
        AnyObject::Participant(entity) => {
            entity.dds.set_listener_for(
                mask,
                OfGroup {
                    listener,
                    participant,
                },
            );
        }
        _ => {}
    }
}

fn deafen(object: &AnyObject) {
    match object {
        AnyObject::Topic(topic) => topic::deafen(topic),
        AnyObject::Writer(writer) => either!(&writer.dds, writer => writer.remove_listener()),
        AnyObject::Reader(reader) => either!(&reader.dds, reader => reader.remove_listener()),
        AnyObject::Publisher(publisher) => publisher.dds.remove_listener(),
        AnyObject::Subscriber(subscriber) => subscriber.dds.remove_listener(),
        AnyObject::Participant(participant) => participant.dds.remove_listener(),
        _ => {}
    }
}

/// All kinds of entities.
const ENTITIES: &[Kind] = &[
    Kind::Participant,
    Kind::Publisher,
    Kind::Subscriber,
    Kind::Topic,
    Kind::Writer,
    Kind::Reader,
];
/// Those whose QoS can be changed.
const CHANGED: &[Kind] = &[
    Kind::Participant,
    Kind::Publisher,
    Kind::Subscriber,
    Kind::Writer,
    Kind::Reader,
];
const NAMED: &[Kind] = &[Kind::Participant, Kind::Writer, Kind::Reader];
const LIVING: &[Kind] = &[Kind::Participant, Kind::Writer];
