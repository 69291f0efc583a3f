import ipaddr from 'ipaddr.js';

const PUBLIC = new Set(['unicast']);

/** What an operator may open for its own network. Link-local stays shut: clouds keep their secrets there. */
const PRIVATE_TOO = new Set(['unicast', 'private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/** Public by its range, and yet Azure's metadata service. */
const METADATA = new Set(['168.63.129.16']);

/** All of IPv6 that is routed today; whatever embeds an IPv4 address in other prefixes is outside of it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether a caller may make us connect to an IP address: public unicast, and private networks where the
 * operator opened them. What is no address is refused.
 */
export const mayConnectTo = (address: string, allowPrivateNetwork: boolean): boolean => {
  if (!ipaddr.isValid(address) || METADATA.has(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (!(allowPrivateNetwork ? PRIVATE_TOO : PUBLIC).has(range)) return false;
  return !(parsed instanceof ipaddr.IPv6) || range !== 'unicast' || parsed.match(GLOBAL_UNICAST);
};
