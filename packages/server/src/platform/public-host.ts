import { BlockList, isIP } from 'node:net';

/** What of IPv4 is not on the internet: private, local, shared, for documentation, for tests, multicast, reserved. */
const reserved = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // Looks public, but answers inside of one cloud only, with what its machines are to know.
  ['168.63.129.16', 32],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv4');
}

/**
 * Of IPv6 only global unicast is on the internet. All that carries an IPv4 address inside (mapped, compatible, NAT64) lies
 * outside of it already; what of it does not (Teredo, 6to4) is taken out, with what is for documentation.
 */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is one on the internet. Anything that is no IP address is not. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !reserved.check(address, 'ipv4');
    case 6:
      // A zone makes sense on the local network only.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
    default:
      return false;
  }
}

/**
 * Whether a host, as it is written in an address, can be one on the internet: no reserved IP address, no name that only a
 * local network knows. What a name resolves to is for whoever connects to check.
 *
 * @param host of a parsed URL, where every spelling of an IPv4 address is dotted decimal already
 */
export function isPublicHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(bare) !== 0) return isPublicAddress(bare);
  return bare.includes('.') && !/(^|\.)(localhost|local|internal|lan|home\.arpa)\.?$/.test(bare);
}
