use super::*;

fn open(interfaces: &str) -> Network {
    let Ok(interfaces) = interfaces.parse();
    let options = NetworkOptions {
        ports: Ports::of(211),
        interfaces,
        transports: Transports::default(),
        tcp_listen: TcpListen::Auto,
        owner: [1; 12],
        multicast_ttl: 0,
        busy_poll: None,
        receive_timestamps: ReceiveTimestamps::Off,
        receive_buffer_bytes: 1 << 20,
    };
    Network::open(&options).expect("every Linux has loopback")
}

#[test]
fn two_participants_of_a_machine_get_different_ports() {
    let (one, two) = (open("lo"), open("lo"));
    assert_ne!(one.addresses(), two.addresses());
    assert_eq!(one.user_group(), two.user_group());
    let localhost = |locators: &[Locator]| {
        let [locator] = locators else { return false };
        locator.to_udp().is_some_and(|to| to.ip().is_loopback())
    };
    assert!(localhost(&one.addresses().user) && localhost(&two.addresses().metatraffic));
    assert!(one.attachment().is_loopback && one.watch.is_none());
}

#[test]
fn nothing_is_to_follow_while_nothing_changes() {
    let network = open("127.0.0.0/8");
    assert!(network.watch.is_some(), "others may come");
    assert!(matches!(network.follow(), Ok(None)));
}

#[test]
fn what_is_sent_again_and_again_finds_its_way_anew_when_addresses_change() {
    let network = open("127.0.0.0/8");
    let user = network.user.as_ref().expect("UDP is used");
    let receiver = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let to = receiver.local_addr().expect("bound");
    let patience = receiver.set_read_timeout(Some(Duration::from_secs(10)));
    patience.expect("it is not zero");
    let next_is_from_own_port = || {
        user.send_to(b"sample", to).expect("loopback takes it");
        let (_, from) = receiver.recv_from(&mut [0; 8]).expect("it was sent");
        from.port() == user.local_address().port()
    };
    assert!((0..1000).any(|_| !next_is_from_own_port()), "it connects");
    assert!(!next_is_from_own_port());
    let (selected, mut local) = {
        let links = lock(&network.links);
        (links.selected.clone(), links.local.clone())
    };
    assert!(network.follow_to(selected.clone(), local.clone()).is_none());
    assert!(!next_is_from_own_port(), "nothing has changed");
    local.push(Ipv4Addr::new(192, 0, 2, 1));
    assert!(network.follow_to(selected, local).is_some());
    assert!(next_is_from_own_port());
}

#[test]
fn an_interface_that_refuses_keeps_no_other_from_being_used() {
    let network = open("127.0.0.0/8");
    let present = lock(&network.links).selected.clone();
    let absent = Interface {
        name: "absent".to_owned(),
        index: u32::MAX,
        ..present[0].clone()
    };
    let both: Vec<_> = std::iter::once(absent.clone()).chain(present).collect();
    let attached = network.attach(&both);
    assert!(!attached.is_cut_off && !attached.refused.is_empty());
    assert!(network.attach(&[absent]).is_cut_off, "there is no other");
}

#[test]
fn what_was_refused_is_tried_again() {
    let network = open("127.0.0.0/8");
    let present = lock(&network.links).selected.clone();
    lock(&network.links).refused = Arc::new([RefusedInterface {
        interface: present[0].name.clone(),
        error: SocketError::NoAddress {
            interface: present[0].name.clone(),
        },
    }]);
    let followed = network.follow().expect("interfaces");
    assert!(followed.is_some_and(|followed| followed.is_complete));
    assert!(matches!(network.follow(), Ok(None)));
}

#[test]
fn what_is_refused_again_is_no_news_and_leaves_the_rest_alone() {
    let network = open("127.0.0.0/8");
    let (present, local) = {
        let links = lock(&network.links);
        (links.selected.clone(), links.local.clone())
    };
    let absent = Interface {
        name: "absent".to_owned(),
        index: u32::MAX,
        ..present[0].clone()
    };
    let both: Vec<_> = std::iter::once(absent).chain(present).collect();
    let follow = || network.follow_to(both.clone(), local.clone());
    let leaves_at = || {
        let copies = lock(&network.copies);
        let ports = copies.iter().map(|copy| copy.socket.local_address());
        ports.collect::<Vec<_>>()
    };
    assert!(follow().is_some_and(|followed| !followed.is_complete));
    let refused = network.refused();
    assert!(refused.iter().all(|one| one.interface == "absent") && !refused.is_empty());
    let copies = leaves_at();
    assert!(follow().is_none(), "nothing is different");
    assert_eq!((leaves_at(), copies.len()), (copies, 1));
}

#[test]
fn there_are_ports_when_all_of_the_domain_are_taken() {
    let ports = Ports::of(212).expect("exists");
    let options = UdpOptions::default();
    let open = || open_unicast(Ipv4Addr::LOCALHOST, Some(ports), &options);
    let taken: Vec<_> = (0..121).map(|_| open().expect("free ports")).collect();
    let well_known: Vec<_> = ports.pairs().collect();
    let port_of = |socket: &UdpSocket| socket.local_address().port();
    let is_well_known = |(metatraffic, user): &(UdpSocket, UdpSocket)| {
        well_known.contains(&(port_of(metatraffic), port_of(user)))
    };
    assert!(taken.iter().any(|pair| !is_well_known(pair)));
}
