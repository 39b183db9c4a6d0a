//! Which addresses are public. The standard library's own answer is not stable yet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IPv4 range that is not public: its first address, and how many bits of it count.
type Range4 = ([u8; 4], u32);

/// From the registries of special addresses (RFC 6890 and its successors).
const NOT_PUBLIC_4: [Range4; 16] = [
    ([0, 0, 0, 0], 8),        // this network
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // shared by carriers
    ([127, 0, 0, 0], 8),      // loopback
    ([169, 254, 0, 0], 16),   // link-local, and the metadata of most clouds
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 88, 99, 0], 24),   // relays from 6to4
    ([192, 168, 0, 0], 16),   // private
    ([198, 18, 0, 0], 15),    // benchmarks
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([168, 63, 129, 16], 32), // one cloud's metadata, though it looks public
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, broadcast
];

/// Whether an address belongs to the public internet. IPv6 addresses that carry an IPv4 one are as public as that.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_4(v4),
        IpAddr::V6(v6) => is_public_6(v6),
    }
}

fn is_public_4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_4.iter().any(|(network, bits)| {
        let mask = u32::MAX << (32 - bits);
        u32::from(address) & mask == u32::from(Ipv4Addr::from(*network)) & mask
    })
}

fn is_public_6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    let four = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        // Mapped: the system connects to the IPv4 address inside.
        [0, 0, 0, 0, 0, 0xffff, high, low] => is_public_4(four(high, low)),
        // NAT64: a translator does.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_4(four(high, low)),
        // 6to4: a tunnel does.
        [0x2002, high, low, ..] => is_public_4(four(high, low)),
        // Protocol assignments, with Teredo among them.
        [0x2001, second, ..] if second < 0x200 => false,
        // Documentation.
        [0x2001, 0xdb8, ..] => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Only 2000::/3 is given out; loopback, link-local, unique-local, multicast and all else lie outside.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// The address a connection would really go to: an IPv4 one that is written as IPv6 is that.
pub(crate) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(address: &str, expected: bool) {
        assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    fn public_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2400::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            check(address, true);
        }
    }

    #[test]
    fn all_others_are_not() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "168.63.129.16",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            check(address, false);
        }
    }

    proptest! {
        #[test]
        fn every_address_of_a_refused_range_is_refused(at in 0..NOT_PUBLIC_4.len(), host in any::<u32>()) {
            let (network, bits) = NOT_PUBLIC_4[at];
            let mask = u32::MAX << (32 - bits);
            let v4 = Ipv4Addr::from((u32::from(Ipv4Addr::from(network)) & mask) | (host & !mask));
            prop_assert!(!is_public(v4.into()));
            let [a, b, c, d] = v4.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            prop_assert!(!is_public(v4.to_ipv6_mapped().into()));
            prop_assert!(!is_public(v4.to_ipv6_compatible().into()));
            prop_assert!(!is_public(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low).into()));
            prop_assert!(!is_public(Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1).into()));
        }

        #[test]
        fn what_lies_outside_the_given_out_range_is_refused(number in any::<u128>()) {
            let v6 = Ipv6Addr::from(number);
            let [first, second, ..] = v6.segments();
            prop_assume!(first & 0xe000 != 0x2000 && !(first == 0 || (first == 0x64 && second == 0xff9b)));
            prop_assert!(!is_public(v6.into()));
        }

        #[test]
        fn mapping_changes_nothing(number in any::<u32>()) {
            let v4 = Ipv4Addr::from(number);
            prop_assert_eq!(is_public(v4.into()), is_public(v4.to_ipv6_mapped().into()));
        }
    }
}
