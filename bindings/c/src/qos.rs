//! QoS objects: a profile, and what the program says besides.

use std::sync::{Mutex, PoisonError};

use tickwire_profiles::{Profile, Profiles};

use crate::border::{Out, Text, TextOut, export};
use crate::failure::Result;
use crate::handle::{self, Handle, get};

/// A profile, which the program may add to.
pub(crate) struct Qos(Mutex<Profile>);

impl Qos {
    fn add(profile: Profile) -> Result<Handle> {
        handle::add(Handle::NULL, Self(Mutex::new(profile)))
    }

    fn profile(&self) -> Profile {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// What a QoS object says now; NULL says nothing.
pub(crate) fn profile(qos: Handle) -> Result<Profile> {
    match qos {
        Handle::NULL => Ok(Profiles::default().default_profile()),
        qos => Ok(get::<Qos>(qos)?.profile()),
    }
}

/// The profile of that name, or the one that holds without one.
fn chosen(profiles: Profiles, name: Option<&str>) -> Result<Profile> {
    match name {
        Some(name) => Ok(profiles
            .with_default(name)
            .map_err(tickwire_profiles::LoadError::from)?
            .default_profile()),
        None => {
            profiles.check_default()?;
            Ok(profiles.default_profile())
        }
    }
}

export! {
    fn tw_qos_create(qos: Out<Handle>) {
        let qos = qos.place("qos")?;
        qos.put(Qos::add(Profiles::default().default_profile())?);
        Ok(())
    }

    fn tw_qos_load(file: Text, profile: Text, qos: Out<Handle>) {
        let qos = qos.place("qos")?;
        let profiles = match file.optional("file")? {
            Some(file) => Profiles::load(file)?,
            None => Profiles::from_env()?,
        };
        qos.put(Qos::add(chosen(profiles, profile.optional("profile")?)?)?);
        Ok(())
    }

    fn tw_qos_parse(text: Text, profile: Text, qos: Out<Handle>) {
        let qos = qos.place("qos")?;
        let profiles = Profiles::parse("<text>", text.get("text")?)?;
        qos.put(Qos::add(chosen(profiles, profile.optional("profile")?)?)?);
        Ok(())
    }

    fn tw_qos_set(qos: Handle, setting: Text, value: Text) {
        let qos = get::<Qos>(qos)?;
        let (setting, value) = (setting.get("setting")?, value.get("value")?);
        let mut profile = qos.0.lock().unwrap_or_else(PoisonError::into_inner);
        *profile = profile.clone().with(setting, value)?;
        Ok(())
    }

    fn tw_qos_get(
        qos: Handle,
        setting: Text,
        topic: Text,
        buffer: TextOut,
        capacity: usize,
        len: Out<usize>,
    ) {
        let qos = get::<Qos>(qos)?;
        let value = qos.profile().setting(setting.get("setting")?, topic.optional("topic")?)?;
        buffer.put(&value, capacity, &len)
    }
}
