/** Where an event store is, as its connection string says. */
export interface EventStoreAddress {
  /** Each as `host:port`: several nodes of a cluster, or (`+discover`) a name that stands for all of them. */
  readonly hosts: readonly string[];
  /** The hosts for people, without the user's name and password. */
  readonly name: string;
  /** The first host as a browser would name it. */
  readonly firstUrl: string;
  /** Whether what it names is a cluster, and not one node. */
  readonly isCluster: boolean;
}

const PORT = 2113;
const FORM = /^(?:esdb|kurrentdb)(\+discover)?:\/\/(?:([^@]*)@)?([^@/?]*)\/?(?:\?(.*))?$/s;
/** Neither a user name nor a password has the other's colon, for the client cuts there. */
const LOGIN = /^[^:]+:[^:]+$/;
const HOST = /^[\w.-]+$/;

const WHOLE = (value: string): boolean => /^-?\d+$/.test(value);
const TRUTH = (value: string): boolean => value === 'true' || value === 'false';
const TEXT = (value: string): boolean => value !== '';

/** Options of the client, in lower case as it compares them, and what each may be. */
const OPTIONS: Readonly<Record<string, (value: string) => boolean>> = {
  tls: TRUTH,
  tlsverifycert: TRUTH,
  throwonappendfailure: TRUTH,
  maxdiscoverattempts: WHOLE,
  defaultdeadline: WHOLE,
  discoveryinterval: WHOLE,
  gossiptimeout: WHOLE,
  keepaliveinterval: WHOLE,
  keepalivetimeout: WHOLE,
  tlscafile: TEXT,
  usercertfile: TEXT,
  userkeyfile: TEXT,
  connectionname: TEXT,
  nodepreference: (value) => value.toLowerCase() === 'leader',
};

const wrong = (sentence: string): never => {
  throw new Error(sentence);
};

const canDecode = (text: string): boolean => {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
};

const checkLogin = (login: string | undefined): void => {
  if (login !== undefined && !(LOGIN.test(login) && canDecode(login)))
    wrong('must have user:password before the @, with : @ / and % in them as %3A %40 %2F and %25');
};

const hostFrom = (text: string): string => {
  const [host = '', port = String(PORT), ...rest] = text.trim().split(':');
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  if (rest.length > 0 || !HOST.test(host) || !isPort)
    wrong(`must name hosts as host:port with commas between, and "${text}" is none`);
  return `${host}:${port}`;
};

const checkOption = (pair: string): void => {
  const [name = '', value = ''] = pair.split('=');
  const isRight = OPTIONS[name.toLowerCase().replace(/[_-]/g, '')];
  if (isRight === undefined)
    wrong(`has the option "${name}", which the client of EventStoreDB does not know`);
  if (name.toLowerCase() === 'nodepreference' && isRight?.(value) === false)
    wrong(
      'must leave nodePreference out, or have leader there: what the service decides on is read from the leader',
    );
  if (isRight?.(value) === false) wrong(`has the option ${name} with a value that it cannot have`);
};

/**
 * Reads a connection string, which the client reads in the same way but late, with its own words, and with the
 * password in them. Throws an Error whose message goes on after the name of what was read (`must …`).
 */
export const eventStoreAddress = (url: string): EventStoreAddress => {
  const [whole, discover, login, hostsText = '', query = ''] = FORM.exec(url) ?? [];
  if (whole === undefined)
    wrong(
      'must be a URL that starts with esdb://, esdb+discover://, kurrentdb:// or kurrentdb+discover://, like ' +
        'esdb://user:password@one:2113,two:2113?tls=true',
    );
  checkLogin(login);
  const hosts = hostsText.split(',').map(hostFrom);
  const options = query === '' ? [] : query.split('&');
  options.forEach(checkOption);
  const scheme = options.some((pair) => /^tls=false$/i.test(pair)) ? 'http' : 'https';
  return {
    hosts,
    name: hosts.join(', '),
    firstUrl: `${scheme}://${hosts[0] ?? ''}`,
    isCluster: discover !== undefined || hosts.length > 1,
  };
};
