//! What the simulated publisher, network and readers do, step by step.

use super::*;

impl Sim {
    pub(super) fn new(setting: &Setting) -> Self {
        let participant = DomainParticipant::builder(148)
            .domain_tag(&format!("sim {}", std::process::id()))
            .driving(Driving::Polled)
            .multicast(false)
            .build()
            .expect("a participant");
        let presentation = Presentation {
            access_scope: setting.scope,
            coherent_access: true,
            ordered_access: setting.ordered,
        };
        let subscriber =
            participant.subscriber(SubscriberQos::default().presentation(presentation));
        let mut network = Network::new(setting.seed, Link::lossy(setting.loss));
        let node = network.add_node("subscriber");
        let locator = Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, 1);
        network.listen(node, locator);
        let mut sim = Self {
            setting: setting.clone(),
            network,
            node,
            locator,
            ahead: clock::now().since(Instant::ZERO) + Duration::from_secs(86_400),
            outbox: Outbox::new(),
            _participant: participant,
            subscriber,
            writers: Vec::new(),
            readers: Vec::new(),
            group_number: 0,
            written: Vec::new(),
            sets: 0,
            is_open: false,
            gone: Vec::new(),
            cut: Vec::new(),
            views: 0,
            has_left: false,
        };
        (0..setting.writers).for_each(|index| sim.add_writer(index));
        let topics = if setting.one_topic {
            1
        } else {
            setting.writers
        };
        let late = usize::from(setting.is_late);
        (0..topics - late.min(topics)).for_each(|_| sim.join());
        sim
    }

    pub(super) fn add_writer(&mut self, index: usize) {
        let number = u16::try_from(index + 2).expect("few writers");
        let node = self.network.add_node("writer");
        let locator = Locator::udp_v4(std::net::Ipv4Addr::LOCALHOST, number);
        self.network.listen(node, locator);
        let mut prefix = PUBLISHER_PREFIX;
        // A node each, so that they are apart on the network.
        prefix.0[10..].copy_from_slice(&number.to_be_bytes());
        let machine = Writer::new(WriterConfig {
            history: match self.setting.depth {
                Some(depth) => HistoryKind::KeepLast(depth),
                None => HistoryKind::KeepAll,
            },
            transient_local: true,
            presents: true,
            ..WriterConfig::new(Guid::new(
                prefix,
                EntityId::user_writer(u32::from(number), true),
            ))
        });
        self.writers.push(WriterNode {
            node,
            locator,
            machine,
            is_up: true,
        });
    }

    pub(super) fn is_group(&self) -> bool {
        self.setting.scope == PresentationScope::Group
    }

    pub(super) fn now(&self) -> Instant {
        self.network.now() + self.ahead
    }

    pub(super) fn reader_of(&self, writer: usize) -> usize {
        if self.setting.one_topic { 0 } else { writer }
    }

    pub(super) fn endpoint(&self, guid: Guid) -> Arc<dyn ReaderEndpoint> {
        let readers = self.subscriber.shared.group.readers();
        let mut readers = readers.into_iter();
        readers
            .find(|reader| reader.guid() == guid)
            .expect("a reader of the subscriber")
    }

    pub(super) fn join(&mut self) {
        let index = self.readers.len();
        let topics = if self.setting.one_topic {
            1
        } else {
            self.setting.writers
        };
        if index >= topics {
            return;
        }
        let topic = self
            ._participant
            .topic::<Leg>(&format!("Legs {index}"))
            .expect("a topic");
        let limits = ResourceLimits {
            max_samples: self.setting.max_samples,
            ..ResourceLimits::default()
        };
        let qos = DataReaderQos::default()
            .reliable()
            .keep_all()
            .transient_local();
        let reader = self.subscriber.reader(&topic, qos.resource_limits(limits));
        let reader = reader.expect("a reader");
        let guid = reader.guid();
        self.readers.push(ReaderNode {
            reader: Some(reader),
            guid,
            writers: Vec::new(),
            since: self.sets,
            seen: Vec::new(),
        });
        for writer in 0..self.writers.len() {
            if self.reader_of(writer) == index && self.writers[writer].is_up {
                self.connect(writer, guid);
                self.readers[index].writers.push(writer);
            }
        }
        self.tell_of_writers();
    }

    pub(super) fn connect(&mut self, index: usize, reader: Guid) {
        let (now, endpoint) = (self.now(), self.endpoint(reader));
        let writer = &mut self.writers[index];
        let guid = writer.machine.guid();
        let mut data = EndpointData::new(Role::Writer, guid, "Legs".into(), "test::Leg".into());
        data.qos.data_representation = vec![tickwire_rtps::qos::RepresentationId::XCDR2];
        data.group = Some(publisher()).filter(|_| self.setting.scope == PresentationScope::Group);
        let proxy = ReaderProxy {
            guid: reader,
            reliable: true,
            wants_history: true,
            unicast: vec![self.locator],
            ..ReaderProxy::default()
        };
        writer.machine.match_reader(now, proxy, &mut self.outbox);
        let (node, locator) = (writer.node, writer.locator);
        self.flush(node);
        let proxy = WriterProxy {
            guid,
            reliable: true,
            speaks_first: false,
            skip_history: false,
            unicast: vec![locator],
        };
        endpoint.match_writer(now, proxy, &data, &mut self.outbox);
        self.flush(self.node);
    }

    pub(super) fn reader_leaves(&mut self, index: usize) {
        let there = self
            .readers
            .iter()
            .filter(|node| node.reader.is_some())
            .count();
        let Some(node) = self.readers.get_mut(index).filter(|_| there > 1) else {
            return;
        };
        if node.reader.take().is_some() {
            for writer in &mut self.writers {
                writer.machine.unmatch_reader(node.guid);
            }
            self.has_left = true;
        }
    }

    pub(super) fn writer_leaves(&mut self, index: usize) {
        let there = self.writers.iter().filter(|node| node.is_up).count();
        if there < 2 || !self.writers.get(index).is_some_and(|node| node.is_up) {
            return;
        }
        let reader = self.readers.get(self.reader_of(index));
        let is_heard = reader.is_some_and(|node| node.reader.is_some());
        let open = self.is_open.then(|| self.sets - 1);
        let mut written = self.written.iter();
        let has_part = open.is_some() && written.any(|one| one.writer == index && one.set == open);
        if let Some(open) = open.filter(|_| is_heard && has_part) {
            self.cut.push(open);
        }
        if has_part {
            self.gone.push(self.writers[index].machine.guid().entity);
        }
        self.writers[index].is_up = false;
        self.tell_of_writers();
        let guid = self.writers[index].machine.guid();
        for reader in self.subscriber.shared.group.readers() {
            reader.unmatch_writer(guid, None);
        }
        self.has_left = true;
    }

    /// What discovery would say of the publisher.
    fn tell_of_writers(&self) {
        for reader in self.subscriber.shared.group.readers() {
            reader.group_changed(publisher(), &self.ids());
        }
    }

    /// The writers that are there, ascending.
    fn ids(&self) -> Vec<EntityId> {
        let up = self.writers.iter().filter(|writer| writer.is_up);
        up.map(|writer| writer.machine.guid().entity).collect()
    }

    pub(super) fn begin(&mut self) {
        if self.is_open {
            return;
        }
        let set = if self.is_group() {
            self.group_number + 1
        } else {
            0
        };
        for writer in self.writers.iter_mut().filter(|writer| writer.is_up) {
            writer.machine.begin_set(SequenceNumber(set));
        }
        self.sets += 1;
        self.is_open = true;
    }

    pub(super) fn end(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let (now, number) = (self.now(), self.next_number());
        let mut ids = self.ids();
        ids.append(&mut self.gone);
        ids.sort_unstable();
        let digest = match self.is_group() {
            true => GroupDigest::of(&ids),
            false => GroupDigest::NONE,
        };
        for index in 0..self.writers.len() {
            if self.writers[index].is_up {
                let writer = &mut self.writers[index];
                writer
                    .machine
                    .end_set(now, number, digest, &mut self.outbox);
                let node = writer.node;
                self.flush(node);
            }
        }
    }

    pub(super) fn next_number(&mut self) -> SequenceNumber {
        if !self.is_group() {
            return SequenceNumber::ZERO;
        }
        self.group_number += 1;
        SequenceNumber(self.group_number)
    }

    pub(super) fn write(&mut self, index: usize, key: u32, kind: ChangeKind) {
        if !self.writers.get(index).is_some_and(|writer| writer.is_up) {
            return;
        }
        let leg = Leg {
            id: key,
            price: self.written.len() as i64,
        };
        let mut scratch = tickwire_cdr::KeyScratch::default();
        let hash = leg
            .key_hash(&(), Representation::Xcdr2, &mut scratch)
            .expect("a key");
        let change = Change {
            kind,
            key_hash: hash.map(|hash| hash.0),
            group_number: self.next_number(),
            ..Change::default()
        };
        for _ in 0..10_000 {
            let fill = |buffer: &mut Vec<u8>| match kind.is_alive() {
                true => leg.write_payload(&(), Representation::Xcdr2, buffer),
                false => leg.write_key_payload(&(), Representation::Xcdr2, buffer),
            };
            let now = self.now();
            let writer = &mut self.writers[index];
            let node = writer.node;
            let written = writer.machine.write(now, &change, fill, &mut self.outbox);
            self.flush(node);
            match written {
                Ok(_) => {
                    if kind.is_alive() {
                        self.written.push(Written {
                            writer: index,
                            set: self.is_open.then(|| self.sets - 1),
                        });
                    }
                    return;
                }
                Err(WriteError::WouldBlock) => {
                    self.take();
                }
                Err(error) => panic!("{error:?}"),
            }
            self.run(Duration::from_millis(10));
        }
        panic!("blocked for ever");
    }

    /// Takes what all readers have, as one look shows it; says how many samples of sets there were.
    pub(super) fn take(&mut self) -> usize {
        let access = self.subscriber.begin_access();
        let in_sets = self.take_all(&access);
        access.end_access();
        in_sets
    }

    pub(super) fn take_all(&mut self, access: &Access) -> usize {
        let view = self.views;
        self.views += 1;
        let (mut in_sets, mut last) = (0, None);
        for guid in access.datareaders(StateMask::ANY) {
            let node = self.readers.iter_mut().find(|node| node.guid == guid);
            let node = node.expect("a reader of ours");
            let reader = node.reader.as_ref().expect("one that has not left");
            let is_ordered = self.setting.ordered && self.setting.scope == PresentationScope::Group;
            let max = if is_ordered { 1 } else { usize::MAX };
            for leg in reader.select().max_samples(max).take().data() {
                node.seen.push((view, leg.price));
                let is_in_set = self.written[usize::try_from(leg.price).expect("ours")]
                    .set
                    .is_some();
                if is_in_set {
                    in_sets += 1;
                    assert!(
                        !is_ordered || last < Some(leg.price),
                        "out of order: {}",
                        leg.price
                    );
                    last = Some(leg.price);
                }
            }
        }
        in_sets
    }

    pub(super) fn look(&mut self, wait: u64) {
        let access = self.subscriber.begin_access();
        self.take_all(&access);
        self.run(Duration::from_millis(wait));
        let appeared = self.take_all(&access);
        assert!(
            !self.is_group() || appeared == 0,
            "a set appears while somebody looks"
        );
        access.end_access();
    }

    pub(super) fn is_settled(&self) -> bool {
        let mut writers = self.writers.iter().filter(|writer| writer.is_up);
        writers.all(|writer| writer.machine.is_acknowledged(writer.machine.last()))
    }

    /// Runs until all is acknowledged, and takes what comes.
    pub(super) fn settle(&mut self) {
        let end = self.now() + LIMIT;
        while !self.is_settled() {
            assert!(self.now() < end, "not settled");
            self.run(Duration::from_millis(20));
            self.take();
        }
    }

    pub(super) fn run(&mut self, duration: Duration) {
        let end = self.now() + duration;
        while self.now() < end {
            let readers = self.subscriber.shared.group.readers();
            let timers = self.writers.iter().filter(|writer| writer.is_up);
            let timers = timers.filter_map(|writer| writer.machine.poll_timeout());
            let next = timers
                .chain(readers.iter().map(|reader| reader.due()))
                .min();
            let until = next
                .unwrap_or(end)
                .min(end)
                .since(Instant::ZERO + self.ahead);
            match self.network.receive_until(Instant::ZERO + until) {
                Some(arrival) => self.arrive(&arrival, &readers),
                None => self.fire_timers(&readers),
            }
        }
    }

    pub(super) fn fire_timers(&mut self, readers: &[Arc<dyn ReaderEndpoint>]) {
        let now = self.now();
        for index in 0..self.writers.len() {
            let writer = &mut self.writers[index];
            let is_due = writer.machine.poll_timeout().is_some_and(|at| at <= now);
            if writer.is_up && is_due {
                writer.machine.handle_timeout(now, &mut self.outbox);
                let node = writer.node;
                self.flush(node);
            }
        }
        for reader in readers.iter().filter(|reader| reader.due() <= now) {
            reader.handle_timeout(now, &mut self.outbox);
            self.flush(self.node);
        }
    }

    pub(super) fn arrive(&mut self, arrival: &Arrival, readers: &[Arc<dyn ReaderEndpoint>]) {
        let (now, timestamp) = (self.now(), clock::timestamp());
        let mut messages = Messages::one(&arrival.bytes, HERE).expect("a header");
        while let Some(submessage) = messages.next_submessage() {
            let submessage = submessage.expect("well-formed submessages");
            if arrival.to == self.node {
                let to = receiver(&submessage);
                for reader in readers {
                    if to == EntityId::UNKNOWN || to == reader.guid().entity {
                        let mut run = Run::new(now, timestamp, submessage, &mut messages);
                        run.end();
                        // These have no listeners.
                        let _ = reader.receive(&mut run, &mut self.outbox);
                    }
                }
                continue;
            }
            let mut writers = self.writers.iter_mut().filter(|writer| writer.is_up);
            let writer = writers.find(|writer| writer.node == arrival.to);
            if let (Some(writer), Submessage::AckNack(acknack)) = (writer, &submessage) {
                writer
                    .machine
                    .handle_acknack(now, messages.context(), acknack, &mut self.outbox);
            }
        }
        self.flush(arrival.to);
    }

    pub(super) fn flush(&mut self, from: NodeId) {
        for (bytes, locators) in self.outbox.datagrams() {
            for locator in locators {
                self.network.send(from, *locator, &bytes.joined());
            }
        }
        self.outbox.clear();
    }

    pub(super) fn step(&mut self, step: &Step) {
        match *step {
            Step::Begin => self.begin(),
            Step::End => self.end(),
            Step::Write(writer, key) => self.write(writer, key, ChangeKind::Alive),
            Step::Dispose(writer, key) => self.write(writer, key, ChangeKind::Disposed),
            Step::Wait(wait) => self.run(Duration::from_millis(wait)),
            Step::Take => {
                self.take();
            }
            Step::Look(wait) => self.look(wait),
            Step::Join => self.join(),
            Step::ReaderLeaves(reader) => self.reader_leaves(reader),
            Step::WriterLeaves(writer) => self.writer_leaves(writer),
        }
    }

    /// Ends with a set in which everybody who is there has a part; says where its prices begin.
    pub(super) fn finish(&mut self) -> usize {
        self.end();
        self.settle();
        let first = self.written.len();
        self.begin();
        (0..self.writers.len()).for_each(|writer| self.write(writer, 0, ChangeKind::Alive));
        self.end();
        self.settle();
        // What waited for room comes once there is some.
        for _ in 0..200 {
            self.run(Duration::from_millis(50));
            self.take();
        }
        first
    }
}

fn receiver(submessage: &Submessage<'_>) -> EntityId {
    match submessage {
        Submessage::Data(data) => data.reader,
        Submessage::Heartbeat(heartbeat) => heartbeat.reader,
        Submessage::Gap(gap) => gap.reader,
        other => panic!("unexpected {other:?}"),
    }
}

fn publisher() -> Guid {
    Guid::new(PUBLISHER_PREFIX, EntityId::user_publisher(1))
}

const HERE: wire::Arrival = wire::Arrival {
    from: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
    by_multicast: false,
    kernel_timestamp: None,
};
