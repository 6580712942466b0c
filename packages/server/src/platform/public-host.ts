import { BlockList, isIP } from 'node:net';

const reserved = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv6');
}

/**
 * Whether a host, as it is written in an address, can be one on the internet: no reserved IP address, no name that only a
 * local network knows. What a name resolves to is for whoever connects to check.
 */
export function isPublicHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  switch (isIP(bare)) {
    case 4:
      return !reserved.check(bare, 'ipv4');
    case 6:
      return !reserved.check(bare, 'ipv6');
    default:
      return bare.includes('.') && !/(^|\.)(localhost|local|internal|lan|home\.arpa)\.?$/.test(bare);
  }
}
